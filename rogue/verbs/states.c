/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibv_modify_qp of a wrapped queue pair: the first queue pair follows the application, and the
 * shadow is connected when the peer's library is known. The application's attributes are kept,
 * because queue pairs are restarted with them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rogue/verbs/internal.h"

#define HARDWARE_RETRIES 1 /* RoGUE sec 3.5 */

static void keep(struct ibv_qp_attr *kept, const struct ibv_qp_attr *attr, int mask)
{
#define KEEP(bit, field)                                                                           \
    if (mask & (bit))                                                                              \
    kept->field = attr->field
    KEEP(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
    KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    KEEP(IBV_QP_PKEY_INDEX, pkey_index);
    KEEP(IBV_QP_PORT, port_num);
    KEEP(IBV_QP_AV, ah_attr);
    KEEP(IBV_QP_PATH_MTU, path_mtu);
    KEEP(IBV_QP_TIMEOUT, timeout);
    KEEP(IBV_QP_RETRY_CNT, retry_cnt);
    KEEP(IBV_QP_RNR_RETRY, rnr_retry);
    KEEP(IBV_QP_RQ_PSN, rq_psn);
    KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    KEEP(IBV_QP_SQ_PSN, sq_psn);
    KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    KEEP(IBV_QP_DEST_QPN, dest_qp_num);
    KEEP(IBV_QP_RATE_LIMIT, rate_limit);
#undef KEEP
    kept->rq_psn &= OCHE_PSN_MASK;
    kept->sq_psn &= OCHE_PSN_MASK;
}

int rv_real_modify(struct rv_qp *qp, unsigned side, const struct ibv_qp_attr *attr, int mask)
{
    struct ibv_qp *real = qp->qps[side];
    struct ibv_qp_attr all = *attr;
    int error;

    all.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE; /* for empty ones (work.c) */
    /* The library below may search for the queue pair's completions in its own queues. */
    real->send_cq = qp->hidden_send;
    real->recv_cq = qp->hidden_recv;
    error = rv_next.modify_qp(real, &all, mask);
    real->send_cq = qp->send_cq->cq;
    real->recv_cq = qp->recv_cq->cq;
    return error;
}

static int ready_to_send(struct rv_qp *qp, unsigned side)
{
    struct ibv_qp_attr attr = qp->attr;

    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = qp->send_psn[side];
    if (qp->paired)
        attr.retry_cnt = HARDWARE_RETRIES;
    return rv_real_modify(qp, side, &attr, qp->rts_mask);
}

bool rv_bring_up(struct rv_qp *qp, unsigned side, uint32_t send_psn, uint32_t recv_psn)
{
    struct ibv_qp_attr attr = qp->attr;

    attr.qp_state = IBV_QPS_INIT;
    if (rv_real_modify(qp, side, &attr, qp->init_mask) != 0)
        return false;
    attr.qp_state = IBV_QPS_RTR;
    attr.rq_psn = recv_psn;
    attr.dest_qp_num = side == 0 ? qp->peer.qpn : qp->peer.shadow_qpn;
    if (rv_real_modify(qp, side, &attr, qp->rtr_mask) != 0)
        return false;
    qp->send_psn[side] = send_psn;
    if (qp->state == IBV_QPS_RTS && ready_to_send(qp, side) != 0)
        return false;
    qp->up[side] = true;
    qp->lives[side]++;
    rv_apply_limit(qp, side);
    return true;
}

void rv_pair(struct rv_qp *qp)
{
    qp->paired = true;
    if ((qp->uc == NULL && !rv_bring_up(qp, 1, qp->shadow_psn, qp->peer.shadow_psn)) ||
        !rv_connect_rogue(qp)) {
        qp->paired = false;
        qp->alone = true;
        rv_say("rogue: queue pair %#x cannot be connected with the peer's", qp->qps[0]->qp_num);
    }
    pthread_cond_broadcast(&qp->answered);
}

void rv_forget_connection(struct rv_qp *qp)
{
    if (qp->rogue != NULL) {
        rv_count_connection(qp);
        rv_limiter_give(qp);
    }
    free(qp->rogue);
    qp->rogue = NULL;
    qp->paired = qp->alone = qp->ended = qp->flushing = false;
    qp->busy = qp->active = false;
    qp->up[0] = qp->up[1] = false;
    qp->trouble = 0;
    qp->heard = false;
    qp->asks = 0;
    qp->ask_again = OCHE_NEVER;
    qp->work_done = qp->work_next;
    qp->receives_wanted = qp->receives_posted = qp->receives_ended = 0;
    qp->count_known = true;
    qp->count_qp = qp->count_epoch = qp->count_serial = 0;
    qp->peer_received = qp->received = 0;
    qp->count_repeat = OCHE_NEVER;
    qp->receive_done = qp->receive_next;
    qp->receive_on = 0;
    qp->outstanding = 0;
    qp->moved_serial = 0;
    qp->paced_until[0] = qp->paced_until[1] = 0;
    qp->own_reads_bps = 0;
    memset(qp->out_bps, 0, sizeof(qp->out_bps));
    memset(qp->reads_bps, 0, sizeof(qp->reads_bps));
    memset(qp->peer_reads_serial, 0, sizeof(qp->peer_reads_serial));
    qp->secret[0] = rv_random();
    qp->secret[1] = rv_random();
}

/* ---- state changes ---- */

static int to_reset(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error = rv_real_modify(qp, 0, attr, mask);

    if (error != 0)
        return error;
    if (qp->uc != NULL) {
        rv_uc_reset(qp);
    } else {
        rv_real_modify(qp, 1, attr, mask);
        rv_receives_take(qp); /* no more completions come from either queue pair */
    }
    rv_forget_connection(qp);
    memset(&qp->attr, 0, sizeof(qp->attr));
    rv_cq_forget(qp->send_cq, qp->qps[0]->qp_num);
    rv_cq_forget(qp->recv_cq, qp->qps[0]->qp_num);
    qp->state = IBV_QPS_RESET;
    return 0;
}

static int to_init(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error = rv_real_modify(qp, 0, attr, mask);

    if (error != 0)
        return error;
    keep(&qp->attr, attr, mask);
    qp->init_mask |= mask;
    if (qp->uc != NULL && qp->state == IBV_QPS_RESET)
        rv_uc_receive(qp);
    qp->state = IBV_QPS_INIT;
    return 0;
}

static int to_rtr(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error = rv_real_modify(qp, 0, attr, mask);

    if (error != 0)
        return error;
    keep(&qp->attr, attr, mask);
    qp->rtr_mask = mask;
    qp->state = IBV_QPS_RTR;
    qp->up[0] = true;
    memset(&qp->gid, 0, sizeof(qp->gid));
    if (attr->ah_attr.is_global)
        ibv_query_gid(qp->context->context, qp->attr.port_num, attr->ah_attr.grh.sgid_index,
                      &qp->gid);
    rv_begin_asking(qp);
    return 0;
}

static int to_rts(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error;

    rv_find_peer(qp);
    if (qp->uc != NULL && !qp->paired) {
        qp->alone = false; /* the answer may still come */
        return ECONNREFUSED;
    }
    keep(&qp->attr, attr, mask);
    qp->rts_mask = mask;
    qp->send_psn[0] = attr->sq_psn;
    if (qp->rogue == NULL && !rv_connect_rogue(qp))
        return ENOMEM;
    rogue_set_retry_count(qp->rogue, qp->attr.retry_cnt);
    for (unsigned side = 0; side < 2; side++) {
        error = qp->up[side] ? ready_to_send(qp, side) : 0;
        if (error != 0)
            return error;
        if (qp->up[side])
            rv_apply_limit(qp, side);
    }
    qp->state = IBV_QPS_RTS;
    return 0;
}

static int to_error(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error;

    if (qp->rogue != NULL) {
        qp->trouble = IBV_WC_WR_FLUSH_ERR;
        rv_drain(qp);
        return 0;
    }
    error = rv_real_modify(qp, 0, attr, mask);
    if (error != 0)
        return error;
    qp->state = IBV_QPS_ERR;
    if (qp->uc == NULL)
        rv_receives_take(qp);
    rv_receives_flush(qp);
    return 0;
}

/* Other attributes of queue pairs that are connected. */
static int change(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error = 0;

    for (unsigned side = 0; side < 2 && error == 0; side++) {
        struct ibv_qp_attr copy = *attr;
        if ((mask & IBV_QP_RETRY_CNT) && qp->paired)
            copy.retry_cnt = HARDWARE_RETRIES;
        error = qp->up[side] ? rv_real_modify(qp, side, &copy, mask) : 0;
    }
    if (error == 0)
        keep(&qp->attr, attr, mask);
    return error;
}

static int modify(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : qp->state;

    if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != qp->state)
        return EINVAL;
    if (mask & (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE) || to == IBV_QPS_SQD)
        return EOPNOTSUPP;
    switch (to) {
    case IBV_QPS_RESET:
        return to_reset(qp, attr, mask);
    case IBV_QPS_ERR:
        return to_error(qp, attr, mask);
    case IBV_QPS_INIT:
        return qp->state > IBV_QPS_INIT ? EINVAL : to_init(qp, attr, mask);
    case IBV_QPS_RTR:
        return qp->state != IBV_QPS_INIT ? EINVAL : to_rtr(qp, attr, mask);
    case IBV_QPS_RTS:
        if (qp->state == IBV_QPS_RTR)
            return to_rts(qp, attr, mask);
        return qp->state != IBV_QPS_RTS ? EINVAL : change(qp, attr, mask);
    default:
        return EINVAL;
    }
}

int rv_qp_modify(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error;

    pthread_mutex_lock(&qp->lock);
    error = modify(qp, attr, mask);
    qp->qps[0]->state = qp->state;
    if (qp->send_cq->armed || qp->recv_cq->armed)
        rv_hidden_arm(qp);
    rv_settle(qp);
    pthread_mutex_unlock(&qp->lock);
    rv_thread_wake();
    return error;
}
