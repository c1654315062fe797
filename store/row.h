/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a row to a table, from a list of values. Only files in store/ use this. */
#ifndef OCHE_STORE_ROW_H
#define OCHE_STORE_ROW_H

#include <sqlite3.h>

#include "core/base.h"

struct oche_cell {
    enum { OCHE_CELL_TEXT, OCHE_CELL_TEXT_OR_NULL, OCHE_CELL_NUMBER, OCHE_CELL_REAL } kind;
    const char *text; /* OCHE_CELL_TEXT: NULL becomes "" */
    /*
     * SQLite's integers are signed: OCHE_NEVER becomes NULL, and any other value that does not fit
     * becomes the largest integer.
     */
    uint64_t number;
    double real; /* NAN becomes NULL */
};
#define TEXT(value)                                                                                \
    {                                                                                              \
        OCHE_CELL_TEXT, .text = (value)                                                            \
    }
#define TEXT_OR_NULL(value)                                                                        \
    {                                                                                              \
        OCHE_CELL_TEXT_OR_NULL, .text = (value)                                                    \
    }
#define NUMBER(value)                                                                              \
    {                                                                                              \
        OCHE_CELL_NUMBER, .number = (value)                                                        \
    }
#define REAL(value)                                                                                \
    {                                                                                              \
        OCHE_CELL_REAL, .real = (value)                                                            \
    }

/* A list of values and their count, as arguments: OCHE_CELLS(TEXT(…), NUMBER(…)). */
#define OCHE_CELLS(...)                                                                            \
    (const struct oche_cell[]){__VA_ARGS__},                                                       \
        OCHE_COUNT_OF(((const struct oche_cell[]){__VA_ARGS__}))

/*
 * Runs a statement with these values for its parameters, and makes it ready for the next row.
 * Returns false if the database refuses.
 */
bool oche_row_add(sqlite3_stmt *statement, const struct oche_cell *cells, size_t count);

#endif
