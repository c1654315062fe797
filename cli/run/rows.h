/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the table of one run or several: which metrics, under which label. What the numbers
 * are and how they look is the metrics' own (lab/measures/metrics.h).
 */
#ifndef OCHE_CLI_RUN_ROWS_H
#define OCHE_CLI_RUN_ROWS_H

#include "cli/run/metrics.h"
#include "cli/run/subjects.h"

#define OCHE_ROW_METRICS 5

/* What becomes of a row's metrics in a cell. */
enum oche_row_cell {
    OCHE_CELL_BESIDE, /* one beside the other; none if one of them is missing */
    OCHE_CELL_PART,   /* "3 of 12" */
    OCHE_CELL_SUM
};

enum oche_row_shown {
    OCHE_SHOWN_ALWAYS,
    OCHE_SHOWN_IF_KNOWN, /* if some run has one of the metrics */
    OCHE_SHOWN_IF_ANY    /* if one of them is above 0 in some run */
};

struct oche_row {
    enum oche_metric_group group;
    const char *label; /* before the subject's name */
    const char *metrics[OCHE_ROW_METRICS];
    const char *title; /* before the row, after a line across; "": the line alone */
    const char *after; /* the subject's name, in the label */
    enum oche_each each;
    enum oche_row_cell cell;
    unsigned widths[2]; /* at least, of the first figure in a cell and of the others */
    enum oche_row_shown shown;
    const char *where; /* only if this metric is above 0 in some run */
    bool (*only)(const struct oche_outcome *outcome); /* only if this is so of some run */
    /* Instead of metrics: words, or what no metric is; and what stands after the figures. */
    void (*text)(struct oche_table *table, const struct oche_outcome *outcome);
    const char *(*note)(const struct oche_outcome *outcome, unsigned which);
    /* Instead of all that: rows of its own. */
    void (*draw)(struct oche_table *table, const struct oche_outcome *outcomes, size_t count);
};

extern const struct oche_row oche_rows[];
extern const size_t oche_row_count;

#endif
