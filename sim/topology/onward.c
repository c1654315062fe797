/* SPDX-License-Identifier: Apache-2.0 */
/* Upward ports and onward paths; see the header. */
#include "sim/topology/onward.h"

bool oche_topology_is_up(const struct oche_topology *topology, uint32_t node, uint32_t port)
{
    uint32_t peer = oche_topology_port(topology, node, port)->peer;

    if (topology->nodes[peer].kind != topology->nodes[node].kind)
        return topology->nodes[peer].kind > topology->nodes[node].kind;
    return peer > node;
}

size_t oche_topology_onward_words(const struct oche_topology_routes *routes, uint32_t number)
{
    const struct oche_topology *topology = routes->topology;
    uint32_t ports = topology->nodes[topology->host_count + number].port_count;

    return ((size_t)ports * routes->group_count + 63) / 64;
}

/* True if a switch can forward packets for `group` by a port other than `back`. */
static bool passes_on(const struct oche_routes *routes, uint32_t group, uint32_t back)
{
    if (group == routes->own_group)
        return true;
    struct oche_port_set set = routes->sets[routes->set_of_group[group]];

    for (uint32_t i = 0; i < set.count; i++)
        if (routes->ports[set.first + i] != back)
            return true;
    return false;
}

void oche_topology_onward(const struct oche_topology_routes *routes, uint32_t number,
                          uint64_t *bits)
{
    const struct oche_topology *topology = routes->topology;
    uint32_t node = topology->host_count + number;

    for (uint32_t port = 0; port < topology->nodes[node].port_count; port++) {
        const struct oche_topology_port *end = oche_topology_port(topology, node, port);

        if (end->peer < topology->host_count)
            continue;
        for (uint32_t group = 0; group < routes->group_count; group++) {
            size_t bit = (size_t)port * routes->group_count + group;

            if (passes_on(&routes->of[end->peer - topology->host_count], group, end->peer_port))
                bits[bit / 64] |= UINT64_C(1) << bit % 64;
        }
    }
}
