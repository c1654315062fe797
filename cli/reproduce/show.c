/* SPDX-License-Identifier: Apache-2.0 */
/* Judges figures, and prints what has come out. */
#include "cli/reproduce/reproduction.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/reproduce/print.h"
#include "cli/reproduce/print_statements.h"
#include "cli/reproduce/print_tally.h"
#include "lab/reproduce/findings.h"
#include "lab/reproduce/tolerances.h"

bool oche_reproduce_shows_tables(const struct oche_reproduction *session)
{
    return !session->options.quiet && !session->options.json;
}

bool oche_reproduce_show(struct oche_reproduction *session, struct oche_reproduce_work *work)
{
    struct oche_findings findings;
    char *commit = oche_tolerances_commit(work->study);

    oche_findings_make(&findings, &work->plan, work->store);
    bool ok = oche_findings_store(&findings, commit, work->store, &session->error) &&
              oche_sweep_store_settle(work->store, &session->error);

    work->tally = findings.tally;
    oche_results_add(&work->results, &work->plan, &findings,
                     session->commit != NULL ? session->commit : "", session->date);
    if (ok && oche_reproduce_shows_tables(session)) {
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

void oche_reproduce_print_papers(const struct oche_reproduction *session)
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

bool oche_reproduce_is_whole(const struct oche_reproduction *session,
                             const struct oche_paper *paper)
{
    size_t figures = 0;

    for (size_t i = 0; i < session->work_count; i++)
        figures += session->works[i].study->paper == paper;
    return figures == paper->figure_count;
}

void oche_reproduce_results(const struct oche_reproduction *session, const struct oche_paper *paper,
                            struct oche_results *results)
{
    *results = (struct oche_results){.count = 0};
    for (size_t i = 0; i < session->work_count; i++)
        if (session->works[i].study->paper == paper)
            oche_results_copy(results, &session->works[i].results);
}

void oche_reproduce_print_statements(const struct oche_reproduction *session)
{
    struct oche_shown_statements *shown = calloc(session->paper_count + 1, sizeof(*shown));
    struct oche_results *results = calloc(session->paper_count + 1, sizeof(*results));
    const struct oche_statements_style style = {
        .quick = session->options.quick, .why = true, .claims = session->options.verbose};
    size_t count = 0;

    OCHE_GOT(shown != NULL && results != NULL);
    for (size_t p = 0; p < session->paper_count; p++) {
        const struct oche_paper *paper = session->papers[p];

        if (!oche_reproduce_is_whole(session, paper))
            continue;
        oche_reproduce_results(session, paper, &results[count]);
        shown[count] =
            (struct oche_shown_statements){paper, &session->statements[p], &results[count]};
        count++;
    }
    oche_print_statement_counts(shown, count, session->options.quick, stdout);
    for (size_t i = 0; i < count; i++)
        oche_print_statements(&shown[i], &style, stdout);
    for (size_t i = 0; i < count; i++)
        oche_results_free(&results[i]);
    free(shown);
    free(results);
}

/* Prints the number of runs before they begin. */
static void print_amount(const struct oche_reproduction *session, const struct oche_paper *paper)
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

void oche_reproduce_print_heads(const struct oche_reproduction *session)
{
    for (size_t p = 0; p < session->paper_count; p++) {
        const struct oche_reproduce_work *work = session->works;

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
