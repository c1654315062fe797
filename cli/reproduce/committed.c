/* SPDX-License-Identifier: Apache-2.0 */
/* Shows, writes and checks committed results. */
#include "cli/reproduce/committed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/print_statements.h"
#include "cli/reproduce/print_tally.h"
#include "cli/whole_file.h"
#include "cli/refuse.h"
#include "lab/reproduce/record.h"
#include "lab/reproduce/sample_file.h"
#include "lab/sweep/jobs.h"
#include "params/table.h"

#define QUICK_EVERY 8 /* figures: a change of the model moves most of its paper's samples */

/* ---- all papers ---- */

/* A paper's recorded verdicts. */
struct shown {
    struct oche_results results;
    struct oche_record record;
    struct oche_paper_statements statements;
};

/* Prints for each paper the commits that recorded its verdicts, their dates and number of seeds. */
static void print_records(struct oche_paper *const *papers, const struct shown *shown, size_t count)
{
    struct oche_table *table = oche_table_create(5);

    oche_table_cell(table, "paper");
    oche_table_cell(table, "claims");
    oche_table_cell(table, "seeds");
    oche_table_cell(table, "commit");
    oche_table_cell(table, "recorded");
    oche_table_rule(table);
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < shown[p].record.by_count; i++) {
            const struct oche_record *record = &shown[p].record;

            oche_table_cell(table, "%s", i == 0 ? papers[p]->name : "");
            oche_table_cell(table, "%zu", record->by[i].claims);
            if (i > 0)
                oche_table_cell(table, "%s", "");
            else if (record->least_seeds == record->most_seeds)
                oche_table_cell(table, "%" PRIu32, record->most_seeds);
            else
                oche_table_cell(table, "%" PRIu32 " to %" PRIu32, record->least_seeds,
                                record->most_seeds);
            oche_table_cell(table, "%s", record->by[i].commit);
            oche_table_cell(table, "%s", record->by[i].date);
        }
    putchar('\n');
    oche_table_print(table, stdout);
    oche_table_free(table);
}

static bool read_shown(struct shown *shown, const struct oche_paper *paper,
                       struct oche_error *error)
{
    if (!oche_results_read(&shown->results, paper, error) ||
        !oche_paper_statements_open(&shown->statements, paper, error))
        return false;
    oche_record_make(&shown->record, &shown->results);
    return true;
}

static void print_shown(struct oche_paper *const *papers, const struct shown *shown, size_t count,
                        bool verbose)
{
    struct oche_shown_statements *statements = calloc(count + 1, sizeof(*statements));
    struct oche_named_tally *named = calloc(count + 1, sizeof(*named));
    const struct oche_statements_style style = {.claims = verbose, .why = verbose};
    bool recorded = false;

    OCHE_GOT(statements != NULL && named != NULL);
    for (size_t p = 0; p < count; p++) {
        statements[p] =
            (struct oche_shown_statements){papers[p], &shown[p].statements, &shown[p].results};
        named[p] = (struct oche_named_tally){papers[p]->name, &shown[p].record.tally};
        recorded |= shown[p].results.count > 0;
    }
    oche_print_statement_counts(statements, count, false, stdout);
    for (size_t p = 0; p < count; p++)
        oche_print_statements(&statements[p], &style, stdout);
    oche_print_tallies(named, count, stdout);
    if (recorded)
        print_records(papers, shown, count);
    fputs("\nfrom: the paper's text, its plots, memory, or this project's own; ?: chance may"
          " have decided;\na commit with +: of a program with changes that were not committed."
          "\nThese were recorded in papers/PAPER/results.csv. oche reproduce"
          " PAPER measures again;\n--list lists figures; --stale tells which results are older"
          " than what decides them.\n",
          stdout);
    free(statements);
    free(named);
}

bool oche_committed_show(struct oche_paper *const *papers, size_t count, bool verbose,
                         struct oche_error *error)
{
    struct shown *shown = calloc(count + 1, sizeof(*shown));
    bool ok = true;

    OCHE_GOT(shown != NULL);
    for (size_t p = 0; ok && p < count; p++)
        ok = read_shown(&shown[p], papers[p], error);
    if (ok)
        print_shown(papers, shown, count, verbose);
    for (size_t p = 0; p < count; p++) {
        oche_record_free(&shown[p].record);
        oche_results_free(&shown[p].results);
        oche_paper_statements_close(&shown[p].statements);
    }
    free(shown);
    return ok;
}

/* ---- a figure's sample ---- */

struct run_of {
    const struct oche_plan *plan;
    char *line; /* result of the sample */
};

static bool sample_done(void *context, size_t point, const struct oche_point_result *result)
{
    struct run_of *run = context;

    if (result->status == OCHE_POINT_DONE)
        run->line = oche_sample_line(run->plan, point, result);
    else
        oche_print_error("%s: the sample, point %zu: %s", run->plan->study->name, point,
                         result->error);
    return true;
}

/* Runs the sample of the paper's figure `number`. Returns its line (malloc'd), NULL on failure. */
static char *run_sample(const struct oche_paper *paper, size_t number, struct oche_error *error)
{
    struct oche_study *study = oche_study_open(paper, paper->figures[number], true, error);
    struct oche_plan plan = {.count = 0};
    struct run_of run = {.plan = &plan};

    if (study != NULL && oche_plan_outline(&plan, study, error)) {
        const size_t point = oche_sample_point(&plan, number);

        if (!oche_jobs_run(&plan.grid, &point, 1, 1, sample_done, &run))
            oche_fail(error, "interrupted");
        else if (run.line == NULL)
            oche_fail(error, "%s/%s: the sample did not run to its end", paper->name,
                      paper->figures[number]);
    }
    oche_plan_free(&plan);
    oche_study_close(study);
    return run.line;
}

/* ---- writing ---- */

static bool has_figure(const struct oche_results *results, const char *figure)
{
    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->lines[i].figure, figure) == 0)
            return true;
    return false;
}

static bool begin(struct oche_whole_file *file, const struct oche_paper *paper, const char *name,
                  struct oche_error *error)
{
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/%s", paper->folder, name) >= 0);
    const bool ok = oche_whole_file_begin(file, path, error);

    free(path);
    return ok;
}

/* Returns the lines of sample.csv, one per figure: new for those of `results`. NULL on failure. */
static char **sample_lines(const struct oche_paper *paper, const struct oche_results *results,
                           struct oche_error *error)
{
    char **lines = calloc(paper->figure_count + 1, sizeof(*lines));
    bool ok = true;

    OCHE_GOT(lines != NULL);
    for (size_t f = 0; ok && f < paper->figure_count; f++) {
        if (!has_figure(results, paper->figures[f])) {
            lines[f] = oche_sample_read(paper, paper->figures[f]);
            continue;
        }
        lines[f] = run_sample(paper, f, error);
        ok = lines[f] != NULL;
    }
    if (ok)
        return lines;
    for (size_t f = 0; f < paper->figure_count; f++)
        free(lines[f]);
    free(lines);
    return NULL;
}

static bool write_samples(const struct oche_paper *paper, char **lines, struct oche_error *error)
{
    struct oche_whole_file file;

    if (!begin(&file, paper, "sample.csv", error))
        return false;
    fputs(OCHE_SAMPLE_HEAD "\n", file.out);
    for (size_t f = 0; f < paper->figure_count; f++)
        if (lines[f] != NULL)
            fprintf(file.out, "%s\n", lines[f]);
    return oche_whole_file_end(&file, error);
}

bool oche_committed_write(const struct oche_paper *paper, const struct oche_results *results,
                          struct oche_error *error)
{
    struct oche_results before;
    struct oche_whole_file file;

    if (!oche_results_read(&before, paper, error))
        return false;
    char **lines = sample_lines(paper, results, error);
    bool ok = lines != NULL && begin(&file, paper, "results.csv", error);

    if (ok) {
        oche_results_print(results, &before, paper, file.out);
        ok = oche_whole_file_end(&file, error) && write_samples(paper, lines, error);
    }
    for (size_t f = 0; lines != NULL && f < paper->figure_count; f++)
        free(lines[f]);
    free(lines);
    oche_results_free(&before);
    return ok;
}

/* ---- checking ---- */

/*
 * Returns why a figure's results may differ today; NULL: they are the same. `samples`: the figure's
 * sample is run, too.
 */
static const char *why_stale(const struct oche_paper *paper, size_t number, bool samples,
                             const struct oche_results *results, struct oche_error *error)
{
    const char *name = paper->figures[number], *why = NULL;
    struct oche_study *study = oche_study_open(paper, name, false, error);
    struct oche_plan plan = {.count = 0};

    if (study == NULL || !oche_plan_outline(&plan, study, error)) {
        oche_study_close(study);
        return NULL;
    }
    const uint64_t digest = oche_results_digest(&plan);
    size_t lines = 0;

    for (size_t i = 0; i < results->count; i++) {
        if (strcmp(results->lines[i].figure, name) != 0)
            continue;
        lines += results->lines[i].reading[0] == '\0';
        if (results->lines[i].digest != digest)
            why = "its claims, its scenario or what it runs have changed";
    }
    if (lines != study->claim_count)
        why = lines == 0 ? "it has none" : "it has other claims now";
    oche_plan_free(&plan);
    oche_study_close(study);
    if (why != NULL || !samples)
        return why;
    char *then = oche_sample_read(paper, name), *now = run_sample(paper, number, error);

    if (now != NULL && (then == NULL || strcmp(then, now) != 0))
        why = then == NULL ? "it has no sample" : "its sample gives something else";
    free(then);
    free(now);
    return why;
}

bool oche_committed_check(const struct oche_paper *paper, const char *figure, bool quick,
                          size_t *stale, struct oche_error *error)
{
    struct oche_results results;

    if (!oche_results_read(&results, paper, error))
        return false;
    for (size_t f = 0; f < paper->figure_count && error->text[0] == '\0'; f++) {
        if (figure != NULL && strcmp(figure, paper->figures[f]) != 0)
            continue;
        const bool samples = !quick || f % QUICK_EVERY == 0;
        const char *why = why_stale(paper, f, samples, &results, error);

        if (why == NULL || error->text[0] != '\0')
            continue;
        printf("%s/%s: %s\n", paper->name, paper->figures[f], why);
        fflush(stdout);
        (*stale)++;
    }
    oche_results_free(&results);
    return error->text[0] == '\0';
}
