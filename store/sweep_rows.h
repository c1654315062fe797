/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a sweep's open file, and functions that add rows. Only files in store/ use this. */
#ifndef OCHE_STORE_SWEEP_ROWS_H
#define OCHE_STORE_SWEEP_ROWS_H

#include <sqlite3.h>

#include "store/row.h"
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
    LIST_HASHES,
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
/* Runs a statement with these values (store/row.h); does nothing after a failure. */
void oche_sweep_add(struct oche_sweep_store *store, enum oche_sweep_statement which,
                    const struct oche_cell *cells, size_t count);

#endif
