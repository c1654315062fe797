/* SPDX-License-Identifier: Apache-2.0 */
/* Records grids and results in a sweep's file. */
#include "lab/sweep/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep/grid_files.h"
#include "lab/sweep/grid_text.h"
#include "lab/sweep/jobs.h"
#include "lab/measures/metrics.h"
#include "params/text_stream.h"
#include "sim/scenario/scenario.h"

static void store_parameter(void *context, const char *key, const char *value, const char *unit,
                            bool given)
{
    oche_sweep_store_parameter(context, key, value, unit, given);
}

static bool store_parameters(struct oche_sweep_store *store, const struct oche_scenario *scenario,
                             struct oche_error *error)
{
    oche_sweep_store_begin(store);
    oche_bindings_each(&scenario->bindings, store_parameter, store);
    return oche_sweep_store_commit(store, error);
}

static struct oche_sweep_store *open_store(const struct oche_grid *grid,
                                           const struct oche_record_options *options,
                                           const struct oche_scenario *scenario,
                                           struct oche_error *error)
{
    struct oche_sweep_axis axes[OCHE_GRID_MAX_AXES];
    char *text = oche_grid_text(grid), *files = oche_grid_files(grid);

    for (size_t i = 0; i < grid->axis_count; i++)
        axes[i] = (struct oche_sweep_axis){.key = grid->axes[i].key,
                                           .values = (const char *const *)grid->axes[i].values,
                                           .count = grid->axes[i].count};
    const struct oche_sweep_description description = {.program = options->program,
                                                       .command = options->command,
                                                       .kind = options->kind,
                                                       .scenario = grid->scenario,
                                                       .scenario_text =
                                                           oche_document_text(scenario->document),
                                                       .grid = text,
                                                       .files = files,
                                                       .seed = grid->seed_base,
                                                       .repeats = grid->repeats,
                                                       .zipped = grid->zipped,
                                                       .cores = oche_jobs_cores(),
                                                       .axes = axes,
                                                       .axis_count = grid->axis_count};
    struct oche_sweep_store *store =
        oche_sweep_store_open(options->path, &description, options->restart, error);

    free(text);
    free(files);
    return store;
}

struct oche_sweep_store *oche_record_open(const struct oche_grid *grid,
                                          const struct oche_record_options *options,
                                          struct oche_error *error)
{
    size_t count, first = 0;

    while (oche_grid_invalid(grid, first) != NULL)
        first += grid->repeats; /* at least one can be run: the grid has been checked */
    char **sets = oche_grid_sets(grid, first, &count);
    struct oche_scenario *scenario =
        oche_scenario_open(grid->scenario, (const char *const *)sets, count, error);
    struct oche_sweep_store *store = NULL;

    oche_grid_sets_free(sets, count);
    if (scenario == NULL)
        return NULL;
    store = open_store(grid, options, scenario, error);
    if (store != NULL && !store_parameters(store, scenario, error)) {
        oche_sweep_store_close(store);
        store = NULL;
    }
    oche_scenario_close(scenario);
    return store;
}

bool oche_record_left_out(struct oche_sweep_store *store, const struct oche_grid *grid,
                          struct oche_error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (size_t i = 0; i < oche_grid_combinations(grid); i++) {
        const char *why = oche_grid_invalid(grid, i * grid->repeats);

        if (why == NULL)
            continue;
        char *label = oche_grid_values(grid, i * grid->repeats);

        fprintf(out, "%s\t%s\n", label, why);
        free(label);
    }
    oche_text_stream_close(out);
    oche_sweep_store_begin(store);
    if (bytes > 0)
        oche_sweep_store_info(store, "left_out", text);
    free(text);
    return oche_sweep_store_commit(store, error);
}

bool oche_record_point(struct oche_sweep_store *store, const struct oche_grid *grid, size_t point,
                       const struct oche_point_result *result, struct oche_error *error)
{
    struct oche_grid_place place = oche_grid_place(grid, point);

    oche_sweep_store_begin(store);
    oche_sweep_store_point(
        store, &(struct oche_sweep_point){.id = point,
                                          .repeat = place.repeat,
                                          .seed = oche_grid_seed(grid, point),
                                          .status = oche_point_status_name(result->status),
                                          .error = result->error,
                                          .wall_s = result->wall_s,
                                          .trace_hash = result->hash,
                                          .numbers = place.value});
    for (size_t i = 0; i < result->metric_count; i++) {
        const struct oche_metric *metric = &result->metrics[i];
        const char *help = oche_metric_help(metric->name);

        oche_sweep_store_metric(store, point, metric->name, metric->unit, help != NULL ? help : "",
                                metric->value);
    }
    for (size_t i = 0; i < result->distribution_count; i++) {
        const struct oche_distribution *distribution = &result->distributions[i];

        oche_sweep_store_distribution(store, point, distribution->name, distribution->unit,
                                      distribution->count, distribution->value,
                                      OCHE_DISTRIBUTION_STEPS, OCHE_DISTRIBUTION_STEP);
    }
    return oche_sweep_store_commit(store, error);
}

/* ---- reading back ---- */

struct reading {
    struct oche_point_result *result;
    bool bad; /* an impossible value was read */
};

static void read_head(void *context, uint64_t seed, uint64_t trace_hash, double wall_s)
{
    struct reading *reading = context;

    reading->result->seed = seed;
    reading->result->hash = trace_hash;
    reading->result->wall_s = wall_s;
}

static void read_metric(void *context, const char *name, const char *unit, double value)
{
    struct reading *reading = context;
    struct oche_point_result *result = reading->result;
    const struct oche_metric metric = {
        .name = strdup(name), .unit = oche_metric_unit_named(unit), .value = value};

    result->metrics =
        realloc(result->metrics, (result->metric_count + 1) * sizeof(*result->metrics));
    OCHE_GOT(metric.name != NULL && result->metrics != NULL);
    reading->bad |= metric.unit == NULL;
    result->metrics[result->metric_count++] = metric;
}

/* Returns the distribution for percentiles of this name, a new one if necessary. */
static struct oche_distribution *distribution_named(struct oche_point_result *result,
                                                    const char *name)
{
    struct oche_distribution *last = NULL;

    if (result->distribution_count > 0)
        last = &result->distributions[result->distribution_count - 1];
    if (last != NULL && strcmp(last->name, name) == 0)
        return last;
    result->distributions = realloc(result->distributions, (result->distribution_count + 1) *
                                                               sizeof(*result->distributions));
    OCHE_GOT(result->distributions != NULL);
    last = &result->distributions[result->distribution_count++];
    *last = (struct oche_distribution){.name = strdup(name)};
    OCHE_GOT(last->name != NULL);
    return last;
}

static void read_percentile(void *context, const char *name, const char *unit, uint64_t samples,
                            uint32_t thousandth, double value)
{
    struct reading *reading = context;
    struct oche_distribution *distribution = distribution_named(reading->result, name);
    const uint32_t step = thousandth / OCHE_DISTRIBUTION_STEP;

    distribution->unit = oche_metric_unit_named(unit);
    distribution->count = samples;
    reading->bad |= distribution->unit == NULL || thousandth % OCHE_DISTRIBUTION_STEP != 0 ||
                    step >= OCHE_DISTRIBUTION_STEPS;
    if (!reading->bad)
        distribution->value[step] = value;
}

bool oche_record_read(struct oche_sweep_store *store, size_t point,
                      struct oche_point_result *result)
{
    struct reading reading = {.result = result};
    const struct oche_sweep_reader reader = {&reading, read_head, read_metric, read_percentile};

    *result = (struct oche_point_result){.status = OCHE_POINT_DONE};
    if (oche_sweep_store_read(store, point, &reader) && !reading.bad)
        return true;
    oche_point_free(result);
    return false;
}
