/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For rogue_api.py: unreliable connections with RoGUE, by the functions of rogue/rogue.h. Two queue
 * pairs of one device write to each other.
 *
 *     rogue_uc_api writes     no loss: all data arrives, round trips are measured
 *     rogue_uc_api lossy      some packets are lost: each WRITE still completes exactly once
 *     rogue_uc_api lost       all packets are lost: fewer WRITEs, since each waits for a timeout
 *     rogue_uc_api refused    calls that must fail on an unreliable connection
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rogue/rogue.h"
#include "tests/interop/verbs_bench.h"

#define ROUNDS 30
#define LARGE  300000 /* five segments of 64 KiB */
#define SMALL  100
#define SOURCE 0 /* offsets */
#define TARGET 400000

static const char *mode;

/* ---- writes ---- */

/* A large WRITE, and a small one with a signal. */
static void post_round(struct bench *bench, int from, int round)
{
    struct end *own = &bench->end[from];
    struct ibv_sge large = sge_of(own, SOURCE, LARGE), small = sge_of(own, SOURCE + LARGE, SMALL);
    struct ibv_send_wr first = remote(IBV_WR_RDMA_WRITE, 0, &large, &bench->end[1 - from], TARGET);
    struct ibv_send_wr second = remote(IBV_WR_RDMA_WRITE, (uint64_t)round + 1, &small,
                                       &bench->end[1 - from], TARGET + LARGE);

    fill(own->memory + SOURCE, LARGE + SMALL, 1000u * (unsigned)from + (unsigned)round);
    first.send_flags = 0;
    first.next = &second;
    post(own, &first);
}

static void writes(struct bench *bench)
{
    static struct rogue_round_trip trips[64];
    int taken = 0;

    assert_int_equal(rogue_take_round_trips(bench->end[0].qp, trips, 64), 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++)
            post_round(bench, i, round);
        for (int i = 0; i < 2; i++) {
            const time_t end = time(NULL) + 30;
            const struct end *peer = &bench->end[1 - i];
            expect(bench->end[i].cq, (uint64_t)round + 1, IBV_WC_SUCCESS);
            while (memcmp(peer->memory + TARGET, bench->end[i].memory + SOURCE, LARGE + SMALL) != 0)
                assert_true(time(NULL) < end);
        }
        for (int i = 0; i < 2; i++) {
            struct ibv_wc wc;
            assert_int_equal(ibv_poll_cq(bench->end[i].cq, 1, &wc), 0);
        }
    }
    /* At the end the answers are still to come. */
    for (const time_t end = time(NULL) + 30; taken < 4 && time(NULL) < end;) {
        int count = rogue_take_round_trips(bench->end[0].qp, trips, 64);
        for (int i = 0; i < count; i++) {
            assert_true(trips[i].when_ns > 0 && trips[i].rtt_ns < UINT64_C(10000000000));
            assert_int_equal(trips[i].read, 0);
        }
        taken += count;
        if (taken < 4) {
            struct ibv_wc wc;
            post_round(bench, 0, ROUNDS);
            wc = wait_for(bench->end[0].cq);
            assert_int_equal(wc.wr_id, ROUNDS + 1);
        }
    }
    assert_true(taken >= 4);
}

/* ---- lossy ---- */

static void lossy(struct bench *bench, uint64_t count)
{
    struct end *own = &bench->end[0];
    struct ibv_sge large = sge_of(own, SOURCE, LARGE);
    struct ibv_wc wc;

    for (uint64_t i = 0; i < count; i++) {
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, i, &large, &bench->end[1], TARGET);
        post(own, &wr);
        if (i >= 8)
            expect(own->cq, i - 8, IBV_WC_SUCCESS);
    }
    for (uint64_t i = count - 8; i < count; i++)
        expect(own->cq, i, IBV_WC_SUCCESS);
    assert_int_equal(ibv_poll_cq(own->cq, 1, &wc), 0);
}

/* ---- refused ---- */

static int try(struct end *end, struct ibv_send_wr wr)
{
    struct ibv_send_wr *bad = NULL;
    int error = ibv_post_send(end->qp, &wr, &bad);

    assert_ptr_equal(bad, error == 0 ? NULL : &wr);
    return error;
}

/* A completion queue that was not made with rogue_create_cq: the one verb that takes no macro. */
static struct ibv_cq *plain_cq(struct ibv_context *context)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = 8};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(context, &attr);

    assert_non_null(cq);
    return ibv_cq_ex_to_cq(cq);
}

/* Queue pairs without RoGUE, and one without a peer. */
static void others(struct bench *bench)
{
    struct ibv_qp_init_attr init = init_attr(bench->end[0].cq, IBV_QPT_UD);
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_qp_init_attr_ex more = {.qp_type = IBV_QPT_RC,
                                       .send_cq = bench->end[0].cq,
                                       .recv_cq = bench->end[0].cq,
                                       .cap = init.cap,
                                       .comp_mask =
                                           IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
                                       .pd = bench->pd,
                                       .create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB};
    struct ibv_cq *plain = plain_cq(bench->context);
    struct ibv_qp *qp;

    NULL_WITH(EPROTOTYPE, ibv_create_qp(bench->pd, &init));
    init = init_attr(plain, IBV_QPT_RC);
    NULL_WITH(EXDEV, ibv_create_qp(bench->pd, &init));
    init = init_attr(bench->end[0].cq, IBV_QPT_RC);
    init.cap.max_send_sge = 1000;
    NULL_WITH(ERANGE, ibv_create_qp(bench->pd, &init));
    init = init_attr(bench->end[0].cq, IBV_QPT_RC);
    init.srq = ibv_create_srq(bench->pd, &srq_attr);
    assert_non_null(init.srq);
    NULL_WITH(EOPNOTSUPP, ibv_create_qp(bench->pd, &init));
    assert_int_equal(ibv_destroy_srq(init.srq), 0);
    NULL_WITH(ENOSYS, rogue_create_qp_ex(bench->context, &more));
    assert_int_equal(ibv_destroy_cq(plain), 0);
    init = init_attr(bench->end[0].cq, IBV_QPT_UC);
    qp = ibv_create_qp(bench->pd, &init);
    assert_non_null(qp);
    assert_int_equal(init.cap.max_recv_wr, 0);
    assert_int_equal(to_init(qp), 0);
    assert_int_equal(to_rtr(bench, qp, 0xfffff0, IBV_MTU_1024), 0);
    assert_int_equal(to_rts(qp), ECONNREFUSED);
    errno = 0;
    assert_int_equal(to_rts(qp), ECONNREFUSED);
    assert_int_equal(errno, ECONNREFUSED); /* for perror */
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(rogue_take_round_trips((struct ibv_qp *)(void *)&init, NULL, 0), -1);
}

static void refused(struct bench *bench)
{
    struct end *own = &bench->end[0];
    struct ibv_sge word = sge_of(own, SOURCE, 8);
    struct ibv_recv_wr receive = {.sg_list = &word, .num_sge = 1}, *bad;
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &word, &bench->end[1], TARGET);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    for (int opcode = 0; opcode < 7; opcode++) {
        struct ibv_send_wr other = wr;
        other.opcode = (enum ibv_wr_opcode)opcode;
        if (opcode != IBV_WR_RDMA_WRITE)
            assert_int_equal(try(own, other), EOPNOTSUPP);
    }
    wr.num_sge = 0;
    assert_int_equal(try(own, wr), EINVAL);
    wr.num_sge = 1;
    assert_int_equal(ibv_post_recv(own->qp, &receive, &bad), EOPNOTSUPP);
    others(bench);
    assert_int_equal(try(own, wr), 0);
    expect(own->cq, 1, IBV_WC_SUCCESS);
    /* Each failed connection returns the error exactly once. */
    assert_int_equal(ibv_modify_qp(own->qp, &attr, IBV_QP_STATE), 0);
    wr.wr_id = 2;
    assert_int_equal(try(own, wr), 0);
    expect(own->cq, 2, IBV_WC_WR_FLUSH_ERR);
    attr.qp_state = IBV_QPS_RESET;
    assert_int_equal(ibv_modify_qp(own->qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(try(own, wr), EINVAL);
}

static void test(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_UC, IBV_MTU_1024, NULL);

    (void)state;
    if (strcmp(mode, "writes") == 0)
        writes(bench);
    else if (strcmp(mode, "lossy") == 0)
        lossy(bench, 20);
    else if (strcmp(mode, "lost") == 0)
        lossy(bench, 8);
    else
        refused(bench);
    close_bench(bench, false);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    mode = argc > 1 ? argv[1] : "writes";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
