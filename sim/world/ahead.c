/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a run has ahead of it, as far as its flows tell: their bytes or, of those that last
 * longer than the run, what their hosts' links carry in it.
 */
#include <stdlib.h>

#include "core/wire/packet.h"
#include "sim/world/internal.h"

#define MOST_FLOWS 1000000 /* that are looked at; the others are thought to be alike */
#define MOST_PATHS 1000

struct hosts {
    double *packets; /* by sender: packets of its flows */
    double links;    /* sum over paths */
    uint64_t paths;
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
static double carried(const struct oche_world *world, const double *wanted, double times)
{
    const struct oche_endpoint_packets packets = oche_world_packets(world->config);
    const double seconds = (double)world->config->run.duration / (double)OCHE_SEC;
    double sum = 0;

    for (uint32_t host = 0; host < world->topology.host_count; host++) {
        double rate = (double)oche_topology_port_link(&world->topology, host, 0)->rate_bps;
        double most = seconds * rate / 8 / (packets.middle_bytes + OCHE_GAP_BYTES);
        double own = wanted[host] * times;

        sum += seconds > 0 && own > most ? most : own;
    }
    return sum;
}

struct oche_ahead oche_world_ahead(const struct oche_world *world)
{
    const uint32_t payload_bytes = oche_world_packets(world->config).payload_bytes;
    const uint64_t every = world->config->hosts.ack_every_packets;
    struct oche_flow_walk walk = oche_flow_walk(&world->flows);
    struct hosts hosts = {.packets = oche_world_make(world->topology.host_count, sizeof(double))};
    struct oche_ahead ahead = {.payload_bytes = payload_bytes};
    const struct oche_flow_plan *plan;
    uint64_t seen = 0;

    while (seen < MOST_FLOWS && (plan = oche_flow_walk_next(&walk)) != NULL) {
        seen++;
        hosts.packets[plan->src] += (double)(bytes_of(world, plan) / payload_bytes + 1);
        if (plan->bytes > ahead.most_bytes)
            ahead.most_bytes = plan->bytes;
        if (hosts.paths < MOST_PATHS) {
            hosts.links += links_of(world, plan);
            hosts.paths++;
        }
    }
    if (seen > 0) {
        double packets = carried(world, hosts.packets, (double)world->flows.count / (double)seen);

        ahead.hops = packets * (hosts.links / (double)hosts.paths) * (1 + 1 / (double)every);
    }
    free(hosts.packets);
    return ahead;
}
