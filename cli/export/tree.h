/* SPDX-License-Identifier: Apache-2.0 */
/* A topology as a fat tree of htsim (.topo): the numbers of its tiers. */
#ifndef OCHE_CLI_EXPORT_TREE_H
#define OCHE_CLI_EXPORT_TREE_H

#include <stdio.h>

#include "params/error.h"
#include "sim/topology/topology.h"

struct oche_export_tier {
    uint64_t rate_bps; /* of downlinks */
    oche_time delay;
    uint32_t radix_down, radix_up, bundle, oversubscribed;
};

struct oche_export_tree {
    uint32_t hosts, pod_hosts, tiers;
    struct oche_export_tier tier[3];
    bool idle_spine; /* of a single switch, to which htsim needs a second tier */
};

/*
 * Finds the tree that a topology is. Returns false, with one line in `error`, if it is none, or one
 * that htsim does not accept.
 */
bool oche_export_tree_find(struct oche_export_tree *tree, const struct oche_topology *topology,
                           struct oche_error *error);
void oche_export_tree_print(const struct oche_export_tree *tree, FILE *out);

#endif
