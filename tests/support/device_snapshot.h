/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a device that a snapshot must keep. */
#ifndef OCHE_TESTS_SUPPORT_DEVICE_SNAPSHOT_H
#define OCHE_TESTS_SUPPORT_DEVICE_SNAPSHOT_H

#include "device/internal.h"
#include "tests/support/snapshot.h"

/*
 * Adds a device with all of its objects. From now on objects may be used in any way, but neither
 * made nor destroyed. Sockets and captures stay as they are.
 */
static inline void device_snapshot(struct snapshot *snapshot, struct oche_device *device)
{
    uint8_t *ring = (uint8_t *)device->trace_ring, *behind = ring + sizeof(device->trace_ring);
    uint8_t *start = (uint8_t *)device, *end = start + malloc_usable_size(device);

    /* The trace's ring, more than half of the device, is written but never read. */
    snapshot_add(snapshot, start, (size_t)(ring - start));
    snapshot_add(snapshot, behind, (size_t)(end - behind));
    snapshot_add(snapshot, device->nic, device->nic_bytes);
    snapshot_add(snapshot, device->peers.peers, device->peers.max * sizeof(device->peers.peers[0]));
    snapshot_add_block(snapshot, device->transmitter.packets);
    for (struct owned *qp = device->qps; qp != NULL; qp = qp->next)
        snapshot_add_block(snapshot, qp);
    for (struct owned *cq = device->cqs; cq != NULL; cq = cq->next)
        snapshot_add_block(snapshot, cq);
}

#endif
