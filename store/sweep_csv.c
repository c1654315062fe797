/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes two files: points, with a column for each axis, for its number, and for each metric; and
 * metrics, one per row.
 */
#include "store/sweep_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/csv.h"
#include "store/functions.h"

/*
 * Returns the SQL text ", (…) AS "KEY"" for each axis, which selects the axis' value at point p.id.
 * `function` is applied to the value, and `end` added to the key. The caller frees the text with
 * sqlite3_free. If not all keys can be read, `why` says so.
 */
static char *axis_columns(sqlite3 *database, size_t axis_count, const char *function,
                          const char *end, struct oche_error *why)
{
    char *columns = sqlite3_mprintf("");
    sqlite3_stmt *keys = NULL;
    size_t axis = 0;

    sqlite3_prepare_v2(database, "SELECT key FROM axes ORDER BY id", -1, &keys, NULL);
    for (; axis < axis_count && sqlite3_step(keys) == SQLITE_ROW; axis++)
        columns = sqlite3_mprintf(
            "%z, (SELECT %s(v.value) FROM point_values w JOIN axis_values v ON v.axis = w.axis AND"
            " v.number = w.number WHERE w.point = p.id AND w.axis = %d) AS \"%w%s\"",
            columns, function, (int)axis, sqlite3_column_text(keys, 0), end);
    if (axis < axis_count)
        oche_fail(why, "%s", sqlite3_errmsg(database));
    sqlite3_finalize(keys);
    return columns;
}

/*
 * Returns likewise ", (…) AS "METRIC"" for each metric, up to SQLite's limit of columns;
 * metrics.csv has all.
 */
#define MOST_METRIC_COLUMNS 1900
static char *metric_columns(sqlite3 *database, struct oche_error *why)
{
    sqlite3_str *columns = sqlite3_str_new(database);
    sqlite3_stmt *names = NULL;
    int status = SQLITE_ROW;

    sqlite3_str_appendall(columns, " "); /* an empty text would be NULL */
    sqlite3_prepare_v2(database, "SELECT name FROM metric_names ORDER BY name", -1, &names, NULL);
    for (int i = 0; i < MOST_METRIC_COLUMNS && status == SQLITE_ROW; i++) {
        status = sqlite3_step(names);
        if (status == SQLITE_ROW)
            sqlite3_str_appendf(columns,
                                ", (SELECT value FROM metrics WHERE point = p.id AND name = %Q)"
                                " AS \"%w\"",
                                sqlite3_column_text(names, 0), sqlite3_column_text(names, 0));
    }
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        oche_fail(why, "%s", sqlite3_errmsg(database));
    sqlite3_finalize(names);
    return sqlite3_str_finish(columns);
}

bool oche_sweep_csv_write(sqlite3 *database, size_t axis_count, const char *folder,
                          struct oche_error *error)
{
    struct oche_error why = {""};
    char *axes = axis_columns(database, axis_count, "", "", &why);
    char *numbers = axis_columns(database, axis_count, "number_of", ".number", &why),
         *metrics = metric_columns(database, &why);
    const struct {
        const char *name;
        char *query;
    } files[] = {
        {"points.csv", sqlite3_mprintf("SELECT p.id AS point%s, p.repeat, p.seed, p.status,"
                                       " p.error, p.wall_s, p.trace_hash%s%s FROM points p"
                                       " ORDER BY p.id",
                                       axes, numbers, metrics)},
        {"metrics.csv",
         sqlite3_mprintf("SELECT p.id AS point%s, p.repeat, p.seed, m.name, n.unit, m.value FROM"
                         " points p JOIN metrics m ON m.point = p.id JOIN metric_names n ON"
                         " n.name = m.name ORDER BY p.id, m.name",
                         axes)},
    };
    bool ok = why.text[0] == '\0'
                  ? oche_add_functions(database) ||
                        oche_fail(error, "%s: %s", folder, sqlite3_errmsg(database))
                  : oche_fail(error, "%s: the results cannot be read: %s", folder, why.text);

    for (size_t i = 0; i < OCHE_COUNT_OF(files); i++) {
        char *path = NULL;

        OCHE_GOT(files[i].query != NULL && asprintf(&path, "%s/%s", folder, files[i].name) >= 0);
        ok = ok && oche_csv_write(database, files[i].query, path, error);
        free(path);
        sqlite3_free(files[i].query);
    }
    sqlite3_free(axes);
    sqlite3_free(numbers);
    sqlite3_free(metrics);
    return ok;
}
