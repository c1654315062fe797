/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair's attributes, as both ends have agreed. The REQ has the asking end's wishes, and the
 * REP the answering end's values.
 */
#include <arpa/inet.h>

#include "device/cm/internal.h"

/* ---- what goes into messages, and what comes out ---- */

static uint8_t at_most(const struct cm_id *id, uint8_t asked)
{
    return asked < id->device->most_reads ? asked : (uint8_t)id->device->most_reads;
}

/* Writes the addresses of both ends. Returns the number of bytes used in the private data. */
static uint8_t put_header(const struct cm_id *id, uint8_t *data)
{
    const struct rdma_addr *addresses = &id->id.route.addr;
    struct oche_cma_header header = {.ipv6 = addresses->dst_addr.sa_family == AF_INET6,
                                     .port = cm_port_of(&addresses->src_addr)};
    union ibv_gid remote;

    cm_gid_of(&addresses->dst_addr, &remote);
    if (header.ipv6) {
        memcpy(header.source, id->device->gid.raw, 16);
        memcpy(header.destination, remote.raw, 16);
    } else {
        memcpy(header.source + 12, id->device->gid.raw + 12, 4);
        memcpy(header.destination + 12, remote.raw + 12, 4);
    }
    oche_cma_write(&header, data);
    return OCHE_CMA_HEADER_BYTES;
}

static void fill_path(const struct cm_id *id, struct oche_cm_path *path)
{
    union ibv_gid remote;

    cm_gid_of(&id->id.route.addr.dst_addr, &remote);
    memcpy(path->local_gid, id->device->gid.raw, OCHE_CM_GID_BYTES);
    memcpy(path->remote_gid, remote.raw, OCHE_CM_GID_BYTES);
    path->local_lid = path->remote_lid = 0xffff;
    path->hop_limit = CM_HOP_LIMIT;
    path->traffic_class = id->tos;
    path->ack_timeout = id->ack_timeout;
}

static uint8_t path_mtu(const struct cm_id *id)
{
    union ibv_gid remote;

    cm_gid_of(&id->id.route.addr.dst_addr, &remote);
    return (uint8_t)oche_manager_path_mtu(id->device->verbs, remote.raw);
}

void cm_fill_request(struct cm_id *id, const struct rdma_conn_param *param,
                     struct oche_cm_message *message)
{
    const uint8_t given =
        param != NULL && param->private_data != NULL ? param->private_data_len : 0;
    const uint8_t header = put_header(id, message->private_data);

    message->service_id =
        oche_cma_service((uint16_t)id->id.ps, cm_port_of(&id->id.route.addr.dst_addr));
    message->pkey = 0xffff;
    if (given > 0)
        memcpy(message->private_data + header, param->private_data, given);
    else if (id->connect_bytes > 0)
        memcpy(message->private_data + header, id->connect_data, id->connect_bytes);
    message->private_bytes = (uint8_t)(header + (given > 0 ? given : id->connect_bytes));
    if (cm_is_datagram(id))
        return;
    id->receive_psn = (uint32_t)cm_random() & 0xffffff;
    id->retry_count = param != NULL ? param->retry_count & 7 : 7;
    id->rnr_retry = param != NULL ? param->rnr_retry_count & 7 : 7;
    id->responder_resources =
        at_most(id, param != NULL ? param->responder_resources : RDMA_MAX_RESP_RES);
    id->initiator_depth = at_most(id, param != NULL ? param->initiator_depth : RDMA_MAX_INIT_DEPTH);
    id->path_mtu = path_mtu(id);
    message->qpn = id->id.qp != NULL ? id->id.qp->qp_num : param != NULL ? param->qp_num : 0;
    message->srq = id->id.qp != NULL ? id->id.qp->srq != NULL : param != NULL && param->srq;
    message->starting_psn = id->receive_psn;
    message->responder_resources = id->responder_resources;
    message->initiator_depth = id->initiator_depth;
    message->flow_control = param != NULL && param->flow_control;
    message->retry_count = id->retry_count;
    message->rnr_retry = id->rnr_retry;
    message->transport = id->id.qp_type == IBV_QPT_UC ? OCHE_CM_UC : OCHE_CM_RC;
    message->mtu = id->path_mtu;
    message->remote_response_timeout = OCHE_CM_RESPONSE_TIMEOUT;
    message->local_response_timeout = OCHE_CM_RESPONSE_TIMEOUT;
    message->max_cm_retries = OCHE_CM_RETRIES;
    fill_path(id, &message->path);
}

void cm_note_request(struct cm_id *id, const struct oche_cm_message *request)
{
    id->service_id = request->service_id;
    if (cm_is_datagram(id))
        return;
    id->send_psn = request->starting_psn;
    id->receive_psn = (uint32_t)cm_random() & 0xffffff;
    /* the peer's most requests are the most that we answer */
    id->responder_resources = at_most(id, request->initiator_depth);
    id->initiator_depth = at_most(id, request->responder_resources);
    id->retry_count = request->retry_count;
    id->rnr_retry = request->rnr_retry;
    id->path_mtu = request->mtu;
    id->ack_timeout = request->path.ack_timeout;
    if (id->tos == 0)
        id->tos = request->path.traffic_class & 0xfc;
    id->response_timeout = request->local_response_timeout;
    id->max_cm_retries = request->max_cm_retries;
    if (request->transport == OCHE_CM_UC)
        id->id.qp_type = IBV_QPT_UC;
}

void cm_note_answer(struct cm_id *id, const struct oche_cm_message *answer)
{
    id->send_psn = answer->starting_psn;
    id->responder_resources = at_most(id, answer->initiator_depth);
    id->initiator_depth = at_most(id, answer->responder_resources);
    id->rnr_retry = answer->rnr_retry;
}

/* ---- attributes ---- */

static void init_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    attr->pkey_index = 0;
    attr->port_num = CM_PORT;
    *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    if (cm_is_datagram(id)) {
        attr->qkey = RDMA_UDP_QKEY;
        *mask |= IBV_QP_QKEY;
        return;
    }
    attr->qp_access_flags = 0;
    if (id->conn.state != OCHE_CM_IDLE) {
        attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
        if (id->responder_resources > 0 && id->id.qp_type == IBV_QPT_RC)
            attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    }
    *mask |= IBV_QP_ACCESS_FLAGS;
}

/* Returns 0 or an errno. */
static int rtr_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    *mask = IBV_QP_STATE;
    if (cm_is_datagram(id))
        return 0;
    if (id->conn.state != OCHE_CM_REQ_RCVD && id->conn.state != OCHE_CM_REP_RCVD)
        return EINVAL;
    attr->ah_attr =
        (struct ibv_ah_attr){.is_global = 1,
                             .port_num = CM_PORT,
                             .grh = {.hop_limit = CM_HOP_LIMIT, .traffic_class = id->tos}};
    memcpy(attr->ah_attr.grh.dgid.raw, id->conn.remote_gid, OCHE_CM_GID_BYTES);
    attr->path_mtu = id->path_mtu;
    attr->dest_qp_num = id->conn.remote_qpn;
    attr->rq_psn = id->receive_psn;
    *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (id->id.qp_type != IBV_QPT_RC)
        return 0;
    attr->max_dest_rd_atomic = id->responder_resources;
    attr->min_rnr_timer = 0; /* 655 ms, Linux's value */
    *mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return 0;
}

static int rts_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    *mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    attr->sq_psn = 0;
    if (cm_is_datagram(id))
        return 0;
    if (id->conn.state == OCHE_CM_IDLE)
        return EINVAL;
    attr->sq_psn = id->send_psn;
    if (id->id.qp_type != IBV_QPT_RC)
        return 0;
    attr->retry_cnt = id->retry_count;
    attr->rnr_retry = id->rnr_retry;
    attr->timeout = id->ack_timeout;
    attr->max_rd_atomic = id->initiator_depth;
    *mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT | IBV_QP_MAX_QP_RD_ATOMIC;
    return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
    const struct cm_id *own = cm_id_of(id);
    int error;

    CM_PASS_ON(rdma_init_qp_attr, id, qp_attr, qp_attr_mask);
    if (own->device == NULL)
        return cm_result(EINVAL);
    oche_lock_take(&cm_lock);
    switch (qp_attr->qp_state) {
    case IBV_QPS_INIT:
        init_attr(own, qp_attr, qp_attr_mask);
        error = 0;
        break;
    case IBV_QPS_RTR:
        error = rtr_attr(own, qp_attr, qp_attr_mask);
        break;
    case IBV_QPS_RTS:
        error = rts_attr(own, qp_attr, qp_attr_mask);
        break;
    default:
        error = EINVAL;
        break;
    }
    oche_lock_release(&cm_lock);
    return cm_result(error);
}

static int to_state(struct cm_id *id, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    int mask = 0;

    if (rdma_init_qp_attr(&id->id, &attr, &mask) != 0)
        return -1;
    return cm_result(ibv_modify_qp(id->id.qp, &attr, mask));
}

/* INIT again: the peer's access rights are known only now. */
int cm_qp_to_ready(struct cm_id *id)
{
    return to_state(id, IBV_QPS_INIT) != 0 || to_state(id, IBV_QPS_RTR) != 0 ||
                   to_state(id, IBV_QPS_RTS) != 0
               ? -1
               : 0;
}

int cm_qp_to_error(struct cm_id *id)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    return cm_result(ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE));
}
