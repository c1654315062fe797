/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's librdmacm beside ours (system.h): event channels and identifiers of both.
 *
 * A channel's descriptor is then an epoll of two: the eventfd of our events, and the descriptor of
 * the system's channel, which is non-blocking. A program's identifier is always ours. Behind it is
 * one of the system's, and ours is its context. An event of the system's becomes one of ours with
 * the identifiers replaced; acknowledging ours acknowledges it.
 *
 * The device, addresses and path of the system's identifier are copied where the system's library
 * has set them. Completion queues are made here for both kinds (qp.c), as programs
 * expect their identifier to be a queue's context.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "device/cm/internal.h"

/* ---- channels ---- */

/* Returns false with errno. */
static bool watch(int both, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(both, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Prints once why the kernel's devices have no connections. */
static void print_reason(void)
{
    static _Atomic bool said;

    if (!atomic_exchange(&said, true))
        cm_say("the system's RDMA devices have no connections by address: "
               "rdma_create_event_channel: %s",
               strerror(errno));
}

bool cm_system_open_channel(struct cm_channel *channel)
{
    struct rdma_event_channel *theirs;
    int both, error;

    theirs = CM_SYSTEM(rdma_create_event_channel);
    if (theirs == NULL) {
        print_reason();
        return true;
    }
    both = epoll_create1(EPOLL_CLOEXEC);
    if (both >= 0 && fcntl(theirs->fd, F_SETFL, O_NONBLOCK) == 0 && watch(both, channel->signal) &&
        watch(both, theirs->fd)) {
        channel->theirs = theirs;
        channel->channel.fd = both;
        return true;
    }
    error = errno;
    if (both >= 0)
        close(both);
    CM_SYSTEM_VOID(rdma_destroy_event_channel, theirs);
    errno = error;
    return false;
}

void cm_system_close_channel(struct cm_channel *channel)
{
    if (channel->theirs != NULL)
        CM_SYSTEM_VOID(rdma_destroy_event_channel, channel->theirs);
    channel->theirs = NULL;
}

/* ---- identifiers ---- */

int cm_system_create_id(struct cm_id *id)
{
    struct rdma_event_channel *channel = cm_channel_of(id->id.channel)->theirs;

    if (channel == NULL)
        return 0;
    return CM_SYSTEM(rdma_create_id, channel, &id->theirs, id, id->id.ps);
}

void cm_system_drop_id(struct cm_id *id)
{
    if (id->theirs == NULL)
        return;
    CM_SYSTEM(rdma_destroy_id, id->theirs);
    id->theirs = NULL;
    if (id->is_theirs)
        id->id.route.path_rec = NULL; /* it belonged to the system's identifier */
    id->is_theirs = false;
}

int cm_system_migrate_id(struct cm_id *id, struct cm_channel *to)
{
    if (id->theirs == NULL)
        return 0;
    if (to->theirs != NULL)
        return CM_SYSTEM(rdma_migrate_id, id->theirs, to->theirs);
    if (id->is_theirs)
        return cm_result(ENODEV); /* the channel is older than the device */
    cm_system_drop_id(id);
    return 0;
}

void cm_system_copy_device(struct cm_id *id)
{
    const struct rdma_cm_id *theirs = id->theirs;

    id->id.verbs = theirs->verbs;
    id->id.port_num = theirs->port_num;
    id->id.route = theirs->route;
    if (id->id.pd == NULL)
        id->id.pd = theirs->pd;
}

struct rdma_cm_id *cm_system_set_qp(struct cm_id *id)
{
    id->theirs->qp = id->id.qp;
    return id->theirs;
}

/* ---- events ---- */

/* Makes an identifier of ours for a request to one of the system's. Returns NULL with errno. */
static struct cm_id *request_id(const struct cm_id *listener, struct rdma_cm_id *theirs)
{
    struct cm_id *id = cm_id_make(listener->id.context, listener->id.ps, listener->id.qp_type);

    if (id == NULL)
        return NULL;
    id->id.channel = listener->id.channel;
    id->state = CM_ID_OVER; /* the system's library handles it */
    id->theirs = theirs;
    id->is_theirs = true;
    theirs->context = id;
    theirs->qp_type = id->id.qp_type;
    cm_system_copy_device(id);
    return id;
}

static void refuse(struct rdma_cm_event *event)
{
    struct rdma_cm_id *id = event->id;
    const bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

    CM_SYSTEM(rdma_ack_cm_event, event);
    if (request)
        CM_SYSTEM(rdma_destroy_id, id); /* the peer is told */
}

/* Returns NULL with errno ENOMEM after releasing the event. */
static struct cm_event *translate(struct rdma_cm_event *theirs)
{
    const bool request = theirs->event == RDMA_CM_EVENT_CONNECT_REQUEST;
    struct cm_id *counts = (request ? theirs->listen_id : theirs->id)->context;
    struct cm_event *event = calloc(1, sizeof(*event));
    struct cm_id *about = NULL;

    if (event != NULL)
        about = request ? request_id(counts, theirs->id) : counts;
    if (about == NULL) {
        free(event);
        refuse(theirs);
        errno = ENOMEM;
        return NULL;
    }
    event->event = *theirs;
    event->event.id = &about->id;
    event->event.listen_id = request ? &counts->id : NULL;
    event->id = counts;
    event->theirs = theirs;
    if (theirs->event == RDMA_CM_EVENT_ADDR_RESOLVED ||
        theirs->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
        cm_system_copy_device(about);
    return event;
}

struct cm_event *cm_system_next_event(struct cm_channel *channel)
{
    struct rdma_cm_event *theirs;
    struct cm_event *event;

    if (CM_SYSTEM(rdma_get_cm_event, channel->theirs, &theirs) != 0)
        return NULL;
    event = translate(theirs);
    if (event == NULL)
        return NULL;
    oche_lock_take(&cm_lock);
    event->id->delivered++;
    oche_lock_release(&cm_lock);
    return event;
}
