/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts events of the protocol to events of programs. The manager's thread, or a program's call,
 * runs it under the lock.
 */
#include <arpa/inet.h>
#include <stdatomic.h>

#include "device/cm/internal.h"
#include "device/verbs/manager.h"

/* ---- requests ---- */

/* Returns the family and port of both addresses as the peer has sent them, or false. */
static bool peer_port(const struct oche_cm_message *request, uint16_t *port)
{
    struct oche_cma_header header;

    if (!oche_cma_read(request->private_data, request->private_bytes, &header))
        return false;
    *port = header.port;
    return true;
}

static struct cm_id *make_request_id(struct cm_device *device, struct cm_id *listener,
                                     const uint8_t *remote_gid,
                                     const struct oche_cm_message *request, uint16_t port)
{
    struct cm_id *id = cm_id_make(listener->id.context, listener->id.ps, listener->id.qp_type);
    struct rdma_addr *addresses;

    if (id == NULL)
        return NULL;
    addresses = &id->id.route.addr;
    id->id.channel = listener->id.channel;
    id->tos = listener->tos;
    id->ack_timeout = listener->ack_timeout;
    cm_sockaddr_of(device->gid.raw, listener->port, &addresses->src_storage);
    cm_sockaddr_of(remote_gid, port, &addresses->dst_storage);
    id->path_mtu = request->mtu;
    cm_id_attach(id, device);
    if (!cm_fill_route(id)) {
        cm_id_free(id);
        return NULL;
    }
    cm_note_request(id, request);
    memcpy(id->remote_gid, remote_gid, OCHE_CM_GID_BYTES);
    id->state = CM_ID_CONNECTING;
    id->listener = listener;
    listener->pending++;
    return id;
}

/* True if another request of this peer to the listener is undelivered. */
static bool peer_waits(const struct cm_id *listener, const uint8_t *remote_gid) OCHE_NEEDS(cm_lock)
{
    const struct cm_channel *channel = cm_channel_of(listener->id.channel);

    for (const struct cm_event *event = channel->first; event != NULL; event = event->next)
        if (event->id == listener && event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST &&
            memcmp(cm_id_of(event->event.id)->remote_gid, remote_gid, OCHE_CM_GID_BYTES) == 0)
            return true;
    return false;
}

/*
 * A peer that fills the listener's backlog does not keep others out: beyond it each other peer has
 * room for one request.
 */
static bool has_room(const struct cm_id *listener, const uint8_t *remote_gid) OCHE_NEEDS(cm_lock)
{
    const int beyond = 1 + listener->backlog / 8;

    if (listener->pending < listener->backlog)
        return true;
    return listener->pending < listener->backlog + beyond && !peer_waits(listener, remote_gid);
}

/* Prints once why a peer is rejected: its packets are longer than our interface's MTU. */
static void say_larger(unsigned asked, enum ibv_mtu largest)
{
    static _Atomic bool told;

    if (!atomic_exchange(&told, true))
        cm_say("a peer was refused, as it asks for a path MTU of %u, and this device's interface "
               "carries %u: both interfaces must have the same MTU",
               128u << (asked & 15), 128u << largest);
}

/* Prints once why a peer has rejected us: its packets are shorter. */
static void say_smaller(const struct cm_id *id)
{
    static _Atomic bool told;

    if (!atomic_exchange(&told, true))
        cm_say("a peer has refused a path MTU of %u, as its interface carries less: both "
               "interfaces must have the same MTU",
               128u << id->path_mtu);
}

static struct oche_cm_conn *incoming(void *context, const uint8_t *local_gid,
                                     const uint8_t *remote_gid,
                                     const struct oche_cm_message *request, uint16_t *reason)
    OCHE_NEEDS(cm_lock)
{
    const bool datagrams = request->kind == OCHE_CM_SIDR_REQ;
    struct cm_device *device = context;
    struct cm_id *listener = cm_listener_of(device, request->service_id), *id;
    uint16_t port;

    (void)local_gid;
    if (listener == NULL && oche_manager_service_taken(device->verbs, request->service_id))
        return NULL; /* another process has it now, or ours will listen: the peer asks again */
    if (listener == NULL || cm_is_datagram(listener) != datagrams) {
        *reason = datagrams ? OCHE_CM_SIDR_UNSUPPORTED : OCHE_CM_REASON_INVALID_SERVICE;
        return NULL;
    }
    if (!peer_port(request, &port)) {
        *reason = datagrams ? OCHE_CM_SIDR_REJECTED : OCHE_CM_REASON_CONSUMER;
        return NULL;
    }
    if (!datagrams && request->mtu > oche_manager_largest_mtu(device->verbs)) {
        say_larger(request->mtu, oche_manager_largest_mtu(device->verbs));
        *reason = OCHE_CM_REASON_INVALID_MTU;
        return NULL;
    }
    if (!has_room(listener, remote_gid))
        return NULL; /* the peer asks again */
    id = make_request_id(device, listener, remote_gid, request, port);
    return id != NULL ? &id->conn : NULL;
}

static void deliver_request(struct cm_id *id, const struct oche_cm_message *request)
    OCHE_NEEDS(cm_lock)
{
    struct cm_event *event = cm_event_make(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    const bool datagrams = request->kind == OCHE_CM_SIDR_REQ;

    if (event == NULL) {
        cm_id_end(id);
        cm_id_free(id);
        return;
    }
    event->id = id->listener;
    event->event.listen_id = &id->listener->id;
    cm_event_private(event, request->private_data + OCHE_CMA_HEADER_BYTES,
                     datagrams ? CM_USER_SIDR : CM_USER_REQ);
    if (!datagrams) {
        struct rdma_conn_param *param = &event->event.param.conn;

        param->responder_resources = id->responder_resources;
        param->initiator_depth = id->initiator_depth;
        param->flow_control = request->flow_control;
        param->retry_count = request->retry_count;
        param->rnr_retry_count = request->rnr_retry;
        param->srq = request->srq;
        param->qp_num = request->qpn;
    }
    cm_event_queue(event);
}

/* ---- all else ---- */

static void queue(struct cm_id *id, enum rdma_cm_event_type type, int status,
                  const struct oche_cm_message *message) OCHE_NEEDS(cm_lock)
{
    struct cm_event *event = cm_event_make(id, type, status);

    if (event == NULL)
        return;
    if (message != NULL)
        cm_event_private(event, message->private_data, message->private_bytes);
    cm_event_queue(event);
}

static void deliver_answer(struct cm_id *id, const struct oche_cm_message *answer)
    OCHE_NEEDS(cm_lock)
{
    struct cm_event *event = cm_event_make(
        id, cm_is_datagram(id) ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE, 0);

    if (event == NULL)
        return;
    cm_event_private(event, answer->private_data, answer->private_bytes);
    if (cm_is_datagram(id)) {
        struct rdma_ud_param *param = &event->event.param.ud;

        id->state = CM_ID_CONNECTED;
        oche_manager_count(OCHE_VIEW_BY_CM);
        id->remote_qkey = answer->qkey;
        param->qp_num = answer->qpn;
        param->qkey = answer->qkey;
        param->ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = CM_PORT};
        memcpy(param->ah_attr.grh.dgid.raw, id->conn.remote_gid, OCHE_CM_GID_BYTES);
        param->ah_attr.grh.hop_limit = CM_HOP_LIMIT;
        param->ah_attr.grh.traffic_class = id->tos;
    } else {
        struct rdma_conn_param *param = &event->event.param.conn;

        cm_note_answer(id, answer);
        param->responder_resources = id->responder_resources;
        param->initiator_depth = id->initiator_depth;
        param->flow_control = answer->flow_control;
        param->rnr_retry_count = answer->rnr_retry;
        param->srq = answer->srq;
        param->qp_num = answer->qpn;
    }
    cm_event_queue(event);
}

static void event(void *context, struct oche_cm_conn *conn, const struct oche_cm_news *news)
    OCHE_NEEDS(cm_lock)
{
    struct cm_id *id = conn->owner;
    const struct oche_cm_message *message = news->message;

    (void)context;
    switch (news->event) {
    case OCHE_CM_REQUESTED:
        deliver_request(id, message);
        return;
    case OCHE_CM_ANSWERED:
        deliver_answer(id, message);
        return;
    case OCHE_CM_CONNECTED:
        id->state = CM_ID_CONNECTED;
        oche_manager_count(OCHE_VIEW_BY_CM);
        queue(id, RDMA_CM_EVENT_ESTABLISHED, 0, message);
        return;
    case OCHE_CM_REJECTED:
        id->state = CM_ID_OVER;
        if (!cm_is_datagram(id) && message->reason == OCHE_CM_REASON_INVALID_MTU)
            say_smaller(id);
        if (cm_is_datagram(id))
            queue(id, RDMA_CM_EVENT_UNREACHABLE, message->status, message);
        else
            queue(id, RDMA_CM_EVENT_REJECTED, message->reason, message);
        return;
    case OCHE_CM_UNREACHABLE:
        id->state = CM_ID_OVER;
        queue(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
        return;
    case OCHE_CM_UNCONFIRMED:
        id->state = CM_ID_OVER;
        queue(id, RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT, NULL);
        return;
    case OCHE_CM_DISCONNECTED:
        id->state = CM_ID_OVER;
        queue(id, RDMA_CM_EVENT_DISCONNECTED, 0,
              message != NULL && message->kind == OCHE_CM_DREQ ? message : NULL);
        return;
    case OCHE_CM_TIMEWAIT_OVER:
        queue(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL);
        return;
    }
}

static void send_mad(void *context, const uint8_t *local_gid, const uint8_t *remote_gid,
                     const uint8_t *mad)
{
    (void)local_gid; /* the device's */
    cm_device_send(context, remote_gid, mad);
}

static uint64_t draw(void *context)
{
    (void)context;
    return cm_random();
}

const struct oche_cm_hooks cm_hooks = {
    .send = send_mad, .incoming = incoming, .event = event, .random = draw};

/* ---- before a program is told ---- */

/*
 * A request is delivered even if its REJ has already arrived: the program can reject it. An answer
 * takes the queue pair to RTS here, and the program gets the established event.
 */
void cm_before_delivery(struct cm_event *event)
{
    struct cm_id *id = cm_id_of(event->event.id);
    int failed;

    switch (event->event.event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        oche_lock_take(&cm_lock);
        if (id->listener != NULL)
            id->listener->pending--;
        id->listener = NULL;
        oche_lock_release(&cm_lock);
        return;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        if (id->id.qp == NULL)
            return;
        failed = cm_qp_to_ready(id) != 0 || cm_confirm(id) != 0 ? errno : 0;
        event->event.event = failed == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
        event->event.status = -failed;
        return;
    case RDMA_CM_EVENT_REJECTED:
        if (id->id.qp != NULL)
            cm_qp_to_error(id);
        return;
    default:
        return;
    }
}
