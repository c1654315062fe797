/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of jobs: a sentence for each, and rows in a comparison of runs. */
#ifndef OCHE_CLI_RUN_JOBS_H
#define OCHE_CLI_RUN_JOBS_H

#include <stdio.h>

#include "cli/run/rows.h"

/* Prints a sentence for each job of the run: who, how long, how fast. */
void oche_jobs_print(const struct oche_outcome *outcome, FILE *out);
/* As struct oche_row.draw. */
bool oche_job_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                   struct oche_rows_shown *shown, bool begun);

#endif
