/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parking lot: a chain of switches, each with hosts. A flow from the first switch to the last
 * crosses every link of the chain; flows between neighbours load one link each. The "parking lot"
 * of DCQCN Fig 3 is something else: an effect of ECMP in the testbed of DCQCN Fig 2, which clos.c
 * builds.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/in_use.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct parking_lot {
    uint32_t preset;
    uint64_t hops;
    uint64_t hosts_per_switch;
    uint64_t host_rate, link_rate;
    oche_time delay, link_delay;
};

/* A path has at most hops + 2 links, which is within OCHE_PATH_LINKS of routes.h. */
static const struct oche_param params[] = {
    OCHE_PRESET_ROW(struct parking_lot),
    {OCHE_PARAM(struct parking_lot, hops), OCHE_IS_COUNT(3, 1, 48),
     .help = "links of the chain; there is one switch more"},
    {OCHE_PARAM(struct parking_lot, hosts_per_switch), OCHE_IS_COUNT(2, 1, 1022),
     .help = "hosts at each switch: switch s has hosts s*n … s*n+n-1"},
    {OCHE_PARAM(struct parking_lot, host_rate), OCHE_IS_LINK_RATE(40 * OCHE_GBPS),
     .where = "dcqcn.md#deployed", .help = "of each host's link"},
    {OCHE_PARAM(struct parking_lot, link_rate), OCHE_IS_FABRIC_RATE(40 * OCHE_GBPS),
     .where = "dcqcn.md#deployed", .help = "of the chain's links; auto: host_rate"},
    {OCHE_PARAM(struct parking_lot, delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of each host's link"},
    {OCHE_PARAM(struct parking_lot, link_delay), OCHE_IS_LINK_DELAY(OCHE_US),
     .help = "one way, of the chain's links"},
};
static const struct oche_deployed in_use[] = {{"host_rate", {.u = OCHE_IN_USE_RATE}},
                                              {"link_rate", {.u = OCHE_RATE_AUTO}}};
static const struct oche_param_table table =
    OCHE_PARAM_TABLE_DEPLOYED(params, struct parking_lot, in_use);

static uint64_t link_rate(const struct parking_lot *p)
{
    return p->link_rate == OCHE_RATE_AUTO ? p->host_rate : p->link_rate;
}

static uint64_t derived(const void *values, const char *name)
{
    return strcmp(name, "link_rate") == 0 ? link_rate(values) : 0;
}

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct parking_lot *p = values;
    uint32_t switches = (uint32_t)p->hops + 1, per_switch = (uint32_t)p->hosts_per_switch;
    uint32_t hosts = switches * per_switch;
    char rate[32], link[32];

    if (!oche_topology_begin(topology, hosts, switches, hosts + p->hops, error))
        return false;
    for (uint32_t s = 0; s < switches; s++) {
        oche_topology_name(topology, hosts + s, OCHE_NODE_TOR, s, "tor", s);
        oche_topology_hosts(topology, hosts + s, s * per_switch, per_switch, s, p->host_rate,
                            p->delay);
    }
    for (uint32_t s = 0; s + 1 < switches; s++)
        oche_topology_link(topology, hosts + s, hosts + s + 1, link_rate(p), p->link_delay);
    snprintf(topology->summary, sizeof(topology->summary),
             "parking_lot: %u switches in a chain of %s links, %u hosts at %s at each", switches,
             oche_topology_rate(link_rate(p), link, sizeof(link)), per_switch,
             oche_topology_rate(p->host_rate, rate, sizeof(rate)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_parking_lot = {
    .name = "parking_lot",
    .help = "a chain of switches with hosts at each",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "tor"},
    .up_down = true,
    .derived = derived,
    .build = build,
};
