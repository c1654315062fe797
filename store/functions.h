/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for SQL. number_of(text): oche_number_parse, or NULL for a text that is no number.
 * exact(number): a JSON number with the digits that identify its double; SQLite itself writes 15.
 */
#ifndef OCHE_STORE_FUNCTIONS_H
#define OCHE_STORE_FUNCTIONS_H

#include <sqlite3.h>
#include <stdbool.h>

bool oche_add_functions(sqlite3 *database);

#endif
