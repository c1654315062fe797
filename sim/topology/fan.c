/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which ports of a switch can feed which others: the pairs (in, out) such that some packet
 * can come in by `in` and leave by `out`. For each destination, packets are followed from all hosts
 * along all routes; a switch is visited once for each port by which packets come in.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/topology/routes.h"

#define WORD_BITS 64

/*
 * One bit for each pair of ports of each switch, with a row for each port at which packets come in.
 */
struct pairs {
    const struct oche_topology_routes *routes;
    uint64_t *bits;
    size_t *first;   /* by switch: index of its first row in `bits` */
    uint32_t *words; /* by switch: 64-bit words in a row */
    uint32_t *mark;  /* by port: 1 + the last group whose packets came in by it; 0: none yet */
    uint32_t *stack; /* ports where packets came in that are still to be followed */
    size_t count;
};

static void *make(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);

    OCHE_GOT(memory != NULL);
    return memory;
}

static void init(struct pairs *pairs, const struct oche_topology_routes *routes)
{
    const struct oche_topology *topology = routes->topology;
    size_t words = 0, ports = 0;

    *pairs = (struct pairs){.routes = routes};
    pairs->first = make(topology->switch_count, sizeof(*pairs->first));
    pairs->words = make(topology->switch_count, sizeof(*pairs->words));
    for (uint32_t i = 0; i < topology->switch_count; i++) {
        uint32_t count = topology->nodes[topology->host_count + i].port_count;

        pairs->first[i] = words;
        pairs->words[i] = (count + WORD_BITS - 1) / WORD_BITS;
        words += (size_t)count * pairs->words[i];
        ports += count;
    }
    ports += topology->host_count;
    pairs->bits = make(words, sizeof(*pairs->bits));
    pairs->mark = make(ports, sizeof(*pairs->mark));
    pairs->stack = make(ports, sizeof(*pairs->stack));
}

/*
 * Notes that packets for `group` come in at `port` of a switch: puts the port on the stack, once
 * for each group.
 */
static void enter(struct pairs *pairs, uint32_t group, uint32_t port)
{
    if (pairs->mark[port] == group + 1)
        return;
    pairs->mark[port] = group + 1;
    pairs->stack[pairs->count++] = port;
}

static void add_pair(struct pairs *pairs, uint32_t sw, uint32_t in, uint32_t out)
{
    if (in != out)
        pairs->bits[pairs->first[sw] + (size_t)in * pairs->words[sw] + out / WORD_BITS] |=
            UINT64_C(1) << out % WORD_BITS;
}

/* Follows packets for `group`, which came in at port `in` of switch `sw`, to the next switches. */
static void go_on(struct pairs *pairs, uint32_t group, uint32_t sw, uint32_t in)
{
    const struct oche_topology_routes *routes = pairs->routes;
    const struct oche_topology *topology = routes->topology;
    uint32_t node = topology->host_count + sw;
    const struct oche_routes *of = &routes->of[sw];

    if (of->own_group == group) {
        for (uint32_t out = 0; out < topology->nodes[node].port_count; out++)
            if (oche_topology_port(topology, node, out)->peer < topology->host_count)
                add_pair(pairs, sw, in, out);
        return;
    }
    struct oche_port_set set = of->sets[of->set_of_group[group]];

    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t out = of->ports[set.first + i];
        const struct oche_topology_port *port = oche_topology_port(topology, node, out);

        add_pair(pairs, sw, in, out);
        if (port->peer >= topology->host_count)
            enter(pairs, group, topology->nodes[port->peer].first_port + port->peer_port);
    }
}

/* Returns, for each port, the number of the switch that has it. */
static uint32_t *owners(const struct oche_topology *topology)
{
    uint32_t nodes = oche_topology_nodes(topology), ports = 0;

    for (uint32_t i = 0; i < nodes; i++)
        ports += topology->nodes[i].port_count;
    uint32_t *owner = make(ports, sizeof(*owner));

    for (uint32_t i = topology->host_count; i < nodes; i++)
        for (uint32_t port = 0; port < topology->nodes[i].port_count; port++)
            owner[topology->nodes[i].first_port + port] = i - topology->host_count;
    return owner;
}

static void follow_all(struct pairs *pairs)
{
    const struct oche_topology *topology = pairs->routes->topology;
    uint32_t *owner = owners(topology);

    for (uint32_t group = 0; group < pairs->routes->group_count; group++) {
        for (uint32_t host = 0; host < topology->host_count; host++) {
            const struct oche_topology_port *port = oche_topology_port(topology, host, 0);

            enter(pairs, group, topology->nodes[port->peer].first_port + port->peer_port);
        }
        while (pairs->count > 0) {
            uint32_t port = pairs->stack[--pairs->count], sw = owner[port];

            go_on(pairs, group, sw, port - topology->nodes[topology->host_count + sw].first_port);
        }
    }
    free(owner);
}

void oche_topology_fan(const struct oche_topology_routes *routes, uint32_t *fan_out,
                       uint32_t *fan_in)
{
    const struct oche_topology *topology = routes->topology;
    struct pairs pairs;

    init(&pairs, routes);
    follow_all(&pairs);
    for (uint32_t i = 0; i < topology->host_count; i++)
        fan_out[topology->nodes[i].first_port] = fan_in[topology->nodes[i].first_port] = 0;
    for (uint32_t sw = 0; sw < topology->switch_count; sw++) {
        const struct oche_topology_node *node = &topology->nodes[topology->host_count + sw];

        memset(&fan_out[node->first_port], 0, node->port_count * sizeof(*fan_out));
        memset(&fan_in[node->first_port], 0, node->port_count * sizeof(*fan_in));
        for (uint32_t in = 0; in < node->port_count; in++)
            for (uint32_t out = 0; out < node->port_count; out++) {
                uint64_t word =
                    pairs.bits[pairs.first[sw] + (size_t)in * pairs.words[sw] + out / WORD_BITS];
                uint32_t bit = word >> out % WORD_BITS & 1;

                fan_out[node->first_port + in] += bit;
                fan_in[node->first_port + out] += bit;
            }
    }
    free(pairs.bits);
    free(pairs.first);
    free(pairs.words);
    free(pairs.mark);
    free(pairs.stack);
}
