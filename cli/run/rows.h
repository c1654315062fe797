/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the tables of one or several runs: each row has metrics and a label. The values and
 * their format come from the metrics (lab/measures/metrics.h).
 */
#ifndef OCHE_CLI_RUN_ROWS_H
#define OCHE_CLI_RUN_ROWS_H

#include "cli/run/metrics.h"
#include "cli/run/subjects.h"

#define OCHE_ROW_METRICS 5

/* How a row's metrics are combined in a cell. */
enum oche_row_cell {
    OCHE_CELL_BESIDE, /* side by side; the cell is empty if one of them is missing */
    OCHE_CELL_PART,   /* the first metric as a fraction of the second: "3 of 12" */
    OCHE_CELL_SUM
};

enum oche_row_shown {
    OCHE_SHOWN_ALWAYS,
    OCHE_SHOWN_IF_KNOWN /* only if at least one run has one of the metrics */
};

struct oche_row {
    enum oche_metric_group group;
    const char *label; /* begin of the row's name, before the subject's name */
    const char *metrics[OCHE_ROW_METRICS];
    /*
     * Title above the row. `parts` name the metrics. One run has all parts side by side, in one
     * row. With several runs each part has a row, so columns are narrow. Below a title for each
     * part are all subjects. If `by_subject`, below a title for each subject are all parts.
     */
    const char *title;
    const char *parts[OCHE_ROW_METRICS];
    const char *after;      /* end of the row's name, after the subject's name */
    const char *after_host; /* end of the name for the tier of hosts; NULL: as `after` */
    enum oche_each each;
    enum oche_row_cell cell;
    unsigned widths[2]; /* minimum width of the first figure in a cell, and of the others */
    enum oche_row_shown shown;
    const char *where;   /* the row is shown only if this metric is above 0 in at least one run */
    const char *samples; /* metric whose value is shown beside the row's name, as "n 812" */
    bool zero_tells;     /* the row is shown even if it is 0 in all runs */
    bool by_subject;
    bool by_size; /* the row is shown only if rows by flow size are asked for */
    /*
     * the row is shown only if this returns true for at least one run; for `only_each`, at least
     * one run and this subject
     */
    bool (*only)(const struct oche_outcome *outcome);
    bool (*only_each)(const struct oche_outcome *outcome, unsigned which);
    /*
     * `text`: writes a cell (OCHE_CELL_BYTES) with a text instead of metrics. `note`: returns words
     * that follow the figures.
     */
    void (*text)(char *cell, const struct oche_outcome *outcome);
    const char *(*note)(const struct oche_outcome *outcome, unsigned which);
    /*
     * Draws rows of its own. Then all other members except `group` are not used. `begun`: the group
     * has rows already. Returns true if it has now.
     */
    bool (*draw)(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                 struct oche_rows_shown *shown, bool begun);
};

extern const struct oche_row oche_rows[];
extern const size_t oche_row_count;

#endif
