/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on the terminal with the results of runs. */
#ifndef OCHE_CLI_RUN_SUMMARY_H
#define OCHE_CLI_RUN_SUMMARY_H

#include <stdio.h>

#include "lab/measures/outcome.h"

/*
 * Prints one run: tables of flows by size and of links and PAUSEs by place, then single lines.
 * `all`: also rows that are 0.
 */
void oche_summary_print(const struct oche_outcome *outcome, bool all, FILE *out);

/*
 * Prints several runs side by side: notes on them, then one row per metric, one column per run.
 * Columns that do not fit the terminal's width, or 120 characters, follow in further tables.
 * `key` is the parameter in which the runs differ. `all`: also rows that are 0 in all runs.
 * `by_size`: every percentile of each flow size.
 */
void oche_comparison_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                           bool all, bool by_size, FILE *out);

#endif
