/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A results file as the report reads it: read-only, and keeping the first error, so that a reader
 * need not check after every query. A file is not trusted: it may be damaged, or not ours.
 */
#ifndef OCHE_REPORT_SOURCE_H
#define OCHE_REPORT_SOURCE_H

#include <json-c/json.h>
#include <sqlite3.h>

#include "core/base.h"
#include "params/error.h"

struct oche_report_source {
    sqlite3 *database;
    const char *path; /* the caller's */
    bool failed;
    struct oche_error *error; /* the caller's; one line once `failed` */
};

/*
 * Returns false, with "path: …" in `error`, if there is no database; must be closed in either case.
 */
bool oche_report_source_open(struct oche_report_source *source, const char *path,
                             struct oche_error *error);
void oche_report_source_close(struct oche_report_source *source);

/* Keeps an error if it is the first: "path: what is wrong". Returns false. */
bool oche_report_source_fail(struct oche_report_source *source, const char *what);

/*
 * Prepares a query; NULL if it cannot be made (the error is then kept). oche_report_row steps it:
 * it returns true for a row; at the end, or if reading fails, it finalizes the statement and
 * returns false.
 */
sqlite3_stmt *oche_report_query(struct oche_report_source *source, const char *sql);
bool oche_report_row(struct oche_report_source *source, sqlite3_stmt *statement);

/*
 * Read columns of the current row: text is never NULL; numbers are 0 if there is none, NAN for
 * NULL.
 */
const char *oche_report_text(sqlite3_stmt *statement, int column);
double oche_report_real(sqlite3_stmt *statement, int column);
uint64_t oche_report_u64(sqlite3_stmt *statement, int column);
static inline bool oche_report_is_null(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

/*
 * True if the file is of one of these schemas; if not, there is an error that names what made it.
 */
bool oche_report_is_of_schema(struct oche_report_source *source, uint64_t oldest, uint64_t newest,
                              const char *maker);
/* True if a table of the file has this column; older files have fewer. */
bool oche_report_has_column(struct oche_report_source *source, const char *table,
                            const char *column);

/* Returns the first column of the first row; 0 if there is none. */
uint64_t oche_report_number(struct oche_report_source *source, const char *sql);
/* Returns info's value of `key` (malloc'd); NULL if there is none. */
char *oche_report_info(struct oche_report_source *source, const char *key);

/* The tables info and parameters: {key: value} and [[key, value, unit, given], …]. */
struct json_object *oche_report_info_json(struct oche_report_source *source);
struct json_object *oche_report_parameters_json(struct oche_report_source *source);

#endif
