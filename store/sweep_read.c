/* SPDX-License-Identifier: Apache-2.0 */
/* Reads back the stored data of one point. */
#include <math.h>
#include <stdlib.h>

#include "store/sweep_rows.h"

static double real_of(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(statement, column);
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);

    return text != NULL ? (const char *)text : "";
}

/* Returns the query, bound to the point, or NULL. */
static sqlite3_stmt *ask(struct oche_sweep_store *store, const char *query, size_t point)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(store->database, query, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_int64(statement, 1, (int64_t)point);
    return statement;
}

/*
 * Calls `row` for each row of the answer. Returns false if there is no row, or not all can be read.
 */
static bool each(struct oche_sweep_store *store, const char *query, size_t point,
                 void (*row)(sqlite3_stmt *, const struct oche_sweep_reader *),
                 const struct oche_sweep_reader *reader, size_t *count)
{
    sqlite3_stmt *statement = ask(store, query, point);
    int step = SQLITE_ERROR;

    *count = 0;
    while (statement != NULL && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        row(statement, reader);
        ++*count;
    }
    sqlite3_finalize(statement);
    return step == SQLITE_DONE;
}

static void read_head(sqlite3_stmt *row, const struct oche_sweep_reader *reader)
{
    /* as it was stored: a large number as text */
    const uint64_t seed = strtoull(text_of(row, 0), NULL, 10);

    reader->head(reader->context, seed, strtoull(text_of(row, 1), NULL, 16), real_of(row, 2));
}

static void read_metric(sqlite3_stmt *row, const struct oche_sweep_reader *reader)
{
    reader->metric(reader->context, text_of(row, 0), text_of(row, 1), real_of(row, 2));
}

static void read_percentile(sqlite3_stmt *row, const struct oche_sweep_reader *reader)
{
    reader->percentile(reader->context, text_of(row, 0), text_of(row, 1),
                       (uint64_t)sqlite3_column_int64(row, 2),
                       (uint32_t)sqlite3_column_int64(row, 3), real_of(row, 4));
}

bool oche_sweep_store_read(struct oche_sweep_store *store, size_t point,
                           const struct oche_sweep_reader *reader)
{
    size_t heads, rows;

    return each(store,
                "SELECT seed, trace_hash, wall_s FROM points WHERE id = ? AND status = 'done'",
                point, read_head, reader, &heads) &&
           heads == 1 &&
           each(store,
                "SELECT name, unit, value FROM metrics JOIN metric_names USING (name)"
                " WHERE point = ? ORDER BY name",
                point, read_metric, reader, &rows) &&
           each(store,
                "SELECT name, unit, samples, thousandth, value FROM distributions"
                " WHERE point = ? ORDER BY name, thousandth",
                point, read_percentile, reader, &rows);
}
