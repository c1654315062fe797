/* SPDX-License-Identifier: Apache-2.0 */
/* Hops, paths, and the time of a message alone in the network. The formulas are in routes.h. */
#include <string.h>

#include "sim/topology/route_memory.h"
#include "sim/topology/routes.h"

static uint32_t distance(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst)
{
    const uint32_t *group_of = routes->of[0].group_of;

    return routes->distance[(size_t)group_of[src] * routes->group_count + group_of[dst]];
}

uint32_t oche_topology_hops(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst)
{
    return src == dst ? 0 : distance(routes, src, dst) + 2;
}

static void add_link(struct oche_path *path, const struct oche_topology_link *link)
{
    path->rate_bps[path->links] = link->rate_bps;
    path->delay[path->links++] = link->delay;
}

/*
 * Goes one link further towards `group`, from all `count` switches of the current layer. Adds one
 * link to `path`, with the best rate and the best delay of all links taken. The switches reached
 * become the current layer; returns their number.
 */
static uint32_t step(const struct oche_topology_routes *routes, uint32_t group, uint32_t count,
                     struct oche_path *path)
{
    const struct oche_topology *topology = routes->topology;
    struct oche_route_memory *memory = routes->memory;
    struct oche_topology_link best = {.delay = OCHE_NEVER};
    uint32_t found = 0, *swap;

    memory->epoch++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = memory->layer[i];
        const struct oche_routes *of = &routes->of[node - topology->host_count];
        struct oche_port_set set = of->sets[of->set_of_group[group]];

        for (uint32_t p = 0; p < set.count; p++) {
            uint32_t port = of->ports[set.first + p];
            const struct oche_topology_link *link = oche_topology_port_link(topology, node, port);
            uint32_t peer = oche_topology_port(topology, node, port)->peer;
            uint32_t *mark = &memory->mark[peer - topology->host_count];

            if (link->rate_bps > best.rate_bps)
                best.rate_bps = link->rate_bps;
            best.delay = oche_time_min(best.delay, link->delay);
            if (*mark != memory->epoch)
                memory->next_layer[found++] = peer;
            *mark = memory->epoch;
        }
    }
    OCHE_MUST(found > 0);
    add_link(path, &best);
    swap = memory->layer;
    memory->layer = memory->next_layer;
    memory->next_layer = swap;
    return found;
}

void oche_topology_path(const struct oche_topology_routes *routes, uint32_t src, uint32_t dst,
                        struct oche_path *path)
{
    const struct oche_topology *topology = routes->topology;
    uint32_t group = routes->of[0].group_of[dst], steps, count = 1;

    OCHE_MUST(src != dst && src < topology->host_count && dst < topology->host_count);
    steps = distance(routes, src, dst);
    path->links = 0;
    add_link(path, oche_topology_port_link(topology, src, 0));
    routes->memory->layer[0] = oche_topology_port(topology, src, 0)->peer;
    for (uint32_t i = 0; i < steps; i++)
        count = step(routes, group, count, path);
    add_link(path, oche_topology_port_link(topology, dst, 0));
}

/* Sets sum[l] to the time that a frame of `bytes` takes on links 0 … l-1 (without delays). */
static void sums(const struct oche_path *path, uint32_t bytes, oche_time *sum)
{
    sum[0] = 0;
    for (uint32_t l = 0; l < path->links; l++)
        sum[l + 1] = sum[l] + oche_time_of_bytes(bytes, path->rate_bps[l]);
}

/*
 * Returns the longest path through the grid of frames and links (see oche_path_ideal) for a first
 * frame, `middles` middle frames and a last frame.
 */
static oche_time longest(const struct oche_path *path, const struct oche_frames *frames,
                         uint64_t middles)
{
    oche_time first[OCHE_PATH_LINKS + 1], middle[OCHE_PATH_LINKS + 1], last[OCHE_PATH_LINKS + 1];
    oche_time longest = 0;
    uint32_t links = path->links;

    sums(path, frames->first_bytes, first);
    sums(path, frames->middle_bytes, middle);
    sums(path, frames->last_bytes, last);
    for (uint32_t a = 0; a < links; a++) {
        oche_time slowest = 0;

        for (uint32_t b = a; b < links; b++) {
            oche_time one = middle[b + 1] - middle[b], time;

            if (middles == 0 && b > a)
                break;
            slowest = one > slowest ? one : slowest;
            time = first[a + 1] + last[links] - last[b];
            if (middles > 0)
                time += middle[b + 1] - middle[a] + (middles - 1) * slowest;
            longest = time > longest ? time : longest;
        }
    }
    return longest;
}

oche_time oche_path_ideal(const struct oche_path *path, const struct oche_frames *frames)
{
    oche_time time = 0;

    OCHE_MUST(frames->count > 0 && path->links > 0 && path->links <= OCHE_PATH_LINKS);
    for (uint32_t l = 0; l < path->links; l++) {
        time += path->delay[l];
        if (frames->count == 1)
            time += oche_time_of_bytes(frames->first_bytes, path->rate_bps[l]);
    }
    return frames->count == 1 ? time : time + longest(path, frames, frames->count - 2);
}

oche_time oche_path_round_trip(const struct oche_path *path, const struct oche_path *back,
                               uint32_t bytes, uint32_t back_bytes)
{
    return oche_path_ideal(path, &(struct oche_frames){.count = 1, .first_bytes = bytes}) +
           oche_path_ideal(back, &(struct oche_frames){.count = 1, .first_bytes = back_bytes});
}
