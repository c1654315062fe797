/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of one run that have a line a size, place, kind of link or of node. */
#ifndef OCHE_CLI_RUN_COLUMNS_H
#define OCHE_CLI_RUN_COLUMNS_H

#include <stdio.h>

#include "cli/run/subjects.h"

struct oche_column {
    const char *head;
    const char *metric; /* or, where that is NULL, words: */
    const char *(*text)(const struct oche_outcome *outcome, unsigned which);
};

struct oche_columns {
    const char *head; /* of what lines are about */
    enum oche_each each;
    const char *has; /* a metric: lines without it are left out; NULL: those with nothing above 0 */
    const struct oche_column *columns;
    size_t count;
};

extern const struct oche_columns oche_size_columns, oche_place_columns, oche_waiting_columns,
    oche_pause_columns;

void oche_columns_print(const struct oche_columns *columns, const struct oche_outcome *outcome,
                        FILE *out);

/* What failures of links did: a line for the flows that lost packets so, and one for the others. */
void oche_failures_print(const struct oche_outcome *outcome, FILE *out);

#endif
