/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: the calls of programs. */
#include "device/cm/internal.h"

static bool data_fits(const struct rdma_conn_param *param, uint8_t most)
{
    return param == NULL || param->private_data == NULL || param->private_data_len <= most;
}

/* Copies the private data, if there is any. */
static void put_data(const void *data, uint8_t bytes, struct oche_cm_message *message)
{
    if (data == NULL || bytes == 0)
        return;
    memcpy(message->private_data, data, bytes);
    message->private_bytes = bytes;
}

/* True unless the program wants more READs and atomics in flight than the device has. */
static bool depths_fit(const struct cm_id *id, const struct rdma_conn_param *param)
{
    const int most = id->device->most_reads;

    return param == NULL || cm_is_datagram(id) ||
           ((param->responder_resources == RDMA_MAX_RESP_RES ||
             param->responder_resources <= most) &&
            (param->initiator_depth == RDMA_MAX_INIT_DEPTH || param->initiator_depth <= most));
}

/* ---- asking ---- */

/* Under the lock. Returns 0 or an errno. */
static int ask(struct cm_id *id, const struct rdma_conn_param *param)
{
    struct oche_cm_message message = {.private_bytes = 0};
    union ibv_gid remote;
    bool asked;

    if (id->state != CM_ID_ROUTE_RESOLVED)
        return EINVAL;
    if (!data_fits(param, cm_is_datagram(id) ? CM_USER_SIDR : CM_USER_REQ))
        return EINVAL;
    if (!cm_is_datagram(id) && id->id.qp == NULL && param == NULL)
        return EINVAL; /* without a queue pair's number */
    if (!depths_fit(id, param))
        return EINVAL;
    cm_gid_of(&id->id.route.addr.dst_addr, &remote);
    cm_fill_request(id, param, &message);
    asked = cm_is_datagram(id)
                ? oche_cm_ask(&id->device->cm, cm_now(), &id->conn, id->device->gid.raw, remote.raw,
                              &message, OCHE_CM_RESPONSE_TIMEOUT, OCHE_CM_RETRIES)
                : oche_cm_connect(&id->device->cm, cm_now(), &id->conn, id->device->gid.raw,
                                  remote.raw, &message);
    if (!asked)
        return EINVAL;
    id->state = CM_ID_CONNECTING;
    return 0;
}

/* Like `ask`, for the system's library, with the private data of rdma_create_ep. */
static int ask_theirs(struct cm_id *id, struct rdma_conn_param *param)
{
    struct rdma_conn_param with = {.responder_resources = RDMA_MAX_RESP_RES,
                                   .initiator_depth = RDMA_MAX_INIT_DEPTH,
                                   .flow_control = 1,
                                   .retry_count = 7,
                                   .rnr_retry_count = 7};

    if (id->connect_bytes > 0 && (param == NULL || param->private_data == NULL)) {
        with = param != NULL ? *param : with;
        with.private_data = id->connect_data;
        with.private_data_len = id->connect_bytes;
        param = &with;
    }
    return CM_SYSTEM(rdma_connect, cm_system_set_qp(id), param) == 0 ? 0 : errno;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
    struct cm_id *own = cm_id_of(id);
    int error;

    CM_IF_SYSTEM_CALLS(rdma_connect, id, conn_param);
    if (own->is_theirs) {
        error = ask_theirs(own, conn_param);
    } else {
        oche_lock_take(&cm_lock);
        error = ask(own, conn_param);
        oche_lock_release(&cm_lock);
        cm_thread_wake();
    }
    if (error != 0)
        return cm_result(error);
    return own->sync ? cm_wait(own, RDMA_CM_EVENT_ESTABLISHED) : 0;
}

/* Sends the RTU. */
int cm_confirm(struct cm_id *id)
{
    struct oche_cm_message message = {.private_bytes = 0};
    bool confirmed;

    oche_lock_take(&cm_lock);
    confirmed =
        id->device != NULL && oche_cm_confirm(&id->device->cm, cm_now(), &id->conn, &message);
    if (confirmed) {
        id->state = CM_ID_CONNECTED;
        oche_manager_count(OCHE_VIEW_BY_CM);
    }
    oche_lock_release(&cm_lock);
    return cm_result(confirmed ? 0 : EINVAL);
}

int rdma_establish(struct rdma_cm_id *id)
{
    CM_IF_SYSTEM_CALLS(rdma_establish, id);
    if (cm_id_of(id)->is_theirs)
        return CM_SYSTEM(rdma_establish, cm_system_set_qp(cm_id_of(id)));
    return id->qp != NULL ? cm_result(EINVAL) : cm_confirm(cm_id_of(id));
}

/* ---- answering ---- */

static void choose_depths(struct cm_id *id, const struct rdma_conn_param *param)
{
    if (param == NULL)
        return; /* as much as the peer asked for and the device has */
    if (param->responder_resources < id->responder_resources)
        id->responder_resources = param->responder_resources;
    if (param->initiator_depth < id->initiator_depth)
        id->initiator_depth = param->initiator_depth;
}

/* Under the lock. Returns 0 or an errno. */
static int send_rep(struct cm_id *id, const struct rdma_conn_param *param)
{
    struct oche_cm_message message = {.private_bytes = 0};
    const struct ibv_qp *qp = id->id.qp;

    message.qpn = qp != NULL ? qp->qp_num : param->qp_num;
    message.srq = qp != NULL ? qp->srq != NULL : param->srq != 0;
    message.starting_psn = id->receive_psn;
    message.responder_resources = id->responder_resources;
    message.initiator_depth = id->initiator_depth;
    message.flow_control = param != NULL && param->flow_control;
    message.rnr_retry = param != NULL ? param->rnr_retry_count & 7 : id->rnr_retry;
    message.local_response_timeout = id->response_timeout;
    message.max_cm_retries = id->max_cm_retries;
    if (param != NULL)
        put_data(param->private_data, param->private_data_len, &message);
    return oche_cm_accept(&id->device->cm, cm_now(), &id->conn, &message) ? 0 : EINVAL;
}

static int accept_connection(struct cm_id *id, const struct rdma_conn_param *param)
{
    int error;

    if (id->id.qp == NULL && param == NULL)
        return cm_result(EINVAL);
    if (!data_fits(param, OCHE_CM_REP_PRIVATE) || !depths_fit(id, param))
        return cm_result(EINVAL);
    choose_depths(id, param);
    if (id->id.qp != NULL && cm_qp_to_ready(id) != 0)
        return -1;
    oche_lock_take(&cm_lock);
    error = send_rep(id, param);
    oche_lock_release(&cm_lock);
    cm_thread_wake();
    if (error != 0)
        return cm_result(error);
    return id->sync ? cm_wait(id, RDMA_CM_EVENT_ESTABLISHED) : 0;
}

static int accept_datagrams(struct cm_id *id, const struct rdma_conn_param *param)
{
    struct oche_cm_message message = {.service_id = id->service_id, .qkey = RDMA_UDP_QKEY};
    bool told;

    if ((id->id.qp == NULL && param == NULL) || !data_fits(param, OCHE_CM_SIDR_REP_PRIVATE))
        return cm_result(EINVAL);
    message.qpn = id->id.qp != NULL ? id->id.qp->qp_num : param->qp_num;
    if (param != NULL)
        put_data(param->private_data, param->private_data_len, &message);
    oche_lock_take(&cm_lock);
    told = oche_cm_tell(&id->device->cm, cm_now(), &id->conn, &message);
    if (told) {
        id->state = CM_ID_CONNECTED;
        oche_manager_count(OCHE_VIEW_BY_CM);
    }
    cm_device_flush(id->device);
    oche_lock_release(&cm_lock);
    return cm_result(told ? 0 : EINVAL);
}

static int accept_theirs(struct cm_id *id, struct rdma_conn_param *param)
{
    if (CM_SYSTEM(rdma_accept, cm_system_set_qp(id), param) != 0)
        return -1;
    return id->sync && !cm_is_datagram(id) ? cm_wait(id, RDMA_CM_EVENT_ESTABLISHED) : 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
    struct cm_id *own = cm_id_of(id);

    CM_IF_SYSTEM_CALLS(rdma_accept, id, conn_param);
    if (own->is_theirs)
        return accept_theirs(own, conn_param);
    if (own->device == NULL)
        return cm_result(EINVAL);
    if (own->conn.active) /* the other name of rdma_establish */
        return cm_confirm(own);
    return cm_is_datagram(own) ? accept_datagrams(own, conn_param)
                               : accept_connection(own, conn_param);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
    struct cm_id *own = cm_id_of(id);
    struct oche_cm_message message = {.reason = OCHE_CM_REASON_CONSUMER,
                                      .status = OCHE_CM_SIDR_REJECTED};
    const uint8_t most = cm_is_datagram(own) ? OCHE_CM_SIDR_REP_PRIVATE : OCHE_CM_REJ_PRIVATE;
    bool rejected;

    CM_PASS_ON(rdma_reject, id, private_data, private_data_len);
    if (own->device == NULL || (private_data != NULL && private_data_len > most))
        return cm_result(EINVAL);
    put_data(private_data, private_data_len, &message);
    oche_lock_take(&cm_lock);
    rejected = cm_is_datagram(own)
                   ? oche_cm_tell(&own->device->cm, cm_now(), &own->conn, &message)
                   : oche_cm_reject(&own->device->cm, cm_now(), &own->conn, &message);
    if (rejected)
        own->state = CM_ID_OVER;
    cm_device_flush(own->device);
    oche_lock_release(&cm_lock);
    return cm_result(rejected ? 0 : EINVAL);
}

/* ---- the end ---- */

int rdma_disconnect(struct rdma_cm_id *id)
{
    struct cm_id *own = cm_id_of(id);
    bool was_connected;

    CM_IF_SYSTEM_CALLS(rdma_disconnect, id);
    if (own->is_theirs) {
        if (CM_SYSTEM(rdma_disconnect, cm_system_set_qp(own)) != 0)
            return -1;
        return own->sync ? cm_wait(own, RDMA_CM_EVENT_DISCONNECTED) : 0;
    }
    if (own->device == NULL || cm_is_datagram(own) || own->state < CM_ID_CONNECTING)
        return cm_result(EINVAL);
    if (id->qp != NULL && cm_qp_to_error(own) != 0)
        return -1;
    oche_lock_take(&cm_lock);
    was_connected = own->conn.state == OCHE_CM_ESTABLISHED;
    oche_cm_disconnect(&own->device->cm, cm_now(), &own->conn);
    cm_device_flush(own->device);
    oche_lock_release(&cm_lock);
    cm_thread_wake();
    return own->sync && was_connected ? cm_wait(own, RDMA_CM_EVENT_DISCONNECTED) : 0;
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
    struct cm_id *own = cm_id_of(id);
    struct cm_event *told = NULL;
    int error = 0;

    CM_PASS_ON(rdma_notify, id, event);
    if (event != IBV_EVENT_COMM_EST || own->device == NULL)
        return cm_result(EINVAL);
    oche_lock_take(&cm_lock);
    if (oche_cm_established(&own->device->cm, &own->conn)) {
        own->state = CM_ID_CONNECTED;
        oche_manager_count(OCHE_VIEW_BY_CM);
        told = cm_event_make(own, RDMA_CM_EVENT_ESTABLISHED, 0);
        if (told != NULL)
            cm_event_queue(told);
    } else {
        error = own->conn.state == OCHE_CM_ESTABLISHED ? EISCONN : EINVAL;
    }
    oche_lock_release(&cm_lock);
    cm_thread_wake();
    return cm_result(error);
}
