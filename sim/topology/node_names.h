/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a topology's nodes, sorted, for files that name many of them. */
#ifndef OCHE_SIM_TOPOLOGY_NODE_NAMES_H
#define OCHE_SIM_TOPOLOGY_NODE_NAMES_H

#include "sim/topology/topology.h"

struct oche_node_names {
    const struct oche_topology *topology;
    const char **sorted; /* each also points to its struct oche_topology_node */
};

/* Sorts the names of `topology`, which must outlive them. */
struct oche_node_names oche_node_names_sort(const struct oche_topology *topology);
void oche_node_names_free(struct oche_node_names *names);

/* Returns the node called `name`, or UINT32_MAX. */
uint32_t oche_node_names_find(const struct oche_node_names *names, const char *name);

#endif
