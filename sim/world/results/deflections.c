/* SPDX-License-Identifier: Apache-2.0 */
/* The results of deflection: the switches' counters, and the paths that packets took. */
#include "fabric/iofd.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

static void add_switch(const uint64_t *values, const struct oche_switch_mechanism *mechanism,
                       uint64_t *sums)
{
    OCHE_MUST(mechanism->counter_count <= OCHE_MOST_MECHANISM_COUNTERS);
    for (unsigned c = 0; c < mechanism->counter_count; c++) {
        if (!mechanism->counters[c].peak)
            sums[c] += values[c];
        else if (values[c] > sums[c])
            sums[c] = values[c];
    }
}

void oche_world_add_mechanisms(const struct oche_world *world, struct oche_world_totals *totals)
{
    const struct oche_world_config *config = world->config;

    for (uint32_t number = 0; number < config->mechanism_count; number++) {
        unsigned m = 0;

        while (oche_switch_mechanisms[m] != NULL &&
               oche_switch_mechanisms[m] != config->mechanisms[number])
            m++;
        if (oche_switch_mechanisms[m] == NULL)
            continue; /* a mechanism of a test, which is not in the registry */
        totals->has_mechanism[m] = true;
        for (uint32_t i = 0; i < world->topology.switch_count; i++) {
            struct oche_switch_reading reading;

            oche_world_read_switch(world, i, &reading);
            add_switch(reading.mechanisms[number], config->mechanisms[number],
                       totals->mechanisms[m]);
        }
    }
}

static void add_way(struct oche_path_length_sum *sum, const struct oche_flow_path *way,
                    uint32_t shortest)
{
    sum->flows += way->packets > 0;
    sum->packets += way->packets;
    sum->links += way->links;
    sum->shortest += (uint64_t)way->packets * shortest;
    sum->added = sum->links - sum->shortest;
}

/* Adds one flow; `way` sums up its packets that arrived after warm-up. */
static void add_flow(const struct oche_world *world, uint32_t flow,
                     const struct oche_flow_path *way, uint64_t short_bytes,
                     struct oche_world_path_lengths *ways)
{
    const struct oche_flow_plan *plan = &world->flows.plan[flow];
    uint32_t shortest = oche_topology_hops(&world->routes, plan->src, plan->dst);

    add_way(&ways->all, way, shortest);
    if (world->flows.sent[flow].started < world->config->run.warmup || plan->bytes > short_bytes)
        return;
    add_way(&ways->short_ones, way, shortest);
    if (way->deflections > 0)
        add_way(&ways->deflected, way, shortest);
}

void oche_world_path_lengths(const struct oche_world *world, struct oche_world_path_lengths *ways)
{
    const struct oche_iofd_params *iofd = oche_world_mechanism(world->config, &oche_iofd);

    *ways = (struct oche_world_path_lengths){.known = iofd != NULL};
    if (iofd == NULL)
        return;
    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        struct oche_flow_path way = world->flows.paths[i];

        if (world->flows.sent[i].started == OCHE_NEVER)
            continue;
        way.packets -= world->paths_before[i].packets;
        way.links -= world->paths_before[i].links;
        add_flow(world, i, &way, iofd->short_bytes, ways);
    }
    for (uint32_t node = world->topology.host_count; node < world->network.node_count; node++)
        ways->unnoted += world->network.nodes[node].deflections.dropped;
}

/* Returns the connection's flow whose message begins with `psn`; PSNs begin at 0. */
static uint32_t flow_of(const struct oche_world *world, uint32_t qpn, uint32_t psn)
{
    const struct oche_flows *flows = &world->flows;
    const struct oche_connection *connection = &flows->connections[oche_connection_of(qpn)];
    uint64_t mtu = world->config->hosts.mtu_bytes, first = 0;

    for (uint32_t i = 0; i < connection->queued; i++) {
        uint32_t flow = flows->order[connection->first + i];

        if ((first & OCHE_PSN_MASK) == psn)
            return flow;
        first += (flows->plan[flow].bytes + mtu - 1) / mtu;
    }
    return OCHE_NO_FLOW;
}

void oche_world_deflections(const struct oche_world *world,
                            void (*each)(void *context,
                                         const struct oche_world_deflection *deflection),
                            void *context)
{
    for (uint32_t node = world->topology.host_count; node < world->network.node_count; node++) {
        const struct oche_deflection_notes *notes = &world->network.nodes[node].deflections;

        for (uint32_t i = 0; i < notes->count; i++) {
            const struct oche_deflection_note *note = &notes->notes[i];
            struct oche_world_deflection deflection = {
                .time = note->time,
                .flow = flow_of(world, note->qpn, note->psn),
                .node = node,
                .in_port = note->in_port,
                .port = note->port,
                .lane = note->lane,
                .tokens = note->tokens,
            };

            each(context, &deflection);
        }
    }
}
