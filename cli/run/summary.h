/* SPDX-License-Identifier: Apache-2.0 */
/* What a run came to, for people: tables on the terminal. */
#ifndef OCHE_CLI_RUN_SUMMARY_H
#define OCHE_CLI_RUN_SUMMARY_H

#include <stdio.h>

#include "lab/measures/outcome.h"

/* One run: flows by size, links and PAUSEs by place, the rest line by line. */
void oche_summary_print(const struct oche_outcome *outcome, FILE *out);

/* Several runs side by side: a row a metric, a column a run. `key` is what differs. */
void oche_comparison_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                           FILE *out);

#endif
