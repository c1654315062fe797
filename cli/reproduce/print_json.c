/* SPDX-License-Identifier: Apache-2.0 */
/* Prints papers, their statements and figures as JSON; docs/reproduce.md describes it. */
#include "cli/reproduce/reproduction.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/recorded_json.h"
#include "cli/results_json.h"
#include "cli/statements_json.h"
#include "report/json.h"

/* ---- papers ---- */

/* Returns the figures of which --quick gives no verdicts, each with the reason. */
static struct json_object *quick_differs_json(const struct oche_reproduction *session,
                                              const struct oche_paper *paper)
{
    struct json_object *list = oche_json_array(0);

    for (size_t i = 0; i < session->work_count; i++) {
        const struct oche_study *study = session->works[i].study;

        if (study->paper != paper || study->quick_differs == NULL)
            continue;
        struct json_object *one = oche_json_object();

        oche_json_add_text(one, "figure", study->name);
        oche_json_add_text(one, "reason", study->quick_differs);
        oche_json_push(list, one);
    }
    return list;
}

/* A paper of which only some figures have run has no verdicts on statements. */
static struct json_object *run_json(const struct oche_reproduction *session, size_t number)
{
    const struct oche_paper *paper = session->papers[number];
    struct json_object *json = oche_json_object();

    oche_json_add_text(json, "paper", paper->name);
    oche_json_add_text(json, "title", paper->title);
    oche_json_add_text(json, "mode", session->options.quick ? "quick" : "full");
    oche_json_add(json, "quick_differs", quick_differs_json(session, paper));
    if (oche_reproduce_is_whole(session, paper)) {
        struct oche_results results;

        oche_reproduce_results(session, paper, &results);
        oche_statements_json_add(json, &session->statements[number], &results);
        oche_results_free(&results);
    }
    return json;
}

/* Returns the list `papers` as a member of an object, without the object's braces (malloc'd). */
static char *member_of(struct json_object *papers)
{
    struct json_object *whole = oche_json_object();
    size_t bytes;
    char *member = NULL;

    oche_json_add(whole, "papers", papers);
    char *text = oche_json_for_html(whole, &bytes);

    OCHE_GOT(asprintf(&member, "%.*s", (int)bytes - 2, text + 1) >= 0);
    free(text);
    json_object_put(whole);
    return member;
}

bool oche_reproduce_print_json(struct oche_reproduction *session)
{
    char **paths = calloc(session->work_count + 1, sizeof(*paths)), *member;
    struct json_object *papers = oche_json_array(0);

    OCHE_GOT(paths != NULL);
    for (size_t p = 0; p < session->paper_count; p++)
        oche_json_push(papers, run_json(session, p));
    for (size_t i = 0; i < session->work_count; i++) {
        const struct oche_reproduce_work *work = &session->works[i];

        OCHE_GOT(asprintf(&paths[i], "%s/%s.sqlite", work->folder, work->study->name) >= 0);
    }
    member = member_of(papers);
    const bool ok = oche_print_json("figures", paths, session->work_count, member, &session->error);

    for (size_t i = 0; i < session->work_count; i++)
        free(paths[i]);
    free(paths);
    free(member);
    return ok;
}

/* ---- recorded results ---- */

/* Returns all recorded verdicts, also those by other readings. */
static struct json_object *lines_json(const struct oche_results *results)
{
    struct json_object *list = oche_json_array(0);

    for (size_t i = 0; i < results->count; i++) {
        const struct oche_result_line *line = &results->lines[i];
        struct json_object *one = oche_json_object();

        oche_json_add_text(one, "figure", line->figure);
        oche_json_add_text(one, "claim", line->claim);
        oche_json_add_text(one, "reading", line->reading[0] != '\0' ? line->reading : NULL);
        oche_json_add_text(one, "source", oche_source_names[line->source]);
        oche_json_add(one, "published", oche_json_exact(line->published));
        oche_json_add(one, "measured", oche_json_exact(line->measured));
        oche_json_add(one, "low", oche_json_exact(line->low));
        oche_json_add(one, "high", oche_json_exact(line->high));
        oche_json_add_text(one, "unit", line->unit);
        oche_json_add_text(one, "verdict", oche_finding_name(line->finding));
        oche_json_add(one, "unsure", oche_json_truth(line->unsure));
        oche_json_add_int(one, "seeds", line->seeds);
        oche_json_add_text(one, "commit", line->commit);
        oche_json_add_text(one, "date", line->date);
        oche_json_push(list, one);
    }
    return list;
}

bool oche_reproduce_print_recorded(struct oche_reproduction *session)
{
    struct json_object *papers = oche_json_array(0);
    bool ok = true;

    for (size_t p = 0; ok && p < session->paper_count; p++) {
        struct oche_results results;

        ok = oche_results_read(&results, session->papers[p], &session->error);
        if (!ok)
            break;
        struct json_object *paper =
            oche_recorded_paper_json(session->papers[p], &results, &session->statements[p]);

        oche_json_add(paper, "quick_differs", quick_differs_json(session, session->papers[p]));
        oche_json_add(paper, "results", lines_json(&results));
        oche_json_push(papers, paper);
        oche_results_free(&results);
    }
    char *member = member_of(papers);

    if (ok)
        printf("{%s}\n", member);
    free(member);
    return ok;
}
