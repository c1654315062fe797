/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paper's main statements, from papers/PAPER/statements.yaml. Each statement names the claims of
 * figures that decide it. A paper without the file has no statements.
 *
 *     statements             name, text, place, published, source, decided_by, explanation
 *     declared               readings that the paper's text supports as a whole: reading, because
 *
 * By a reading, each claim that was measured under it has the verdict that it has there; all other
 * claims have the judged one.
 */
#ifndef OCHE_LAB_REPRODUCE_STATEMENTS_H
#define OCHE_LAB_REPRODUCE_STATEMENTS_H

#include "lab/reproduce/paper.h"
#include "lab/reproduce/results_file.h"

struct oche_statement_claim {
    const char *figure, *claim;
    const struct oche_yaml *node; /* where it is named */
};

struct oche_statement {
    const char *name, *text, *place;
    const char *published;   /* the paper's value, in words */
    const char *explanation; /* or NULL */
    enum oche_source source; /* never OCHE_SOURCE_OWN */
    struct oche_statement_claim *claims;
    size_t claim_count;
};

struct oche_declared {
    const char *reading, *because;
    const struct oche_yaml *node;
};

struct oche_paper_statements {
    struct oche_document *document; /* owns everything below; NULL: the paper has no such file */
    struct oche_statement *all;
    size_t count;
    struct oche_declared *declared;
    size_t declared_count;
};

/* Reads the paper's statements.yaml. Returns false, with one line in `error`, on failure. */
bool oche_paper_statements_open(struct oche_paper_statements *statements,
                                const struct oche_paper *paper, struct oche_error *error);
/* As oche_paper_statements_open, but reads `text` as if it were the file `path`. */
bool oche_paper_statements_parse(struct oche_paper_statements *statements,
                                 const struct oche_paper *paper, const char *path, const char *text,
                                 struct oche_error *error);
void oche_paper_statements_close(struct oche_paper_statements *statements);

/*
 * Checks the statements against figures. Each figure that is named and that is among `studies` must
 * have the claim. No claim may be this project's own; a claim from memory may decide only a
 * statement from memory. If `studies` are all figures of the paper, some figure must have each
 * declared reading. Returns false, with an error, if one of these fails.
 */
bool oche_paper_statements_check(const struct oche_paper_statements *statements,
                                 const struct oche_study *const *studies, size_t count,
                                 const struct oche_paper *paper, struct oche_error *error);

/* Returns the claim's line by the reading, or its judged line; NULL: there is neither. */
const struct oche_result_line *oche_statement_line(const struct oche_results *results,
                                                   const struct oche_statement_claim *claim,
                                                   const char *reading);

enum oche_statement_finding {
    OCHE_STATEMENT_HOLDS,        /* all its claims are reproduced */
    OCHE_STATEMENT_IN_SHAPE,     /* all are reproduced or in shape */
    OCHE_STATEMENT_NOT,          /* some claim is not reproduced */
    OCHE_STATEMENT_NOT_MEASURED, /* else some claim has no data */
    OCHE_STATEMENT_NOT_JUDGED,   /* else some claim has no verdict, as it is about something else */
    OCHE_STATEMENT_FINDINGS
};
const char *oche_statement_finding_name(enum oche_statement_finding finding);

struct oche_statement_verdict {
    enum oche_statement_finding finding;
    bool unsure; /* claims with a question mark may change it */
};

/* Judges a statement by the verdicts of claims; `reading`: a label, or NULL for the judged one. */
struct oche_statement_verdict oche_statement_judge(const struct oche_statement *statement,
                                                   const struct oche_results *results,
                                                   const char *reading);

/* True if some claim that decides the statement was measured under the reading. */
bool oche_statement_reads(const struct oche_statement *statement,
                          const struct oche_results *results, const char *reading);

/*
 * Numbers of verdicts. Statements from memory, as the paper's text was not at hand, are counted
 * apart.
 */
struct oche_statement_tally {
    size_t count[OCHE_STATEMENT_FINDINGS], from_memory[OCHE_STATEMENT_FINDINGS];
};

struct oche_statement_tally
oche_paper_statements_count(const struct oche_paper_statements *statements,
                            const struct oche_results *results, const char *reading);
/* Returns how many statements have a verdict: they hold, are in shape, or do not hold. */
size_t oche_paper_statements_judged(const struct oche_statement_tally *tally);
/* Returns how many of these hold or are in shape. */
size_t oche_paper_statements_good(const struct oche_statement_tally *tally);

/*
 * Returns the label of the reading under which most statements hold or are in shape; of several
 * equal ones, the one under which most hold, then the first of the results. NULL: none does better
 * than the judged one. The label belongs to the results.
 */
const char *oche_paper_statements_best(const struct oche_paper_statements *statements,
                                       const struct oche_results *results);

#endif
