/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/round_trips.h"

#include <stdlib.h>

#include "sim/measure/percentile.h"
#include "sim/network/gauge.h"

static void make(struct oche_sorted_values *values, size_t most)
{
    values->values = malloc((most + 1) * sizeof(*values->values));
    OCHE_GOT(values->values != NULL);
}

static void add(struct oche_sorted_values *values, double value)
{
    values->values[values->count++] = value;
}

static void sort(struct oche_sorted_values *values)
{
    if (values->count > 0)
        oche_sort_real(values->values, values->count);
}

/* Returns the number of samples of all hosts, those of warm-up too. */
static size_t samples_of(const struct oche_world *world)
{
    size_t count = 0;

    for (uint32_t i = 0; i < oche_world_topology(world)->host_count; i++)
        for (const struct oche_rtt_chunk *chunk = oche_world_rtts(world, i); chunk != NULL;
             chunk = chunk->before)
            count += chunk->count;
    return count;
}

static void take_chunk(struct oche_round_trips *trips, const struct oche_rtt_chunk *chunk,
                       oche_time warmup)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        const struct oche_rtt_sample *sample = &chunk->samples[i];

        if (sample->when < warmup)
            continue;
        add(&trips->rtt, (double)sample->rtt / (double)OCHE_SEC);
        if (sample->rtt > 0)
            add(&trips->estimate,
                (double)sample->window_bytes * 8 * (double)OCHE_SEC / (double)sample->rtt);
    }
}

static void take_intervals(struct oche_round_trips *trips, const struct oche_world *world,
                           const struct oche_rates *rates)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time from = oche_world_config(world)->run.warmup;
    oche_time interval = oche_measure_interval(oche_world_config(world));

    make(&trips->interval_goodput, (size_t)rates->flows * rates->windows);
    for (uint32_t i = 0; i < rates->flows; i++)
        for (uint32_t w = 0; w < rates->windows; w++)
            if (oche_flow_has_started(flows, i) && flows->sent[i].started <= from + w * interval &&
                flows->received[i].delivered >= from + (w + 1) * interval)
                add(&trips->interval_goodput, rates->rates[(size_t)i * rates->windows + w]);
}

void oche_round_trips_take(struct oche_round_trips *trips, const struct oche_world *world,
                           const struct oche_rates *rates)
{
    oche_time warmup = oche_world_config(world)->run.warmup;
    size_t most = samples_of(world);

    *trips = (struct oche_round_trips){.rtt.count = 0};
    make(&trips->rtt, most);
    make(&trips->estimate, most);
    for (uint32_t i = 0; i < oche_world_topology(world)->host_count; i++)
        for (const struct oche_rtt_chunk *chunk = oche_world_rtts(world, i); chunk != NULL;
             chunk = chunk->before)
            take_chunk(trips, chunk, warmup);
    take_intervals(trips, world, rates);
    sort(&trips->rtt);
    sort(&trips->estimate);
    sort(&trips->interval_goodput);
}

void oche_round_trips_free(struct oche_round_trips *trips)
{
    free(trips->rtt.values);
    free(trips->estimate.values);
    free(trips->interval_goodput.values);
    *trips = (struct oche_round_trips){.rtt.count = 0};
}
