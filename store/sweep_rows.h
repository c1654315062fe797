/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a sweep's open file, and functions that add rows. Only files in store/ use this. */
#ifndef OCHE_STORE_SWEEP_ROWS_H
#define OCHE_STORE_SWEEP_ROWS_H

#include <sqlite3.h>

#include "store/sweep_store.h"

enum oche_sweep_statement {
    ADD_INFO,
    ADD_PARAMETER,
    ADD_AXIS,
    ADD_AXIS_VALUE,
    FORGET_VALUES,
    FORGET_METRICS,
    FORGET_DISTRIBUTIONS,
    ADD_POINT,
    ADD_POINT_VALUE,
    ADD_METRIC_NAME,
    ADD_METRIC,
    ADD_PERCENTILE,
    LIST_DONE,
    LIST_VALUES,
    ALWAYS, /* statements before ALWAYS are for every file, those after it for files of figures */
    ADD_CLAIM = ALWAYS,
    ADD_READING,
    ADD_PLOT,
    ADD_CURVE,
    ADD_CURVE_POINT,
    ADD_DIFFERENCE,
    STATEMENTS
};

struct oche_sweep_store {
    sqlite3 *database;
    sqlite3_stmt *use[STATEMENTS];
    char *path;
    int lock; /* as oche_folder_lock sets it */
    size_t axis_count;
    bool failed;
    struct oche_error error; /* the first failure, if `failed` */
};

/* Runs statements; a failure is kept, as in every function here. */
void oche_sweep_sql(struct oche_sweep_store *store, const char *sql);
/* Returns the statement, ready for its values; NULL after a failure. */
sqlite3_stmt *oche_sweep_row(struct oche_sweep_store *store, enum oche_sweep_statement which);
/* Runs the statement with the values that it has. */
void oche_sweep_end_row(struct oche_sweep_store *store, sqlite3_stmt *statement);
/*
 * Binds a text; NULL becomes "". Without memory SQLite would bind NULL: such a row is refused, or
 * left out where it may be there.
 */
void oche_sweep_bind_text(sqlite3_stmt *statement, int column, const char *text);
/* Binds a number; NAN becomes NULL. */
void oche_sweep_bind_real(sqlite3_stmt *statement, int column, double value);

#endif
