/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the CSV files of a sweep from its database. */
#ifndef OCHE_STORE_SWEEP_CSV_H
#define OCHE_STORE_SWEEP_CSV_H

#include <sqlite3.h>

#include "core/base.h"
#include "params/error.h"

/* Writes points.csv and metrics.csv; see oche_sweep_store_csv. */
bool oche_sweep_csv_write(sqlite3 *database, size_t axis_count, const char *folder,
                          struct oche_error *error);

#endif
