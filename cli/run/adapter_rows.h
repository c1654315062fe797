/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for the counters of adapters, by the adapters' names (core/qp/adapter_counters.h). */
#ifndef OCHE_CLI_RUN_ADAPTER_ROWS_H
#define OCHE_CLI_RUN_ADAPTER_ROWS_H

#include "cli/run/metrics.h"
#include "lab/measures/outcome.h"
#include "params/table.h"

/*
 * Adds a row for each counter, if a run has a profile of an adapter, or if all rows are shown.
 * `begun` and the result: as for oche_scheme_rows.
 */
bool oche_adapter_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                       struct oche_rows_shown *shown, bool begun);

#endif
