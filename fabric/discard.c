/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that leave a queue without being sent: the queue's link has gone down
 * (fabric/link_failure.c), or a mechanism discards or trims them. Their memory is free at once, and
 * ingress classes that were paused because of them may resume.
 */
#include "fabric/switch_state.h"

/* Does what is to be done after a packet of class `cls` has been taken out of the port's queue. */
static void taken(struct oche_switch *sw, unsigned port, unsigned cls, struct oche_packet *packet,
                  oche_time now)
{
    if (sw->hooks & OCHE_HOOK_HOLDS)
        oche_holds_take(sw, port, cls, packet);
    oche_switch_release(sw, packet, oche_switch_in_class(sw, packet, cls));
    for (unsigned i = 0; i < sw->mechanism_count; i++)
        if (sw->mechanisms[i].ops->discard != NULL)
            sw->mechanisms[i].ops->discard(sw->mechanisms[i].state, sw, port, packet);
    if (oche_switch_egress(sw, port)->flags & OCHE_EGRESS_WATCHED)
        oche_switch_watch_change(sw, port, now);
}

struct oche_packet *oche_switch_lose(struct oche_switch *sw, unsigned port, unsigned cls,
                                     enum oche_drop cause, oche_time now)
{
    struct oche_egress *egress = oche_switch_egress(sw, port);
    struct oche_packet *packet = oche_egress_take(egress, cls, now);

    egress->packets--; /* undoes the count: the packet was not sent */
    egress->queueing -= now - packet->when;
    taken(sw, port, cls, packet, now);
    sw->cold[port].drops[cause]++;
    sw->last_drop = (uint8_t)cause;
    return packet;
}

struct oche_packet *oche_switch_take_last(struct oche_switch *sw, unsigned port, unsigned cls,
                                          oche_time now)
{
    struct oche_packet *packet = oche_egress_take_last(oche_switch_egress(sw, port), cls);

    taken(sw, port, cls, packet, now);
    return packet;
}

uint64_t oche_switch_discard(struct oche_switch *sw, unsigned port, unsigned cls, oche_time now)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);
    uint64_t count = 0;

    for (; egress->waiting >> cls & 1; count++) {
        struct oche_packet *packet = oche_switch_lose(sw, port, cls, OCHE_DROP_MECHANISM, now);

        packet->next = sw->discarded;
        sw->discarded = packet;
    }
    return count;
}

struct oche_packet *oche_switch_take_discarded(struct oche_switch *sw)
{
    struct oche_packet *packet = sw->discarded;

    if (packet != NULL)
        sw->discarded = packet->next;
    return packet;
}
