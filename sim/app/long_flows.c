/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long flows, the background traffic of Dart's sec VI-A: each host has one long flow for the whole
 * run, a message of 1 GB to a receiver drawn at random. The paper does not say what "load" means
 * for flows that outlast the run; here (dart.md#d28) the application produces bytes at a fixed
 * rate, so that all flows together offer `load` times `share`. Bytes that the network does not take
 * at once wait at the sender. Alternatively flows are greedy: all their bytes are there from the
 * start. If all hosts have greedy flows, these fill an oversubscribed network, whatever the load.
 * With `hosts: by_load` only some hosts have a flow: as many as make the load if each of them sends
 * at its link's rate.
 *
 * When a message is completely acknowledged, the host starts another one.
 */
#include <stdlib.h>

#include "params/error.h"
#include "sim/app/generate.h"

enum flows_of { FLOWS_OF_ALL_HOSTS, FLOWS_BY_LOAD };

struct long_flows {
    uint64_t initial_rate, tenant;
    uint64_t bytes;
    double load, share;
    uint32_t load_of, hosts;
    bool headers, greedy;
    oche_time start, spread;
};

static const char *const hosts_names[] = {"all", "by_load", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct long_flows, bytes), OCHE_IS_BYTES(1000000000, 1, OCHE_MAX_FLOW_BYTES),
     .help = "of a message"},
    {OCHE_PARAM(struct long_flows, load), OCHE_IS_REAL(0.4, 0.0001, 10.0),
     .where = "Dart sec VI-A; dart.md#d23",
     .help = "load of all traffic, as a fraction of the rate that load_of names"},
    {OCHE_PARAM(struct long_flows, share), OCHE_IS_REAL(0.6, 0.0001, 1.0),
     .where = "Dart sec VI-A; dart.md#d24", .help = "part of the load that long flows make"},
    {OCHE_PARAM(struct long_flows, load_of),
     OCHE_IS_CHOICE(OCHE_LOAD_OF_UPLINK, oche_load_of_names), .where = "dart.md#d23",
     .help = "which link: a host's, or a host's share of its ToR's uplinks"},
    {OCHE_PARAM(struct long_flows, headers), OCHE_IS_BOOL(false),
     .help = "false: load counts payload; true: also headers and gaps"},
    {OCHE_PARAM(struct long_flows, greedy), OCHE_IS_BOOL(false), .where = "dart.md#d28",
     .help = "each flow sends whatever it can; load and share count for hosts: by_load alone"},
    {OCHE_PARAM(struct long_flows, hosts), OCHE_IS_CHOICE(FLOWS_OF_ALL_HOSTS, hosts_names),
     .where = "dart.md#d28",
     .help = "hosts that have a flow; by_load: as many hosts, drawn at random, as make load times "
             "share if each sends at its link's rate (with greedy)"},
    {OCHE_PARAM(struct long_flows, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "of the first flow"},
    {OCHE_PARAM(struct long_flows, spread), OCHE_IS_TIME(100 * OCHE_US, 0, OCHE_SEC),
     .help = "each flow starts up to this much later, all times equally likely"},
    OCHE_PARAM_INITIAL_RATE(long_flows),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct long_flows);

static bool check(const struct long_flows *p, const struct oche_workload_facts *facts,
                  double supply_bps, struct oche_error *error)
{
    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (oche_workload_enough(facts, p->start, p->bytes) >
        OCHE_WORKLOAD_MAX_FLOWS / facts->host_count)
        return oche_fail(error,
                         "bytes: messages of %llu bytes make more than %u flows until "
                         "the end of the run; larger ones",
                         (unsigned long long)p->bytes, OCHE_WORKLOAD_MAX_FLOWS);
    if (p->hosts == FLOWS_BY_LOAD && !p->greedy)
        return oche_fail(error, "hosts: by_load is for greedy flows; greedy: true, or all");
    if (p->greedy && p->hosts == FLOWS_OF_ALL_HOSTS)
        return true;
    if (!oche_workload_has_load((enum oche_load_of)p->load_of, facts, error))
        return false;
    if (supply_bps < 1000)
        return oche_fail(error, "load: a host would offer less than 1000 bits per second; more");
    return true;
}

/*
 * Sets `count` to the number of hosts that have a flow. This is all hosts or, by load, the number
 * that makes a mean of `offered_bps` over all hosts if each of them sends at its link's rate.
 */
static bool count_hosts(const struct long_flows *p, const struct oche_workload_facts *facts,
                        double offered_bps, uint32_t *count, struct oche_error *error)
{
    double part = offered_bps / (double)facts->host_rate_bps;

    *count = facts->host_count;
    if (p->hosts == FLOWS_OF_ALL_HOSTS)
        return true;
    if (part * facts->host_count < 0.5)
        return oche_fail(error, "load: with hosts: by_load no host would have a flow; more");
    if (part > 1)
        return oche_fail(error, "load: with hosts: by_load more than all hosts would have a "
                                "flow; less");
    *count = (uint32_t)(part * facts->host_count + 0.5);
    return true;
}

/* Returns all hosts in random order; the first `count` of them have a flow. NULL without memory. */
static uint32_t *order_hosts(const struct long_flows *p, const struct oche_workload_facts *facts)
{
    struct oche_random random = oche_workload_stream(facts, "hosts with long flows", 0);
    uint32_t *order = malloc(facts->host_count * sizeof(*order));

    if (order == NULL)
        return NULL;
    for (uint32_t i = 0; i < facts->host_count; i++)
        order[i] = i;
    if (p->hosts == FLOWS_BY_LOAD)
        oche_workload_shuffle(&random, order, facts->host_count);
    return order;
}

/* Adds the host's flow, which lasts the whole run. */
static bool add_flow(const struct long_flows *p, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, uint32_t host, double supply_bps)
{
    struct oche_random random = oche_workload_stream(facts, "long flow", host);
    uint32_t receiver = oche_workload_other_host(&random, facts->host_count, host);
    oche_time start = p->start + oche_workload_jitter(&random, p->spread);

    if (start >= facts->duration)
        return true;
    list->supply_bps = p->greedy ? 0 : (uint64_t)(supply_bps + 0.5);
    return oche_workload_chain(list, facts, host, receiver, p->bytes, start,
                               oche_workload_enough(facts, p->start, p->bytes));
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct long_flows *p = values;
    double supply_bps = oche_workload_offered_bps(p->load * p->share, (enum oche_load_of)p->load_of,
                                                  p->headers, facts);
    uint32_t count, *order;
    bool good = true;

    if (!check(p, facts, supply_bps, error) || !count_hosts(p, facts, supply_bps, &count, error))
        return false;
    order = order_hosts(p, facts);
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    for (uint32_t i = 0; order != NULL && good && i < count; i++)
        good = add_flow(p, facts, list, order[i], supply_bps);
    good = good && order != NULL;
    free(order);
    return good || oche_workload_no_memory(list, error);
}

static struct oche_workload_offer offered(const void *values,
                                          const struct oche_workload_facts *facts)
{
    const struct long_flows *p = values;

    if (p->greedy)
        return (struct oche_workload_offer){.bps = 0};
    return (struct oche_workload_offer){
        .bps = oche_workload_offered_bps(p->load * p->share, (enum oche_load_of)p->load_of,
                                         p->headers, facts)};
}

static const char *endless(const void *values)
{
    (void)values;
    return "";
}

const struct oche_workload_type oche_workload_long_flows = {
    .name = "long_flows",
    .help = "each host has one flow for the whole run, that makes its bytes at a given rate",
    .table = &table,
    .ends = "goes on for as long as the run",
    .endless = endless,
    .generate = generate,
    .offered = offered,
};
