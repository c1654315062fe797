/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous events: a queue per context, with a descriptor, which is an eventfd that counts the
 * events. Destroying an object waits until all its events have been acknowledged.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/verbs/internal.h"

void ov_async_push(struct ov_context *context, const struct ibv_async_event *event)
{
    struct ov_event *node =
        atomic_load_explicit(&ov_exiting, memory_order_relaxed) ? NULL : malloc(sizeof(*node));
    const uint64_t one = 1;

    if (node == NULL)
        return; /* without memory the event is lost; the application still sees the error in its
                   completions */
    *node = (struct ov_event){.event = *event};
    pthread_mutex_lock(&context->event_lock);
    *context->last_event = node;
    context->last_event = &node->next;
    if (write(context->verbs.context.async_fd, &one, sizeof(one)) < 0)
        errno = 0; /* the descriptor is readable anyway */
    atomic_fetch_add(&context->events, 1);
    pthread_mutex_unlock(&context->event_lock);
    syscall(SYS_futex, &context->events, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * Returns the counter of delivered events of the event's object; NULL: such events need no
 * acknowledgement.
 */
static uint32_t *delivered_of(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        return &ov_cq_of(event->element.cq)->async_delivered;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        return &ov_qp_of(event->element.qp)->async_delivered;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR:
        return &ov_srq_of(event->element.srq)->async_delivered;
    default:
        return NULL;
    }
}

static bool take(struct ov_context *context, struct ibv_async_event *event)
{
    struct ov_event *node;
    uint32_t *delivered;
    uint64_t one;

    pthread_mutex_lock(&context->event_lock);
    node = context->first_event;
    if (node != NULL) {
        *event = node->event;
        delivered = delivered_of(event);
        if (delivered != NULL)
            (*delivered)++;
        context->first_event = node->next;
        if (node->next == NULL)
            context->last_event = &context->first_event;
        if (read(context->verbs.context.async_fd, &one, sizeof(one)) < 0)
            errno = 0; /* cannot happen: it was written under this lock */
    }
    pthread_mutex_unlock(&context->event_lock);
    free(node);
    return node != NULL;
}

/*
 * Waits without making progress: the caller is a thread for errors, and others poll. Waits on a
 * futex instead of the descriptor. Any signal would end poll(). This call must end only for signals
 * that would also end a read, that is, signals whose handlers have no SA_RESTART.
 */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    OV_PASS_ON(context->device, ibv_get_async_event, context, event);

    struct ov_context *own = ov_context_of(context);

    for (;;) {
        const uint32_t events = atomic_load(&own->events);
        int flags;

        if (take(own, event))
            return 0;
        flags = fcntl(context->async_fd, F_GETFL);
        if (flags < 0)
            return -1;
        if (flags & O_NONBLOCK) {
            errno = EAGAIN;
            return -1;
        }
        if (syscall(SYS_futex, &own->events, FUTEX_WAIT_PRIVATE, events, NULL, NULL, 0) != 0 &&
            errno == EINTR)
            return -1;
    }
}

/*
 * Returns the device of the object that an event is about; NULL: the event is about a port or a
 * device, and needs no acknowledgement.
 */
static const struct ibv_device *device_of(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        return event->element.cq->context->device;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        return event->element.qp->context->device;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR:
        return event->element.srq->context->device;
    case IBV_EVENT_WQ_FATAL:
        return event->element.wq->context->device;
    default:
        return NULL;
    }
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    const struct ibv_device *device = device_of(event);

    if (device != NULL)
        OV_PASS_ON(device, ibv_ack_async_event, event);
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
        struct ibv_cq *cq = event->element.cq;

        pthread_mutex_lock(&cq->mutex);
        cq->async_events_completed++;
        pthread_cond_signal(&cq->cond);
        pthread_mutex_unlock(&cq->mutex);
        return;
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
        struct ibv_qp *qp = event->element.qp;

        pthread_mutex_lock(&qp->mutex);
        qp->events_completed++;
        pthread_cond_signal(&qp->cond);
        pthread_mutex_unlock(&qp->mutex);
        return;
    }
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR: {
        struct ibv_srq *srq = event->element.srq;

        pthread_mutex_lock(&srq->mutex);
        srq->events_completed++;
        pthread_cond_signal(&srq->cond);
        pthread_mutex_unlock(&srq->mutex);
        return;
    }
    default:
        return;
    }
}

/*
 * Removes the undelivered events of an object. `delivered` points to the object's counter of
 * delivered events. Returns the counter's value.
 */
static uint32_t forget(struct ov_context *context, const uint32_t *delivered)
{
    struct ov_event **link, *node;
    uint64_t one;
    uint32_t count;

    pthread_mutex_lock(&context->event_lock);
    for (link = &context->first_event; (node = *link) != NULL;) {
        if (delivered_of(&node->event) != delivered) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        free(node);
        if (read(context->verbs.context.async_fd, &one, sizeof(one)) < 0)
            errno = 0;
    }
    context->last_event = link;
    count = *delivered;
    pthread_mutex_unlock(&context->event_lock);
    return count;
}

void ov_async_forget_qp(struct ov_qp *qp)
{
    const uint32_t delivered = forget(qp->context, &qp->async_delivered);

    pthread_mutex_lock(&qp->qp.mutex);
    while (qp->qp.events_completed != delivered)
        pthread_cond_wait(&qp->qp.cond, &qp->qp.mutex);
    pthread_mutex_unlock(&qp->qp.mutex);
}

void ov_async_forget_srq(struct ov_srq *srq)
{
    const uint32_t delivered = forget(srq->context, &srq->async_delivered);

    pthread_mutex_lock(&srq->srq.mutex);
    while (srq->srq.events_completed != delivered)
        pthread_cond_wait(&srq->srq.cond, &srq->srq.mutex);
    pthread_mutex_unlock(&srq->srq.mutex);
}

void ov_async_forget_cq(struct ov_cq *cq)
{
    const uint32_t delivered = forget(cq->context, &cq->async_delivered);

    pthread_mutex_lock(&cq->cq.mutex);
    while (cq->cq.async_events_completed != delivered)
        pthread_cond_wait(&cq->cq.cond, &cq->cq.mutex);
    pthread_mutex_unlock(&cq->cq.mutex);
}
