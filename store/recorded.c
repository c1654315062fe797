/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "core/base.h"
#include "params/input_file.h"
#include "store/database.h"

bool oche_is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char begins[sizeof(magic)];
    FILE *file = oche_input_is_regular(path) ? fopen(path, "rb") : NULL; /* a pipe stays whole */

    if (file == NULL)
        return false;
    bool is = fread(begins, 1, sizeof(begins), file) == sizeof(begins) &&
              memcmp(begins, magic, sizeof(magic)) == 0;

    fclose(file);
    return is;
}

static char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    char *copy = strdup(text != NULL ? text : "");

    OCHE_GOT(copy != NULL);
    return copy;
}

static bool has_table(sqlite3 *database, const char *table)
{
    return sqlite3_table_column_metadata(database, NULL, table, NULL, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static void take_info(struct oche_recorded *recorded, sqlite3_stmt *row)
{
    const struct {
        const char *key;
        char **to;
    } members[] = {{"program", &recorded->program},
                   {"scenario_file", &recorded->scenario_file},
                   {"scenario_text", &recorded->scenario_text},
                   {"status", &recorded->status},
                   {"trace_hash", &recorded->trace_hash},
                   {"until_stable", &recorded->until_stable},
                   {"until_stable_within", &recorded->within}};
    const char *key = (const char *)sqlite3_column_text(row, 0);

    for (size_t i = 0; key != NULL && i < OCHE_COUNT_OF(members); i++)
        if (strcmp(key, members[i].key) == 0 && *members[i].to == NULL)
            *members[i].to = text_of(row, 1);
}

static void take_override(struct oche_recorded *recorded, sqlite3_stmt *row)
{
    recorded->overrides =
        realloc(recorded->overrides, (recorded->override_count + 1) * sizeof(*recorded->overrides));
    OCHE_GOT(recorded->overrides != NULL);
    recorded->overrides[recorded->override_count++] = text_of(row, 0);
}

static void take_file(struct oche_recorded *recorded, sqlite3_stmt *row)
{
    recorded->files =
        realloc(recorded->files, (recorded->file_count + 1) * sizeof(*recorded->files));
    OCHE_GOT(recorded->files != NULL);
    recorded->files[recorded->file_count++] = (struct oche_recorded_file){
        .key = text_of(row, 0), .path = text_of(row, 1), .digest = text_of(row, 2)};
}

/* Calls `take` for each row of the query. Returns false if the database cannot be read. */
static bool each_row(sqlite3 *database, const char *query, struct oche_recorded *recorded,
                     void (*take)(struct oche_recorded *, sqlite3_stmt *))
{
    sqlite3_stmt *row = NULL;
    int status = sqlite3_prepare_v2(database, query, -1, &row, NULL);

    if (status == SQLITE_OK)
        while ((status = sqlite3_step(row)) == SQLITE_ROW)
            take(recorded, row);
    sqlite3_finalize(row);
    return status == SQLITE_DONE;
}

static bool fail_of_sqlite(sqlite3 *database, const char *path, struct oche_error *error)
{
    struct oche_error reason;

    oche_database_explain(database, "give a scenario, or a run.sqlite that is whole", &reason);
    return oche_fail(error, "%s: cannot be read: %s", path, reason.text);
}

static bool read_tables(struct oche_recorded *recorded, sqlite3 *database, const char *path,
                        struct oche_error *error)
{
    if (sqlite3_exec(database, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) !=
        SQLITE_OK)
        return fail_of_sqlite(database, path, error);
    if (has_table(database, "points") || !has_table(database, "flows"))
        return oche_fail(error, "%s: is not a run's results; give a scenario, or a run.sqlite",
                         path);
    if (!has_table(database, "overrides") || !has_table(database, "files"))
        return oche_fail(error,
                         "%s: was made by an earlier version, which did not record --set; its "
                         "command and its scenario's text are in the table info",
                         path);
    if (!each_row(database, "SELECT key, value FROM info", recorded, take_info) ||
        !each_row(database, "SELECT assignment FROM overrides ORDER BY position", recorded,
                  take_override) ||
        !each_row(database, "SELECT key, path, digest FROM files", recorded, take_file))
        return fail_of_sqlite(database, path, error);
    if (recorded->program == NULL || recorded->scenario_file == NULL || recorded->status == NULL ||
        recorded->scenario_text == NULL || recorded->trace_hash == NULL)
        return oche_fail(error, "%s: is damaged: its table info is not whole", path);
    return true;
}

bool oche_recorded_read(struct oche_recorded *recorded, const char *path, struct oche_error *error)
{
    struct oche_error reason;
    sqlite3 *database = oche_database_read(path, &reason);
    bool ok;

    *recorded = (struct oche_recorded){.program = NULL};
    if (database != NULL)
        ok = read_tables(recorded, database, path, error);
    else
        ok = oche_fail(error, "%s: cannot be read: %s", path, reason.text);
    sqlite3_close(database);
    if (!ok)
        oche_recorded_free(recorded);
    return ok;
}

void oche_recorded_free(struct oche_recorded *recorded)
{
    for (size_t i = 0; i < recorded->override_count; i++)
        free(recorded->overrides[i]);
    for (size_t i = 0; i < recorded->file_count; i++) {
        free(recorded->files[i].key);
        free(recorded->files[i].path);
        free(recorded->files[i].digest);
    }
    free(recorded->overrides);
    free(recorded->files);
    free(recorded->program);
    free(recorded->scenario_file);
    free(recorded->scenario_text);
    free(recorded->status);
    free(recorded->trace_hash);
    free(recorded->until_stable);
    free(recorded->within);
    *recorded = (struct oche_recorded){.program = NULL};
}
