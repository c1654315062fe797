/* SPDX-License-Identifier: Apache-2.0 */
/* A paper's statements as JSON. */
#include "cli/statements_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json.h"

struct source {
    const struct oche_paper_statements *statements;
    const struct oche_results *results;
    const char *best; /* label of the best single reading; NULL: none does better */
};

/* ---- one statement ---- */

static void add_verdict(struct json_object *to, const struct source *source,
                        const struct oche_statement *statement, const char *reading)
{
    const struct oche_statement_verdict verdict =
        oche_statement_judge(statement, source->results, reading);

    oche_json_add_text(to, "verdict", oche_statement_finding_name(verdict.finding));
    oche_json_add(to, "unsure", oche_json_truth(verdict.unsure));
}

/* Returns the verdict by a reading; "measured" is false if no claim was measured under it. */
static struct json_object *reading_json(const struct source *source,
                                        const struct oche_statement *statement, const char *reading)
{
    struct json_object *json = oche_json_object();

    oche_json_add_text(json, "reading", reading);
    oche_json_add(json, "measured",
                  oche_json_truth(oche_statement_reads(statement, source->results, reading)));
    add_verdict(json, source, statement, reading);
    return json;
}

/* Adds the claim's id, FIGURE/CLAIM. */
static void add_id(struct json_object *to, const struct oche_statement_claim *claim)
{
    char *id = NULL;

    OCHE_GOT(asprintf(&id, "%s/%s", claim->figure, claim->claim) >= 0);
    oche_json_add_text(to, "claim", id);
    free(id);
}

static struct json_object *claims_json(const struct source *source,
                                       const struct oche_statement *statement)
{
    struct json_object *claims = oche_json_array(0);

    for (size_t c = 0; c < statement->claim_count; c++) {
        const struct oche_statement_claim *claim = &statement->claims[c];
        const struct oche_result_line *line = oche_statement_line(source->results, claim, NULL);
        struct json_object *one = oche_json_object();

        add_id(one, claim);
        oche_json_add_text(one, "verdict", line != NULL ? oche_finding_name(line->finding) : NULL);
        oche_json_add(one, "unsure", oche_json_truth(line != NULL && line->unsure));
        oche_json_add(one, "measured", oche_json_exact(line != NULL ? line->measured : NAN));
        oche_json_add_text(one, "unit", line != NULL ? line->unit : NULL);
        oche_json_push(claims, one);
    }
    return claims;
}

static struct json_object *statement_json(const struct source *source,
                                          const struct oche_statement *statement)
{
    struct json_object *json = oche_json_object(), *declared = oche_json_array(0);

    oche_json_add_text(json, "name", statement->name);
    oche_json_add_text(json, "text", statement->text);
    oche_json_add_text(json, "place", statement->place);
    oche_json_add_text(json, "published", statement->published);
    oche_json_add_text(json, "source", oche_source_names[statement->source]);
    oche_json_add_text(json, "explanation", statement->explanation);
    oche_json_add(json, "decided_by", claims_json(source, statement));
    add_verdict(json, source, statement, NULL);
    for (size_t d = 0; d < source->statements->declared_count; d++)
        oche_json_push(declared,
                       reading_json(source, statement, source->statements->declared[d].reading));
    oche_json_add(json, "declared", declared);
    oche_json_add(json, "best",
                  source->best != NULL ? reading_json(source, statement, source->best) : NULL);
    return json;
}

/* ---- the counts ---- */

static struct json_object *counts_json(const struct source *source, const char *reading)
{
    static const char *const keys[] = {"hold", "in_shape", "do_not_hold", "not_measured",
                                       "not_judged"};
    const struct oche_statement_tally tally =
        oche_paper_statements_count(source->statements, source->results, reading);
    struct json_object *json = oche_json_object(), *memory = oche_json_object();

    _Static_assert(OCHE_COUNT_OF(keys) == OCHE_STATEMENT_FINDINGS, "a key for each");
    if (reading != NULL)
        oche_json_add_text(json, "reading", reading);
    for (size_t f = 0; f < OCHE_COUNT_OF(keys); f++) {
        oche_json_add_int(json, keys[f], tally.count[f]);
        oche_json_add_int(memory, keys[f], tally.from_memory[f]);
    }
    oche_json_add_int(json, "hold_or_in_shape", oche_paper_statements_good(&tally));
    oche_json_add_int(json, "judged", oche_paper_statements_judged(&tally));
    oche_json_add(json, "from_memory", memory);
    return json;
}

/* Returns a declared reading; "measured" is false if no statement was measured under it. */
static struct json_object *declared_json(const struct source *source,
                                         const struct oche_declared *declared)
{
    struct json_object *json = counts_json(source, declared->reading);
    bool measured = false;

    for (size_t i = 0; i < source->statements->count; i++)
        measured |=
            oche_statement_reads(&source->statements->all[i], source->results, declared->reading);
    oche_json_add_text(json, "because", declared->because);
    oche_json_add(json, "measured", oche_json_truth(measured));
    return json;
}

void oche_statements_json_add(struct json_object *paper,
                              const struct oche_paper_statements *statements,
                              const struct oche_results *results)
{
    const struct source source = {statements, results,
                                  oche_paper_statements_best(statements, results)};
    struct json_object *counts = oche_json_object(), *declared = oche_json_array(0),
                       *list = oche_json_array(0);

    for (size_t i = 0; i < statements->count; i++)
        oche_json_push(list, statement_json(&source, &statements->all[i]));
    for (size_t d = 0; d < statements->declared_count; d++)
        oche_json_push(declared, declared_json(&source, &statements->declared[d]));
    oche_json_add(counts, "as_judged", counts_json(&source, NULL));
    oche_json_add(counts, "declared", declared);
    oche_json_add(counts, "best", source.best != NULL ? counts_json(&source, source.best) : NULL);
    oche_json_add(paper, "counts", counts);
    oche_json_add(paper, "statements", list);
}
