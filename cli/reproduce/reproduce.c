/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche reproduce`: runs and judges the figures of a paper. Every file is read and every
 * combination opened before the first run. Each figure has a results file that keeps its points, so
 * that the same command continues after an interruption. A run that several figures need is made
 * only once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/sweep/points_bar.h"
#include "cli/run/ranks.h"
#include "cli/refuse.h"
#include "cli/results_json.h"
#include "cli/reproduce/checking.h"
#include "cli/reproduce/committed.h"
#include "cli/reproduce/options.h"
#include "cli/reproduce/print.h"
#include "cli/reproduce/print_statements.h"
#include "cli/reproduce/print_tally.h"
#include "cli/reproduce/wire.h"
#include "lab/sweep/grid_text.h"
#include "lab/sweep/jobs.h"
#include "lab/sweep/record.h"
#include "lab/reproduce/findings.h"
#include "lab/reproduce/measured.h"
#include "lab/reproduce/paper.h"
#include "lab/reproduce/pool.h"
#include "lab/reproduce/tolerances.h"
#include "params/error.h"
#include "params/text_stream.h"
#include "store/store.h"
#include "params/table.h"

#define PROGRAM "oche " OCHE_VERSION

enum status { DONE = 0, NOT_ALL = 1, REFUSED = 2, INTERRUPTED = 130 };

/* One of the figures to reproduce. */
struct work {
    struct oche_study *study;
    struct oche_plan plan;
    struct oche_sweep_store *store;
    struct oche_tally tally;
    struct oche_results results;
    char *folder;
};

struct session {
    struct oche_reproduce_options options;
    char *command;  /* command line as typed */
    char *folder;   /* folder of the papers */
    char *measured; /* with --measure: the folder of the new measurements */
    struct oche_paper **papers;
    size_t paper_count;
    struct oche_paper_statements *statements; /* by paper */
    size_t statement_count;                   /* papers whose statements are open */
    struct work *works;
    size_t work_count;
    struct oche_pool *pool;
    struct work *now; /* the figure whose runs are under way */
    struct oche_points_bar bar;
    size_t bad;
    bool broken;            /* results cannot be written; `error` says why */
    char *commit, date[16]; /* with --record: the version of the program */
    struct oche_error error;
};

/* ---- reading files ---- */

static bool open_figure(struct session *session, const struct oche_paper *paper, const char *name)
{
    struct work *works =
        realloc(session->works, (session->work_count + 1) * sizeof(*session->works));

    OCHE_GOT(works != NULL);
    session->works = works;
    struct work *work = &session->works[session->work_count];

    *work = (struct work){.store = NULL};
    work->study = oche_study_open(paper, name, session->options.quick, &session->error);
    if (work->study == NULL)
        return false;
    session->work_count++;
    return true;
}

/* Opens one of the paper's figures, or all of them (`figure` NULL). */
static bool open_figures(struct session *session, const struct oche_paper *paper,
                         const char *figure)
{
    char *list = NULL;
    size_t bytes, i = 0;

    for (; i < paper->figure_count; i++) {
        if (figure != NULL && strcmp(paper->figures[i], figure) != 0)
            continue;
        if (!open_figure(session, paper, paper->figures[i]))
            return false;
        if (figure != NULL)
            return true;
    }
    if (figure == NULL)
        return true;
    FILE *out = oche_text_stream_open(&list, &bytes);

    for (i = 0; i < paper->figure_count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", paper->figures[i]);
    oche_text_stream_close(out);
    oche_fail(&session->error, "%s/%s: no such figure; there are: %s", paper->name, figure, list);
    free(list);
    return false;
}

/* Returns the folder for a paper's results (malloc'd). */
static char *folder_of(const struct session *session, const char *paper)
{
    const char *out = session->options.out;
    char *folder = NULL;

    if (out == NULL)
        OCHE_GOT(asprintf(&folder, "out/reproduce/%s%s", paper,
                          session->options.quick ? "-quick" : "") >= 0);
    else if (session->paper_count == 1)
        folder = strdup(out);
    else
        OCHE_GOT(asprintf(&folder, "%s/%s", out, paper) >= 0);
    OCHE_GOT(folder != NULL);
    return folder;
}

/* With --measure: measures, and lets the paper's figures judge the result. */
static bool measure(struct session *session, struct oche_paper *paper, const char *figure)
{
    if (!session->options.measure)
        return true;
    if (!oche_measured_in(paper, figure))
        return oche_fail(&session->error, "%s/%s: nothing of it is measured on the wire",
                         paper->name, figure);
    session->measured = folder_of(session, paper->name);
    if (!oche_results_folder(session->measured, &session->error) ||
        !oche_wire_measure(&session->options, session->folder, paper->name, session->measured,
                           &session->error))
        return false;
    paper->measured = session->measured;
    return true;
}

/* Reads the statements of the paper, which was opened last with its figures. */
static bool open_statements(struct session *session, const struct oche_paper *paper)
{
    struct oche_paper_statements *all =
        realloc(session->statements, session->paper_count * sizeof(*session->statements));
    const struct oche_study **studies = calloc(session->work_count + 1, sizeof(*studies));
    size_t count = 0;

    OCHE_GOT(all != NULL && studies != NULL);
    session->statements = all;
    for (size_t i = 0; i < session->work_count; i++)
        if (session->works[i].study->paper == paper)
            studies[count++] = session->works[i].study;
    struct oche_paper_statements *own = &all[session->statement_count++];
    const bool ok = oche_paper_statements_open(own, paper, &session->error) &&
                    oche_paper_statements_check(own, studies, count, paper, &session->error);

    free(studies);
    return ok;
}

static bool open_paper(struct session *session, const char *name, const char *figure)
{
    struct oche_paper *paper = oche_paper_open(session->folder, name, &session->error);
    struct oche_paper **papers =
        realloc(session->papers, (session->paper_count + 1) * sizeof(*session->papers));

    OCHE_GOT(papers != NULL);
    session->papers = papers;
    if (paper == NULL)
        return false;
    session->papers[session->paper_count++] = paper;
    return measure(session, paper, figure) && open_figures(session, paper, figure) &&
           open_statements(session, paper);
}

/* Opens "PAPER" or "PAPER/FIGURE". Ignores a trailing slash, which shells add to folders. */
static bool open_named(struct session *session, const char *which)
{
    size_t length = strlen(which);

    while (length > 0 && which[length - 1] == '/')
        length--;
    char *paper = strndup(which, length);

    OCHE_GOT(paper != NULL);
    char *slash = strchr(paper, '/');

    if (slash != NULL)
        *slash = '\0';
    bool ok = open_paper(session, paper, slash != NULL ? slash + 1 : NULL);

    free(paper);
    return ok;
}

/* Opens what the command names: a paper, one of its figures, or all papers. */
static bool open_papers(struct session *session)
{
    bool ok = true;

    session->folder = oche_papers_folder(session->options.papers, &session->error);
    if (session->folder == NULL)
        return false;
    if (session->options.which != NULL)
        return open_named(session, session->options.which);
    size_t count;
    char **names = oche_papers_list(session->folder, &count, &session->error);

    ok = names != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = open_paper(session, names[i], NULL);
    oche_papers_list_free(names, count);
    return ok;
}

/* ---- lists ---- */

static void print_list(const struct session *session)
{
    for (size_t p = 0; p < session->paper_count; p++) {
        const struct oche_paper *paper = session->papers[p];
        struct oche_table *table = oche_table_create(4);

        printf("%s%s: %s\n%s (%s)\n\n", p > 0 ? "\n" : "", paper->name, paper->title,
               paper->authors, paper->published);
        oche_table_cell(table, "figure");
        oche_table_cell(table, "runs");
        oche_table_cell(table, "claims");
        oche_table_cell(table, "in the paper");
        oche_table_rule(table);
        for (size_t i = 0; i < session->work_count; i++) {
            const struct oche_study *study = session->works[i].study;
            uint64_t runs = 0;

            if (study->paper != paper)
                continue;
            for (size_t c = 0; c < study->combination_count; c++)
                if (oche_measured_of(study, &study->combinations[c]) == NULL)
                    runs += study->combinations[c].repeats;
            oche_table_cell(table, "%s: %s", study->name, study->title);
            oche_table_cell(table, "%" PRIu64, runs);
            oche_table_cell(table, "%zu", study->claim_count);
            oche_table_cell(table, "%s", study->place);
        }
        oche_table_print(table, stdout);
        oche_table_free(table);
    }
}

/*
 * Prints one line per figure, in the form that lab/reproduce/tolerances.h reads if there is no git.
 */
static void print_tolerances(const struct session *session)
{
    for (size_t i = 0; i < session->work_count; i++) {
        const struct oche_study *study = session->works[i].study;
        char *commit = oche_tolerances_commit(study);

        printf("%s/%s %s %016" PRIx64 "\n", study->paper->name, study->name,
               strcmp(commit, OCHE_NOT_COMMITTED) == 0 ? "-" : commit, study->digest);
        free(commit);
    }
}

/* ---- running ---- */

static void complain(struct session *session, size_t point, const struct oche_point_result *result)
{
    const struct oche_grid *grid = &session->now->plan.grid;
    char *label = oche_grid_label(grid, point), *command = oche_grid_command(grid, point);

    oche_points_bar_clear(&session->bar);
    oche_print_error("%s: point %zu (%s) %s: %s", session->now->study->name, point, label,
                     oche_point_status_name(result->status), result->error);
    oche_print_error("  to repeat it: %s", command);
    session->bad++;
    free(label);
    free(command);
}

static bool point_ended(void *context, size_t point, const struct oche_point_result *result)
{
    struct session *session = context;
    struct work *work = session->now;

    if (!oche_record_point(work->store, &work->plan.grid, point, result, &session->error)) {
        session->broken = true;
        return false;
    }
    if (result->status == OCHE_POINT_DONE)
        oche_pool_put(session->pool, &work->plan.grid, point, result);
    else
        complain(session, point, result);
    oche_points_bar_count(&session->bar, result->status == OCHE_POINT_DONE);
    return true;
}

static void draw(void *context, unsigned running)
{
    struct session *session = context;

    oche_points_bar_draw(&session->bar, running);
}

/*
 * Stores the pool's result for a point that another figure has run. Returns false if it cannot be
 * stored.
 */
static bool take_from_pool(struct session *session, struct work *work, size_t point)
{
    struct oche_point_result result;

    OCHE_MUST(oche_pool_get(session->pool, &work->plan.grid, point, &result));
    bool ok = oche_record_point(work->store, &work->plan.grid, point, &result, &session->error);

    oche_point_free(&result);
    return ok;
}

/* Puts a point that the figure's file has into the pool, for the figures that follow. */
static void put_stored(struct session *session, struct work *work, size_t point)
{
    struct oche_point_result result;

    if (oche_pool_has(session->pool, &work->plan.grid, point) ||
        !oche_record_read(work->store, point, &result))
        return; /* then they run it again */
    oche_pool_put(session->pool, &work->plan.grid, point, &result);
    oche_point_free(&result);
}

/*
 * Returns the points that are neither in the figure's file nor in the pool (malloc'd). Returns NULL
 * on failure.
 */
static size_t *points_to_run(struct session *session, struct work *work, size_t *count)
{
    const size_t total = oche_grid_points(&work->plan.grid);
    bool *done = calloc(total, sizeof(*done));
    size_t *points = calloc(work->plan.count + 1, sizeof(*points));
    bool ok = true;

    OCHE_GOT(done != NULL && points != NULL);
    oche_sweep_store_done(work->store, done, total);
    *count = 0;
    for (size_t i = 0; ok && i < work->plan.count; i++) {
        size_t point = work->plan.points[i];

        if (done[point])
            put_stored(session, work, point);
        else if (oche_pool_has(session->pool, &work->plan.grid, point))
            ok = take_from_pool(session, work, point);
        else
            points[(*count)++] = point;
    }
    free(done);
    if (ok)
        return points;
    free(points);
    return NULL;
}

static enum status run_points(struct session *session, struct work *work)
{
    size_t count, bad = session->bad;
    size_t *points = points_to_run(session, work, &count);

    if (points == NULL)
        return REFUSED;
    session->now = work;
    oche_points_bar_begin(&session->bar, work->plan.count, work->plan.count - count,
                          session->options.quiet);
    bool over = oche_jobs_run_watched(&work->plan.grid, points, count, session->options.jobs,
                                      point_ended, draw, session);

    oche_points_bar_clear(&session->bar);
    free(points);
    if (session->broken)
        return REFUSED;
    if (over)
        return session->bad > bad ? NOT_ALL : DONE;
    fprintf(stderr, "interrupted: %zu of %zu points of %s are done; the same command goes on\n",
            session->bar.done, session->bar.total, work->study->name);
    return INTERRUPTED;
}

/* ---- the results file ---- */

static bool open_store(struct session *session, struct work *work)
{
    struct oche_record_options options = {.kind = "figure",
                                          .program = PROGRAM,
                                          .command = session->command,
                                          .restart = session->options.restart};
    char *path = NULL;

    if (!oche_results_folder(work->folder, &session->error))
        return false;
    OCHE_GOT(asprintf(&path, "%s/%s.sqlite", work->folder, work->study->name) >= 0);
    options.path = path;
    work->store = oche_record_open(&work->plan.grid, &options, &session->error);
    free(path);
    return work->store != NULL;
}

/* ---- a figure ---- */

static bool shows_tables(const struct session *session)
{
    return !session->options.quiet && !session->options.json;
}

static bool print_json(struct session *session)
{
    char **paths = calloc(session->work_count, sizeof(*paths));

    OCHE_GOT(paths != NULL);
    for (size_t i = 0; i < session->work_count; i++) {
        const struct work *work = &session->works[i];

        OCHE_GOT(asprintf(&paths[i], "%s/%s.sqlite", work->folder, work->study->name) >= 0);
    }
    bool ok = oche_print_json("figures", paths, session->work_count, &session->error);

    for (size_t i = 0; i < session->work_count; i++)
        free(paths[i]);
    free(paths);
    return ok;
}

static bool show(struct session *session, struct work *work)
{
    struct oche_findings findings;
    char *commit = oche_tolerances_commit(work->study);

    oche_findings_make(&findings, &work->plan, work->store);
    bool ok = oche_findings_store(&findings, commit, work->store, &session->error) &&
              oche_sweep_store_settle(work->store, &session->error);

    work->tally = findings.tally;
    oche_results_add(&work->results, &work->plan, &findings,
                     session->commit != NULL ? session->commit : "", session->date);
    if (ok && shows_tables(session)) {
        oche_reproduce_print(&findings, commit, stdout);
        if (session->options.quick && work->study->quick_differs != NULL)
            printf("\nno verdicts with --quick: %s\n", work->study->quick_differs);
        else if (session->options.quick)
            puts("\n--quick is a first look, with fewer runs: verdicts may be others with all of "
                 "them, of which\nthe explanations speak");
        printf("\nresults: %s/%s.sqlite\n\n", work->folder, work->study->name);
        fflush(stdout);
    }
    oche_findings_free(&findings);
    free(commit);
    return ok;
}

/* Prints the verdicts of each paper's figures together. */
static void print_papers(const struct session *session)
{
    struct oche_tally *tallies = calloc(session->paper_count, sizeof(*tallies));
    struct oche_named_tally *named = calloc(session->paper_count, sizeof(*named));

    OCHE_GOT(tallies != NULL && named != NULL);
    for (size_t p = 0; p < session->paper_count; p++) {
        for (size_t i = 0; i < session->work_count; i++)
            if (session->works[i].study->paper == session->papers[p])
                oche_tally_add_all(&tallies[p], &session->works[i].tally);
        named[p] = (struct oche_named_tally){session->papers[p]->name, &tallies[p]};
    }
    oche_print_tallies(named, session->paper_count, stdout);
    free(tallies);
    free(named);
}

/* Prints the statements of those papers whose figures were all opened. */
static void print_statements(const struct session *session)
{
    struct oche_shown_statements *shown = calloc(session->paper_count + 1, sizeof(*shown));
    struct oche_results *results = calloc(session->paper_count + 1, sizeof(*results));
    size_t count = 0;

    OCHE_GOT(shown != NULL && results != NULL);
    for (size_t p = 0; p < session->paper_count; p++) {
        size_t figures = 0;

        for (size_t i = 0; i < session->work_count; i++)
            figures += session->works[i].study->paper == session->papers[p];
        if (figures < session->papers[p]->figure_count)
            continue;
        for (size_t i = 0; i < session->work_count; i++)
            if (session->works[i].study->paper == session->papers[p])
                oche_results_copy(&results[count], &session->works[i].results);
        shown[count] = (struct oche_shown_statements){session->papers[p], &session->statements[p],
                                                      &results[count]};
        oche_print_statements(&shown[count], session->options.quick, true, stdout);
        count++;
    }
    oche_print_statement_counts(shown, count, session->options.quick, stdout);
    for (size_t i = 0; i < count; i++)
        oche_results_free(&results[i]);
    free(shown);
    free(results);
}

/* Writes the results of the figures beside their papers. */
static bool record(struct session *session)
{
    for (size_t p = 0; p < session->paper_count; p++) {
        struct oche_results results = {.count = 0};
        bool ok = true;

        for (size_t i = 0; i < session->work_count; i++)
            if (session->works[i].study->paper == session->papers[p])
                oche_results_take(&results, &session->works[i].results);
        for (size_t i = 0; ok && session->measured != NULL && i < session->work_count; i++)
            ok = oche_wire_keep(session->works[i].study, session->measured, &session->error);
        ok = ok && oche_committed_write(session->papers[p], &results, &session->error);
        oche_results_free(&results);
        if (!ok)
            return false;
    }
    return true;
}

static enum status run_figures(struct session *session)
{
    enum status status = DONE;

    for (size_t i = 0; i < session->work_count; i++) {
        struct work *work = &session->works[i];

        if (!open_store(session, work))
            return REFUSED;
        enum status one = run_points(session, work);

        if (one == REFUSED || one == INTERRUPTED)
            return one;
        if (one == NOT_ALL)
            status = NOT_ALL;
        if (!show(session, work))
            return REFUSED;
        oche_sweep_store_close(work->store);
        work->store = NULL;
    }
    if (shows_tables(session))
        print_statements(session);
    if (session->options.record && status == DONE && !record(session))
        return REFUSED;
    if (session->options.json && !print_json(session))
        return REFUSED;
    if (shows_tables(session) && session->work_count > 1)
        print_papers(session);
    return status;
}

/* Prints the number of runs before they begin. */
static void print_amount(const struct session *session, const struct oche_paper *paper)
{
    size_t figures = 0, points = 0, runs = 0;

    for (size_t i = 0; i < session->work_count; i++) {
        const struct oche_plan *plan = &session->works[i].plan;

        if (session->works[i].study->paper != paper)
            continue;
        figures++;
        points += plan->count;
        for (size_t k = 0; k < plan->count; k++)
            runs += oche_pool_expect(session->pool, &plan->grid, plan->points[k]);
    }
    printf("%zu figure%s, %zu run%s", figures, figures == 1 ? "" : "s", runs, runs == 1 ? "" : "s");
    if (runs < points)
        printf(" for %zu points, as figures share them", points);
    fputs("\n\n", stdout);
}

/* Prints, for each figure, the runs and how the set-up differs from the paper's. */
static void print_heads(const struct session *session)
{
    for (size_t p = 0; p < session->paper_count; p++) {
        const struct work *work = session->works;

        while (work->study->paper != session->papers[p])
            work++;
        printf("%s: %s\n", session->papers[p]->name, session->papers[p]->title);
        print_amount(session, session->papers[p]);
        if (work->study->paper_difference_count > 0)
            printf("where the set-up differs from the paper's, or the paper leaves it open:\n");
        for (size_t d = 0; d < work->study->paper_difference_count; d++) {
            oche_print_item(work->study->differences[d], stdout);
        }
        putchar('\n');
    }
    fflush(stdout);
}

/* ---- the command ---- */

/* Returns how many combinations of the figure are run. */
static size_t combinations_of(const struct oche_study *study)
{
    size_t count = 0;

    for (size_t c = 0; c < study->combination_count; c++)
        count += study->combinations[c].repeats > 0 &&
                 oche_measured_of(study, &study->combinations[c]) == NULL;
    return count;
}

/* Begins to show the check of a paper. */
static void show_paper(const struct session *session, const struct oche_paper *paper,
                       struct oche_checking *checking)
{
    size_t total = 0;

    for (size_t i = 0; i < session->work_count; i++)
        if (session->works[i].study->paper == paper)
            total += combinations_of(session->works[i].study);
    oche_checking_paper(checking, paper->name, total);
}

static enum status make_plans(struct session *session)
{
    struct oche_pool *opened = oche_pool_create();
    struct oche_checking checking;
    const struct oche_grid_watch watch = {oche_checking_go_on, &checking};
    const struct oche_paper *paper = NULL;
    size_t done = 0;
    bool ok = true;

    oche_checking_begin(&checking, session->options.quiet);
    for (size_t i = 0; ok && i < session->work_count; i++) {
        struct work *work = &session->works[i];

        if (work->study->paper != paper) {
            paper = work->study->paper;
            done = 0;
            show_paper(session, paper, &checking);
        }
        ok = oche_plan_make(&work->plan, work->study, opened, &watch, &session->error);
        if (ok)
            work->folder = folder_of(session, work->study->paper->name);
        done += combinations_of(work->study);
        oche_checking_reached(&checking, done); /* also those that another figure has opened */
    }
    oche_checking_end(&checking);
    oche_pool_free(opened);
    if (!checking.interrupted)
        return ok ? DONE : REFUSED;
    fputs("interrupted: nothing has run yet; the same command begins again\n", stderr);
    return INTERRUPTED;
}

/* Lists committed results that may be outdated. */
static enum status check_committed(struct session *session)
{
    const char *which = session->options.which;
    const bool one = which != NULL && session->work_count == 1 && strchr(which, '/') != NULL;
    size_t stale = 0;

    for (size_t p = 0; p < session->paper_count; p++)
        if (!oche_committed_check(session->papers[p], one ? session->works[0].study->name : NULL,
                                  session->options.quick, &stale, &session->error))
            return REFUSED;
    if (stale == 0 && !session->options.quiet)
        puts("no result is stale");
    return stale > 0 ? NOT_ALL : DONE;
}

static void note_commit(struct session *session)
{
    const time_t now = time(NULL);
    struct tm day;

    session->commit = oche_work_tree_commit(session->folder);
    strftime(session->date, sizeof(session->date), "%Y-%m-%d", gmtime_r(&now, &day));
}

static enum status work_on(struct session *session)
{
    if (!open_papers(session))
        return REFUSED;
    if (session->options.mode == OCHE_REPRODUCE_LIST) {
        print_list(session);
        return DONE;
    }
    if (session->options.mode == OCHE_REPRODUCE_TOLERANCES) {
        print_tolerances(session);
        return DONE;
    }
    if (session->options.mode == OCHE_REPRODUCE_COMMITTED)
        return oche_committed_show(session->papers, session->paper_count, &session->error)
                   ? DONE
                   : REFUSED;
    if (session->options.mode == OCHE_REPRODUCE_STALE)
        return check_committed(session);
    enum status made = make_plans(session);

    if (made != DONE)
        return made;
    if (session->options.record)
        note_commit(session);
    session->pool = oche_pool_create();
    if (shows_tables(session))
        print_heads(session);
    return run_figures(session);
}

static void clean_up(struct session *session)
{
    for (size_t i = 0; i < session->work_count; i++) {
        struct work *work = &session->works[i];

        oche_sweep_store_close(work->store);
        oche_plan_free(&work->plan);
        oche_study_close(work->study);
        oche_results_free(&work->results);
        free(work->folder);
    }
    for (size_t i = 0; i < session->statement_count; i++)
        oche_paper_statements_close(&session->statements[i]);
    for (size_t i = 0; i < session->paper_count; i++)
        oche_paper_close(session->papers[i]);
    free(session->statements);
    oche_pool_free(session->pool);
    free(session->works);
    free(session->papers);
    free(session->folder);
    free(session->measured);
    free(session->command);
    free(session->commit);
}

int oche_cmd_reproduce(int argc, char **argv)
{
    struct session session = {.work_count = 0};
    enum status status = REFUSED;

    if (oche_run_ranks_refuse("oche reproduce") != 0)
        return REFUSED;
    session.command = oche_command_line(argc, argv);
    if (oche_reproduce_options_read(&session.options, argc, argv))
        status = work_on(&session);
    if (status == REFUSED && session.error.text[0] != '\0')
        oche_print_error("%s", session.error.text);
    clean_up(&session);
    return (int)status;
}
