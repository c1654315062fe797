/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest-path ECMP routes for any topology, in the form that fabric/switch.h wants: a group is a
 * switch with hosts (in the order of switches); each other switch has, for each group, the set of
 * ports that lie on a shortest path to it, in port order. Switches with equal tables share them: in
 * a fat tree all ToRs do, all cores, and the aggregation switches of a pod.
 *
 * What follows from distances is here too: hops, a lower bound on the time of any path, and a
 * partition of the nodes over threads.
 */
#ifndef OCHE_SIM_TOPOLOGY_ROUTES_H
#define OCHE_SIM_TOPOLOGY_ROUTES_H

#include "params/error.h"
#include "sim/topology/topology.h"

#define OCHE_PATH_LINKS 64 /* most links of the longest shortest path between two hosts */

struct oche_topology_routes {
    const struct oche_topology *topology;
    uint32_t group_count;
    uint32_t *switch_of_group; /* node numbers */
    struct oche_routes *of;    /* by switch: node - host_count. Valid until the routes are freed */
    uint32_t table_count;      /* number of distinct tables that `of` refers to */
    uint16_t *distance;        /* links between the ToRs of two groups, [a * group_count + b] */
    struct oche_route_memory *memory;
};

/*
 * Makes routes for `topology`, which must outlive them. Returns false, with an error of one line,
 * if some path is longer than OCHE_PATH_LINKS or memory runs out; then nothing needs to be freed.
 */
bool oche_topology_route(const struct oche_topology *topology, struct oche_topology_routes *routes,
                         struct oche_error *error);
/*
 * The same without the links (by number) that are `dead`. Groups keep their numbers; a group that
 * cannot be reached has an empty set. With up_down, paths only go up and then down
 * (sim/topology/onward.h defines up): down as soon as there is a path down, else up by the shortest
 * path. Then no failure can make ports wait for each other in a cycle. If no link is dead and the
 * topology's type is up_down, these are the shortest paths.
 */
bool oche_topology_route_around(const struct oche_topology *topology, const bool *dead,
                                bool up_down, struct oche_topology_routes *routes,
                                struct oche_error *error);
void oche_topology_routes_free(struct oche_topology_routes *routes);

/*
 * Returns the number of links on a shortest path between two hosts: 2 below the same ToR, 0 from a
 * host to itself.
 */
uint32_t oche_topology_hops(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst);

/*
 * The links from `src` to `dst`, in order: at each step the highest rate and the smallest delay
 * among all links that a shortest path may use there. No path is faster; where all shortest paths
 * are alike (in every type except some topologies from_file), this is the path.
 */
struct oche_path {
    uint32_t links;
    uint64_t rate_bps[OCHE_PATH_LINKS];
    oche_time delay[OCHE_PATH_LINKS];
};
/* `src` and `dst` must differ. Uses scratch memory of `routes`: one thread at a time. */
void oche_topology_path(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst,
                        struct oche_path *path);

/*
 * A message as frames: first (or only), equal middles, last. Bytes are those on the line, with
 * OCHE_GAP_BYTES.
 */
struct oche_frames {
    uint64_t count;
    uint32_t first_bytes, middle_bytes, last_bytes;
};

/*
 * Returns the time from the first bit leaving the sender until the last frame has arrived
 * completely, for a message alone in the network: each hop stores a frame, then forwards it, and
 * frames queue behind each other. With s(f, l) the serialisation time of frame f on link l, rounded
 * up, this is
 *
 *     sum of delays + max over 1 <= a <= b <= links of
 *         sum of s(first, 1 … a) + sum of s(middle, a … b)
 *         + (count - 3) * max s(middle, a … b) + sum of s(last, b … links)
 *
 * for three frames or more (the longest path through the grid of frames and links), which for equal
 * frames is the familiar sum of s + (count - 1) * max s. Slowdowns use it as the ideal FCT.
 */
oche_time oche_path_ideal(const struct oche_path *path, const struct oche_frames *frames);

/*
 * Returns the time for a frame of `bytes` there and one of `back_bytes` back, alone in the network.
 */
oche_time oche_path_round_trip(const struct oche_path *path, const struct oche_path *back,
                               uint32_t bytes, uint32_t back_bytes);

/*
 * Computes, for each port of each switch (at nodes[n].first_port + port), the fan-out: by how many
 * of the switch's ports packets that came in at this port can leave; and the fan-in: at how many
 * ports packets that leave by this port can have come in. All paths from any host to any other
 * count. A host's port has 0. Both arrays have room for every port. Uses only topology, group_count
 * and of from `routes`.
 */
void oche_topology_fan(const struct oche_topology_routes *routes, uint32_t *fan_out,
                       uint32_t *fan_in);

/*
 * Assigns each node to one of `parts` (threads): the nodes of a pod stay together, and pods are
 * dealt in order, in blocks of equal work (the ports of a switch; a host's count double, since
 * hosts run the transport). A switch without a pod goes to the part that most of its links lead to
 * if that keeps the balance, else to the least loaded part. With fewer pods than parts, the blocks
 * are ToRs with their hosts; with fewer ToRs than parts, single nodes. Returns how many parts are
 * in use. A pure function of its arguments.
 */
uint32_t oche_topology_partition(const struct oche_topology *topology, uint32_t parts,
                                 uint16_t *part_of_node);

#endif
