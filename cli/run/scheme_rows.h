/* SPDX-License-Identifier: Apache-2.0 */
/* What congestion-control schemes and endpoints count themselves (core/counter.h), as text. */
#ifndef OCHE_CLI_RUN_SCHEME_ROWS_H
#define OCHE_CLI_RUN_SCHEME_ROWS_H

#include "lab/measures/outcome.h"
#include "params/table.h"

/* A row for each counter of each scheme that one of the runs has. */
void oche_scheme_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count);

/* Whether its counters tell how many packets of its own the scheme sent. */
bool oche_scheme_tells_own_packets(const struct oche_outcome *outcome);

#endif
