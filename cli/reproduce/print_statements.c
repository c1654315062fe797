/* SPDX-License-Identifier: Apache-2.0 */
/* Prints papers' statements and their verdicts. */
#include "cli/reproduce/print_statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/print.h"
#include "params/text_stream.h"
#include "params/table.h"

enum { COLUMNS = OCHE_STATEMENT_FINDINGS + 3 }; /* of the counts */

/* ---- one paper ---- */

#define VERDICT  16  /* columns of a verdict: "does not hold?" and two spaces */
#define NOT_READ "–" /* one column, three bytes: by a reading that measured none of the claims */

/* Adds the verdict to a line's beginning; a dash if the reading measured no claim of it. */
static void add_verdict(char *line, size_t room, const struct oche_statement *statement,
                        const struct oche_results *results, const char *reading)
{
    const struct oche_statement_verdict verdict = oche_statement_judge(statement, results, reading);
    const size_t length = strlen(line);
    char words[VERDICT];

    if (reading != NULL && !oche_statement_reads(statement, results, reading)) {
        snprintf(line + length, room - length, "%s%*s", NOT_READ, VERDICT - 1, "");
        return;
    }
    snprintf(words, sizeof(words), "%s%s", oche_statement_finding_name(verdict.finding),
             verdict.unsure ? "?" : "");
    snprintf(line + length, room - length, "%-*s", VERDICT, words);
}

static void print_statement(const struct oche_shown_statements *of,
                            const struct oche_statement *statement, FILE *out)
{
    const size_t verdicts = 1 + of->statements->declared_count;
    const size_t room = verdicts * (VERDICT + sizeof(NOT_READ)) + 1;
    char *line = calloc(1, room), *text = NULL;

    OCHE_GOT(line != NULL &&
             asprintf(&text, "%s (published: %s%s)", statement->text, statement->published,
                      statement->source == OCHE_SOURCE_MEMORY ? "; from memory" : "") >= 0);
    add_verdict(line, room, statement, of->results, NULL);
    for (size_t d = 0; d + 1 < verdicts; d++)
        add_verdict(line, room, statement, of->results, of->statements->declared[d].reading);
    oche_print_hanging(line, text, (unsigned)(verdicts * VERDICT), out);
    free(line);
    free(text);
}

/* Prints the claims that decide the statement, each with its verdict as judged. */
static void print_deciding(const struct oche_shown_statements *of,
                           const struct oche_statement *statement, FILE *out)
{
    const unsigned indent = (unsigned)(1 + of->statements->declared_count) * VERDICT;
    char *text = NULL;
    size_t bytes;
    FILE *words = oche_text_stream_open(&text, &bytes);

    for (size_t c = 0; c < statement->claim_count; c++) {
        const struct oche_statement_claim *claim = &statement->claims[c];
        const struct oche_result_line *line = oche_statement_line(of->results, claim, NULL);

        fprintf(words, "%s%s/%s (%s%s)", c > 0 ? ", " : "by ", claim->figure, claim->claim,
                line != NULL ? oche_finding_name(line->finding) : "not measured",
                line != NULL && line->unsure ? "?" : "");
    }
    oche_text_stream_close(words);
    oche_print_hanging("", text, indent, out);
    free(text);
}

/* True if a declared reading measured no claim of some statement. */
static bool any_not_read(const struct oche_shown_statements *of)
{
    for (size_t d = 0; d < of->statements->declared_count; d++)
        for (size_t i = 0; i < of->statements->count; i++)
            if (!oche_statement_reads(&of->statements->all[i], of->results,
                                      of->statements->declared[d].reading))
                return true;
    return false;
}

static void print_why(const struct oche_shown_statements *of, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < of->statements->count; i++) {
        const struct oche_statement *statement = &of->statements->all[i];
        const enum oche_statement_finding finding =
            oche_statement_judge(statement, of->results, NULL).finding;

        if (statement->explanation == NULL || finding == OCHE_STATEMENT_HOLDS)
            continue;
        fprintf(out, "%s  %s (%s)\n", any ? "" : "\nwhy:\n", statement->text,
                oche_statement_finding_name(finding));
        oche_print_hanging("", statement->explanation, 4, out);
        any = true;
    }
}

void oche_print_statements(const struct oche_shown_statements *of,
                           const struct oche_statements_style *style, FILE *out)
{
    const bool quick = style->quick;

    const struct oche_paper_statements *statements = of->statements;

    if (statements->count == 0)
        return;
    fprintf(out, "%s: what the paper says%s\n\n", of->paper->name, quick ? " (quick)" : "");
    fprintf(out, "%-*s", VERDICT, quick ? "verdict (quick)" : "verdict");
    for (size_t d = 0; d < statements->declared_count; d++)
        fprintf(out, "by reading %-*zu", VERDICT - 11, d + 1);
    fputs("statement\n", out);
    for (size_t i = 0; i < statements->count; i++) {
        print_statement(of, &statements->all[i], out);
        if (style->claims)
            print_deciding(of, &statements->all[i], out);
    }
    for (size_t d = 0; d < statements->declared_count; d++)
        fprintf(out, "%sreading %zu: %s\n", d == 0 ? "\n" : "", d + 1,
                statements->declared[d].reading);
    if (any_not_read(of))
        fputs(NOT_READ ": the reading measured none of the statement's claims\n", out);
    if (style->why)
        print_why(of, out);
    fputc('\n', out);
}

/* ---- all papers ---- */

static void print_counts(struct oche_table *table, const char *name,
                         const struct oche_shown_statements *of, const char *reading)
{
    const struct oche_statement_tally tally =
        oche_paper_statements_count(of->statements, of->results, reading);
    const size_t judged = oche_paper_statements_judged(&tally),
                 good = oche_paper_statements_good(&tally);
    size_t from_memory = 0;

    oche_table_cell(table, "%s", name);
    for (unsigned f = 0; f < OCHE_STATEMENT_FINDINGS; f++) {
        oche_table_cell(table, "%zu", tally.count[f]);
        from_memory += tally.from_memory[f];
    }
    if (judged > 0)
        oche_table_cell(table, "%zu of %zu", good, judged);
    else
        oche_table_cell(table, "–");
    oche_table_cell(table, "%zu", from_memory);
}

static bool is_declared(const struct oche_paper_statements *statements, const char *reading)
{
    for (size_t d = 0; d < statements->declared_count; d++)
        if (strcmp(statements->declared[d].reading, reading) == 0)
            return true;
    return false;
}

static bool is_measured(const struct oche_shown_statements *of, const char *reading)
{
    for (size_t i = 0; i < of->statements->count; i++)
        if (oche_statement_reads(&of->statements->all[i], of->results, reading))
            return true;
    return false;
}

/* Prints the row of a reading. If nothing was measured under it, its cells say so. */
static void print_reading(struct oche_table *table, const char *what, const char *label,
                          const struct oche_shown_statements *of)
{
    char name[160];

    snprintf(name, sizeof(name), "  %s: %s%s", what, label,
             is_measured(of, label) ? "" : " (not measured)");
    if (is_measured(of, label)) {
        print_counts(table, name, of, label);
        return;
    }
    oche_table_cell(table, "%s", name);
    for (unsigned column = 1; column < COLUMNS; column++)
        oche_table_cell(table, "–");
}

void oche_print_statement_counts(const struct oche_shown_statements *papers, size_t count,
                                 bool quick, FILE *out)
{
    struct oche_table *table = oche_table_create(COLUMNS);
    size_t rows = 0;

    oche_table_cell(table, quick ? "statements (quick)" : "statements");
    oche_table_cell(table, "hold");
    oche_table_cell(table, "in shape");
    oche_table_cell(table, "do not hold");
    oche_table_cell(table, "not measured");
    oche_table_cell(table, "not judged");
    oche_table_cell(table, "hold or in shape");
    oche_table_cell(table, "from memory");
    oche_table_rule(table);
    for (size_t p = 0; p < count; p++) {
        const struct oche_paper_statements *statements = papers[p].statements;

        if (statements->count == 0)
            continue;
        const char *best = oche_paper_statements_best(statements, papers[p].results);

        print_counts(table, papers[p].paper->name, &papers[p], NULL);
        for (size_t d = 0; d < statements->declared_count; d++)
            print_reading(table, "declared", statements->declared[d].reading, &papers[p]);
        if (best != NULL && !is_declared(statements, best))
            print_reading(table, "best reading", best, &papers[p]);
        rows++;
    }
    if (rows > 0) {
        oche_table_print(table, out);
        fputs("a statement holds if all claims that decide it are reproduced; one from memory is"
              " counted apart\n\n",
              out);
    }
    oche_table_free(table);
}
