/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine and fabric without a transport: the fat tree of bench_fat_tree, but a host only sends a
 * 1000-byte packet to one other host every 240 ns, and an ACK for each packet that arrives. A
 * simulation with a transport cannot be faster than this.
 *
 *     bench_fabric_net [K [THREADS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/wire/opcode.h"
#include "sim/engine/big_memory.h"
#include "sim/network/host.h"
#include "sim/network/network.h"
#include "sim/topology/routes.h"

#define PACKET_BYTES 1000
#define SEND_EVERY   (240 * OCHE_NS)
#define WARMUP       (200 * OCHE_US)
#define DURATION     (500 * OCHE_US)

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

struct oche_host {
    uint32_t address, to, acks;
    uint32_t ack_to;
    oche_time next;
    struct oche_pause pause;
};

static void send_one(struct oche_shard *shard, struct oche_port *port, struct oche_host *host,
                     bool ack, oche_time now)
{
    struct oche_packet *packet = oche_packet_take(&shard->pool);

    packet->kind = OCHE_PACKET_ROCE;
    packet->opcode = ack ? 0x11 : 0x07;
    packet->src = host->address;
    packet->dst = ack ? host->ack_to : host->to;
    packet->flow_hash = (packet->src ^ packet->dst) * 0x9e3779b9u;
    packet->traffic_class = ack ? OCHE_CONTROL_CLASS : OCHE_DATA_CLASS;
    packet->ecn = ack ? OCHE_ECN_NOT_ECT : OCHE_ECN_ECT0;
    packet->hops = 0;
    packet->ext = 0;
    packet->frame_bytes = (uint16_t)oche_frame_bytes(packet->opcode, ack ? 0 : PACKET_BYTES, false);
    oche_network_send(shard, port, packet, now);
}

static void settle(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_host *host = port->device;
    bool paused = host->pause.mask != 0;

    if (port->busy_until <= now && !(port->flags & OCHE_PORT_DONE_PENDING)) {
        if (host->acks > 0) {
            host->acks--;
            send_one(shard, port, host, true, now);
        } else if (host->next <= now && !paused) {
            host->next += SEND_EVERY;
            send_one(shard, port, host, false, now);
        }
    }
    if (host->acks > 0 || (host->next <= port->busy_until && !paused))
        oche_network_want_done(shard, port);
    else if (!paused)
        oche_network_wake(shard, host->address, host->next);
    if (host->pause.next != OCHE_NEVER)
        oche_network_wake(shard, host->address, host->pause.next);
}

void oche_host_fetch(const struct oche_host *host, const struct oche_packet *packet, unsigned step)
{
    (void)packet;
    if (step == 0)
        __builtin_prefetch(host, 1);
}

void oche_host_arrival(struct oche_shard *shard, struct oche_port *port, struct oche_packet *packet,
                       oche_time now)
{
    struct oche_host *host = port->device;

    if (packet->kind == OCHE_PACKET_PFC) {
        oche_pause_receive(&host->pause, packet, now);
    } else if (packet->opcode == 0x07) {
        host->acks++;
        host->ack_to = packet->src;
    }
    oche_packet_return(&shard->pool, packet);
    settle(shard, port, now);
}

void oche_host_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    settle(shard, port, now);
}

/* Never called: no link fails in this bench. */
void oche_host_link_changed(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    (void)shard, (void)port, (void)now;
    OCHE_MUST(false);
}

void oche_host_timer(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_host *host = port->device;

    oche_pause_update(&host->pause, now);
    settle(shard, port, now);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    uint64_t k = argc > 1 ? strtoull(argv[1], NULL, 10) : 16;
    uint32_t threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    static struct oche_topology topology;
    static struct oche_topology_routes routes;
    static struct oche_network network;
    static struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_params params;
    struct oche_error error;

    const struct oche_topology_type *type = oche_topology_type_find("fat_tree");
    void *values = calloc(1, type->table->struct_bytes);
    oche_param_defaults(type->table, values);
    oche_param_set(oche_param_find(type->table, "k"), values, (union oche_value){.u = k});
    oche_param_set(oche_param_find(type->table, "link_rate"), values,
                   (union oche_value){.u = 100 * OCHE_GBPS});
    oche_param_set(oche_param_find(type->table, "delay"), values, (union oche_value){.u = OCHE_US});
    if (!type->build(values, &topology, &error) ||
        !oche_topology_route(&topology, &routes, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    uint32_t nodes = oche_topology_nodes(&topology), hosts = topology.host_count;
    uint32_t *degree = calloc(nodes, sizeof(*degree));
    uint16_t *part = calloc(nodes, sizeof(*part));
    for (uint32_t i = 0; i < nodes; i++)
        degree[i] = topology.nodes[i].port_count;
    threads = oche_topology_partition(&topology, threads, NULL, part);
    oche_network_init(&network, hosts, topology.switch_count, degree, threads);
    for (uint32_t i = 0; i < nodes; i++)
        oche_network_assign(&network, i, part[i]);
    for (uint32_t i = 0; i < topology.link_count; i++) {
        const struct oche_topology_link *link = &topology.links[i];
        oche_network_link(&network, link->a, link->port_a, link->b, link->port_b, link->rate_bps,
                          link->delay);
    }
    oche_param_defaults(&oche_switch_params, &params);
    struct oche_switch **switches = calloc(topology.switch_count, sizeof(struct oche_switch *));
    char *arena = NULL;
    size_t used = 0;
    for (uint32_t i = 0; i < topology.switch_count; i++) {
        uint32_t node = hosts + i;
        for (uint32_t p = 0; p < degree[node]; p++)
            ports[p] =
                (struct oche_switch_port_config){.rate_bps = 100 * OCHE_GBPS, .delay = OCHE_US};
        struct oche_switch_config config = {.params = &params,
                                            .node = node,
                                            .seed = 1,
                                            .port_count = degree[node],
                                            .ports = ports,
                                            .class_count = OCHE_CLASS_COUNT,
                                            .lossless_classes = 3,
                                            .mtu_frame_bytes = 1062,
                                            .routes = routes.of[i]};
        if (!oche_switch_check(&config, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
        if (arena == NULL)
            arena = oche_big_memory(oche_switch_bytes(&config) * topology.switch_count);
        switches[i] = oche_switch_create(arena + used, &config);
        used += oche_switch_bytes(&config);
        for (uint32_t p = 0; p < degree[node]; p++)
            network.ports[network.nodes[node].first_port + p].device = switches[i];
    }
    struct oche_host *host = calloc(hosts, sizeof(*host));
    struct oche_random random = oche_random_stream(1, "bench permutation", 0);
    uint32_t *cycle = calloc(hosts, sizeof(*cycle));
    for (uint32_t i = 0; i < hosts; i++)
        cycle[i] = i;
    for (uint32_t i = hosts - 1; i > 0; i--) {
        uint32_t other = (uint32_t)oche_random_below(&random, i + 1), keep = cycle[i];
        cycle[i] = cycle[other];
        cycle[other] = keep;
    }
    for (uint32_t i = 0; i < hosts; i++) {
        struct oche_host *at = &host[cycle[i]];
        at->address = cycle[i];
        at->to = cycle[(i + 1) % hosts];
        at->next = oche_random_below(&random, SEND_EVERY);
        oche_pause_init(&at->pause, 100 * OCHE_GBPS, 0);
        network.ports[network.nodes[cycle[i]].first_port].device = at;
    }
    oche_network_ready(&network);
    for (uint32_t i = 0; i < hosts; i++)
        oche_network_wake(oche_network_shard_of(&network, i), i, host[i].next);
    oche_network_run(&network, WARMUP, NULL, NULL);
    uint64_t before = oche_network_hops(&network);
    double start = seconds();
    oche_network_run(&network, WARMUP + DURATION, NULL, NULL);
    double took = seconds() - start;
    uint64_t hops = oche_network_hops(&network) - before;
    uint64_t marks = 0, pauses = 0;
    for (uint32_t i = 0; i < topology.switch_count; i++)
        for (uint32_t p = 0; p < degree[hosts + i]; p++) {
            struct oche_switch_port_stats stats;
            oche_switch_port_stats(switches[i], p, network.now, &stats);
            marks += stats.marks;
            pauses += stats.pauses_sent[0];
        }
    printf("engine and fabric: hosts=%u threads=%u: %.2f M packet-hops/s (marks %llu, PAUSEs %llu, "
           "events a hop %.2f)\n",
           hosts, threads, (double)hops / took / 1e6, (unsigned long long)marks,
           (unsigned long long)pauses,
           (double)oche_network_events(&network) / (double)oche_network_hops(&network));
    return 0;
}
