/* SPDX-License-Identifier: Apache-2.0 */
/* Links with faults and scripted events together, each of which a device may have or not. */
#include "device/internal.h"

bool device_faults_open(struct oche_device *device, struct oche_error *error)
{
    return device_links_open(device, error) && device_events_open(device, error);
}

void device_faults_close(struct oche_device *device)
{
    oche_links_close(device->links);
    device_events_close(device->scripted);
}

unsigned device_faults_receive(struct oche_device *device, oche_time now)
{
    unsigned packets = device->links != NULL ? device_links_receive(device, now) : 0;

    if (device->scripted != NULL)
        packets += device_events_receive(device, now);
    return packets;
}

oche_time device_faults_next(const struct oche_device *device)
{
    const oche_time link = device->links != NULL ? device_links_next(device) : OCHE_NEVER;

    return device->scripted != NULL ? oche_time_min(link, device_events_next(device->scripted))
                                    : link;
}

void device_faults_count(const struct oche_device *device, struct oche_device_stats *stats)
{
    if (device->links != NULL) {
        stats->dropped_sent = oche_links_lost(device->links, OCHE_LINK_OUT);
        stats->dropped_received = oche_links_lost(device->links, OCHE_LINK_IN);
    }
    if (device->scripted != NULL)
        stats->dropped_received += device_events_dropped(device->scripted);
}
