/* SPDX-License-Identifier: Apache-2.0 */
#include "store/functions.h"

#include <math.h>
#include <stddef.h>

#include "params/number.h"

#define JSON 'J' /* the subtype of SQLite's own JSON functions */

static void number_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);
    double number;

    (void)count;
    if (text != NULL && oche_number_parse(text, &number))
        sqlite3_result_double(context, number);
    else
        sqlite3_result_null(context);
}

static void exact(sqlite3_context *context, int count, sqlite3_value **values)
{
    char text[OCHE_NUMBER_BYTES];
    double number = sqlite3_value_double(values[0]);

    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || !isfinite(number)) {
        sqlite3_result_null(context);
        return;
    }
    oche_number_format(number, text);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    sqlite3_result_subtype(context, JSON);
}

bool oche_add_functions(sqlite3 *database)
{
    const int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC;

    return sqlite3_create_function(database, "number_of", 1, how, NULL, number_of, NULL, NULL) ==
               SQLITE_OK &&
           sqlite3_create_function(database, "exact", 1, how, NULL, exact, NULL, NULL) == SQLITE_OK;
}
