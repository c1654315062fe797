/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as rows of a table: a name, then one cell per run. The summary of a run and a comparison
 * of runs show the same numbers, because both are made here.
 */
#ifndef OCHE_CLI_RUN_METRICS_H
#define OCHE_CLI_RUN_METRICS_H

#include <stdio.h>

#include "lab/measures/outcome.h"
#include "params/table.h"

enum oche_metric_group {
    OCHE_METRICS_FLOWS,
    OCHE_METRICS_LOAD,      /* load or goodput */
    OCHE_METRICS_LIST,      /* goodput of each flow, if there are few, and of each workload */
    OCHE_METRICS_SLOWDOWNS, /* of all flows, and by size */
    OCHE_METRICS_TIMES,     /* completion times, likewise */
    OCHE_METRICS_TRAFFIC,   /* losses, retransmissions, notifications */
    OCHE_METRICS_PAUSES,
    OCHE_METRICS_DEFLECTION, /* only if a mechanism deflects */
    OCHE_METRICS_LINKS,      /* utilisation by place */
    OCHE_METRICS_MARKS,      /* ECN marks by place, and the places of waiting packets */
    OCHE_METRICS_QUEUES,
    OCHE_METRICS_RUN,
    OCHE_METRIC_GROUPS
};

/* Which rows tables print, and the number of hidden rows. */
struct oche_rows_shown {
    bool all;              /* also rows that are 0 or a dash in every column */
    bool by_size;          /* for a comparison: every percentile of each flow size */
    unsigned hidden;       /* rows that are 0 or a dash in every column */
    unsigned hidden_sizes; /* rows that `by_size` would show */
};

/*
 * Adds the group's rows to `table`, which has 1 + count columns, with a rule before them. Leaves
 * out rows of a place, size or queue that no run has. Adds nothing if the group has no rows.
 */
void oche_metric_rows(struct oche_table *table, enum oche_metric_group group,
                      const struct oche_outcome *outcomes, size_t count,
                      struct oche_rows_shown *shown);

/* Prints how many rows are hidden, if any. `runs`: number of runs in the tables. */
void oche_rows_hidden_print(const struct oche_rows_shown *shown, size_t runs, FILE *out);

/*
 * Writes a metric's value as tables show it, right-aligned in `width` columns: a percentile of too
 * few samples (lab/measures/few.h) is a dash. Returns false if the run does not have the metric.
 */
#define OCHE_CELL_BYTES 512
bool oche_metric_cell(char *cell, size_t *length, const struct oche_outcome *outcome,
                      const char *name, unsigned which, unsigned width);

#endif
