/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verb by verb, what an application may get wrong beyond one bad value (verbs_refuses.c): masks,
 * opcodes and states in every combination, objects of somebody else, builders out of order.
 */
#include "tests/interop/verbs_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WRITE IBV_ACCESS_LOCAL_WRITE

static struct ibv_qp_init_attr good(enum ibv_qp_type type)
{
    return (struct ibv_qp_init_attr){
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 2},
        .qp_type = type};
}

static void bring_up(struct ibv_qp *qp, bool send)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
                               .qkey = 5,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = qp->qp_num,
                               .timeout = 14,
                               .retry_cnt = 7,
                               .ah_attr = {.is_global = 1, .port_num = 1}};
    const bool datagrams = qp->qp_type == IBV_QPT_UD, reliable = qp->qp_type == IBV_QPT_RC;
    const int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

    assert_int_equal(ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid), 0);
    assert_int_equal(ibv_modify_qp(qp, &attr,
                                   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                       (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
                     0);
    attr.qp_state = IBV_QPS_RTR;
    assert_int_equal(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | (datagrams ? 0 : path) |
                          (reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)),
        0);
    attr.qp_state = IBV_QPS_RTS;
    if (send)
        assert_int_equal(
            ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_SQ_PSN |
                              (reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                              IBV_QP_MAX_QP_RD_ATOMIC
                                        : 0)),
            0);
}

/* A handle for 10.9.x.y. */
static struct ibv_ah *handle_of(unsigned number)
{
    struct ibv_ah_attr address = {.is_global = 1, .port_num = 1};
    const uint8_t ip[] = {0xff, 0xff, 10, 9, (uint8_t)(number >> 8), (uint8_t)number};

    memcpy(address.grh.dgid.raw + 10, ip, sizeof(ip));
    return ibv_create_ah(pd, &address);
}

/*
 * 4,095 other addresses at a time, as many as one likes one after the other: a server that answers
 * each datagram and forgets where it came from is not filled up by sources that are made up.
 */
static void test_peers(void **state)
{
    enum { PEERS = 4095 };
    static struct ibv_ah *handles[PEERS];
    struct ibv_ah *again;

    (void)state;
    for (unsigned i = 0; i < 3 * PEERS; i++) {
        struct ibv_ah *handle = handle_of(i);

        assert_non_null(handle);
        assert_int_equal(ibv_destroy_ah(handle), 0);
    }
    for (unsigned i = 0; i < PEERS; i++)
        assert_non_null(handles[i] = handle_of(20000 + i));
    errno = 0;
    assert_null(handle_of(60000));
    assert_int_equal(errno, ENOMEM);
    assert_non_null(again = handle_of(20000)); /* a peer that is known */
    assert_int_equal(ibv_destroy_ah(handles[0]), 0);
    assert_null(handle_of(60000)); /* its address is still in use */
    assert_int_equal(ibv_destroy_ah(again), 0);
    assert_non_null(handles[0] = handle_of(60000));
    for (unsigned i = 0; i < PEERS; i++)
        assert_int_equal(ibv_destroy_ah(handles[i]), 0);
}

/* Peers of connections: a connection that is reset, destroyed or refused releases its peer. */
static void test_peers_of_connections(void **state)
{
    struct ibv_qp_init_attr init = good(IBV_QPT_UC);
    struct ibv_qp *qp = ibv_create_qp(pd, &init);

    (void)state;
    assert_non_null(qp);
    for (unsigned i = 0; i < 3 * 4096; i++) {
        const uint8_t ip[] = {0xff, 0xff, 10, 9, (uint8_t)(i >> 8), (uint8_t)i};
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                                   .port_num = 1,
                                   .path_mtu = IBV_MTU_1024,
                                   .ah_attr = {.is_global = 1, .port_num = 1}};
        const int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

        memcpy(attr.ah_attr.grh.dgid.raw + 10, ip, sizeof(ip));
        assert_int_equal(
            ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            0);
        attr.qp_state = IBV_QPS_RTR;
        assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | path), 0);
        if (i % 3 == 0) {
            assert_int_equal(ibv_destroy_qp(qp), 0);
            assert_non_null(qp = ibv_create_qp(pd, &init));
            continue;
        }
        attr.qp_state = IBV_QPS_RESET;
        assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    }
    assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Every single bit of a mask, where it may not be, and states that are none. */
static void test_masks(void **state)
{
    struct ibv_qp_init_attr init = good(IBV_QPT_RC);
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS}, got;
    const int may = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
                    IBV_QP_PATH_MIG_STATE | IBV_QP_ALT_PATH;

    (void)state;
    bring_up(qp, true);
    for (int bit = 1; bit < 31; bit++) {
        const int error = ibv_modify_qp(qp, &attr, IBV_QP_STATE | 1 << bit);

        if ((may & 1 << bit) == 0 && error != EINVAL)
            fail_msg("bit %d: %d", bit, error);
    }
    attr.qp_state = IBV_QPS_UNKNOWN;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    attr.qp_state = (enum ibv_qp_state) - 1;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    assert_int_equal(ibv_modify_qp(qp, &attr, 0), 0); /* nothing is asked for */
    assert_int_equal(ibv_query_qp(qp, &got, 0, &init), 0);
    assert_int_equal(got.qp_state, IBV_QPS_RTS);
    attr.qp_state = IBV_QPS_INIT; /* not allowed from this state */
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    attr.qp_state = IBV_QPS_ERR;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0); /* once more */
    attr.qp_state = IBV_QPS_RTS;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    attr.qp_state = IBV_QPS_RESET;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_destroy_qp(qp), 0);
}

/*
 * Work requests that queue pairs of any kind, or of this kind, cannot do: none of them is posted.
 */
struct attempt {
    struct ibv_qp *qp;
    struct ibv_send_wr wr;
    struct ibv_sge sges[3];
};

static int try(struct attempt *attempt)
{
    struct ibv_send_wr *bad = NULL;
    const int error = ibv_post_send(attempt->qp, &attempt->wr, &bad);

    if (error != 0)
        assert_ptr_equal(bad, &attempt->wr);
    return error;
}

static struct attempt attempt_of(struct ibv_qp *qp, const struct ibv_mr *mr, struct ibv_ah *ah,
                                 enum ibv_wr_opcode opcode)
{
    struct attempt attempt = {.qp = qp, .wr = {.wr_id = 1, .num_sge = 1, .opcode = opcode}};

    for (int i = 0; i < 3; i++)
        attempt.sges[i] = (struct ibv_sge){(uintptr_t)mr->addr, 8, mr->lkey};
    if (qp->qp_type == IBV_QPT_UD) {
        attempt.wr.wr.ud.ah = ah;
        attempt.wr.wr.ud.remote_qkey = 5;
    }
    return attempt;
}

/* Wrong for each opcode, on each queue pair. */
static void try_sizes(struct attempt attempt)
{
    attempt.wr.sg_list = attempt.sges;
    attempt.wr.num_sge = 3;                    /* more than the queue pair allows */
    if (attempt.wr.opcode != IBV_WR_LOCAL_INV) /* which has none, whatever is said */
        assert_int_not_equal(try(&attempt), 0);
    attempt.wr.num_sge = -1;
    assert_int_not_equal(try(&attempt), 0);
    attempt.wr.num_sge = 1;
    attempt.wr.send_flags = IBV_SEND_INLINE; /* not even one byte */
    assert_int_not_equal(try(&attempt), 0);
    attempt.wr.send_flags = 0;
    attempt.wr.sg_list = NULL;
    assert_int_not_equal(try(&attempt), 0);
}

static void try_opcode(struct attempt attempt)
{
    const enum ibv_wr_opcode opcode = attempt.wr.opcode;
    const enum ibv_qp_type type = attempt.qp->qp_type;
    const bool atomic =
        opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

    attempt.wr.sg_list = attempt.sges;
    if ((opcode == IBV_WR_RDMA_READ || atomic) && type != IBV_QPT_RC)
        assert_int_equal(try(&attempt), EINVAL);
    if (type == IBV_QPT_UD && opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM)
        assert_int_not_equal(try(&attempt), 0);
    if (opcode > IBV_WR_TSO && opcode != IBV_WR_DRIVER1)
        assert_int_not_equal(try(&attempt), 0);
    if (!atomic || type != IBV_QPT_RC)
        return;
    attempt.wr.num_sge = 2;
    assert_int_equal(try(&attempt), EINVAL);
    attempt.wr.num_sge = 0;
    assert_int_equal(try(&attempt), EINVAL);
    attempt.wr.num_sge = 1;
    attempt.sges[0].length = 4;
    assert_int_equal(try(&attempt), EINVAL);
}

static void try_addresses(struct attempt attempt, struct ibv_ah *foreign)
{
    attempt.wr.sg_list = attempt.sges;
    attempt.wr.wr.ud.remote_qpn = 1 << 24;
    assert_int_not_equal(try(&attempt), 0);
    attempt.wr.wr.ud.remote_qpn = 5;
    attempt.wr.wr.ud.ah = foreign;
    assert_int_not_equal(try(&attempt), 0);
    attempt.wr.wr.ud.ah = NULL;
    assert_int_not_equal(try(&attempt), 0);
}

static void test_wrong_work(void **state)
{
    static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), WRITE);
    struct ibv_ah_attr address = {.is_global = 1, .port_num = 1};
    struct ibv_pd *other = ibv_alloc_pd(context);
    struct ibv_ah *ah, *foreign;
    struct ibv_wc wc;

    (void)state;
    assert_int_equal(ibv_query_gid(context, 1, 0, &address.grh.dgid), 0);
    ah = ibv_create_ah(pd, &address);
    foreign = ibv_create_ah(other, &address);
    for (int t = 0; t < 3; t++) {
        struct ibv_qp_init_attr init = good(types[t]);
        struct ibv_qp *qp = ibv_create_qp(pd, &init);
        struct ibv_send_wr *bad;
        struct attempt early = attempt_of(qp, mr, ah, IBV_WR_SEND);
        early.wr.sg_list = early.sges;
        bring_up(qp, false);
        assert_int_equal(try(&early), EINVAL); /* RTR */
        assert_int_equal(ibv_destroy_qp(qp), 0);
        init = good(types[t]);
        qp = ibv_create_qp(pd, &init);
        bring_up(qp, true);
        assert_int_equal(ibv_post_send(qp, NULL, &bad), 0); /* an empty list */
        for (int opcode = -1; opcode < 300; opcode++) {
            const struct attempt one = attempt_of(qp, mr, ah, (enum ibv_wr_opcode)opcode);
            try_sizes(one);
            try_opcode(one);
            if (types[t] == IBV_QPT_UD)
                try_addresses(one, foreign);
        }
        assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
        assert_int_equal(ibv_destroy_qp(qp), 0);
    }
    assert_int_equal(ibv_destroy_ah(foreign), 0);
    assert_int_equal(ibv_dealloc_pd(other), 0);
    assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
    assert_int_equal(ibv_destroy_ah(ah), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* More than there is room for; receives of all kinds of wrong. */
static void test_full_queues(void **state)
{
    struct ibv_qp_init_attr init = good(IBV_QPT_RC);
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct ibv_recv_wr recv = {.wr_id = 1}, *bad_recv;
    struct ibv_send_wr send = {.wr_id = 1, .opcode = IBV_WR_SEND}, *bad_send;

    (void)state;
    bring_up(qp, true);
    assert_int_equal(ibv_post_recv(qp, NULL, &bad_recv), 0);
    send.send_flags = 0xffff0000u; /* flags that say nothing to us */
    for (unsigned i = 0; i < init.cap.max_recv_wr; i++)
        assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), ENOMEM);
    assert_ptr_equal(bad_recv, &recv);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    init = good(IBV_QPT_RC);
    init.cap = (struct ibv_qp_cap){0};
    qp = ibv_create_qp(pd, &init); /* no receives at all */
    assert_non_null(qp);
    bring_up(qp, true);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), ENOMEM);
    assert_int_equal(ibv_post_send(qp, &send, &bad_send), 0);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    init = good(IBV_QPT_RC);
    init.cap.max_send_wr = init.cap.max_recv_wr = UINT32_MAX;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &init));
    init = good(IBV_QPT_RC);
    init.cap.max_send_sge = UINT32_MAX;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &init));
}

static void test_windows(void **state)
{
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_pd *other = ibv_alloc_pd(context);
    struct ibv_mr *others = ibv_reg_mr(other, memory, sizeof(memory), WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_mw *one = ibv_alloc_mw(pd, IBV_MW_TYPE_1), *two = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    struct ibv_mw *foreign = ibv_alloc_mw(other, IBV_MW_TYPE_1);
    struct ibv_qp_init_attr init = good(IBV_QPT_UC), ud = good(IBV_QPT_UD);
    struct ibv_qp *qp = ibv_create_qp(pd, &init), *datagrams = ibv_create_qp(pd, &ud);
    struct ibv_mw_bind bind = {.bind_info = {.mr = mr,
                                             .addr = (uintptr_t)memory,
                                             .length = 10,
                                             .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
    struct ibv_mw_bind wrong;
    const uint32_t key = one->rkey;

    (void)state;
    NULL_WITH(EINVAL, ibv_alloc_mw(pd, 0));
    NULL_WITH(EINVAL, ibv_alloc_mw(pd, 3));
    assert_int_equal(ibv_bind_mw(qp, one, &bind), EINVAL); /* RESET */
    bring_up(qp, true);
    bring_up(datagrams, true);
    assert_int_equal(ibv_bind_mw(datagrams, one, &bind), EINVAL);
    assert_int_equal(ibv_bind_mw(qp, two, &bind), EINVAL);
    assert_int_equal(ibv_bind_mw(qp, foreign, &bind), EPERM);
    wrong = bind;
    wrong.bind_info.mr = others;
    assert_int_equal(ibv_bind_mw(qp, one, &wrong), EPERM);
    wrong = bind;
    wrong.bind_info.mr = NULL;
    assert_int_equal(ibv_bind_mw(qp, one, &wrong), EINVAL);
    wrong = bind;
    wrong.bind_info.mw_access_flags = IBV_ACCESS_MW_BIND;
    assert_int_equal(ibv_bind_mw(qp, one, &wrong), EINVAL);
    wrong = bind;
    wrong.send_flags = IBV_SEND_INLINE;
    assert_int_equal(ibv_bind_mw(qp, one, &wrong), EINVAL);
    assert_int_equal(one->rkey, key);
    assert_int_equal(ibv_dealloc_pd(other), EBUSY);
    assert_int_equal(ibv_dealloc_mw(foreign), 0);
    assert_int_equal(ibv_dealloc_mw(one), 0);
    assert_int_equal(ibv_dealloc_mw(two), 0);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(ibv_destroy_qp(datagrams), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    assert_int_equal(ibv_dereg_mr(others), 0);
    assert_int_equal(ibv_dealloc_pd(other), 0);
}

/* Objects of two contexts, also of one device, have nothing to do with each other. */
static void test_two_contexts(void **state)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *other = ibv_open_device(list[0]);
    struct ibv_pd *others_pd = ibv_alloc_pd(other);
    struct ibv_cq *others_cq = ibv_create_cq(other, 4, NULL, NULL, 0);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(other);
    struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(others_pd, &srq_init);
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, 10, WRITE);
    struct ibv_qp_init_attr init = good(IBV_QPT_RC);

    (void)state;
    ibv_free_device_list(list);
    init.send_cq = others_cq;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &init));
    init = good(IBV_QPT_RC);
    init.srq = srq;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &init));
    init = good(IBV_QPT_RC);
    NULL_WITH(EINVAL, ibv_create_qp(others_pd, &init));
    NULL_WITH(EINVAL, ibv_create_cq(context, 4, NULL, channel, 0));
    MINUS_ONE_WITH(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, others_pd, NULL, 0, 0));
    assert_int_equal(ibv_dereg_mr(mr), 0);
    assert_int_equal(ibv_destroy_srq(srq), 0);
    /* Objects outlive the close of their context, and can be destroyed one by one. */
    assert_int_equal(ibv_close_device(other), 0);
    assert_int_equal(ibv_destroy_cq(others_cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    assert_int_equal(ibv_dealloc_pd(others_pd), 0);
}

static void test_settings(void **state)
{
    struct ibv_modify_cq_attr moderate = {.attr_mask = 0, .moderate = {9, 9}};
    struct ibv_qp_rate_limit_attr limit = {.rate_limit = 1000};
    struct ibv_qp_init_attr init = good(IBV_QPT_RC);
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct ibv_ece ece = {.vendor_id = 0x15b3};
    struct ibv_wc wc;

    (void)state;
    assert_int_equal(ibv_poll_cq(cq, 0, NULL), 0);
    assert_int_equal(ibv_poll_cq(cq, -1, &wc), 0);
    /* without a channel the request has no effect */
    assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
    assert_int_equal(ibv_modify_cq(cq, &moderate), 0); /* nothing is asked for */
    moderate.attr_mask = IBV_CQ_ATTR_MODERATE;
    assert_int_equal(ibv_modify_cq(cq, &moderate), EOPNOTSUPP);
    moderate.attr_mask = 2;
    assert_int_equal(ibv_modify_cq(cq, &moderate), EINVAL);
    assert_int_equal(ibv_modify_qp_rate_limit(qp, &limit), EINVAL); /* RESET */
    bring_up(qp, true);
    assert_int_equal(ibv_modify_qp_rate_limit(qp, &limit), 0);
    limit.comp_mask = 1;
    assert_int_equal(ibv_modify_qp_rate_limit(qp, &limit), EOPNOTSUPP);
    assert_int_equal(ibv_set_ece(qp, &ece), EOPNOTSUPP);
    assert_int_equal(ibv_attach_mcast(qp, &(union ibv_gid){{0}}, 0), EOPNOTSUPP);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    for (int value = -3; value < 300; value++) { /* numbers without a name */
        assert_non_null(ibv_wc_status_str((enum ibv_wc_status)value));
        assert_non_null(ibv_event_type_str((enum ibv_event_type)value));
        assert_non_null(ibv_node_type_str((enum ibv_node_type)value));
        assert_non_null(ibv_port_state_str((enum ibv_port_state)value));
    }
    assert_int_equal(ibv_rate_to_mbps((enum ibv_rate)99), -1);
    assert_int_equal(ibv_rate_to_mult((enum ibv_rate) - 1), -1);
    assert_int_equal(mult_to_ibv_rate(-7), IBV_RATE_MAX);
    ibv_free_device_list(NULL);
}

/* Builder calls out of order give an error at the end, and nothing is posted. */
static void test_builders(void **state)
{
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_UD,
        .send_cq = cq,
        .recv_cq = cq,
        .pd = pd,
        .cap = {.max_send_wr = 4, .max_send_sge = 1, .max_inline_data = 16},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND};
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibv_create_qp_ex(context, &init));
    struct ibv_sge sges[2] = {{0}};
    struct ibv_wc wc;

    (void)state;
    assert_non_null(qp);
    ibv_wr_start(qp);
    assert_int_equal(ibv_wr_complete(qp), EINVAL); /* RESET */
    bring_up(&qp->qp_base, true);
    ibv_wr_start(qp);
    assert_int_equal(ibv_wr_complete(qp), 0); /* nothing at all */
    for (int round = 0; round < 5; round++) {
        ibv_wr_start(qp);
        if (round > 0)
            ibv_wr_send(qp);
        if (round < 2)
            ibv_wr_set_sge(qp, 0, 0, 0); /* without work; without an address */
        if (round == 2)
            ibv_wr_set_ud_addr(qp, NULL, 1, 1);
        if (round == 3)
            ibv_wr_set_sge_list(qp, 2, sges);
        if (round == 4)
            ibv_wr_set_inline_data(qp, memory, 17);
        assert_int_equal(ibv_wr_complete(qp), EINVAL);
    }
    init.send_ops_flags = UINT64_C(1) << 60;
    NULL_WITH(EOPNOTSUPP, ibv_create_qp_ex(context, &init));
    init.comp_mask = 0;
    NULL_WITH(EINVAL, ibv_create_qp_ex(context, &init));
    init.comp_mask = IBV_QP_INIT_ATTR_PD | 1u << 31;
    NULL_WITH(EOPNOTSUPP, ibv_create_qp_ex(context, &init));
    assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
    assert_int_equal(ibv_destroy_qp(&qp->qp_base), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_wrong_work),
        cmocka_unit_test(test_full_queues),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_two_contexts),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_builders),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_peers_of_connections),
    };

    setenv("OCHE_DEVICE", "127.34.0.5", 0);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
