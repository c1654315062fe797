/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers: making, moving and destroying them, and their options. */
#include "device/cm/internal.h"
#include "device/verbs/manager.h"

struct cm_id *cm_id_make(void *context, enum rdma_port_space ps, enum ibv_qp_type type)
{
    struct cm_id *id = calloc(1, sizeof(*id));

    if (id == NULL)
        return NULL;
    id->id.context = context;
    id->id.ps = ps;
    id->id.qp_type = type;
    id->ack_timeout = CM_ACK_TIMEOUT;
    id->conn.owner = id;
    pthread_cond_init(&id->acknowledged, NULL);
    return id;
}

void cm_id_free(struct cm_id *id)
{
    pthread_cond_destroy(&id->acknowledged);
    free(id->id.route.path_rec);
    free(id->qp_init_attr);
    free(id);
}

void cm_id_attach(struct cm_id *id, struct cm_device *device)
{
    id->device = device;
    id->id.verbs = device->verbs;
    id->id.port_num = CM_PORT;
    if (id->id.pd == NULL)
        id->id.pd = device->pd;
}

/* Makes an identifier; its calls are synchronous if it has no channel. */
static int create(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                  enum rdma_port_space ps, enum ibv_qp_type type)
{
    struct cm_id *own;

    if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP && ps != RDMA_PS_IB && ps != RDMA_PS_IPOIB)
        return cm_result(EINVAL);
    own = cm_id_make(context, ps, type);
    if (own == NULL)
        return -1;
    own->sync = own->owns_channel = channel == NULL;
    own->id.channel = channel != NULL ? channel : rdma_create_event_channel();
    if (own->id.channel == NULL) {
        cm_id_free(own);
        return -1;
    }
    if (cm_system_create_id(own) != 0) {
        if (own->owns_channel)
            rdma_destroy_event_channel(own->id.channel);
        cm_id_free(own);
        return -1;
    }
    *id = &own->id;
    return 0;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                   enum rdma_port_space ps)
{
    const bool datagrams = ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB;

    CM_IF_SYSTEM_CALLS(rdma_create_id, channel, id, context, ps);
    return create(channel, id, context, ps, datagrams ? IBV_QPT_UD : IBV_QPT_RC);
}

void cm_id_end(struct cm_id *id)
{
    cm_unlisten(id);
    cm_events_drop(id);
    cm_port_release(id);
    if (id->device != NULL)
        oche_cm_forget(&id->device->cm, cm_now(), &id->conn);
    if (id->listener != NULL)
        id->listener->pending--;
    id->listener = NULL;
    id->state = CM_ID_OVER;
}

/* Removes all references to an identifier that is being destroyed. */
static void leave_requests(struct cm_id *listener) OCHE_NEEDS(cm_lock)
{
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        for (unsigned i = 0; i < OCHE_CM_BUCKETS; i++)
            for (struct oche_cm_conn *conn = device->cm.by_id[i]; conn != NULL;
                 conn = conn->next_by_id) {
                struct cm_id *asked = conn->owner;

                if (asked->listener == listener)
                    asked->listener = NULL;
            }
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    struct cm_id *own = cm_id_of(id);

    CM_IF_SYSTEM_CALLS(rdma_destroy_id, id);
    if (id->event != NULL)
        rdma_ack_cm_event(id->event);
    id->event = NULL;
    oche_lock_take(&cm_lock);
    cm_id_end(own);
    if (own->pending > 0) /* a thread is about to deliver a request */
        leave_requests(own);
    if (own->device != NULL)
        cm_device_flush(own->device);
    while (own->acked != own->delivered)
        pthread_cond_wait(&own->acknowledged, &cm_lock.mutex);
    oche_lock_release(&cm_lock);
    cm_thread_wake();
    cm_system_drop_id(own);
    if (own->owns_channel)
        rdma_destroy_event_channel(id->channel);
    cm_id_free(own);
    return 0;
}

/* Moves the identifier's undelivered events. */
static void move_events(struct cm_id *id, struct cm_channel *to) OCHE_NEEDS(cm_lock)
{
    struct cm_channel *from = cm_channel_of(id->id.channel);
    struct cm_event *moved = NULL, **last = &moved, **link = &from->first, *next;

    while (*link != NULL) {
        if ((*link)->id != id) {
            link = &(*link)->next;
            continue;
        }
        *last = cm_event_take(from, link);
        last = &(*last)->next;
    }
    *last = NULL;
    id->id.channel = &to->channel;
    for (; moved != NULL; moved = next) {
        next = moved->next;
        cm_event_queue(moved);
        if (moved->event.id != &id->id) /* a request; its own events follow it */
            move_events(cm_id_of(moved->event.id), to);
    }
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
    struct cm_id *own = cm_id_of(id);
    struct rdma_event_channel *before = id->channel, *made = NULL;
    const bool owned = own->owns_channel;

    CM_IF_SYSTEM_CALLS(rdma_migrate_id, id, channel);
    if (channel == NULL && (channel = made = rdma_create_event_channel()) == NULL)
        return -1;
    if (own->sync && id->event != NULL) {
        rdma_ack_cm_event(id->event);
        id->event = NULL;
    }
    if (cm_system_migrate_id(own, cm_channel_of(channel)) != 0) {
        if (made != NULL)
            rdma_destroy_event_channel(made);
        return -1;
    }
    oche_lock_take(&cm_lock);
    move_events(own, cm_channel_of(channel));
    own->sync = own->owns_channel = made != NULL;
    while (own->acked != own->delivered) /* for the old channel's events, as the manual says */
        pthread_cond_wait(&own->acknowledged, &cm_lock.mutex);
    oche_lock_release(&cm_lock);
    if (owned)
        rdma_destroy_event_channel(before);
    return 0;
}

/* ---- options ---- */

/* Reads an option that is a number of `bytes` bytes. Returns false if it has another length. */
static bool number_of(const void *value, size_t length, size_t bytes, uint32_t *number)
{
    if (value == NULL || length != bytes)
        return false;
    if (bytes == 1) {
        uint8_t one;

        memcpy(&one, value, 1);
        *number = one;
    } else {
        memcpy(number, value, sizeof(*number));
    }
    return true;
}

static int set_id_option(struct cm_id *id, int name, const void *value, size_t length)
{
    uint32_t number;

    switch (name) {
    case RDMA_OPTION_ID_TOS:
        if (!number_of(value, length, 1, &number))
            return EINVAL;
        id->tos = (uint8_t)number;
        return 0;
    case RDMA_OPTION_ID_REUSEADDR:
        if (!number_of(value, length, 4, &number) || id->state != CM_ID_IDLE)
            return EINVAL;
        id->reuse = number != 0;
        return 0;
    case RDMA_OPTION_ID_AFONLY:
        if (!number_of(value, length, 4, &number) || id->state != CM_ID_IDLE)
            return EINVAL;
        id->af_only = number != 0;
        return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
        if (!number_of(value, length, 1, &number) || number > 31 || cm_is_datagram(id))
            return EINVAL;
        id->ack_timeout = (uint8_t)number;
        return 0;
    default:
        return ENOSYS;
    }
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
    struct cm_id *own = cm_id_of(id);
    int error;

    CM_IF_SYSTEM_CALLS(rdma_set_option, id, level, optname, optval, optlen);
    if (own->theirs != NULL) {
        error = CM_SYSTEM(rdma_set_option, own->theirs, level, optname, optval, optlen);
        if (error != 0 || own->is_theirs)
            return error;
    }
    if (level != RDMA_OPTION_ID)
        return cm_result(ENOSYS); /* the kernel's routes choose the path */
    oche_lock_take(&cm_lock);
    error = set_id_option(own, optname, optval, optlen);
    oche_lock_release(&cm_lock);
    return cm_result(error);
}
