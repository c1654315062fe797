/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as rows of a table: a name, then a cell for each of one or more runs. A run's summary and
 * a comparison show the same numbers, because both come from here.
 */
#ifndef OCHE_CLI_RUN_METRICS_H
#define OCHE_CLI_RUN_METRICS_H

#include "lab/measures/outcome.h"
#include "params/table.h"

enum oche_metric_group {
    OCHE_METRICS_FLOWS,
    OCHE_METRICS_TIMES,     /* completion times by size */
    OCHE_METRICS_SLOWDOWNS, /* by size */
    OCHE_METRICS_LIST,      /* goodput of each flow, if there are few; and by workload */
    OCHE_METRICS_TRAFFIC,   /* goodput, losses, retransmissions, notifications */
    OCHE_METRICS_LINKS,     /* utilisation by place */
    OCHE_METRICS_MARKS,     /* by place */
    OCHE_METRICS_PAUSES,
    OCHE_METRICS_DEFLECTION, /* if a mechanism deflects */
    OCHE_METRICS_QUEUES,
    OCHE_METRICS_RUN,
    OCHE_METRIC_GROUPS
};

/*
 * Adds the group's rows to `table`, which has 1 + count columns. A row of a place, size or queue
 * that no run has is left out; a group without rows adds nothing; otherwise a rule precedes it.
 */
void oche_metric_rows(struct oche_table *table, enum oche_metric_group group,
                      const struct oche_outcome *outcomes, size_t count);

#endif
