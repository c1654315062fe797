/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a paper's statements, and checks them against its figures. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/reproduce/read.h"
#include "lab/reproduce/statements.h"

static bool is_figure(const struct oche_paper *paper, const char *name)
{
    for (size_t i = 0; i < paper->figure_count; i++)
        if (strcmp(paper->figures[i], name) == 0)
            return true;
    return false;
}

/* Reads "FIGURE/CLAIM". */
static bool read_claim(const struct oche_reader *reader, const struct oche_paper *paper,
                       const struct oche_yaml *node, const char *text,
                       struct oche_statement_claim *claim)
{
    const char *slash = strchr(text, '/');

    if (slash == NULL || slash == text || slash[1] == '\0')
        return OCHE_READ_FAIL(reader, node, NULL, "\"%s\" is not FIGURE/CLAIM; write fig2/gbn_1e-3",
                              text);
    *claim = (struct oche_statement_claim){
        .figure = oche_document_print(reader->memory, "%.*s", (int)(slash - text), text),
        .claim = slash + 1,
        .node = node};
    return is_figure(paper, claim->figure) ||
           oche_read_unknown(reader, node, NULL, claim->figure, "a figure of the paper",
                             paper->figures, paper->figure_count);
}

static bool read_claims(const struct oche_reader *reader, const struct oche_paper *paper,
                        const struct oche_yaml *map, struct oche_statement *statement)
{
    const struct oche_yaml *node = oche_yaml_find(map, "decided_by");
    const char **words = NULL;
    size_t count = 0;

    if (node == NULL)
        return OCHE_READ_FAIL(reader, map, NULL,
                              "has no \"decided_by\"; add decided_by: [FIGURE/CLAIM]");
    if (!oche_read_words(reader, node, &words, &count))
        return false;
    statement->claims = oche_read_alloc(reader, count, sizeof(*statement->claims));
    statement->claim_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct oche_yaml *one = node->kind == OCHE_YAML_LIST ? node->child[i] : node;

        if (!read_claim(reader, paper, one, words[i], &statement->claims[i]))
            return false;
        for (size_t other = 0; other < i; other++)
            if (strcmp(words[other], words[i]) == 0)
                return OCHE_READ_FAIL(reader, one, NULL, "\"%s\" is there twice; write it once",
                                      words[i]);
    }
    return true;
}

static bool read_statement(const struct oche_reader *reader, const struct oche_paper *paper,
                           const struct oche_yaml *map, struct oche_paper_statements *statements)
{
    static const char *const known[] = {"name",   "text",       "place",       "published",
                                        "source", "decided_by", "explanation", NULL};
    static const char *const sources[] = {"text", "plot", "memory", NULL};
    struct oche_statement *statement = &statements->all[statements->count];
    unsigned source = OCHE_SOURCES;

    if (!oche_read_keys(reader, map, known) ||
        !oche_read_text(reader, map, "name", true, &statement->name) ||
        !oche_read_text(reader, map, "text", true, &statement->text) ||
        !oche_read_text(reader, map, "place", true, &statement->place) ||
        !oche_read_text(reader, map, "published", true, &statement->published) ||
        !oche_read_text(reader, map, "explanation", false, &statement->explanation) ||
        !oche_read_choice(reader, map, "source", sources, &source))
        return false;
    if (source == OCHE_SOURCES)
        return OCHE_READ_FAIL(reader, map, NULL,
                              "has no \"source\"; add source: text, plot or memory");
    for (size_t i = 0; i < statements->count; i++)
        if (strcmp(statements->all[i].name, statement->name) == 0)
            return OCHE_READ_FAIL(reader, map, "name", "\"%s\" is there twice; give another name",
                                  statement->name);
    statement->source = (enum oche_source)source;
    statements->count++;
    return read_claims(reader, paper, map, statement);
}

static bool read_declared(const struct oche_reader *reader, const struct oche_yaml *list,
                          struct oche_paper_statements *statements)
{
    static const char *const known[] = {"reading", "because", NULL};

    if (list == NULL)
        return true;
    if (list->kind != OCHE_YAML_LIST)
        return OCHE_READ_FAIL(reader, list, NULL,
                              "is not a list; write - {reading: LABEL, because: TEXT}");
    statements->declared = oche_read_alloc(reader, list->count, sizeof(*statements->declared));
    for (uint32_t i = 0; i < list->count; i++) {
        struct oche_declared *declared = &statements->declared[statements->declared_count++];

        declared->node = list->child[i];
        if (!oche_read_keys(reader, declared->node, known) ||
            !oche_read_text(reader, declared->node, "reading", true, &declared->reading) ||
            !oche_read_text(reader, declared->node, "because", true, &declared->because))
            return false;
        for (const struct oche_declared *other = statements->declared; other < declared; other++)
            if (strcmp(other->reading, declared->reading) == 0)
                return OCHE_READ_FAIL(reader, declared->node, "reading",
                                      "\"%s\" is there twice; declare it once", declared->reading);
    }
    return true;
}

static bool read_all(const struct oche_reader *reader, const struct oche_paper *paper,
                     struct oche_paper_statements *statements)
{
    static const char *const known[] = {"statements", "declared", NULL};
    const struct oche_yaml *root = oche_document_root(reader->document);
    const struct oche_yaml *list = oche_yaml_find(root, "statements");

    if (!oche_read_keys(reader, root, known))
        return false;
    if (list == NULL || list->kind != OCHE_YAML_LIST || list->count == 0)
        return OCHE_READ_FAIL(reader, list != NULL ? list : root, NULL,
                              "has no list of statements; write statements: and below it - {…}");
    statements->all = oche_read_alloc(reader, list->count, sizeof(*statements->all));
    for (uint32_t i = 0; i < list->count; i++)
        if (!read_statement(reader, paper, list->child[i], statements))
            return false;
    return read_declared(reader, oche_yaml_find(root, "declared"), statements);
}

/* Reads the document, which the statements then own. */
static bool take(struct oche_paper_statements *statements, const struct oche_paper *paper,
                 struct oche_document *document, struct oche_error *error)
{
    const struct oche_reader reader = {.document = document, .memory = document, .error = error};

    *statements = (struct oche_paper_statements){.document = document};
    if (document == NULL)
        return false;
    if (read_all(&reader, paper, statements))
        return true;
    oche_paper_statements_close(statements);
    return false;
}

bool oche_paper_statements_open(struct oche_paper_statements *statements,
                                const struct oche_paper *paper, struct oche_error *error)
{
    char *path = NULL;
    bool ok = true;

    *statements = (struct oche_paper_statements){.count = 0};
    OCHE_GOT(asprintf(&path, "%s/statements.yaml", paper->folder) >= 0);
    if (access(path, F_OK) == 0 || errno != ENOENT)
        ok = take(statements, paper, oche_document_open(path, error), error);
    free(path);
    return ok;
}

bool oche_paper_statements_parse(struct oche_paper_statements *statements,
                                 const struct oche_paper *paper, const char *path, const char *text,
                                 struct oche_error *error)
{
    return take(statements, paper, oche_document_parse(path, text, strlen(text), error), error);
}

void oche_paper_statements_close(struct oche_paper_statements *statements)
{
    oche_document_close(statements->document);
    *statements = (struct oche_paper_statements){.count = 0};
}

/* ---- against the figures ---- */

static const struct oche_claim *find_claim(const struct oche_study *study, const char *name)
{
    for (size_t c = 0; c < study->claim_count; c++)
        if (strcmp(study->claims[c].name, name) == 0)
            return &study->claims[c];
    return NULL;
}

static bool unknown_claim(const struct oche_reader *reader,
                          const struct oche_statement_claim *claim, const struct oche_study *study)
{
    const char **names = oche_read_alloc(reader, study->claim_count, sizeof(*names));

    for (size_t c = 0; c < study->claim_count; c++)
        names[c] = study->claims[c].name;
    return oche_read_unknown(reader, claim->node, NULL, claim->claim, "a claim of the figure",
                             names, study->claim_count);
}

/*
 * Rejects a claim that is no word of the paper. A claim from memory decides only statements from
 * memory, which are counted apart.
 */
static bool check_source(const struct oche_reader *reader, const struct oche_statement *statement,
                         const struct oche_statement_claim *claim, enum oche_source source)
{
    if (source == OCHE_SOURCE_OWN)
        return OCHE_READ_FAIL(reader, claim->node, NULL,
                              "%s/%s is this project's own claim; a statement is decided by the "
                              "paper's",
                              claim->figure, claim->claim);
    if (source == OCHE_SOURCE_MEMORY && statement->source != OCHE_SOURCE_MEMORY)
        return OCHE_READ_FAIL(reader, claim->node, NULL,
                              "%s/%s is a claim from memory; a statement with source: %s is "
                              "decided by claims of the paper's text or plots",
                              claim->figure, claim->claim, oche_source_names[statement->source]);
    return true;
}

static bool check_claim(const struct oche_reader *reader, const struct oche_statement *statement,
                        const struct oche_statement_claim *claim,
                        const struct oche_study *const *studies, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        if (strcmp(studies[s]->name, claim->figure) != 0)
            continue;
        const struct oche_claim *found = find_claim(studies[s], claim->claim);

        return found != NULL ? check_source(reader, statement, claim, found->source)
                             : unknown_claim(reader, claim, studies[s]);
    }
    return true;
}

static bool has_reading(const struct oche_study *const *studies, size_t count, const char *label)
{
    for (size_t s = 0; s < count; s++)
        for (size_t a = 0; a < studies[s]->also_count; a++)
            if (strcmp(studies[s]->also[a].label, label) == 0)
                return true;
    return false;
}

bool oche_paper_statements_check(const struct oche_paper_statements *statements,
                                 const struct oche_study *const *studies, size_t count,
                                 const struct oche_paper *paper, struct oche_error *error)
{
    const struct oche_reader reader = {
        .document = statements->document, .memory = statements->document, .error = error};

    for (size_t i = 0; i < statements->count; i++)
        for (size_t c = 0; c < statements->all[i].claim_count; c++)
            if (!check_claim(&reader, &statements->all[i], &statements->all[i].claims[c], studies,
                             count))
                return false;
    for (size_t i = 0; count == paper->figure_count && i < statements->declared_count; i++) {
        const struct oche_declared *declared = &statements->declared[i];

        if (!has_reading(studies, count, declared->reading))
            return OCHE_READ_FAIL(&reader, declared->node, "reading",
                                  "\"%s\" is not the label of a reading in a figure; take one of "
                                  "\"also\"",
                                  declared->reading);
    }
    return true;
}
