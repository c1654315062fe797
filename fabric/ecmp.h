/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing: from a packet's destination to an egress port. It goes by group (a ToR) and, among
 * several equally near ports, by a hash of the five-tuple (equal-cost multi-path, per flow). The
 * hash is mixed with the switch's own salt, so that switches of one tier choose independently. A
 * pin (fabric/pins.h) takes precedence.
 */
#ifndef OCHE_FABRIC_ECMP_H
#define OCHE_FABRIC_ECMP_H

#include "core/base.h"
#include "core/random.h"
#include "core/wire/packet.h"
#include "fabric/pins.h"
#include "fabric/switch.h"

/*
 * The first returns the salt of the switch `node`. The second returns the common salt of all
 * switches of a tier, which then make the same choice for a flow.
 */
uint64_t oche_ecmp_salt(uint64_t seed, uint32_t node);
uint64_t oche_ecmp_tier_salt(uint64_t seed, uint32_t tier);

/*
 * Returns the index of one of `count` candidates (at least 1), chosen by the hash of a five-tuple.
 */
static inline uint32_t oche_ecmp_pick(uint64_t salt, uint32_t flow_hash, uint32_t count)
{
    return (uint32_t)(((unsigned __int128)oche_mix64(salt ^ flow_hash) * count) >> 64);
}

/* Returns the egress port, or -1 if the destination is unknown or unreachable. */
static inline int oche_ecmp_route(const struct oche_routes *routes, uint64_t salt,
                                  const struct oche_packet *packet)
{
    uint32_t group;
    struct oche_port_set set;

    if (OCHE_UNLIKELY(packet->dst >= routes->addresses))
        return -1;
    if (OCHE_UNLIKELY(routes->pins != NULL)) {
        uint32_t port = oche_pin_place(routes->pins, packet->dst, packet->flow_hash)->port;

        if (port != OCHE_NO_PIN)
            return (int)port;
    }
    group = routes->group_of[packet->dst];
    if (group == routes->own_group)
        return routes->port_of_address[packet->dst];
    set = routes->sets[routes->set_of_group[group]];
    if (set.count == 1)
        return routes->ports[set.first];
    if (OCHE_UNLIKELY(set.count == 0))
        return -1;
    return routes->ports[set.first + oche_ecmp_pick(salt, packet->flow_hash, set.count)];
}

#endif
