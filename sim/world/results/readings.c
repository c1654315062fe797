/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of hosts and switches, of this process or of others. */
#include "sim/world/results/readings.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/sparse_memory.h"

static bool is_gathered(const struct oche_world *world)
{
    return world->gathered != NULL && world->gathered->all;
}

void oche_world_read_host(const struct oche_world *world, uint32_t number,
                          struct oche_host_reading *reading)
{
    if (is_gathered(world)) {
        oche_packed_open(world->gathered->hosts[number], reading, sizeof(*reading));
        return;
    }
    struct oche_host *host = world->hosts[number];
    const struct oche_pause *pause = oche_host_pause(host);

    *reading = (struct oche_host_reading){
        .nic = *oche_host_stats(host),
        .late_packets = oche_host_late_packets(host),
        .corrupt_bytes = oche_host_corrupt_bytes(host),
        .slow = oche_slow_host_stats(host),
        .paused = pause->mask != 0,
    };
    oche_host_counters(host, reading->counted);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        reading->port.pauses_received[cls] = oche_pause_received(pause, cls);
        reading->port.paused_time[cls] = oche_pause_time(pause, cls, world->network.now);
    }
    oche_slow_host_pauses(host, world->network.now, &reading->port);
}

void oche_world_read_port(const struct oche_world *world, uint32_t number, uint32_t port,
                          struct oche_port_reading *reading)
{
    const struct oche_topology *topology = &world->topology;
    const struct oche_switch *sw = world->switches[number];

    if (is_gathered(world)) {
        uint32_t first = topology->nodes[topology->host_count + number].first_port;

        oche_packed_open(world->gathered->ports[first + port], reading, sizeof(*reading));
        return;
    }
    *reading = (struct oche_port_reading){.paused = 0};
    oche_switch_port_stats(sw, port, world->network.now, &reading->stats);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_switch_is_paused(sw, port, cls))
            reading->paused |= UINT64_C(1) << cls;
}

void oche_world_read_switch(const struct oche_world *world, uint32_t number,
                            struct oche_switch_reading *reading)
{
    if (is_gathered(world)) {
        oche_packed_open(world->gathered->switches[number], reading, sizeof(*reading));
        return;
    }
    memset(reading, 0, sizeof(*reading));
    reading->occupied_bytes = oche_switch_occupied_bytes(world->switches[number]);
    for (uint32_t m = 0; m < world->config->mechanism_count; m++)
        oche_switch_mechanism_counters(world->switches[number], m, reading->mechanisms[m]);
}

uint64_t oche_world_read_arrived(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_plan *plan = &world->flows.plan[flow];

    return is_gathered(world) ? world->gathered->arrived[flow]
                              : oche_host_arrived_bytes(world->hosts[plan->dst], plan->connection);
}

const struct oche_rtt_chunk *oche_world_rtts(const struct oche_world *world, uint32_t host)
{
    return is_gathered(world) ? world->gathered->rtts[host] : oche_host_rtts(world->hosts[host]);
}

void oche_world_gathered_free(struct oche_world *world)
{
    struct oche_world_gathered *gathered = world->gathered;

    if (gathered == NULL)
        return;
    free(gathered->hosts);
    free(gathered->ports);
    free(gathered->switches);
    oche_packed_free(&gathered->store);
    free(gathered->rtts);
    oche_sparse_free(gathered->arrived);
    oche_arena_free(&gathered->arena);
    free(gathered);
}
