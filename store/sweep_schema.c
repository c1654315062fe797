/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades a sweep's file from an older schema to the current one. */
#include "store/sweep_schema.h"

#include <stdio.h>

#include "store/sweep.sql.h"
#include "store/sweep_store.h"

static bool run(sqlite3 *database, const char *sql)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Adds a column unless it exists. */
static bool add_column(sqlite3 *database, const char *table, const char *column, const char *type)
{
    char sql[160];

    if (sqlite3_table_column_metadata(database, NULL, table, column, NULL, NULL, NULL, NULL,
                                      NULL) == SQLITE_OK)
        return true;
    snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN %s %s", table, column, type);
    return run(database, sql);
}

/* Gives a figure the table of plots, and its claims the columns of later files of schema 1. */
static bool to_schema_2(sqlite3 *database)
{
    return run(database, plots_schema) &&
           add_column(database, "curves", "plot", "INTEGER NOT NULL DEFAULT 1") &&
           add_column(database, "claims", "interval", "TEXT NOT NULL DEFAULT ''") &&
           add_column(database, "claims", "unsure", "INTEGER NOT NULL DEFAULT 0") &&
           run(database, move_plot);
}

static bool to_schema_3(sqlite3 *database)
{
    return add_column(database, "claims", "source", "TEXT NOT NULL DEFAULT ''");
}

bool oche_sweep_upgrade(sqlite3 *database, int64_t version, bool figure)
{
    char now[64];

    snprintf(now, sizeof(now), "PRAGMA user_version = %d; COMMIT", OCHE_SWEEP_SCHEMA);
    return run(database, "BEGIN IMMEDIATE") && (!figure || version >= 2 || to_schema_2(database)) &&
           (!figure || version >= 3 || to_schema_3(database)) && run(database, now);
}
