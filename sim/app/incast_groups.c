/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incasts of small groups, the foreground traffic of Dart's sec VI-A: groups of `degree` random
 * hosts each send one short message to a random receiver, at the same time. Groups start by one
 * Poisson process; together they offer `load` times `share` of all hosts' links. Where these differ
 * in rate, a host sends as much as any other, which is a larger part of a slower link. Sizes are
 * drawn for each flow ("short flows of size uniformly chosen"), or once for a group. Optionally the
 * groups are fixed sets of hosts that send repeatedly, the static groups of Dart's sec III-D; then
 * queue pairs keep their state from one message to the next.
 *
 * The plan tells which flows form a group (struct oche_flow_groups), for look-ahead (Dart sec
 * III-D).
 */
#include <string.h>

#include "params/error.h"
#include "sim/app/generate.h"
#include "sim/app/group_hosts.h"
#include "sim/engine/variate.h"
#include "params/units.h"

#define MOST_SIZES 16

enum size_of { SIZE_OF_FLOW, SIZE_OF_GROUP };

struct incast_groups {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    uint64_t degree, groups;
    const char *sizes;
    uint32_t size_of, disjoint;
    double load, share;
    uint32_t load_of;
    bool headers;
    oche_time start, stop, jitter;
};

static const char *const size_of_names[] = {"flow", "group", NULL};
static const char *const disjoint_names[] = {"none", "receivers", "hosts", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct incast_groups, degree), OCHE_IS_COUNT(16, 1, 1000000),
     .help = "senders of a group"},
    {OCHE_PARAM(struct incast_groups, groups), OCHE_IS_COUNT(0, 0, 1000000),
     .help = "0: senders and receiver are drawn anew for each group; N: N sets of them are drawn "
             "once, and each group is one of these"},
    {OCHE_PARAM(struct incast_groups, disjoint), OCHE_IS_CHOICE(OCHE_DISJOINT_NONE, disjoint_names),
     .where = "dart.md#d24",
     .help = "what sets do not share: none: a host may be in several, also as the receiver; "
             "receivers: each set has a receiver of its own; hosts: no host is in two"},
    {OCHE_PARAM(struct incast_groups, sizes), OCHE_IS_TEXT, .preset.text = "2KB, 4KB, 8KB",
     .where = "Dart sec VI-A", .help = "sizes of flows: a list, all of them equally likely"},
    {OCHE_PARAM(struct incast_groups, size_of), OCHE_IS_CHOICE(SIZE_OF_FLOW, size_of_names),
     .help = "a size is drawn for each flow, or for a group as a whole"},
    {OCHE_PARAM(struct incast_groups, load), OCHE_IS_REAL(0.4, 0.0001, 10.0),
     .where = "Dart sec VI-A; dart.md#d23",
     .help = "load of all traffic, as a fraction of the rate that load_of names, of all hosts "
             "together"},
    {OCHE_PARAM(struct incast_groups, share), OCHE_IS_REAL(0.4, 0.0001, 1.0),
     .where = "Dart sec VI-A; dart.md#d24", .help = "part of the load that groups make"},
    {OCHE_PARAM(struct incast_groups, load_of),
     OCHE_IS_CHOICE(OCHE_LOAD_OF_UPLINK, oche_load_of_names), .where = "dart.md#d23",
     .help = "which link: a host's, or its share of its ToR's uplinks, by the rate of its link"},
    {OCHE_PARAM(struct incast_groups, headers), OCHE_IS_BOOL(false),
     .help = "false: load counts payload; true: also headers and gaps, as of full packets"},
    {OCHE_PARAM(struct incast_groups, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "no group starts earlier"},
    {OCHE_PARAM(struct incast_groups, stop), OCHE_IS_TIME(OCHE_NEVER, 0, OCHE_NEVER),
     .help = "no group starts then or later; never: to the end of the run"},
    {OCHE_PARAM(struct incast_groups, jitter), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .help = "each flow starts up to this much after its group, all times equally likely"},
    OCHE_PARAM_INITIAL_RATE(incast_groups),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct incast_groups);

struct sizes {
    uint64_t bytes[MOST_SIZES];
    uint32_t count;
    double mean;
};

static bool read_sizes(const char *text, struct sizes *sizes, struct oche_error *error)
{
    static const struct oche_param unit = {
        .name = "sizes", OCHE_IS_BYTES(0, 1, OCHE_MAX_FLOW_BYTES), .help = "bytes"};
    char word[OCHE_VALUE_BYTES];
    struct oche_error why;
    union oche_value value;

    *sizes = (struct sizes){.count = 0};
    for (const char *at = text == NULL ? "" : text;; at++) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, ","), end = length;

        while (end > 0 && (at[end - 1] == ' ' || at[end - 1] == '\t'))
            end--;
        if (end == 0)
            return oche_fail(error, "sizes: one is missing; a list, such as \"2KB, 4KB, 8KB\"");
        if (sizes->count == MOST_SIZES)
            return oche_fail(error, "sizes: more than %u; fewer", MOST_SIZES);
        if (end >= sizeof(word))
            return oche_fail(error, "sizes: \"%.20s…\" is no size; such as 8KB", at);
        memcpy(word, at, end);
        word[end] = '\0';
        if (!oche_value_parse(&unit, word, &value, &why))
            return oche_fail(error, "sizes: %s", why.text);
        sizes->bytes[sizes->count++] = value.u;
        sizes->mean += (double)value.u;
        at += length;
        if (*at == '\0')
            break;
    }
    sizes->mean /= sizes->count;
    return true;
}

static uint64_t draw_size(const struct sizes *sizes, struct oche_random *random)
{
    return sizes->bytes[oche_random_below(random, sizes->count)];
}

/* What making groups needs besides parameters and facts. */
struct maker {
    struct sizes sizes;
    struct oche_group_hosts hosts;
};

static bool add_group(const struct incast_groups *p, const struct oche_workload_facts *facts,
                      struct oche_flow_list *list, struct maker *maker, uint64_t number,
                      oche_time at)
{
    struct oche_group_hosts *hosts = &maker->hosts;
    struct oche_random random;
    uint32_t group;
    uint64_t bytes;

    oche_group_hosts_begin(hosts, number);
    bytes = draw_size(&maker->sizes, &hosts->random);
    oche_group_hosts_draw_senders(hosts);
    random = hosts->random;
    if (p->groups > 0) {
        random = oche_workload_stream(facts, "flows of a group", number);
        bytes = draw_size(&maker->sizes, &random);
    }
    group = oche_flow_list_add_group(list, hosts->senders, hosts->degree);
    if (group == 0)
        return false;
    for (uint32_t i = 0; i < hosts->degree; i++) {
        oche_time start = at + oche_workload_jitter(&random, p->jitter);
        uint32_t flow;

        if (p->size_of == SIZE_OF_FLOW)
            bytes = draw_size(&maker->sizes, &random);
        if (start >= facts->duration)
            continue;
        flow = oche_flow_list_add(list, facts->number, hosts->senders[i], hosts->receiver, bytes,
                                  start);
        if (flow == OCHE_NO_FLOW)
            return false;
        list->plan[flow].group = group;
    }
    return true;
}

static bool add_groups(const struct incast_groups *p, const struct oche_workload_facts *facts,
                       struct oche_flow_list *list, struct maker *maker, oche_time gap)
{
    struct oche_random random = oche_workload_stream(facts, "incast groups", 0);
    oche_time at = p->start, end = oche_time_min(p->stop, facts->duration);
    bool good = oche_group_hosts_make(&maker->hosts, facts, p->groups, (uint32_t)p->degree,
                                      (enum oche_disjoint)p->disjoint);

    for (uint64_t number = 0; good && (at += oche_random_exponential_time(&random, gap)) < end;
         number++)
        good = add_group(p, facts, list, maker, number, at);
    oche_group_hosts_free(&maker->hosts);
    return good;
}

static bool check(const struct incast_groups *p, const struct oche_workload_facts *facts,
                  struct oche_error *error)
{
    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (p->stop <= p->start)
        return oche_fail(error, "stop: not after start; a later time, or never");
    if (!oche_group_hosts_fit(p->groups, p->degree, (enum oche_disjoint)p->disjoint,
                              facts->host_count, error))
        return false;
    return oche_workload_has_load((enum oche_load_of)p->load_of, facts, error);
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct incast_groups *p = values;
    struct maker maker;
    double offered_bps, gap;

    if (!check(p, facts, error) || !read_sizes(p->sizes, &maker.sizes, error))
        return false;
    offered_bps = oche_workload_offered_by_all(p->load * p->share, (enum oche_load_of)p->load_of,
                                               p->headers, facts);
    gap = (double)p->degree * maker.sizes.mean * 8.0 * (double)OCHE_SEC / offered_bps;
    if (gap < 1.0 ||
        (double)(oche_time_min(p->stop, facts->duration) - p->start) / gap * (double)p->degree >
            OCHE_WORKLOAD_MAX_FLOWS)
        return oche_fail(error, "load: makes more than %u flows; less load, or a shorter run",
                         OCHE_WORKLOAD_MAX_FLOWS);
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    /* A mean gap of 2^55 ps, which is 10 hours, means no group at all. */
    gap = gap < 0x1p55 ? gap : 0x1p55;
    return add_groups(p, facts, list, &maker, (oche_time)(gap + 0.5)) ||
           oche_workload_no_memory(list, error);
}

static struct oche_workload_offer offered(const void *values,
                                          const struct oche_workload_facts *facts,
                                          const struct oche_host_rate *host)
{
    const struct incast_groups *p = values;
    double all = oche_workload_offered_by_all(p->load * p->share, (enum oche_load_of)p->load_of,
                                              p->headers, facts);

    (void)host; /* all hosts are in as many groups */
    return (struct oche_workload_offer){.bps = all / facts->host_count};
}

static const char *endless(const void *values)
{
    const struct incast_groups *p = values;

    return p->stop == OCHE_NEVER ? "set its stop" : NULL;
}

static uint32_t group_senders(const void *values)
{
    const struct incast_groups *p = values;

    return (uint32_t)p->degree;
}

static struct oche_workload_arrivals arrivals_of(const void *values)
{
    const struct incast_groups *p = values;

    return (struct oche_workload_arrivals){OCHE_ARRIVALS_CLOCK, p->stop};
}

const struct oche_workload_type oche_workload_incast_groups = {
    .name = "incast_groups",
    .help = "groups of random hosts that send short flows to random hosts, at a given load",
    .table = &table,
    .ends = "ends by itself with stop; else goes on for as long as the run",
    .endless = endless,
    .generate = generate,
    .group_senders = group_senders,
    .offered = offered,
    .arrivals = arrivals_of,
};
