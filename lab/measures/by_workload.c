/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts flows and pairs of hosts by the workload that they belong to. */
#include "lab/measures/by_workload.h"

#include <math.h>
#include <stdlib.h>

#include "sim/measure/percentile.h"

#define BITS_A_PICOSECOND (8 * (double)OCHE_SEC) /* bits per second in one byte per picosecond */

double oche_flow_goodput(const struct oche_world *world, uint32_t number)
{
    const struct oche_flow_sent *sent = &oche_world_flows(world)->sent[number];
    oche_time end = oche_world_flows(world)->received[number].delivered;

    if (sent->started == OCHE_NEVER || sent->started < oche_world_config(world)->run.warmup)
        return -1;
    if (end == OCHE_NEVER)
        end = sent->failed != 0 ? sent->completed : oche_world_network(world)->now;
    if (end <= sent->started)
        return -1;
    return (double)oche_world_flow_bytes(world, number) / (double)(end - sent->started);
}

/*
 * The bytes that flows of a workload delivered between a pair of hosts. A pair may have several
 * entries until they are added up.
 */
struct pair {
    uint32_t workload, src, dst;
    uint64_t bytes;
};

struct pairs {
    struct pair *pair;
    size_t count, capacity;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->workload != b->workload)
        return a->workload < b->workload ? -1 : 1;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/*
 * Adds `pair` to the last entry if that is for the same pair of hosts, else makes a new entry. In
 * the plan, flows of a pair usually follow each other.
 */
static void add_pair(struct pairs *pairs, const struct pair *pair)
{
    struct pair *last = pairs->count == 0 ? NULL : &pairs->pair[pairs->count - 1];

    if (last != NULL && compare_pairs(last, pair) == 0) {
        last->bytes += pair->bytes;
        return;
    }
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity == 0 ? 64 : 2 * pairs->capacity;
        pairs->pair = realloc(pairs->pair, pairs->capacity * sizeof(*pairs->pair));
        OCHE_GOT(pairs->pair != NULL);
    }
    pairs->pair[pairs->count++] = *pair;
}

static void add_value(struct oche_sorted_values *values, double value)
{
    values->values[values->count++] = value;
}

/* Adds the bytes that applications have produced, and of these the bytes that have not arrived. */
static void add_offered(struct oche_workload_outcome *workload, const struct oche_world *world,
                        uint32_t number)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time started = flows->sent[number].started, now = oche_world_network(world)->now;
    oche_time warmup = oche_world_config(world)->run.warmup;
    uint64_t arrived = oche_world_flow_bytes(world, number);
    uint64_t made = oche_flow_supplied(&flows->plan[number], now - started);

    workload->supplied |= flows->plan[number].supply_bps > 0;
    if (flows->sent[number].failed != 0)
        return;
    /* The bytes of a packet are produced one after the other, but arrive all at once. */
    workload->backlog_bytes += made > arrived ? made - arrived : 0;
    if (started < warmup)
        made -= oche_flow_supplied(&flows->plan[number], warmup - started);
    workload->offered_bps += (double)made; /* in bytes until all flows are added */
}

static void add_flow(struct oche_by_workload *by, const struct oche_world *world, uint32_t number)
{
    const struct oche_flows *flows = oche_world_flows(world);
    struct oche_workload_outcome *workload = &by->workloads[flows->plan[number].workload];
    double goodput = oche_flow_goodput(world, number);

    add_offered(workload, world, number);
    workload->delivered_bytes += oche_world_flow_bytes_measured(world, number);
    if (goodput >= 0)
        add_value(&workload->flow_goodput, goodput * BITS_A_PICOSECOND);
    if (flows->sent[number].started < oche_world_config(world)->run.warmup)
        return;
    workload->flows++;
    if (flows->sent[number].failed == 0 && flows->sent[number].completed != OCHE_NEVER)
        add_value(&workload->round_trip,
                  (double)(flows->sent[number].completed - flows->sent[number].started) /
                      (double)OCHE_SEC);
    if (flows->sent[number].failed != 0) {
        workload->failed++;
        add_value(&workload->failed_after,
                  (double)(flows->sent[number].completed - flows->sent[number].started) /
                      (double)OCHE_SEC);
    } else if (flows->received[number].delivered != OCHE_NEVER) {
        workload->delivered++;
        add_value(&workload->fct,
                  (double)(flows->received[number].delivered - flows->sent[number].started) /
                      (double)OCHE_SEC);
    }
}

static double *make_values(size_t count)
{
    double *values = malloc((count + 1) * sizeof(*values));

    OCHE_GOT(values != NULL);
    return values;
}

static void make_room(struct oche_by_workload *by, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_flows *flows = oche_world_flows(world);
    size_t *count = calloc((size_t)by->count + 1, sizeof(*count));

    OCHE_GOT(count != NULL);
    for (OCHE_EACH_MADE_FLOW(i, flows))
        if (flows->sent[i].started != OCHE_NEVER)
            count[flows->plan[i].workload]++;
    for (uint32_t w = 0; w < by->count; w++) {
        by->workloads[w].type = config->workloads[w].type->name;
        by->workloads[w].open = oche_world_is_open(world, w);
        by->workloads[w].flow_goodput.values = make_values(count[w]);
        by->workloads[w].round_trip.values = make_values(count[w]);
        by->workloads[w].fct.values = make_values(count[w]);
        by->workloads[w].failed_after.values = make_values(count[w]);
    }
    free(count);
}

static void take_pairs(struct oche_by_workload *by, struct pairs *pairs, oche_time measured)
{
    if (pairs->count > 0)
        qsort(pairs->pair, pairs->count, sizeof(*pairs->pair), compare_pairs);
    for (uint32_t w = 0; w < by->count; w++)
        by->workloads[w].pair_goodput.values = make_values(pairs->count);
    for (size_t i = 0, next; i < pairs->count; i = next) {
        uint64_t bytes = 0;

        for (next = i;
             next < pairs->count && compare_pairs(&pairs->pair[i], &pairs->pair[next]) == 0; next++)
            bytes += pairs->pair[next].bytes;
        add_value(&by->workloads[pairs->pair[i].workload].pair_goodput,
                  (double)bytes / (double)measured * BITS_A_PICOSECOND);
    }
}

void oche_by_workload_take(struct oche_by_workload *by, const struct oche_world *world,
                           oche_time measured)
{
    const struct oche_flows *flows = oche_world_flows(world);
    struct pairs pairs = {0};

    *by = (struct oche_by_workload){.count = oche_world_config(world)->workload_count};
    by->workloads = calloc((size_t)by->count + 1, sizeof(*by->workloads));
    OCHE_GOT(by->workloads != NULL);
    make_room(by, world);
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_plan *plan = &flows->plan[i];

        if (flows->sent[i].started == OCHE_NEVER)
            continue;
        add_flow(by, world, i);
        add_pair(&pairs, &(struct pair){plan->workload, plan->src, plan->dst,
                                        oche_world_flow_bytes_measured(world, i)});
    }
    if (measured > 0)
        take_pairs(by, &pairs, measured);
    free(pairs.pair);
    for (uint32_t w = 0; w < by->count; w++) {
        struct oche_workload_outcome *workload = &by->workloads[w];

        workload->offered_bps =
            measured == 0 ? 0 : workload->offered_bps / (double)measured * BITS_A_PICOSECOND;
        workload->goodput_bps = (double)oche_rate_of(workload->delivered_bytes, measured);
        workload->carried = workload->supplied && workload->offered_bps > 0
                                ? workload->goodput_bps / workload->offered_bps
                                : NAN;
        oche_sort_real(workload->flow_goodput.values, workload->flow_goodput.count);
        oche_sort_real(workload->pair_goodput.values, workload->pair_goodput.count);
        oche_sort_real(workload->round_trip.values, workload->round_trip.count);
        oche_sort_real(workload->fct.values, workload->fct.count);
        oche_sort_real(workload->failed_after.values, workload->failed_after.count);
        oche_job_outcome_take(&workload->job, world, w);
    }
}

void oche_by_workload_free(struct oche_by_workload *by)
{
    for (uint32_t w = 0; w < by->count; w++) {
        free(by->workloads[w].flow_goodput.values);
        free(by->workloads[w].pair_goodput.values);
        free(by->workloads[w].round_trip.values);
        free(by->workloads[w].fct.values);
        free(by->workloads[w].failed_after.values);
        oche_job_outcome_free(&by->workloads[w].job);
    }
    free(by->workloads);
    *by = (struct oche_by_workload){0};
}
