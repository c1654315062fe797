/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: a device's capabilities, its one port, its one GID (the address) and its one P_Key (the
 * default).
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "device/verbs/internal.h"

#undef ibv_query_port

#define GRH_REQUIRED     1                 /* IBV_QPF_GRH_REQUIRED */
#define GID_TYPE_ROCE_V2 1                 /* the value of ibv_query_gid_type for "RoCE v2" */
#define KHZ              UINT64_C(1000000) /* frequency of the clock, which counts nanoseconds */

static void fill_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    *attr = (struct ibv_device_attr){
        .node_guid = ibv_get_device_guid(context->device),
        .sys_image_guid = ibv_get_device_guid(context->device),
        .max_mr_size = UINT64_MAX,
        .page_size_cap = UINT64_C(0xfffffffffffff000),
        .max_qp = OV_MAX_QPS,
        .max_qp_wr = OV_MAX_WR,
        .device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SYS_IMAGE_GUID |
                            IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SRQ_RESIZE |
                            IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
                            IBV_DEVICE_MEM_MGT_EXTENSIONS,
        .max_sge = OCHE_MAX_SGE,
        .max_sge_rd = OCHE_MAX_SGE,
        .max_cq = OV_MAX_QPS,
        .max_cqe = OV_MAX_CQE,
        .max_mr = OV_MAX_REGIONS,
        .max_mw = OV_MAX_REGIONS,
        .max_pd = INT32_MAX,
        .max_qp_rd_atom = OV_MAX_RD_ATOMIC,
        .max_res_rd_atom = OV_MAX_RD_ATOMIC * OV_MAX_QPS,
        .max_qp_init_rd_atom = OV_MAX_RD_ATOMIC,
        /*
         * They are atomic for the processor, too (IBV_ATOMIC_GLOB), but UCX up to 1.13 finds
         * atomics only by this value. pci_atomic_caps has the rest.
         */
        .atomic_cap = IBV_ATOMIC_HCA,
        .max_ah = INT32_MAX,
        .max_srq = OV_MAX_QPS,
        .max_srq_wr = OV_MAX_WR,
        .max_srq_sge = OCHE_MAX_SGE,
        .max_pkeys = 1,
        .local_ca_ack_delay = 15,
        .phys_port_cnt = 1,
        .vendor_id = OV_VENDOR,
    };
    snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%s", OCHE_VERSION);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    OV_PASS_ON(context->device, ibv_query_device, context, attr);
    fill_device(context, attr);
    return 0;
}

int ov_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                       struct ibv_device_attr_ex *attr, size_t attr_size)
{
    const uint32_t connected = 1u << IBV_QPT_RC | 1u << IBV_QPT_UC;
    struct ibv_device_attr_ex all = {
        .completion_timestamp_mask = UINT64_MAX,
        .hca_core_clock = KHZ,
        .packet_pacing_caps = {.qp_rate_limit_min = 1,
                               .qp_rate_limit_max = (uint32_t)(OV_LINE_RATE / OCHE_KBPS),
                               .supported_qpts = connected},
        .pci_atomic_caps = {.fetch_add = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
                            .compare_swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP},
        .phys_port_cnt_ex = 1,
    };

    if (input != NULL && input->comp_mask != 0)
        return EINVAL;
    if (attr_size < sizeof(attr->orig_attr))
        return EINVAL;
    fill_device(context, &all.orig_attr);
    all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
    memset(attr, 0, attr_size);
    memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
    return 0;
}

static const struct oche_link_speed *speed_of(const struct ov_port *port)
{
    return oche_link_speed(port->line_rate_bps);
}

int ov_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
                  size_t attr_size)
{
    const bool is_up = !atomic_load_explicit(&ov_port_of(context)->down, memory_order_relaxed);
    const struct ibv_port_attr all = {
        .state = is_up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = ov_port_mtu(ov_port_of(context)),
        .gid_tbl_len = 1,
        .port_cap_flags = OV_PORT_CAPABILITIES,
        .max_msg_sz = OCHE_MAX_MESSAGE_BYTES,
        .pkey_tbl_len = 1,
        .max_vl_num = 1,
        .subnet_timeout = 18,
        .active_width = speed_of(ov_port_of(context))->width,
        .active_speed = speed_of(ov_port_of(context))->speed,
        .phys_state = is_up ? OV_PHYSICAL_LINK_UP : OV_PHYSICAL_DISABLED,
        .link_layer = IBV_LINK_LAYER_ETHERNET,
        .flags = GRH_REQUIRED,
    };

    if (port_num != OV_PORT_NUM)
        return EINVAL;
    if (atomic_load_explicit(&ov_port_of(context)->vanished, memory_order_relaxed))
        return EIO;
    memset(attr, 0, attr_size);
    memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
    return 0;
}

/* For programs older than port_cap_flags2: their struct ends before that member. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
                   struct _compat_ibv_port_attr *attr)
{
    OV_PASS_ON(context->device, ibv_query_port, context, port_num, attr);
    return ov_query_port(context, port_num, (struct ibv_port_attr *)(void *)attr,
                         offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ov_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    const oche_time now = oche_device_now(ov_port_of(context)->device);

    if ((values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK) != 0)
        return EINVAL;
    if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
        values->raw_clock.tv_sec = 0; /* the whole counter goes into tv_nsec, as in other drivers */
        values->raw_clock.tv_nsec = (long)(now / OCHE_NS);
    }
    return 0;
}

/* ---- GIDs and P_Keys ---- */

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
    OV_PASS_ON(context->device, ibv_query_gid, context, port_num, index, gid);
    if (port_num != OV_PORT_NUM || index != 0) {
        errno = EINVAL;
        return -1;
    }
    memcpy(gid->raw, ov_port_of(context)->address.ip, sizeof(gid->raw));
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
    OV_PASS_ON_OR(EOPNOTSUPP, context->device, _ibv_query_gid_ex, context, port_num, gid_index,
                  entry, flags, entry_size);

    struct ibv_gid_entry all = {.gid_index = gid_index,
                                .port_num = port_num,
                                .gid_type = IBV_GID_TYPE_ROCE_V2,
                                .ndev_ifindex = ov_port_of(context)->interface_index};

    if (port_num != OV_PORT_NUM || flags != 0 || entry_size < sizeof(entry->gid))
        return EINVAL;
    if (gid_index != 0)
        return ENODATA;
    memcpy(all.gid.raw, ov_port_of(context)->address.ip, sizeof(all.gid.raw));
    memset(entry, 0, entry_size);
    memcpy(entry, &all, entry_size < sizeof(all) ? entry_size : sizeof(all));
    return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                             size_t max_entries, uint32_t flags, size_t entry_size)
{
    OV_PASS_ON_OR(-EOPNOTSUPP, context->device, _ibv_query_gid_table, context, entries, max_entries,
                  flags, entry_size);
    if (max_entries == 0)
        return -EINVAL;
    const int error = _ibv_query_gid_ex(context, OV_PORT_NUM, 0, entries, flags, entry_size);

    return error == 0 ? 1 : -error;
}

/* ibv_query_gid_type, a part of the private interface, which ibv_devinfo calls. */
int ov_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                      unsigned int *type)
{
    OV_PASS_ON_OR(-1, context->device, ibv_query_gid_type, context, port_num, index, type);
    if (port_num != OV_PORT_NUM || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *type = GID_TYPE_ROCE_V2;
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    OV_PASS_ON(context->device, ibv_query_pkey, context, port_num, index, pkey);
    if (port_num != OV_PORT_NUM || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(OV_PKEY);
    return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
    OV_PASS_ON_OR(-1, context->device, ibv_get_pkey_index, context, port_num, pkey);
    if (port_num != OV_PORT_NUM || pkey != htobe16(OV_PKEY)) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

/* ---- remains of sysfs and of the link layer ---- */

const char *ibv_get_sysfs_path(void)
{
    return "/sys";
}

/* The kernel finds link-layer addresses itself, so callers get a MAC address of zeros. */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
    OV_PASS_ON_OR(-EOPNOTSUPP, context->device, ibv_resolve_eth_l2_from_gid, context, attr, eth_mac,
                  vid);
    if (attr->port_num != OV_PORT_NUM || !attr->is_global)
        return -EINVAL;
    memset(eth_mac, 0, ETHERNET_LL_SIZE);
    if (vid != NULL)
        *vid = 0xffff; /* none */
    return 0;
}
