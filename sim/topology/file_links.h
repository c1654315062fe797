/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of topology files. */
#ifndef OCHE_SIM_TOPOLOGY_FILE_LINKS_H
#define OCHE_SIM_TOPOLOGY_FILE_LINKS_H

#include "sim/topology/builder.h"
#include "sim/topology/statements.h"

/* The kind of a switch whose tier follows from its links. */
#define OCHE_TIER_BY_LINKS OCHE_NODE_KINDS

/*
 * Adds a link between two nodes, with rate and delay as texts with units. Returns false, with an
 * error at the file's line, if these are wrong, a host would have two links, or the nodes are the
 * same or both hosts.
 */
bool oche_file_link(struct oche_statements *file, struct oche_topology *topology, uint32_t a,
                    uint32_t b, const char *rate, const char *delay);

/* hpcc_topology.c: reads the rest of a file whose first line begins with a number, as HPCC's do. */
bool oche_hpcc_topology_read(struct oche_statements *file, struct oche_topology *topology,
                             uint32_t *links, bool *more);

/* htsim_topology.c: true if the line last taken is one of the head of htsim's fat trees. */
bool oche_htsim_topology_begins(const struct oche_statements *file);
/*
 * Reads htsim's fat tree from the beginning of the file. Returns false with an error at the file's
 * line. The switches have tiers and pods, and the topology has its summary and its remark; the
 * caller finishes it.
 */
bool oche_htsim_topology_read(struct oche_statements *file, struct oche_topology *topology);

#endif
