/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event channels. A channel's descriptor is an eventfd that is readable while there are events, so
 * a program may poll it, and make it non-blocking. It is set and reset under the lock. If the
 * kernel has devices, the descriptor is an epoll of this eventfd and the system's (system_ids.c).
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device/cm/internal.h"

/*
 * A thread that asks a destroyed channel gets its error after this time. Most programs have ended
 * by then; earlier, some would report a failure.
 */
#define TOO_LATE_S 1

/* No other thread has the channel yet, so no lock is taken. */
OCHE_UNCHECKED struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct cm_channel *channel;
    bool with_system;

    if (OCHE_UNLIKELY(cm_in_system))
        return cm_system.rdma_create_event_channel();
    if (!cm_system_load(&with_system))
        return NULL;
    channel = calloc(1, sizeof(*channel));
    if (channel == NULL)
        return NULL;
    channel->signal = channel->channel.fd = eventfd(0, EFD_CLOEXEC);
    if (channel->signal < 0 || (with_system && !cm_system_open_channel(channel))) {
        if (channel->signal >= 0)
            close(channel->signal);
        free(channel);
        return NULL;
    }
    channel->last = &channel->first;
    return &channel->channel;
}

/* Channels that were destroyed, in a ring: a thread may still ask them for events. */
#define MOST_DESTROYED 256
static struct cm_channel *destroyed[MOST_DESTROYED] OCHE_GUARDED_BY(cm_lock);
static unsigned next_destroyed OCHE_GUARDED_BY(cm_lock);

/*
 * Some programs end while one of their threads waits for an event, or is about to (rping). A
 * waiting thread continues to wait, as with the kernel's channels.
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
    struct cm_channel *own = cm_channel_of(channel), *oldest;
    bool waited_at;

    CM_IF_SYSTEM_CALLS(rdma_destroy_event_channel, channel);
    oche_lock_take(&cm_lock);
    own->destroyed = true;
    waited_at = own->readers > 0;
    oldest = destroyed[next_destroyed];
    destroyed[next_destroyed] = own;
    next_destroyed = (next_destroyed + 1) % MOST_DESTROYED;
    if (oldest != NULL && oldest->readers == 0)
        free(oldest);
    oche_lock_release(&cm_lock);
    close(channel->fd);
    if (own->theirs == NULL)
        return;
    close(own->signal);
    /* else the channel stays until the program ends, since a thread still uses it */
    if (!waited_at)
        cm_system_close_channel(own);
}

/* ---- events ---- */

struct cm_event *cm_event_make(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    struct cm_event *event = calloc(1, sizeof(*event));

    if (event == NULL)
        return NULL;
    event->id = id;
    event->event.id = &id->id;
    event->event.event = type;
    event->event.status = status;
    return event;
}

void cm_event_private(struct cm_event *event, const uint8_t *data, uint8_t bytes)
{
    /* at the same place in both members of the union */
    struct rdma_conn_param *conn = &event->event.param.conn;

    memcpy(event->private_data, data, bytes);
    conn->private_data = bytes > 0 ? event->private_data : NULL;
    conn->private_data_len = bytes;
}

void cm_event_queue(struct cm_event *event)
{
    struct cm_channel *channel = cm_channel_of(event->id->id.channel);
    const uint64_t one = 1;

    event->next = NULL;
    *channel->last = event;
    channel->last = &event->next;
    if (channel->first == event && write(channel->signal, &one, sizeof(one)) < 0)
        cm_say("an event channel's descriptor cannot be written: %s", strerror(errno));
}

struct cm_event *cm_event_take(struct cm_channel *channel, struct cm_event **link)
{
    struct cm_event *event = *link;
    uint64_t count;

    *link = event->next;
    if (event->next == NULL)
        channel->last = link;
    /* never blocks: it was written when the first event came */
    if (channel->first == NULL && read(channel->signal, &count, sizeof(count)) < 0)
        cm_say("an event channel's descriptor cannot be read: %s", strerror(errno));
    return event;
}

void cm_events_drop(struct cm_id *id)
{
    struct cm_channel *channel = cm_channel_of(id->id.channel);

    for (struct cm_event **link = &channel->first; *link != NULL;) {
        struct cm_event *event = *link;
        struct cm_id *about = cm_id_of(event->event.id);

        if (event->id != id && about != id) {
            link = &event->next;
            continue;
        }
        cm_event_take(channel, link);
        free(event);
        if (about == id)
            continue;
        /* a request that was not delivered; its own events may be anywhere in the queue */
        cm_id_end(about);
        cm_id_free(about);
        link = &channel->first;
    }
}

/* ---- for programs ---- */

/* Waits until there may be an event. Returns 0 or an errno: EAGAIN, EINTR. Not under the lock. */
static int wait_readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    if ((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0)
        return EAGAIN;
    return poll(&ready, 1, -1) < 0 ? errno : 0;
}

/*
 * Takes an event of the system's, or waits until there may be one of either. Returns 0 or an errno.
 * Not under the lock.
 */
static int take_system_event_or_wait(struct cm_channel *channel, struct cm_event **event)
{
    if (channel->theirs != NULL) {
        *event = cm_system_next_event(channel);
        if (*event != NULL)
            return 0;
        if (errno != EAGAIN)
            return errno;
    }
    return wait_readable(channel->channel.fd);
}

/* Returns the next event, or NULL with errno: EAGAIN, EINTR. */
static struct cm_event *next_event(struct cm_channel *channel)
{
    struct cm_event *event = NULL;
    int error = 0;

    oche_lock_take(&cm_lock);
    channel->readers++;
    error = channel->destroyed ? EBADF : 0;
    while (error == 0 && event == NULL && channel->first == NULL) {
        oche_lock_release(&cm_lock);
        error = take_system_event_or_wait(channel, &event);
        oche_lock_take(&cm_lock);
        if (channel->destroyed && event == NULL)
            error = EBADF;
    }
    if (error == 0 && event == NULL) {
        event = cm_event_take(channel, &channel->first);
        event->id->delivered++;
    }
    channel->readers--;
    oche_lock_release(&cm_lock);
    if (error == EBADF)
        sleep(TOO_LATE_S);
    errno = error;
    return event;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    struct cm_event *taken;

    CM_IF_SYSTEM_CALLS(rdma_get_cm_event, channel, event);
    if (event == NULL)
        return cm_result(EINVAL);
    taken = next_event(cm_channel_of(channel));
    if (taken == NULL)
        return -1;
    if (taken->theirs == NULL) /* else the system's library has acknowledged the event */
        cm_before_delivery(taken);
    *event = &taken->event;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    struct cm_event *own = (struct cm_event *)(void *)event;

    CM_IF_SYSTEM_CALLS(rdma_ack_cm_event, event);
    if (event == NULL)
        return cm_result(EINVAL);
    oche_lock_take(&cm_lock);
    own->id->acked++;
    pthread_cond_broadcast(&own->id->acknowledged);
    oche_lock_release(&cm_lock);
    if (own->theirs != NULL) /* must be last, since rdma_destroy_id waits for it */
        CM_SYSTEM(rdma_ack_cm_event, own->theirs);
    free(own);
    return 0;
}

int cm_wait(struct cm_id *id, enum rdma_cm_event_type wanted)
{
    if (id->id.event != NULL) {
        rdma_ack_cm_event(id->id.event);
        id->id.event = NULL;
    }
    if (rdma_get_cm_event(id->id.channel, &id->id.event) != 0)
        return -1;
    if (id->id.event->event == wanted && id->id.event->status == 0)
        return 0;
    if (id->id.event->status < 0)
        return cm_result(-id->id.event->status);
    switch (id->id.event->event) {
    case RDMA_CM_EVENT_REJECTED:
        return cm_result(ECONNREFUSED);
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
        return cm_result(ETIMEDOUT);
    default:
        return cm_result(ECONNABORTED);
    }
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
    static const char *const names[] = {
        [RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
        [RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
        [RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
        [RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
        [RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
        [RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
        [RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
        [RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
        [RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
        [RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
        [RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
        [RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
        [RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
        [RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
        [RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
        [RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
    };

    return (unsigned)event < sizeof(names) / sizeof(names[0]) ? names[event] : "UNKNOWN EVENT";
}
