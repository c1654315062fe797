/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/steady.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/measures/steady_metric.h"
#include "params/figures.h"
#include "params/text_stream.h"

#define ROUND_TRIPS   10 /* initial number of round trips in a batch */
#define LEAST_BATCHES 20
#define MORE_BATCHES  30 /* the second look */
#define MOST_BATCHES  40 /* then every two become one */

struct oche_steady {
    struct oche_world *world;
    struct oche_steady_metric metric;
    struct oche_steady_result result;
    struct oche_steady_mark marks[MOST_BATCHES + 1]; /* where batches begin and end */
    uint32_t count;                                  /* of marks */
};

/* ---- refusing ---- */

/* Rejects a run whose flows end by themselves: it has no steady state. */
static bool goes_on(const struct oche_world_config *config, const char *metric,
                    struct oche_error *error)
{
    const struct oche_workload_type *can = NULL;
    const char *comma = "";
    char *list = NULL;
    size_t bytes;

    for (uint32_t i = 0; i < config->workload_count; i++) {
        const struct oche_workload_type *type = config->workloads[i].type;

        if (oche_workload_endless(type, config->workloads[i].params) != NULL)
            return true;
        can = can == NULL && type->endless != NULL ? type : can;
    }
    if (can != NULL)
        return oche_fail(error,
                         "%s: every workload ends by itself, so nothing here has a steady state; "
                         "%s %s",
                         metric, can->name, can->ends);
    FILE *out = oche_text_stream_open(&list, &bytes);

    for (size_t i = 0; oche_workload_types[i] != NULL; i++)
        if (oche_workload_types[i]->endless != NULL) {
            fprintf(out, "%s%s", comma, oche_workload_types[i]->name);
            comma = ", ";
        }
    oche_text_stream_close(out);
    oche_fail(
        error,
        "%s: every workload ends by itself, so nothing here has a steady state; workloads that "
        "can go on for as long as the run are %s",
        metric, list);
    free(list);
    return false;
}

/* Returns the end of a possible steady state: arrivals stop, or the run ends. */
static oche_time until_of(const struct oche_world *world)
{
    return oche_time_min(oche_world_config(world)->run.duration, oche_world_first_stop(world));
}

static bool is_long_enough(const struct oche_steady *steady, struct oche_error *error)
{
    const struct oche_run_params *run = &oche_world_config(steady->world)->run;
    const oche_time until = until_of(steady->world);
    const uint32_t flows = oche_world_flows(steady->world)->count;
    const struct oche_steady_result *result = &steady->result;
    const oche_time least = LEAST_BATCHES * result->batch;

    if (run->duration == 0)
        return oche_fail(error, "%s: needs the most that the run may last; set duration",
                         result->metric);
    if (until < run->duration && until < run->warmup + least)
        return oche_fail(error,
                         "%s: the arrivals of a workload stop at %s, and what follows is no steady "
                         "state; %u batches of %s after warmup need a stop of %s or later, or none",
                         result->metric, oche_figure_time(until).text, LEAST_BATCHES,
                         oche_figure_time(result->batch).text,
                         oche_figure_time(run->warmup + least).text);
    if (run->duration < run->warmup + least)
        return oche_fail(error,
                         "%s: duration leaves %s after warmup, and %u batches of %s need %s; set "
                         "duration to %s or more",
                         result->metric, oche_figure_time(run->duration - run->warmup).text,
                         LEAST_BATCHES, oche_figure_time(result->batch).text,
                         oche_figure_time(least).text, oche_figure_time(run->warmup + least).text);
    if (flows / LEAST_BATCHES < result->least_flows)
        return oche_fail(error,
                         "%s: needs %u flows in each of %u batches, and the run has at most %u; a "
                         "longer duration, smaller flows, or one of goodput and utilisation",
                         result->metric, result->least_flows, LEAST_BATCHES, flows);
    return true;
}

/* ---- looking ---- */

static void judge(struct oche_steady *steady, uint32_t batches)
{
    struct oche_steady_result *result = &steady->result;
    double values[MOST_BATCHES];

    result->interval = (struct oche_batch_means){.batches = batches};
    result->state = OCHE_STEADY_SHORT;
    if (batches < LEAST_BATCHES)
        return;
    const uint32_t fewest =
        oche_steady_values(&steady->metric, steady->world, steady->marks, batches, values);

    result->state = OCHE_STEADY_FEW_FLOWS;
    result->fewest_flows = result->least_flows > 0 ? fewest : 0;
    if (result->fewest_flows < result->least_flows)
        return;
    const struct oche_batch_means interval = oche_batch_means(values, batches);

    result->interval = interval;
    result->life = oche_steady_flow_life(steady->world);
    result->state = interval.mean == 0                  ? OCHE_STEADY_ZERO
                    : !oche_batch_means_hold(&interval) ? OCHE_STEADY_CORRELATED
                    : result->batch < result->life      ? OCHE_STEADY_BRIEF
                    : interval.half_width > result->within * fabs(interval.mean)
                        ? OCHE_STEADY_WIDE
                        : OCHE_STEADY_STABLE;
}

/* Merges each two batches into one. */
static void join(struct oche_steady *steady)
{
    for (uint32_t i = 0; i <= MOST_BATCHES; i++) {
        if (i % 2 == 0)
            steady->marks[i / 2] = steady->marks[i];
        else
            free(steady->marks[i].time);
    }
    steady->count = MOST_BATCHES / 2 + 1;
    steady->result.batch *= 2;
}

static oche_time visit(void *context, oche_time now)
{
    struct oche_steady *steady = context;

    if (now > until_of(steady->world))
        return OCHE_NEVER; /* the batch ends after the last arrival: later traffic differs */
    steady->marks[steady->count++] = oche_steady_mark(&steady->metric, steady->world);
    if (steady->count == MOST_BATCHES + 1)
        join(steady);
    const uint32_t batches = steady->count - 1;

    if (batches == LEAST_BATCHES || batches == MORE_BATCHES) {
        judge(steady, batches);
        if (steady->result.state == OCHE_STEADY_STABLE)
            return now;
    }
    return steady->marks[0].at + steady->count * steady->result.batch;
}

struct oche_steady *oche_steady_create(struct oche_world *world, const char *metric, double within,
                                       struct oche_error *error)
{
    struct oche_steady *steady = calloc(1, sizeof(*steady));

    OCHE_GOT(steady != NULL);
    steady->world = world;
    steady->result.within = within;
    bool fine = oche_steady_metric_find(&steady->metric, metric, world, error) &&
                goes_on(oche_world_config(world), metric, error);

    if (fine) {
        snprintf(steady->result.metric, sizeof(steady->result.metric), "%s", metric);
        steady->result.least_flows = steady->metric.least_samples;
        steady->result.state = OCHE_STEADY_SHORT;
        steady->result.batch = oche_time_max(ROUND_TRIPS * oche_world_empty_rtt(world),
                                             oche_world_network(world)->window);
        fine = is_long_enough(steady, error);
    }
    if (!fine) {
        free(steady);
        return NULL;
    }
    oche_world_visit_by(world, visit, steady);
    return steady;
}

void oche_steady_free(struct oche_steady *steady)
{
    for (uint32_t i = 0; steady != NULL && i < steady->count; i++)
        free(steady->marks[i].time);
    free(steady);
}

void oche_steady_take(struct oche_steady *steady, struct oche_steady_result *result)
{
    if (oche_world_ended(steady->world) != OCHE_END_STABLE)
        judge(steady, steady->count > 0 ? steady->count - 1 : 0);
    *result = steady->result;
}

const struct oche_steady_result *oche_steady_last(const struct oche_steady *steady)
{
    return &steady->result;
}

/* ---- in words ---- */

static struct oche_figure percent(double share)
{
    struct oche_figure figure;

    snprintf(figure.text, sizeof(figure.text), share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return figure;
}

static double width_of(const struct oche_steady_result *result)
{
    return result->interval.half_width / fabs(result->interval.mean);
}

void oche_steady_text(const struct oche_steady_result *result, char *text, size_t text_bytes)
{
    const struct oche_batch_means *interval = &result->interval;
    const char *stable = result->state == OCHE_STEADY_STABLE ? "" : "not stable: ";

    if (result->state == OCHE_STEADY_SHORT || result->state == OCHE_STEADY_FEW_FLOWS ||
        result->state == OCHE_STEADY_ZERO)
        snprintf(text, text_bytes, "%s%s, no interval, %u batches of %s", stable, result->metric,
                 interval->batches, oche_figure_time(result->batch).text);
    else
        snprintf(text, text_bytes, "%s%s %s ± %s of it, %u batches of %s", stable, result->metric,
                 oche_metric_figure(result->metric, interval->mean).text,
                 percent(width_of(result)).text, interval->batches,
                 oche_figure_time(result->batch).text);
}

void oche_steady_complaint(const struct oche_steady_result *result, char *text, size_t text_bytes)
{
    const struct oche_batch_means *interval = &result->interval;
    char why[OCHE_STEADY_TEXT_BYTES] = "";

    if (result->state == OCHE_STEADY_SHORT)
        snprintf(why, sizeof(why), "%u batches of %s are fewer than %u", interval->batches,
                 oche_figure_time(result->batch).text, LEAST_BATCHES);
    else if (result->state == OCHE_STEADY_FEW_FLOWS)
        snprintf(why, sizeof(why), "of %u batches of %s one has %u flows, of %u that it needs",
                 interval->batches, oche_figure_time(result->batch).text, result->fewest_flows,
                 result->least_flows);
    else if (result->state == OCHE_STEADY_ZERO)
        snprintf(why, sizeof(why), "it is 0, of which no share can be taken");
    else if (result->state == OCHE_STEADY_CORRELATED)
        snprintf(why, sizeof(why),
                 "%u batches of %s rise or fall, or depend on each other (correlation %.2f, more "
                 "than %.1f); set a longer duration, or a longer warmup",
                 interval->batches, oche_figure_time(result->batch).text, interval->correlation,
                 OCHE_BATCH_MOST_CORRELATION);
    else if (result->state == OCHE_STEADY_BRIEF)
        snprintf(why, sizeof(why),
                 "%u batches of %s are shorter than flows take, %s in the mean over bytes; set a "
                 "duration of the warmup and %s, or more if longer flows come",
                 interval->batches, oche_figure_time(result->batch).text,
                 oche_figure_time(result->life).text,
                 oche_figure_time(2 * LEAST_BATCHES * result->life).text);
    else if (result->state == OCHE_STEADY_WIDE)
        snprintf(why, sizeof(why),
                 "± %s, more than %s, after %u batches of %s; set a longer duration, about %s",
                 percent(width_of(result)).text, percent(result->within).text, interval->batches,
                 oche_figure_time(result->batch).text,
                 oche_figure_time((oche_time)(interval->batches * (double)result->batch *
                                              pow(width_of(result) / result->within, 2)))
                     .text);
    snprintf(text, text_bytes, "%s is not stable at the end of the run: %s", result->metric, why);
}
