/* SPDX-License-Identifier: Apache-2.0 */
#include "store/json.h"

#include <sqlite3.h>
#include <string.h>

#include "params/printable.h"
#include "store/json.sql.h"
#include "store/database.h"
#include "store/functions.h"

static bool has_table(sqlite3 *database, const char *table)
{
    return sqlite3_table_column_metadata(database, NULL, table, NULL, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* Returns the query for the kind of file, or NULL. */
static const char *query_of(sqlite3 *database)
{
    static const struct {
        const char *table, *query;
    } kinds[] = {{"claims", figure_json}, {"points", sweep_json}, {"flows", run_json}};
    const char *query = NULL;

    for (size_t i = 0; i < OCHE_COUNT_OF(kinds) && query == NULL; i++)
        if (has_table(database, kinds[i].table))
            query = kinds[i].query;
    return query;
}

static void fail_of_sqlite(sqlite3 *database, const char *path, struct oche_error *error)
{
    struct oche_error reason;

    oche_database_explain(database, "make it again", &reason);
    oche_fail(error, "%s: %s", path, reason.text);
}

static int length_of(const char *query)
{
    return (int)strcspn(query, ";");
}

/* Writes the object with `path` and, of a run with jobs, these as further members. */
static bool write_object(sqlite3 *database, const char *query, const char *path, FILE *out,
                         struct oche_error *error)
{
    const bool jobs = strcmp(query, run_json) == 0 && has_table(database, "job_phases");
    char *whole =
        jobs ? sqlite3_mprintf("SELECT json_set((%.*s), '$.results', ?, '$.jobs', (%.*s))",
                               length_of(query), query, length_of(jobs_json), jobs_json)
             : sqlite3_mprintf("SELECT json_set((%.*s), '$.results', ?)", length_of(query), query);
    sqlite3_stmt *statement = NULL;
    bool ok = whole != NULL &&
              sqlite3_prepare_v2(database, whole, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;

    if (ok)
        oche_printable_json((const char *)sqlite3_column_text(statement, 0), out);
    else
        fail_of_sqlite(database, path, error);
    sqlite3_finalize(statement);
    sqlite3_free(whole);
    return ok;
}

bool oche_results_json(const char *path, FILE *out, struct oche_error *error)
{
    struct oche_error reason;
    sqlite3 *database = oche_database_read(path, &reason);
    bool ok = database != NULL && oche_add_functions(database);

    if (!ok) {
        oche_fail(error, "%s: %s", path, database != NULL ? sqlite3_errmsg(database) : reason.text);
    } else {
        const char *query = query_of(database);

        ok = query != NULL ? write_object(database, query, path, out, error)
                           : oche_fail(error, "%s: has no results of oche", path);
    }
    sqlite3_close(database);
    return ok;
}
