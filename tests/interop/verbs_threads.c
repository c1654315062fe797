/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs library under several threads: what one of them changes while another uses it. What a
 * thread finds wrong it counts, as only the test's own thread may fail.
 */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS      3000
#define DESCRIPTORS 256 /* this process has fewer */

/* ---- regions ---- */

static void *change_rights(void *argument)
{
    struct worker *worker = argument;

    for (unsigned i = 0; !worker->stop; i++, worker->rounds++)
        worker->wrong += ibv_rereg_mr(worker->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
                                      i % 2 == 0 ? ACCESS : ACCESS | IBV_ACCESS_MW_BIND) != 0;
    return NULL;
}

/* A region that changes is there all the time, for us and for the peer. */
static void test_reregistered_in_use(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_256, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct worker worker = {.mr = b->mr};
    struct ibv_sge sge = sge_of(a, 0, 20000);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &sge, b, 0);

    (void)state;
    start_worker(&worker, change_rights);
    for (unsigned round = 0; round < ROUNDS || worker.rounds < ROUNDS; round++) {
        post(a, &wr);
        expect(a->cq, 1, IBV_WC_SUCCESS);
    }
    join_worker(&worker, 0);
    close_bench(bench, false);
}

/* ---- windows ---- */

static void *bind_often(void *argument)
{
    struct worker *worker = argument;
    struct ibv_mw_bind bind = {.wr_id = 1,
                               .send_flags = IBV_SEND_SIGNALED,
                               .bind_info = {.mr = worker->mr,
                                             .addr = (uintptr_t)worker->mr->addr,
                                             .length = 100,
                                             .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
    struct ibv_wc wc;
    int count;

    while (worker->rounds < ROUNDS) {
        const int error = ibv_bind_mw(worker->qp, worker->mw, &bind);

        worker->rounds += error == 0;
        worker->wrong += error != 0 && error != ENOMEM;
        while ((count = ibv_poll_cq(worker->cq, 1, &wc)) > 0)
            worker->wrong += wc.status != IBV_WC_SUCCESS;
        worker->wrong += count < 0;
    }
    return NULL;
}

/* Two threads bind one window of type 1, each by its own queue pair: no key comes twice. */
static void test_bound_twice(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_mr *mr = ibv_reg_mr(bench->pd, bench->end[0].memory, BYTES,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_mw *mw = ibv_alloc_mw(bench->pd, IBV_MW_TYPE_1);
    struct worker workers[2] = {{0}};
    uint32_t key = mw->rkey;

    (void)state;
    for (int i = 0; i < 2; i++) {
        workers[i].mr = mr;
        workers[i].mw = mw;
        workers[i].qp = bench->end[i].qp;
        workers[i].cq = bench->end[i].cq;
        start_worker(&workers[i], bind_often);
    }
    for (int i = 0; i < 2; i++)
        join_worker(&workers[i], 0);
    for (unsigned i = 0; i < 2 * ROUNDS; i++)
        key = ibv_inc_rkey(key);
    assert_int_equal(mw->rkey, key);
    while (ibv_dealloc_mw(mw) == EBUSY) /* until the last bind is done */
        for (int i = 0; i < 2; i++)
            ibv_poll_cq(bench->end[i].cq, 1, &(struct ibv_wc){0});
    assert_int_equal(ibv_dereg_mr(mr), 0);
    close_bench(bench, false);
}

/* ---- states ---- */

/*
 * Posts whenever the state allows it. Everything that completes was posted, and completes once and
 * in order.
 */
static void *post_often(void *argument)
{
    struct worker *worker = argument;
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_recv_wr recv = {.wr_id = UINT64_MAX}, *bad_recv;
    struct ibv_send_wr *bad;
    uint64_t last = 0;
    struct ibv_wc wc;

    while (!worker->stop) {
        const int error = ibv_post_send(worker->qp, &wr, &bad);

        wr.wr_id += error == 0;
        worker->rounds += error == 0;
        ibv_post_recv(worker->qp, &recv, &bad_recv);
        while (ibv_poll_cq(worker->cq, 1, &wc) > 0) {
            if (wc.wr_id == UINT64_MAX)
                continue;
            worker->wrong += wc.wr_id <= last || wc.wr_id >= wr.wr_id;
            last = wc.wr_id;
        }
    }
    return NULL;
}

/* A queue pair that is reset while another thread posts begins empty, or with what comes now. */
static void test_reset_meanwhile(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_UC, IBV_MTU_1024, NULL);
    struct worker worker = {.qp = bench->end[0].qp, .cq = bench->end[0].cq};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

    (void)state;
    start_worker(&worker, post_often);
    for (unsigned round = 0; round < ROUNDS || worker.rounds < ROUNDS; round++) {
        if (round % 2 == 0)
            usleep(round % 100);
        assert_int_equal(ibv_modify_qp(worker.qp, &attr, IBV_QP_STATE), 0);
        assert_int_equal(to_init(worker.qp), 0);
        assert_int_equal(to_rtr(bench, worker.qp, bench->end[1].qp->qp_num, IBV_MTU_1024), 0);
        assert_int_equal(to_rts(worker.qp), 0);
    }
    join_worker(&worker, 0);
    close_bench(bench, false);
}

/* ---- everything at once ---- */

/* A life of all objects, again and again, each time on the device that others use meanwhile. */
static void *live(void *argument)
{
    struct worker *worker = argument;

    for (; worker->rounds < 40; worker->rounds++) {
        struct bench *bench =
            open_bench(worker->rounds % 2 ? IBV_QPT_RC : IBV_QPT_UC, IBV_MTU_1024, NULL);
        struct end *a = &bench->end[0], *b = &bench->end[1];
        struct ibv_comp_channel *channel = ibv_create_comp_channel(bench->context);
        struct ibv_cq *cq = ibv_create_cq(bench->context, 8, NULL, channel, 0), *got;
        struct ibv_qp_init_attr init = init_attr(cq, IBV_QPT_RC);
        struct end own = {.qp = ibv_create_qp(bench->pd, &init), .cq = cq};
        struct ibv_ah_attr address = address_of(bench);
        struct ibv_ah *ah = ibv_create_ah(bench->pd, &address);
        struct ibv_sge sge = sge_of(a, 0, 5000);
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &sge, b, 0);
        void *unused;

        fill(a->memory, 5000, worker->rounds);
        post(a, &wr);
        expect(a->cq, 1, IBV_WC_SUCCESS);
        worker->wrong += to_init(own.qp) != 0 ||
                         to_rtr(bench, own.qp, own.qp->qp_num, IBV_MTU_512) != 0 ||
                         to_rts(own.qp) != 0 || ibv_req_notify_cq(cq, 0) != 0;
        wr = remote(IBV_WR_RDMA_READ, 2, &sge, b, 0); /* after the WRITE, which is done */
        post(&own, &wr);
        worker->wrong += ibv_get_cq_event(channel, &got, &unused) != 0 || got != cq;
        ibv_ack_cq_events(cq, 1);
        expect(cq, 2, IBV_WC_SUCCESS);
        worker->wrong += memcmp(a->memory, b->memory, 5000) != 0;
        worker->wrong += ibv_destroy_ah(ah) != 0 || ibv_destroy_qp(own.qp) != 0 ||
                         ibv_destroy_cq(cq) != 0 || ibv_destroy_comp_channel(channel) != 0;
        close_bench(bench, false);
    }
    return NULL;
}

/*
 * Threads that each make and destroy their own objects of one device. The device is opened and
 * closed with these objects.
 */
static void test_everything_at_once(void **state)
{
    static struct worker workers[6];

    (void)state;
    for (int i = 0; i < 6; i++)
        start_worker(&workers[i], live);
    for (int i = 0; i < 6; i++)
        join_worker(&workers[i], 0);
}

/* ---- fork ---- */

static void *open_and_close(void *argument)
{
    struct worker *worker = argument;

    for (; !worker->stop; worker->rounds++) {
        struct ibv_context *context = ibv_open_device(worker->device);

        worker->wrong += context == NULL || ibv_close_device(context) != 0;
    }
    return NULL;
}

/*
 * Returns the number of sockets among this process's descriptors. Takes no memory: a child has
 * a copy of the sanitizer's locks, which another thread of its parent may have had, so that malloc
 * would wait for ever.
 */
static int sockets(void)
{
    struct stat status;
    int count = 0;

    for (int fd = 0; fd < DESCRIPTORS; fd++)
        count += fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
    return count;
}

/*
 * A fork while another thread opens and closes: no part of the parent's device is in the child, and
 * the other thread does not overtake it again and again.
 */
static void test_fork_meanwhile(void **state)
{
    const int before = sockets();
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct worker worker = {.device = list[0]};
    unsigned overtaken = 0;
    int status;

    (void)state;
    start_worker(&worker, open_and_close);
    for (unsigned round = 0; round < 100 || worker.rounds < 20; round++) {
        const unsigned rounds = worker.rounds;
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0)
            _exit(sockets() == before ? 0 : 1);
        overtaken += worker.rounds - rounds > 3;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        usleep(1000);
    }
    join_worker(&worker, 0);
    assert_true(overtaken <= 3); /* at times, when a thread gets no processor */
    ibv_free_device_list(list);
}

/* Opens and closes once: `rounds` is 1 before, and 2 when the device is open. */
static void *open_once(void *argument)
{
    struct worker *worker = argument;
    struct ibv_context *context;

    worker->rounds = 1;
    context = ibv_open_device(worker->device);
    worker->rounds = 2;
    worker->wrong += context == NULL || ibv_close_device(context) != 0;
    return NULL;
}

/*
 * A child that the library does not know of keeps the address's socket, so that opening the device
 * anew waits for its end, for a second. Forks do not wait for that.
 */
static void test_fork_while_opening_waits(void **state)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(list[0]);
    struct worker worker = {.device = list[0]};
    unsigned forks = 0;
    int status;
    pid_t keeper;

    (void)state;
    assert_non_null(context);
    keeper = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); /* without handlers */
    if (keeper == 0)
        for (;;)
            pause();
    assert_true(keeper > 0);
    assert_int_equal(ibv_close_device(context), 0);
    start_worker(&worker, open_once);
    while (worker.rounds == 0)
        usleep(1000);
    usleep(20000);
    for (; forks < 3 && worker.rounds == 1; forks += worker.rounds == 1) {
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0)
            _exit(0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    kill(keeper, SIGKILL);
    assert_int_equal(waitpid(keeper, &status, 0), keeper);
    join_worker(&worker, 0);
    assert_int_equal(forks, 3);
    ibv_free_device_list(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reregistered_in_use), cmocka_unit_test(test_bound_twice),
        cmocka_unit_test(test_reset_meanwhile),     cmocka_unit_test(test_everything_at_once),
        cmocka_unit_test(test_fork_meanwhile),      cmocka_unit_test(test_fork_while_opening_waits),
    };

    setenv("OCHE_DEVICE", "127.34.0.3", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
