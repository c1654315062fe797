/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest-path ECMP routes for any topology, in the form of fabric/switch.h. Each switch with
 * hosts is a group; groups are in the order of these switches. For each group, every other switch
 * has the set of ports that lie on a shortest path to the group, in port order. Switches with equal
 * tables share one table: in a fat tree all ToRs share one, all cores one, the aggregation switches
 * of a pod one.
 *
 * Here too: the number of hops between hosts, a lower bound on a message's time, the fan-in and
 * fan-out of ports, and a partition of the nodes over threads.
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
    struct oche_routes *of;    /* by switch (node - host_count); valid until the routes are freed */
    uint32_t table_count;      /* number of distinct tables that `of` refers to */
    /* element a * group_count + b: links between the switches of groups a and b */
    uint16_t *distance;
    struct oche_route_memory *memory;
};

/*
 * Makes routes for `topology`, which must outlive them. Returns false, with an error of one line,
 * if some path is longer than OCHE_PATH_LINKS or memory runs out; then nothing needs to be freed.
 */
bool oche_topology_route(const struct oche_topology *topology, struct oche_topology_routes *routes,
                         struct oche_error *error);
/*
 * Makes routes that avoid the links for which `dead` (by link) is true. Groups keep their numbers;
 * a group that cannot be reached has an empty port set. With up_down, paths only go up and then
 * down (sim/topology/onward.h defines up): a switch sends down if it has a path down, else up by
 * the shortest path. So no failure can make ports wait for each other in a cycle. If no link is
 * dead and the topology's type is up_down, the up-down paths are the shortest paths.
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
 * The links from `src` to `dst`, in order: for each step the highest rate and the smallest delay
 * among all links that a shortest path may use at that step. No path is faster. If all shortest
 * paths have equal rates and delays (always, except in some topologies from_file), each of them is
 * exactly this fast.
 */
struct oche_path {
    uint32_t links;
    uint64_t rate_bps[OCHE_PATH_LINKS];
    oche_time delay[OCHE_PATH_LINKS];
};
/*
 * Finds the path from `src` to `dst`, which must differ. Uses scratch memory in `routes`: only one
 * thread at a time may call.
 */
void oche_topology_path(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst,
                        struct oche_path *path);

/*
 * A message as frames: the first (or only) frame, middle frames of equal size, the last frame.
 * Sizes are bytes on the line, including OCHE_GAP_BYTES.
 */
struct oche_frames {
    uint64_t count;
    uint32_t first_bytes, middle_bytes, last_bytes;
    /* bytes of the frame that asks for them, on the way back; 0: there is none */
    uint32_t request_bytes;
};

/*
 * Returns the time that a message takes alone in the network, from when its first bit leaves the
 * sender until its last frame has arrived completely. Each hop stores a frame, then forwards it,
 * and frames queue behind each other. With s(f, l) for the serialisation time of frame f on link l,
 * rounded up, this time is
 *
 *     sum of delays + max over 1 <= a <= b <= links of
 *         sum of s(first, 1 … a) + sum of s(middle, a … b)
 *         + (count - 3) * max s(middle, a … b) + sum of s(last, b … links)
 *
 * for three frames or more. It is the longest path through the grid of frames and links. For equal
 * frames the maximum is the well-known sum of s + (count - 1) * max s. Slowdowns use this time as
 * the ideal FCT.
 */
oche_time oche_path_ideal(const struct oche_path *path, const struct oche_frames *frames);

/*
 * Returns the time of a round trip alone in the network: a frame of `bytes` on `path`, then a frame
 * of `back_bytes` on `back`.
 */
oche_time oche_path_round_trip(const struct oche_path *path, const struct oche_path *back,
                               uint32_t bytes, uint32_t back_bytes);

/* The longest round trip between two hosts. */
struct oche_farthest {
    oche_time round_trip;
    uint64_t bytes; /* most that the slower one of two hosts' links carries in their round trip */
};

/*
 * Finds the longest round trip, alone in the network, of a frame of `bytes` and one of `back_bytes`
 * that answers it, and `later`: over all pairs of hosts, and all of the shortest paths of each
 * pair, as ECMP may choose any of them. `routes` are those of oche_topology_route. `up_down`: the
 * topology's type says so (struct oche_topology_type), which makes it faster.
 */
struct oche_farthest oche_topology_farthest(const struct oche_topology_routes *routes, bool up_down,
                                            uint32_t bytes, uint32_t back_bytes, oche_time later);

/*
 * Computes two numbers for each port of each switch, at index nodes[n].first_port + port. Fan-out:
 * the number of the switch's ports by which packets that came in at this port can leave. Fan-in:
 * the number of ports at which packets that leave by this port can come in. All paths from any host
 * to any other count. A host's port has 0. Both arrays have room for every port of the network. Of
 * `routes`, reads only the members topology, group_count and of.
 */
void oche_topology_fan(const struct oche_topology_routes *routes, uint32_t *fan_out,
                       uint32_t *fan_in);

/*
 * Assigns each node to one of `parts` parts (threads). The nodes of a pod stay together: a pod is a
 * block, and the parts get blocks in order, with about equal work. work[n] is that of node n; if
 * `work` is NULL, a switch's is the number of its ports and a host's twice that, because hosts run
 * the transport. If there are fewer pods than parts, each block is a ToR with its hosts; if there
 * are fewer ToRs than parts, a single node. A switch without a pod goes to the part that most of
 * its links lead to if that keeps the balance, else to the least loaded part. Returns how many
 * parts are in use. Equal arguments give equal results.
 */
uint32_t oche_topology_partition(const struct oche_topology *topology, uint32_t parts,
                                 const uint64_t *work, uint16_t *part_of_node);

#endif
