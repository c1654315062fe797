/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a figure's file as a whole. */
#include "lab/reproduce/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/digest.h"
#include "lab/reproduce/measured.h"
#include "lab/reproduce/read.h"

/* Returns "fig2" for "papers/error-recovery/figures/fig2.yaml". */
static const char *name_of(struct oche_document *document)
{
    const char *path = oche_document_name(document), *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path, *dot = strrchr(base, '.');

    return oche_document_print(document, "%.*s",
                               (int)(dot != NULL ? (size_t)(dot - base) : strlen(base)), base);
}

/*
 * Returns the path of a scenario: in the scenarios of the study's paper; without a paper, beside
 * the study's file.
 */
static const char *scenario_path(const struct oche_study *study, const char *name)
{
    const char *path = oche_document_name(study->document), *slash = strrchr(path, '/');

    if (name[0] == '/')
        return name;
    if (study->paper != NULL)
        return oche_document_print(study->document, "%s/scenarios/%s", study->paper->folder, name);
    if (slash == NULL)
        return name;
    return oche_document_print(study->document, "%.*s/%s", (int)(slash - path), path, name);
}

/* Reads the figure's `at`, and adds the values of axes that need not be named. */
static bool read_at(const struct oche_reader *reader, struct oche_study *study,
                    const struct oche_yaml *node)
{
    if (!oche_read_condition(reader, study, node, false, &study->at))
        return false;
    for (size_t a = 0; a < study->axis_count; a++) {
        struct oche_condition_term *term = &study->at.axis[a];
        size_t usual = oche_usual_value(&study->axes[a]);

        if (term->count > 0 || study->axes[a].count < 2 || usual == OCHE_ANY)
            continue;
        term->values = oche_read_alloc(reader, 1, sizeof(*term->values));
        term->values[0] = usual;
        term->count = 1;
    }
    return true;
}

/* Reads the paper's differences, then the figure's own. */
static bool read_differences(const struct oche_reader *reader, struct oche_study *study,
                             const struct oche_yaml *node)
{
    struct oche_reader of_paper = *reader;
    const char **first = NULL, **second = NULL;
    size_t first_count = 0, second_count = 0;

    if (study->paper != NULL) {
        of_paper.document = study->paper->document;
        if (!oche_read_words(&of_paper, study->paper->differences, &first, &first_count))
            return false;
    }
    if (!oche_read_words(reader, node, &second, &second_count))
        return false;
    study->differences =
        oche_read_alloc(reader, first_count + second_count, sizeof(*study->differences));
    study->paper_difference_count = first_count;
    for (size_t i = 0; i < first_count; i++)
        study->differences[study->difference_count++] = first[i];
    for (size_t i = 0; i < second_count; i++)
        study->differences[study->difference_count++] = second[i];
    return true;
}

static bool read_study(const struct oche_reader *reader, struct oche_study *study, bool quick)
{
    static const char *const known[] = {"title",       "place",  "scenario",      "grids",
                                        "quantities",  "at",     "also",          "plot",
                                        "differences", "claims", "quick_differs", NULL};
    const struct oche_yaml *root = oche_document_root(study->document);
    const struct oche_yaml *grids = oche_yaml_find(root, "grids");
    const struct oche_yaml *claims = oche_yaml_find(root, "claims");
    const struct oche_paper *paper = study->paper;
    const char *scenario;

    if (!oche_read_keys(reader, root, known) ||
        !oche_read_text(reader, root, "title", true, &study->title) ||
        !oche_read_text(reader, root, "place", true, &study->place) ||
        !oche_read_text(reader, root, "scenario", true, &scenario) ||
        !oche_read_text(reader, root, "quick_differs", false, &study->quick_differs))
        return false;
    study->scenario = scenario_path(study, scenario);
    if (grids == NULL)
        return OCHE_READ_FAIL(reader, root, "grids", "is not there; add what is run");
    if (claims == NULL)
        return OCHE_READ_FAIL(reader, root, "claims", "is not there; add what the paper says");
    return oche_read_grids(reader, study, grids, oche_yaml_find(root, "also"), quick) &&
           oche_read_quantities(reader, study, oche_yaml_find(root, "quantities"),
                                paper != NULL ? paper->quantities : NULL) &&
           read_at(reader, study, oche_yaml_find(root, "at")) &&
           oche_read_also(reader, study, oche_yaml_find(root, "also")) &&
           oche_read_plots(reader, study, oche_yaml_find(root, "plot")) &&
           oche_read_claims(reader, study, claims) &&
           read_differences(reader, study, oche_yaml_find(root, "differences")) &&
           oche_measured_read(reader, study);
}

/* In a quick run of a figure whose quick verdicts would mislead no claim gets a verdict. */
static void withhold_verdicts(struct oche_study *study)
{
    if (!study->quick || study->quick_differs == NULL)
        return;
    for (size_t c = 0; c < study->claim_count; c++)
        if (study->claims[c].not_testable == NULL)
            study->claims[c].not_testable = study->quick_differs;
}

/*
 * Returns the study in the document, which the study then owns; NULL, with an error, if the
 * document is wrong.
 */
static struct oche_study *study_of(const struct oche_paper *paper, struct oche_document *document,
                                   bool quick, struct oche_error *error)
{
    struct oche_study *study;
    struct oche_reader reader = {.document = document, .memory = document, .error = error};

    if (document == NULL)
        return NULL;
    study = oche_document_alloc(document, sizeof(*study));
    study->document = document;
    study->paper = paper;
    study->name = name_of(document);
    if (!read_study(&reader, study, quick)) {
        oche_document_close(document);
        return NULL;
    }
    study->digest = oche_claims_digest(document, paper != NULL ? paper->document : NULL);
    withhold_verdicts(study);
    return study;
}

struct oche_study *oche_study_open(const struct oche_paper *paper, const char *name, bool quick,
                                   struct oche_error *error)
{
    char *path = NULL;
    struct oche_document *document;

    OCHE_GOT(asprintf(&path, "%s/figures/%s.yaml", paper->folder, name) >= 0);
    document = oche_document_open(path, error);
    free(path);
    return study_of(paper, document, quick, error);
}

struct oche_study *oche_study_parse(const struct oche_paper *paper, const char *path,
                                    const char *text, bool quick, struct oche_error *error)
{
    return study_of(paper, oche_document_parse(path, text, strlen(text), error), quick, error);
}

void oche_study_close(struct oche_study *study)
{
    if (study != NULL)
        oche_document_close(study->document);
}
