/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow receivers and PAUSE storms, checked from the scenario and from the counters of other nodes.
 */
#include <stdlib.h>

#include "sim/world/internal.h"
#include "tests/swarm/judge.h"

#define U(x) ((unsigned long long)(x))

#define LONGEST_FRAME 9200 /* bytes, with headers and gap */

static bool receiver_is_slow(const struct swarm_run *run, uint32_t host, bool lossless,
                             struct swarm_verdict *verdict)
{
    const struct oche_world *world = run->world;
    const struct oche_slow_host_config *slow = &world->slow_hosts[host];
    struct oche_slow_host_stats stats = oche_world_slow_host(world, host);
    double most = (double)slow->drain_bps * (double)run->totals.measured / 8e12 + LONGEST_FRAME;
    struct oche_nic_stats nic;

    oche_world_host_stats(world, host, &nic);
    if (slow->drain_bps == 0)
        return true;
    if ((double)nic.data_bytes_received > most)
        return swarm_finding(verdict, "drain", "host %u received %llu bytes, and drains %.0f", host,
                             U(nic.data_bytes_received), most);
    if (stats.most_bytes > slow->buffer_bytes)
        return swarm_finding(verdict, "drain", "host %u held %llu bytes, and has room for %llu",
                             host, U(stats.most_bytes), U(slow->buffer_bytes));
    if (lossless && stats.dropped_packets > 0)
        return swarm_finding(verdict, "lossless", "host %u dropped %llu packets", host,
                             U(stats.dropped_packets));
    return true;
}

/* True if every entry leaves the headroom to `auto`. */
static bool xoff_is_auto(const struct oche_world_config *config)
{
    for (uint32_t i = 0; i < config->receiver_count; i++)
        if (config->receivers[i].xoff_bytes != OCHE_NEVER)
            return false;
    return true;
}

/* A host's storms hold the port at the other end for their whole time, less two frames. */
static bool storms_last(const struct swarm_run *run, uint32_t host,
                        const struct oche_switch_port_stats *port, struct swarm_verdict *verdict)
{
    const struct oche_world *world = run->world;
    const struct oche_slow_host_config *slow = &world->slow_hosts[host];
    uint64_t rate_bps = oche_topology_port_link(&world->topology, host, 0)->rate_bps;
    oche_time wanted[OCHE_CLASSES] = {0}, slack = oche_time_of_bytes(2 * LONGEST_FRAME, rate_bps);

    for (uint32_t i = 0; i < slow->storm_count; i++) {
        const struct oche_pause_storm *storm = &slow->storms[i];
        oche_time from = storm->at > world->measured_from ? storm->at : world->measured_from;
        oche_time until = oche_time_min(storm->until, world->network.now);

        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
            if ((storm->classes >> cls & 1) && until > oche_time_add(from, slack))
                wanted[cls] += until - from - slack;
    }
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (port->pause_sent_time[cls] < wanted[cls])
            return swarm_finding(verdict, "storm", "host %u paused class %u for %llu ps of %llu",
                                 host, cls, U(port->pause_sent_time[cls]), U(wanted[cls]));
    return true;
}

bool swarm_slow_hosts(const struct swarm_run *run, bool lossless, struct swarm_verdict *verdict)
{
    const struct oche_world *world = run->world;
    bool fine = true;

    if (world->slow_hosts == NULL)
        return true;
    struct oche_switch_port_stats *stats = calloc(world->network.port_count, sizeof(*stats));

    OCHE_MUST(stats != NULL);
    oche_world_port_stats(world, stats);
    for (uint32_t host = 0; fine && host < world->topology.host_count; host++) {
        uint32_t port = world->topology.nodes[host].first_port;

        fine = receiver_is_slow(run, host, lossless && xoff_is_auto(world->config), verdict) &&
               (world->config->failure_count > 0 || storms_last(run, host, &stats[port], verdict));
    }
    free(stats);
    return fine;
}

oche_time swarm_slow_until(const struct oche_world *world, oche_time last)
{
    const struct oche_world_config *config = world->config;
    oche_time drained = last, storms = 0;

    for (uint32_t i = 0; i < config->receiver_count; i++) {
        const struct oche_receiver_params *receiver = &config->receivers[i];
        oche_time until =
            oche_time_add(last, oche_time_of_bytes(receiver->buffer_bytes, receiver->drain_bps));

        drained = until > drained ? until : drained;
    }
    for (uint32_t i = 0; i < config->storm_count; i++)
        storms = config->storms[i].until > storms ? config->storms[i].until : storms;
    return storms > drained ? storms : drained;
}
