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
    uint32_t verb;
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
    return true;
}

/* Draws the pairs. `order`: all hosts in random order, from the same stream. */
static void draw_pairs(const struct background *p, const struct oche_workload_facts *facts,
                       struct oche_random *random, const uint32_t *order,
                       struct oche_host_pair *pairs)
{
    for (uint64_t i = 0; i < p->pairs; i++) {
        if (p->placement == PLACEMENT_DISJOINT) {
            pairs[i] = (struct oche_host_pair){order[2 * i], order[2 * i + 1]};
            continue;
        }
        pairs[i].src = oche_workload_any_host(facts, random);
        pairs[i].dst = oche_workload_other_host(facts, random, pairs[i].src);
    }
}

/* Returns how many messages each chain of the pair has. */
static uint64_t count_messages(const struct background *p, const struct oche_workload_facts *facts,
                               const struct oche_host_pair *pair, oche_time start)
{
    return oche_workload_enough(facts, start, p->bytes,
                                oche_workload_pair_bps(facts, pair->src, pair->dst));
}

static bool check_messages(const struct background *p, const struct oche_workload_facts *facts,
                           const struct oche_host_pair *pairs, struct oche_error *error)
{
    uint64_t left = OCHE_WORKLOAD_MAX_FLOWS / p->outstanding;

    for (uint64_t i = 0; i < p->pairs; i++) {
        uint64_t messages = count_messages(p, facts, &pairs[i], p->start);

        if (messages > left)
            return oche_fail(error,
                             "bytes: messages of %llu bytes make more than %u flows until "
                             "the end of the run; larger ones",
                             (unsigned long long)p->bytes, OCHE_WORKLOAD_MAX_FLOWS);
        left -= messages;
    }
    return true;
}

static bool add_pairs(const struct background *p, const struct oche_workload_facts *facts,
                      struct oche_flow_list *list, const struct oche_host_pair *pairs)
{
    bool good = true;

    for (uint64_t i = 0; i < p->pairs; i++) {
        oche_time start = p->start + i * p->stagger;
        uint64_t messages = count_messages(p, facts, &pairs[i], start);

        for (uint64_t k = 0; k < p->outstanding && good; k++)
            good = oche_workload_chain(list, facts, pairs[i].src, pairs[i].dst, p->bytes, start,
                                       messages);
    }
    return good;
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct background *p = values;
    struct oche_random random = oche_workload_stream(facts, "background", 0);
    struct oche_host_pair *pairs;
    uint32_t *order;
    bool good;

    if (!check(p, facts, error))
        return false;
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    order = malloc(facts->host_count * sizeof(*order));
    pairs = malloc(p->pairs * sizeof(*pairs));
    if (order == NULL || pairs == NULL) {
        good = oche_workload_no_memory(list, error);
    } else {
        oche_workload_shuffle_hosts(facts, &random, order);
        draw_pairs(p, facts, &random, order, pairs);
        good = check_messages(p, facts, pairs, error) &&
               (add_pairs(p, facts, list, pairs) || oche_workload_no_memory(list, error));
    }
    free(pairs);
    free(order);
    return good;
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
