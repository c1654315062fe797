/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a sweep's file (store/sweep_store.h says what is in them). */
#ifndef OCHE_STORE_SWEEP_SCHEMA_H
#define OCHE_STORE_SWEEP_SCHEMA_H

#include <stdbool.h>

#include <sqlite3.h>

extern const char oche_sweep_schema[];        /* of every sweep */
extern const char oche_sweep_figure_schema[]; /* of a figure besides */

/*
 * Makes a file of schema OCHE_SWEEP_OLDEST one of OCHE_SWEEP_SCHEMA, whole or not at all; `figure`:
 * it has a figure's tables. False, with SQLite's message, if that fails; the file is then to be
 * closed.
 */
bool oche_sweep_upgrade(sqlite3 *database, bool figure);

#endif
