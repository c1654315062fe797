/* SPDX-License-Identifier: Apache-2.0 */
/* The way of one flow, and ports by one number for the whole network. */
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

/* Where the loop begins that the walk is in, or count: it is in none, just long. */
static uint32_t find_loop(const struct oche_walk *walk)
{
    uint32_t last = walk->ports[walk->count - 1];

    for (uint32_t i = walk->count - 1; i > 0; i--)
        if (walk->ports[i - 1] == last)
            return i;
    return walk->count;
}

void oche_topology_walk(const struct oche_topology *topology, const struct oche_routes *of,
                        uint64_t seed, uint32_t src, uint32_t dst, uint32_t flow_hash,
                        struct oche_walk *walk)
{
    struct oche_packet packet = {.dst = dst, .flow_hash = flow_hash};
    uint32_t node = topology->ports[topology->nodes[src].first_port].peer;

    walk->count = 0;
    walk->loop = 0;
    walk->ports[walk->count++] = topology->nodes[src].first_port;
    while (walk->count <= OCHE_HOP_LIMIT && node != dst) {
        int port =
            oche_ecmp_route(&of[node - topology->host_count], oche_ecmp_salt(seed, node), &packet);

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
