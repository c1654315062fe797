/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a sweep's file, and how one of schema 1 becomes one of today. */
#include "store/sweep_schema.h"

#include <stdio.h>

#include "store/sweep_store.h"

#define PLOTS                                                                                      \
    "CREATE TABLE plots (id INTEGER PRIMARY KEY, title TEXT NOT NULL, x_name TEXT NOT NULL,"       \
    " x_scale TEXT NOT NULL, y_name TEXT NOT NULL, y_scale TEXT NOT NULL);"

const char oche_sweep_schema[] =
    "CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE parameters (key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL,"
    " given INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE axes (id INTEGER PRIMARY KEY, key TEXT NOT NULL);"
    "CREATE TABLE axis_values (axis INTEGER NOT NULL REFERENCES axes, number INTEGER NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY (axis, number)) WITHOUT ROWID;"
    "CREATE TABLE points (id INTEGER PRIMARY KEY, repeat INTEGER NOT NULL, seed NOT NULL,"
    " status TEXT NOT NULL, error TEXT, wall_s REAL, trace_hash TEXT);" /* seed: 64 bits unsigned */
    "CREATE TABLE point_values (point INTEGER NOT NULL REFERENCES points, axis INTEGER NOT NULL,"
    " number INTEGER NOT NULL, PRIMARY KEY (point, axis)) WITHOUT ROWID;"
    "CREATE TABLE metric_names (name TEXT PRIMARY KEY, unit TEXT NOT NULL, help TEXT NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE metrics (point INTEGER NOT NULL REFERENCES points, name TEXT NOT NULL, value"
    " REAL, PRIMARY KEY (point, name)) WITHOUT ROWID;"
    "CREATE TABLE distributions (point INTEGER NOT NULL REFERENCES points, name TEXT NOT NULL,"
    " unit TEXT NOT NULL, samples INTEGER NOT NULL, thousandth INTEGER NOT NULL, value REAL,"
    " PRIMARY KEY (point, name, thousandth)) WITHOUT ROWID;";

const char oche_sweep_figure_schema[] =
    "CREATE TABLE claims (id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, quantity"
    " TEXT NOT NULL, condition TEXT NOT NULL, published REAL, published_text TEXT NOT NULL, unit"
    " TEXT NOT NULL, place TEXT NOT NULL, tolerance TEXT NOT NULL, confidence TEXT NOT NULL,"
    " measured REAL, low REAL, high REAL, spread REAL, verdict TEXT NOT NULL, explanation TEXT NOT"
    " NULL, interval TEXT NOT NULL, unsure INTEGER NOT NULL);"
    "CREATE TABLE readings (claim INTEGER NOT NULL REFERENCES claims, label TEXT NOT NULL, measured"
    " REAL, low REAL, high REAL, verdict TEXT NOT NULL);" PLOTS
    "CREATE TABLE curves (id INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, x_name"
    " TEXT NOT NULL, y_name TEXT NOT NULL, x_unit TEXT NOT NULL, y_unit TEXT NOT NULL, plot INTEGER"
    " NOT NULL REFERENCES plots);"
    "CREATE TABLE curve_points (curve INTEGER NOT NULL REFERENCES curves, x REAL, y REAL, low"
    " REAL, high REAL);"
    "CREATE TABLE differences (id INTEGER PRIMARY KEY, text TEXT NOT NULL);";

static bool run(sqlite3 *database, const char *sql)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Adds a column unless it is there. */
static bool add_column(sqlite3 *database, const char *table, const char *column, const char *type)
{
    char sql[160];

    if (sqlite3_table_column_metadata(database, NULL, table, column, NULL, NULL, NULL, NULL,
                                      NULL) == SQLITE_OK)
        return true;
    snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN %s %s", table, column, type);
    return run(database, sql);
}

/* The only plot, which info had. */
static const char move_plot[] =
    "INSERT INTO plots SELECT 1, '',"
    " coalesce((SELECT value FROM info WHERE key = 'x_name'), ''),"
    " coalesce((SELECT value FROM info WHERE key = 'x_scale'), 'linear'),"
    " coalesce((SELECT value FROM info WHERE key = 'y_name'), ''),"
    " coalesce((SELECT value FROM info WHERE key = 'y_scale'), 'linear')"
    " WHERE EXISTS (SELECT 1 FROM curves);"
    "DELETE FROM info WHERE key IN ('x_name', 'x_scale', 'y_name', 'y_scale');";

bool oche_sweep_upgrade(sqlite3 *database, bool figure)
{
    char version[64];

    snprintf(version, sizeof(version), "PRAGMA user_version = %d; COMMIT", OCHE_SWEEP_SCHEMA);
    return run(database, "BEGIN IMMEDIATE") &&
           (!figure || (run(database, PLOTS) &&
                        add_column(database, "curves", "plot", "INTEGER NOT NULL DEFAULT 1") &&
                        add_column(database, "claims", "interval", "TEXT NOT NULL DEFAULT ''") &&
                        add_column(database, "claims", "unsure", "INTEGER NOT NULL DEFAULT 0") &&
                        run(database, move_plot))) &&
           run(database, version);
}
