/* SPDX-License-Identifier: Apache-2.0 */
/* A query's rows as a CSV file (RFC 4180; lines end with \n). */
#ifndef OCHE_STORE_CSV_H
#define OCHE_STORE_CSV_H

#include <sqlite3.h>

#include "core/base.h"
#include "params/error.h"

/* Writes `path` whole or not at all: a heading of column names, a line a row, NULL as nothing. */
bool oche_csv_write(sqlite3 *database, const char *query, const char *path,
                    struct oche_error *error);

#endif
