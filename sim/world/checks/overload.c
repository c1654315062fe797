/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the load that workloads offer with what the links of hosts and those between switches
 * carry. Receivers are drawn at random, so a host sends to other racks as much of its load as there
 * are receivers. A rack is a ToR with its hosts, or a pod.
 */
#include <stdlib.h>

#include "sim/app/generate.h"
#include "sim/world/internal.h"

#define NO_RACK UINT32_MAX

struct rack {
    uint32_t hosts;
    uint32_t senders;   /* of the current workload: number of the senders that were added last */
    double each_bps;    /* and send this much each */
    uint32_t sending;   /* all of its senders */
    double sum_bps;     /* sum of the senders before these */
    uint64_t up_bps;    /* rate of all links that leave the rack */
    double offered_bps; /* payload per second that must leave the rack */
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

/* Adds equal senders as a product, so that the result equals the equation's value. */
static void add_up(struct rack *rack)
{
    rack->sum_bps += rack->each_bps * rack->senders;
    rack->senders = 0;
}

/* Adds what one workload sends out of each rack. */
static void add_offer(const struct oche_world *world, const struct oche_workload_config *workload,
                      const struct oche_workload_facts *facts, bool pods, struct rack *racks)
{
    const uint32_t hosts = world->topology.host_count;
    uint32_t senders = 0;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        racks[i].senders = racks[i].sending = 0;
        racks[i].sum_bps = 0;
    }
    for (uint32_t place = 0; place < hosts; place++) {
        uint32_t host = oche_topology_at_place(&world->topology, place);
        uint32_t number = rack_of(world, host, pods);
        struct oche_workload_offer offer =
            workload->type->offered(workload->params, facts, oche_workload_rate(facts, host));

        senders = offer.senders;
        if (number == NO_RACK || (senders > 0 && host >= senders))
            continue;
        if (racks[number].senders > 0 && racks[number].each_bps != offer.bps)
            add_up(&racks[number]);
        racks[number].each_bps = offer.bps;
        racks[number].senders++;
        racks[number].sending++;
    }
    double receivers = senders > 0 ? hosts - senders : hosts - 1;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        struct rack *rack = &racks[i];
        uint32_t here = senders > 0 ? rack->hosts - rack->sending : rack->hosts - 1;

        add_up(rack);
        if (rack->sending > 0)
            rack->offered_bps += rack->sum_bps * (receivers - here) / receivers;
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
            add_offer(world, workload, &facts, pods, racks);
    }
    /* In the order of names, so that of several the same one is named whatever the file's order. */
    for (uint32_t place = facts.host_count; place < oche_topology_nodes(&world->topology);
         place++) {
        uint32_t i = oche_topology_at_place(&world->topology, place) - facts.host_count;
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

/* The rates at which each host sends, and receives in the mean. */
struct host_offer {
    double sends, receives;
};

/* Returns what all senders of a workload send together. */
static double sum_of(const struct oche_workload_config *workload,
                     const struct oche_workload_facts *facts)
{
    const struct oche_host_rates *rates = &facts->rates;
    uint32_t *count = oche_world_make(rates->count, sizeof(*count));
    double sum = 0;

    for (uint32_t host = 0; host < facts->host_count; host++) {
        const struct oche_host_rate *rate = oche_workload_rate(facts, host);
        uint32_t senders = workload->type->offered(workload->params, facts, rate).senders;

        count[rate - rates->kinds] += senders == 0 || host < senders;
    }
    for (uint32_t i = 0; i < rates->count; i++)
        sum += workload->type->offered(workload->params, facts, &rates->kinds[i]).bps * count[i];
    free(count);
    return sum;
}

/* Adds what one workload has hosts send, and receive in the mean. */
static void add_host_offers(const struct oche_workload_config *workload,
                            const struct oche_workload_facts *facts, struct host_offer *hosts)
{
    const double sum = sum_of(workload, facts);

    for (uint32_t host = 0; host < facts->host_count; host++) {
        struct oche_workload_offer offer =
            workload->type->offered(workload->params, facts, oche_workload_rate(facts, host));

        if (offer.senders == 0 || host < offer.senders)
            hosts[host].sends += offer.bps;
        if (offer.senders == 0)
            hosts[host].receives +=
                facts->rates.count == 1 ? offer.bps : (sum - offer.bps) / (facts->host_count - 1);
        else if (host >= offer.senders)
            hosts[host].receives += sum / (facts->host_count - offer.senders);
    }
}

bool oche_world_host_overload(const struct oche_world *world, struct oche_host_overload *worst)
{
    struct oche_workload_facts facts = oche_world_workload_facts(world);
    struct host_offer *hosts = oche_world_make(facts.host_count, sizeof(*hosts));
    double line = (double)(facts.mtu_bytes + facts.header_bytes) / facts.mtu_bytes, share = 1;

    for (uint32_t i = 0; i < world->config->workload_count; i++)
        if (world->config->workloads[i].type->offered != NULL)
            add_host_offers(&world->config->workloads[i], &facts, hosts);
    for (uint32_t place = 0; place < facts.host_count; place++) {
        uint32_t host = oche_topology_at_place(&world->topology, place);
        uint64_t rate_bps = oche_topology_port_link(&world->topology, host, 0)->rate_bps;
        double sends = hosts[host].sends, receives = hosts[host].receives;
        double most = (receives > sends ? receives : sends) * line;

        if (most <= share * (double)rate_bps)
            continue;
        share = most / (double)rate_bps;
        *worst = (struct oche_host_overload){host, receives > sends, most, rate_bps};
    }
    free(hosts);
    return share > 1;
}
