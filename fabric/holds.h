/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what waits for what in a switch: the bytes that each ingress class has in each egress
 * queue, and since when each queue has not been empty. The record answers three questions. Which
 * egress queue is the cause that an ingress class is paused? It is the queue with most of the
 * class's bytes. Is that queue long because the next node has paused it? Then the one PAUSE is a
 * consequence of the other. Can a paused class ever resume?
 *
 * Recording begins when the driver calls oche_switch_keep_holds. It does so when the first PFC
 * frame arrives or leaves, so a switch without PAUSE pays nothing.
 */
#ifndef OCHE_FABRIC_HOLDS_H
#define OCHE_FABRIC_HOLDS_H

#include "core/base.h"
#include "core/wire/packet.h"
#include "fabric/switch.h"

/* An egress queue that is not empty. */
struct oche_holds_queue {
    oche_time since; /* when the queue ceased to be empty, or was first examined */
    /* value of oche_pause_time for the queue's class at `since`, modulo 2^64 */
    oche_time held_before;
};

struct oche_holds {
    uint32_t *bytes; /* indexed by (ingress * ports + egress) * classes + class; with lanes, one
                        such table for each class in which packets come in; NULL: not recorded */
    struct oche_holds_queue *queues; /* indexed by egress * classes + class */
};

/*
 * The switch calls the first when a packet is about to join the queue (port, cls), and the second
 * when a packet has left that queue.
 */
void oche_holds_put(struct oche_switch *sw, unsigned port, unsigned cls,
                    const struct oche_packet *packet, oche_time now);
void oche_holds_take(struct oche_switch *sw, unsigned port, unsigned cls,
                     const struct oche_packet *packet);
/*
 * The switch calls the first before it resets the port's pause counters, and the second afterwards,
 * with the result of the first.
 */
void oche_holds_before_reset(const struct oche_switch *sw, unsigned port, oche_time now,
                             oche_time held[OCHE_CLASSES]);
void oche_holds_after_reset(struct oche_switch *sw, unsigned port,
                            const oche_time held[OCHE_CLASSES]);

#endif
