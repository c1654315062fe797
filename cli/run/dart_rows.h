/* SPDX-License-Identifier: Apache-2.0 */
/* What Dart's shares and look-ahead came to, as rows of a table; of one run or of several. */
#ifndef OCHE_CLI_RUN_DART_ROWS_H
#define OCHE_CLI_RUN_DART_ROWS_H

#include "lab/measures/outcome.h"
#include "params/table.h"

/* Adds the rows where some run's scheme is dart; other runs' cells say that there is no such. */
void oche_dart_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count);

#endif
