/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges of the connections' libraries: windows and round trips, as series and as samples. Of the
 * two directions they show the one in which the flows' data goes.
 */
#include <math.h>

#include "sim/endpoint/rogue/rogue_host.h"

static const struct rogue_window *window_of(const struct oche_rogue_end *end)
{
    return rogue_window_of(end->library,
                           end->rogue->params->verb == OCHE_ROGUE_READS ? ROGUE_IN : ROGUE_OUT);
}

static double seconds(oche_time time)
{
    return time == OCHE_NEVER ? NAN : (double)time / (double)OCHE_SEC;
}

static double window(void *state, uint32_t connection)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);

    return end == NULL ? NAN : (double)window_of(end)->bytes;
}

static double rtt(void *state, uint32_t connection)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);

    return end == NULL ? NAN : seconds(window_of(end)->rtt);
}

/* The base RTT with which rates are computed: the least round trip, or its lower bound. */
static double base_rtt(void *state, uint32_t connection)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);

    if (end == NULL)
        return NAN;
    oche_time least = end->rogue->params->library.least_base_rtt;
    oche_time base = window_of(end)->base_rtt;
    return seconds(base > least ? base : least);
}

static double limit(void *state, uint32_t connection)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);

    return end == NULL ? NAN : (double)window_of(end)->rate_bps;
}

static double switches(void *state, uint32_t connection)
{
    return (double)oche_rogue_switches(state, connection);
}

static const struct oche_gauge rows[] = {
    {.name = "window", .unit = "bytes", .value = window},
    {.name = "rtt", .unit = "s", .value = rtt},
    {.name = "base_rtt", .unit = "s", .value = base_rtt},
    {.name = "limit", .unit = "bps", .value = limit},
    {.name = "switches", .unit = "count", .total = true, .value = switches},
};
const struct oche_gauges oche_rogue_gauges = {.rows = rows, .count = OCHE_COUNT_OF(rows)};

void oche_rogue_note_sample(struct oche_rogue_end *end, oche_time now)
{
    uint64_t samples = rogue_counts_of(end->library)->samples;

    if (samples == end->noted)
        return;
    end->noted = samples;
    oche_rtt_note(&end->rogue->rtts, &end->rogue->host->shard->arena,
                  &(struct oche_rtt_sample){.when = now,
                                            .rtt = window_of(end)->rtt,
                                            .window_bytes = window_of(end)->bytes});
}
