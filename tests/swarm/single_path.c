/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If there is one path between any two hosts, a refusal must not say that paths there and back
 * differ.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/topology/topology.h"
#include "tests/swarm/judge.h"

/* The shortest paths from one host to all nodes. */
struct ways {
    uint32_t *links, *count,
        *queue; /* by node: the length and number of its shortest paths; nodes yet to visit */
};

static bool are_single_from(const struct oche_topology *topology, uint32_t src, struct ways *ways)
{
    uint32_t nodes = topology->host_count + topology->switch_count, head = 0, tail = 0;

    memset(ways->count, 0, nodes * sizeof(*ways->count));
    ways->links[src] = 0;
    ways->count[src] = 1;
    ways->queue[tail++] = src;
    while (head < tail) {
        uint32_t node = ways->queue[head++];

        for (uint32_t p = 0; p < topology->nodes[node].port_count; p++) {
            uint32_t peer = oche_topology_port(topology, node, p)->peer;

            if (ways->count[peer] == 0) {
                ways->links[peer] = ways->links[node] + 1;
                ways->queue[tail++] = peer;
            }
            if (ways->links[peer] == ways->links[node] + 1)
                ways->count[peer] += ways->count[node] > 1 ? 2 : 1;
        }
    }
    for (uint32_t host = 0; host < topology->host_count; host++)
        if (ways->count[host] != 1)
            return false;
    return true;
}

bool swarm_ways_are_single(const struct oche_world_config *config)
{
    struct oche_topology topology;
    struct oche_error error;
    bool single = true;

    if (config->routes.file != NULL ||
        !config->topology->build(config->topology_params, &topology, &error))
        return false;
    uint32_t nodes = topology.host_count + topology.switch_count;
    uint32_t *numbers = calloc(nodes, 3 * sizeof(*numbers));
    struct ways ways = {numbers, numbers + nodes, numbers + 2 * (size_t)nodes};

    OCHE_MUST(numbers != NULL);
    for (uint32_t src = 0; single && src < topology.host_count; src++)
        single = are_single_from(&topology, src, &ways);
    free(numbers);
    oche_topology_free(&topology);
    return single;
}
