/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a device: its recovery, its window, its losses and its counters. */
#include "device/internal.h"

bool oche_device_recovery_has_timeouts(const struct oche_device *device)
{
    return device->config.recovery->rto != NULL;
}

uint32_t oche_device_window_packets(const struct oche_device *device, uint32_t mtu_bytes)
{
    /*
     * The kernel doubles the size that was asked for, and counts its own structures as well as the
     * bytes.
     */
    const uint32_t window = device->socket.receive_bytes / 4 / mtu_bytes;

    return window > 0 ? window : 1;
}

bool oche_device_losses(const struct oche_device *device, uint32_t *datagrams,
                        uint32_t *buffer_bytes)
{
    const struct oche_socket_losses losses = oche_socket_losses(&device->socket);

    *datagrams = losses.datagrams;
    *buffer_bytes = losses.buffer_bytes;
    return atomic_load(&device->has_unreliable);
}

OCHE_UNCHECKED void oche_device_stats_now(struct oche_device *device,
                                          struct oche_device_stats *stats)
{
    *stats = device->stats;
    device_faults_count(device, stats);
    stats->kernel_drops = oche_socket_losses(&device->socket).datagrams;
    stats->source_ports = device->source_ports.count;
    stats->gso = device->socket.gso;
    stats->gro = device->socket.gro;
    stats->held = device->ack_delay.useful + device->ack_delay.in_vain;
    stats->held_in_vain = device->ack_delay.in_vain;
    stats->pass_refused = device->share.refused;
    stats->pass_lost += device->share.lost;
    stats->nic = *oche_nic_stats(device->nic);
}

void oche_device_stats(struct oche_device *device, struct oche_device_stats *stats)
{
    oche_device_lock(device);
    oche_device_stats_now(device, stats);
    oche_device_unlock(device);
}

void oche_device_end_capture(struct oche_device *device, bool locked)
{
    if (device->capture == NULL)
        return;
    if (locked)
        oche_capture_end(device->capture);
    else
        oche_capture_rescue(device->capture);
}
