/* SPDX-License-Identifier: Apache-2.0 */
/* Prints papers' statements and their verdicts. */
#ifndef OCHE_CLI_REPRODUCE_PRINT_STATEMENTS_H
#define OCHE_CLI_REPRODUCE_PRINT_STATEMENTS_H

#include <stdio.h>

#include "lab/reproduce/statements.h"

struct oche_shown_statements {
    const struct oche_paper *paper;
    const struct oche_paper_statements *statements;
    const struct oche_results *results; /* verdicts of claims */
};

struct oche_statements_style {
    bool quick;  /* the verdicts are of a quick run, and the table says so */
    bool why;    /* adds the explanations of statements that do not hold */
    bool claims; /* adds the claims that decide each statement */
};

/*
 * Prints each statement with its verdict, as judged and by each declared reading. Prints nothing if
 * there are no statements.
 */
void oche_print_statements(const struct oche_shown_statements *of,
                           const struct oche_statements_style *style, FILE *out);

/*
 * Prints how many statements of each paper hold: as judged, by each declared reading, and by the
 * best single reading if that is none of these. Statements from memory are only counted.
 */
void oche_print_statement_counts(const struct oche_shown_statements *papers, size_t count,
                                 bool quick, FILE *out);

#endif
