/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clos of three tiers: pods of ToR and aggregation switches, with cores above. The paper's defaults
 * are the network of Dart (dart.md#topology): 1024 hosts, 16 pods of 4 ToR with 16 hosts and 4
 * uplinks each (4:1), 4 aggregation switches per pod, 16 cores. Those in use have the same shape,
 * with hosts of 100 Gbit/s, uplinks of 400 Gbit/s and 1:1 (dcqcn.md#deployed). The testbed of DCQCN
 * (its Fig 2: 4 ToR, 4 leaves, 2 spines) is: pods 2, tors_per_pod 2, uplinks_per_tor 2,
 * oversubscription 0, cores 2, all rates 40Gbps.
 *
 * A parameter that is 0, or a rate that is `auto`, is derived from the others. A ToR's uplinks
 * follow from the oversubscription; a pod has as many aggregation switches as a ToR has uplinks;
 * above the aggregation switches there is no oversubscription; each pod has one link to each core.
 * Uplink u of a ToR leads to aggregation switch u mod aggs_per_pod of its pod. Uplink u of
 * aggregation switch a leads to core (a * uplinks_per_agg + u) mod cores.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fabric/in_use.h"
#include "params/error.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct clos {
    uint32_t preset;
    uint64_t pods, tors_per_pod, hosts_per_tor;
    double oversubscription;
    uint64_t uplinks_per_tor, aggs_per_pod, uplinks_per_agg, cores;
    uint64_t host_rate, link_rate, core_rate;
    oche_time delay, link_delay;
};

static const struct oche_param params[] = {
    OCHE_PRESET_ROW(struct clos),
    {OCHE_PARAM(struct clos, pods), OCHE_IS_COUNT(16, 2, 1024), .where = "dart.md#topology",
     .help = "groups of ToR switches"},
    {OCHE_PARAM(struct clos, tors_per_pod), OCHE_IS_COUNT(4, 1, 256), .where = "dart.md#topology",
     .help = "ToR switches in each pod"},
    {OCHE_PARAM(struct clos, hosts_per_tor), OCHE_IS_COUNT(16, 1, 1024),
     .where = "dart.md#topology", .help = "hosts at each ToR, numbered ToR by ToR"},
    {OCHE_PARAM(struct clos, oversubscription), OCHE_IS_REAL(4, 0, 1024),
     .where = "dart.md#topology; dcqcn.md#deployed",
     .help = "host rates over uplink rates of a ToR, 4 is 4:1; 0: whatever uplinks_per_tor makes"},
    {OCHE_PARAM(struct clos, uplinks_per_tor), OCHE_IS_COUNT(0, 0, 1024),
     .help = "0: from oversubscription"},
    {OCHE_PARAM(struct clos, aggs_per_pod), OCHE_IS_COUNT(0, 0, 1024),
     .help = "aggregation switches in each pod; 0: as many as uplinks_per_tor"},
    {OCHE_PARAM(struct clos, uplinks_per_agg), OCHE_IS_COUNT(0, 0, 1024),
     .help = "0: as much rate up as down at the aggregation"},
    {OCHE_PARAM(struct clos, cores), OCHE_IS_COUNT(0, 0, 65536),
     .help = "0: aggs_per_pod * uplinks_per_agg, a link from every pod to every core"},
    {OCHE_PARAM(struct clos, host_rate), OCHE_IS_LINK_RATE(10 * OCHE_GBPS),
     .where = "Dart sec VI-A; dcqcn.md#deployed", .help = "of each host's link"},
    {OCHE_PARAM(struct clos, link_rate), OCHE_IS_FABRIC_RATE(10 * OCHE_GBPS),
     .where = "Dart sec VI-A; dcqcn.md#deployed",
     .help =
         "of each link between ToR and aggregation; auto: four times host_rate if four uplinks "
         "or more are left and Ethernet has it, else host_rate; with uplinks_per_tor the higher "
         "rate of Ethernet that makes the oversubscription"},
    {OCHE_PARAM(struct clos, core_rate), OCHE_IS_FABRIC_RATE(10 * OCHE_GBPS),
     .where = "Dart sec VI-A; dcqcn.md#deployed",
     .help = "of each link between aggregation and core; auto: link_rate"},
    {OCHE_PARAM(struct clos, delay), OCHE_IS_LINK_DELAY(5 * OCHE_US),
     .where = "Dart sec VI-A; dcqcn.md#deployed", .help = "one way, of each host's link"},
    {OCHE_PARAM(struct clos, link_delay), OCHE_IS_LINK_DELAY(5 * OCHE_US),
     .where = "Dart sec VI-A; dcqcn.md#deployed", .help = "one way, of each link between switches"},
};
static const struct oche_deployed in_use[] = {
    {"oversubscription", {.real = 1}},    {"host_rate", {.u = OCHE_IN_USE_RATE}},
    {"link_rate", {.u = OCHE_RATE_AUTO}}, {"core_rate", {.u = OCHE_RATE_AUTO}},
    {"delay", {.u = OCHE_IN_USE_DELAY}},  {"link_delay", {.u = OCHE_IN_USE_DELAY}},
};
static const struct oche_param_table table = OCHE_PARAM_TABLE_DEPLOYED(params, struct clos, in_use);

/* Fewer links than this between a ToR and the aggregation would leave too few paths. */
#define LEAST_UPLINKS 4

/* Returns the rate of uplinks if their number follows from the oversubscription. */
static uint64_t rate_by_oversubscription(const struct clos *p)
{
    uint64_t rate = OCHE_IN_USE_UPLINK_BY * p->host_rate;
    uint64_t step = p->aggs_per_pod > 0 ? p->aggs_per_pod : 1;
    double uplinks =
        (double)(p->hosts_per_tor * p->host_rate) / (p->oversubscription * (double)rate);
    uint64_t whole = (uint64_t)(uplinks + 0.5);

    if (oche_topology_is_ethernet(rate) && whole >= LEAST_UPLINKS && whole % step == 0 &&
        fabs(uplinks - (double)whole) <= 1e-9 * uplinks)
        return rate;
    return p->host_rate;
}

static uint64_t link_rate(const struct clos *p)
{
    if (p->link_rate != OCHE_RATE_AUTO)
        return p->link_rate;
    if (p->oversubscription <= 0)
        return p->host_rate;
    if (p->uplinks_per_tor == 0)
        return rate_by_oversubscription(p);
    double exact = (double)(p->hosts_per_tor * p->host_rate) /
                   ((double)p->uplinks_per_tor * p->oversubscription);
    uint64_t rate = exact > (double)p->host_rate ? (uint64_t)(exact + 0.5) : 0;

    return oche_topology_is_ethernet(rate) ? rate : p->host_rate;
}

/* Returns the parameters with the rates that `auto` stands for. */
static struct clos with_rates(const struct clos *given)
{
    struct clos p = *given;

    p.link_rate = link_rate(given);
    if (p.core_rate == OCHE_RATE_AUTO)
        p.core_rate = p.link_rate;
    return p;
}

static uint64_t derived(const void *values, const char *name)
{
    struct clos p = with_rates(values);

    if (strcmp(name, "link_rate") == 0)
        return p.link_rate;
    return strcmp(name, "core_rate") == 0 ? p.core_rate : 0;
}

/* The parameters, with each 0 replaced by the value derived from the others. */
struct shape {
    uint32_t pods, tors, hosts, uplinks, aggs, agg_uplinks, cores;
};

/* Returns the divisors of `n`: "1, 2, 4, 8 or 16". */
static const char *divisors(uint64_t n, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (uint64_t d = 1; d <= n; d++) {
        if (n % d != 0)
            continue;
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%llu",
                                 d == 1   ? ""
                                 : d == n ? " or "
                                          : ", ",
                                 (unsigned long long)d);
        if (used >= text_bytes)
            break;
    }
    return text;
}

/* True if a ToR with `uplinks` uplinks has exactly the oversubscription for which `p` asks. */
static bool is_ratio(const struct clos *p, uint64_t uplinks)
{
    double down = (double)(p->hosts_per_tor * p->host_rate);
    double up = (double)(uplinks * p->link_rate) * p->oversubscription;

    return up - down <= 1e-9 * down && down - up <= 1e-9 * down;
}

/* Returns the oversubscription of a ToR with `uplinks` uplinks, as in scenarios: "16/3" or "4". */
static const char *ratio_of(const struct clos *p, uint64_t uplinks, char *text, size_t text_bytes)
{
    char *colon;

    oche_topology_ratio(p->hosts_per_tor * p->host_rate, uplinks * p->link_rate, text, text_bytes);
    for (colon = text; *colon != ':'; colon++)
        ;
    if (colon[1] == '1' && colon[2] == '\0')
        *colon = '\0';
    else
        *colon = '/';
    return text;
}

static bool find_uplinks(const struct clos *p, uint32_t *uplinks, struct oche_error *error)
{
    uint64_t step = p->aggs_per_pod > 0 ? p->aggs_per_pod : 1, low, high;
    double exact;
    char host[32], link[32], ratio_low[48], ratio_high[48];

    if (p->uplinks_per_tor > 0) {
        *uplinks = (uint32_t)p->uplinks_per_tor;
        if (p->oversubscription <= 0 || is_ratio(p, p->uplinks_per_tor))
            return true;
        ratio_of(p, p->uplinks_per_tor, ratio_low, sizeof(ratio_low));
        return oche_fail(
            error,
            "oversubscription: %g, but %llu uplinks_per_tor make it %s; write %s, or 0 to take it "
            "as it comes",
            p->oversubscription, (unsigned long long)p->uplinks_per_tor, ratio_low, ratio_low);
    }
    if (p->oversubscription <= 0)
        return oche_fail(error, "uplinks_per_tor: 0, and oversubscription is 0 too; one of them "
                                "decides the uplinks");
    exact =
        (double)(p->hosts_per_tor * p->host_rate) / ((double)p->link_rate * p->oversubscription);
    if (exact > OCHE_TOPOLOGY_MAX_PORTS)
        return oche_fail(error,
                         "oversubscription: %g needs %.4g uplinks; a ToR has at most %u ports",
                         p->oversubscription, exact, OCHE_TOPOLOGY_MAX_PORTS);
    low = (uint64_t)(exact * (1 + 1e-9) / (double)step) * step;
    *uplinks = (uint32_t)low;
    if (low > 0 && is_ratio(p, low))
        return true;
    high = low + step;
    oche_topology_rate(p->host_rate, host, sizeof(host));
    oche_topology_rate(p->link_rate, link, sizeof(link));
    ratio_of(p, high, ratio_high, sizeof(ratio_high));
    if (low == 0)
        return oche_fail(error,
                         "oversubscription: %g needs %.4g uplinks of %s for %llu hosts "
                         "of %s; %s (%llu) would do",
                         p->oversubscription, exact, link, (unsigned long long)p->hosts_per_tor,
                         host, ratio_high, (unsigned long long)high);
    return oche_fail(
        error,
        "oversubscription: %g needs %.4g uplinks of %s for %llu hosts of %s%s; %s (%llu uplinks) "
        "or %s (%llu) would do",
        p->oversubscription, exact, link, (unsigned long long)p->hosts_per_tor, host,
        step > 1 ? ", not a multiple of aggs_per_pod" : "",
        ratio_of(p, low, ratio_low, sizeof(ratio_low)), (unsigned long long)low, ratio_high,
        (unsigned long long)high);
}

static bool find_aggregation(const struct clos *p, struct shape *shape, struct oche_error *error)
{
    uint64_t down;
    char list[160];

    shape->aggs = p->aggs_per_pod > 0 ? (uint32_t)p->aggs_per_pod : shape->uplinks;
    if (shape->uplinks % shape->aggs != 0)
        return oche_fail(
            error, "aggs_per_pod: %u uplinks of a ToR do not spread evenly over %u; %s would do",
            shape->uplinks, shape->aggs, divisors(shape->uplinks, list, sizeof(list)));
    shape->agg_uplinks = (uint32_t)p->uplinks_per_agg;
    if (shape->agg_uplinks > 0)
        return true;
    down = (uint64_t)shape->tors * (shape->uplinks / shape->aggs) * p->link_rate;
    if (down % p->core_rate != 0 || down / p->core_rate > OCHE_TOPOLOGY_MAX_PORTS) {
        char down_rate[32], core[32];

        return oche_fail(
            error,
            "uplinks_per_agg: %s of downlinks are no multiple of core_rate %s, or too many; "
            "give a number of uplinks, or another core_rate",
            oche_topology_rate(down, down_rate, sizeof(down_rate)),
            oche_topology_rate(p->core_rate, core, sizeof(core)));
    }
    shape->agg_uplinks = (uint32_t)(down / p->core_rate);
    return true;
}

static bool find_shape(const struct clos *p, struct shape *shape, struct oche_error *error)
{
    uint64_t pod_uplinks, cores, hosts, largest;
    char list[160];

    *shape = (struct shape){.pods = (uint32_t)p->pods,
                            .tors = (uint32_t)p->tors_per_pod,
                            .hosts = (uint32_t)p->hosts_per_tor};
    if (!find_uplinks(p, &shape->uplinks, error) || !find_aggregation(p, shape, error))
        return false;
    pod_uplinks = (uint64_t)shape->aggs * shape->agg_uplinks;
    cores = p->cores > 0 ? p->cores : pod_uplinks;
    if (pod_uplinks > OCHE_TOPOLOGY_MAX_LINKS)
        return oche_topology_fits(0, 0, pod_uplinks, 0, "pods", error);
    if (pod_uplinks % cores != 0)
        return oche_fail(error,
                         "cores: %llu uplinks of a pod do not spread evenly over %llu; %s would do",
                         (unsigned long long)pod_uplinks, (unsigned long long)cores,
                         divisors(pod_uplinks, list, sizeof(list)));
    hosts = p->pods * p->tors_per_pod * p->hosts_per_tor;
    largest = pod_uplinks / cores * p->pods;
    if (largest < (uint64_t)shape->hosts + shape->uplinks)
        largest = (uint64_t)shape->hosts + shape->uplinks;
    shape->cores = (uint32_t)cores; /* below 2^32, because the number of nodes is limited */
    return oche_topology_fits(hosts, p->pods * (p->tors_per_pod + shape->aggs) + cores,
                              hosts + p->pods * (p->tors_per_pod * shape->uplinks + pod_uplinks),
                              largest, "pods", error);
}

static bool check(const void *values, struct oche_error *error)
{
    struct clos p = with_rates(values);
    struct shape shape;

    return find_shape(&p, &shape, error);
}

static void build_pod(const struct clos *p, const struct shape *s, struct oche_topology *topology,
                      uint32_t pod)
{
    uint32_t tor = topology->host_count + pod * s->tors;
    uint32_t agg = topology->host_count + s->pods * s->tors + pod * s->aggs;
    uint32_t core = topology->host_count + s->pods * (s->tors + s->aggs);

    for (uint32_t a = 0; a < s->aggs; a++)
        oche_topology_name(topology, agg + a, OCHE_NODE_AGGREGATION, pod, "agg", pod * s->aggs + a);
    for (uint32_t t = 0; t < s->tors; t++) {
        uint32_t number = pod * s->tors + t;

        oche_topology_name(topology, tor + t, OCHE_NODE_TOR, pod, "tor", number);
        oche_topology_hosts(topology, tor + t, number * s->hosts, s->hosts, pod, p->host_rate,
                            p->delay);
        for (uint32_t u = 0; u < s->uplinks; u++)
            oche_topology_link(topology, tor + t, agg + u % s->aggs, p->link_rate, p->link_delay);
    }
    for (uint32_t a = 0; a < s->aggs; a++)
        for (uint32_t u = 0; u < s->agg_uplinks; u++)
            oche_topology_link(topology, agg + a, core + (a * s->agg_uplinks + u) % s->cores,
                               p->core_rate, p->link_delay);
}

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    struct clos rated = with_rates(values);
    const struct clos *p = &rated;
    struct shape s;
    uint64_t hosts, pod_links;
    char at_tor[64], at_agg[64], rates[3][32];

    if (!find_shape(p, &s, error))
        return false;
    hosts = (uint64_t)s.pods * s.tors * s.hosts;
    pod_links = (uint64_t)s.tors * (s.hosts + s.uplinks) + (uint64_t)s.aggs * s.agg_uplinks;
    if (!oche_topology_begin(topology, hosts, (uint64_t)s.pods * (s.tors + s.aggs) + s.cores,
                             s.pods * pod_links, error))
        return false;
    for (uint32_t c = 0; c < s.cores; c++)
        oche_topology_name(topology, (uint32_t)hosts + s.pods * (s.tors + s.aggs) + c,
                           OCHE_NODE_CORE, OCHE_NO_POD, "core", c);
    for (uint32_t pod = 0; pod < s.pods; pod++)
        build_pod(p, &s, topology, pod);
    snprintf(
        topology->summary, sizeof(topology->summary),
        "clos: %u hosts at %s, %u pods, %u ToR, %u aggregation, %u core, links of %s, to cores "
        "%s, oversubscription %s at the ToR, %s at the aggregation",
        topology->host_count, oche_topology_rate(p->host_rate, rates[0], sizeof(rates[0])), s.pods,
        s.pods * s.tors, s.pods * s.aggs, s.cores,
        oche_topology_rate(p->link_rate, rates[1], sizeof(rates[1])),
        oche_topology_rate(p->core_rate, rates[2], sizeof(rates[2])),
        oche_topology_oversubscription(s.hosts * p->host_rate, s.uplinks * p->link_rate, at_tor,
                                       sizeof(at_tor)),
        oche_topology_oversubscription((uint64_t)s.tors * (s.uplinks / s.aggs) * p->link_rate,
                                       s.agg_uplinks * p->core_rate, at_agg, sizeof(at_agg)));
    return oche_topology_finish(topology, error);
}

const struct oche_topology_type oche_topology_clos = {
    .name = "clos",
    .help = "three tiers: pods of ToR and aggregation switches, cores above",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "tor", [OCHE_NODE_AGGREGATION] = "agg", [OCHE_NODE_CORE] = "core"},
    .up_down = true,
    .check = check,
    .derived = derived,
    .build = build,
};
