/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints: an identifier with its queue pair. Its calls are synchronous. */
#include "device/cm/internal.h"

/* Keeps the attributes for the queue pairs of requests. Returns 0 or an errno. */
static int keep(struct cm_id *id, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    if (attr == NULL)
        return 0;
    id->qp_init_attr = malloc(sizeof(*attr));
    if (id->qp_init_attr == NULL)
        return ENOMEM;
    *id->qp_init_attr = *attr;
    id->qp_init_attr->qp_type = id->id.qp_type;
    if (pd != NULL)
        id->id.pd = pd;
    return 0;
}

/* The path that rdma_getaddrinfo has found, if it has, and else the device's. */
static int resolve_route(struct cm_id *id, const struct rdma_addrinfo *res)
{
    if (!id->is_theirs || res->ai_route_len == 0)
        return rdma_resolve_route(&id->id, 2000);
    if (rdma_set_option(&id->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, res->ai_route,
                        res->ai_route_len) != 0)
        return -1;
    return cm_wait(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int make_active(struct cm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
                       struct ibv_qp_init_attr *attr)
{
    if (rdma_resolve_addr(&id->id, res->ai_src_addr, res->ai_dst_addr, 2000) != 0 ||
        resolve_route(id, res) != 0)
        return -1;
    if (attr != NULL) {
        attr->qp_type = id->id.qp_type;
        if (rdma_create_qp(&id->id, pd, attr) != 0)
            return -1;
    }
    if (res->ai_connect_len > 0 && res->ai_connect_len <= CM_USER_REQ) {
        memcpy(id->connect_data, res->ai_connect, res->ai_connect_len);
        id->connect_bytes = (uint8_t)res->ai_connect_len;
    }
    return 0;
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
                   struct ibv_qp_init_attr *qp_init_attr)
{
    struct rdma_cm_id *made;
    int error;

    CM_IF_SYSTEM_CALLS(rdma_create_ep, id, res, pd, qp_init_attr);
    if (id == NULL || res == NULL)
        return cm_result(EINVAL);
    if (rdma_create_id(NULL, &made, NULL, (enum rdma_port_space)res->ai_port_space) != 0)
        return -1;
    made->qp_type = (enum ibv_qp_type)res->ai_qp_type;
    if (cm_id_of(made)->theirs != NULL)
        cm_id_of(made)->theirs->qp_type = made->qp_type;
    if ((res->ai_flags & RAI_PASSIVE) != 0
            ? rdma_bind_addr(made, res->ai_src_addr) != 0 ||
                  cm_result(keep(cm_id_of(made), pd, qp_init_attr)) != 0
            : make_active(cm_id_of(made), res, pd, qp_init_attr) != 0) {
        error = errno;
        rdma_destroy_ep(made);
        return cm_result(error);
    }
    *id = made;
    return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
    CM_IF_SYSTEM_CALLS(rdma_destroy_ep, id);
    rdma_destroy_qp(id);
    rdma_destroy_srq(id);
    rdma_destroy_id(id);
}

int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
    struct cm_id *own = cm_id_of(listen), *asked;
    struct rdma_cm_event *event;
    int error;

    CM_IF_SYSTEM_CALLS(rdma_get_request, listen, id);
    if (id == NULL || !own->sync)
        return cm_result(EINVAL);
    if (listen->event != NULL)
        rdma_ack_cm_event(listen->event);
    listen->event = NULL;
    do {
        if (rdma_get_cm_event(listen->channel, &event) != 0)
            return -1;
        if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
            rdma_ack_cm_event(event); /* event of a request that ended before it was delivered */
        else
            break;
    } while (true);
    asked = cm_id_of(event->id);
    if (rdma_migrate_id(event->id, NULL) != 0 || cm_create_kept_qp(asked, own) != 0) {
        error = errno;
        rdma_reject(event->id, NULL, 0);
        rdma_ack_cm_event(event);
        rdma_destroy_ep(&asked->id);
        return cm_result(error);
    }
    asked->id.event = event;
    *id = &asked->id;
    return 0;
}
