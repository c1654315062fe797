/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of `oche fluid`. In the runs that are compared with the linear theory, all flows start at
 * time 0 and at the capacity (TIMELY: at their fair share, as in "ECN or Delay").
 */
#include "cli/fluid/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/whole_file.h"
#include "fluid/dcqcn_stability.h"
#include "fluid/fluid_summary.h"
#include "params/error.h"
#include "params/figures.h"
#include "params/table.h"

static struct oche_figure seconds(double value)
{
    return oche_figure_time((oche_time)llround(value * (double)OCHE_SEC));
}

static struct oche_figure bytes(double value)
{
    return oche_figure_bytes((uint64_t)llround(value));
}

static struct oche_figure rate(double value)
{
    return oche_figure_rate((uint64_t)llround(value));
}

/* Begins a table: writes the CSV's heading, if a CSV is wanted. */
static bool begin_csv(struct oche_whole_file *file, const struct oche_fluid_grid *grid,
                      const char *heading, struct oche_error *error)
{
    *file = (struct oche_whole_file){.out = NULL};
    if (grid->csv == NULL)
        return true;
    if (!oche_whole_file_begin(file, grid->csv, error))
        return false;
    fprintf(file->out, "%s\n", heading);
    return true;
}

static bool end_csv(struct oche_whole_file *file, struct oche_error *error)
{
    return file->out == NULL || oche_whole_file_end(file, error);
}

static void print_heading(const struct oche_fluid_grid *grid, bool with_delay)
{
    printf("%s, fluid model: %s, packets of %s", oche_fluid_names[grid->model->name],
           rate(oche_fluid_model_capacity(grid->model)).text,
           bytes(oche_fluid_model_packet(grid->model)).text);
    if (with_delay)
        printf(", delay %s", seconds(oche_fluid_model_delay(grid->model)).text);
    putchar('\n');
    oche_fluid_model_print(grid->model, stdout);
    putchar('\n');
}

/* ---- fixed points ---- */

static void dcqcn_points(const struct oche_fluid_grid *grid, FILE *csv)
{
    const struct oche_dcqcn_model *model = &grid->model->dcqcn;
    struct oche_table *table = oche_table_create(7);
    static const char *const heading[] = {"flows",  "p* first order", "p*",           "queue",
                                          "alpha*", "rate",           "R_T*/R_C* - 1"};
    bool above = false;

    for (size_t i = 0; i < OCHE_COUNT_OF(heading); i++)
        oche_table_cell(table, "%s", heading[i]);
    oche_table_rule(table);
    for (size_t i = 0; i < grid->count_count; i++) {
        struct oche_dcqcn_point point = oche_dcqcn_fixed_point(model, grid->counts[i]);

        oche_table_cell(table, "%u", grid->counts[i]);
        oche_table_cell(table, "%.3g %%", point.estimate * 100);
        oche_table_cell(table, "%.4g %%", point.mark * 100);
        oche_table_cell(table, "%s", point.on_ramp ? bytes(point.queue).text : "p* > pmax");
        oche_table_cell(table, "%.3g", point.alpha);
        oche_table_cell(table, "%s", rate(point.rate_bps).text);
        oche_table_cell(table, "%.3g %%", (point.target_bps / point.rate_bps - 1) * 100);
        above |= !point.on_ramp;
        if (csv == NULL)
            continue;
        fprintf(csv, "%u,%.9g,%.9g,", grid->counts[i], point.estimate, point.mark);
        if (point.on_ramp)
            fprintf(csv, "%.9g", point.queue);
        fprintf(csv, ",%.9g,%.9g,%.9g\n", point.alpha, point.rate_bps, point.target_bps);
    }
    oche_table_print(table, stdout);
    oche_table_free(table);
    if (above)
        printf("\np* > pmax: the queue swings around kmax, %s.\n", bytes(model->kmax).text);
}

static void timely_points(const struct oche_fluid_grid *grid, FILE *csv)
{
    const struct oche_timely_model *model = &grid->model->timely;
    struct oche_table *table = oche_table_create(4);
    bool above = false;

    oche_table_cell(table, "flows");
    oche_table_cell(table, "queue");
    oche_table_cell(table, "rate");
    oche_table_cell(table, "differences fall to 1/e in");
    oche_table_rule(table);
    for (size_t i = 0; i < grid->count_count; i++) {
        struct oche_timely_point point = oche_timely_fixed_point(model, grid->counts[i]);

        oche_table_cell(table, "%u", grid->counts[i]);
        oche_table_cell(table, "%s", point.exists ? bytes(point.queue).text : "above t_high");
        oche_table_cell(table, "%s", rate(point.rate_bps).text);
        oche_table_cell(table, "%s", point.exists ? seconds(point.decay_s).text : "–");
        above |= !point.exists;
        if (csv == NULL)
            continue;
        fprintf(csv, "%u,", grid->counts[i]);
        if (point.exists)
            fprintf(csv, "%.9g,%.9g,%.9g\n", point.queue, point.rate_bps, point.decay_s);
        else
            fprintf(csv, ",%.9g,\n", point.rate_bps);
    }
    oche_table_print(table, stdout);
    oche_table_free(table);
    if (above)
        printf("\nabove t_high: there is no fixed point.\n");
}

bool oche_fluid_print_points(const struct oche_fluid_grid *grid, struct oche_error *error)
{
    bool dcqcn = grid->model->name == OCHE_FLUID_DCQCN;
    struct oche_whole_file csv;

    if (!begin_csv(&csv, grid,
                   dcqcn ? "flows,mark_first_order,mark,queue_bytes,alpha,rate_bps,target_bps"
                         : "flows,queue_bytes,rate_bps,decay_s",
                   error))
        return false;
    print_heading(grid, true);
    if (dcqcn)
        dcqcn_points(grid, csv.out);
    else
        timely_points(grid, csv.out);
    return end_csv(&csv, error);
}

/* ---- stability ---- */

/* The results for one number of flows and one delay. */
struct cell {
    bool has_point; /* false: the next two members are not set */
    double margin_deg;
    int unstable_roots;
    double queue_mean, queue_sd, utilisation; /* measured in the run of the model */
};

static bool run_cell(const struct oche_fluid_grid *grid, uint32_t flows, struct cell *cell)
{
    const struct oche_fluid_options options = {.tolerance = grid->tolerance};
    double capacity = oche_fluid_model_capacity(grid->model);
    double start = grid->model->name == OCHE_FLUID_DCQCN ? capacity : capacity / flows;
    const struct oche_fluid_flow list[] = {{start, 0, flows}};
    struct oche_fluid *fluid = oche_fluid_model_create(grid->model, list, 1, &options);
    struct oche_fluid_summary summary;

    oche_fluid_summary_begin(&summary, fluid, grid->duration_s / 2);
    bool fine = oche_fluid_run(fluid, grid->duration_s, oche_fluid_summary_step, &summary);

    oche_fluid_summary_end(&summary, fluid);
    cell->queue_mean = summary.queue_mean;
    cell->queue_sd = summary.queue_sd;
    cell->utilisation = summary.utilisation;
    oche_fluid_summary_free(&summary);
    oche_fluid_free(fluid);
    return fine;
}

static void judge_cell(const struct oche_fluid_grid *grid, uint32_t flows, struct cell *cell)
{
    if (grid->model->name == OCHE_FLUID_DCQCN) {
        struct oche_dcqcn_point point = oche_dcqcn_fixed_point(&grid->model->dcqcn, flows);

        cell->has_point = point.on_ramp;
        if (!point.on_ramp)
            return;
        struct oche_dcqcn_stability stability =
            oche_dcqcn_stability(&grid->model->dcqcn, &point, flows);

        cell->margin_deg = stability.margin.phase_deg;
        cell->unstable_roots = stability.unstable_roots;
        return;
    }
    struct oche_timely_point point = oche_timely_fixed_point(&grid->model->timely, flows);

    cell->has_point = point.exists;
    cell->margin_deg = point.margin.phase_deg;
    cell->unstable_roots = point.unstable_roots;
}

static bool fill_cells(const struct oche_fluid_grid *grid, struct cell *cells,
                       struct oche_error *error)
{
    for (size_t i = 0; i < grid->count_count; i++)
        for (size_t k = 0; k < grid->delay_count; k++) {
            struct cell *cell = &cells[i * grid->delay_count + k];

            oche_fluid_model_set_delay(grid->model, grid->delays_s[k]);
            judge_cell(grid, grid->counts[i], cell);
            if (run_cell(grid, grid->counts[i], cell))
                continue;
            return oche_fail(
                error,
                "with %u flows and a delay of %s the model's numbers grow beyond all bounds; "
                "its parameters fit no network",
                grid->counts[i], seconds(grid->delays_s[k]).text);
        }
    return true;
}

static void print_cells(const struct oche_fluid_grid *grid, const struct cell *cells, bool theory)
{
    struct oche_table *table = oche_table_create(1 + grid->delay_count);

    oche_table_cell(table, "flows");
    for (size_t k = 0; k < grid->delay_count; k++)
        oche_table_cell(table, "%s", seconds(grid->delays_s[k]).text);
    oche_table_rule(table);
    for (size_t i = 0; i < grid->count_count; i++) {
        oche_table_cell(table, "%u", grid->counts[i]);
        for (size_t k = 0; k < grid->delay_count; k++) {
            const struct cell *cell = &cells[i * grid->delay_count + k];

            if (!theory)
                oche_table_cell(table, "%.1f ± %.1f", cell->queue_mean / 1e3, cell->queue_sd / 1e3);
            else if (!cell->has_point)
                oche_table_cell(table, "–");
            else if (cell->unstable_roots < 0)
                oche_table_cell(table, "edge");
            else
                oche_table_cell(table, "%.1f%s", cell->margin_deg,
                                cell->unstable_roots == 0 ? "" : " !");
        }
    }
    oche_table_print(table, stdout);
    oche_table_free(table);
}

static void write_cells(const struct oche_fluid_grid *grid, const struct cell *cells, FILE *csv)
{
    for (size_t i = 0; i < grid->count_count; i++)
        for (size_t k = 0; k < grid->delay_count; k++) {
            const struct cell *cell = &cells[i * grid->delay_count + k];

            fprintf(csv, "%u,%.9g,", grid->counts[i], grid->delays_s[k]);
            if (cell->has_point && isfinite(cell->margin_deg))
                fprintf(csv, "%.6g", cell->margin_deg);
            fputc(',', csv);
            if (cell->has_point && cell->unstable_roots >= 0)
                fprintf(csv, "%d", cell->unstable_roots);
            fprintf(csv, ",%.6g,%.6g,%.6g\n", cell->queue_mean, cell->queue_sd, cell->utilisation);
        }
}

bool oche_fluid_print_stability(const struct oche_fluid_grid *grid, struct oche_error *error)
{
    struct cell *cells = calloc(grid->count_count * grid->delay_count, sizeof(*cells));
    struct oche_whole_file csv;
    bool fine = begin_csv(&csv, grid,
                          "flows,delay_s,phase_margin_deg,unstable_roots,queue_mean_bytes,"
                          "queue_sd_bytes,utilisation",
                          error);

    OCHE_GOT(cells != NULL);
    if (fine && !fill_cells(grid, cells, error)) {
        oche_whole_file_abandon(&csv);
        fine = false;
    }
    if (fine) {
        print_heading(grid, false);
        printf("phase margin in degrees, by delay (!: not stable; –: no fixed point)\n\n");
        print_cells(grid, cells, true);
        printf("\nqueue in KB, mean ± standard deviation, second half of runs of %s\n\n",
               seconds(grid->duration_s).text);
        print_cells(grid, cells, false);
        if (csv.out != NULL)
            write_cells(grid, cells, csv.out);
        fine = end_csv(&csv, error);
    }
    free(cells);
    return fine;
}
