/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Averages by Simpson's rule over the pieces of the solution. The pieces are cubic, so means are
 * exact, and means of squares nearly exact.
 */
#include "fluid/fluid_summary.h"

#include <math.h>
#include <stdlib.h>

#include "core/base.h"

void oche_fluid_summary_begin(struct oche_fluid_summary *summary, const struct oche_fluid *fluid,
                              double from_s)
{
    size_t flows = oche_fluid_flows(fluid);

    *summary = (struct oche_fluid_summary){
        .from_s = from_s,
        .queue_min = INFINITY,
        .converged_s = INFINITY,
        .flows = flows,
        .rate_mean = calloc(flows, sizeof(double)),
        .rates = calloc(flows, sizeof(double)),
    };
    OCHE_GOT(summary->rate_mean != NULL && summary->rates != NULL);
}

void oche_fluid_summary_free(struct oche_fluid_summary *summary)
{
    free(summary->rate_mean);
    free(summary->rates);
}

/* Adds a point of Simpson's rule with this weight, in seconds. */
static void add(struct oche_fluid_summary *sum, const struct oche_fluid *fluid, double time,
                double weight)
{
    double queue = oche_fluid_at(fluid, time, sum->rates);

    sum->queue_mean += weight * queue;
    sum->queue_sd += weight * queue * queue;
    sum->queue_min = fmin(sum->queue_min, queue);
    sum->queue_max = fmax(sum->queue_max, queue);
    for (size_t i = 0; i < sum->flows; i++) {
        sum->rate_mean[i] += weight * sum->rates[i];
        sum->sent += weight * sum->rates[i] * oche_fluid_flow_count(fluid, i);
    }
}

static bool are_equal(const struct oche_fluid_summary *sum, const struct oche_fluid *fluid)
{
    double least = INFINITY, most = 0, count = 0;

    for (size_t i = 0; i < sum->flows; i++) {
        if (!oche_fluid_started(fluid, i))
            return false;
        least = fmin(least, sum->rates[i]);
        most = fmax(most, sum->rates[i]);
        count += oche_fluid_flow_count(fluid, i);
    }
    return most - least < OCHE_FLUID_CONVERGED * oche_fluid_capacity(fluid) / count;
}

void oche_fluid_summary_step(void *context, const struct oche_fluid *fluid, double begin,
                             double end)
{
    struct oche_fluid_summary *sum = context;

    oche_fluid_at(fluid, end, sum->rates);
    if (!are_equal(sum, fluid))
        sum->converged_s = INFINITY;
    else if (sum->converged_s == INFINITY)
        sum->converged_s = end;
    if (end <= sum->from_s)
        return;
    if (begin <= sum->from_s) {
        begin = sum->from_s;
        sum->queue_before = oche_fluid_at(fluid, begin, NULL);
    }
    add(sum, fluid, begin, (end - begin) / 6);
    add(sum, fluid, (begin + end) / 2, (end - begin) * 4 / 6);
    add(sum, fluid, end, (end - begin) / 6);
}

void oche_fluid_summary_end(struct oche_fluid_summary *summary, const struct oche_fluid *fluid)
{
    double queue = oche_fluid_at(fluid, oche_fluid_time(fluid), NULL);

    summary->until_s = oche_fluid_time(fluid);
    double length = summary->until_s - summary->from_s;

    if (!(length > 0))
        return;
    summary->queue_mean /= length;
    summary->queue_sd =
        sqrt(fmax(0, summary->queue_sd / length - summary->queue_mean * summary->queue_mean));
    for (size_t i = 0; i < summary->flows; i++)
        summary->rate_mean[i] /= length;
    summary->utilisation =
        (summary->sent - 8 * (queue - summary->queue_before)) / length / oche_fluid_capacity(fluid);
}
