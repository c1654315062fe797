/* SPDX-License-Identifier: Apache-2.0 */
/* What failures of links did, as text: of one run, and of several side by side. */
#ifndef OCHE_CLI_RUN_FAILURE_ROWS_H
#define OCHE_CLI_RUN_FAILURE_ROWS_H

#include <stdio.h>

#include "lab/measures/outcome.h"
#include "params/table.h"

/* Which links, when; the flows that lost packets so, beside the others. */
void oche_failures_print(const struct oche_failures_outcome *failures, FILE *out);
/* Rows of what was lost, where a link fails in some run. */
void oche_failure_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count);

#endif
