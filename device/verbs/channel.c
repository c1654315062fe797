/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion channels: a channel has a descriptor that is readable while an event waits (an eventfd
 * that counts the events), and a queue of the CQs that have events. A thread that waits in
 * ibv_get_cq_event makes progress itself. For a thread that waits in poll or epoll, the port's
 * thread makes progress; ibv_req_notify_cq wakes the port's thread.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device/verbs/internal.h"

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    OV_PASS_ON(context->device, ibv_create_comp_channel, context);

    struct ov_channel *channel = calloc(1, sizeof(*channel));
    const int error = ov_refuses(ov_port_of(context), OCHE_CALL_CREATE_COMP_CHANNEL);

    if (channel == NULL || error != 0) {
        free(channel);
        return ov_null(error != 0 ? error : ENOMEM);
    }
    channel->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    if (channel->channel.fd < 0) {
        free(channel);
        return NULL;
    }
    channel->channel.context = context;
    channel->context = ov_context_take(context);
    channel->last = &channel->first;
    pthread_mutex_init(&channel->lock, NULL);
    return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    OV_PASS_ON(channel->context->device, ibv_destroy_comp_channel, channel);

    struct ov_channel *own = (struct ov_channel *)(void *)channel;

    if (channel->refcnt > 0)
        return EBUSY;
    close(channel->fd);
    pthread_mutex_destroy(&own->lock);
    ov_context_release(own->context);
    free(own);
    return 0;
}

/*
 * Delays events until the NIC has handled all arrived packets. Otherwise the first completion could
 * wake a thread, which arms the CQ again just before the second one and polls both. It would then
 * get a useless event for the second.
 */
void ov_completion_event(void *context, struct oche_cq *ring)
{
    struct ov_port *port = context;
    struct ov_cq *cq = ov_ring_owner(ring);

    if (cq->cq.channel == NULL || atomic_load_explicit(&ov_exiting, memory_order_relaxed) ||
        cq->new_events++ > 0)
        return;
    cq->next_new = NULL;
    if (port->new_events == NULL)
        port->new_events = cq;
    else
        port->last_new->next_new = cq;
    port->last_new = cq;
}

static void report_events(struct ov_cq *cq)
{
    struct ov_channel *channel = (struct ov_channel *)(void *)cq->cq.channel;
    const uint64_t count = cq->new_events;

    pthread_mutex_lock(&channel->lock);
    if (cq->pending_events == 0) {
        cq->next_event = NULL;
        *channel->last = cq;
        channel->last = &cq->next_event;
    }
    cq->pending_events += cq->new_events;
    cq->new_events = 0;
    /*
     * Written under the lock: a thread that takes the event without waiting must find it counted in
     * the descriptor.
     */
    if (write(channel->channel.fd, &count, sizeof(count)) < 0)
        /* the write fails only if 2^64 - 2 events wait; the descriptor is readable then */
        errno = 0;
    pthread_mutex_unlock(&channel->lock);
}

void ov_completion_events_over(void *context)
{
    struct ov_port *port = context;

    while (port->new_events != NULL) {
        struct ov_cq *cq = port->new_events;

        port->new_events = cq->next_new;
        report_events(cq);
    }
}

/* Removes a CQ from anywhere in the queue. Called under the lock. */
static void unlink_cq(struct ov_channel *channel, struct ov_cq *cq)
{
    struct ov_cq **link = &channel->first;

    while (*link != cq)
        link = &(*link)->next_event;
    *link = cq->next_event;
    if (*link == NULL)
        channel->last = link;
}

/* Takes the next event. Returns its CQ; NULL: there is no event. */
static struct ov_cq *take(struct ov_channel *channel)
{
    struct ov_cq *cq;
    uint64_t one;

    pthread_mutex_lock(&channel->lock);
    cq = channel->first;
    if (cq != NULL) {
        cq->delivered_events++;
        if (--cq->pending_events == 0)
            unlink_cq(channel, cq);
        if (read(channel->channel.fd, &one, sizeof(one)) < 0)
            errno = 0; /* cannot happen: it was written under this lock */
    }
    pthread_mutex_unlock(&channel->lock);
    return cq;
}

/*
 * True if a signal handler that has run should end a call that sleeps. Without SA_RESTART it
 * should, as it would end a read(2) of a kernel's channel. We do not know which handler has run, so
 * the result is true if any of the program's handlers, except those for faults, has no SA_RESTART.
 * Nearly always all of them have the same flags.
 */
static bool signals_end_calls(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    struct sigaction action;

    for (int number = 1; number <= SIGRTMAX; number++) {
        bool fault = false;

        for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++)
            fault |= number == faults[i];
        if (!fault && sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
            action.sa_handler != SIG_IGN && (action.sa_flags & SA_RESTART) == 0)
            return true;
    }
    return false;
}

/* Waits for an event. Returns its CQ; NULL: a signal ended the wait. */
static struct ov_cq *wait_for_event(struct ov_channel *channel)
{
    struct ov_port *port = channel->context->port;
    struct ov_cq *cq;

    channel->sleeps_here = true;
    atomic_fetch_add(&port->sleepers, 1);
    for (;;) {
        const uint32_t since = oche_device_events(port->device);

        ov_port_progress(port);
        cq = take(channel);
        if (cq != NULL)
            break;
        if (port->poll != OV_POLL_BUSY && !oche_device_wait(port->device, since, OCHE_NEVER) &&
            signals_end_calls())
            break;
    }
    atomic_fetch_sub(&port->sleepers, 1);
    return cq;
}

bool ov_channel_has_event(struct ov_channel *channel)
{
    bool has;

    pthread_mutex_lock(&channel->lock);
    has = channel->first != NULL;
    pthread_mutex_unlock(&channel->lock);
    return has;
}

int ov_channel_wait(struct ov_channel *channel, const _Atomic uint32_t *kicks, uint32_t kicks_since,
                    uint64_t limit_ns)
{
    struct ov_port *port = channel->context->port;
    const oche_time end = oche_device_now(port->device) + limit_ns * OCHE_NS;
    int error = 0;

    channel->sleeps_here = true;
    atomic_fetch_add(&port->sleepers, 1);
    while (error == 0) {
        const uint32_t since = oche_device_events(port->device);
        oche_time now;

        ov_port_progress(port);
        now = oche_device_now(port->device);
        if (ov_channel_has_event(channel) || atomic_load(kicks) != kicks_since || now >= end)
            break;
        if (port->poll != OV_POLL_BUSY && !oche_device_wait(port->device, since, end - now) &&
            signals_end_calls())
            error = EINTR;
    }
    atomic_fetch_sub(&port->sleepers, 1);
    return error;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    OV_PASS_ON(channel->context->device, ibv_get_cq_event, channel, cq, cq_context);

    struct ov_channel *own = (struct ov_channel *)(void *)channel;
    struct ov_cq *found;
    int flags, error = EAGAIN;

    if (ov_foreign(own->context->port)) {
        errno = EPERM;
        return -1;
    }
    found = take(own);
    if (found == NULL) {
        flags = fcntl(channel->fd, F_GETFL);
        if (flags < 0)
            return -1;
        if (flags & O_NONBLOCK) {
            ov_port_progress(own->context->port);
            found = take(own);
        } else {
            found = wait_for_event(own);
            error = EINTR;
        }
    }
    if (found == NULL) {
        errno = error;
        return -1;
    }
    *cq = &found->cq;
    *cq_context = found->cq.cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
    OV_PASS_ON(cq->context->device, ibv_ack_cq_events, cq, nevents);
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += nevents;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}

void ov_channel_forget(struct ov_cq *cq)
{
    struct ov_channel *channel = (struct ov_channel *)(void *)cq->cq.channel;
    uint32_t pending, delivered;
    uint64_t one;

    if (channel == NULL)
        return;
    pthread_mutex_lock(&channel->lock);
    pending = cq->pending_events;
    delivered = cq->delivered_events;
    if (pending > 0)
        unlink_cq(channel, cq);
    cq->pending_events = 0;
    channel->channel.refcnt--;
    for (; pending > 0; pending--)
        if (read(channel->channel.fd, &one, sizeof(one)) < 0)
            break;
    pthread_mutex_unlock(&channel->lock);
    pthread_mutex_lock(&cq->cq.mutex);
    while (cq->cq.comp_events_completed != delivered)
        pthread_cond_wait(&cq->cq.cond, &cq->cq.mutex);
    pthread_mutex_unlock(&cq->cq.mutex);
}
