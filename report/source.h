/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A results file that the report reads. It is opened read-only. The first error is kept, so that
 * callers need not check after every query. The file is not trusted: it may be damaged, or written
 * by another program.
 */
#ifndef OCHE_REPORT_SOURCE_H
#define OCHE_REPORT_SOURCE_H

#include <json-c/json.h>
#include <sqlite3.h>

#include "core/base.h"
#include "params/error.h"

#define OCHE_REPORT_SOURCES "oche run, oche sweep or oche reproduce" /* what writes such files */

struct oche_report_source {
    sqlite3 *database;
    const char *path; /* path of the file; owned by the caller */
    bool failed;
    struct oche_error *error; /* owned by the caller; has one line if `failed` is true */
};

/*
 * Opens the file. Returns false, with "path: …" in `error`, if it is not a database. The source
 * must be closed in either case.
 */
bool oche_report_source_open(struct oche_report_source *source, const char *path,
                             struct oche_error *error);
void oche_report_source_close(struct oche_report_source *source);

/* Keeps the error "path: what" unless an earlier error is kept. Returns false. */
bool oche_report_source_fail(struct oche_report_source *source, const char *what);

/*
 * Prepares a query. Returns NULL, and keeps the error, if that fails. oche_report_row then returns
 * true for each row; after the last row, or if reading fails, it finalizes the statement and
 * returns false.
 */
sqlite3_stmt *oche_report_query(struct oche_report_source *source, const char *sql);
bool oche_report_row(struct oche_report_source *source, sqlite3_stmt *statement);

/*
 * Return a column of the current row. A text is never NULL. A NULL in the file is "", 0 as an
 * integer, or NAN as a real number.
 */
const char *oche_report_text(sqlite3_stmt *statement, int column);
double oche_report_real(sqlite3_stmt *statement, int column);
uint64_t oche_report_u64(sqlite3_stmt *statement, int column);
static inline bool oche_report_is_null(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

/*
 * Returns true if the schema of the file is from `oldest` to `newest`; else false, with an error
 * that names `maker`, the command whose results have these schemas.
 */
bool oche_report_is_of_schema(struct oche_report_source *source, uint64_t oldest, uint64_t newest,
                              const char *maker);
/* True if a table of the file has this column. Files of older versions have fewer columns. */
bool oche_report_has_column(struct oche_report_source *source, const char *table,
                            const char *column);

/* Returns the first column of the first row as a number; 0 if there is no row. */
uint64_t oche_report_number(struct oche_report_source *source, const char *sql);
/* Returns the value of `key` in the table info (malloc'd); NULL if there is none. */
char *oche_report_info(struct oche_report_source *source, const char *key);

/* Returns the table info as {key: value}, or parameters as [[key, value, unit, given], …]. */
struct json_object *oche_report_info_json(struct oche_report_source *source);
struct json_object *oche_report_parameters_json(struct oche_report_source *source);

#endif
