/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fat tree of switches with k ports: k pods of k/2 ToR and k/2 aggregation switches, (k/2)^2
 * cores, k^3/4 hosts, no oversubscription. Aggregation switch a of every pod leads to cores
 * a*k/2 … a*k/2 + k/2-1.
 */
#include <stdio.h>

#include "params/error.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct fat_tree {
    uint64_t k;
    uint64_t link_rate;
    oche_time delay;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct fat_tree, k), OCHE_IS_COUNT(8, 2, 64),
     .help = "ports of a switch, even: 8 is 128 hosts, 16 is 1024, 32 is 8192"},
    {OCHE_PARAM(struct fat_tree, link_rate), OCHE_IS_LINK_RATE(100 * OCHE_GBPS),
     .help = "of each link"},
    {OCHE_PARAM(struct fat_tree, delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of each link"},
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct fat_tree);

static bool check(const void *values, struct oche_error *error)
{
    const struct fat_tree *p = values;

    if (p->k % 2 != 0)
        return oche_fail(error, "k: %llu is odd; %llu or %llu would do", (unsigned long long)p->k,
                         (unsigned long long)p->k - 1, (unsigned long long)p->k + 1);
    return oche_topology_fits(p->k * p->k * p->k / 4, p->k * p->k * 5 / 4,
                              p->k * p->k * p->k * 3 / 4, p->k, "k", error);
}

static void build_pod(const struct fat_tree *p, struct oche_topology *topology, uint32_t pod)
{
    uint32_t half = (uint32_t)p->k / 2, k = (uint32_t)p->k;
    uint32_t tor = topology->host_count + pod * half;
    uint32_t agg = topology->host_count + k * half + pod * half;
    uint32_t core = topology->host_count + 2 * k * half;

    for (uint32_t i = 0; i < half; i++) {
        oche_topology_name(topology, tor + i, OCHE_NODE_TOR, pod, "tor", pod * half + i);
        oche_topology_name(topology, agg + i, OCHE_NODE_AGGREGATION, pod, "agg", pod * half + i);
        oche_topology_hosts(topology, tor + i, (pod * half + i) * half, half, pod, p->link_rate,
                            p->delay);
    }
    for (uint32_t t = 0; t < half; t++)
        for (uint32_t a = 0; a < half; a++)
            oche_topology_link(topology, tor + t, agg + a, p->link_rate, p->delay);
    for (uint32_t a = 0; a < half; a++)
        for (uint32_t c = 0; c < half; c++)
            oche_topology_link(topology, agg + a, core + a * half + c, p->link_rate, p->delay);
}

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct fat_tree *p = values;
    uint32_t k = (uint32_t)p->k, half = k / 2;
    uint32_t hosts = k * half * half, switches = 2 * k * half + half * half;
    char rate[32];

    if (!oche_topology_begin(topology, hosts, switches, 3 * hosts, error))
        return false;
    for (uint32_t c = 0; c < half * half; c++)
        oche_topology_name(topology, hosts + 2 * k * half + c, OCHE_NODE_CORE, OCHE_NO_POD, "core",
                           c);
    for (uint32_t pod = 0; pod < k; pod++)
        build_pod(p, topology, pod);
    snprintf(topology->summary, sizeof(topology->summary),
             "fat_tree: k %u, %u hosts, %u ToR, %u aggregation, %u core, %s links, "
             "oversubscription 1:1",
             k, hosts, k * half, k * half, half * half,
             oche_topology_rate(p->link_rate, rate, sizeof(rate)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_fat_tree = {
    .name = "fat_tree",
    .help = "k pods of k-port switches without oversubscription: k^3/4 hosts",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "tor", [OCHE_NODE_AGGREGATION] = "agg", [OCHE_NODE_CORE] = "core"},
    .up_down = true,
    .check = check,
    .build = build,
};
