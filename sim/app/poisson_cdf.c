/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poisson arrivals with sizes from a distribution, as the HPCC paper's generator makes them
 * (workloads.md#generator): each host, or each of the first few, starts flows by a Poisson process
 * of its own, to another host drawn uniformly, so that the host offers `load` of its link. With
 * `pairs`, random pairs of hosts start the flows instead. The load that a pair offers does not
 * depend on how slow its flows are.
 */
#include <math.h>
#include <stdlib.h>

#include "params/error.h"
#include "sim/app/cdf.h"
#include "sim/app/cdf_data.h"
#include "sim/app/generate.h"
#include "sim/engine/variate.h"

#define X(name, text) CDF_##name,
enum cdf { OCHE_CDF_DATA };
#undef X

struct poisson {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    uint32_t cdf; /* index into oche_cdf_names */
    const char *cdf_file;
    double load;
    uint32_t load_of;
    bool headers;
    uint64_t senders, pairs;
    oche_time start, stop;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct poisson, cdf), OCHE_IS_CHOICE(CDF_websearch, oche_cdf_names),
     .needs = "!cdf_file", .where = "workloads.md#distributions",
     .help = "published distribution of flow sizes"},
    {OCHE_PARAM(struct poisson, cdf_file), OCHE_IS_TEXT, .where = "workloads.md#files",
     .help = "instead of cdf: a file of lines \"size_bytes cdf\", in percent or fractions"},
    {OCHE_PARAM(struct poisson, load), OCHE_IS_REAL(0.5, 0.0001, 10.0),
     .where = "workloads.md#generator",
     .help = "part of its own link that each host's flows would fill in the mean"},
    {OCHE_PARAM(struct poisson, load_of), OCHE_IS_CHOICE(OCHE_LOAD_OF_HOST, oche_load_of_names),
     .help = "which link: a host's, or its share of its ToR's uplinks, by the rate of its link"},
    {OCHE_PARAM(struct poisson, headers), OCHE_IS_BOOL(false),
     .help = "false: load counts payload, as published generators do; true: also headers and gaps"},
    {OCHE_PARAM(struct poisson, senders), OCHE_IS_COUNT(0, 0, 1000000),
     .help = "N: only the first N hosts send, and only to the others, as across a dumbbell; 0: "
             "each host to each other one"},
    {OCHE_PARAM(struct poisson, pairs), OCHE_IS_COUNT(0, 0, 100000),
     .help = "N: instead of every host, N pairs of a sender and a receiver, drawn at random, no "
             "two the same, each with this load; 0: each host to each other one"},
    {OCHE_PARAM(struct poisson, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "no flow starts earlier"},
    {OCHE_PARAM(struct poisson, stop), OCHE_IS_TIME(OCHE_NEVER, 0, OCHE_NEVER),
     .help = "no flow starts then or later; never: to the end of the run"},
    OCHE_PARAM_INITIAL_RATE(poisson),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct poisson);

/* Returns the mean time between two flows of a host with rates `host`, in picoseconds. */
static double mean_gap(const struct poisson *p, const struct oche_workload_facts *facts,
                       const struct oche_host_rate *host, double mean_bytes)
{
    double rate = (double)(p->load_of == OCHE_LOAD_OF_HOST ? host->link_bps : host->uplink_bps);

    if (p->headers)
        mean_bytes *= (double)(facts->mtu_bytes + facts->header_bytes) / (double)facts->mtu_bytes;
    return mean_bytes * 8.0 * (double)OCHE_SEC / (p->load * rate);
}

/* The parameters of a source that draws flows. */
struct arrivals {
    struct oche_cdf cdf;
    oche_time to; /* no flow starts then or later */
    uint32_t senders;
    struct oche_workload_facts facts;
};

static void release_arrivals(void *context)
{
    struct arrivals *arrivals = context;

    oche_cdf_free(&arrivals->cdf);
    free(arrivals);
}

static bool draw_start(struct oche_flow_source *source)
{
    const struct arrivals *arrivals = source->context;

    source->flow.start += oche_random_exponential_time(&source->random, source->left);
    return source->flow.start < arrivals->to;
}

/* Draws a flow of a pair of hosts. */
static bool draw_of_pair(struct oche_flow_source *source)
{
    const struct arrivals *arrivals = source->context;

    if (!draw_start(source))
        return false;
    source->flow.bytes = oche_cdf_sample(&arrivals->cdf, &source->random);
    return true;
}

/* Draws a flow of a host to any other host or, with senders, to any host that does not send. */
static bool draw_of_host(struct oche_flow_source *source)
{
    const struct arrivals *arrivals = source->context;
    uint32_t senders = arrivals->senders, hosts = arrivals->facts.host_count;

    if (!draw_start(source))
        return false;
    source->flow.dst =
        senders == 0 ? oche_workload_other_host(&arrivals->facts, &source->random, source->flow.src)
                     : senders + (uint32_t)oche_random_below(&source->random, hosts - senders);
    source->flow.bytes = oche_cdf_sample(&arrivals->cdf, &source->random);
    return true;
}

/* Returns the mean gap between two flows of a sender, for its source. */
static oche_time gap_of(const struct poisson *p, const struct oche_workload_facts *facts,
                        const struct arrivals *arrivals, uint32_t sender)
{
    double gap = mean_gap(p, facts, oche_workload_rate(facts, sender), arrivals->cdf.mean);

    /* A mean gap of 2^55 ps, which is 10 hours, means no flow at all. */
    return (oche_time)((gap < 0x1p55 ? gap : 0x1p55) + 0.5);
}

static bool add_hosts(const struct poisson *p, const struct oche_workload_facts *facts,
                      struct oche_flow_list *list, const struct arrivals *arrivals)
{
    uint32_t hosts = p->senders > 0 ? (uint32_t)p->senders : facts->host_count;
    bool good = true;

    for (uint32_t i = 0; i < hosts && good; i++) {
        uint32_t host = p->senders > 0 ? i : oche_workload_host_at(facts, i);
        struct oche_flow_source source = oche_flow_list_source(
            list, facts->number, host, (host + 1) % facts->host_count, p->start);

        source.draw = draw_of_host;
        source.draws_dst = true;
        source.context = arrivals;
        source.random = oche_workload_stream(facts, "poisson", i);
        source.left = gap_of(p, facts, arrivals, host);
        good = oche_flow_list_add_source(list, &source);
    }
    return good;
}

static bool add_pairs(const struct poisson *p, const struct oche_workload_facts *facts,
                      struct oche_flow_list *list, const struct arrivals *arrivals,
                      const struct oche_host_pair *pairs)
{
    bool good = true;

    for (uint64_t pair = 0; pair < p->pairs && good; pair++) {
        struct oche_flow_source source =
            oche_flow_list_source(list, facts->number, pairs[pair].src, pairs[pair].dst, p->start);

        source.draw = draw_of_pair;
        source.context = arrivals;
        source.random = oche_workload_stream(facts, "poisson of pair", pair);
        source.left = gap_of(p, facts, arrivals, pairs[pair].src);
        good = oche_flow_list_add_source(list, &source);
    }
    return good;
}

/* Returns about how many flows there will be; infinity if they begin closer than can be told. */
static double count_flows(const struct poisson *p, const struct oche_workload_facts *facts,
                          const struct arrivals *arrivals, const struct oche_host_pair *pairs)
{
    const uint64_t sources = p->pairs > 0     ? p->pairs
                             : p->senders > 0 ? p->senders
                                              : facts->host_count;
    double count = 0;

    for (uint64_t i = 0; i < sources; i++) {
        uint32_t sender = pairs != NULL ? pairs[i].src : (uint32_t)i;
        double gap = mean_gap(p, facts, oche_workload_rate(facts, sender), arrivals->cdf.mean);

        if (gap < 1.0)
            return INFINITY;
        count += (double)(arrivals->to - p->start) / gap;
    }
    return count;
}

static bool check(const struct poisson *p, const struct oche_workload_facts *facts,
                  struct oche_error *error)
{
    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (p->stop <= p->start)
        return oche_fail(error, "stop: not after start; a later time, or never");
    if (p->senders >= facts->host_count)
        return oche_fail(error, "senders: %llu of %u hosts leave none to send to; at most %u",
                         (unsigned long long)p->senders, facts->host_count, facts->host_count - 1);
    if (p->senders > 0 && p->pairs > 0)
        return oche_fail(error, "pairs: are drawn among all hosts; without senders");
    if (!oche_workload_has_pairs(p->pairs, facts, error))
        return false;
    return oche_workload_has_load((enum oche_load_of)p->load_of, facts, error);
}

/* Reads the distribution of sizes. Returns NULL, with an error, on failure. */
static struct arrivals *make_arrivals(const struct poisson *p,
                                      const struct oche_workload_facts *facts,
                                      const struct oche_flow_list *list, struct oche_error *error)
{
    struct arrivals *arrivals = calloc(1, sizeof(*arrivals));

    if (arrivals == NULL) {
        oche_workload_no_memory(list, error);
        return NULL;
    }
    if (!oche_cdf_read(&arrivals->cdf, p->cdf, p->cdf_file, error)) {
        free(arrivals);
        return NULL;
    }
    arrivals->facts = *facts;
    arrivals->senders = (uint32_t)p->senders;
    arrivals->to = oche_time_min(p->stop, facts->duration);
    return arrivals;
}

static struct oche_workload_offer offered(const void *values,
                                          const struct oche_workload_facts *facts,
                                          const struct oche_host_rate *host)
{
    const struct poisson *p = values;
    double bps =
        oche_workload_offered_bps(p->load, (enum oche_load_of)p->load_of, p->headers, facts, host);

    if (p->pairs > 0)
        bps *= (double)p->pairs / facts->host_count;
    return (struct oche_workload_offer){bps, (uint32_t)p->senders};
}

/* Adds all sources, unless they have too many flows. `pairs`: of hosts, or NULL without pairs. */
static bool add_sources(const struct poisson *p, const struct oche_workload_facts *facts,
                        struct oche_flow_list *list, const struct arrivals *arrivals,
                        const struct oche_host_pair *pairs, struct oche_error *error)
{
    bool good;

    if (p->pairs > 0 && pairs == NULL)
        return oche_workload_no_memory(list, error);
    if (count_flows(p, facts, arrivals, pairs) > OCHE_WORKLOAD_MAX_FLOWS)
        return oche_fail(error, "load: makes more than %u flows; less load, or a shorter run",
                         OCHE_WORKLOAD_MAX_FLOWS);
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    good = pairs != NULL ? add_pairs(p, facts, list, arrivals, pairs)
                         : add_hosts(p, facts, list, arrivals);
    return good || oche_workload_no_memory(list, error);
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct poisson *p = values;
    struct oche_host_pair *pairs = NULL;
    struct arrivals *arrivals;
    bool good;

    if (!check(p, facts, error) || (arrivals = make_arrivals(p, facts, list, error)) == NULL)
        return false;
    if (p->pairs > 0)
        pairs = oche_workload_draw_pairs(facts, "poisson pair", p->pairs);
    good = add_sources(p, facts, list, arrivals, pairs, error);
    free(pairs);
    return (oche_flow_list_keep(list, arrivals, release_arrivals) ||
            oche_workload_no_memory(list, error)) &&
           good;
}

static const char *endless(const void *values)
{
    const struct poisson *p = values;

    return p->stop == OCHE_NEVER ? "set its stop" : NULL;
}

static struct oche_workload_arrivals arrivals_of(const void *values)
{
    const struct poisson *p = values;

    return (struct oche_workload_arrivals){OCHE_ARRIVALS_CLOCK, p->stop};
}

const struct oche_workload_type oche_workload_poisson_cdf = {
    .name = "poisson_cdf",
    .help = "flows of random sizes between random hosts, at a given load",
    .table = &table,
    .ends = "ends by itself with stop; else goes on for as long as the run",
    .endless = endless,
    .generate = generate,
    .offered = offered,
    .arrivals = arrivals_of,
};
