/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that values which rdma-core's manual pages call ignored, irrelevant, or valid only in some
 * cases change nothing. There is a test for each clause, below the name of its page.
 */
#include "tests/interop/verbs_objects.h"

#include <stdlib.h>
#include <string.h>

#define NONSENSE 0xa5

static struct ibv_srq *make_srq(struct ibv_pd *of, uint32_t limit)
{
    struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1, .srq_limit = limit}};
    struct ibv_srq *srq = ibv_create_srq(of, &attr);

    assert_non_null(srq);
    return srq;
}

/* ibv_create_qp(3), ibv_create_qp_ex(3): max_recv_wr and max_recv_sge, with an SRQ. */
static void test_receives_of_shared(void **state)
{
    static const uint32_t wrs[] = {0, 16, 1u << 20, UINT32_MAX}, sges[] = {0, 1, 64, UINT32_MAX};
    struct ibv_srq *srq = make_srq(pd, 0);

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        struct ibv_qp_init_attr init = init_attr(cq, i % 2 == 0 ? IBV_QPT_RC : IBV_QPT_UD);
        struct ibv_qp *qp;

        init.srq = srq;
        init.cap.max_recv_wr = wrs[i / 4];
        init.cap.max_recv_sge = sges[i % 4];
        qp = ibv_create_qp(pd, &init);
        assert_non_null(qp);
        assert_int_equal(init.cap.max_recv_wr, 0);
        assert_int_equal(init.cap.max_recv_sge, 0);
        assert_int_equal(ibv_destroy_qp(qp), 0);
    }
    assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* ibv_create_srq(3): srq_limit. ibv_modify_srq(3): max_sge, and what the mask does not name. */
static void test_shared_receive_queues(void **state)
{
    struct ibv_srq *srq = make_srq(pd, 1000000);
    struct ibv_recv_wr receive = {.num_sge = 0}, *bad;
    struct ibv_srq_attr attr;

    (void)state;
    for (int i = 0; i < 8; i++) /* more attempts than the limit below */
        assert_int_equal(ibv_post_srq_recv(srq, &receive, &bad), 0);
    assert_int_equal(ibv_query_srq(srq, &attr), 0);
    assert_int_equal(attr.srq_limit, 0);
    attr = (struct ibv_srq_attr){.max_wr = UINT32_MAX, .max_sge = UINT32_MAX, .srq_limit = 5};
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
    attr = (struct ibv_srq_attr){.max_wr = 32, .max_sge = UINT32_MAX, .srq_limit = UINT32_MAX};
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
    assert_int_equal(ibv_query_srq(srq, &attr), 0);
    assert_int_equal(attr.max_wr, 32);
    assert_int_equal(attr.max_sge, 1);
    assert_int_equal(attr.srq_limit, 5);
    assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* ibv_create_qp_ex(3), ibv_create_cq_ex(3): members whose bit is not set in comp_mask. */
static void test_masks_of_creation(void **state)
{
    struct ibv_qp_init_attr_ex init;
    struct ibv_cq_init_attr_ex queue;
    struct ibv_cq_ex *made;
    struct ibv_qp *qp;

    (void)state;
    memset(&init, NONSENSE, sizeof(init));
    init.qp_context = NULL;
    init.send_cq = init.recv_cq = cq;
    init.srq = NULL;
    init.cap = init_attr(cq, IBV_QPT_RC).cap;
    init.qp_type = IBV_QPT_RC;
    init.comp_mask = IBV_QP_INIT_ATTR_PD;
    init.pd = pd;
    qp = ibv_create_qp_ex(context, &init);
    assert_non_null(qp);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    memset(&queue, NONSENSE, sizeof(queue));
    queue.cqe = 4;
    queue.channel = NULL;
    queue.comp_vector = 0;
    queue.wc_flags = 0;
    queue.comp_mask = 0;
    made = ibv_create_cq_ex(context, &queue);
    assert_non_null(made);
    assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(made)), 0);
}

/* ibv_rereg_mr(3): each argument is used with its flag alone. */
static void test_registering_again(void **state)
{
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
    struct ibv_pd *no_pd = (struct ibv_pd *)(uintptr_t)NONSENSE;
    void *nowhere = (void *)(uintptr_t)NONSENSE;

    (void)state;
    assert_non_null(mr);
    assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, no_pd, nowhere, SIZE_MAX, 0), 0);
    assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, nowhere, SIZE_MAX, -1), 0);
    assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, no_pd, memory + 8, 16, -1),
                     0);
    assert_ptr_equal(mr->addr, memory + 8);
    assert_int_equal(mr->length, 16);
    assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Attributes of a connection, and nonsense wherever the mask of a state change has no bit. */
static struct ibv_qp_attr nonsense_but(enum ibv_qp_state to)
{
    struct ibv_qp_attr attr;

    memset(&attr, NONSENSE, sizeof(attr));
    attr.qp_state = to;
    return attr;
}

/*
 * ibv_modify_qp(3): attributes whose bit is not set in the mask; sq_draining, which has no meaning
 * here; cur_qp_state.
 */
static void test_masks_of_state_changes(void **state)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct ibv_qp *qp = bench->end[0].qp;
    struct ibv_qp_attr attr = nonsense_but(IBV_QPS_INIT), got;
    struct ibv_qp_init_attr init;

    (void)state;
    attr.port_num = 1;
    attr.pkey_index = 0;
    attr.qp_access_flags = ACCESS;
    assert_int_equal(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
    attr = nonsense_but(IBV_QPS_RTR);
    attr.ah_attr = address_of(bench);
    /* only for InfiniBand: members of ibv_modify_qp(3)'s address that RoCE does not use */
    attr.ah_attr.dlid = UINT16_MAX;
    attr.ah_attr.sl = attr.ah_attr.src_path_bits = attr.ah_attr.static_rate = NONSENSE;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = bench->end[1].qp->qp_num;
    attr.rq_psn = 77;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    assert_int_equal(ibv_modify_qp(qp, &attr,
                                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                       IBV_QP_MIN_RNR_TIMER),
                     0);
    attr = nonsense_but(IBV_QPS_RTS);
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.sq_psn = 77;
    attr.max_rd_atomic = 4;
    assert_int_equal(ibv_modify_qp(qp, &attr,
                                   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
                                       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                       IBV_QP_MAX_QP_RD_ATOMIC),
                     0);
    assert_int_equal(ibv_query_qp(qp, &got, 0, &init), 0); /* the mask is a hint */
    assert_int_equal(got.qp_state, IBV_QPS_RTS);
    assert_int_equal(got.path_mtu, IBV_MTU_1024);
    assert_int_equal(got.min_rnr_timer, 12);
    assert_int_equal(got.sq_draining, 0);
    close_bench(bench, false);
}

/*
 * ibv_post_send(3): IBV_SEND_SIGNALED is relevant only without sq_sig_all, IBV_SEND_SOLICITED for
 * SEND and WRITE with immediate, IBV_SEND_FENCE on RC, IBV_SEND_IP_CSUM where a device has it; with
 * IBV_SEND_INLINE no L_Key is looked at.
 */
static void flags_on(enum ibv_qp_type type)
{
    static const unsigned flags[] = {0, IBV_SEND_SIGNALED, IBV_SEND_FENCE, IBV_SEND_SOLICITED,
                                     IBV_SEND_IP_CSUM};
    struct bench *bench = make_bench(type, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_sge sge = sge_of(a, 0, 32);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &sge, b, 64);
    struct ibv_qp_init_attr init = init_attr(a->cq, type);

    assert_int_equal(ibv_destroy_qp(a->qp), 0);
    init.sq_sig_all = 1;
    a->qp = ibv_create_qp(bench->pd, &init);
    assert_non_null(a->qp);
    assert_int_equal(to_init(a->qp), 0);
    connect_bench(bench, IBV_MTU_1024);
    for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        wr.send_flags = flags[i];
        post(a, &wr);
        expect(a->cq, 1, IBV_WC_SUCCESS);
    }
    fill(a->memory, 32, 7);
    wr.send_flags = IBV_SEND_INLINE;
    sge.lkey = ~a->mr->lkey;
    post(a, &wr);
    expect(a->cq, 1, IBV_WC_SUCCESS);
    for (int i = 0; i < 2000 && memcmp(a->memory, b->memory + 64, 32) != 0; i++)
        assert_int_equal(ibv_poll_cq(b->cq, 1, &(struct ibv_wc){0}), 0);
    assert_memory_equal(a->memory, b->memory + 64, 32);
    close_bench(bench, false);
}

static void test_flags(void **state)
{
    (void)state;
    flags_on(IBV_QPT_RC);
    flags_on(IBV_QPT_UC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_receives_of_shared),     cmocka_unit_test(test_shared_receive_queues),
        cmocka_unit_test(test_masks_of_creation),      cmocka_unit_test(test_registering_again),
        cmocka_unit_test(test_masks_of_state_changes), cmocka_unit_test(test_flags),
    };

    setenv("OCHE_DEVICE", "127.45.0.20", 0);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
