/* SPDX-License-Identifier: Apache-2.0 */
/* Older files of sweeps, and how they are brought up to date; store/sweep.sql has the tables. */
#ifndef OCHE_STORE_SWEEP_SCHEMA_H
#define OCHE_STORE_SWEEP_SCHEMA_H

#include <stdbool.h>

#include <sqlite3.h>

/*
 * Makes a file of schema OCHE_SWEEP_OLDEST one of OCHE_SWEEP_SCHEMA, whole or not at all; `figure`:
 * it has a figure's tables. False, with SQLite's message, if that fails; the file is then to be
 * closed.
 */
bool oche_sweep_upgrade(sqlite3 *database, bool figure);

#endif
