/* SPDX-License-Identifier: Apache-2.0 */
/* The path of one flow, and ports numbered for the whole network. */
#include "sim/topology/walk.h"

#include <stdio.h>

#include "fabric/ecmp.h"

uint32_t oche_topology_node_of_port(const struct oche_topology *topology, uint32_t port)
{
    const struct oche_topology_link *link = &topology->links[topology->ports[port].link];

    return topology->nodes[link->a].first_port + link->port_a == port ? link->a : link->b;
}

uint32_t oche_topology_far_port(const struct oche_topology *topology, uint32_t port)
{
    const struct oche_topology_port *end = &topology->ports[port];

    return topology->nodes[end->peer].first_port + end->peer_port;
}

void oche_topology_global_name(const struct oche_topology *topology, uint32_t port, char *text,
                               size_t text_bytes)
{
    uint32_t node = oche_topology_node_of_port(topology, port);

    if (node < topology->host_count)
        snprintf(text, text_bytes, "%s", topology->nodes[node].name);
    else
        oche_topology_port_name(topology, node, port - topology->nodes[node].first_port, text,
                                text_bytes);
}

/*
 * Finds out why a walk did not end: returns the index in `ports` at which its loop begins. Returns
 * `count` if it has no loop, that is, if it is too long.
 */
static uint32_t find_loop(const struct oche_walk *walk)
{
    uint32_t last = walk->ports[walk->count - 1];

    for (uint32_t i = walk->count - 1; i > 0; i--)
        if (walk->ports[i - 1] == last)
            return i;
    return walk->count;
}

uint32_t oche_topology_tier(const struct oche_topology *topology, uint32_t node)
{
    return topology->nodes[node].kind == OCHE_NODE_AGGREGATION ? 2 : 1;
}

bool oche_topology_walks_back(const struct oche_topology *topology, const struct oche_walk *there,
                              const struct oche_walk *back)
{
    if (there->end != OCHE_WALK_ARRIVES || back->end != OCHE_WALK_ARRIVES ||
        there->count != back->count)
        return false;
    for (uint32_t i = 0; i < there->count; i++)
        if (oche_topology_far_port(topology, there->ports[i]) != back->ports[back->count - 1 - i])
            return false;
    return true;
}

void oche_topology_walk(const struct oche_topology *topology, const struct oche_routes *of,
                        uint64_t seed, bool symmetric, uint32_t src, uint32_t dst,
                        uint32_t flow_hash, struct oche_walk *walk)
{
    struct oche_packet packet = {.dst = dst, .flow_hash = flow_hash};
    uint32_t node = topology->ports[topology->nodes[src].first_port].peer;

    walk->count = 0;
    walk->loop = 0;
    walk->ports[walk->count++] = topology->nodes[src].first_port;
    while (walk->count <= OCHE_HOP_LIMIT && node != dst) {
        uint64_t salt = symmetric ? oche_ecmp_tier_salt(seed, oche_topology_tier(topology, node))
                                  : oche_ecmp_salt(seed, oche_topology_place_of(topology, node));
        int port = oche_ecmp_route(&of[node - topology->host_count], salt, &packet);

        if (port < 0) {
            walk->end = OCHE_WALK_NO_ROUTE;
            return;
        }
        walk->ports[walk->count++] = topology->nodes[node].first_port + (uint32_t)port;
        node = oche_topology_port(topology, node, (uint32_t)port)->peer;
    }
    walk->end = OCHE_WALK_ARRIVES;
    if (node == dst)
        return;
    walk->loop = find_loop(walk);
    walk->end = walk->loop < walk->count ? OCHE_WALK_LOOPS : OCHE_WALK_TOO_FAR;
}
