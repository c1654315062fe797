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
    uint32_t verb;
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
     .needs = "!greedy|hosts=by_load", .where = "Dart sec VI-A; dart.md#d23",
     .help = "load of all traffic, as a fraction of the rate that load_of names"},
    {OCHE_PARAM(struct long_flows, share), OCHE_IS_REAL(0.6, 0.0001, 1.0),
     .needs = "!greedy|hosts=by_load", .where = "Dart sec VI-A; dart.md#d24",
     .help = "part of the load that long flows make"},
    {OCHE_PARAM(struct long_flows, load_of),
     OCHE_IS_CHOICE(OCHE_LOAD_OF_UPLINK, oche_load_of_names), .where = "dart.md#d23",
     .help = "which link: a host's, or its share of its ToR's uplinks, by the rate of its link"},
    {OCHE_PARAM(struct long_flows, headers), OCHE_IS_BOOL(false),
     .help = "false: load counts payload; true: also headers and gaps"},
    {OCHE_PARAM(struct long_flows, greedy), OCHE_IS_BOOL(false), .where = "dart.md#d28",
     .help = "each flow sends whatever it can; load and share count for hosts: by_load alone"},
    {OCHE_PARAM(struct long_flows, hosts), OCHE_IS_CHOICE(FLOWS_OF_ALL_HOSTS, hosts_names),
     .where = "dart.md#d28",
     .help = "hosts that have a flow; by_load: as many hosts, drawn at random, as make load times "
             "share of all links if each sends at its link's rate (with greedy)"},
    {OCHE_PARAM(struct long_flows, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "of the first flow"},
    {OCHE_PARAM(struct long_flows, spread), OCHE_IS_TIME(100 * OCHE_US, 0, OCHE_SEC),
     .help = "each flow starts up to this much later, all times equally likely"},
    OCHE_PARAM_INITIAL_RATE(long_flows),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct long_flows);

/* Returns the payload rate that a host with rates `host` offers. */
static double supply_of(const struct long_flows *p, const struct oche_workload_facts *facts,
                        const struct oche_host_rate *host)
{
    return oche_workload_offered_bps(p->load * p->share, (enum oche_load_of)p->load_of, p->headers,
                                     facts, host);
}

static bool check(const struct long_flows *p, const struct oche_workload_facts *facts,
                  struct oche_error *error)
{
    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (oche_workload_enough_for_all(facts, p->start, p->bytes) > OCHE_WORKLOAD_MAX_FLOWS)
        return oche_fail(error,
                         "bytes: messages of %llu bytes make more than %u flows until "
                         "the end of the run; larger ones",
                         (unsigned long long)p->bytes, OCHE_WORKLOAD_MAX_FLOWS);
    if (p->verb == OCHE_VERB_READ && !p->greedy)
        return oche_fail(error, "verb: a READ asks for bytes that are there; greedy: true, or "
                                "another verb");
    if (p->hosts == FLOWS_BY_LOAD && !p->greedy)
        return oche_fail(error, "hosts: by_load is for greedy flows; greedy: true, or all");
    if (p->greedy && p->hosts == FLOWS_OF_ALL_HOSTS)
        return true;
    if (!oche_workload_has_load((enum oche_load_of)p->load_of, facts, error))
        return false;
    for (uint32_t i = 0; i < facts->rates.count; i++)
        if (supply_of(p, facts, &facts->rates.kinds[i]) < 1000)
            return oche_fail(error,
                             "load: a host would offer less than 1000 bits per second; more");
    return true;
}

/* Returns the mean rate of the hosts' links. */
static double mean_link_bps(const struct oche_workload_facts *facts)
{
    oche_u128 sum = 0;

    for (uint32_t i = 0; i < facts->rates.count; i++)
        sum += (oche_u128)facts->rates.kinds[i].link_bps * facts->rates.kinds[i].hosts;
    return (double)sum / facts->host_count;
}

/*
 * Returns how many of the hosts in `order`, from the first on, have a flow. This is all hosts or,
 * by load, as many as make what all hosts offer together, as nearly as can be, if each of them
 * sends at its link's rate. Returns 0, with an error, if there is no such number.
 */
static uint32_t count_hosts(const struct long_flows *p, const struct oche_workload_facts *facts,
                            const uint32_t *order, struct oche_error *error)
{
    const double mean = mean_link_bps(facts);
    double wanted = 0, sum = 0; /* in hosts of a mean rate */
    uint32_t count = 0;

    if (p->hosts == FLOWS_OF_ALL_HOSTS)
        return facts->host_count;
    for (uint32_t i = 0; i < facts->rates.count; i++) {
        const struct oche_host_rate *kind = &facts->rates.kinds[i];

        wanted += supply_of(p, facts, kind) / mean * kind->hosts;
    }
    if (wanted > facts->host_count) {
        oche_fail(error, "load: with hosts: by_load more than all hosts would have a flow; less");
        return 0;
    }
    while (count < facts->host_count) {
        double host = (double)oche_workload_rate(facts, order[count])->link_bps / mean;

        if (wanted - sum < host / 2)
            break;
        sum += host;
        count++;
    }
    if (count == 0)
        oche_fail(error, "load: with hosts: by_load no host would have a flow; more");
    return count;
}

/*
 * Returns all hosts, by load in random order; the first of them have a flow. NULL without memory.
 */
static uint32_t *order_hosts(const struct long_flows *p, const struct oche_workload_facts *facts)
{
    struct oche_random random = oche_workload_stream(facts, "hosts with long flows", 0);
    uint32_t *order = malloc(facts->host_count * sizeof(*order));

    if (order == NULL)
        return NULL;
    if (p->hosts == FLOWS_BY_LOAD)
        oche_workload_shuffle_hosts(facts, &random, order);
    else
        for (uint32_t i = 0; i < facts->host_count; i++)
            order[i] = oche_workload_host_at(facts, i);
    return order;
}

/* Adds the host's flow, which lasts the whole run. */
static bool add_flow(const struct long_flows *p, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, uint32_t host)
{
    struct oche_random random =
        oche_workload_stream(facts, "long flow", oche_workload_place_of(facts, host));
    uint32_t receiver = oche_workload_other_host(facts, &random, host);
    oche_time start = p->start + oche_workload_jitter(&random, p->spread);
    double supply_bps = supply_of(p, facts, oche_workload_rate(facts, host));

    if (start >= facts->duration)
        return true;
    list->supply_bps = p->greedy ? 0 : (uint64_t)(supply_bps + 0.5);
    return oche_workload_chain(list, facts, host, receiver, p->bytes, start,
                               oche_workload_enough(facts, p->start, p->bytes,
                                                    oche_workload_pair_bps(facts, host, receiver)));
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct long_flows *p = values;
    uint32_t count, *order;
    bool good;

    if (!check(p, facts, error))
        return false;
    order = order_hosts(p, facts);
    if (order == NULL)
        return oche_workload_no_memory(list, error);
    count = count_hosts(p, facts, order, error);
    good = count > 0;
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    for (uint32_t i = 0; good && i < count; i++)
        good = add_flow(p, facts, list, order[i]) || oche_workload_no_memory(list, error);
    free(order);
    return good;
}

static struct oche_workload_offer offered(const void *values,
                                          const struct oche_workload_facts *facts,
                                          const struct oche_host_rate *host)
{
    const struct long_flows *p = values;

    return (struct oche_workload_offer){.bps = p->greedy ? 0 : supply_of(p, facts, host)};
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
