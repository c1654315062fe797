/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background: long-lived pairs of hosts that always have something to send. Each pair keeps
 * `outstanding` messages of `bytes` in flight; when a message is acknowledged the next one starts,
 * until the end of the run.
 */
#include <stdlib.h>

#include "params/error.h"
#include "sim/app/generate.h"

enum placement { PLACEMENT_DISJOINT, PLACEMENT_RANDOM };

struct background {
    uint64_t initial_rate, tenant;
    uint64_t pairs, bytes, outstanding;
    oche_time start, stagger;
    uint32_t placement;
};

static const char *const placement_names[] = {"disjoint", "random", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct background, pairs), OCHE_IS_COUNT(1, 1, 1000000),
     .help = "sender and receiver"},
    {OCHE_PARAM(struct background, bytes), OCHE_IS_BYTES(10000000, 1, OCHE_MAX_FLOW_BYTES),
     .help = "size of a message"},
    {OCHE_PARAM(struct background, outstanding), OCHE_IS_COUNT(1, 1, 1000),
     .help = "messages that a pair has under way at the same time"},
    {OCHE_PARAM(struct background, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "of the first pair"},
    {OCHE_PARAM(struct background, stagger), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .help = "each further pair starts this much later"},
    {OCHE_PARAM(struct background, placement), OCHE_IS_CHOICE(PLACEMENT_DISJOINT, placement_names),
     .help = "disjoint: no host is in two pairs; random: any two hosts, for each pair"},
    OCHE_PARAM_INITIAL_RATE(background),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct background);

static bool check(const struct background *p, const struct oche_workload_facts *facts,
                  struct oche_error *error)
{
    oche_time last = p->start + (p->pairs - 1) * p->stagger;
    uint64_t chain = oche_workload_enough(facts, p->start, p->bytes);

    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (p->placement == PLACEMENT_DISJOINT && p->pairs > facts->host_count / 2)
        return oche_fail(error,
                         "pairs: %llu need %llu hosts, there are %u; at most %u, or "
                         "placement random",
                         (unsigned long long)p->pairs, (unsigned long long)p->pairs * 2,
                         facts->host_count, facts->host_count / 2);
    if (last >= facts->duration)
        return oche_fail(error,
                         "stagger: the last of %llu pairs would start after the end of "
                         "the run; less, or fewer pairs",
                         (unsigned long long)p->pairs);
    if (chain > OCHE_WORKLOAD_MAX_FLOWS / (p->pairs * p->outstanding))
        return oche_fail(error,
                         "bytes: messages of %llu bytes make more than %u flows until "
                         "the end of the run; larger ones",
                         (unsigned long long)p->bytes, OCHE_WORKLOAD_MAX_FLOWS);
    return true;
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct background *p = values;
    struct oche_random random = oche_workload_stream(facts, "background", 0);
    uint32_t *order;
    bool good = true;

    if (!check(p, facts, error))
        return false;
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    order = malloc(facts->host_count * sizeof(*order));
    if (order == NULL)
        return oche_workload_no_memory(list, error);
    oche_workload_shuffle(&random, order, facts->host_count);
    for (uint64_t i = 0; i < p->pairs; i++) {
        oche_time start = p->start + i * p->stagger;
        uint64_t messages = oche_workload_enough(facts, start, p->bytes);
        uint32_t src, dst;

        if (p->placement == PLACEMENT_DISJOINT) {
            src = order[2 * i];
            dst = order[2 * i + 1];
        } else {
            src = (uint32_t)oche_random_below(&random, facts->host_count);
            dst = oche_workload_other_host(&random, facts->host_count, src);
        }
        for (uint64_t k = 0; k < p->outstanding && good; k++)
            good = oche_workload_chain(list, facts, src, dst, p->bytes, start, messages);
    }
    free(order);
    return good || oche_workload_no_memory(list, error);
}

static const char *endless(const void *values)
{
    (void)values;
    return "";
}

const struct oche_workload_type oche_workload_background = {
    .name = "background",
    .help = "pairs of hosts that always have messages to send",
    .table = &table,
    .ends = "goes on for as long as the run",
    .endless = endless,
    .generate = generate,
};
