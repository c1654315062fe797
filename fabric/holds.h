/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for what in a switch: the bytes that each ingress class has in each egress queue, and
 * since when each queue has not been empty. That says why an ingress class is paused (the egress
 * queue that holds most of it), whether that queue is long because the next node held it (then
 * this PAUSE is a consequence of that one), and whether a paused class can ever resume.
 *
 * Kept only from the moment that the driver asks for it (oche_switch_keep_holds), which it does
 * when the first PFC frame comes or goes: a switch that sees no PAUSE pays nothing.
 */
#ifndef OCHE_FABRIC_HOLDS_H
#define OCHE_FABRIC_HOLDS_H

#include "core/base.h"
#include "core/wire/packet.h"
#include "fabric/switch.h"

/* An egress queue that is not empty. */
struct oche_holds_queue {
    oche_time since;       /* it became so, or was first looked at */
    oche_time held_before; /* oche_pause_time of its class then, modulo 2^64 */
};

struct oche_holds {
    uint32_t *bytes;                 /* [(ingress * ports + egress) * classes + class], and where
                                        there are lanes that for each class by which packets come
                                        in; NULL: not kept */
    struct oche_holds_queue *queues; /* [egress * classes + class] */
};

/* For the switch: a packet is about to be put into the queue (port, cls), or has left it. */
void oche_holds_put(struct oche_switch *sw, unsigned port, unsigned cls,
                    const struct oche_packet *packet, oche_time now);
void oche_holds_take(struct oche_switch *sw, unsigned port, unsigned cls,
                     const struct oche_packet *packet);
/* Around a reset of the port's pause counters: before it, then after it with what that returned. */
void oche_holds_before_reset(const struct oche_switch *sw, unsigned port, oche_time now,
                             oche_time held[OCHE_CLASSES]);
void oche_holds_after_reset(struct oche_switch *sw, unsigned port,
                            const oche_time held[OCHE_CLASSES]);

#endif
