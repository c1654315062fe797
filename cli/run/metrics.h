/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as rows of a table: a name, then one cell per run. The summary of a run and a comparison
 * of runs show the same numbers, because both are made here.
 */
#ifndef OCHE_CLI_RUN_METRICS_H
#define OCHE_CLI_RUN_METRICS_H

#include "lab/measures/outcome.h"
#include "params/table.h"

enum oche_metric_group {
    OCHE_METRICS_FLOWS,
    OCHE_METRICS_TIMES,     /* completion times by size */
    OCHE_METRICS_SLOWDOWNS, /* slowdowns by size */
    OCHE_METRICS_LIST,      /* goodput of each flow, if there are few, and of each workload */
    OCHE_METRICS_TRAFFIC,   /* goodput, losses, retransmissions, notifications */
    OCHE_METRICS_LINKS,     /* utilisation by place */
    OCHE_METRICS_MARKS,     /* ECN marks by place */
    OCHE_METRICS_PAUSES,
    OCHE_METRICS_DEFLECTION, /* only if a mechanism deflects */
    OCHE_METRICS_QUEUES,
    OCHE_METRICS_RUN,
    OCHE_METRIC_GROUPS
};

/*
 * Adds the group's rows to `table`, which has 1 + count columns, with a rule before them. Leaves
 * out the rows of a place, size or queue that no run has. Adds nothing if the group has no rows.
 */
void oche_metric_rows(struct oche_table *table, enum oche_metric_group group,
                      const struct oche_outcome *outcomes, size_t count);

#endif
