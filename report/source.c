/* SPDX-License-Identifier: Apache-2.0 */
/* Reads results files. */
#include "report/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "report/json.h"
#include "store/database.h"

bool oche_report_source_fail(struct oche_report_source *source, const char *what)
{
    if (!source->failed)
        oche_fail(source->error, "%s: %s", source->path, what);
    source->failed = true;
    return false;
}

static bool fail_of_sqlite(struct oche_report_source *source)
{
    char what[512];

    struct oche_error reason;

    if (strstr(sqlite3_errmsg(source->database), "prohibited") != NULL)
        snprintf(what, sizeof(what),
                 "has a view or a function where oche writes a table (%s); make it again",
                 sqlite3_errmsg(source->database));
    /* A table or a column is missing: the file was made by an older or newer program. */
    else if (sqlite3_errcode(source->database) == SQLITE_ERROR)
        snprintf(what, sizeof(what),
                 "was made by another version of the program (%s); make it again, or use that one",
                 sqlite3_errmsg(source->database));
    else if (sqlite3_errcode(source->database) == SQLITE_NOTADB)
        snprintf(what, sizeof(what),
                 "is not a results file (%s); move it elsewhere, or give a file "
                 "that " OCHE_REPORT_SOURCES " has written",
                 sqlite3_errmsg(source->database));
    else {
        oche_database_explain(source->database, "move it elsewhere, or make it again", &reason);
        snprintf(what, sizeof(what), "cannot be read: %.400s", reason.text);
    }
    return oche_report_source_fail(source, what);
}

bool oche_report_source_open(struct oche_report_source *source, const char *path,
                             struct oche_error *error)
{
    struct oche_error reason;

    *source = (struct oche_report_source){.path = path, .error = error};
    source->database = oche_database_read(path, &reason);
    if (source->database == NULL)
        return oche_report_source_fail(source, reason.text);
    sqlite3_busy_timeout(source->database, 2000); /* a sweep may be writing */
    return true;
}

void oche_report_source_close(struct oche_report_source *source)
{
    sqlite3_close(source->database);
    source->database = NULL;
}

sqlite3_stmt *oche_report_query(struct oche_report_source *source, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (!source->failed &&
        sqlite3_prepare_v2(source->database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_of_sqlite(source);
    return statement;
}

bool oche_report_row(struct oche_report_source *source, sqlite3_stmt *statement)
{
    if (statement == NULL)
        return false;
    int status = source->failed ? SQLITE_DONE : sqlite3_step(statement);

    if (status == SQLITE_ROW)
        return true;
    if (status != SQLITE_DONE)
        fail_of_sqlite(source);
    sqlite3_finalize(statement);
    return false;
}

const char *oche_report_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text != NULL ? text : "";
}

double oche_report_real(sqlite3_stmt *statement, int column)
{
    return oche_report_is_null(statement, column) ? NAN : sqlite3_column_double(statement, column);
}

uint64_t oche_report_u64(sqlite3_stmt *statement, int column)
{
    int64_t value = sqlite3_column_int64(statement, column);

    return value < 0 ? 0 : (uint64_t)value;
}

uint64_t oche_report_number(struct oche_report_source *source, const char *sql)
{
    sqlite3_stmt *statement = oche_report_query(source, sql);
    uint64_t value = 0;

    for (bool first = true; oche_report_row(source, statement); first = false)
        if (first)
            value = oche_report_u64(statement, 0);
    return value;
}

bool oche_report_is_of_schema(struct oche_report_source *source, uint64_t oldest, uint64_t newest,
                              const char *maker)
{
    uint64_t found = oche_report_number(source, "PRAGMA user_version");
    char what[256], others[32] = "";

    if (source->failed)
        return false;
    if (found >= oldest && found <= newest)
        return true;
    if (oldest < newest)
        snprintf(others, sizeof(others), "%llu to ", (unsigned long long)oldest);
    snprintf(what, sizeof(what),
             "is of schema %llu, and this program reads %s%llu; make it again with %s",
             (unsigned long long)found, others, (unsigned long long)newest, maker);
    return oche_report_source_fail(source, what);
}

bool oche_report_has_column(struct oche_report_source *source, const char *table,
                            const char *column)
{
    return !source->failed &&
           sqlite3_table_column_metadata(source->database, NULL, table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

char *oche_report_info(struct oche_report_source *source, const char *key)
{
    sqlite3_stmt *statement = oche_report_query(source, "SELECT value FROM info WHERE key = ?");
    char *value = NULL;

    if (statement != NULL)
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    while (oche_report_row(source, statement)) {
        free(value); /* in a file of another program a key may occur twice */
        value = strdup(oche_report_text(statement, 0));
        OCHE_GOT(value != NULL);
    }
    return value;
}

struct json_object *oche_report_info_json(struct oche_report_source *source)
{
    struct json_object *info = oche_json_object();
    sqlite3_stmt *statement = oche_report_query(source, "SELECT key, value FROM info ORDER BY key");

    while (oche_report_row(source, statement))
        oche_json_add_text(info, oche_report_text(statement, 0), oche_report_text(statement, 1));
    return info;
}

struct json_object *oche_report_parameters_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *statement =
        oche_report_query(source, "SELECT key, value, unit, given FROM parameters ORDER BY key");

    while (oche_report_row(source, statement)) {
        struct json_object *row = oche_json_array(0);

        for (int i = 0; i < 3; i++)
            oche_json_push(row, oche_json_text(oche_report_text(statement, i)));
        oche_json_push(row, oche_json_int(oche_report_u64(statement, 3) != 0));
        oche_json_push(list, row);
    }
    return list;
}
