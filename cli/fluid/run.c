/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fluid model and shows the results. Values in charts and files are interpolated between the
 * solver's steps.
 */
#include "cli/fluid/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fluid/text_chart.h"
#include "cli/interrupted.h"
#include "cli/whole_file.h"
#include "fluid/dcqcn_stability.h"
#include "fluid/fluid_summary.h"
#include "params/error.h"
#include "params/figures.h"
#include "store/store.h"
#include "params/table.h"

/*
 * most flows that are drawn one by one; if there are more, only the smallest and the largest rate
 */
#define DRAWN_FLOWS 9
#define CHART_STEPS 20 /* samples per column of a chart */
#define NAME_BYTES  64

/* The state while the model runs. */
struct watch {
    const struct oche_fluid_run *run;
    struct oche_fluid_summary summary;
    struct oche_text_chart queue, rates;
    double *values; /* rate of each entry of the flow list */
    /* number of the next sample for files; number of the next sample for charts */
    uint64_t next_sample, next_dot;
    struct oche_whole_file csv;
    struct oche_results *results;
    char *part;                                         /* the file's name while it is unfinished */
    uint32_t queue_series, served_series, first_series; /* ids in the results file */
};

/* Writes the name of an entry of the list: "flow 3", or "flows 3 to 8". */
static void entry_name(const struct oche_fluid_flow_list *flows, size_t entry, char *text,
                       size_t bytes)
{
    uint32_t first = 1, count = flows->flows[entry].count;

    for (size_t i = 0; i < entry; i++)
        first += flows->flows[i].count;
    if (count == 1)
        snprintf(text, bytes, "flow %u", first);
    else
        snprintf(text, bytes, "flows %u to %u", first, first + count - 1);
}

static bool draws_each(const struct oche_fluid_run *run)
{
    return run->flows->count <= DRAWN_FLOWS;
}

/* ---- during the run ---- */

/* Draws the rates. Leaves out flows that have not started. */
static void draw(struct watch *watch, const struct oche_fluid *fluid, double time)
{
    double least = INFINITY, most = -INFINITY;

    oche_text_chart_add(&watch->queue, 0, time, oche_fluid_at(fluid, time, watch->values));
    for (size_t i = 0; i < watch->run->flows->count; i++) {
        if (!oche_fluid_started(fluid, i))
            continue;
        if (draws_each(watch->run))
            oche_text_chart_add(&watch->rates, i, time, watch->values[i]);
        least = fmin(least, watch->values[i]);
        most = fmax(most, watch->values[i]);
    }
    if (draws_each(watch->run) || least > most)
        return;
    oche_text_chart_add(&watch->rates, 0, time, most);
    oche_text_chart_add(&watch->rates, 1, time, least);
}

/* Returns the rate at which the queue is emptied when flows send at watch->values. */
static double served(const struct watch *watch, double queue)
{
    double capacity = oche_fluid_model_capacity(watch->run->model), arriving = 0;

    for (size_t i = 0; i < watch->run->flows->count; i++)
        arriving += watch->values[i] * watch->run->flows->flows[i].count;
    return queue > 0 ? capacity : fmin(arriving, capacity);
}

static void write_sample(struct watch *watch, const struct oche_fluid *fluid, double time)
{
    double queue = oche_fluid_at(fluid, time, watch->values);
    oche_time stamp = (oche_time)llround(time * (double)OCHE_SEC);

    if (watch->csv.out != NULL) {
        fprintf(watch->csv.out, "%.9g,%.9g", time, queue);
        for (size_t i = 0; i < watch->run->flows->count; i++)
            fprintf(watch->csv.out, ",%.9g", watch->values[i]);
        fputc('\n', watch->csv.out);
    }
    if (watch->results == NULL)
        return;
    oche_results_point(watch->results, watch->queue_series, stamp, queue);
    oche_results_point(watch->results, watch->served_series, stamp, served(watch, queue));
    for (size_t i = 0; i < watch->run->flows->count; i++)
        oche_results_point(watch->results, watch->first_series + (uint32_t)i, stamp,
                           watch->values[i]);
}

/*
 * Calls `sample` for each of the times 0, interval, 2 * interval, … that the run has reached with
 * the step that ends at `end`.
 */
static void sample_to(struct watch *watch, const struct oche_fluid *fluid, double end,
                      double interval, uint64_t *next,
                      void (*sample)(struct watch *, const struct oche_fluid *, double))
{
    for (double time; (time = (double)*next * interval) <= end * (1 + 1e-12); ++*next)
        sample(watch, fluid, fmin(time, end));
}

static void observe(void *context, const struct oche_fluid *fluid, double begin, double end)
{
    struct watch *watch = context;
    double dot = watch->run->duration_s / OCHE_CHART_COLUMNS / CHART_STEPS;

    oche_fluid_summary_step(&watch->summary, fluid, begin, end);
    if (!watch->run->quiet)
        sample_to(watch, fluid, end, dot, &watch->next_dot, draw);
    if (watch->csv.out != NULL || watch->results != NULL)
        sample_to(watch, fluid, end, watch->run->interval_s, &watch->next_sample, write_sample);
}

/* ---- files ---- */

static bool begin_csv(struct watch *watch, struct oche_error *error)
{
    const struct oche_fluid_run *run = watch->run;
    uint32_t flow = 1;

    if (!oche_whole_file_begin(&watch->csv, run->csv, error))
        return false;
    fputs("time_s,queue_bytes", watch->csv.out);
    for (size_t i = 0; i < run->flows->count; i++) {
        uint32_t count = run->flows->flows[i].count;

        if (count == 1)
            fprintf(watch->csv.out, ",flow%u_bps", flow);
        else
            fprintf(watch->csv.out, ",flow%uto%u_bps", flow, flow + count - 1);
        flow += count;
    }
    fputc('\n', watch->csv.out);
    return true;
}

static void store_number(struct oche_results *results, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    oche_results_info(results, key, text);
}

static void name_series(struct watch *watch)
{
    const char *port = watch->run->scenario != NULL ? watch->run->bottleneck : "bottleneck";

    watch->queue_series = oche_results_series(watch->results, "queue", port, "bytes");
    watch->served_series = oche_results_series(watch->results, "goodput", "all", "bps");
    for (size_t i = 0; i < watch->run->flows->count; i++) {
        char name[NAME_BYTES];

        entry_name(watch->run->flows, i, name, sizeof(name));
        uint32_t number = oche_results_series(watch->results, "rate", name, "bps");

        if (i == 0)
            watch->first_series = number;
    }
}

static void store_parameters(const struct watch *watch)
{
    const struct oche_fluid_model *model = watch->run->model;

    for (size_t i = 0; i < model->row_count; i++) {
        const struct oche_fluid_row *row = &model->rows[i];
        char value[OCHE_FLUID_VALUE_BYTES];

        oche_fluid_row_value(row, value, sizeof(value));
        oche_results_parameter(watch->results, row->param->name, value, oche_fluid_row_unit(row),
                               row->given != NULL);
    }
}

static bool begin_results(struct watch *watch, struct oche_error *error)
{
    const struct oche_fluid_run *run = watch->run;
    oche_time duration = (oche_time)llround(run->duration_s * (double)OCHE_SEC);
    char *path = NULL, text[256];

    if (!oche_results_folder(run->out, error))
        return false;
    OCHE_GOT(asprintf(&path, "%s/run.sqlite", run->out) >= 0);
    OCHE_GOT(asprintf(&watch->part, "%s" OCHE_RESULTS_PART, path) >= 0);
    oche_remove_if_interrupted(OCHE_UNFINISHED_RESULTS, watch->part);
    watch->results = oche_results_create(path, error);
    free(path);
    if (watch->results == NULL)
        return false;
    snprintf(text, sizeof(text), "fluid model of %u flows at one queue of %s", run->flows->total,
             oche_figure_rate((uint64_t)oche_fluid_model_capacity(run->model)).text);
    oche_results_info(watch->results, "program", "oche " OCHE_VERSION);
    oche_results_info(watch->results, "command", run->command);
    oche_results_info(watch->results, "scenario", run->scenario != NULL ? run->scenario : "fluid");
    oche_results_info(watch->results, "description", text);
    oche_results_info(watch->results, "label", "");
    oche_results_info(watch->results, "congestion_control", oche_fluid_names[run->model->name]);
    oche_results_info(watch->results, "recovery", "none");
    oche_results_info(watch->results, "seed", "none");
    store_number(watch->results, "simulated_ps", duration);
    store_number(watch->results, "measured_ps", duration);
    store_parameters(watch);
    name_series(watch);
    return true;
}

/* ---- printing ---- */

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

static void rate_label(char *text, size_t size, double value)
{
    snprintf(text, size, "%s", rate(value).text);
}

static void bytes_label(char *text, size_t size, double value)
{
    snprintf(text, size, "%s", bytes(value).text);
}

static void time_label(char *text, size_t size, double value)
{
    snprintf(text, size, "%s", seconds(value).text);
}

static void print_heading(const struct oche_fluid_run *run)
{
    const struct oche_fluid_model *model = run->model;
    uint32_t total = run->flows->total;

    printf("%s, fluid model: %u flow%s, %s, packets of %s, delay %s\n",
           oche_fluid_names[model->name], total, total == 1 ? "" : "s",
           rate(oche_fluid_model_capacity(model)).text, bytes(oche_fluid_model_packet(model)).text,
           seconds(oche_fluid_model_delay(model)).text);
    oche_fluid_model_print(model, stdout);
    if (run->scenario != NULL)
        printf("  scenario %s: what goes to %s; not in the model: %s\n", run->scenario,
               run->receiver, run->left_out);
    for (size_t i = 0; i < run->flows->count && draws_each(run); i++) {
        const struct oche_fluid_flow *flow = &run->flows->flows[i];
        char name[NAME_BYTES];

        entry_name(run->flows, i, name, sizeof(name));
        printf("  %s: %s%s from %s on\n", name, flow->count > 1 ? "each " : "",
               rate(flow->rate_bps).text, seconds(flow->start_s).text);
    }
}

static void print_verdict(double margin_deg, int roots)
{
    if (roots < 0)
        printf("; on the edge of stability\n");
    else if (isinf(margin_deg))
        printf("; %s\n", roots == 0 ? "stable" : "not stable");
    else
        printf("; phase margin %.1f degrees: %s\n", margin_deg,
               roots == 0 ? "stable" : "not stable");
}

static void print_dcqcn_point(const struct oche_dcqcn_model *model, uint32_t flows)
{
    if (model->rai == 0) {
        printf(
            "fixed point: none; without additive increase rates rest wherever no mark is made\n");
        return;
    }
    struct oche_dcqcn_point point = oche_dcqcn_fixed_point(model, flows);

    printf("fixed point: p* %.4g %% (first order %.3g %%), %s a flow, alpha %.3g", point.mark * 100,
           point.estimate * 100, rate(point.rate_bps).text, point.alpha);
    if (!point.on_ramp) {
        printf(";\n  p* is above pmax: the queue swings around kmax, %s\n",
               bytes(model->kmax).text);
        return;
    }
    struct oche_dcqcn_stability stability = oche_dcqcn_stability(model, &point, flows);

    printf(", queue %s", bytes(point.queue).text);
    print_verdict(stability.margin.phase_deg, stability.unstable_roots);
}

static void print_timely_point(const struct oche_timely_model *model, uint32_t flows)
{
    struct oche_timely_point point = oche_timely_fixed_point(model, flows);

    if (!model->patched) {
        printf("fixed point: none; rates rise while the gradient is 0\n");
        return;
    }
    if (point.queue <= 0) {
        printf("fixed point: none with a queue; base_rtt alone holds the rates down\n");
        return;
    }
    if (!point.exists) {
        printf("fixed point: none; its queue of %s would be above t_high\n",
               bytes(point.queue).text);
        return;
    }
    printf("fixed point: %s a flow, queue %s; differences fall to 1/e in %s",
           rate(point.rate_bps).text, bytes(point.queue).text, seconds(point.decay_s).text);
    print_verdict(point.margin.phase_deg, point.unstable_roots);
}

static void print_charts(const struct watch *watch)
{
    static const char marks[] = "123456789";
    bool each = draws_each(watch->run);

    putchar('\n');
    oche_text_chart_print(&watch->queue, "queue", "#", 0, bytes_label, time_label, stdout);
    putchar('\n');
    oche_text_chart_print(&watch->rates,
                          each ? watch->run->flows->count == watch->run->flows->total
                                     ? "rates, by flow"
                                     : "rates, by group of equal flows, of one flow of each"
                               : "rates: the most (+) and the least (-)",
                          each ? marks : "+-", 0, rate_label, time_label, stdout);
    putchar('\n');
}

static void print_rates(const struct watch *watch)
{
    struct oche_table *table = oche_table_create(2);

    for (size_t i = 0; i < watch->run->flows->count; i++) {
        char name[NAME_BYTES];

        entry_name(watch->run->flows, i, name, sizeof(name));
        oche_table_cell(table, "mean rate of %s", name);
        oche_table_cell(table, "%s", rate(watch->summary.rate_mean[i]).text);
    }
    oche_table_print(table, stdout);
    oche_table_free(table);
}

static void print_spread(const struct oche_fluid_summary *summary)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < summary->flows; i++) {
        least = fmin(least, summary->rate_mean[i]);
        most = fmax(most, summary->rate_mean[i]);
    }
    printf("mean rates: %s to %s\n", rate(least).text, rate(most).text);
}

static void print_summary(const struct watch *watch, const struct oche_fluid *fluid)
{
    const struct oche_fluid_summary *summary = &watch->summary;
    struct oche_ode_counts counts = oche_fluid_counts(fluid);

    printf("from %s to %s\n", seconds(summary->from_s).text, seconds(summary->until_s).text);
    printf("queue: mean %s, standard deviation %s, from %s to %s\n",
           bytes(summary->queue_mean).text, bytes(summary->queue_sd).text,
           bytes(summary->queue_min).text, bytes(summary->queue_max).text);
    printf("link used: %s\n", oche_figure_share(summary->utilisation).text);
    if (draws_each(watch->run))
        print_rates(watch);
    else
        print_spread(summary);
    if (watch->run->flows->count > 1) {
        if (isinf(summary->converged_s))
            printf("the flows do not come within 10 %% of their fair share of each other\n");
        else
            printf("from %s on, the flows are within 10 %% of their fair share of each other\n",
                   seconds(summary->converged_s).text);
    }
    printf("%s steps", oche_figure_count(counts.steps).text);
    if (counts.forced > 0)
        printf(", %s of them less accurate than asked for", oche_figure_count(counts.forced).text);
    putchar('\n');
}

static void print_all(const struct watch *watch, const struct oche_fluid *fluid)
{
    const struct oche_fluid_run *run = watch->run;

    print_heading(run);
    if (run->model->name == OCHE_FLUID_DCQCN)
        print_dcqcn_point(&run->model->dcqcn, run->flows->total);
    else
        print_timely_point(&run->model->timely, run->flows->total);
    print_charts(watch);
    print_summary(watch, fluid);
    if (run->out != NULL)
        printf("results: %s/run.sqlite\n", run->out);
    if (run->csv != NULL)
        printf("results: %s\n", run->csv);
}

/* ---- the whole run ---- */

static bool begin_files(struct watch *watch, struct oche_error *error)
{
    return (watch->run->csv == NULL || begin_csv(watch, error)) &&
           (watch->run->out == NULL || begin_results(watch, error));
}

static bool end_files(struct watch *watch, struct oche_error *error)
{
    struct oche_results *results = watch->results;

    if (watch->csv.out != NULL && !oche_whole_file_end(&watch->csv, error))
        return false;
    watch->results = NULL;
    return results == NULL || oche_results_finish(results, error);
}

static bool run_watched(struct watch *watch, struct oche_fluid *fluid, struct oche_error *error)
{
    if (!begin_files(watch, error))
        return false;
    if (!oche_fluid_run(fluid, watch->run->duration_s, observe, watch))
        return oche_fail(
            error, "the model's numbers grow beyond all bounds; its parameters fit no network");
    oche_fluid_summary_end(&watch->summary, fluid);
    return end_files(watch, error);
}

bool oche_fluid_run_show(const struct oche_fluid_run *run, struct oche_error *error)
{
    const struct oche_fluid_options options = {.tolerance = run->tolerance};
    struct oche_fluid *fluid =
        oche_fluid_model_create(run->model, run->flows->flows, run->flows->count, &options);
    struct watch watch = {.run = run};

    watch.values = calloc(run->flows->count, sizeof(*watch.values));
    OCHE_GOT(watch.values != NULL);
    oche_fluid_summary_begin(&watch.summary, fluid, run->duration_s / 2);
    oche_text_chart_init(&watch.queue, 1, run->duration_s);
    oche_text_chart_init(&watch.rates, draws_each(run) ? run->flows->count : 2, run->duration_s);
    bool fine = run_watched(&watch, fluid, error);

    oche_whole_file_abandon(&watch.csv);
    if (watch.results != NULL)
        oche_results_abandon(watch.results);
    oche_remove_if_interrupted(OCHE_UNFINISHED_RESULTS, NULL);
    free(watch.part);
    if (fine && !run->quiet)
        print_all(&watch, fluid);
    oche_text_chart_free(&watch.queue);
    oche_text_chart_free(&watch.rates);
    oche_fluid_summary_free(&watch.summary);
    free(watch.values);
    oche_fluid_free(fluid);
    return fine;
}
