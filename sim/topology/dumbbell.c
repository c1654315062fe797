/* SPDX-License-Identifier: Apache-2.0 */
/* Dumbbell: two switches with hosts, and one bottleneck link between the switches. */
#include <stdio.h>
#include <string.h>

#include "fabric/in_use.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct dumbbell {
    uint32_t preset;
    uint64_t left_hosts, right_hosts;
    uint64_t host_rate, bottleneck_rate;
    oche_time delay, bottleneck_delay;
};

static const struct oche_param params[] = {
    OCHE_PRESET_ROW(struct dumbbell),
    {OCHE_PARAM(struct dumbbell, left_hosts), OCHE_IS_COUNT(2, 1, 1023),
     .help = "hosts 0 … at the left switch"},
    {OCHE_PARAM(struct dumbbell, right_hosts), OCHE_IS_COUNT(2, 1, 1023),
     .help = "hosts at the right switch, numbered after those at the left"},
    {OCHE_PARAM(struct dumbbell, host_rate), OCHE_IS_LINK_RATE(40 * OCHE_GBPS),
     .where = "dcqcn.md#deployed", .help = "of each host's link"},
    {OCHE_PARAM(struct dumbbell, bottleneck_rate), OCHE_IS_FABRIC_RATE(40 * OCHE_GBPS),
     .where = "dcqcn.md#deployed", .help = "of the link between the switches; auto: host_rate"},
    {OCHE_PARAM(struct dumbbell, delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of each host's link"},
    {OCHE_PARAM(struct dumbbell, bottleneck_delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of the link between the switches"},
};
static const struct oche_deployed in_use[] = {{"host_rate", {.u = OCHE_IN_USE_RATE}},
                                              {"bottleneck_rate", {.u = OCHE_RATE_AUTO}}};
static const struct oche_param_table table =
    OCHE_PARAM_TABLE_DEPLOYED(params, struct dumbbell, in_use);

static uint64_t bottleneck_rate(const struct dumbbell *p)
{
    return p->bottleneck_rate == OCHE_RATE_AUTO ? p->host_rate : p->bottleneck_rate;
}

static uint64_t derived(const void *values, const char *name)
{
    return strcmp(name, "bottleneck_rate") == 0 ? bottleneck_rate(values) : 0;
}

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct dumbbell *p = values;
    uint32_t left = (uint32_t)p->left_hosts, right = (uint32_t)p->right_hosts;
    uint32_t tor = left + right; /* the left switch; the right switch is tor + 1 */
    char rate[32], bottleneck[32], ratio[48];

    if (!oche_topology_begin(topology, tor, 2, tor + 1, error))
        return false;
    oche_topology_name(topology, tor, OCHE_NODE_TOR, 0, "tor", 0);
    oche_topology_name(topology, tor + 1, OCHE_NODE_TOR, 1, "tor", 1);
    oche_topology_hosts(topology, tor, 0, left, 0, p->host_rate, p->delay);
    oche_topology_hosts(topology, tor + 1, left, right, 1, p->host_rate, p->delay);
    oche_topology_link(topology, tor, tor + 1, bottleneck_rate(p), p->bottleneck_delay);
    snprintf(topology->summary, sizeof(topology->summary),
             "dumbbell: %u and %u hosts at %s, a bottleneck of %s (%s from the left)", left, right,
             oche_topology_rate(p->host_rate, rate, sizeof(rate)),
             oche_topology_rate(bottleneck_rate(p), bottleneck, sizeof(bottleneck)),
             oche_topology_ratio(left * p->host_rate, bottleneck_rate(p), ratio, sizeof(ratio)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_dumbbell = {
    .name = "dumbbell",
    .help = "two switches with hosts and one bottleneck between them",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "tor"},
    .up_down = true,
    .derived = derived,
    .build = build,
};
