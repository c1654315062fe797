/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a query's rows as a CSV file (RFC 4180; lines end with \n). */
#ifndef OCHE_STORE_CSV_H
#define OCHE_STORE_CSV_H

#include <sqlite3.h>

#include "core/base.h"
#include "params/error.h"

/*
 * Writes the rows of `query` to the file `path`, completely or not at all. The first line has the
 * column names; then each row has a line. NULL becomes an empty field.
 */
bool oche_csv_write(sqlite3 *database, const char *query, const char *path,
                    struct oche_error *error);

#endif
