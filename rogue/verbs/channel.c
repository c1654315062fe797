/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of completion queues whose completions are ours. The application waits on a descriptor of
 * the library below, and only that library can make it readable. So each channel has an additional
 * CQ and queue pair. The queue pair is in ERR: a request posted on it completes at once, as
 * flushed, and that is an event of the channel. When the event is taken, it stands for the CQs that
 * are due.
 */
#include <errno.h>
#include <stdlib.h>

#include "rogue/verbs/internal.h"

#define WAKE_WR 16

struct rv_channel {
    struct rv_context *context;
    pthread_mutex_t lock;
    struct ibv_cq *cq; /* CQ of the queue pair that wakes the channel */
    struct ibv_qp *qp;
    struct rv_cq *first_due, *last_due;
    bool raised; /* the queue pair has something posted */
};

static bool make_waker(struct rv_channel *own, struct ibv_comp_channel *channel)
{
    struct rv_context *context = own->context;
    struct ibv_qp_init_attr init = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = WAKE_WR, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

    own->cq = rv_next.create_cq(context->context, 2 * WAKE_WR, NULL, channel, 0);
    if (own->cq == NULL)
        return false;
    init.send_cq = init.recv_cq = own->cq;
    own->qp = rv_next.create_qp(context->pd, &init);
    if (own->qp == NULL)
        return false;
    if (rv_next.modify_qp(own->qp, &attr,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) !=
        0)
        return false;
    attr.qp_state = IBV_QPS_ERR;
    return rv_next.modify_qp(own->qp, &attr, IBV_QP_STATE) == 0 &&
           context->ops.req_notify_cq(own->cq, 0) == 0;
}

void rv_channel_destroy(struct rv_channel *channel)
{
    if (channel->qp != NULL)
        rv_next.destroy_qp(channel->qp);
    if (channel->cq != NULL)
        rv_next.destroy_cq(channel->cq);
    pthread_mutex_destroy(&channel->lock);
    free(channel);
}

struct rv_channel *rv_channel_create(struct rv_context *context, struct ibv_comp_channel *channel)
{
    struct rv_channel *own = calloc(1, sizeof(*own));

    if (own == NULL)
        return NULL;
    own->context = context;
    pthread_mutex_init(&own->lock, NULL);
    if (make_waker(own, channel))
        return own;
    rv_channel_destroy(own);
    return NULL;
}

/* Called under the lock. */
static void post_wake(struct rv_channel *channel)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

    if (!channel->raised)
        channel->raised = channel->context->ops.post_send(channel->qp, &wr, &bad) == 0;
}

void rv_channel_raise(struct rv_channel *channel, struct rv_cq *cq)
{
    pthread_mutex_lock(&channel->lock);
    if (!cq->due) {
        cq->due = true;
        cq->next_due = NULL;
        if (channel->first_due == NULL)
            channel->first_due = cq;
        else
            channel->last_due->next_due = cq;
        channel->last_due = cq;
    }
    post_wake(channel);
    pthread_mutex_unlock(&channel->lock);
}

/* Takes the first CQ that is due, and makes sure that the others have an event. Under the lock. */
static struct rv_cq *take_due(struct rv_channel *channel)
{
    struct rv_cq *cq = channel->first_due;

    if (cq == NULL)
        return NULL;
    channel->first_due = cq->next_due;
    cq->due = false;
    cq->own_events++;
    if (channel->first_due != NULL)
        post_wake(channel);
    return cq;
}

void rv_channel_forget(struct rv_channel *channel, struct rv_cq *cq)
{
    struct rv_cq **link = &channel->first_due, *last = NULL;

    pthread_mutex_lock(&channel->lock);
    for (; *link != NULL; link = &(*link)->next_due) {
        if (*link == cq)
            *link = cq->next_due;
        if (*link == NULL)
            break;
        last = *link;
    }
    channel->last_due = last;
    pthread_mutex_unlock(&channel->lock);
}

int rv_channel_get(struct rv_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    struct ibv_comp_channel *real = channel->cq->channel;

    for (;;) {
        int status = rv_next.get_cq_event(real, cq, cq_context);
        struct rv_cq *due;
        struct ibv_wc wc;

        if (status != 0 || *cq != channel->cq)
            return status;
        rv_next.ack_cq_events(*cq, 1);
        pthread_mutex_lock(&channel->lock);
        channel->context->ops.req_notify_cq(channel->cq, 0);
        while (channel->context->ops.poll_cq(channel->cq, 1, &wc) > 0)
            ;
        channel->raised = false;
        due = take_due(channel);
        pthread_mutex_unlock(&channel->lock);
        if (due == NULL)
            continue;
        *cq = due->cq;
        *cq_context = due->cq->cq_context;
        return 0;
    }
}
