/* SPDX-License-Identifier: Apache-2.0 */
#include "store/row.h"

#include <math.h>

static void bind(sqlite3_stmt *statement, int column, const struct oche_cell *cell)
{
    int status = SQLITE_OK;

    if (cell->kind == OCHE_CELL_REAL && !isnan(cell->real))
        sqlite3_bind_double(statement, column, cell->real);
    else if (cell->kind == OCHE_CELL_NUMBER && cell->number != OCHE_NEVER)
        sqlite3_bind_int64(statement, column,
                           cell->number > INT64_MAX ? INT64_MAX : (int64_t)cell->number);
    else if (cell->kind == OCHE_CELL_TEXT || cell->text != NULL)
        status = sqlite3_bind_text(statement, column, cell->text != NULL ? cell->text : "", -1,
                                   SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(statement, column);
    OCHE_GOT(status != SQLITE_NOMEM);
}

bool oche_row_add(sqlite3_stmt *statement, const struct oche_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bind(statement, (int)i + 1, &cells[i]);

    const bool done = sqlite3_step(statement) == SQLITE_DONE;

    sqlite3_reset(statement);
    return done;
}
