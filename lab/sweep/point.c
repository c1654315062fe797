/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a point and takes its result. */
#include "lab/sweep/point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/fluid/outcome.h"
#include "lab/measures/metrics.h"
#include "sim/measure/percentile.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

static double monotonic_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add_metric(void *context, const char *name, const char *unit, double value)
{
    struct oche_point_result *result = context;

    result->metrics =
        realloc(result->metrics, (result->metric_count + 1) * sizeof(*result->metrics));
    OCHE_GOT(result->metrics != NULL);
    struct oche_metric *metric = &result->metrics[result->metric_count++];

    *metric = (struct oche_metric){.name = strdup(name), .unit = unit, .value = value};
    OCHE_GOT(metric->name != NULL);
}

static void add_distribution(struct oche_point_result *result, const char *name, const char *unit,
                             const struct oche_sorted_values *samples)
{
    if (samples->count == 0)
        return;
    struct oche_distribution *distribution = &result->distributions[result->distribution_count++];

    distribution->name = strdup(name);
    OCHE_GOT(distribution->name != NULL);
    distribution->unit = oche_metric_unit_named(unit);
    distribution->count = samples->count;
    for (uint32_t step = 0; step < OCHE_DISTRIBUTION_STEPS; step++)
        distribution->value[step] =
            oche_percentile_real(samples->values, samples->count, step * OCHE_DISTRIBUTION_STEP);
}

static void fail(struct oche_point_result *result, const char *error)
{
    result->status = OCHE_POINT_FAILED;
    result->error = strdup(error);
    OCHE_GOT(result->error != NULL);
}

static void take(struct oche_point_result *result, const struct oche_outcome *outcome)
{
    static const struct {
        const char *name, *unit;
    } distributions[OCHE_OUTCOME_SAMPLES] = {[OCHE_SAMPLES_FCT] = {"fct", "s"},
                                             [OCHE_SAMPLES_SLOWDOWN] = {"slowdown", "ratio"},
                                             [OCHE_SAMPLES_GOODPUT] = {"goodput", "bps"}};

    oche_metrics_each(outcome, add_metric, result);
    result->distributions = calloc(OCHE_OUTCOME_SAMPLES, sizeof(*result->distributions));
    OCHE_GOT(result->distributions != NULL);
    for (unsigned i = 0; i < OCHE_OUTCOME_SAMPLES; i++)
        add_distribution(result, distributions[i].name, distributions[i].unit,
                         &outcome->samples[i]);
}

static void take_packets(struct oche_point_result *result, const struct oche_scenario *scenario,
                         struct oche_world *world, double wall_s)
{
    struct oche_error error;
    struct oche_outcome outcome;

    oche_outcome_take(&outcome, world, "", wall_s);
    result->hash = outcome.totals.hash;
    char *stop = oche_pathologies_stop_line(&outcome.pathologies);

    if (stop != NULL)
        fail(result, stop);
    else if (scenario->model == OCHE_MODEL_BOTH &&
             !oche_fluid_outcome_add(&outcome, scenario, &error))
        fail(result, error.text);
    else
        take(result, &outcome);
    free(stop);
    oche_outcome_free(&outcome);
}

static void run_packets(struct oche_point_result *result, const struct oche_scenario *scenario)
{
    struct oche_error error, message;
    struct oche_world *world = oche_world_create(&scenario->config, &message);

    if (world == NULL) {
        oche_scenario_place(scenario, message.text, &error);
        fail(result, error.text);
        return;
    }
    double begun = monotonic_s();

    oche_world_run(world, NULL, NULL);
    result->wall_s = monotonic_s() - begun;
    take_packets(result, scenario, world, result->wall_s);
    oche_world_free(world);
}

static void run_fluid(struct oche_point_result *result, const struct oche_scenario *scenario)
{
    struct oche_error error;
    struct oche_outcome outcome;
    double begun = monotonic_s();

    if (!oche_fluid_outcome_take(&outcome, scenario, &error)) {
        fail(result, error.text);
        return;
    }
    result->wall_s = monotonic_s() - begun;
    take(result, &outcome);
    oche_outcome_free(&outcome);
}

void oche_point_run(const char *path, const char *const *sets, size_t set_count,
                    struct oche_point_result *result)
{
    struct oche_error error;

    *result = (struct oche_point_result){.status = OCHE_POINT_DONE};
    struct oche_scenario *scenario = oche_scenario_open(path, sets, set_count, &error);

    if (scenario == NULL) {
        fail(result, error.text);
        return;
    }
    result->seed = scenario->config.seed;
    if (!oche_fluid_outcome_check(scenario, &error))
        fail(result, error.text);
    else if (scenario->model == OCHE_MODEL_FLUID)
        run_fluid(result, scenario);
    else
        run_packets(result, scenario);
    oche_scenario_close(scenario);
}

void oche_point_free(struct oche_point_result *result)
{
    for (size_t i = 0; i < result->metric_count; i++)
        free(result->metrics[i].name);
    for (size_t i = 0; i < result->distribution_count; i++)
        free(result->distributions[i].name);
    free(result->metrics);
    free(result->distributions);
    free(result->error);
    *result = (struct oche_point_result){.status = OCHE_POINT_FAILED};
}

double oche_point_metric(const struct oche_point_result *result, const char *name)
{
    for (size_t i = 0; i < result->metric_count; i++)
        if (strcmp(result->metrics[i].name, name) == 0)
            return result->metrics[i].value;
    return NAN;
}
