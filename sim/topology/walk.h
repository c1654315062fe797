/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of one flow: the ports that send its packets, found with the switches' own routing
 * (fabric/ecmp.h). The next port depends only on the routes, the destination and the flow's hash,
 * so a flow that comes to a switch twice loops for ever.
 */
#ifndef OCHE_SIM_TOPOLOGY_WALK_H
#define OCHE_SIM_TOPOLOGY_WALK_H

#include "sim/topology/topology.h"

enum oche_walk_end {
    OCHE_WALK_ARRIVES,
    OCHE_WALK_LOOPS,   /* packets repeat ports[loop … count) for ever */
    OCHE_WALK_TOO_FAR, /* the path has more than OCHE_HOP_LIMIT links */
    OCHE_WALK_NO_ROUTE /* the switch that the last port leads to has no route to the destination */
};

/* A path. Port p of node n has number nodes[n].first_port + p of the topology. */
struct oche_walk {
    enum oche_walk_end end;
    uint32_t count;
    uint32_t loop; /* OCHE_WALK_LOOPS: index in `ports` where the loop begins */
    uint32_t ports[OCHE_HOP_LIMIT + 1]; /* the ports that send the packet; the source's is first */
};

/*
 * Follows the path of a flow from src to dst, which must differ. `of` has the routes by switch
 * (node - host_count), `seed` is the run's seed, and `symmetric` is true if all switches of a tier
 * have the same salt (oche_topology_tier).
 */
void oche_topology_walk(const struct oche_topology *topology, const struct oche_routes *of,
                        uint64_t seed, bool symmetric, uint32_t src, uint32_t dst,
                        uint32_t flow_hash, struct oche_walk *walk);

/*
 * Returns a switch's tier for struct oche_switch_config. With symmetric routing, tiers make the
 * packets of a flow's two directions pass the same switches. A ToR, and a core on the way down,
 * choose one of the aggregation switches (a spine has no choice on the way down); an aggregation
 * switch chooses one of the cores. So ToRs and cores share one number, and aggregation switches
 * have another. This needs choices in the same order at every switch, and at most one link between
 * two switches; otherwise the walks of the two directions differ (oche_topology_walks_back).
 */
uint32_t oche_topology_tier(const struct oche_topology *topology, uint32_t node);
/* True if both walks arrive and each uses the other's links in reverse order. */
bool oche_topology_walks_back(const struct oche_topology *topology, const struct oche_walk *there,
                              const struct oche_walk *back);

/* Returns the node that a port (numbered as in struct oche_walk) belongs to. */
uint32_t oche_topology_node_of_port(const struct oche_topology *topology, uint32_t port);
/* Returns the port at the other end of the port's link; both are numbered as in struct oche_walk.
 */
uint32_t oche_topology_far_port(const struct oche_topology *topology, uint32_t port);
/* Writes the port's name as oche_topology_port_name does; a host's port has the host's name. */
void oche_topology_global_name(const struct oche_topology *topology, uint32_t port, char *text,
                               size_t text_bytes);

#endif
