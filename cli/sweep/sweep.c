/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche sweep`: runs a grid of variants of a scenario, each point in a process of its own. Errors
 * in any combination are found before the first point runs. Only this process writes the results
 * file, with one transaction per point. The same command continues with the points that are not
 * done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/sweep/points_bar.h"
#include "cli/run/ranks.h"
#include "cli/refuse.h"
#include "cli/results_json.h"
#include "cli/sweep/slurm_script.h"
#include "cli/sweep/options.h"
#include "cli/sweep/table.h"
#include "cli/variants.h"
#include "lab/sweep/grid_text.h"
#include "lab/sweep/jobs.h"
#include "lab/measures/metrics.h"
#include "lab/sweep/point_files.h"
#include "lab/sweep/record.h"
#include "lab/sweep/same_points.h"
#include "params/error.h"
#include "store/store.h"
#include "sim/scenario/document.h"

#define PROGRAM "oche " OCHE_VERSION

enum status { DONE = 0, NOT_ALL = 1, REFUSED = 2, INTERRUPTED = 130 };

struct sweep {
    struct oche_sweep_options options;
    struct oche_grid *grid; /* options.grid */
    char *command;          /* command line as typed, for the record */
    char *folder;
    struct oche_sweep_store *store; /* NULL in a task of an array */
    struct oche_point_files files;
    struct oche_points_bar bar;
    size_t *points; /* numbers of the points to run */
    size_t count, bad;
    bool broken; /* results cannot be written; `error` says why */
    struct oche_error error;
};

/* ---- points ---- */

/* Reports a point that failed, and how to repeat it. */
static void complain(struct sweep *sweep, size_t point, const struct oche_point_result *result)
{
    char *label = oche_grid_label(sweep->grid, point);
    char *command = oche_grid_command(sweep->grid, point);

    oche_points_bar_clear(&sweep->bar);
    oche_print_error("point %zu (%s) %s: %s", point, label, oche_point_status_name(result->status),
                     result->error);
    oche_print_error("  to repeat it: %s", command);
    sweep->bad++;
    free(label);
    free(command);
}

static bool keep(struct sweep *sweep, size_t point, const struct oche_point_result *result)
{
    if (sweep->store != NULL)
        return oche_record_point(sweep->store, sweep->grid, point, result, &sweep->error);
    return oche_point_files_write(&sweep->files, point, result, &sweep->error);
}

static bool point_ended(void *context, size_t point, const struct oche_point_result *result)
{
    struct sweep *sweep = context;

    if (!keep(sweep, point, result)) {
        sweep->broken = true;
        return false;
    }
    if (result->status != OCHE_POINT_DONE)
        complain(sweep, point, result);
    oche_points_bar_count(&sweep->bar, result->status == OCHE_POINT_DONE);
    return true;
}

static void draw(void *context, unsigned running)
{
    struct sweep *sweep = context;

    oche_points_bar_draw(&sweep->bar, running);
}

/* Runs the points in sweep->points; `done` other points are already done. */
static enum status run_points(struct sweep *sweep, size_t done)
{
    oche_points_bar_begin(&sweep->bar, done + sweep->count, done, sweep->options.quiet);
    bool over = oche_jobs_run_watched(sweep->grid, sweep->points, sweep->count, sweep->options.jobs,
                                      point_ended, draw, sweep);

    oche_points_bar_clear(&sweep->bar);
    if (sweep->broken)
        return REFUSED;
    if (!over) {
        fprintf(stderr, "interrupted: %zu of %zu points are done; the same command goes on\n",
                sweep->bar.done, sweep->bar.total);
        return INTERRUPTED;
    }
    if (sweep->bad > 0)
        fprintf(stderr, "%zu of %zu points are not done; the same command tries them again\n",
                sweep->bad, sweep->bar.total);
    return sweep->bad > 0 ? NOT_ALL : DONE;
}

/* ---- the results file ---- */

static bool open_store(struct sweep *sweep)
{
    struct oche_record_options options = {.kind = "sweep",
                                          .program = PROGRAM,
                                          .command = sweep->command,
                                          .restart = sweep->options.restart};
    char *path = NULL;

    if (!oche_results_folder(sweep->folder, &sweep->error))
        return false;
    OCHE_GOT(asprintf(&path, "%s/sweep.sqlite", sweep->folder) >= 0);
    options.path = path;
    sweep->store = oche_record_open(sweep->grid, &options, &sweep->error);
    free(path);
    return sweep->store != NULL;
}

/*
 * Fills sweep->points with the points that are not in the results file. Returns the number of
 * points that are in it.
 */
static size_t find_points(struct sweep *sweep)
{
    const size_t total = oche_grid_points(sweep->grid);
    bool *done = calloc(total, sizeof(*done));

    sweep->points = calloc(total, sizeof(*sweep->points));
    OCHE_GOT(done != NULL && sweep->points != NULL);
    size_t found = oche_sweep_store_done(sweep->store, done, total);

    for (size_t i = 0; i < total; i++)
        if (!done[i] && oche_grid_invalid(sweep->grid, i) == NULL)
            sweep->points[sweep->count++] = i;
    free(done);
    return found;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_head(const struct sweep *sweep)
{
    const struct oche_grid *grid = sweep->grid;

    printf("%s", grid->name);
    if (grid->description != NULL)
        printf(": %s", grid->description);
    const size_t combinations = oche_grid_combinations(grid) - grid->invalid_count;
    const size_t points = combinations * grid->repeats;

    printf("\n%zu point%s: %zu combination%s, %" PRIu32 " seed%s\n\n", points, plural(points),
           combinations, plural(combinations), grid->repeats, plural(grid->repeats));
}

static bool print_json(struct sweep *sweep)
{
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/sweep.sqlite", sweep->folder) >= 0);
    bool ok = oche_print_json(NULL, &path, 1, NULL, &sweep->error);

    free(path);
    return ok;
}

/* Notes the first metric that the user asked for: the report begins with it. */
static bool note_metric(struct sweep *sweep)
{
    if (sweep->options.metric_count == 0)
        return true;
    oche_sweep_store_begin(sweep->store);
    oche_sweep_store_info(sweep->store, "metric", sweep->options.metrics[0]);
    return oche_sweep_store_commit(sweep->store, &sweep->error);
}

/*
 * Returns which points are the same run, in sentences (malloc'd), and notes it in the results.
 * Returns NULL, with an error, if that fails.
 */
static char *note_same(struct sweep *sweep)
{
    const size_t count = oche_grid_points(sweep->grid);
    uint64_t *hashes = calloc(count, sizeof(*hashes));

    OCHE_GOT(hashes != NULL);
    oche_sweep_store_hashes(sweep->store, hashes, count);
    char *text = oche_same_points_text(sweep->grid, hashes);

    free(hashes);
    oche_sweep_store_begin(sweep->store);
    oche_sweep_store_info(sweep->store, "same_runs", text);
    if (oche_sweep_store_commit(sweep->store, &sweep->error))
        return text;
    free(text);
    return NULL;
}

/* Writes CSV files and prints the table. `same`: sentences about points that are the same run. */
static bool show_results(struct sweep *sweep, const char *same)
{
    const struct oche_sweep_options *options = &sweep->options;

    if (options->csv && !oche_sweep_store_csv(sweep->store, sweep->folder, &sweep->error))
        return false;
    if (options->json)
        return print_json(sweep);
    if (options->quiet)
        return true;
    print_head(sweep);
    oche_sweep_table_print(sweep->grid, sweep->store, options->metrics, options->metric_count,
                           stdout);
    printf("%s%s\nresults: %s/sweep.sqlite\n", same[0] != '\0' ? "\n" : "", same, sweep->folder);
    return oche_sweep_store_settle(sweep->store, &sweep->error); /* nothing failed to be read */
}

/* Completes the results file and shows it. */
static bool show(struct sweep *sweep)
{
    char *same = note_metric(sweep) ? note_same(sweep) : NULL;
    const bool ok = same != NULL && oche_sweep_store_settle(sweep->store, &sweep->error) &&
                    show_results(sweep, same);

    free(same);
    return ok;
}

/* A combination that cannot be run, and the number of combinations with the same reason. */
struct skipped {
    const char *why;
    size_t combination, count;
};

static int compare_reasons(const void *a, const void *b)
{
    const struct skipped *x = a, *y = b;
    const int order = strcmp(x->why, y->why);

    return order != 0 ? order : x->combination < y->combination ? -1 : 1;
}

static int compare_combinations(const void *a, const void *b)
{
    const struct skipped *x = a, *y = b;

    return x->combination < y->combination ? -1 : 1;
}

/*
 * Keeps only the first combination of each reason, in the grid's order. Returns how many are left.
 */
static size_t group_by_reason(struct skipped *skipped, size_t count)
{
    size_t groups = 0;

    qsort(skipped, count, sizeof(*skipped), compare_reasons);
    for (size_t i = 0; i < count; i++) {
        if (groups == 0 || strcmp(skipped[groups - 1].why, skipped[i].why) != 0)
            skipped[groups++] = skipped[i];
        skipped[groups - 1].count++;
    }
    qsort(skipped, groups, sizeof(*skipped), compare_combinations);
    return groups;
}

/* Prints which combinations are left out, one line for each reason. */
static void tell_skipped(const struct oche_grid *grid)
{
    struct skipped *skipped = calloc(grid->invalid_count + 1, sizeof(*skipped));
    size_t count = 0;

    OCHE_GOT(skipped != NULL);
    for (size_t i = 0; grid->invalid_count > 0 && i < oche_grid_combinations(grid); i++) {
        const char *why = oche_grid_invalid(grid, i * grid->repeats);

        if (why != NULL)
            skipped[count++] = (struct skipped){.why = why, .combination = i};
    }
    if (count > 0)
        fprintf(stderr, "%zu of %zu combinations cannot be run, and are left out:\n", count,
                oche_grid_combinations(grid));
    count = group_by_reason(skipped, count);
    for (size_t i = 0; i < count; i++) {
        char *label = oche_grid_values(grid, skipped[i].combination * grid->repeats);

        if (skipped[i].count == 1)
            oche_print_error("  %s: %s", label, skipped[i].why);
        else
            oche_print_error("  %zu, the first %s: %s", skipped[i].count, label, skipped[i].why);
        free(label);
    }
    free(skipped);
}

/* Prints the settings that do not fit in some combinations, before hours are spent on them. */
static void tell_remarks(const struct oche_grid *grid)
{
    const size_t total = oche_grid_combinations(grid);

    for (size_t i = 0; i < grid->remark_count; i++) {
        const struct oche_grid_remark *remark = &grid->remarks[i];
        char *label = oche_grid_label(grid, remark->first * grid->repeats);

        fputs(remark->text, stderr);
        if (remark->count < total)
            fprintf(stderr, " (%s; %zu of %zu combinations)", label, remark->count, total);
        fputs("\n", stderr);
        free(label);
    }
}

static enum status run_here(struct sweep *sweep)
{
    tell_skipped(sweep->grid);
    if (!sweep->options.quiet)
        tell_remarks(sweep->grid);
    if (!open_store(sweep))
        return REFUSED;
    if (!oche_record_left_out(sweep->store, sweep->grid, &sweep->error))
        return REFUSED;
    size_t before = find_points(sweep);

    if (before > 0 && !sweep->options.quiet)
        fprintf(stderr, "%zu of %zu points were done before\n", before,
                oche_grid_points(sweep->grid));
    enum status status = run_points(sweep, before);

    if (status != REFUSED && status != INTERRUPTED && !show(sweep))
        status = REFUSED;
    return status;
}

/* ---- an array of tasks, and its merge ---- */

/* Runs the points of one task that have no file yet, each into a file. */
static enum status run_task(struct sweep *sweep)
{
    const struct oche_sweep_options *options = &sweep->options;
    const size_t total = oche_grid_points(sweep->grid);
    const size_t stride = options->stride > 0 ? options->stride : total;
    size_t before = 0;

    if (options->first >= total && options->stride == 0) {
        oche_fail(&sweep->error, "--point %zu: no such point; they are 0 to %zu", options->first,
                  total - 1);
        return REFUSED;
    }
    sweep->points = calloc(total, sizeof(*sweep->points));
    OCHE_GOT(sweep->points != NULL);
    for (size_t point = options->first; point < total; point += stride) {
        struct oche_point_result result;
        bool done = false;

        if (!options->restart && !oche_point_files_free(&sweep->files, point, &sweep->error))
            return REFUSED;
        if (!options->restart &&
            oche_point_files_read(&sweep->files, point, &result) == OCHE_POINT_FILE_READ) {
            done = result.status == OCHE_POINT_DONE;
            oche_point_free(&result);
        }
        if (done)
            before++;
        else
            sweep->points[sweep->count++] = point;
    }
    return run_points(sweep, before);
}

/* Stores the point of one file in the results. Returns false if the results cannot be written. */
static bool merge_point(struct sweep *sweep, size_t point)
{
    struct oche_point_result result;
    enum oche_point_file state = oche_point_files_read(&sweep->files, point, &result);

    if (state != OCHE_POINT_FILE_READ) {
        char *label = oche_grid_label(sweep->grid, point);

        fprintf(stderr, "point %zu (%s) %s: %s/%zu.point\n", point, label,
                state == OCHE_POINT_FILE_NONE     ? "is missing"
                : state == OCHE_POINT_FILE_BROKEN ? "is not whole, or another point"
                                                  : "is of another sweep",
                sweep->files.folder, point);
        sweep->bad++;
        free(label);
        return true;
    }
    bool ok = keep(sweep, point, &result);

    if (ok && result.status != OCHE_POINT_DONE)
        complain(sweep, point, &result);
    oche_point_free(&result);
    return ok;
}

static enum status merge(struct sweep *sweep)
{
    if (!open_store(sweep))
        return REFUSED;
    find_points(sweep);
    for (size_t i = 0; i < sweep->count; i++)
        if (!merge_point(sweep, sweep->points[i]))
            return REFUSED;
    if (sweep->bad > 0)
        fprintf(stderr,
                "%zu of %zu points are not done; submit the array again, then merge again\n",
                sweep->bad, oche_grid_points(sweep->grid));
    if (!show(sweep))
        return REFUSED;
    return sweep->bad > 0 ? NOT_ALL : DONE;
}

/*
 * Checks that the folder is empty or has results of this sweep. Otherwise the merge would reject
 * the folder, hours later.
 */
static bool folder_can_be_used(struct sweep *sweep)
{
    const size_t total = oche_grid_points(sweep->grid);
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/sweep.sqlite", sweep->folder) >= 0);
    bool ok = access(path, F_OK) != 0 || open_store(sweep);

    free(path);
    for (size_t point = 0; ok && point < total; point++)
        ok = oche_point_files_free(&sweep->files, point, &sweep->error);
    return ok;
}

static enum status print_script(struct sweep *sweep)
{
    if (!folder_can_be_used(sweep) ||
        !oche_slurm_script_print(sweep->grid, sweep->folder, sweep->options.tasks,
                                 sweep->options.jobs, stdout, &sweep->error))
        return REFUSED;
    return DONE;
}

/* ---- the command ---- */

static void name_folder(struct sweep *sweep)
{
    char *name = oche_file_name_of(sweep->grid->name);

    if (sweep->options.out != NULL)
        sweep->folder = strdup(sweep->options.out);
    else
        OCHE_GOT(asprintf(&sweep->folder, "out/%s-sweep", name) >= 0);
    OCHE_GOT(sweep->folder != NULL);
    free(name);
}

static enum status work(struct sweep *sweep)
{
    const enum oche_sweep_mode mode = sweep->options.mode;

    if (mode == OCHE_SWEEP_METRICS) {
        oche_metrics_print(stdout);
        return DONE;
    }
    /*
     * The whole grid was checked when the script was made; the tasks of the array do not check it
     * again.
     */
    bool ok = mode == OCHE_SWEEP_POINTS || mode == OCHE_SWEEP_MERGE
                  ? oche_grid_open(sweep->grid, &sweep->error)
                  : oche_grid_check(sweep->grid, &sweep->error);

    if (!ok)
        return REFUSED;
    name_folder(sweep);
    if (mode == OCHE_SWEEP_RUN)
        return run_here(sweep);
    if (!oche_point_files_open(&sweep->files, sweep->grid, PROGRAM, sweep->folder, &sweep->error))
        return REFUSED;
    if (mode == OCHE_SWEEP_SLURM)
        return print_script(sweep);
    return mode == OCHE_SWEEP_POINTS ? run_task(sweep) : merge(sweep);
}

static void clean_up(struct sweep *sweep)
{
    oche_sweep_store_close(sweep->store);
    oche_point_files_close(&sweep->files);
    oche_sweep_options_free(&sweep->options);
    free(sweep->points);
    free(sweep->folder);
    free(sweep->command);
}

int oche_cmd_sweep(int argc, char **argv)
{
    struct sweep sweep = {.grid = NULL};
    enum status status = REFUSED;

    if (oche_run_ranks_refuse("oche sweep") != 0)
        return REFUSED;
    sweep.grid = &sweep.options.grid;
    sweep.command = oche_command_line(argc, argv);
    if (oche_sweep_options_read(&sweep.options, argc, argv, &sweep.error))
        status = work(&sweep);
    if (status == REFUSED && sweep.error.text[0] != '\0')
        oche_print_mistakes(&sweep.grid->mistakes, &sweep.error);
    clean_up(&sweep);
    return (int)status;
}
