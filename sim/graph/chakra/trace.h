/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a rank, out of its file, in an order in which their dependencies allow them. */
#ifndef OCHE_SIM_GRAPH_CHAKRA_TRACE_H
#define OCHE_SIM_GRAPH_CHAKRA_TRACE_H

#include "sim/graph/chakra/groups.h"
#include "sim/graph/chakra/node.h"

struct oche_chakra_trace {
    struct oche_chakra_node *nodes; /* in the order of their ids */
    uint32_t *order; /* indices of nodes: those whose dependencies are met, the lowest id first */
    uint32_t count, room;
};

/*
 * Reads the file of rank `rank` and defines its groups. In each node `deps` become indices of
 * nodes, and `count` says how many count: `control`: ctrl_deps do, too. Returns false, with an
 * error, if it is wrong; then there is nothing to free.
 */
bool oche_chakra_trace_read(struct oche_chakra_trace *trace, const char *path, uint32_t rank,
                            bool control, struct oche_chakra_groups *groups,
                            struct oche_error *error);
void oche_chakra_trace_free(struct oche_chakra_trace *trace);

#endif
