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

/*
 * Prints a text in lines of at most 100 columns, after `indent` spaces; in the first line `first`
 * ends where the spaces would. Both are at most `indent` columns wide.
 */
void oche_print_hanging(const char *first, const char *text, unsigned indent, FILE *out);
/* Prints a text as an item of a list, in lines of at most 100 columns. */
void oche_print_item(const char *text, FILE *out);

#endif
