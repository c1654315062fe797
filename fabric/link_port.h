/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch's egress port in virtual time: one class, drop-tail, RED at dequeue. When a packet
 * arrives, the port computes from the packets before it whether there is room, and when the packet
 * leaves. So nothing has to hold the packet until it is due, and several processes can share a port
 * (device/link/shared_port.h).
 *
 * The rules are those of fabric/switch.h with PFC off: a packet has room if it and the waiting
 * packets are no more than the queue; the packet that is being sent does not wait; marks depend on
 * the packets left behind when a packet's transmission starts. tests/property compares both, packet
 * by packet.
 */
#ifndef OCHE_FABRIC_LINK_PORT_H
#define OCHE_FABRIC_LINK_PORT_H

#include "core/base.h"

struct oche_link_waiting {
    oche_time arrived, starts;
    uint64_t bytes_until; /* bytes of all packets so far, with this one */
};

struct oche_link_port {
    oche_time free_at;      /* when the last packet's last bit has left */
    uint64_t bytes_arrived; /* of all admitted packets */
    uint64_t bytes_started; /* of packets whose transmission has started by the last call */
    uint64_t first, count;  /* numbers of waiting packets: `first` to `first` + `count` - 1 */
    uint64_t capacity;      /* elements of `waiting`, a power of two */
    struct oche_link_waiting waiting[];
};

/* An admitted packet. */
struct oche_link_departure {
    uint64_t number;          /* of the packet at this port */
    uint64_t bytes_until;     /* bytes of all packets so far, with this one */
    oche_time starts, leaves; /* times of its first and its last bit */
};

/* Returns the bytes of memory of a port on which so many packets can wait, at most 2^24. */
size_t oche_link_port_bytes(uint64_t packets);
/* Makes the port in `memory` (aligned to 8), which stays the caller's. */
struct oche_link_port *oche_link_port_create(void *memory, uint64_t packets);

/*
 * Takes a packet of `frame_bytes` that arrives at `now`. The line has `rate_bps`, and adds
 * `gap_bytes` to each frame; `queue_bytes` may wait. Returns false if there is no room. Times of
 * calls must not fall. Packets that wait keep their times if the rate changes.
 */
bool oche_link_port_take(struct oche_link_port *port, oche_time now, uint32_t frame_bytes,
                         uint32_t gap_bytes, uint64_t rate_bps, uint64_t queue_bytes,
                         struct oche_link_departure *departure);

/*
 * Returns the bytes that waited behind a packet when its transmission started. To be called at that
 * time; later, packets that have started meanwhile may be missing.
 */
uint64_t oche_link_port_behind(const struct oche_link_port *port,
                               const struct oche_link_departure *departure);

/* Returns the bytes that wait at `now`. */
uint64_t oche_link_port_queue(struct oche_link_port *port, oche_time now);

#endif
