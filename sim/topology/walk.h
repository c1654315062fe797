/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of one flow: the ports that send its packets, as the switches' own routing picks them
 * (fabric/ecmp.h). Nothing but the routes, the destination and the flow's hash decides it, so a
 * flow that comes to a switch twice goes round for ever.
 */
#ifndef OCHE_SIM_TOPOLOGY_WALK_H
#define OCHE_SIM_TOPOLOGY_WALK_H

#include "sim/topology/topology.h"

enum oche_walk_end {
    OCHE_WALK_ARRIVES,
    OCHE_WALK_LOOPS,   /* ports[loop … count) for ever */
    OCHE_WALK_TOO_FAR, /* more than OCHE_HOP_LIMIT links */
    OCHE_WALK_NO_ROUTE /* at the switch that the last port leads to */
};

struct oche_walk {
    enum oche_walk_end end;
    uint32_t count;
    uint32_t loop;
    uint32_t ports[OCHE_HOP_LIMIT + 1]; /* topology->nodes[node].first_port + port; the source's
                                           first */
};

/* `of` has the routes by switch (node - host_count), `seed` is the run's. src and dst differ. */
void oche_topology_walk(const struct oche_topology *topology, const struct oche_routes *of,
                        uint64_t seed, uint32_t src, uint32_t dst, uint32_t flow_hash,
                        struct oche_walk *walk);

/* The node that a port (numbered as in ports above) belongs to. */
uint32_t oche_topology_node_of_port(const struct oche_topology *topology, uint32_t port);
/* The port at the other end of its link, likewise. */
uint32_t oche_topology_far_port(const struct oche_topology *topology, uint32_t port);
/* Writes its name, as oche_topology_port_name does; a host's is the host's own. */
void oche_topology_global_name(const struct oche_topology *topology, uint32_t port, char *text,
                               size_t text_bytes);

#endif
