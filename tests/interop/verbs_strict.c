/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict mode: slots of queues are free once the program has polled what says so, and queues have
 * the length that was asked for. usage: verbs_strict [lenient], where the same works on and on.
 */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 12 /* as the program asks; not a power of two */

static bool lenient;

/* The library's output on standard error meanwhile. */
static char said[2000];
static int saved_stderr, pipe_fds[2];

static void listen_in(void)
{
    assert_int_equal(pipe(pipe_fds), 0);
    saved_stderr = dup(STDERR_FILENO);
    assert_true(dup2(pipe_fds[1], STDERR_FILENO) >= 0);
    assert_int_equal(fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK), 0);
}

static void has_said(const char *part)
{
    const ssize_t count = read(pipe_fds[0], said, sizeof(said) - 1);

    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    said[count > 0 ? count : 0] = '\0';
    if (part == NULL)
        assert_string_equal(said, "");
    else
        assert_non_null(strstr(said, part));
}

/* A queue pair of SLOTS slots each way, connected to itself, and its CQs. */
struct own {
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_qp *qp;
    struct ibv_sge sge;
};

static struct own open_own(struct bench *bench, int send_cqe, int recv_cqe, bool extended)
{
    struct own own = {.send_cq = ibv_create_cq(bench->context, send_cqe, NULL, NULL, 0),
                      .recv_cq = ibv_create_cq(bench->context, recv_cqe, NULL, NULL, 0),
                      .sge = sge_of(&bench->end[0], 0, 8)};
    struct ibv_qp_init_attr_ex init = {
        .send_cq = own.send_cq,
        .recv_cq = own.recv_cq,
        .cap = {.max_send_wr = SLOTS, .max_recv_wr = SLOTS, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .comp_mask = IBV_QP_INIT_ATTR_PD | (extended ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
        .pd = bench->pd,
        .send_ops_flags = extended ? IBV_QP_EX_WITH_RDMA_WRITE : 0};

    assert_non_null(own.send_cq);
    own.qp = ibv_create_qp_ex(bench->context, &init);
    assert_non_null(own.qp);
    assert_int_equal(init.cap.max_send_wr, lenient ? 16 : SLOTS);
    assert_int_equal(init.cap.max_recv_wr, lenient ? 16 : SLOTS);
    assert_int_equal(own.send_cq->cqe, lenient ? 32 : send_cqe);
    assert_int_equal(to_init(own.qp), 0);
    assert_int_equal(to_rtr(bench, own.qp, own.qp->qp_num, IBV_MTU_512), 0);
    assert_int_equal(to_rts(own.qp), 0);
    return own;
}

static void close_own(struct own *own)
{
    assert_int_equal(ibv_destroy_qp(own->qp), 0);
    assert_int_equal(ibv_destroy_cq(own->send_cq), 0);
    assert_int_equal(ibv_destroy_cq(own->recv_cq), 0);
}

static int write_one(struct bench *bench, struct own *own, uint64_t wr_id, bool signaled)
{
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, wr_id, &own->sge, &bench->end[0], 64), *bad;

    wr.send_flags = signaled ? IBV_SEND_SIGNALED : 0;
    return ibv_post_send(own->qp, &wr, &bad);
}

/* Waits until all posted work is done. The program polls no completion of this work. */
static void let_it_work(struct own *own)
{
    struct ibv_wc wc;

    for (int i = 0; i < 20; i++) {
        assert_int_equal(ibv_poll_cq(own->recv_cq, 1, &wc), 0);
        usleep(1000);
    }
}

static void test_never_signaled(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_512, NULL);
    struct own own = open_own(bench, 20, 20, false);
    unsigned posted = 0;
    int error = 0;

    (void)state;
    listen_in();
    for (; error == 0 && posted < 10 * SLOTS; posted++) {
        error = write_one(bench, &own, posted, false);
        let_it_work(&own);
    }
    has_said(lenient ? NULL : "oche: strict: the 12 slots of queue pair 0x");
    assert_int_equal(error, lenient ? 0 : ENOMEM);
    assert_int_equal(posted, lenient ? 10 * SLOTS : SLOTS + 1);
    close_own(&own);
    close_bench(bench, false);
}

/* A signaled completion frees what is before it, once it was polled, and no more than that. */
static void test_signaled_at_times(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_512, NULL);
    struct own own = open_own(bench, 20, 20, false);

    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < SLOTS; i++)
            assert_int_equal(write_one(bench, &own, i, i == 7), 0);
        let_it_work(&own);
        assert_int_equal(write_one(bench, &own, 99, false), lenient ? 0 : ENOMEM);
        expect(own.send_cq, 7, IBV_WC_SUCCESS);
        for (unsigned i = 0; i < 7; i++) /* 4 are not free yet */
            assert_int_equal(write_one(bench, &own, i, false), 0);
        assert_int_equal(write_one(bench, &own, 8, true), 0);
        assert_int_equal(write_one(bench, &own, 99, false), lenient ? 0 : ENOMEM);
        expect(own.send_cq, 8, IBV_WC_SUCCESS);
    }
    close_own(&own);
    close_bench(bench, false);
}

/* As above with ibv_wr_*, which posts all or nothing. After a reset all slots are free. */
static void test_extended(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_512, NULL);
    struct own own = open_own(bench, 20, 20, true);
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(own.qp);
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned batch = 0; batch < 3; batch++) { /* 5 + 5, and 5 for which there is no room */
            ibv_wr_start(ex);
            for (unsigned i = 0; i < 5; i++) {
                ex->wr_id = i;
                ex->wr_flags = 0;
                ibv_wr_rdma_write(ex, bench->end[0].mr->rkey, (uintptr_t)bench->end[0].memory);
                ibv_wr_set_sge(ex, own.sge.lkey, own.sge.addr, own.sge.length);
            }
            assert_int_equal(ibv_wr_complete(ex), lenient || batch < 2 ? 0 : ENOMEM);
            let_it_work(&own);
        }
        assert_int_equal(write_one(bench, &own, 0, false), 0);
        assert_int_equal(ibv_modify_qp(own.qp, &reset, IBV_QP_STATE), 0);
        assert_int_equal(to_init(own.qp), 0);
        assert_int_equal(to_rtr(bench, own.qp, own.qp->qp_num, IBV_MTU_512), 0);
        assert_int_equal(to_rts(own.qp), 0);
    }
    close_own(&own);
    close_bench(bench, false);
}

/* Slots of receives whose completions the program does not poll. */
static void test_receives(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_512, NULL);
    struct own own = open_own(bench, 20, 20, false);
    struct ibv_recv_wr recv = {.wr_id = 5}, *bad_recv;
    struct ibv_send_wr send = {.wr_id = 6, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED},
                       *bad;

    (void)state;
    listen_in();
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_int_equal(ibv_post_recv(own.qp, &recv, &bad_recv), 0);
        assert_int_equal(ibv_post_send(own.qp, &send, &bad), 0);
        expect(own.send_cq, 6, IBV_WC_SUCCESS);
    }
    assert_int_equal(ibv_post_recv(own.qp, &recv, &bad_recv), lenient ? 0 : ENOMEM);
    has_said(lenient ? NULL : "slots of queue pair 0x");
    expect(own.recv_cq, 5, IBV_WC_SUCCESS);
    assert_int_equal(ibv_post_recv(own.qp, &recv, &bad_recv), 0);
    close_own(&own);
    close_bench(bench, false);
}

/* Work that fails has completions of its own, signaled or not; they free their slots. */
static void test_errors(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_512, NULL);
    struct own own = open_own(bench, 20, 20, false);
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

    (void)state;
    assert_int_equal(ibv_modify_qp(own.qp, &error, IBV_QP_STATE), 0);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < SLOTS; i++)
            assert_int_equal(write_one(bench, &own, i, false), 0);
        for (unsigned i = 0; i < SLOTS; i++)
            expect(own.send_cq, i, IBV_WC_WR_FLUSH_ERR);
    }
    close_own(&own);
    close_bench(bench, false);
}

/* More signaled work than the completion queue has entries: told, whether it happens or not. */
static void test_overrun(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_512, NULL);
    struct own own = open_own(bench, lenient ? 20 : 10, 20, false);

    (void)state;
    listen_in();
    for (unsigned round = 0; round < 20; round++) { /* at most 10 at once */
        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(write_one(bench, &own, i, true), 0);
        for (unsigned i = 0; i < 10; i++)
            expect(own.send_cq, i, IBV_WC_SUCCESS);
    }
    has_said(NULL);
    listen_in();
    for (unsigned i = 0; i < 11; i++)
        assert_int_equal(write_one(bench, &own, i, true), 0);
    has_said(lenient
                 ? NULL
                 : "oche: strict: a completion queue of 10 entries may overrun: 11 completions");
    close_own(&own);
    close_bench(bench, false);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_signaled), cmocka_unit_test(test_signaled_at_times),
        cmocka_unit_test(test_extended),       cmocka_unit_test(test_receives),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_overrun),
    };

    lenient = count > 1 && strcmp(words[1], "lenient") == 0;
    if (!lenient)
        setenv("OCHE_STRICT", "1", 1);
    setenv("OCHE_DEVICE", lenient ? "127.34.0.13" : "127.34.0.14", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
