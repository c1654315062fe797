/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For rogue.py: actions of programs that do not use a connection with RoGUE, under
 * `oche exec --rogue`.
 *
 *     rogue_others armed            asks for an event before it makes the first queue pair, which
 *                                   has no RoGUE
 *     rogue_others forked ADDRESS   a child process opens the device of this address, which its
 *                                   parent has already opened
 *     rogue_others signals          a signal that the program blocks stays pending: the library's
 *                                   threads must not take it
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interop/verbs_bench.h"

#define VERBS 20
#define LONG  200000

static char **words;

static void wait_for_event(struct ibv_comp_channel *channel, struct ibv_cq *expected)
{
    struct pollfd readable = {.fd = channel->fd, .events = POLLIN};
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(poll(&readable, 1, 20000), 1);
    assert_int_equal(ibv_get_cq_event(channel, &cq, &context), 0);
    assert_ptr_equal(cq, expected);
    ibv_ack_cq_events(cq, 1);
}

static void armed(void)
{
    struct bench bench = {.context = open_one()};
    struct end end = {.memory = calloc(1, BYTES)};
    struct ibv_comp_channel *channel = ibv_create_comp_channel(bench.context);
    struct ibv_qp_init_attr init;

    assert_int_equal(ibv_query_gid(bench.context, 1, 0, &bench.gid), 0);
    bench.pd = ibv_alloc_pd(bench.context);
    end.mr = ibv_reg_mr(bench.pd, end.memory, BYTES, ACCESS);
    end.cq = ibv_create_cq(bench.context, 8, NULL, channel, 0);
    assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
    init = init_attr(end.cq, IBV_QPT_UD);
    end.qp = ibv_create_qp(bench.pd, &init);
    assert_non_null(end.qp);
    assert_int_equal(to_init(end.qp), 0);
    assert_int_equal(to_rtr(&bench, end.qp, 0, IBV_MTU_1024), 0);
    assert_int_equal(to_rts(end.qp), 0);

    struct ibv_ah_attr address = address_of(&bench);
    struct ibv_ah *ah = ibv_create_ah(bench.pd, &address);
    struct ibv_sge sge = sge_of(&end, 0, 100);
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.ud = {ah, end.qp->qp_num, QKEY}};
    post(&end, &wr);
    wait_for_event(channel, end.cq);
    expect(end.cq, 1, IBV_WC_SUCCESS);

    assert_int_equal(ibv_destroy_ah(ah), 0);
    assert_int_equal(ibv_destroy_qp(end.qp), 0);
    assert_int_equal(ibv_destroy_cq(end.cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    assert_int_equal(ibv_dereg_mr(end.mr), 0);
    assert_int_equal(ibv_dealloc_pd(bench.pd), 0);
    assert_int_equal(ibv_close_device(bench.context), 0);
    free(end.memory);
}

static void write_some(struct bench *bench)
{
    struct ibv_sge sge = sge_of(&bench->end[0], 0, LONG);

    for (uint64_t i = 0; i < VERBS; i++) {
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, i, &sge, &bench->end[1], LONG);
        fill(bench->end[0].memory, LONG, (unsigned)i);
        post(&bench->end[0], &wr);
        expect(bench->end[0].cq, i, IBV_WC_SUCCESS);
        assert_memory_equal(bench->end[1].memory + LONG, bench->end[0].memory, LONG);
    }
}

static void forked(void)
{
    static struct bench *bench; /* the child does not destroy it: static, or it counts as a leak */
    struct bench *own;
    pid_t child;
    int status;

    bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    write_some(bench);
    child = fork();
    if (child == 0) {
        alarm(120);
        assert_int_equal(setenv("OCHE_DEVICE", words[2], 1), 0);
        own = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
        write_some(own);
        close_bench(own, false);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    write_some(bench);
    close_bench(bench, false);
}

static void signals(void)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    const struct timespec at_once = {0};
    sigset_t set, before;

    write_some(bench);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    write_some(bench);
    assert_int_equal(sigtimedwait(&set, NULL, &at_once), SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    close_bench(bench, false);
}

static void test(void **state)
{
    (void)state;
    if (strcmp(words[1], "armed") == 0)
        armed();
    else if (strcmp(words[1], "signals") == 0)
        signals();
    else
        forked();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    words = argv;
    return argc < 2 ? 2 : cmocka_run_group_tests(tests, NULL, NULL);
}
