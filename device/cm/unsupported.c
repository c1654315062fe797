/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that only the kernel's devices support. A program's own message is often misleading, so
 * we print a line.
 */
#include <stdatomic.h>

#include "device/cm/internal.h"

static int no_multicast(void)
{
    static _Atomic bool told;

    if (!atomic_exchange(&told, true))
        cm_say("rdma_join_multicast: multicast is not supported; send to each receiver instead");
    return cm_result(EOPNOTSUPP);
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
    CM_PASS_ON(rdma_join_multicast, id, addr, context);
    return no_multicast();
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr,
                           void *context)
{
    CM_PASS_ON(rdma_join_multicast_ex, id, mc_join_attr, context);
    return no_multicast();
}

void cm_not_basic(enum ibv_srq_type type)
{
    static _Atomic bool told;

    if (type == IBV_SRQT_XRC && !atomic_exchange(&told, true))
        cm_say("rdma_create_srq_ex: XRC is not supported; RC with a shared receive queue is");
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
    CM_PASS_ON(rdma_leave_multicast, id, addr);
    return cm_result(EADDRNOTAVAIL); /* none was joined */
}

/* Enhanced connection establishment is for vendors' own features; we have none. */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    static _Atomic bool told;

    CM_PASS_ON(rdma_set_local_ece, id, ece);
    if (ece->vendor_id != 0 && !atomic_exchange(&told, true))
        cm_say("rdma_set_local_ece: options between adapters of one vendor (ECE) are not "
               "supported");
    return cm_result(EOPNOTSUPP);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    CM_PASS_ON(rdma_get_remote_ece, id, ece);
    *ece = (struct ibv_ece){0};
    return 0;
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
    CM_PASS_ON(rdma_reject_ece, id, private_data, private_data_len);
    return rdma_reject(id, private_data, private_data_len);
}
