/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that librdmacm's manual pages call ignored: `srq` and `qp_num` of rdma_connect(3) and
 * rdma_accept(3) where the identifier has a queue pair, `retry_count` of rdma_accept(3), and with a
 * shared receive queue how many receives rdma_create_qp(3) is asked for.
 */
#include "tests/interop/cm_bench.h"

#define RECEIVES 32

static struct ibv_srq *make_qp(struct rdma_cm_id *id)
{
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};
    struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
    struct ibv_qp_init_attr init = {
        .srq = ibv_create_srq(pd, &shared),
        .cap = {.max_send_wr = 4, .max_recv_wr = UINT32_MAX, .max_recv_sge = UINT32_MAX},
        .qp_type = IBV_QPT_RC};

    assert_non_null(init.srq);
    CM_WORKS(rdma_create_qp(id, pd, &init));
    assert_true(id->recv_cq->cqe >= RECEIVES);
    return init.srq;
}

static void unmake_qp(struct rdma_cm_id *id, struct ibv_srq *srq)
{
    struct ibv_pd *pd = srq->pd;

    rdma_destroy_qp(id);
    assert_int_equal(ibv_destroy_srq(srq), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    CM_WORKS(rdma_destroy_id(id));
}

static void test_connecting(void **state)
{
    struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7, .qp_num = 0xa5a5a5};
    struct rdma_cm_id *client, *asked;
    struct ibv_srq *srq, *theirs;
    struct rdma_cm_event *event;

    (void)state;
    cm_open(RDMA_PS_TCP, 0);
    client = cm_resolved(RDMA_PS_TCP);
    srq = make_qp(client);
    CM_WORKS(rdma_connect(client, &param)); /* srq says there is none */
    event = cm_next(cm_serving, RDMA_CM_EVENT_CONNECT_REQUEST);
    asked = event->id;
    assert_int_equal(event->param.conn.qp_num, client->qp->qp_num);
    assert_int_equal(event->param.conn.srq, 1);
    CM_WORKS(rdma_ack_cm_event(event));
    theirs = make_qp(asked);
    param.retry_count = 0; /* only the asking end may set it */
    CM_WORKS(rdma_accept(asked, &param));
    event = cm_next(cm_asking, RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(event->param.conn.qp_num, asked->qp->qp_num);
    assert_int_equal(event->param.conn.srq, 1);
    CM_WORKS(rdma_ack_cm_event(event));
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_ESTABLISHED), 0);
    for (int end = 0; end < 2; end++) {
        struct ibv_qp_init_attr init;
        struct ibv_qp_attr attr;

        assert_int_equal(
            ibv_query_qp(end == 0 ? client->qp : asked->qp, &attr, IBV_QP_RETRY_CNT, &init), 0);
        assert_int_equal(attr.retry_cnt, 7);
    }
    CM_WORKS(rdma_disconnect(client));
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_DISCONNECTED), 0);
    CM_WORKS(rdma_disconnect(asked));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_DISCONNECTED), 0);
    unmake_qp(client, srq);
    unmake_qp(asked, theirs);
    cm_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_connecting)};

    setenv("OCHE_DEVICE", "127.45.0.21", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
