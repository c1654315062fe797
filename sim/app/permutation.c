/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutation: each host sends to one other host and receives from one other host
 * (workloads.md#permutation): a derangement drawn uniformly, or each receiver at the same distance
 * from its sender. A host sends one message, several one after the other, or sends until the end of
 * the run.
 */
#include <stdlib.h>

#include "params/error.h"
#include "sim/app/generate.h"

enum pattern { PATTERN_RANDOM, PATTERN_SHIFT };

struct permutation {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    uint32_t pattern;
    uint64_t shift, bytes, messages;
    oche_time start, jitter;
};

static const char *const pattern_names[] = {"random", "shift", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct permutation, pattern), OCHE_IS_CHOICE(PATTERN_RANDOM, pattern_names),
     .help = "random: no host to itself, all such permutations equally likely; shift: "
             "host i to host i+shift"},
    {OCHE_PARAM(struct permutation, shift), OCHE_IS_COUNT(1, 1, 1000000), .needs = "pattern=shift",
     .help = "pattern=shift: how far"},
    {OCHE_PARAM(struct permutation, bytes), OCHE_IS_BYTES(2000000, 1, OCHE_MAX_FLOW_BYTES),
     .help = "size of a message"},
    {OCHE_PARAM(struct permutation, messages), OCHE_IS_COUNT(1, 0, 1000000),
     .help = "of each host, one after the other; 0: on and on to the end of the run"},
    {OCHE_PARAM(struct permutation, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "of all hosts"},
    {OCHE_PARAM(struct permutation, jitter), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .help = "each host starts up to this much later, all times equally likely"},
    OCHE_PARAM_INITIAL_RATE(permutation),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct permutation);

static bool has_fixed_point(const uint32_t *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (to[i] == i)
            return true;
    return false;
}

/*
 * Draws permutations until one is a derangement. One permutation in e is a derangement, so about 3
 * draws are needed on average.
 */
static void draw_derangement(struct oche_random *random, uint32_t *to, uint32_t count)
{
    do
        oche_workload_shuffle(random, to, count);
    while (has_fixed_point(to, count));
}

/* Adds the messages of a host. */
static bool add_host(const struct permutation *p, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, uint32_t src, uint32_t dst, oche_time start)
{
    uint64_t messages = p->messages;

    if (messages == 0)
        messages = oche_workload_enough(facts, p->start, p->bytes,
                                        oche_workload_pair_bps(facts, src, dst));
    return oche_workload_chain(list, facts, src, dst, p->bytes, start, messages);
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct permutation *p = values;
    struct oche_random random = oche_workload_stream(facts, "permutation", 0);
    uint32_t hosts = facts->host_count;
    uint64_t messages = p->messages;
    uint32_t *to;
    bool good = true;

    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (p->pattern == PATTERN_SHIFT && p->shift % hosts == 0)
        return oche_fail(error, "shift: %llu leads each of %u hosts to itself; 1 to %u",
                         (unsigned long long)p->shift, hosts, hosts - 1);
    messages =
        messages == 0 ? oche_workload_enough_for_all(facts, p->start, p->bytes) : messages * hosts;
    if (messages > OCHE_WORKLOAD_MAX_FLOWS)
        return oche_fail(error, "%s: %llu messages of each host make more than %u flows; %s",
                         p->messages == 0 ? "bytes" : "messages",
                         (unsigned long long)(messages / hosts), OCHE_WORKLOAD_MAX_FLOWS,
                         p->messages == 0 ? "larger ones" : "fewer");
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    to = malloc(hosts * sizeof(*to));
    if (to == NULL)
        return oche_workload_no_memory(list, error);
    if (p->pattern == PATTERN_RANDOM)
        draw_derangement(&random, to, hosts);
    for (uint32_t i = 0; i < hosts && good; i++) {
        uint32_t src = oche_workload_host_at(facts, i);

        good = add_host(p, facts, list, src,
                        p->pattern == PATTERN_RANDOM ? oche_workload_host_at(facts, to[i])
                                                     : (uint32_t)((src + p->shift) % hosts),
                        p->start + oche_workload_jitter(&random, p->jitter));
    }
    free(to);
    return good || oche_workload_no_memory(list, error);
}

static const char *endless(const void *values)
{
    const struct permutation *p = values;

    return p->messages == 0 ? "set its messages to 1 or more" : NULL;
}

const struct oche_workload_type oche_workload_permutation = {
    .name = "permutation",
    .help = "each host sends to one other and receives from one other",
    .table = &table,
    .ends = "ends by itself; with messages: 0 goes on for as long as the run",
    .endless = endless,
    .generate = generate,
};
