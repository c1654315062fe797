/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the findings on the terminal. */
#ifndef OCHE_CLI_REPRODUCE_PRINT_H
#define OCHE_CLI_REPRODUCE_PRINT_H

#include <stdio.h>

#include "lab/reproduce/findings.h"

/*
 * Prints a figure's claims one by one, the number of claims with each verdict, explanations, and
 * the results in other readings.
 */
void oche_reproduce_print(const struct oche_findings *findings, const char *tolerances_commit,
                          FILE *out);

/* Prints a text in lines of at most 100 columns, indented. */
void oche_print_paragraph(const char *text, FILE *out);
/* Prints a text as an item of a list, in lines of at most 100 columns. */
void oche_print_item(const char *text, FILE *out);

#endif
