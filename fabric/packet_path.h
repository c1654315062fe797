/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet path of a switch, for callers that inline it: a simulation spends a good part of its
 * time here, and calls would cost a tenth of that. Other callers use the functions of
 * fabric/switch.h. They are made of these, and their names begin with oche_switch_ in place of
 * oche_path_.
 */
#ifndef OCHE_FABRIC_PACKET_PATH_H
#define OCHE_FABRIC_PACKET_PATH_H

#include "fabric/ecmp.h"
#include "fabric/switch_state.h"

/* ---- what is rare, in fabric/switch.c ---- */

/* Drops a packet of class `in_cls` that came in by `in_port`, and counts the drop at `port`. */
int oche_switch_drop(struct oche_switch *sw, unsigned port, enum oche_drop cause, unsigned in_port,
                     unsigned in_cls, const struct oche_packet *packet);
/*
 * There is no room for the packet, which was routed to `port`: trims it, or drops it and counts
 * that for `cause`. Returns the port whose queue has it now, or -1.
 */
int oche_switch_refuse(struct oche_switch *sw, unsigned in_port, unsigned port, unsigned in_cls,
                       enum oche_drop cause, struct oche_packet *packet, oche_time now);
/* Call the hooks, if some mechanism of this switch has them, or holds are recorded. */
int oche_switch_hook_route(struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                           int port, oche_time now);
bool oche_switch_hook_admit(struct oche_switch *sw, unsigned port,
                            const struct oche_packet *packet);
void oche_switch_hook_enqueue(struct oche_switch *sw, unsigned port, unsigned cls,
                              struct oche_packet *packet, oche_time now);
void oche_switch_hook_dequeue(struct oche_switch *sw, unsigned port, unsigned cls,
                              struct oche_packet *packet, oche_time now);

/* ---- what every packet passes ---- */

static inline unsigned oche_path_class(const struct oche_switch *sw,
                                       const struct oche_packet *packet)
{
    return OCHE_LIKELY(packet->traffic_class < sw->class_count) ? packet->traffic_class : 0;
}

/* True if the queue (egress, cls) has room for a packet of `bytes` from (in_port, in_cls). */
static inline bool oche_path_admit(struct oche_switch *sw, unsigned in_port, unsigned in_cls,
                                   const struct oche_egress *egress, unsigned cls, uint32_t bytes)
{
    if (OCHE_LIKELY(sw->lossless >> in_cls & 1)) {
        struct oche_ingress *in = oche_switch_ingress(sw, in_port, in_cls);
        return OCHE_LIKELY(oche_buffer_admit(&sw->buffer, in, bytes)) ||
               oche_pfc_admit(sw, in_port, in_cls, bytes);
    }
    if (oche_egress_bytes(egress) + (uint64_t)bytes > sw->port_limit)
        return false;
    return oche_buffer_admit_lossy(&sw->buffer, oche_switch_class_bytes(sw, egress, cls), bytes);
}

static inline void oche_path_mark(struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                                  uint64_t queue)
{
    if (OCHE_LIKELY(queue <= sw->least_kmin))
        return;
    struct oche_switch_cold *cold = &sw->cold[port];

    if (queue > cold->ramp.kmin && oche_red_chooses(&cold->ramp, &sw->random, packet, queue))
        oche_switch_mark(sw, port, packet);
}

/*
 * True if the packet came down and would go up again, which routes never do. Mechanisms that turn
 * packets this way have lanes.
 */
static inline bool oche_path_turns_up(const struct oche_switch *sw, unsigned in_port, unsigned port)
{
    return sw->up_down && sw->cold[in_port].above && sw->cold[port].above;
}

/* Puts an admitted packet into its queue. Returns the port. */
static inline int oche_path_enqueue(struct oche_switch *sw, unsigned in_port, unsigned port,
                                    unsigned cls, struct oche_packet *packet, oche_time now)
{
    struct oche_egress *egress = oche_switch_egress(sw, port);

    if (sw->mark_at_enqueue)
        oche_path_mark(sw, port, packet, oche_switch_class_bytes(sw, egress, cls));
    packet->ingress_port = (uint16_t)in_port;
    packet->when = now;
    if (OCHE_UNLIKELY(sw->hooks & (OCHE_HOOK_ENQUEUE | OCHE_HOOK_HOLDS)))
        oche_switch_hook_enqueue(sw, port, cls, packet, now);
    oche_egress_put(egress, cls, packet);
    if (OCHE_UNLIKELY(egress->flags & OCHE_EGRESS_WATCHED))
        oche_switch_watch_change(sw, port, now);
    return (int)port;
}

static inline int oche_path_receive(struct oche_switch *sw, unsigned in_port,
                                    struct oche_packet *packet, oche_time now)
{
    struct oche_egress *egress;
    unsigned in_cls, cls;
    int port;

    OCHE_MUST(in_port < sw->port_count);
    if (OCHE_UNLIKELY(++packet->hops > OCHE_HOP_LIMIT))
        return oche_switch_drop(sw, in_port, OCHE_DROP_TTL, in_port, oche_path_class(sw, packet),
                                packet);
    port = oche_ecmp_route(&sw->routes, sw->salt, packet);
    in_cls = cls = oche_path_class(sw, packet);
    if (OCHE_UNLIKELY(sw->hooks & (OCHE_HOOK_ROUTE | OCHE_HOOK_ADMIT | OCHE_HOOK_LINKS))) {
        if (port >= 0 && (sw->hooks & OCHE_HOOK_ROUTE))
            port = oche_switch_hook_route(sw, in_port, packet, port, now);
        if (port >= 0 && (sw->hooks & OCHE_HOOK_LINKS)) {
            if (sw->cold[port].down)
                return oche_switch_drop(sw, (unsigned)port, OCHE_DROP_LINK_DOWN, in_port, in_cls,
                                        packet);
            if (oche_path_turns_up(sw, in_port, (unsigned)port))
                return oche_switch_drop(sw, in_port, OCHE_DROP_NO_ROUTE, in_port, in_cls, packet);
        }
        cls = oche_path_class(sw, packet);
        OCHE_MUST(cls == in_cls || (oche_switch_is_lane(sw, cls) && sw->lanes >> in_cls & 1));
        if (sw->lanes != 0)
            packet->in_class = (uint16_t)in_cls;
        packet->ingress_port = (uint16_t)in_port;
        if (port >= 0 && !oche_switch_hook_admit(sw, (unsigned)port, packet))
            return oche_switch_refuse(sw, in_port, (unsigned)port, in_cls, OCHE_DROP_MECHANISM,
                                      packet, now);
    }
    if (OCHE_UNLIKELY(port < 0))
        return oche_switch_drop(sw, in_port, OCHE_DROP_NO_ROUTE, in_port, in_cls, packet);
    egress = oche_switch_egress(sw, (unsigned)port);
    if (OCHE_UNLIKELY(!oche_path_admit(sw, in_port, in_cls, egress, cls, packet->frame_bytes)))
        return oche_switch_refuse(sw, in_port, (unsigned)port, in_cls, OCHE_DROP_BUFFER, packet,
                                  now);
    return oche_path_enqueue(sw, in_port, (unsigned)port, cls, packet, now);
}

/*
 * Takes the next packet of the port, or returns NULL. `lanes` is true if the switch has lanes; the
 * compiler makes a version for each value, so that switches without lanes pay nothing.
 */
static OCHE_ALWAYS_INLINE struct oche_packet *oche_path_take(struct oche_switch *sw, unsigned port,
                                                             oche_time now, bool lanes)
{
    struct oche_egress *egress = oche_switch_egress(sw, port);
    uint8_t eligible = oche_egress_eligible(egress);
    struct oche_packet *packet;
    unsigned in_cls, cls;

    if (eligible == 0)
        return NULL;
    cls = oche_egress_highest(eligible);
    if (lanes && oche_switch_is_lane(sw, cls))
        cls = oche_egress_oldest(egress, eligible & sw->lanes);
    packet = oche_egress_take(egress, cls, now);
    in_cls = lanes ? oche_switch_in_class(sw, packet, cls) : cls;
    oche_switch_release(sw, packet, in_cls);
    if (!sw->mark_at_enqueue)
        oche_path_mark(sw, port, packet,
                       lanes ? oche_switch_class_bytes(sw, egress, cls)
                             : oche_egress_class_bytes(egress, cls));
    if (OCHE_UNLIKELY(sw->hooks & (OCHE_HOOK_DEQUEUE | OCHE_HOOK_HOLDS)))
        oche_switch_hook_dequeue(sw, port, cls, packet, now);
    if (OCHE_UNLIKELY(egress->flags & OCHE_EGRESS_WATCHED))
        oche_switch_watch_change(sw, port, now);
    return packet;
}

static inline struct oche_packet *oche_path_transmit(struct oche_switch *sw, unsigned port,
                                                     oche_time now)
{
    return OCHE_LIKELY(sw->lanes == 0) ? oche_path_take(sw, port, now, false)
                                       : oche_path_take(sw, port, now, true);
}

/* Fetches what every packet touches of the switch. This and the next one only affect speed. */
static inline void oche_path_fetch_switch(const struct oche_switch *sw)
{
    __builtin_prefetch(sw);
    __builtin_prefetch(&sw->port_count);
    __builtin_prefetch(&sw->buffer, 1);
}

/* Fetches what every packet touches of a port. */
static inline void oche_path_fetch_port(const struct oche_switch *sw, unsigned port)
{
    __builtin_prefetch(oche_switch_ingress(sw, port, 0), 1);
    __builtin_prefetch(oche_switch_egress(sw, port), 1);
}

static inline bool oche_path_ready(const struct oche_switch *sw, unsigned port)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);

    return oche_egress_eligible(egress) != 0 || (egress->flags & OCHE_EGRESS_PFC_WAITS) != 0;
}

static inline bool oche_path_pause_waits(const struct oche_switch *sw, unsigned port)
{
    return (oche_switch_egress(sw, port)->flags & OCHE_EGRESS_PFC_WAITS) != 0;
}

/* Returns a port that has got a PFC frame to send, or -1. */
static inline int oche_path_pause_port(struct oche_switch *sw)
{
    return OCHE_LIKELY(sw->pfc.named_count == 0) ? -1 : oche_switch_pause_port(sw);
}

#endif
