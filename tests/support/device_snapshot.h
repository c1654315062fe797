/* SPDX-License-Identifier: Apache-2.0 */
/* What to keep of a device, to put it back. */
#ifndef OCHE_TESTS_SUPPORT_DEVICE_SNAPSHOT_H
#define OCHE_TESTS_SUPPORT_DEVICE_SNAPSHOT_H

#include "device/internal.h"
#include "tests/support/snapshot.h"

/*
 * Adds a device with all of its objects. From now on none may be made or destroyed, but what is
 * there may be used in any way; sockets and captures stay as they are.
 */
static inline void device_snapshot(struct snapshot *snapshot, struct oche_device *device)
{
    snapshot_add_block(snapshot, device);
    snapshot_add_block(snapshot, device->nic);
    snapshot_add_block(snapshot, device->peers.peers);
    snapshot_add_block(snapshot, device->transmitter.packets);
    for (struct owned *qp = device->qps; qp != NULL; qp = qp->next)
        snapshot_add_block(snapshot, qp);
    for (struct owned *cq = device->cqs; cq != NULL; cq = cq->next)
        snapshot_add_block(snapshot, cq);
}

#endif
