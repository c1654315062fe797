/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues and shared receive queues that become larger and smaller while they are in use,
 * and ones that overflow.
 */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20000

/* ---- resizing ---- */

/* Between sizes that all of what the test has outstanding fits into. */
static void *resize_cq(void *argument)
{
    static const int sizes[] = {16, 1000, 17, 100000};
    struct worker *worker = argument;

    for (; !worker->stop; worker->rounds++)
        worker->wrong += ibv_resize_cq(worker->cq, sizes[worker->rounds % 4]) != 0;
    return NULL;
}

/* While another thread resizes the queue, every completion must come exactly once and in order. */
static void test_cq_in_use(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0];
    struct worker worker = {.cq = a->cq};
    struct ibv_sge sge = sge_of(a, 0, 8);
    uint64_t posted = 0, seen = 0;
    struct ibv_wc wc[4];

    (void)state;
    start_worker(&worker, resize_cq);
    while (seen < ROUNDS || worker.rounds <= 10) {
        for (; posted < seen + 16; posted++) {
            struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, posted, &sge, &bench->end[1], 0);
            post(a, &wr);
        }
        const int count = ibv_poll_cq(a->cq, 4, wc);
        assert_true(count >= 0);
        for (int i = 0; i < count; i++) {
            assert_int_equal(wc[i].wr_id, seen++);
            assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
        }
    }
    join_worker(&worker, 11);
    for (; seen < posted; seen++)
        expect(a->cq, seen, IBV_WC_SUCCESS);
    close_bench(bench, false);
}

static void post_shared(struct ibv_srq *srq, const struct end *end, uint64_t wr_id, int is)
{
    struct ibv_sge sge = sge_of(end, 0, 100);
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

    assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), is);
    assert_ptr_equal(bad, is == 0 ? NULL : &wr);
}

static void *resize_srq(void *argument)
{
    static const uint32_t sizes[] = {8, 1000, 16, 10000};
    struct worker *worker = argument;

    for (; !worker->stop; worker->rounds++) {
        struct ibv_srq_attr attr = {.max_wr = sizes[worker->rounds % 4]};

        worker->wrong += ibv_modify_srq(worker->srq, &attr, IBV_SRQ_MAX_WR) != 0;
    }
    return NULL;
}

static void test_srq_in_use(void **state)
{
    struct ibv_context *context = open_one();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct worker worker = {.srq = ibv_create_srq(pd, &init)};
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, worker.srq);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_sge sge = sge_of(a, 0, 8);
    uint64_t posted = 0, seen = 0;

    (void)state;
    start_worker(&worker, resize_srq);
    for (; seen < ROUNDS / 4 || worker.rounds <= 10; seen++) {
        struct ibv_send_wr wr = {.wr_id = 1,
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_SEND,
                                 .send_flags = IBV_SEND_SIGNALED};
        for (; posted < seen + 8; posted++)
            post_shared(worker.srq, b, posted, 0);
        post(a, &wr);
        expect(a->cq, 1, IBV_WC_SUCCESS);
        expect(b->cq, seen, IBV_WC_SUCCESS);
    }
    join_worker(&worker, 11);
    close_bench(bench, true);
    assert_int_equal(ibv_destroy_srq(worker.srq), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    assert_int_equal(ibv_close_device(context), 0);
}

/* Possible sizes, and the sizes that the library reports. */
static void test_srq_sizes(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(bench->pd, &init);
    struct ibv_srq_attr attr = {.max_wr = 30, .srq_limit = 20};
    struct ibv_device_attr device;

    (void)state;
    assert_int_equal(ibv_query_device(bench->context, &device), 0);
    assert_true(device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
    /* more than the number of receives */
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
    for (uint64_t i = 0; i < 4; i++)
        post_shared(srq, &bench->end[0], i, 0);
    post_shared(srq, &bench->end[0], 4, ENOMEM);
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
    for (uint64_t i = 4; i < 30; i++)
        post_shared(srq, &bench->end[0], i, 0);
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
    assert_int_equal(ibv_query_srq(srq, &attr), 0);
    assert_true(attr.max_wr >= 30);
    assert_int_equal(attr.srq_limit, 20);
    attr.max_wr = 16; /* less than is posted, and than the limit */
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
    attr.srq_limit = 1;
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EINVAL);
    attr.max_wr = 0;
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
    attr.max_wr = (uint32_t)device.max_srq_wr + 1;
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
    assert_int_equal(ibv_modify_srq(srq, &attr, 4), EINVAL);
    assert_int_equal(ibv_query_srq(srq, &attr), 0);
    assert_int_equal(attr.srq_limit, 20);
    assert_int_equal(attr.max_wr, 32);
    assert_int_equal(ibv_destroy_srq(srq), 0);
    close_bench(bench, false);
}

static void test_cq_sizes(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0];
    struct ibv_sge sge = sge_of(a, 0, 8);
    struct ibv_device_attr device;

    (void)state;
    assert_int_equal(ibv_query_device(bench->context, &device), 0);
    assert_int_equal(ibv_resize_cq(a->cq, 0), EINVAL);
    assert_int_equal(ibv_resize_cq(a->cq, -5), EINVAL);
    assert_int_equal(ibv_resize_cq(a->cq, device.max_cqe + 1), EINVAL);
    assert_int_equal(ibv_resize_cq(a->cq, 8), 0);
    assert_int_equal(a->cq->cqe, 8);
    for (uint64_t i = 0; i < 5; i++) {
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, i, &sge, &bench->end[1], 0);
        post(a, &wr);
    }
    struct ibv_send_wr last = remote(IBV_WR_RDMA_WRITE, 9, &sge, a, 0);
    for (int i = 0; i < 10; i++) { /* meanwhile they complete */
        post(&bench->end[1], &last);
        expect(bench->end[1].cq, 9, IBV_WC_SUCCESS);
    }
    assert_int_equal(ibv_resize_cq(a->cq, 4), EINVAL);
    assert_int_equal(a->cq->cqe, 8);
    assert_int_equal(ibv_resize_cq(a->cq, device.max_cqe), 0);
    for (uint64_t i = 0; i < 5; i++)
        expect(a->cq, i, IBV_WC_SUCCESS);
    close_bench(bench, false);
}

/* ---- overflow ---- */

static void wait_event(struct ibv_context *context, enum ibv_event_type type, void *element)
{
    struct ibv_async_event event;

    assert_int_equal(ibv_get_async_event(context, &event), 0);
    assert_string_equal(ibv_event_type_str(event.event_type), ibv_event_type_str(type));
    assert_ptr_equal(event.element.cq, element);
    ibv_ack_async_event(&event);
}

/* Completions that fit are delivered; the queue and the queue pair report that they failed. */
static void overflow(struct bench *bench, struct ibv_cq *cq, struct ibv_cq_ex *extended)
{
    struct ibv_qp_init_attr init = init_attr(cq, IBV_QPT_RC);
    struct end own = {.qp = ibv_create_qp(bench->pd, &init), .cq = cq};
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 8);
    struct ibv_qp_attr attr;

    assert_int_equal(to_init(own.qp), 0);
    assert_int_equal(to_rtr(bench, own.qp, own.qp->qp_num, IBV_MTU_512), 0);
    assert_int_equal(to_rts(own.qp), 0);
    for (uint64_t i = 0; i < 16; i++) {
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, i, &sge, &bench->end[0], 0);
        post(&own, &wr);
    }
    wait_event(bench->context, IBV_EVENT_CQ_ERR, cq);
    wait_event(bench->context, IBV_EVENT_QP_FATAL, own.qp);
    assert_int_equal(ibv_query_qp(own.qp, &attr, IBV_QP_STATE, &init), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_ERR);
    for (uint64_t i = 0; i < 4; i++)
        expect(cq, i, IBV_WC_SUCCESS);
    assert_int_equal(ibv_poll_cq(cq, 1, &(struct ibv_wc){0}), -1);
    if (extended != NULL)
        assert_int_equal(ibv_start_poll(extended, &(struct ibv_poll_cq_attr){0}), EOVERFLOW);
    assert_int_equal(ibv_resize_cq(cq, 100), 0); /* does not repair the queue */
    assert_int_equal(ibv_poll_cq(cq, 1, &(struct ibv_wc){0}), -1);
    assert_int_equal(ibv_destroy_qp(own.qp), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

static void test_overflow(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS};
    struct ibv_cq_ex *extended = ibv_create_cq_ex(bench->context, &attr);
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 8);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 7, &sge, &bench->end[1], 0);
    struct ibv_async_event event;

    (void)state;
    overflow(bench, ibv_create_cq(bench->context, 4, NULL, NULL, 0), NULL);
    overflow(bench, ibv_cq_ex_to_cq(extended), extended);
    /* Others go on. */
    post(&bench->end[0], &wr);
    expect(bench->end[0].cq, 7, IBV_WC_SUCCESS);
    assert_int_equal(fcntl(bench->context->async_fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(ibv_get_async_event(bench->context, &event), -1);
    assert_int_equal(errno, EAGAIN);
    close_bench(bench, false);
}

/* ---- the peer's ports ---- */

/* Writes from end 0 to end 1. The packets have the source port of this flow label. */
static void write_from(struct bench *bench, uint32_t flow_label)
{
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 8);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, flow_label, &sge, &bench->end[1], 0);

    for (int i = 0; i < 2; i++) {
        struct ibv_qp *qp = bench->end[i].qp;
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                                   .path_mtu = IBV_MTU_1024,
                                   .dest_qp_num = bench->end[1 - i].qp->qp_num,
                                   .ah_attr = address_of(bench)};
        /* ports are forgotten by themselves after eight of end 1's timeouts, 34 s */
        struct ibv_qp_attr ready = {
            .qp_state = IBV_QPS_RTS, .timeout = i == 0 ? 16 : 20, .retry_cnt = 7};

        attr.ah_attr.grh.flow_label = flow_label;
        assert_int_equal(ibv_modify_qp(qp, &reset, IBV_QP_STATE), 0);
        assert_int_equal(to_init(qp), 0);
        assert_int_equal(ibv_modify_qp(qp, &attr,
                                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                                           IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
                         0);
        assert_int_equal(ibv_modify_qp(qp, &ready,
                                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
                                           IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                           IBV_QP_MAX_QP_RD_ATOMIC),
                         0);
    }
    post(&bench->end[0], &wr);
    expect(bench->end[0].cq, flow_label, IBV_WC_SUCCESS);
}

/* A queue pair that was reset and is connected again has a new peer, at a new port. */
static void test_connected_again(void **state)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);

    (void)state;
    for (uint32_t label = 1; label <= 4; label++) /* four ports */
        write_from(bench, label);
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cq_in_use), cmocka_unit_test(test_srq_in_use),
        cmocka_unit_test(test_srq_sizes), cmocka_unit_test(test_cq_sizes),
        cmocka_unit_test(test_overflow),  cmocka_unit_test(test_connected_again),
    };

    setenv("OCHE_DEVICE", "127.34.0.4", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
