/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the load that workloads offer with what the links of hosts and those between switches
 * carry. Receivers are drawn at random, so a host sends to other racks as much of its load as there
 * are receivers. A rack is a ToR with its hosts, or a pod.
 */
#include <stdlib.h>

#include "sim/world/internal.h"

#define NO_RACK UINT32_MAX

struct rack {
    uint32_t hosts, senders; /* senders: of the workload that is being looked at */
    uint64_t up_bps;         /* of all links that lead out of it */
    double offered_bps;      /* payload that is to leave it */
};

/* Returns the number of the rack that a node is in. */
static uint32_t rack_of(const struct oche_world *world, uint32_t node, bool pods)
{
    const struct oche_topology *topology = &world->topology;

    if (node < topology->host_count)
        node = oche_topology_port(topology, node, 0)->peer;
    uint32_t number = pods                                          ? topology->nodes[node].pod
                      : topology->nodes[node].kind == OCHE_NODE_TOR ? node - topology->host_count
                                                                    : NO_RACK;

    return number < topology->switch_count ? number : NO_RACK;
}

static void add_links(const struct oche_world *world, bool pods, struct rack *racks)
{
    for (uint32_t i = 0; i < world->topology.link_count; i++) {
        const struct oche_topology_link *link = &world->topology.links[i];
        uint32_t a = rack_of(world, link->a, pods), b = rack_of(world, link->b, pods);

        if (a != b && a != NO_RACK)
            racks[a].up_bps += link->rate_bps;
        if (a != b && b != NO_RACK)
            racks[b].up_bps += link->rate_bps;
    }
}

/* Adds what one workload sends out of each rack. */
static void add_offer(const struct oche_world *world, struct oche_workload_offer offer, bool pods,
                      struct rack *racks)
{
    uint32_t hosts = world->topology.host_count;
    double receivers = offer.senders > 0 ? hosts - offer.senders : hosts - 1;

    for (uint32_t i = 0; i < world->topology.switch_count; i++)
        racks[i].senders = 0;
    for (uint32_t host = 0; host < hosts; host++) {
        uint32_t number = rack_of(world, host, pods);

        if (number != NO_RACK && (offer.senders == 0 || host < offer.senders))
            racks[number].senders++;
    }
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        struct rack *rack = &racks[i];
        uint32_t here = offer.senders > 0 ? rack->hosts - rack->senders : rack->hosts - 1;

        if (rack->senders > 0)
            rack->offered_bps += offer.bps * rack->senders * (receivers - here) / receivers;
    }
}

/* Keeps the worst of the racks, if it is worse than `worst`. */
static void judge(const struct oche_world *world, bool pods, struct rack *racks,
                  struct oche_overload *worst)
{
    struct oche_workload_facts facts = oche_world_workload_facts(world);
    double line = (double)(facts.mtu_bytes + facts.header_bytes) / facts.mtu_bytes;

    for (uint32_t host = 0; host < facts.host_count; host++)
        if (rack_of(world, host, pods) != NO_RACK)
            racks[rack_of(world, host, pods)].hosts++;
    add_links(world, pods, racks);
    for (uint32_t i = 0; i < world->config->workload_count; i++) {
        const struct oche_workload_config *workload = &world->config->workloads[i];

        if (workload->type->offered != NULL)
            add_offer(world, workload->type->offered(workload->params, &facts), pods, racks);
    }
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        double offered = racks[i].offered_bps * line;

        if (racks[i].up_bps > 0 &&
            offered * (double)worst->capacity_bps > worst->offered_bps * (double)racks[i].up_bps)
            *worst = (struct oche_overload){i, pods, offered, racks[i].up_bps};
    }
}

bool oche_world_overload(const struct oche_world *world, struct oche_overload *overload)
{
    struct oche_overload full = {.offered_bps = 1, .capacity_bps = 1}; /* all that links carry */

    *overload = full;
    for (unsigned pods = 0; pods < 2; pods++) {
        struct rack *racks = calloc(world->topology.switch_count + 1, sizeof(*racks));

        OCHE_GOT(racks != NULL);
        judge(world, pods == 1, racks, overload);
        free(racks);
    }
    return overload->capacity_bps != full.capacity_bps;
}

/* Adds what one workload has `host` send, and receive in the mean. */
static void add_host_offer(struct oche_workload_offer offer, uint32_t host, uint32_t hosts,
                           double *sends, double *receives)
{
    const uint32_t senders = offer.senders > 0 ? offer.senders : hosts;

    if (host < senders)
        *sends += offer.bps;
    if (offer.senders == 0)
        *receives += offer.bps;
    else if (host >= senders)
        *receives += offer.bps * senders / (hosts - senders);
}

bool oche_world_host_overload(const struct oche_world *world, struct oche_host_overload *worst)
{
    struct oche_workload_facts facts = oche_world_workload_facts(world);
    double line = (double)(facts.mtu_bytes + facts.header_bytes) / facts.mtu_bytes, share = 1;

    for (uint32_t host = 0; host < facts.host_count; host++) {
        uint64_t rate_bps = oche_topology_port_link(&world->topology, host, 0)->rate_bps;
        double sends = 0, receives = 0;

        for (uint32_t i = 0; i < world->config->workload_count; i++) {
            const struct oche_workload_config *workload = &world->config->workloads[i];

            if (workload->type->offered != NULL)
                add_host_offer(workload->type->offered(workload->params, &facts), host,
                               facts.host_count, &sends, &receives);
        }
        double most = (receives > sends ? receives : sends) * line;

        if (most <= share * (double)rate_bps)
            continue;
        share = most / (double)rate_bps;
        *worst = (struct oche_host_overload){host, receives > sends, most, rate_bps};
    }
    return share > 1;
}
