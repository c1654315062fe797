/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic buffer dependency: the ports that each port waits for, as bits, and a depth-first search
 * for a cycle.
 */
#include "sim/topology/dependency.h"

#include <stdio.h>
#include <stdlib.h>

#include "params/text_stream.h"

#define SHOWN_ENDS 6 /* of a long cycle, the text shows the first 6 and the last 6 ports */

static void *must(void *memory)
{
    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for dependencies of buffers");
    return memory;
}

/* ---- cycles ---- */

void oche_circle_free(struct oche_circle *circle)
{
    free(circle->ports);
    *circle = (struct oche_circle){.count = 0};
}

struct oche_circle oche_circle_make(uint32_t *ports, uint32_t count)
{
    uint32_t *turned = must(malloc((count + 1) * sizeof(*turned)));
    uint32_t smallest = 0;

    for (uint32_t i = 1; i < count; i++)
        if (ports[i] < ports[smallest])
            smallest = i;
    for (uint32_t i = 0; i < count; i++)
        turned[i] = ports[(smallest + i) % count];
    free(ports);
    return (struct oche_circle){.ports = turned, .count = count};
}

char *oche_circle_text(const struct oche_topology *topology, const struct oche_circle *circle)
{
    char *text = NULL, name[OCHE_PORT_NAME_BYTES];
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (uint32_t i = 0; i <= circle->count; i++) {
        if (circle->count > 2 * SHOWN_ENDS && i == SHOWN_ENDS) {
            fprintf(out, " → (%u more)", circle->count - 2 * SHOWN_ENDS);
            i = circle->count - SHOWN_ENDS;
        }
        oche_topology_global_name(topology, circle->ports[i % circle->count], name, sizeof(name));
        fprintf(out, "%s%s", i > 0 ? " → " : "", name);
    }
    oche_text_stream_close(out);
    return text;
}

/* ---- which port waits for which ---- */

struct oche_dependencies {
    const struct oche_topology *topology;
    uint32_t port_count;
    size_t *first;  /* by switch: index of the switch's first bit in `bits` */
    uint64_t *bits; /* bit first + ingress * ports + egress is set if ingress waits for egress */
};

struct oche_dependencies *oche_dependencies_create(const struct oche_topology *topology)
{
    struct oche_dependencies *dependencies = must(calloc(1, sizeof(*dependencies)));
    size_t bits = 0;

    dependencies->topology = topology;
    dependencies->first = must(malloc((topology->switch_count + 1) * sizeof(size_t)));
    for (uint32_t s = 0; s < topology->switch_count; s++) {
        size_t ports = topology->nodes[topology->host_count + s].port_count;

        dependencies->first[s] = bits;
        bits += ports * ports;
        dependencies->port_count =
            topology->nodes[topology->host_count + s].first_port + (uint32_t)ports;
    }
    dependencies->bits = must(calloc(bits / 64 + 1, sizeof(uint64_t)));
    return dependencies;
}

void oche_dependencies_free(struct oche_dependencies *dependencies)
{
    if (dependencies == NULL)
        return;
    free(dependencies->first);
    free(dependencies->bits);
    free(dependencies);
}

static size_t bit_of(const struct oche_dependencies *dependencies, uint32_t node, uint32_t in,
                     uint32_t out)
{
    const struct oche_topology *topology = dependencies->topology;

    return dependencies->first[node - topology->host_count] +
           (size_t)in * topology->nodes[node].port_count + out;
}

void oche_dependencies_add(struct oche_dependencies *dependencies, const struct oche_walk *walk)
{
    const struct oche_topology *topology = dependencies->topology;

    for (uint32_t i = 2; i < walk->count; i++) { /* no port waits for a host's port */
        const struct oche_topology_port *end = &topology->ports[walk->ports[i - 1]];
        uint32_t out = walk->ports[i] - topology->nodes[end->peer].first_port;
        size_t bit = bit_of(dependencies, end->peer, end->peer_port, out);

        dependencies->bits[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
}

/* ---- the search ---- */

enum colour { NEW, ON_WAY, DONE };

struct step {
    uint32_t port; /* a port on the current path */
    uint32_t next; /* the next egress port to visit, at the switch that `port` leads to */
};

struct search {
    const struct oche_dependencies *dependencies;
    uint8_t *colour; /* by port */
    struct step *way;
    uint32_t depth;
};

static void enter(struct search *search, uint32_t port)
{
    search->colour[port] = ON_WAY;
    search->way[search->depth++] = (struct step){.port = port};
}

/* Returns the next port that the path's last port waits for; UINT32_MAX: all were returned. */
static uint32_t next_of(struct search *search)
{
    const struct oche_topology *topology = search->dependencies->topology;
    struct step *step = &search->way[search->depth - 1];
    const struct oche_topology_port *end = &topology->ports[step->port];

    if (end->peer < topology->host_count)
        return UINT32_MAX;
    while (step->next < topology->nodes[end->peer].port_count) {
        uint32_t out = step->next++;
        size_t bit = bit_of(search->dependencies, end->peer, end->peer_port, out);

        if (search->dependencies->bits[bit / 64] >> (bit % 64) & 1)
            return topology->nodes[end->peer].first_port + out;
    }
    return UINT32_MAX;
}

/* Returns the cycle of the path's ports from `port` to the last one, which waits for `port`. */
static struct oche_circle circle_of(const struct search *search, uint32_t port)
{
    uint32_t from = search->depth, count = 0;
    uint32_t *ports;

    while (search->way[--from].port != port)
        continue;
    ports = must(malloc((search->depth - from) * sizeof(*ports)));
    for (uint32_t i = from; i < search->depth; i++)
        ports[count++] = search->way[i].port;
    return oche_circle_make(ports, count);
}

static struct oche_circle search_from(struct search *search, uint32_t start)
{
    enter(search, start);
    while (search->depth > 0) {
        uint32_t next = next_of(search);

        if (next == UINT32_MAX)
            search->colour[search->way[--search->depth].port] = DONE;
        else if (search->colour[next] == ON_WAY)
            return circle_of(search, next);
        else if (search->colour[next] == NEW)
            enter(search, next);
    }
    return (struct oche_circle){.count = 0};
}

struct oche_circle oche_dependencies_circle(const struct oche_dependencies *dependencies)
{
    const struct oche_topology *topology = dependencies->topology;
    struct search search = {.dependencies = dependencies};
    struct oche_circle circle = {.count = 0};

    search.colour = must(calloc(dependencies->port_count + 1, sizeof(*search.colour)));
    search.way = must(malloc((dependencies->port_count + 1) * sizeof(*search.way)));
    for (uint32_t port = topology->host_count; port < dependencies->port_count && circle.count == 0;
         port++)
        if (search.colour[port] == NEW)
            circle = search_from(&search, port);
    free(search.colour);
    free(search.way);
    return circle;
}
