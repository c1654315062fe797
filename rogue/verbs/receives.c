/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives. The application's are kept in order, and posted on the queue pair on which the peer
 * sends. When that fails they come back flushed. When the peer says on which one it continues, the
 * receives that no message has consumed are posted there, in the same order. The answer says how
 * many messages have come (rogue.md#r12).
 */
#include <errno.h>
#include <string.h>

#include "rogue/verbs/internal.h"

#define AT_ONCE 32

static int post_below(struct rv_qp *qp, unsigned side, uint64_t number)
{
    struct rv_receive *receive = &qp->receives[number & qp->receive_mask];
    struct ibv_recv_wr wr = {.wr_id = number, .sg_list = receive->sge, .num_sge = receive->num_sge},
                       *bad;
    int error = qp->context->ops.post_recv(qp->qps[side], &wr, &bad);

    qp->outstanding += error == 0;
    return error;
}

static void push_flushed(struct rv_qp *qp, uint64_t number)
{
    struct ibv_wc wc = {.wr_id = qp->receives[number & qp->receive_mask].wr_id,
                        .status = IBV_WC_WR_FLUSH_ERR,
                        .opcode = IBV_WC_RECV,
                        .qp_num = qp->qps[0]->qp_num};

    rv_cq_push(qp->recv_cq, &wc);
}

static bool can_post(const struct rv_qp *qp)
{
    if (qp->state == IBV_QPS_ERR || qp->receive_on == RV_NOWHERE || qp->flushing)
        return false;
    return qp->rogue == NULL || qp->up[qp->receive_on];
}

int rv_receive_post(struct rv_qp *qp, const struct ibv_recv_wr *wr)
{
    uint64_t number = qp->receive_next;
    struct rv_receive *receive = &qp->receives[number & qp->receive_mask];
    int error = 0;

    if (qp->state == IBV_QPS_RESET || wr->num_sge < 0 ||
        (uint32_t)wr->num_sge > qp->cap.max_recv_sge || (wr->num_sge > 0 && wr->sg_list == NULL))
        return EINVAL;
    if (number - qp->receive_done > qp->receive_mask)
        return ENOMEM;
    receive->wr_id = wr->wr_id;
    receive->num_sge = wr->num_sge;
    memcpy(receive->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*receive->sge));
    if (can_post(qp))
        error = post_below(qp, qp->receive_on, number);
    if (error != 0)
        return error;
    qp->receive_next++;
    if (qp->state == IBV_QPS_ERR)
        rv_receives_flush(qp);
    return 0;
}

int rv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct rv_qp *own = rv_find(RV_QP, qp);
    struct rv_context *context;
    int error = 0;

    if (own == NULL) {
        context = rv_find(RV_CONTEXT, qp->context);
        return context->ops.post_recv(qp, wr, bad);
    }
    pthread_mutex_lock(&own->lock);
    for (; wr != NULL && error == 0; wr = wr->next) {
        error = own->uc != NULL ? EOPNOTSUPP : rv_receive_post(own, wr);
        if (error != 0)
            *bad = wr;
    }
    own->busy = own->busy || own->outstanding > 0;
    pthread_mutex_unlock(&own->lock);
    return error;
}

void rv_receives_flush(struct rv_qp *qp)
{
    while (qp->receive_done != qp->receive_next)
        push_flushed(qp, qp->receive_done++);
    qp->outstanding = 0;
    qp->receive_on = RV_NOWHERE;
    qp->flushing = false;
}

void rv_receives_returned(struct rv_qp *qp, unsigned side)
{
    if (qp->receive_on != side)
        return;
    qp->outstanding = 0;
    qp->receive_on = RV_NOWHERE;
    qp->flushing = false;
}

void rv_receives_move(struct rv_qp *qp, unsigned side)
{
    qp->receive_on = side;
    for (uint64_t n = qp->receive_done; n != qp->receive_next; n++)
        if (post_below(qp, side, n) != 0) {
            qp->trouble = IBV_WC_LOC_QP_OP_ERR;
            break;
        }
    rv_count(RV_MOVES);
}

/* A receive has come back unused. */
static void flushed(struct rv_qp *qp)
{
    unsigned side = qp->receive_on;

    qp->flushing = true;
    if (qp->outstanding > 0)
        return;
    rv_receives_returned(qp, side);
    /* Without the peer's library it is unknown where to continue. */
    if (!qp->paired)
        qp->trouble = IBV_WC_WR_FLUSH_ERR;
}

static void taken(struct rv_qp *qp, struct ibv_wc *wc)
{
    unsigned side = wc->qp_num == qp->qps[0]->qp_num ? 0 : 1;
    uint64_t number = wc->wr_id;

    if (side != qp->receive_on || qp->outstanding == 0)
        return; /* flushed to the application already */
    qp->outstanding--;
    if (wc->status == IBV_WC_WR_FLUSH_ERR) {
        flushed(qp);
        return;
    }
    wc->wr_id = qp->receives[number & qp->receive_mask].wr_id;
    wc->qp_num = qp->qps[0]->qp_num;
    qp->receive_done = number + 1;
    qp->received += wc->status == IBV_WC_SUCCESS;
    rv_cq_push(qp->recv_cq, wc);
    if (wc->status != IBV_WC_SUCCESS)
        qp->trouble = IBV_WC_WR_FLUSH_ERR;
}

void rv_receives_take(struct rv_qp *qp)
{
    struct ibv_wc wc[AT_ONCE];
    int count;

    do {
        count = qp->context->ops.poll_cq(qp->hidden_recv, AT_ONCE, wc);
        for (int i = 0; i < count; i++)
            taken(qp, &wc[i]);
    } while (count == AT_ONCE);
}
