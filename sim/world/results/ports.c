/* SPDX-License-Identifier: Apache-2.0 */
/* Detailed results of a world: counters of single ports and NICs, and the progress of flows. */
#include <string.h>

#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

/* All counters of struct oche_nic_stats are uint64_t. */
#define NIC_COUNTERS (sizeof(struct oche_nic_stats) / sizeof(uint64_t))

uint64_t oche_world_lost_packets(const struct oche_world *world, uint32_t port)
{
    uint32_t peer = world->network.ports[port].peer;

    return world->network.extras[port].lost_packets - world->lost_before[port] +
           world->network.extras[peer].cut_packets - world->cut_before[peer];
}

void oche_world_host_stats(const struct oche_world *world, uint32_t host,
                           struct oche_nic_stats *stats)
{
    uint64_t now[NIC_COUNTERS], before[NIC_COUNTERS];
    struct oche_host_reading reading;

    oche_world_read_host(world, host, &reading);
    memcpy(now, &reading.nic, sizeof(now));
    memcpy(before, &world->nic_before[host], sizeof(before));
    for (size_t i = 0; i < NIC_COUNTERS; i++)
        now[i] -= before[i];
    memcpy(stats, now, sizeof(now));
}

const struct oche_counters *oche_world_host_counters(const struct oche_world *world, uint32_t host,
                                                     uint64_t values[OCHE_MOST_COUNTERS])
{
    const uint64_t *before = &world->counted_before[host * OCHE_MOST_COUNTERS];
    struct oche_host_reading reading;

    oche_world_read_host(world, host, &reading);
    for (unsigned i = 0; i < OCHE_MOST_COUNTERS; i++)
        values[i] = reading.counted[i] - before[i];
    return world->config->endpoint != NULL ? world->config->endpoint->counters
                                           : world->config->cc->counters;
}

struct oche_slow_host_stats oche_world_slow_host(const struct oche_world *world, uint32_t host)
{
    struct oche_host_reading reading;

    oche_world_read_host(world, host, &reading);
    return reading.slow;
}

static void host_port(const struct oche_world *world, uint32_t host,
                      struct oche_switch_port_stats *port)
{
    struct oche_host_reading reading;
    struct oche_nic_stats nic;

    oche_world_read_host(world, host, &reading);
    oche_world_host_stats(world, host, &nic);
    *port = reading.port;
    port->packets = nic.data_packets_sent;
    port->marks = nic.ce_marked;
    port->queueing_time = nic.queueing_time;
}

void oche_world_switch_port(const struct oche_world *world, uint32_t number, uint32_t port,
                            struct oche_switch_port_stats *stats)
{
    struct oche_port_reading reading;

    oche_world_read_port(world, number, port, &reading);
    *stats = reading.stats;
}

void oche_world_port_stats(const struct oche_world *world, struct oche_switch_port_stats *stats)
{
    const struct oche_topology *topology = &world->topology;

    for (uint32_t i = 0; i < topology->host_count; i++)
        host_port(world, i, &stats[topology->nodes[i].first_port]);
    for (uint32_t i = 0; i < topology->switch_count; i++) {
        const struct oche_topology_node *node = &topology->nodes[topology->host_count + i];

        for (uint32_t port = 0; port < node->port_count; port++)
            oche_world_switch_port(world, i, port, &stats[node->first_port + port]);
    }
}

uint64_t oche_world_flow_bytes(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_plan *plan = &world->flows.plan[flow];
    const struct oche_connection *connection = &world->flows.connections[plan->connection];

    if (!oche_flow_is_made(&world->flows, flow))
        return 0;
    if (world->flows.received[flow].delivered != OCHE_NEVER || world->flows.received[flow].arrived)
        return plan->bytes;
    if (connection->delivered >= connection->queued ||
        world->flows.order[connection->first + connection->delivered] != flow)
        return 0; /* the flow has not begun, or waits for an earlier flow on its connection */
    /* Over UC, RoGUE may post a message again whose first copy has arrived in part: count it once.
     */
    uint64_t arrived = oche_world_read_arrived(world, flow);

    return arrived < plan->bytes ? arrived : plan->bytes;
}

uint64_t oche_world_flow_bytes_measured(const struct oche_world *world, uint32_t flow)
{
    uint64_t bytes = oche_world_flow_bytes(world, flow);
    uint64_t before = world->flow_before == NULL ? 0 : world->flow_before[flow];

    /* after Go-Back-0 a receiver may have less than before */
    return bytes > before ? bytes - before : 0;
}
