/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch whose links go down and come back. A port that goes down is flushed: the packets that
 * wait there are lost at once, their memory is free again, and ingress classes that were paused
 * because of them may resume. Until the port is up again its queues stay empty: packets routed to
 * it are dropped and counted (fabric/switch.c), until the driver gives the switch other routes.
 * Both ends of the link clear their PFC state. InfiniBand's credits need nothing here: the next
 * flow control packets recover what the link has lost.
 */
#include "fabric/switch_state.h"

void oche_switch_link_down(struct oche_switch *sw, unsigned port, oche_time now)
{
    OCHE_MUST((sw->hooks & OCHE_HOOK_LINKS) && !sw->cold[port].down);
    sw->cold[port].down = true;
    oche_pause_clear(&sw->pauses[port], now);
    oche_switch_egress(sw, port)->paused = sw->cold[port].held;
    oche_pfc_link_down(sw, port, now);
    oche_switch_set_due(sw, port);
}

void oche_switch_link_up(struct oche_switch *sw, unsigned port)
{
    OCHE_MUST(sw->cold[port].down && oche_switch_egress(sw, port)->waiting == 0);
    sw->cold[port].down = false;
    oche_pfc_link_up(sw, port);
}

bool oche_switch_link_is_down(const struct oche_switch *sw, unsigned port)
{
    return sw->cold[port].down;
}

struct oche_packet *oche_switch_flush(struct oche_switch *sw, unsigned port, oche_time now)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);

    OCHE_MUST(sw->cold[port].down);
    if (egress->waiting == 0)
        return NULL;
    return oche_switch_lose(sw, port, oche_egress_highest(egress->waiting), OCHE_DROP_LINK_DOWN,
                            now);
}

void oche_switch_reroute(struct oche_switch *sw, const struct oche_routes *routes,
                         const uint64_t *onward)
{
    OCHE_MUST(sw->hooks & OCHE_HOOK_LINKS);
    sw->routes = *routes;
    for (unsigned i = 0; i < sw->mechanism_count; i++)
        if (sw->mechanisms[i].ops->rerouted != NULL)
            sw->mechanisms[i].ops->rerouted(sw->mechanisms[i].state, onward);
}

enum oche_drop oche_switch_last_drop(const struct oche_switch *sw)
{
    return (enum oche_drop)sw->last_drop;
}
