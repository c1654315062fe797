/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports among which ECMP chooses for a packet, for mechanisms that choose one of them in its
 * place (load-balancing.md#switches). Packets with one path only are left alone: those to hosts of
 * the switch itself, those with a single port, and those of pinned flows (fabric/pins.h).
 *
 * A port whose own link is down is passed over, as a switch knows that at once. What failed farther
 * away only new routes tell it. If all links are down, the packet keeps ECMP's port and is dropped
 * there.
 */
#ifndef OCHE_FABRIC_EQUAL_PORTS_H
#define OCHE_FABRIC_EQUAL_PORTS_H

#include "fabric/switch_state.h"

#include "fabric/pins.h"

struct oche_equal_ports {
    const uint16_t *ports; /* not owned; valid until the next reroute */
    uint32_t count;        /* at least 2; 0: there is nothing to choose */
    uint32_t group;        /* destination group, below oche_switch_config.groups */
};

/*
 * Returns the ports for a packet that has a route. `control`: also for packets without payload,
 * such as ACKs.
 */
static inline struct oche_equal_ports
oche_equal_ports(const struct oche_switch *sw, const struct oche_packet *packet, bool control)
{
    const struct oche_routes *routes = &sw->routes;
    const struct oche_equal_ports none = {.count = 0};
    const uint32_t group = routes->group_of[packet->dst];

    if (group == routes->own_group || (!control && packet->payload_bytes == 0))
        return none;
    if (OCHE_UNLIKELY(routes->pins != NULL) &&
        oche_pin_place(routes->pins, packet->dst, packet->flow_hash)->port != OCHE_NO_PIN)
        return none;
    const struct oche_port_set set = routes->sets[routes->set_of_group[group]];

    if (set.count < 2)
        return none;
    return (struct oche_equal_ports){
        .ports = routes->ports + set.first, .count = set.count, .group = group};
}

static inline bool oche_equal_port_is_up(const struct oche_switch *sw, unsigned port)
{
    return OCHE_LIKELY(!(sw->hooks & OCHE_HOOK_LINKS)) || !sw->cold[port].down;
}

/*
 * Returns the first port from place `at` on, around the list, whose link is up; `fallback` if there
 * is none. `at` is below the count.
 */
static inline int oche_equal_port_from(const struct oche_switch *sw,
                                       const struct oche_equal_ports *equal, uint32_t at,
                                       int fallback)
{
    for (uint32_t i = 0; i < equal->count; i++) {
        const unsigned port = equal->ports[at];

        if (oche_equal_port_is_up(sw, port))
            return (int)port;
        at = at + 1 < equal->count ? at + 1 : 0;
    }
    return fallback;
}

#endif
