/* SPDX-License-Identifier: Apache-2.0 */
#pragma GCC visibility push(default)
#include "device/verbs/manager.h"
#pragma GCC visibility pop

#include <string.h>

#include "core/cm/mad.h"
#include "device/verbs/internal.h"

bool oche_manager_load_system(bool *loaded)
{
    const bool good = ov_system_load();

    *loaded = ov_system_loaded();
    return good;
}

void oche_manager_only_theirs(bool only)
{
    ov_only_theirs = only;
}

bool oche_manager_is_ours(const struct ibv_device *device)
{
    return !ov_is_theirs(device);
}

struct ibv_qp *oche_manager_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex all = {.comp_mask = IBV_QP_INIT_ATTR_PD,
                                      .pd = pd,
                                      .qp_context = attr->qp_context,
                                      .send_cq = attr->send_cq,
                                      .recv_cq = attr->recv_cq,
                                      .cap = attr->cap,
                                      .qp_type = IBV_QPT_UD,
                                      .sq_sig_all = attr->sq_sig_all};

    return ov_create_qp_numbered(pd->context, &all, OCHE_CM_QPN);
}

int oche_manager_take_service(struct ibv_context *context, uint64_t service_id)
{
    return oche_device_take_service(ov_port_of(context)->device, service_id) ? 0 : errno;
}

bool oche_manager_service_taken(struct ibv_context *context, uint64_t service_id)
{
    return oche_device_service_taken(ov_port_of(context)->device, service_id);
}

void oche_manager_release_service(struct ibv_context *context, uint64_t service_id)
{
    oche_device_release_service(ov_port_of(context)->device, service_id);
}

unsigned oche_manager_slot(struct ibv_context *context)
{
    return oche_device_slot(ov_port_of(context)->device);
}

void oche_manager_gid(const struct ibv_device *device, union ibv_gid *gid)
{
    memcpy(gid->raw, ((const struct ov_device *)(const void *)device)->address.ip,
           sizeof(gid->raw));
}

unsigned oche_manager_interface(struct ibv_context *context)
{
    return ov_context_of(context)->device->interface_index;
}

enum ibv_mtu oche_manager_path_mtu(struct ibv_context *context, const uint8_t peer[16])
{
    struct oche_address address;

    memcpy(address.ip, peer, sizeof(address.ip));
    return ov_path_mtu(ov_port_of(context), &address);
}

enum ibv_mtu oche_manager_largest_mtu(struct ibv_context *context)
{
    return ov_port_largest_mtu(ov_port_of(context));
}

bool oche_manager_has_event(struct ibv_comp_channel *channel)
{
    return ov_channel_has_event((struct ov_channel *)(void *)channel);
}

int oche_manager_wait(struct ibv_comp_channel *channel, const _Atomic uint32_t *kicks,
                      uint32_t since, uint64_t limit_ns)
{
    return ov_channel_wait((struct ov_channel *)(void *)channel, kicks, since, limit_ns);
}

void oche_manager_wake(struct ibv_context *context)
{
    oche_device_wake(ov_port_of(context)->device);
}

void oche_manager_rouse(struct ibv_context *context)
{
    ov_port_call_thread(ov_port_of(context));
}
