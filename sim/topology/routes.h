/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest-path ECMP routes for any topology, in the form that fabric/switch.h wants: a group is
 * a switch with hosts (in the order of switches); each other switch has, for each group, the set
 * of ports that lie on a shortest path to it, in port order. Switches whose tables are equal share
 * them: in a fat tree all ToR do, all cores, and the aggregation switches of a pod.
 *
 * What follows from distances lives here too: hops, the bound that no path beats, and a partition
 * of the nodes over threads.
 */
#ifndef OCHE_SIM_TOPOLOGY_ROUTES_H
#define OCHE_SIM_TOPOLOGY_ROUTES_H

#include "params/error.h"
#include "sim/topology/topology.h"

#define OCHE_PATH_LINKS 64 /* of the longest shortest path between two hosts */

struct oche_topology_routes {
    const struct oche_topology *topology;
    uint32_t group_count;
    uint32_t *switch_of_group; /* node numbers */
    struct oche_routes *of;    /* by switch: node - host_count. Valid until routes are freed */
    uint32_t table_count;      /* distinct tables that `of` refers to */
    uint16_t *distance;        /* links between the ToRs of two groups, [a * group_count + b] */
    struct oche_route_memory *memory;
};

/*
 * Makes routes for `topology`, which must outlive them. False with an error of one line if some
 * path is longer than OCHE_PATH_LINKS or memory is out; then nothing is left to free.
 */
bool oche_topology_route(const struct oche_topology *topology, struct oche_topology_routes *routes,
                         struct oche_error *error);
/*
 * The same without the links that are `dead`, by number. Groups keep their numbers; what cannot be
 * reached has an empty set. up_down: ways go up and then down only (sim/topology/onward.h says what
 * is up), down as soon as there is a way down, else up by the shortest; so that no failure makes
 * ports wait for each other in a circle. Where nothing is dead and the type of the topology is
 * up_down, that is the shortest way.
 */
bool oche_topology_route_around(const struct oche_topology *topology, const bool *dead,
                                bool up_down, struct oche_topology_routes *routes,
                                struct oche_error *error);
void oche_topology_routes_free(struct oche_topology_routes *routes);

/* Links on a shortest path between two hosts: 2 within a ToR, 0 from a host to itself. */
uint32_t oche_topology_hops(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst);

/*
 * The links from `src` to `dst`, in order: at each step the highest rate and the smallest delay
 * among all links that a shortest path may use there. No path beats it; where all shortest paths
 * are alike (every type but some from_file), it is the path.
 */
struct oche_path {
    uint32_t links;
    uint64_t rate_bps[OCHE_PATH_LINKS];
    oche_time delay[OCHE_PATH_LINKS];
};
/* `src` and `dst` must differ. Uses scratch memory of `routes`: one thread at a time. */
void oche_topology_path(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst,
                        struct oche_path *path);

/* A message as frames: first (`only`, if there is one), middles alike, last. Bytes on the line,
 * OCHE_GAP_BYTES included. */
struct oche_frames {
    uint64_t count;
    uint32_t first_bytes, middle_bytes, last_bytes;
};

/*
 * Time from the first bit leaving the sender until the last frame has arrived whole, for a
 * message alone in the network: every link stores a frame, then forwards it; frames queue behind
 * each other. With s(f, l) the serialisation of frame f on link l, rounded up, this is
 *
 *     sum of delays + max over 1 <= a <= b <= links of
 *         sum of s(first, 1 … a) + sum of s(middle, a … b)
 *         + (count - 3) * max s(middle, a … b) + sum of s(last, b … links)
 *
 * for three frames or more (the longest way through the grid of frames and links), which for equal
 * frames is the familiar sum of s + (count - 1) * max s. The ideal FCT of slowdowns.
 */
oche_time oche_path_ideal(const struct oche_path *path, const struct oche_frames *frames);

/* A frame of `bytes` there and one of `back_bytes` back, alone in the network. */
oche_time oche_path_round_trip(const struct oche_path *path, const struct oche_path *back,
                               uint32_t bytes, uint32_t back_bytes);

/*
 * For every port of every switch, by nodes[n].first_port + port: how many ports of the switch the
 * packets can leave by that come in there, and from how many ports those can come that leave
 * there, on the way of any host to any other (a host's own port: 0). Both have room for every port.
 * Of `routes`, topology, group_count and of are enough.
 */
void oche_topology_fan(const struct oche_topology_routes *routes, uint32_t *fan_out,
                       uint32_t *fan_in);

/*
 * Assigns each node to one of `parts` (threads): nodes of a pod together, pods in order and in
 * blocks of equal work (work: a switch's ports, twice a host's, since hosts run the transport),
 * switches without a pod to the part most of their links lead to if that keeps the balance, else
 * to the least loaded. With fewer pods than parts, ToRs with their hosts are the blocks; with
 * fewer ToRs, nodes. Returns how many parts are in use. A pure function of its arguments.
 */
uint32_t oche_topology_partition(const struct oche_topology *topology, uint32_t parts,
                                 uint16_t *part_of_node);

#endif
