/* SPDX-License-Identifier: Apache-2.0 */
/* Dumbbell: two switches with hosts, one bottleneck between them. */
#include <stdio.h>

#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct dumbbell {
    uint64_t left_hosts, right_hosts;
    uint64_t host_rate, bottleneck_rate;
    oche_time delay, bottleneck_delay;
};

static const struct oche_param params[] = {
    OCHE_TOPOLOGY_COUNT(dumbbell, left_hosts, 2, 1, 1023, NULL, "hosts 0 … at the left switch"),
    OCHE_TOPOLOGY_COUNT(dumbbell, right_hosts, 2, 1, 1023, NULL,
                        "hosts at the right switch, numbered after those at the left"),
    OCHE_TOPOLOGY_RATE(dumbbell, host_rate, 40 * OCHE_GBPS, NULL, "of each host's link"),
    OCHE_TOPOLOGY_RATE(dumbbell, bottleneck_rate, 40 * OCHE_GBPS, NULL,
                       "of the link between the switches"),
    OCHE_TOPOLOGY_DELAY(dumbbell, delay, OCHE_US, NULL, "one way, of each host's link"),
    OCHE_TOPOLOGY_DELAY(dumbbell, bottleneck_delay, OCHE_US, NULL,
                        "one way, of the link between the switches"),
};
static const struct oche_param_table table = {.params = params,
                                              .count = sizeof(params) / sizeof(params[0]),
                                              .struct_bytes = sizeof(struct dumbbell)};

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct dumbbell *p = values;
    uint32_t left = (uint32_t)p->left_hosts, right = (uint32_t)p->right_hosts;
    uint32_t tor = left + right; /* the left one; the right one follows */
    char rate[32], bottleneck[32], ratio[48];

    if (!oche_topology_begin(topology, tor, 2, tor + 1, error))
        return false;
    oche_topology_name(topology, tor, OCHE_NODE_TOR, 0, "tor", 0);
    oche_topology_name(topology, tor + 1, OCHE_NODE_TOR, 1, "tor", 1);
    oche_topology_hosts(topology, tor, 0, left, 0, p->host_rate, p->delay);
    oche_topology_hosts(topology, tor + 1, left, right, 1, p->host_rate, p->delay);
    oche_topology_link(topology, tor, tor + 1, p->bottleneck_rate, p->bottleneck_delay);
    snprintf(topology->summary, sizeof(topology->summary),
             "dumbbell: %u and %u hosts at %s, a bottleneck of %s (%s from the left)", left, right,
             oche_topology_rate(p->host_rate, rate, sizeof(rate)),
             oche_topology_rate(p->bottleneck_rate, bottleneck, sizeof(bottleneck)),
             oche_topology_ratio(left * p->host_rate, p->bottleneck_rate, ratio, sizeof(ratio)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_dumbbell = {
    .name = "dumbbell",
    .help = "two switches with hosts and one bottleneck between them",
    .table = &table,
    .up_down = true,
    .build = build,
};
