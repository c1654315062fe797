/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of one run with one line per size, place, kind of link or kind of node. */
#ifndef OCHE_CLI_RUN_COLUMNS_H
#define OCHE_CLI_RUN_COLUMNS_H

#include <stdio.h>

#include "cli/run/metrics.h"
#include "cli/run/subjects.h"

struct oche_column {
    const char *head;
    /* metric in this column; NULL: the column has the words that `text` returns */
    const char *metric;
    const char *(*text)(const struct oche_outcome *outcome, unsigned which);
};

struct oche_columns {
    const char *head; /* heading of the first column */
    enum oche_each each;
    const char
        /*
         * lines without this metric are left out; NULL: lines without a value above 0 are left out
         */
        *has;
    const struct oche_column *columns;
    size_t count;
};

/* Columns by place: utilisation over the measured time, and until arrivals stop. */
extern const struct oche_columns oche_size_columns, oche_place_columns, oche_load_columns,
    oche_waiting_columns, oche_pause_columns;

void oche_columns_print(const struct oche_columns *columns, const struct oche_outcome *outcome,
                        struct oche_rows_shown *shown, FILE *out);

/* Prints the effects of link failures: one line for flows that lost packets, one for the others. */
void oche_failures_print(const struct oche_outcome *outcome, FILE *out);

#endif
