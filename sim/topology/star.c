/* SPDX-License-Identifier: Apache-2.0 */
/* Star: hosts at one switch, for incast and for flows that share one bottleneck. */
#include <stdio.h>

#include "fabric/in_use.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct star {
    uint32_t preset;
    uint64_t hosts;
    uint64_t host_rate;
    oche_time delay;
};

static const struct oche_param params[] = {
    OCHE_PRESET_ROW(struct star),
    {OCHE_PARAM(struct star, hosts), OCHE_IS_COUNT(17, 2, 1024), .help = "hosts around the switch"},
    {OCHE_PARAM(struct star, host_rate), OCHE_IS_LINK_RATE(40 * OCHE_GBPS),
     .where = "DCQCN sec 2.2; dcqcn.md#deployed", .help = "of each host's link"},
    {OCHE_PARAM(struct star, delay), OCHE_IS_LINK_DELAY(OCHE_US), .help = "one way, of each link"},
};
static const struct oche_deployed in_use[] = {{"host_rate", {.u = OCHE_IN_USE_RATE}}};
static const struct oche_param_table table = OCHE_PARAM_TABLE_DEPLOYED(params, struct star, in_use);

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct star *p = values;
    uint32_t hosts = (uint32_t)p->hosts;
    char rate[32];

    if (!oche_topology_begin(topology, hosts, 1, hosts, error))
        return false;
    oche_topology_name(topology, hosts, OCHE_NODE_TOR, 0, "tor", 0);
    oche_topology_hosts(topology, hosts, 0, hosts, 0, p->host_rate, p->delay);
    snprintf(topology->summary, sizeof(topology->summary), "star: %u hosts at %s, 1 switch", hosts,
             oche_topology_rate(p->host_rate, rate, sizeof(rate)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_star = {
    .name = "star",
    .help = "hosts around one switch",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "tor"},
    .up_down = true,
    .build = build,
};
