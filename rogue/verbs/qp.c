/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs: which are wrapped, and how they and their shadows are made. The application has the
 * first one, and gives its number to the peer's application.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rogue/verbs/internal.h"

#define LEAST_DEPTH 64
#define SPARE_WR    8 /* for markers (rogue/switch.c) */
#define MEANT_MASKS                                                                                \
    (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static uint32_t power_of_two_from(uint32_t count)
{
    uint32_t power = LEAST_DEPTH;

    while (power < count)
        power *= 2;
    return power;
}

static bool is_too_large(const struct rv_context *context, const struct ibv_qp_cap *cap)
{
    return cap->max_send_sge > RV_MOST_SGE || cap->max_recv_sge > RV_MOST_SGE ||
           cap->max_send_wr > context->most_wr / 2 || cap->max_recv_wr > context->most_wr ||
           power_of_two_from(cap->max_send_wr) + SPARE_WR + RV_UC_ANSWERS > context->most_wr ||
           context->most_wr < RV_UC_RECEIVES;
}

static bool is_made_here(const struct rv_context *context, const struct ibv_cq *cq)
{
    const struct rv_cq *own = rv_find(RV_CQ, cq);

    return own != NULL && !own->plain && own->context == context;
}

/* Returns why the queue pair cannot have a shadow; docs/rogue.md says which can. */
static enum rv_refusal refusal_of(const struct rv_context *context,
                                  const struct ibv_qp_init_attr_ex *attr, bool asked)
{
    if (attr->qp_type != IBV_QPT_RC && (!asked || attr->qp_type != IBV_QPT_UC))
        return RV_TYPE;
    if (attr->srq != NULL)
        return RV_SRQ;
    if (context == NULL || !is_made_here(context, attr->send_cq) ||
        !is_made_here(context, attr->recv_cq))
        return RV_ELSEWHERE;
    if ((attr->comp_mask & ~(uint32_t)MEANT_MASKS) != 0 ||
        ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags != 0))
        return RV_FEATURES;
    return is_too_large(context, &attr->cap) ? RV_TOO_LARGE : RV_WRAPPED;
}

static struct ibv_qp *create_below(struct rv_qp *qp, const struct ibv_qp_init_attr_ex *asked,
                                   bool shadow)
{
    struct ibv_qp_init_attr_ex attr = *asked;
    struct ibv_qp *real;

    attr.send_cq = qp->hidden_send;
    attr.recv_cq = qp->hidden_recv;
    attr.cap.max_send_wr = qp->depth + SPARE_WR;
    attr.cap.max_send_sge = attr.cap.max_send_sge > 0 ? attr.cap.max_send_sge : 1;
    attr.sq_sig_all = 0;
    if (qp->uc != NULL) {
        attr.cap.max_send_wr += RV_UC_ANSWERS;
        attr.cap.max_recv_wr = RV_UC_RECEIVES;
        attr.cap.max_recv_sge = 1;
    }
    if (shadow)
        attr.comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    if ((attr.comp_mask & ~(uint32_t)IBV_QP_INIT_ATTR_PD) != 0) {
        real = qp->context->create_qp_ex(qp->context->context, &attr);
    } else {
        struct ibv_qp_init_attr old = {.qp_context = attr.qp_context,
                                       .send_cq = attr.send_cq,
                                       .recv_cq = attr.recv_cq,
                                       .cap = attr.cap,
                                       .qp_type = attr.qp_type};
        real = rv_next.create_qp(attr.pd, &old);
        attr.cap = old.cap;
    }
    if (real == NULL)
        return NULL;
    qp->cap = (struct ibv_qp_cap){
        .max_send_wr = asked->cap.max_send_wr,
        .max_recv_wr = asked->cap.max_recv_wr,
        .max_send_sge = attr.cap.max_send_sge < RV_MOST_SGE ? attr.cap.max_send_sge : RV_MOST_SGE,
        .max_recv_sge = attr.cap.max_recv_sge < RV_MOST_SGE ? attr.cap.max_recv_sge : RV_MOST_SGE,
        .max_inline_data = attr.cap.max_inline_data};
    if (qp->uc != NULL)
        qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
    real->send_cq = qp->send_cq->cq;
    real->recv_cq = qp->recv_cq->cq;
    return real;
}

static uint64_t port_rate_of(struct ibv_context *context)
{
    static const struct {
        uint8_t code;
        uint64_t mbps;
    } speeds[] = {{1, 2500},   {2, 5000},   {4, 10000},  {8, 10000},
                  {16, 14062}, {32, 25000}, {64, 50000}, {128, 100000}};
    static const struct {
        uint8_t code;
        unsigned lanes;
    } widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
    struct ibv_port_attr port;
    uint64_t mbps = 0;

    if (ibv_query_port(context, 1, &port) == 0)
        for (size_t i = 0; i < OCHE_COUNT_OF(speeds); i++)
            for (size_t j = 0; j < OCHE_COUNT_OF(widths); j++)
                if (speeds[i].code == port.active_speed && widths[j].code == port.active_width)
                    mbps = speeds[i].mbps * widths[j].lanes;
    return mbps > 0 ? mbps * OCHE_MBPS : 100 * OCHE_GBPS;
}

/* ---- making and unmaking ---- */

static void unmake(struct rv_qp *qp)
{
    for (unsigned side = 0; side < 2; side++)
        if (qp->qps[side] != NULL) {
            rv_remove(side == 0 ? RV_QP : RV_SHADOW, qp->qps[side]);
            qp->qps[side]->send_cq = qp->hidden_send;
            qp->qps[side]->recv_cq = qp->hidden_recv;
            rv_next.destroy_qp(qp->qps[side]);
        }
    rv_cq_leave(qp->send_cq, qp);
    rv_cq_leave(qp->recv_cq, qp);
    rv_hidden_destroy(qp);
    rv_qp_ex_destroy(qp);
    rv_uc_destroy(qp);
    free(qp->samples);
    free(qp->rogue);
    free(qp->works);
    free(qp->receives);
    free(qp->inline_memory);
    pthread_mutex_destroy(&qp->lock);
    pthread_cond_destroy(&qp->answered);
    free(qp);
}

static bool make(struct rv_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&qp->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&qp->answered, &clock);
    pthread_condattr_destroy(&clock);
    qp->depth = power_of_two_from(attr->cap.max_send_wr);
    qp->receive_mask = power_of_two_from(attr->cap.max_recv_wr) - 1;
    if ((attr->qp_type == IBV_QPT_UC && !rv_uc_create(qp)) || !rv_hidden_create(qp))
        return false;
    for (unsigned side = 0; side < (qp->uc != NULL ? 1 : 2); side++) {
        qp->qps[side] = create_below(qp, attr, side == 1);
        if (qp->qps[side] == NULL || !rv_put(side == 0 ? RV_QP : RV_SHADOW, qp->qps[side], qp))
            return false;
    }
    qp->works = calloc(qp->depth, sizeof(*qp->works));
    qp->receives = calloc(qp->receive_mask + 1, sizeof(*qp->receives));
    qp->inline_memory = malloc((size_t)qp->depth * qp->cap.max_inline_data + 1);
    if (qp->works == NULL || qp->receives == NULL || qp->inline_memory == NULL)
        return false;
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) && !rv_qp_ex_init(qp))
        return false;
    return rv_cq_join(qp->send_cq, qp) &&
           (qp->recv_cq == qp->send_cq || rv_cq_join(qp->recv_cq, qp));
}

static struct rv_qp *create(struct rv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct rv_qp *qp = rv_thread_start() ? calloc(1, sizeof(*qp)) : NULL;

    if (qp == NULL)
        return NULL;
    qp->context = context;
    qp->send_cq = rv_find(RV_CQ, attr->send_cq);
    qp->recv_cq = rv_find(RV_CQ, attr->recv_cq);
    qp->all_signaled = attr->sq_sig_all != 0;
    qp->state = IBV_QPS_RESET;
    qp->port_rate_bps = port_rate_of(context->context);
    qp->line_rate_bps = rv_line_rate() > 0 ? rv_line_rate() : qp->port_rate_bps;
    rv_forget_connection(qp);
    errno = 0;
    if (make(qp, attr))
        return qp;
    int error = errno;
    unmake(qp);
    errno = error;
    return NULL;
}

struct ibv_qp *rv_qp_create(struct rv_context *context, struct ibv_qp_init_attr_ex *attr,
                            bool asked, enum rv_refusal *refusal)
{
    static const int errors[] = {[RV_TYPE] = EPROTOTYPE,
                                 [RV_SRQ] = EOPNOTSUPP,
                                 [RV_ELSEWHERE] = EXDEV,
                                 [RV_TOO_LARGE] = ERANGE,
                                 [RV_FEATURES] = ENOSYS};
    struct rv_qp *qp;

    *refusal = refusal_of(context, attr, asked);
    if (*refusal != RV_WRAPPED) {
        errno = errors[*refusal];
        return NULL;
    }
    qp = create(context, attr);
    if (qp == NULL) {
        *refusal = RV_FAILED;
        errno = errno != 0 ? errno : ENOMEM;
        return NULL;
    }
    attr->cap = qp->cap;
    pthread_mutex_lock(&rv_world.lock);
    qp->next = rv_world.qps;
    rv_world.qps = qp;
    pthread_mutex_unlock(&rv_world.lock);
    return qp->qps[0];
}

int rv_qp_destroy(struct rv_qp *qp)
{
    pthread_mutex_lock(&rv_world.lock);
    for (struct rv_qp **link = &rv_world.qps; *link != NULL; link = &(*link)->next)
        if (*link == qp) {
            *link = qp->next;
            break;
        }
    pthread_mutex_unlock(&rv_world.lock);
    rv_cq_leave(qp->send_cq, qp); /* no other thread has it any more */
    rv_cq_leave(qp->recv_cq, qp);
    if (qp->rogue != NULL) {
        rv_count_connection(qp);
        rv_limiter_give(qp);
    }
    rv_cq_forget(qp->send_cq, qp->qps[0]->qp_num);
    rv_cq_forget(qp->recv_cq, qp->qps[0]->qp_num);
    unmake(qp);
    return 0;
}

int rv_qp_query(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask,
                struct ibv_qp_init_attr *init_attr)
{
    int error;

    pthread_mutex_lock(&qp->lock);
    error = rv_next.query_qp(qp->qps[0], attr, mask, init_attr);
    if (error == 0) {
        attr->qp_state = attr->cur_qp_state = qp->qps[0]->state = qp->state;
        attr->cap = init_attr->cap = qp->cap;
        attr->retry_cnt = qp->attr.retry_cnt;
        attr->qp_access_flags = qp->attr.qp_access_flags;
        attr->sq_psn = qp->attr.sq_psn;
        attr->rq_psn = qp->attr.rq_psn;
        init_attr->send_cq = qp->send_cq->cq;
        init_attr->recv_cq = qp->recv_cq->cq;
        init_attr->sq_sig_all = qp->all_signaled;
    }
    pthread_mutex_unlock(&qp->lock);
    return error;
}
