/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets congestion control count senders together with the other processes of the address
 * (census.h): tells them whom we count, and the NIC what they count.
 */
#include "device/internal.h"

#define DEAD_EVERY  (250 * OCHE_MS) /* between two looks for who was killed, or not met */
#define COUNT_EVERY (20 * OCHE_US)  /* between two counts, whatever other processes write … */
#define COUNT_EACH  (50 * OCHE_NS)  /* … and this for each sender more, so that it costs little */

void device_together_open(struct oche_device *device)
{
    device->share.census.fd = -1;
    if (!device->config.share || device->config.cc->senders == NULL)
        return;
    /* Without memory for a table this process counts alone. */
    oche_census_open(&device->share.census);
}

/* Publishes our senders if they have changed. */
static void publish(struct oche_device *device)
{
    struct oche_census *census = &device->share.census;
    uint32_t addresses[CENSUS_SENDERS], count, version;
    uint64_t ids[CENSUS_SENDERS];

    oche_nic_senders(device->nic, NULL, 0, &version);
    if (version == device->told_version)
        return;
    device->told_version = version;
    count = oche_nic_senders(device->nic, addresses, CENSUS_SENDERS, &version);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = addresses[i] & 0xffffff, slot = addresses[i] >> 24;
        OCHE_MUST(index < device->peers.count);
        ids[i] = oche_census_id(&device->peers.peers[index].address, slot);
    }
    oche_census_publish(census, ids, count);
}

void device_count_together(struct oche_device *device, oche_time now)
{
    struct oche_census *census = &device->share.census;
    struct oche_census_view *views[OCHE_SLOTS];
    /* A line brings no more than this; who writes more is not believed. */
    const uint64_t most =
        oche_bytes_in_time(now - device->together_at, device->config.line_rate_bps) + 65536;
    unsigned count = 0;

    publish(device);
    oche_census_arrived(census, oche_nic_received_line_bytes(device->nic));
    for (uint64_t left = device->share.counting; left != 0; left &= left - 1) {
        struct oche_neighbour *neighbour =
            &device->share.neighbours[(unsigned)__builtin_ctzll(left)];
        if (neighbour->view.table == NULL)
            continue;
        views[count++] = &neighbour->view;
        device->elsewhere.received_line_bytes +=
            oche_census_look(census, &neighbour->view, now, most);
    }
    device->together_at = now;
    if (now >= device->dead_again) {
        device->dead_again = now + DEAD_EVERY;
        oche_sharing_bury(&device->share);
    }
    if (count == 0 && device->elsewhere.senders == 0)
        return;
    if (now >= census->again && (census->stale || count != device->together)) {
        device->elsewhere.senders = oche_census_count(census, views, count);
        device->together = count;
        census->again = now + COUNT_EVERY + device->elsewhere.senders * COUNT_EACH;
    }
    oche_nic_elsewhere(device->nic, &device->elsewhere, now);
}
