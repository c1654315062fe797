/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for the counters of congestion-control schemes and endpoints (core/counter.h). */
#ifndef OCHE_CLI_RUN_SCHEME_ROWS_H
#define OCHE_CLI_RUN_SCHEME_ROWS_H

#include "cli/run/metrics.h"
#include "lab/measures/outcome.h"
#include "params/table.h"

/*
 * Adds rows for each counter of each scheme that at least one run uses: the count and, for counters
 * of packets, their shares. `begun`: there are rows above, so no rule is needed. Returns true if
 * there are rows now.
 */
bool oche_scheme_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                      struct oche_rows_shown *shown, bool begun);

/* True if the scheme's counters include the packets that it sent on its own. */
bool oche_scheme_tells_own_packets(const struct oche_outcome *outcome);

#endif
