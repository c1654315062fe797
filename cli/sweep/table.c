/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of a sweep. */
#include "cli/sweep/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lab/measures/metrics.h"
#include "lab/measures/interval.h"
#include "params/figures.h"
#include "params/table.h"

#define MOST_ROWS 200 /* most rows in the table; the results file has all combinations */

/*
 * The metrics shown by default. A metric that is 0 everywhere, or that no point has, is left out.
 * Where a clock starts all flows at every point, slowdown comes first. Goodput is then left out: it
 * is a rate over the time until the last flow ends. Jain's index is shown only on request, because
 * flows with different bottlenecks need not be equal.
 */
static const char *const usual[] = {
    "goodput",     "load.offered", "load.delivered", "fct.all.p99",           "slowdown.all.p99",
    "timeouts",    "drops",        "pauses",         "retransmitted_packets", "flows.unfinished",
    "flows.failed"};
static const char *const of_load[] = {
    "slowdown.all.p99", "fct.all.p99", "load.offered", "load.delivered",
    "timeouts",         "drops",       "pauses",       "retransmitted_packets",
    "flows.unfinished", "flows.failed"};

struct column {
    const char *name, *unit;
    double *values; /* value at each point */
};

struct view {
    const struct oche_grid *grid;
    struct column *columns;
    size_t column_count, points, combinations;
    bool *done; /* whether each point is done */
    bool all_done;
    bool some_without_value; /* at least one mean is over fewer points than are done */
};

/* True if at least one point has a value that is neither 0 nor NAN. */
static bool says_something(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]) && values[i] != 0)
            return true;
    return false;
}

/* True if every point that is done has a load, and no other traffic. */
static bool has_load_alone(const struct view *view, struct oche_sweep_store *store)
{
    double *alone = malloc(view->points * sizeof(*alone));
    bool all = true, any = false;

    OCHE_GOT(alone != NULL);
    oche_sweep_store_values(store, "load.alone", alone, view->points);
    for (size_t i = 0; i < view->points; i++) {
        all &= !view->done[i] || alone[i] == 1;
        any |= view->done[i];
    }
    free(alone);
    return any && all;
}

static void add_column(struct view *view, struct oche_sweep_store *store, const char *name,
                       bool asked_for)
{
    struct column *column = &view->columns[view->column_count];

    *column = (struct column){.name = name, .unit = oche_metric_unit(name)};
    column->values = malloc(view->points * sizeof(*column->values));
    OCHE_GOT(column->unit != NULL && column->values != NULL);
    oche_sweep_store_values(store, name, column->values, view->points);
    if (asked_for || says_something(column->values, view->points))
        view->column_count++;
    else
        free(column->values);
}

/*
 * Returns the mean of the repeats that have a value, as text, with half the width of its 95 %
 * interval if there are two or more. Sets *count to the number of values.
 */
static struct oche_figure figure_of(const struct view *view, const struct column *column,
                                    size_t combination, uint32_t *count)
{
    const uint32_t repeats = view->grid->repeats;
    const double *all = &column->values[combination * repeats];
    double *values = malloc(repeats * sizeof(*values));

    OCHE_GOT(values != NULL);
    *count = 0;
    for (uint32_t i = 0; i < repeats; i++)
        if (!isnan(all[i]))
            values[(*count)++] = all[i];
    const struct oche_figure figure =
        oche_figure_spread(*count > 0 ? oche_mean(values, *count) : NAN,
                           *count > 1 ? oche_mean_spread(values, *count) : NAN, column->unit);

    free(values);
    return figure;
}

/*
 * Prints a mean. If fewer points have a value than are done, because for example no flow ended in
 * the others, also prints the number of points with a value.
 */
static void print_cell(struct view *view, struct oche_table *table, const struct column *column,
                       size_t combination, uint32_t done)
{
    uint32_t count;
    struct oche_figure figure = figure_of(view, column, combination, &count);

    if (count == done || count == 0) {
        oche_table_cell(table, "%s", figure.text);
        return;
    }
    oche_table_cell(table, "%s (of %" PRIu32 ")", figure.text, count);
    view->some_without_value = true;
}

static void print_row(struct view *view, struct oche_table *table, size_t combination)
{
    const struct oche_grid *grid = view->grid;
    struct oche_grid_place place = oche_grid_place(grid, combination * grid->repeats);
    uint32_t done = 0;

    for (size_t i = 0; i < grid->axis_count; i++)
        oche_table_cell(table, "%s", grid->axes[i].values[place.value[i]]);
    if (grid->axis_count == 0)
        oche_table_cell(table, "%s", "as it is");
    for (uint32_t i = 0; i < grid->repeats; i++)
        done += view->done[combination * grid->repeats + i];
    if (!view->all_done)
        oche_table_cell(table, "%" PRIu32 " of %" PRIu32, done, grid->repeats);
    for (size_t i = 0; i < view->column_count; i++)
        print_cell(view, table, &view->columns[i], combination, done);
}

/* Prints what the numbers in the table mean. */
static void print_foot(const struct view *view, FILE *out)
{
    const struct oche_grid *grid = view->grid;

    if (grid->repeats > 1)
        fprintf(out,
                "mean ± half its 95 %% interval over %s%" PRIu32 " seeds, %" PRIu64 " to %" PRIu64
                "%s\n",
                view->all_done ? "" : "the points that are done of ", grid->repeats,
                grid->seed_base, grid->seed_base + grid->repeats - 1,
                view->some_without_value ? "; (of N): over N of them, the others have no such value"
                                         : "");
}

static void print_view(struct view *view, FILE *out)
{
    const size_t keys = view->grid->axis_count > 0 ? view->grid->axis_count : 1;
    struct oche_table *table =
        oche_table_create(keys + (view->all_done ? 0 : 1) + view->column_count);

    for (size_t i = 0; i < view->grid->axis_count; i++)
        oche_table_cell(table, "%s", view->grid->axes[i].key);
    if (view->grid->axis_count == 0)
        oche_table_cell(table, "%s", "scenario");
    if (!view->all_done)
        oche_table_cell(table, "%s", "done");
    for (size_t i = 0; i < view->column_count; i++)
        oche_table_cell(table, "%s", view->columns[i].name);
    oche_table_rule(table);
    for (size_t i = 0; i < view->combinations && i < MOST_ROWS; i++)
        if (oche_grid_invalid(view->grid, i * view->grid->repeats) == NULL)
            print_row(view, table, i);
    oche_table_print(table, out);
    oche_table_free(table);
    if (view->combinations > MOST_ROWS)
        fprintf(out, "… and %zu more combinations in the results file\n",
                view->combinations - MOST_ROWS);
    print_foot(view, out);
}

void oche_sweep_table_print(const struct oche_grid *grid, struct oche_sweep_store *store,
                            const char *const *metrics, size_t count, FILE *out)
{
    const bool asked_for = count > 0;
    struct view view = {.grid = grid,
                        .points = oche_grid_points(grid),
                        .combinations = oche_grid_combinations(grid)};

    view.done = calloc(view.points, sizeof(*view.done));
    OCHE_GOT(view.done != NULL);
    view.all_done = oche_sweep_store_done(store, view.done, view.points) ==
                    view.points - grid->invalid_count * grid->repeats;
    if (!asked_for) {
        const bool load = has_load_alone(&view, store);

        metrics = load ? of_load : usual;
        count = load ? OCHE_COUNT_OF(of_load) : OCHE_COUNT_OF(usual);
    }
    view.columns = calloc(count, sizeof(*view.columns));
    OCHE_GOT(view.columns != NULL);
    for (size_t i = 0; i < count; i++)
        add_column(&view, store, metrics[i], asked_for);
    print_view(&view, out);
    for (size_t i = 0; i < view.column_count; i++)
        free(view.columns[i].values);
    free(view.columns);
    free(view.done);
}
