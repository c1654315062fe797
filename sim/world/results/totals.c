/* SPDX-License-Identifier: Apache-2.0 */
/* Access to a world: its parts, and sums over hosts and switches. */
#include "sim/world/internal.h"
#include "sim/network/host_latency.h"
#include "sim/world/results/readings.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "fabric/shared_buffer.h"

/* All counters of struct oche_nic_stats are uint64_t, so they are summed as an array. */
#define NIC_COUNTERS (sizeof(struct oche_nic_stats) / sizeof(uint64_t))
_Static_assert(sizeof(struct oche_nic_stats) % sizeof(uint64_t) == 0, "an array of counters");

/* Adds up the hosts' counters of their scheme, which is the same for all hosts. */
static void add_counters(const struct oche_world *world, struct oche_world_totals *totals)
{
    uint64_t values[OCHE_MOST_COUNTERS];

    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        totals->counters = oche_world_host_counters(world, i, values);
        for (unsigned k = 0; k < OCHE_MOST_COUNTERS; k++)
            totals->counted[k] += values[k];
    }
}

static void add_pauses_of_host(const struct oche_host_reading *host,
                               struct oche_world_totals *totals)
{
    totals->dropped_by_hosts += host->slow.dropped_packets;
    if (host->slow.most_bytes > totals->receive_buffer_most)
        totals->receive_buffer_most = host->slow.most_bytes;
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        totals->pauses_received_by_hosts += host->port.pauses_received[cls];
        totals->pauses_sent += host->port.pauses_sent[cls];
        totals->pauses_sent_by_hosts += host->port.pauses_sent[cls];
        totals->pause_time += host->port.pause_sent_time[cls];
    }
    totals->any_port_paused |= host->paused;
}

static void add_hosts(const struct oche_world *world, struct oche_world_totals *totals)
{
    uint64_t sum[NIC_COUNTERS] = {0}, now[NIC_COUNTERS], before[NIC_COUNTERS];

    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        struct oche_host_reading host;

        oche_world_read_host(world, i, &host);
        memcpy(now, &host.nic, sizeof(now));
        memcpy(before, &world->nic_before[i], sizeof(before));
        for (size_t k = 0; k < NIC_COUNTERS; k++)
            sum[k] += now[k] - before[k];
        totals->late_packets += host.late_packets - world->late_before[i];
        totals->corrupt_bytes += host.corrupt_bytes;
        add_pauses_of_host(&host, totals);
    }
    memcpy(&totals->nic, sum, sizeof(sum));
    add_counters(world, totals);
    totals->rejected_packets = totals->nic.rejected_packets - totals->late_packets;
    totals->marks[OCHE_PLACE_HOST_NIC] = totals->nic.ce_marked;
    totals->departures[OCHE_PLACE_HOST_NIC] = totals->nic.data_packets_sent;
}

static void add_port(const struct oche_port_reading *port, enum oche_port_place place,
                     struct oche_world_totals *totals)
{
    totals->marks[place] += port->stats.marks;
    totals->departures[place] += port->stats.packets;
    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        totals->drops[cause] += port->stats.drops[cause];
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        totals->pauses_sent += port->stats.pauses_sent[cls];
        totals->pause_time += port->stats.pause_sent_time[cls];
    }
    totals->any_port_paused |= port->paused != 0;
}

static void add_switches(const struct oche_world *world, struct oche_world_totals *totals)
{
    const struct oche_topology *topology = &world->topology;

    for (uint32_t i = 0; i < topology->switch_count; i++) {
        const uint32_t node = topology->host_count + i;
        struct oche_switch_reading of;

        for (uint32_t port = 0; port < topology->nodes[node].port_count; port++) {
            struct oche_port_reading reading;

            oche_world_read_port(world, i, port, &reading);
            add_port(&reading, oche_topology_place(topology, node, port), totals);
        }
        oche_world_read_switch(world, i, &of);
        totals->queued_bytes += of.occupied_bytes;
    }
}

static void add_flow(const struct oche_flow_sent *sent, struct oche_world_totals *totals)
{
    totals->flows_failed += sent->failed != 0;
    if (sent->completed == OCHE_NEVER || sent->failed != 0)
        return;
    const oche_time took = sent->completed - sent->started;

    if (totals->flows_completed++ == 0 || took < totals->acked_first)
        totals->acked_first = took;
    totals->acked_last = oche_time_max(totals->acked_last, took);
}

void oche_world_totals(const struct oche_world *world, struct oche_world_totals *totals)
{
    const struct oche_network *network = &world->network;

    *totals = (struct oche_world_totals){
        .measured = network->now - world->measured_from,
        .hops = oche_network_hops(network),
        .events = oche_network_events(network),
        .hash = oche_network_hash(network),
        .flows = world->flows.count,
        .live_packets = (uint64_t)oche_network_live_packets(network),
        .slow_receivers = world->config->receiver_count + oche_world_nics_buffer(world),
    };
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        add_flow(&world->flows.sent[i], totals);
    for (uint32_t i = 0; i < network->port_count; i++) {
        totals->lost_packets += network->extras[i].lost_packets - world->lost_before[i];
        totals->cut_packets += network->extras[i].cut_packets - world->cut_before[i];
        totals->grey_packets += network->extras[i].grey_packets - world->grey_before[i];
    }
    totals->lost_packets += totals->cut_packets;
    totals->timeout_causes_known =
        world->config->endpoint == NULL || world->config->endpoint->losses != NULL;
    memcpy(totals->timeout_causes, world->timeout_causes, sizeof(totals->timeout_causes));
    add_hosts(world, totals);
    add_switches(world, totals);
    oche_world_add_mechanisms(world, totals);
}

const struct oche_world_config *oche_world_config(const struct oche_world *world)
{
    return world->config;
}

const struct oche_network *oche_world_network(const struct oche_world *world)
{
    return &world->network;
}

const struct oche_topology *oche_world_topology(const struct oche_world *world)
{
    return &world->topology;
}

const struct oche_topology_routes *oche_world_routes(const struct oche_world *world)
{
    return &world->routes;
}

const struct oche_topology_routes *oche_world_used_routes(const struct oche_world *world)
{
    return &world->used_routes;
}

const struct oche_flows *oche_world_flows(const struct oche_world *world)
{
    return &world->flows;
}

const char *oche_world_flow_remark(const struct oche_world *world)
{
    return world->flow_remark;
}

const struct oche_host *oche_world_host(const struct oche_world *world, uint32_t host)
{
    return world->hosts[host];
}

const struct oche_switch *oche_world_switch(const struct oche_world *world, uint32_t number)
{
    return world->switches[number];
}

uint64_t oche_world_line_bytes(const struct oche_world *world, uint32_t port)
{
    const struct oche_network *network = &world->network;
    uint64_t sent =
        network->ports[port].line_bytes - oche_network_unsent_bytes(network, port, network->now);

    return sent > world->line_before[port] ? sent - world->line_before[port] : 0;
}

uint32_t oche_world_watch_count(const struct oche_world *world)
{
    return world->watched_count;
}

const struct oche_queue_watch *oche_world_watch(const struct oche_world *world, uint32_t number,
                                                const char **name)
{
    *name = world->watched[number].name;
    return &world->watched[number].watch;
}

oche_time oche_world_ideal_time(struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_plan *plan = &world->flows.plan[flow];
    const struct oche_world_config *config = world->config;
    const struct oche_endpoint *endpoint =
        config->endpoint != NULL ? config->endpoint : &oche_endpoint_rnic;
    const oche_time latency = endpoint->deferred == NULL ? 0 : oche_latency_of_flow(&config->hosts);
    struct oche_frames frames;
    struct oche_path path, back;

    endpoint->frames(&config->hosts, oche_world_endpoint_params(config), config->recovery,
                     (enum oche_verb)plan->verb, plan->bytes, &frames);
    oche_topology_path(&world->routes, plan->src, plan->dst, &path);
    if (OCHE_LIKELY(frames.request_bytes == 0))
        return latency + oche_path_ideal(&path, &frames);
    const struct oche_frames request = {.count = 1, .first_bytes = frames.request_bytes};

    oche_topology_path(&world->routes, plan->dst, plan->src, &back);
    return latency + oche_path_ideal(&back, &request) + oche_path_ideal(&path, &frames);
}

oche_time oche_world_empty_rtt(const struct oche_world *world)
{
    struct oche_endpoint_packets packets = oche_world_packets(world->config);
    uint32_t bytes = OCHE_GAP_BYTES + packets.middle_bytes;
    uint32_t ack_bytes = OCHE_GAP_BYTES + packets.ack_bytes;
    struct oche_flow_walk walk = oche_flow_walk(&world->flows);
    const struct oche_flow_plan *plan;
    oche_time longest = 0;
    uint32_t src = UINT32_MAX, dst = UINT32_MAX;

    while ((plan = oche_flow_walk_next(&walk)) != NULL) {
        if (plan->src == src && plan->dst == dst)
            continue;
        src = plan->src;
        dst = plan->dst;
        uint64_t rate_bps = oche_topology_port_link(&world->topology, plan->src, 0)->rate_bps;
        struct oche_path there, back;

        oche_topology_path(&world->routes, plan->src, plan->dst, &there);
        oche_topology_path(&world->routes, plan->dst, plan->src, &back);
        oche_time rtt = oche_path_round_trip(&there, &back, bytes, ack_bytes) -
                        oche_time_of_bytes(bytes, rate_bps);
        longest = rtt > longest ? rtt : longest;
    }
    return longest;
}

uint64_t oche_world_lossy_room(const struct oche_world *world, uint32_t number)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    oche_world_switch_config(world, number, &config, ports);
    struct oche_buffer_plan plan = oche_buffer_plan(&config);
    const struct oche_switch_params *params = config.params;
    uint64_t room = plan.shared - plan.reserve;

    if (params->egress_alpha > 0)
        room = (uint64_t)((double)room * params->egress_alpha / (1 + params->egress_alpha));
    return params->port_buffer_bytes != 0 && params->port_buffer_bytes < room
               ? params->port_buffer_bytes
               : room;
}

bool oche_world_headroom_lack(const struct oche_world *world, struct oche_headroom_lack *lack)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    bool found = false;

    for (uint32_t sw = 0; sw < world->topology.switch_count; sw++) {
        oche_world_switch_config(world, sw, &config, ports);
        for (uint32_t port = 0; port < config.port_count; port++) {
            uint64_t needs = oche_buffer_headroom_needed(&config, port);
            uint64_t has = oche_buffer_headroom(&config, port);

            if (needs <= has || (found && needs - has <= lack->needs - lack->has))
                continue;
            *lack = (struct oche_headroom_lack){world->topology.host_count + sw, port, has, needs};
            found = true;
        }
    }
    return found;
}
