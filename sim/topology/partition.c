/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns nodes to threads, by the rule at oche_topology_partition in routes.h. */
#include <stdlib.h>

#include "sim/topology/routes.h"

#define FREE    UINT32_MAX /* the node is in no block: it gets a part after the blocks */
#define NOWHERE UINT16_MAX

/* Returns the work of a node if nothing is known about it. */
static uint64_t usual_work(const struct oche_topology *topology, uint32_t node)
{
    const struct oche_topology_node *n = &topology->nodes[node];

    return n->kind == OCHE_NODE_HOST ? 2 * (uint64_t)n->port_count : n->port_count;
}

/* Returns the switch of a host; for a switch, the switch itself. */
static uint32_t tor_of(const struct oche_topology *topology, uint32_t node)
{
    return node < topology->host_count ? oche_topology_port(topology, node, 0)->peer : node;
}

/* Makes each pod a block; blocks are numbered in the order of nodes. Returns how many there are. */
static uint32_t blocks_by_pod(const struct oche_topology *topology, uint32_t *block_of,
                              uint32_t *scratch)
{
    uint32_t nodes = oche_topology_nodes(topology), count = 0;

    for (uint32_t n = 0; n < nodes; n++)
        scratch[n] = FREE;
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t pod = topology->nodes[n].pod;

        block_of[n] = FREE;
        if (pod == OCHE_NO_POD)
            continue;
        OCHE_MUST(pod < nodes);
        if (scratch[pod] == FREE)
            scratch[pod] = count++;
        block_of[n] = scratch[pod];
    }
    return count;
}

static uint32_t blocks_by_tor(const struct oche_topology *topology, uint32_t *block_of)
{
    uint32_t count = 0;

    for (uint32_t n = topology->host_count; n < oche_topology_nodes(topology); n++)
        block_of[n] = topology->nodes[n].kind == OCHE_NODE_TOR ? count++ : FREE;
    for (uint32_t n = 0; n < topology->host_count; n++)
        block_of[n] = block_of[tor_of(topology, n)];
    return count;
}

/* Makes every node a block: each switch, then its hosts. Returns the number of blocks. */
static uint32_t blocks_by_node(const struct oche_topology *topology, uint32_t *block_of)
{
    uint32_t count = 0;

    for (uint32_t n = topology->host_count; n < oche_topology_nodes(topology); n++) {
        block_of[n] = count++;
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            uint32_t peer = oche_topology_port(topology, n, p)->peer;

            if (peer < topology->host_count)
                block_of[peer] = count++;
        }
    }
    return count;
}

/*
 * Assigns blocks to parts in order. A part's share is the work that is left, divided by the number
 * of parts that are left. Each part takes at least one block. It takes a further block if at least
 * half of the block's work fits into the share and a block remains for each later part.
 */
static void deal_blocks(const uint64_t *block_work, uint32_t blocks, uint32_t parts,
                        uint16_t *part_of_block, uint64_t *load)
{
    uint64_t left = 0;
    uint32_t block = 0;

    for (uint32_t b = 0; b < blocks; b++)
        left += block_work[b];
    for (uint32_t part = 0; part < parts; part++) {
        uint64_t share = left / (parts - part);

        load[part] = 0;
        while (block < blocks && (load[part] == 0 || part + 1 == parts ||
                                  (blocks - block > parts - part - 1 &&
                                   load[part] + block_work[block] / 2 <= share))) {
            load[part] += block_work[block];
            part_of_block[block++] = (uint16_t)part;
        }
        left -= load[part];
    }
}

/*
 * Returns the part for a switch without a block. Of the parts whose load stays within `limit`, this
 * is the part with the most links to the switch. If all parts would exceed `limit`, it is the least
 * loaded part.
 */
static uint16_t place(const struct oche_topology *topology, uint32_t node, uint64_t work,
                      const uint16_t *part_of_node, uint32_t parts, const uint64_t *load,
                      uint64_t limit, uint32_t *links)
{
    uint32_t best = 0;

    for (uint32_t part = 0; part < parts; part++)
        links[part] = 0;
    for (uint32_t p = 0; p < topology->nodes[node].port_count; p++) {
        uint16_t part = part_of_node[oche_topology_port(topology, node, p)->peer];

        if (part != NOWHERE)
            links[part]++;
    }
    for (uint32_t part = 1; part < parts; part++) {
        bool fits = load[part] + work <= limit, best_fits = load[best] + work <= limit;

        if (fits != best_fits                    ? fits
            : fits && links[part] != links[best] ? links[part] > links[best]
                                                 : load[part] < load[best])
            best = part;
    }
    return (uint16_t)best;
}

struct scratch {
    uint32_t *block_of, *pods, *links;
    uint64_t *work, *block_work, *load;
    uint16_t *part_of_block;
};

static void deal(const struct oche_topology *topology, uint32_t parts, uint16_t *part_of_node,
                 struct scratch *scratch)
{
    uint32_t nodes = oche_topology_nodes(topology), blocks;
    uint64_t total = 0, limit;

    blocks = blocks_by_pod(topology, scratch->block_of, scratch->pods);
    if (blocks < parts)
        blocks = blocks_by_tor(topology, scratch->block_of);
    if (blocks < parts)
        blocks = blocks_by_node(topology, scratch->block_of);
    for (uint32_t n = 0; n < nodes; n++) {
        total += scratch->work[n];
        if (scratch->block_of[n] != FREE)
            scratch->block_work[scratch->block_of[n]] += scratch->work[n];
    }
    deal_blocks(scratch->block_work, blocks, parts, scratch->part_of_block, scratch->load);
    for (uint32_t n = 0; n < nodes; n++)
        part_of_node[n] =
            scratch->block_of[n] == FREE ? NOWHERE : scratch->part_of_block[scratch->block_of[n]];
    limit = total / parts + total / parts / 32; /* 3 % above the mean is balanced enough */
    for (uint32_t n = 0; n < nodes; n++) {
        if (part_of_node[n] != NOWHERE)
            continue;
        part_of_node[n] = place(topology, n, scratch->work[n], part_of_node, parts, scratch->load,
                                limit, scratch->links);
        scratch->load[part_of_node[n]] += scratch->work[n];
    }
}

uint32_t oche_topology_partition(const struct oche_topology *topology, uint32_t parts,
                                 const uint64_t *work, uint16_t *part_of_node)
{
    uint32_t nodes = oche_topology_nodes(topology);
    struct scratch scratch;

    OCHE_MUST(parts > 0);
    if (parts > nodes)
        parts = nodes;
    if (parts > NOWHERE)
        parts = NOWHERE;
    scratch = (struct scratch){.block_of = calloc(nodes, sizeof(uint32_t)),
                               .pods = calloc(nodes, sizeof(uint32_t)),
                               .links = calloc(parts, sizeof(uint32_t)),
                               .work = calloc(nodes, sizeof(uint64_t)),
                               .block_work = calloc(nodes, sizeof(uint64_t)),
                               .load = calloc(parts, sizeof(uint64_t)),
                               .part_of_block = calloc(nodes, sizeof(uint16_t))};
    if (scratch.block_of == NULL || scratch.pods == NULL || scratch.links == NULL ||
        scratch.work == NULL || scratch.block_work == NULL || scratch.load == NULL ||
        scratch.part_of_block == NULL) {
        /* Without memory, all nodes are one part, which is always correct. */
        for (uint32_t n = 0; n < nodes; n++)
            part_of_node[n] = 0;
        parts = 1;
    } else {
        for (uint32_t n = 0; n < nodes; n++)
            scratch.work[n] = work != NULL ? work[n] : usual_work(topology, n);
        deal(topology, parts, part_of_node, &scratch);
    }
    free(scratch.block_of);
    free(scratch.pods);
    free(scratch.links);
    free(scratch.work);
    free(scratch.block_work);
    free(scratch.load);
    free(scratch.part_of_block);
    return parts;
}
