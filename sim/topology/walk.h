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

/*
 * `of` has the routes by switch (node - host_count), `seed` is the run's, `symmetric` whether
 * switches choose by oche_topology_tier. src and dst differ.
 */
void oche_topology_walk(const struct oche_topology *topology, const struct oche_routes *of,
                        uint64_t seed, bool symmetric, uint32_t src, uint32_t dst,
                        uint32_t flow_hash, struct oche_walk *walk);

/*
 * Symmetric routing: the number for struct oche_switch_config that makes a flow's packets take the
 * same way there and back. What is chosen at a ToR, and at the top on the way down, is one of the
 * aggregation switches (or spines, then nothing is chosen on the way down); at an aggregation
 * switch, one of the cores. So ToRs and the top choose with one number, aggregation with another:
 * a flow's two directions meet at the same switches, if equal choices stand in the same order
 * everywhere and no two switches have several links to each other. Where they do not, walks of the
 * two directions differ (oche_topology_walks_back).
 */
uint32_t oche_topology_tier(const struct oche_topology *topology, uint32_t node);
/* Whether both walks arrive, and each takes the other's links in reverse order. */
bool oche_topology_walks_back(const struct oche_topology *topology, const struct oche_walk *there,
                              const struct oche_walk *back);

/* The node that a port (numbered as in ports above) belongs to. */
uint32_t oche_topology_node_of_port(const struct oche_topology *topology, uint32_t port);
/* The port at the other end of its link, likewise. */
uint32_t oche_topology_far_port(const struct oche_topology *topology, uint32_t port);
/* Writes its name, as oche_topology_port_name does; a host's is the host's own. */
void oche_topology_global_name(const struct oche_topology *topology, uint32_t port, char *text,
                               size_t text_bytes);

#endif
