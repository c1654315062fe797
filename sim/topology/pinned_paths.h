/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of single flows, from the file of static routes. One statement per path:
 *
 *     flow NUMBER HOST SWITCH [SWITCH …] HOST
 *
 * All packets of flow NUMBER from the first host to the second pass these switches, one after the
 * other. Where several links lead from one to the next, SWITCH:PORT says by which it leaves; PORT
 * is what follows the colon in a port's name, the neighbour's name or the port's number. From the
 * flow's source to its destination go data and what belongs to it; a statement from its destination
 * to its source is for the answers.
 */
#ifndef OCHE_SIM_TOPOLOGY_PINNED_PATHS_H
#define OCHE_SIM_TOPOLOGY_PINNED_PATHS_H

#include "fabric/pins.h"
#include "sim/topology/node_names.h"
#include "sim/topology/statements.h"

#define OCHE_PINNED_WORD "flow" /* begins such a statement, unless a node has this name */

struct oche_pinned_path {
    uint32_t flow, src, dst;
    uint32_t first, count; /* its hops are hops[first … first + count) */
    unsigned line;
};

struct oche_pinned_hop {
    uint32_t sw; /* the switch, counted from 0 */
    uint32_t port;
};

struct oche_pinned_paths {
    struct oche_pinned_path *paths;
    struct oche_pinned_hop *hops;
    uint32_t count, room, hop_count, hop_room;
    struct oche_pins *pins; /* by switch; NULL: there are no paths */
    struct oche_pin *places;
};

/* Reads the statement that `file` is at. Returns false with an error if it is no path. */
bool oche_pinned_paths_read(struct oche_pinned_paths *paths, struct oche_statements *file,
                            const struct oche_node_names *names);
/* Makes the switches' tables, which are empty at first; to be called when all paths are read. */
void oche_pinned_paths_make_tables(struct oche_pinned_paths *paths, uint32_t switches);
/*
 * Lets the packets to the path's end that have this hash take the path. Returns false if they have
 * one already.
 */
bool oche_pinned_paths_pin(struct oche_pinned_paths *paths, const struct oche_pinned_path *path,
                           uint32_t flow_hash);
void oche_pinned_paths_free(struct oche_pinned_paths *paths);

#endif
