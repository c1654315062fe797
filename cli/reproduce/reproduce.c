/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche reproduce`: runs and judges the figures of a paper. Every file is read and every
 * combination opened before the first run. Each figure has a results file that keeps its points, so
 * that the same command continues after an interruption. A run that several figures need is made
 * only once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/refuse.h"
#include "cli/reproduce/checking.h"
#include "cli/reproduce/committed.h"
#include "cli/reproduce/reproduction.h"
#include "cli/reproduce/wire.h"
#include "cli/run/ranks.h"
#include "lab/reproduce/measured.h"
#include "lab/reproduce/tolerances.h"

/* ---- the figures ---- */

/* Writes the results of the figures beside their papers. */
static bool record(struct oche_reproduction *session)
{
    for (size_t p = 0; p < session->paper_count; p++) {
        struct oche_results results;
        bool ok = true;

        oche_reproduce_results(session, session->papers[p], &results);
        for (size_t i = 0; ok && session->measured != NULL && i < session->work_count; i++)
            ok = oche_wire_keep(session->works[i].study, session->measured, &session->error);
        ok = ok && oche_committed_write(session->papers[p], &results, &session->error);
        oche_results_free(&results);
        if (!ok)
            return false;
    }
    return true;
}

static enum oche_reproduce_status run_figures(struct oche_reproduction *session)
{
    enum oche_reproduce_status status = OCHE_REPRODUCE_DONE;

    for (size_t i = 0; i < session->work_count; i++) {
        struct oche_reproduce_work *work = &session->works[i];

        if (!oche_reproduce_open_store(session, work))
            return OCHE_REPRODUCE_REFUSED;
        enum oche_reproduce_status one = oche_reproduce_run_points(session, work);

        if (one == OCHE_REPRODUCE_REFUSED || one == OCHE_REPRODUCE_INTERRUPTED)
            return one;
        if (one == OCHE_REPRODUCE_NOT_ALL)
            status = OCHE_REPRODUCE_NOT_ALL;
        if (!oche_reproduce_show(session, work))
            return OCHE_REPRODUCE_REFUSED;
        oche_sweep_store_close(work->store);
        work->store = NULL;
    }
    if (oche_reproduce_shows_tables(session))
        oche_reproduce_print_statements(session);
    if (session->options.record && status == OCHE_REPRODUCE_DONE && !record(session))
        return OCHE_REPRODUCE_REFUSED;
    if (session->options.json && !oche_reproduce_print_json(session))
        return OCHE_REPRODUCE_REFUSED;
    if (oche_reproduce_shows_tables(session) && session->work_count > 1)
        oche_reproduce_print_papers(session);
    return status;
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
static void show_paper(const struct oche_reproduction *session, const struct oche_paper *paper,
                       struct oche_checking *checking)
{
    size_t total = 0;

    for (size_t i = 0; i < session->work_count; i++)
        if (session->works[i].study->paper == paper)
            total += combinations_of(session->works[i].study);
    oche_checking_paper(checking, paper->name, total);
}

static enum oche_reproduce_status make_plans(struct oche_reproduction *session)
{
    struct oche_pool *opened = oche_pool_create();
    struct oche_checking checking;
    const struct oche_grid_watch watch = {oche_checking_go_on, &checking};
    const struct oche_paper *paper = NULL;
    size_t done = 0;
    bool ok = true;

    oche_checking_begin(&checking, session->options.quiet);
    for (size_t i = 0; ok && i < session->work_count; i++) {
        struct oche_reproduce_work *work = &session->works[i];

        if (work->study->paper != paper) {
            paper = work->study->paper;
            done = 0;
            show_paper(session, paper, &checking);
        }
        ok = oche_plan_make(&work->plan, work->study, opened, &watch, &session->error);
        if (ok)
            work->folder = oche_reproduce_folder(session, work->study->paper->name);
        done += combinations_of(work->study);
        oche_checking_reached(&checking, done); /* also those that another figure has opened */
    }
    oche_checking_end(&checking);
    oche_pool_free(opened);
    if (!checking.interrupted)
        return ok ? OCHE_REPRODUCE_DONE : OCHE_REPRODUCE_REFUSED;
    fputs("interrupted: nothing has run yet; the same command begins again\n", stderr);
    return OCHE_REPRODUCE_INTERRUPTED;
}

/* Lists committed results that may be outdated. */
static enum oche_reproduce_status check_committed(struct oche_reproduction *session)
{
    const char *which = session->options.which;
    const bool one = which != NULL && session->work_count == 1 && strchr(which, '/') != NULL;
    size_t stale = 0;

    for (size_t p = 0; p < session->paper_count; p++)
        if (!oche_committed_check(session->papers[p], one ? session->works[0].study->name : NULL,
                                  session->options.quick, &stale, &session->error))
            return OCHE_REPRODUCE_REFUSED;
    if (stale == 0 && !session->options.quiet)
        puts("no result is stale");
    return stale > 0 ? OCHE_REPRODUCE_NOT_ALL : OCHE_REPRODUCE_DONE;
}

static void note_commit(struct oche_reproduction *session)
{
    const time_t now = time(NULL);
    struct tm day;

    session->commit = oche_work_tree_commit(session->folder);
    strftime(session->date, sizeof(session->date), "%Y-%m-%d", gmtime_r(&now, &day));
}

static enum oche_reproduce_status work_on(struct oche_reproduction *session)
{
    if (!oche_reproduce_open(session))
        return OCHE_REPRODUCE_REFUSED;
    if (session->options.mode == OCHE_REPRODUCE_LIST) {
        oche_reproduce_list(session);
        return OCHE_REPRODUCE_DONE;
    }
    if (session->options.mode == OCHE_REPRODUCE_TOLERANCES) {
        oche_reproduce_list_tolerances(session);
        return OCHE_REPRODUCE_DONE;
    }
    if (session->options.mode == OCHE_REPRODUCE_COMMITTED && session->options.json)
        return oche_reproduce_print_recorded(session) ? OCHE_REPRODUCE_DONE
                                                      : OCHE_REPRODUCE_REFUSED;
    if (session->options.mode == OCHE_REPRODUCE_COMMITTED)
        return oche_committed_show(session->papers, session->paper_count, session->options.verbose,
                                   &session->error)
                   ? OCHE_REPRODUCE_DONE
                   : OCHE_REPRODUCE_REFUSED;
    if (session->options.mode == OCHE_REPRODUCE_STALE)
        return check_committed(session);
    enum oche_reproduce_status made = make_plans(session);

    if (made != OCHE_REPRODUCE_DONE)
        return made;
    if (session->options.record)
        note_commit(session);
    session->pool = oche_pool_create();
    if (oche_reproduce_shows_tables(session))
        oche_reproduce_print_heads(session);
    return run_figures(session);
}

static void clean_up(struct oche_reproduction *session)
{
    for (size_t i = 0; i < session->work_count; i++) {
        struct oche_reproduce_work *work = &session->works[i];

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
    struct oche_reproduction session = {.work_count = 0};
    enum oche_reproduce_status status = OCHE_REPRODUCE_REFUSED;

    if (oche_run_ranks_refuse("oche reproduce") != 0)
        return OCHE_REPRODUCE_REFUSED;
    session.command = oche_command_line(argc, argv);
    if (oche_reproduce_options_read(&session.options, argc, argv))
        status = work_on(&session);
    if (status == OCHE_REPRODUCE_REFUSED && session.error.text[0] != '\0')
        oche_print_error("%s", session.error.text);
    clean_up(&session);
    return (int)status;
}
