/* SPDX-License-Identifier: Apache-2.0 */
/* The types of topology, one file each; topology.c lists them. */
#ifndef OCHE_SIM_TOPOLOGY_TYPES_H
#define OCHE_SIM_TOPOLOGY_TYPES_H

#include "sim/topology/topology.h"

extern const struct oche_topology_type oche_topology_star;
extern const struct oche_topology_type oche_topology_dumbbell;
extern const struct oche_topology_type oche_topology_parking_lot;
extern const struct oche_topology_type oche_topology_leaf_spine;
extern const struct oche_topology_type oche_topology_clos;
extern const struct oche_topology_type oche_topology_fat_tree;
extern const struct oche_topology_type oche_topology_from_file;

#endif
