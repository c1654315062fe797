/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address handles, and the addresses of datagrams and connections. An address is a GID, with IPv4
 * as ::ffff:a.b.c.d; addresses without a GID and multicast addresses are refused.
 */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/internal.h"

#define CLASS_SHIFT 5 /* shift from a traffic class of the core to the traffic class byte */

/* ---- addresses ---- */

uint32_t ov_peer_of(struct ov_port *port, const struct ibv_ah_attr *ah)
{
    struct oche_address address;
    char text[OCHE_ADDRESS_TEXT];

    memcpy(address.ip, ah->grh.dgid.raw, sizeof(address.ip));
    oche_address_print(&address, text);
    return oche_device_peer(port->device, text);
}

bool ov_ah_attr_ok(const struct ibv_ah_attr *ah)
{
    struct oche_address address;

    memcpy(address.ip, ah->grh.dgid.raw, sizeof(address.ip));
    if (!ah->is_global)
        ov_unsupported(OV_ONCE_NO_GID);
    else if (oche_address_is_link_local(&address))
        ov_unsupported(OV_ONCE_LINK_LOCAL);
    return ah->is_global && !oche_address_is_link_local(&address) && ah->port_num == OV_PORT_NUM &&
           ah->grh.sgid_index == 0;
}

uint16_t ov_source_port(uint32_t flow_label, uint32_t own_qpn, uint32_t remote_qpn)
{
    uint64_t v = (uint64_t)own_qpn * remote_qpn;

    if (flow_label == 0) {
        v ^= v >> 20;
        v ^= v >> 40;
        flow_label = (uint32_t)v & IB_GRH_FLOWLABEL_MASK;
    }
    return ibv_flow_label_to_udp_sport(flow_label);
}

/* ---- handles ---- */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    OV_PASS_ON(pd->context->device, ibv_create_ah, pd, attr);

    struct ov_port *port = ov_port_of(pd->context);
    const int error = ov_refuses(port, OCHE_CALL_CREATE_AH);
    uint32_t peer;
    struct ov_ah *ah;

    if (error != 0)
        return ov_null(error);
    if (!ov_ah_attr_ok(attr))
        return ov_null(EINVAL);
    peer = ov_peer_of(port, attr);
    if (peer == UINT32_MAX)
        return ov_null(errno);
    ah = calloc(1, sizeof(*ah));
    if (ah == NULL) {
        oche_device_release_peer(port->device, peer);
        return ov_null(ENOMEM);
    }
    ah->to = (struct oche_destination){.address = peer,
                                       .tag = attr->grh.traffic_class,
                                       .traffic_class =
                                           (uint8_t)(attr->grh.traffic_class >> CLASS_SHIFT)};
    ah->flow_label = attr->grh.flow_label & IB_GRH_FLOWLABEL_MASK;
    ah->context = ov_context_take(pd->context);
    atomic_fetch_add(&ov_pd_of(pd)->users, 1);
    ah->ah.context = pd->context;
    ah->ah.pd = pd;
    return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    OV_PASS_ON(ah->context->device, ibv_destroy_ah, ah);

    struct ov_ah *own = (struct ov_ah *)(void *)ah;
    struct ov_context *context = own->context;

    if (!ov_foreign(ov_port_of(ah->context)))
        oche_device_release_peer(ov_port_of(ah->context)->device, own->to.address);
    atomic_fetch_sub(&ov_pd_of(ah->pd)->users, 1);
    free(own);
    ov_context_release(context);
    return 0;
}

bool ov_destination(const struct ov_qp *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
                    struct oche_destination *to)
{
    const struct ov_ah *own = (const struct ov_ah *)(const void *)ah;

    if (ah == NULL || !ov_same_pd(ah->pd, qp->qp.pd) || qpn > OCHE_PSN_MASK)
        return false;
    *to = own->to;
    to->qpn = qpn;
    to->qkey = qkey;
    to->udp_source_port = ov_source_port(own->flow_label, qp->qp.qp_num, qpn);
    to->flow_hash = to->udp_source_port;
    return true;
}

/* ---- from a completion ---- */

/*
 * Reads the 40 bytes before a received datagram: an IPv6 header, or an IPv4 header in the last 20
 * bytes (rocev2.md#grh). Returns false if the bytes are neither.
 */
static bool read_grh(const struct ibv_grh *grh, union ibv_gid *from, union ibv_gid *to,
                     struct ibv_global_route *route)
{
    const uint8_t *bytes = (const uint8_t *)grh;
    struct iphdr ip;

    memcpy(&ip, bytes + OCHE_GRH_BYTES - sizeof(ip), sizeof(ip));
    if (ip.version == 4 && ip.ihl == 5 && bytes[0] >> 4 != 6) {
        *from = *to = (union ibv_gid){.raw = {[10] = 0xff, [11] = 0xff}};
        memcpy(from->raw + 12, &ip.saddr, 4);
        memcpy(to->raw + 12, &ip.daddr, 4);
        route->traffic_class = ip.tos;
        return true;
    }
    if (bytes[0] >> 4 != 6)
        return false;
    *from = grh->sgid;
    *to = grh->dgid;
    route->traffic_class = (uint8_t)(ntohl(grh->version_tclass_flow) >> 20);
    route->flow_label = ntohl(grh->version_tclass_flow) & IB_GRH_FLOWLABEL_MASK;
    return true;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
                        struct ibv_grh *grh, struct ibv_ah_attr *ah_attr)
{
    OV_PASS_ON(context->device, ibv_init_ah_from_wc, context, port_num, wc, grh, ah_attr);

    union ibv_gid to;

    memset(ah_attr, 0, sizeof(*ah_attr));
    ah_attr->port_num = port_num;
    ah_attr->sl = wc->sl;
    ah_attr->is_global = 1;
    ah_attr->grh.hop_limit = 0xff;
    if (port_num != OV_PORT_NUM || (wc->wc_flags & IBV_WC_GRH) == 0 ||
        !read_grh(grh, &ah_attr->grh.dgid, &to, &ah_attr->grh) ||
        memcmp(to.raw, ov_port_of(context)->address.ip, sizeof(to.raw)) != 0) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                     uint8_t port_num)
{
    OV_PASS_ON(pd->context->device, ibv_create_ah_from_wc, pd, wc, grh, port_num);

    struct ibv_ah_attr attr;

    if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0)
        return NULL;
    return ibv_create_ah(pd, &attr);
}

/* ---- multicast ---- */

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    OV_PASS_ON(qp->context->device, ibv_attach_mcast, qp, gid, lid);
    ov_unsupported(OV_ONCE_MULTICAST);
    return EOPNOTSUPP;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    OV_PASS_ON(qp->context->device, ibv_detach_mcast, qp, gid, lid);
    return EOPNOTSUPP;
}
