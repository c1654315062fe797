/* SPDX-License-Identifier: Apache-2.0 */
/* Opens papers, figures and statements. */
#include "cli/reproduce/reproduction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/wire.h"
#include "lab/reproduce/measured.h"
#include "lab/sweep/record.h"
#include "store/store.h"
#include "params/text_stream.h"

static bool open_figure(struct oche_reproduction *session, const struct oche_paper *paper,
                        const char *name)
{
    struct oche_reproduce_work *works =
        realloc(session->works, (session->work_count + 1) * sizeof(*session->works));

    OCHE_GOT(works != NULL);
    session->works = works;
    struct oche_reproduce_work *work = &session->works[session->work_count];

    *work = (struct oche_reproduce_work){.store = NULL};
    work->study = oche_study_open(paper, name, session->options.quick, &session->error);
    if (work->study == NULL)
        return false;
    session->work_count++;
    return true;
}

/* Opens one of the paper's figures, or all of them (`figure` NULL). */
static bool open_figures(struct oche_reproduction *session, const struct oche_paper *paper,
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

char *oche_reproduce_folder(const struct oche_reproduction *session, const char *paper)
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
static bool measure(struct oche_reproduction *session, struct oche_paper *paper, const char *figure)
{
    if (!session->options.measure)
        return true;
    if (!oche_measured_in(paper, figure))
        return oche_fail(&session->error, "%s/%s: nothing of it is measured on the wire",
                         paper->name, figure);
    session->measured = oche_reproduce_folder(session, paper->name);
    if (!oche_results_folder(session->measured, &session->error) ||
        !oche_wire_measure(&session->options, session->folder, paper->name, session->measured,
                           &session->error))
        return false;
    paper->measured = session->measured;
    return true;
}

/* Reads the statements of the paper, which was opened last with its figures. */
static bool open_statements(struct oche_reproduction *session, const struct oche_paper *paper)
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

static bool open_paper(struct oche_reproduction *session, const char *name, const char *figure)
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
static bool open_named(struct oche_reproduction *session, const char *which)
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

bool oche_reproduce_open(struct oche_reproduction *session)
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
