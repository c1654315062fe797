/* SPDX-License-Identifier: Apache-2.0 */
/* Leaf-spine: every leaf has hosts and a link to every spine. */
#include <stdio.h>
#include <string.h>

#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct leaf_spine {
    uint32_t preset;
    uint64_t leaves, spines, hosts_per_leaf;
    uint64_t host_rate, link_rate;
    oche_time delay, link_delay;
};

static const struct oche_param params[] = {
    OCHE_PRESET_ROW(struct leaf_spine),
    {OCHE_PARAM(struct leaf_spine, leaves), OCHE_IS_COUNT(8, 2, 1024),
     .help = "switches with hosts"},
    {OCHE_PARAM(struct leaf_spine, spines), OCHE_IS_COUNT(4, 1, 256),
     .help = "switches above the leaves"},
    {OCHE_PARAM(struct leaf_spine, hosts_per_leaf), OCHE_IS_COUNT(16, 1, 1023),
     .help = "hosts at each leaf: leaf l has hosts l*n … l*n+n-1"},
    {OCHE_PARAM(struct leaf_spine, host_rate), OCHE_IS_LINK_RATE(100 * OCHE_GBPS),
     .help = "of each host's link"},
    {OCHE_PARAM(struct leaf_spine, link_rate), OCHE_IS_FABRIC_RATE(100 * OCHE_GBPS),
     .where = "dcqcn.md#deployed",
     .help =
         "of each leaf-spine link; auto: host_rate or, if a leaf's hosts can send more than its "
         "uplinks carry, the next rate of Ethernet that is enough"},
    {OCHE_PARAM(struct leaf_spine, delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of each host's link"},
    {OCHE_PARAM(struct leaf_spine, link_delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of each leaf-spine link"},
};
static const struct oche_deployed in_use[] = {{"link_rate", {.u = OCHE_RATE_AUTO}}};
static const struct oche_param_table table =
    OCHE_PARAM_TABLE_DEPLOYED(params, struct leaf_spine, in_use);

static uint64_t link_rate(const struct leaf_spine *p)
{
    if (p->link_rate != OCHE_RATE_AUTO)
        return p->link_rate;
    return oche_topology_uplink_rate(p->hosts_per_leaf, p->host_rate, p->spines);
}

static uint64_t derived(const void *values, const char *name)
{
    return strcmp(name, "link_rate") == 0 ? link_rate(values) : 0;
}

static bool check(const void *values, struct oche_error *error)
{
    const struct leaf_spine *p = values;
    uint64_t hosts = p->leaves * p->hosts_per_leaf;

    return oche_topology_fits(hosts, p->leaves + p->spines, hosts + p->leaves * p->spines,
                              p->hosts_per_leaf + p->spines, "hosts_per_leaf", error);
}

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct leaf_spine *p = values;
    uint32_t leaves = (uint32_t)p->leaves, spines = (uint32_t)p->spines;
    uint32_t per_leaf = (uint32_t)p->hosts_per_leaf;
    uint32_t hosts = leaves * per_leaf, spine = hosts + leaves;
    uint64_t rate = link_rate(p);
    char ratio[64], host_rate[32], link_rate_text[32];

    if (!oche_topology_begin(topology, hosts, p->leaves + p->spines, hosts + p->leaves * p->spines,
                             error))
        return false;
    for (uint32_t l = 0; l < leaves; l++) {
        oche_topology_name(topology, hosts + l, OCHE_NODE_TOR, l, "leaf", l);
        oche_topology_hosts(topology, hosts + l, l * per_leaf, per_leaf, l, p->host_rate, p->delay);
    }
    for (uint32_t s = 0; s < spines; s++)
        oche_topology_name(topology, spine + s, OCHE_NODE_CORE, OCHE_NO_POD, "spine", s);
    for (uint32_t l = 0; l < leaves; l++)
        for (uint32_t s = 0; s < spines; s++)
            oche_topology_link(topology, hosts + l, spine + s, rate, p->link_delay);
    snprintf(topology->summary, sizeof(topology->summary),
             "leaf_spine: %u hosts at %s, %u leaves, %u spine%s, links of %s, oversubscription %s",
             hosts, oche_topology_rate(p->host_rate, host_rate, sizeof(host_rate)), leaves, spines,
             spines == 1 ? "" : "s",
             oche_topology_rate(rate, link_rate_text, sizeof(link_rate_text)),
             oche_topology_oversubscription(per_leaf * p->host_rate, spines * rate, ratio,
                                            sizeof(ratio)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_leaf_spine = {
    .name = "leaf_spine",
    .help = "every leaf has hosts and a link to every spine",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "leaf", [OCHE_NODE_CORE] = "spine"},
    .up_down = true,
    .check = check,
    .derived = derived,
    .build = build,
};
