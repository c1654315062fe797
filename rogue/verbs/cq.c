/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues as the application sees them: first the completions of wrapped queue pairs, in
 * a ring that grows, then those that other queue pairs have put into the CQ itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "rogue/verbs/internal.h"

#define FIRST_CAPACITY 64

struct rv_cq *rv_cq_create(struct rv_context *context, struct ibv_cq *cq, bool plain)
{
    struct rv_cq *own = calloc(1, sizeof(*own));

    if (own == NULL)
        return NULL;
    own->cq = cq;
    own->context = context;
    own->plain = plain;
    own->channel = cq->channel != NULL ? rv_find(RV_CHANNEL, cq->channel) : NULL;
    pthread_mutex_init(&own->lock, NULL);
    pthread_mutex_init(&own->members_lock, NULL);
    if (rv_put(RV_CQ, cq, own))
        return own;
    free(own);
    return NULL;
}

int rv_cq_destroy(struct rv_cq *cq)
{
    if (cq->member_count > 0)
        return EBUSY;
    if (cq->channel != NULL)
        rv_channel_forget(cq->channel, cq);
    rv_remove(RV_CQ, cq->cq);
    pthread_mutex_destroy(&cq->lock);
    pthread_mutex_destroy(&cq->members_lock);
    free(cq->members);
    free(cq->ring);
    free(cq);
    return 0;
}

/* ---- queue pairs ---- */

bool rv_cq_join(struct rv_cq *cq, struct rv_qp *qp)
{
    struct rv_qp **more;

    pthread_mutex_lock(&cq->members_lock);
    more = realloc(cq->members, (cq->member_count + 1) * sizeof(struct rv_qp *));
    if (more != NULL) {
        cq->members = more;
        cq->members[cq->member_count++] = qp;
    }
    pthread_mutex_unlock(&cq->members_lock);
    return more != NULL;
}

void rv_cq_leave(struct rv_cq *cq, const struct rv_qp *qp)
{
    pthread_mutex_lock(&cq->members_lock);
    for (uint32_t i = 0; i < cq->member_count; i++)
        if (cq->members[i] == qp) {
            cq->members[i] = cq->members[--cq->member_count];
            break;
        }
    pthread_mutex_unlock(&cq->members_lock);
}

/* ---- the ring ---- */

static bool grow(struct rv_cq *cq)
{
    uint32_t capacity = cq->capacity > 0 ? 2 * cq->capacity : FIRST_CAPACITY;
    struct ibv_wc *ring = malloc(capacity * sizeof(*ring));

    if (ring == NULL)
        return false;
    for (uint32_t i = 0; i < cq->count; i++)
        ring[i] = cq->ring[(cq->first + i) % cq->capacity];
    free(cq->ring);
    cq->ring = ring;
    cq->capacity = capacity;
    cq->first = 0;
    return true;
}

void rv_cq_push(struct rv_cq *cq, const struct ibv_wc *wc)
{
    pthread_mutex_lock(&cq->lock);
    if (cq->count < cq->capacity || grow(cq))
        cq->ring[(cq->first + cq->count++) % cq->capacity] = *wc;
    else
        rv_say("rogue: out of memory: a completion is lost");
    /* Even if a poll takes it at once, because programs rely on a requested event. */
    if (cq->armed && cq->channel != NULL) {
        cq->armed = false;
        rv_channel_raise(cq->channel, cq);
    }
    pthread_mutex_unlock(&cq->lock);
}

void rv_cq_forget(struct rv_cq *cq, uint32_t qpn)
{
    uint32_t kept = 0;

    pthread_mutex_lock(&cq->lock);
    for (uint32_t i = 0; i < cq->count; i++) {
        const struct ibv_wc *wc = &cq->ring[(cq->first + i) % cq->capacity];
        if (wc->qp_num != qpn)
            cq->ring[(cq->first + kept++) % cq->capacity] = *wc;
    }
    cq->count = kept;
    pthread_mutex_unlock(&cq->lock);
}

static int take(struct rv_cq *cq, int count, struct ibv_wc *wc)
{
    int taken = 0;

    pthread_mutex_lock(&cq->lock);
    while (taken < count && cq->count > 0) {
        wc[taken++] = cq->ring[cq->first];
        cq->first = (cq->first + 1) % cq->capacity;
        cq->count--;
    }
    pthread_mutex_unlock(&cq->lock);
    return taken;
}

/* ---- polling ---- */

static void drain_members(struct rv_cq *cq)
{
    pthread_mutex_lock(&cq->members_lock);
    for (uint32_t i = 0; i < cq->member_count; i++) {
        struct rv_qp *qp = cq->members[i];
        pthread_mutex_lock(&qp->lock);
        atomic_store_explicit(&qp->polled, true, memory_order_relaxed);
        if (qp->busy)
            rv_drain(qp);
        pthread_mutex_unlock(&qp->lock);
    }
    pthread_mutex_unlock(&cq->members_lock);
}

int rv_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    struct rv_cq *own = rv_find(RV_CQ, cq);
    struct rv_context *context;
    int taken, more = 0;

    if (own == NULL || own->plain) {
        context = rv_find(RV_CONTEXT, cq->context);
        return context->ops.poll_cq(cq, count, wc);
    }
    drain_members(own);
    taken = take(own, count, wc);
    if (taken < count && (own->others > 0 || own->member_count == 0))
        more = own->context->ops.poll_cq(cq, count - taken, wc + taken);
    return more < 0 && taken == 0 ? more : taken + (more > 0 ? more : 0);
}

int rv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    struct rv_cq *own = rv_find(RV_CQ, cq);
    struct rv_context *context = rv_find(RV_CONTEXT, cq->context);

    if (own == NULL || own->plain)
        return context->ops.req_notify_cq(cq, solicited_only);
    pthread_mutex_lock(&own->lock);
    own->armed = true;
    pthread_mutex_unlock(&own->lock);
    pthread_mutex_lock(&own->members_lock);
    for (uint32_t i = 0; i < own->member_count; i++) {
        pthread_mutex_lock(&own->members[i]->lock);
        rv_hidden_arm(own->members[i]);
        pthread_mutex_unlock(&own->members[i]->lock);
    }
    pthread_mutex_unlock(&own->members_lock);
    /*
     * a queue without a member of ours may have queue pairs that were made without us (librdmacm's)
     */
    return own->others > 0 || own->member_count == 0
               ? own->context->ops.req_notify_cq(cq, solicited_only)
               : 0;
}
