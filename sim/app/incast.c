/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incast: `degree` senders send `bytes` each to one receiver at the same time, once or every
 * `period`, and the receiver and the senders may be drawn anew for each round
 * (workloads.md#incast). With `back_to_back`, each sender instead sends messages one after the
 * other until the end of the run, as when a disk is rebuilt (DCQCN sec 6.2).
 */
#include <stdlib.h>

#include "params/error.h"
#include "sim/app/generate.h"
#include "sim/app/sender_pool.h"

enum receiver { RECEIVER_FIXED, RECEIVER_RANDOM, RECEIVER_ROUND_ROBIN };
enum senders { SENDERS_RANDOM, SENDERS_NEXT };

struct incast {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    uint64_t degree, bytes;
    oche_time start, period, jitter;
    uint32_t receiver, senders;
    uint64_t receiver_host;
    bool back_to_back;
};

static const char *const receiver_names[] = {"fixed", "random", "round_robin", NULL};
static const char *const sender_names[] = {"random", "next", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct incast, degree), OCHE_IS_COUNT(16, 1, 1000000),
     .help = "senders of a round"},
    {OCHE_PARAM(struct incast, bytes), OCHE_IS_BYTES(1000000, 1, OCHE_MAX_FLOW_BYTES),
     .help = "size of each sender's flow"},
    {OCHE_PARAM(struct incast, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "of the first round"},
    {OCHE_PARAM(struct incast, period), OCHE_IS_TIME(OCHE_NEVER, OCHE_NS, OCHE_NEVER),
     .help = "from one round's start to the next; never: one round"},
    {OCHE_PARAM(struct incast, jitter), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .help = "each flow starts up to this much later, all times equally likely"},
    {OCHE_PARAM(struct incast, receiver), OCHE_IS_CHOICE(RECEIVER_FIXED, receiver_names),
     .help = "fixed: receiver_host; random: any host, drawn for each round; round_robin: "
             "from receiver_host on, the next host each round"},
    {OCHE_PARAM(struct incast, receiver_host), OCHE_IS_COUNT(0, 0, UINT32_MAX - 1),
     .needs = "receiver=fixed|receiver=round_robin",
     .help = "receiver=fixed: the receiver; round_robin: the first one"},
    {OCHE_PARAM(struct incast, senders), OCHE_IS_CHOICE(SENDERS_RANDOM, sender_names),
     .help = "random: different ones drawn for each round; next: the hosts after the "
             "receiver, in order"},
    {OCHE_PARAM(struct incast, back_to_back), OCHE_IS_BOOL(false),
     .where = "DCQCN sec 6.2; dcqcn.md#evaluation",
     .help = "one round, but each sender's flow is followed by the next one, and so on to the end "
             "of the run"},
    OCHE_PARAM_INITIAL_RATE(incast),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct incast);

static uint32_t choose_receiver(const struct incast *p, const struct oche_workload_facts *facts,
                                uint64_t round, struct oche_random *random)
{
    if (p->receiver == RECEIVER_RANDOM)
        return oche_workload_any_host(facts, random);
    if (p->receiver == RECEIVER_ROUND_ROBIN)
        return (uint32_t)((p->receiver_host + round) % facts->host_count);
    return (uint32_t)p->receiver_host;
}

/* Returns how many messages a sender has: one or, back to back, enough for the whole run. */
static uint64_t count_messages(const struct incast *p, const struct oche_workload_facts *facts,
                               uint32_t sender, uint32_t receiver, oche_time start)
{
    if (!p->back_to_back)
        return 1;
    return oche_workload_enough(facts, start, p->bytes,
                                oche_workload_pair_bps(facts, sender, receiver));
}

static bool add_round(const struct incast *p, const struct oche_workload_facts *facts,
                      struct oche_flow_list *list, uint64_t round,
                      const struct oche_sender_pool *pool, uint32_t *members)
{
    struct oche_random random = oche_workload_stream(facts, "incast", round);
    uint32_t degree = (uint32_t)p->degree;
    uint32_t receiver = choose_receiver(p, facts, round, &random);
    uint32_t group = 0;
    bool good = true;

    if (p->senders == SENDERS_RANDOM)
        oche_sender_pool_draw(pool, degree, &random);
    for (uint32_t i = 0; i < degree; i++)
        members[i] = p->senders == SENDERS_RANDOM ? oche_workload_sender(facts, pool, receiver, i)
                                                  : oche_sender_pool_host(pool, receiver, i);
    if (!p->back_to_back) { /* a group can have only one message per sender */
        group = oche_flow_list_add_group(list, members, degree);
        good = group != 0;
    }
    for (uint32_t i = 0; i < degree && good; i++) {
        oche_time start = p->start + (round == 0 ? 0 : round * p->period) +
                          oche_workload_jitter(&random, p->jitter);

        if (start >= facts->duration)
            continue;
        good = oche_workload_chain(list, facts, members[i], receiver, p->bytes, start,
                                   count_messages(p, facts, members[i], receiver, start));
        if (good && !p->back_to_back)
            list->plan[list->count - 1].group = group;
    }
    if (p->senders == SENDERS_RANDOM)
        oche_sender_pool_put_back(pool, degree);
    return good;
}

static bool add_rounds(const struct incast *p, const struct oche_workload_facts *facts,
                       struct oche_flow_list *list, uint64_t rounds)
{
    struct oche_sender_pool pool;
    uint32_t *members = malloc(p->degree * sizeof(*members));
    bool good = oche_sender_pool_make(&pool, facts->host_count) && members != NULL;

    for (uint64_t round = 0; round < rounds && good; round++)
        good = add_round(p, facts, list, round, &pool, members);
    oche_sender_pool_free(&pool);
    free(members);
    return good;
}

/* True if `degree` of the fastest senders may have too many messages. */
static bool too_many_messages(const struct incast *p, const struct oche_workload_facts *facts)
{
    const struct oche_host_rate *fastest = &facts->rates.kinds[facts->rates.count - 1];

    return oche_workload_enough(facts, p->start, p->bytes, fastest->link_bps) >
           OCHE_WORKLOAD_MAX_FLOWS / p->degree;
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct incast *p = values;
    uint64_t rounds = 1;

    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    if (p->degree > facts->host_count - 1)
        return oche_fail(error,
                         "degree: %llu senders, but only %u hosts beside the receiver; "
                         "at most %u",
                         (unsigned long long)p->degree, facts->host_count - 1,
                         facts->host_count - 1);
    if (p->receiver != RECEIVER_RANDOM && p->receiver_host >= facts->host_count)
        return oche_fail(error, "receiver_host: there is no host %llu; 0 to %u",
                         (unsigned long long)p->receiver_host, facts->host_count - 1);
    if (p->back_to_back && p->period != OCHE_NEVER)
        return oche_fail(error, "back_to_back: there is one round that does not end; without "
                                "period");
    if (p->back_to_back && too_many_messages(p, facts))
        return oche_fail(error,
                         "bytes: messages of %llu bytes make more than %u flows until "
                         "the end of the run; larger ones",
                         (unsigned long long)p->bytes, OCHE_WORKLOAD_MAX_FLOWS);
    if (p->period != OCHE_NEVER)
        rounds = (facts->duration - p->start - 1) / p->period + 1;
    if (rounds > OCHE_WORKLOAD_MAX_FLOWS / p->degree)
        return oche_fail(error, "period: gives %llu rounds of %llu flows; at most %u flows",
                         (unsigned long long)rounds, (unsigned long long)p->degree,
                         OCHE_WORKLOAD_MAX_FLOWS);
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    return add_rounds(p, facts, list, rounds) || oche_workload_no_memory(list, error);
}

static const char *endless(const void *values)
{
    const struct incast *p = values;

    if (p->back_to_back)
        return "leave out its back_to_back";
    return p->period != OCHE_NEVER ? "leave out its period" : NULL;
}

static uint32_t group_senders(const void *values)
{
    const struct incast *p = values;

    return p->back_to_back ? 0 : (uint32_t)p->degree;
}

static struct oche_workload_arrivals arrivals_of(const void *values)
{
    const struct incast *p = values;

    if (p->period == OCHE_NEVER)
        return (struct oche_workload_arrivals){.kind = OCHE_ARRIVALS_NONE};
    return (struct oche_workload_arrivals){OCHE_ARRIVALS_CLOCK, OCHE_NEVER};
}

const struct oche_workload_type oche_workload_incast = {
    .name = "incast",
    .help = "many senders to one receiver at the same time, once or periodically",
    .table = &table,
    .ends = "ends by itself; with period or back_to_back goes on for as long as the run",
    .endless = endless,
    .generate = generate,
    .group_senders = group_senders,
    .arrivals = arrivals_of,
};
