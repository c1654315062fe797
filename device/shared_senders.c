/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets congestion control count senders together with the other processes of the address
 * (sender_table.h): publishes our senders, and passes theirs to the NIC.
 */
#include "device/internal.h"

#define DEAD_EVERY  (250 * OCHE_MS) /* between two checks for dead or silent processes */
#define COUNT_EVERY (20 * OCHE_US)  /* between two counts … */
#define COUNT_EACH  (50 * OCHE_NS)  /* … and this more for each sender, so that it costs little */

void device_senders_open(struct oche_device *device)
{
    device->share.senders.fd = -1;
    if (!device->config.share || device->config.cc->counting == NULL)
        return;
    /* Without memory this process counts only its own senders. */
    oche_sender_table_open(&device->share.senders);
}

/* Publishes our senders if they have changed. */
static void publish(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    struct oche_sender_table *senders = &device->share.senders;
    uint32_t addresses[OCHE_SENDERS_PER_TABLE], count, version;
    uint64_t ids[OCHE_SENDERS_PER_TABLE];

    oche_nic_senders(device->nic, NULL, 0, &version);
    if (version == device->published_version)
        return;
    device->published_version = version;
    count = oche_nic_senders(device->nic, addresses, OCHE_SENDERS_PER_TABLE, &version);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = addresses[i] & 0xffffff, slot = addresses[i] >> 24;
        OCHE_MUST(index < device->peers.count);
        ids[i] = oche_sender_id(&device->peers.peers[index].address, slot);
    }
    oche_sender_table_publish(senders, ids, count);
}

void device_senders_update(struct oche_device *device, oche_time now)
{
    struct oche_sender_table *senders = &device->share.senders;
    struct oche_sender_view *views[OCHE_SLOTS];
    /* A line carries no more than this; larger numbers are not believed. */
    const uint64_t most =
        oche_bytes_in_time(now - device->senders_at, device->config.line_rate_bps) + 65536;
    unsigned count = 0;

    publish(device);
    oche_sender_table_set_bytes(senders, oche_nic_received_line_bytes(device->nic));
    for (uint64_t left = device->share.with_table; left != 0; left &= left - 1) {
        struct oche_neighbour *neighbour =
            &device->share.neighbours[(unsigned)__builtin_ctzll(left)];
        if (neighbour->view.table == NULL)
            continue;
        views[count++] = &neighbour->view;
        device->elsewhere.received_line_bytes +=
            oche_sender_view_update(senders, &neighbour->view, now, most);
    }
    device->senders_at = now;
    if (now >= device->dead_check_at) {
        device->dead_check_at = now + DEAD_EVERY;
        oche_sharing_drop_dead(&device->share);
    }
    if (count == 0 && device->elsewhere.senders == 0)
        return;
    if (now >= senders->again && (senders->stale || count != device->counted_processes)) {
        device->elsewhere.senders = oche_sender_table_count_others(senders, views, count);
        device->counted_processes = count;
        senders->again = now + COUNT_EVERY + device->elsewhere.senders * COUNT_EACH;
    }
    oche_nic_elsewhere(device->nic, &device->elsewhere, now);
}
