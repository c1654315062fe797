/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades older files of sweeps; store/sweep.sql has the tables. */
#ifndef OCHE_STORE_SWEEP_SCHEMA_H
#define OCHE_STORE_SWEEP_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/*
 * Upgrades a file from schema `version` to OCHE_SWEEP_SCHEMA, completely or not at all. `figure`:
 * the file has the tables of a figure. Returns false, with SQLite's message, if that fails; the
 * caller must then close the file.
 */
bool oche_sweep_upgrade(sqlite3 *database, int64_t version, bool figure);

#endif
