/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the work of a run from its flows: from their bytes or, for flows that last longer than
 * the run, from the bytes that their hosts' links can carry during the run.
 */
#include <stdlib.h>

#include "core/wire/packet.h"
#include "sim/world/internal.h"

/*
 * Number of flows that are examined: the first flows of each source, and of other flows a sample
 * spread over all. The rest of a source is assumed to be similar.
 */
#define MOST_FLOWS 1000000
#define MOST_PATHS 1000 /* spread over these flows */

struct hosts {
    double *packets; /* by sender: packets of its flows */
    double links;    /* sum over paths */
    uint64_t paths, seen;
    uint64_t path_every; /* of this many flows, the path of one is followed */
};

static double links_of(const struct oche_world *world, const struct oche_flow_plan *plan)
{
    struct oche_path path;

    oche_topology_path(&world->routes, plan->src, plan->dst, &path);
    return path.links;
}

/* Returns the flow's bytes or, if the application makes them at a given rate, those in the run. */
static uint64_t bytes_of(const struct oche_world *world, const struct oche_flow_plan *plan)
{
    const oche_time duration = world->config->run.duration;
    uint64_t made;

    if (plan->supply_bps == 0 || duration == 0)
        return plan->bytes;
    made = oche_bytes_in_time(duration, plan->supply_bps);
    return made < plan->bytes ? made : plan->bytes;
}

/* Returns how many packets the hosts' links carry of those that are wanted, in the whole run. */
static double carried(const struct oche_world *world, const double *wanted)
{
    const struct oche_endpoint_packets packets = oche_world_packets(world->config);
    const double seconds = (double)world->config->run.duration / (double)OCHE_SEC;
    double sum = 0;

    for (uint32_t host = 0; host < world->topology.host_count; host++) {
        double rate = (double)oche_topology_port_link(&world->topology, host, 0)->rate_bps;
        double most = seconds * rate / 8 / (packets.middle_bytes + OCHE_GAP_BYTES);

        sum += seconds > 0 && wanted[host] > most ? most : wanted[host];
    }
    return sum;
}

/* Looks at a flow. Returns its packets. */
static double add_flow(const struct oche_world *world, const struct oche_flow_plan *plan,
                       struct hosts *hosts, struct oche_work_estimate *estimate)
{
    if (plan->bytes > estimate->most_bytes)
        estimate->most_bytes = plan->bytes;
    if (hosts->seen++ % hosts->path_every == 0) {
        hosts->links += links_of(world, plan);
        hosts->paths++;
    }
    return (double)(bytes_of(world, plan) / estimate->payload_bytes + 1);
}

/* Draws up to `most` flows of a copy of the source, and adds all of its packets. */
static void add_source(const struct oche_world *world, const struct oche_flow_source *of,
                       uint32_t most, struct hosts *hosts, struct oche_work_estimate *estimate)
{
    struct oche_flow_source source = oche_flow_source_copy(of);
    const uint32_t before = source.made, seen = source.count < most ? source.count : most;
    const double weight = (double)source.count / seen;

    do
        hosts->packets[source.flow.src] += weight * add_flow(world, &source.flow, hosts, estimate);
    while (source.made - before + 1 < most && oche_flow_source_draw(&source));
}

static void add_all(const struct oche_world *world, struct hosts *hosts,
                    struct oche_work_estimate *estimate)
{
    const struct oche_flow_sources *sources = &world->flows.sources;
    const uint32_t count = world->flows.count, every = count / MOST_FLOWS + 1;
    const uint32_t most =
        count <= MOST_FLOWS || sources->count == 0 ? UINT32_MAX : MOST_FLOWS / sources->count + 1;

    hosts->path_every = (count < MOST_FLOWS ? count : MOST_FLOWS) / MOST_PATHS + 1;
    for (uint32_t i = 0, s = 0; i < count;) {
        if (s < sources->count && sources->list[s].first == i) {
            add_source(world, &sources->list[s], most, hosts, estimate);
            i += sources->list[s++].count;
            continue;
        }
        if (i % every == 0)
            hosts->packets[world->flows.plan[i].src] +=
                add_flow(world, &world->flows.plan[i], hosts, estimate) * every;
        i++;
    }
}

struct oche_work_estimate oche_world_estimate_work(const struct oche_world *world)
{
    const uint64_t every = world->config->hosts.ack_every_packets;
    struct hosts hosts = {.packets = oche_world_make(world->topology.host_count, sizeof(double))};
    struct oche_work_estimate estimate = {.payload_bytes =
                                              oche_world_packets(world->config).payload_bytes};

    add_all(world, &hosts, &estimate);
    if (hosts.paths > 0)
        estimate.hops = carried(world, hosts.packets) * (hosts.links / (double)hosts.paths) *
                        (1 + 1 / (double)every);
    free(hosts.packets);
    return estimate;
}
