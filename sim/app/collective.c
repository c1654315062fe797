/* SPDX-License-Identifier: Apache-2.0 */
/* A collective operation, by one of the algorithms of sim/graph/collective. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/app/job.h"
#include "sim/graph/collective/collective.h"

struct collective {
    struct oche_job_settings job;
    uint32_t operation, algorithm;
    uint64_t ranks, bytes, chunks, window, repeat;
    oche_time compute;
};

#define MOST_OPERATIONS (UINT64_C(1) << 31)

static const struct oche_param params[] = {
    {OCHE_PARAM(struct collective, operation),
     OCHE_IS_CHOICE(OCHE_ALL_REDUCE, oche_collective_names), .where = "workloads.md#collectives",
     .help = "what all ranks do together"},
    {OCHE_PARAM(struct collective, algorithm), OCHE_IS_CHOICE(OCHE_RING, oche_algorithm_names),
     .where = "workloads.md#collectives",
     .help = "how: around a ring, by two binary trees, by recursive halving and doubling, or "
             "directly from each rank to each"},
    {OCHE_PARAM(struct collective, bytes), OCHE_IS_BYTES(UINT64_C(100000000), 1, UINT64_C(1) << 44),
     .where = "workloads.md#collectives",
     .help = "of the operation as NCCL's tests count them: what a rank has at the beginning or, "
             "for all_gather, at the end"},
    {OCHE_PARAM(struct collective, ranks), OCHE_IS_COUNT(0, 0, UINT32_MAX), .where = "our choice",
     .help = "0: as many as the hosts can have"},
    {OCHE_PARAM(struct collective, chunks), OCHE_IS_COUNT(4, 1, 65536), .where = "our choice",
     .help =
         "messages of a block (tree: of half of the bytes), so that the next step begins before "
         "a block is there"},
    {OCHE_PARAM(struct collective, window), OCHE_IS_COUNT(4, 0, UINT32_MAX), .where = "our choice",
     .needs = "workload.algorithm=direct",
     .help = "direct: blocks that a rank sends before it has got one; 0: all"},
    {OCHE_PARAM(struct collective, repeat), OCHE_IS_COUNT(1, 1, 1000000), .where = "our choice",
     .help = "the operation, so many times one after the other"},
    {OCHE_PARAM(struct collective, compute), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .where = "our choice", .help = "each rank calculates for so long before each of them"},
    OCHE_PARAM_JOB(collective),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct collective);

/* True if a rank has not too many messages, in rough terms. */
static bool is_possible(const struct oche_collective *of)
{
    const unsigned __int128 steps =
        of->algorithm == OCHE_RING || of->algorithm == OCHE_DIRECT ? 4ULL * of->ranks : 128;

    return steps * of->chunks * of->repeat * of->ranks <= MOST_OPERATIONS;
}

/* Returns how many ranks there are if `ranks` does not say so: as many as the hosts can have. */
static uint64_t all_ranks(const struct collective *p, const struct oche_workload_facts *facts)
{
    return oche_place_hosts(&p->job.place, facts) * p->job.place.ranks_per_host;
}

static bool check(const struct collective *p, const struct oche_collective *of, uint64_t ranks,
                  struct oche_error *error)
{
    const char *unfit = oche_collective_unfit(of);

    if (ranks < 2 || ranks > OCHE_GOAL_MOST_RANKS)
        return oche_fail(error, "ranks: %llu; 2 to %u", (unsigned long long)ranks,
                         OCHE_GOAL_MOST_RANKS);
    if (unfit != NULL)
        return oche_fail(error, "algorithm: %s %s", oche_algorithm_names[p->algorithm], unfit);
    return is_possible(of) ||
           oche_fail(error,
                     "repeat: %llu times, with chunks and ranks as they are, is too much; "
                     "lower one of these",
                     (unsigned long long)p->repeat);
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct collective *p = values;
    const uint64_t ranks = p->ranks > 0 ? p->ranks : all_ranks(p, facts);
    const struct oche_collective collective = {
        .operation = (enum oche_collective_operation)p->operation,
        .algorithm = (enum oche_collective_algorithm)p->algorithm,
        .ranks = (uint32_t)ranks,
        .bytes = p->bytes,
        .chunks = (uint32_t)p->chunks,
        .window = (uint32_t)p->window,
        .repeat = (uint32_t)p->repeat,
        .compute_ns = (p->compute + OCHE_NS / 2) / OCHE_NS};
    struct oche_job_repeats repeats = {
        .of = collective, .bytes = p->bytes, .count = (uint32_t)p->repeat};
    struct oche_job_plan plan = {.repeats = &repeats, .source = "bytes"};

    if (!oche_workload_has_hosts(facts, error) ||
        !oche_workload_starts(p->job.start, facts, error) || !check(p, &collective, ranks, error) ||
        (plan.host_of = oche_place_ranks(&p->job.place, (uint32_t)ranks, facts, error)) == NULL)
        return false;
    repeats.bus_factor = oche_collective_bus_factor(&collective);
    snprintf(repeats.title, sizeof(repeats.title), "%s (%s)", oche_collective_names[p->operation],
             oche_algorithm_names[p->algorithm]);
    if (!oche_collective_make(&collective, &plan.goal, &repeats.begins, &repeats.ends, error)) {
        free(plan.host_of);
        return false;
    }
    return oche_workload_add_job(&plan, &p->job, facts, list, error);
}

const struct oche_workload_type oche_workload_collective = {
    .name = "collective",
    .help = "all_reduce and the like, over all hosts or some",
    .table = &table,
    .ends = "ends by itself: when each rank has done all its operations",
    .generate = generate,
};
