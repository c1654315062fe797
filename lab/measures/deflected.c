/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the paths of the most deflected messages. */
#include "lab/measures/deflected.h"

#include <stdio.h>

#include "sim/topology/walk.h"

struct most {
    struct oche_world_deflected_path ways[OCHE_DEFLECTED_SHOWN];
    uint32_t count;
};

static bool is_more(const struct oche_world_deflected_path *a,
                    const struct oche_world_deflected_path *b)
{
    if (a->deflections != b->deflections)
        return a->deflections > b->deflections;
    return a->count > b->count; /* if the counts are equal, the earlier flow stays first */
}

static void keep(void *context, const struct oche_world_deflected_path *way)
{
    struct most *most = context;
    uint32_t at = most->count;

    while (at > 0 && is_more(way, &most->ways[at - 1]))
        at--;
    if (at == OCHE_DEFLECTED_SHOWN)
        return;
    most->count += most->count < OCHE_DEFLECTED_SHOWN;
    for (uint32_t i = most->count - 1; i > at; i--)
        most->ways[i] = most->ways[i - 1];
    most->ways[at] = *way;
}

/*
 * Adds a word to `text` (of OCHE_DEFLECTED_BYTES bytes) if there is room. `deflected`: adds a star
 * to the word.
 */
static void add_word(char *text, size_t *used, const char *word, bool deflected)
{
    int length = snprintf(text + *used, OCHE_DEFLECTED_BYTES - *used, "%s%s%s",
                          *used > 0 ? " " : "", word, deflected ? "*" : "");

    if (length > 0 && (size_t)length < OCHE_DEFLECTED_BYTES - *used)
        *used += (size_t)length;
}

static void add_node(const struct oche_topology *topology, char *text, size_t *used, uint32_t node,
                     bool deflected)
{
    add_word(text, used, topology->nodes[node].name, deflected);
}

static void fill(struct oche_deflected_line *line, const struct oche_world *world,
                 const struct oche_world_deflected_path *way)
{
    const struct oche_topology *topology = oche_world_topology(world);
    struct oche_walk walk;
    size_t used = 0, taken = 0;

    oche_world_walk(world, way->flow, false, &walk);
    line->flow = way->flow;
    line->deflections = way->deflections;
    line->links = way->count;
    line->ordinary_links = walk.count;
    for (uint32_t i = 0; i < walk.count; i++)
        add_node(topology, line->ordinary, &used,
                 oche_topology_node_of_port(topology, walk.ports[i]), false);
    if (walk.end == OCHE_WALK_ARRIVES)
        add_node(topology, line->ordinary, &used, oche_world_flows(world)->plan[way->flow].dst,
                 false);
    for (uint32_t i = 0; i < way->count; i++)
        add_node(topology, line->taken, &taken,
                 oche_topology_node_of_port(topology, way->hops[i].port), way->hops[i].deflected);
    if (way->arrives)
        add_node(topology, line->taken, &taken, oche_world_flows(world)->plan[way->flow].dst,
                 false);
}

void oche_deflected_take(struct oche_deflected *deflected, const struct oche_world *world)
{
    struct most most = {.count = 0};

    *deflected = (struct oche_deflected){.count = 0};
    oche_world_deflected_paths(world, keep, &most);
    for (uint32_t i = 0; i < most.count; i++)
        fill(&deflected->lines[deflected->count++], world, &most.ways[i]);
}
