/* SPDX-License-Identifier: Apache-2.0 */
/* Writes CSV from SQLite. */
#include "store/csv.h"
#include "params/error.h"
#include "params/number.h"
#include "params/part_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes a field, in quotes only if CSV requires them. */
static void write_field(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* Numbers have as many digits as it takes to have the same double again; SQLite writes 15. */
static void write_value(FILE *out, sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    char number[OCHE_NUMBER_BYTES];

    if (sqlite3_column_type(statement, column) == SQLITE_FLOAT &&
        isfinite(sqlite3_column_double(statement, column))) {
        oche_number_format(sqlite3_column_double(statement, column), number);
        text = number;
    }
    write_field(out, text != NULL ? text : "");
}

/* Returns true if all rows were read. */
static bool write_rows(sqlite3_stmt *statement, FILE *out)
{
    int columns = sqlite3_column_count(statement), status;

    for (int i = 0; i < columns; i++) {
        fputs(i > 0 ? "," : "", out);
        write_field(out, sqlite3_column_name(statement, i));
    }
    fputc('\n', out);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            fputs(i > 0 ? "," : "", out);
            write_value(out, statement, i);
        }
        fputc('\n', out);
    }
    return status == SQLITE_DONE;
}

/* True if a rename onto the path loses an older table or a link at most: no device, no pipe. */
static bool is_replaceable(const char *path)
{
    struct stat there;

    return lstat(path, &there) != 0 || S_ISREG(there.st_mode) || S_ISLNK(there.st_mode);
}

bool oche_csv_write(sqlite3 *database, const char *query, const char *path,
                    struct oche_error *error)
{
    sqlite3_stmt *statement = NULL;
    char *part = NULL;
    bool ok;

    if (!is_replaceable(path))
        return oche_fail(error, "%s: not a plain file; remove it, or give another --out", path);
    OCHE_GOT(asprintf(&part, "%s.part", path) >= 0);
    FILE *out = oche_part_create(part);

    if (out == NULL) {
        oche_fail(error, "%s: cannot be written: %s", path, strerror(errno));
        free(part);
        return false;
    }
    if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK ||
        !write_rows(statement, out)) {
        oche_fail(error, "%s: %s", path, sqlite3_errmsg(database));
        fclose(out);
        ok = false;
    } else {
        bool failed = ferror(out) != 0;

        ok = fclose(out) == 0 && !failed && rename(part, path) == 0;
        if (!ok)
            oche_fail(error, "%s: cannot be written: %s", path, strerror(errno));
    }
    sqlite3_finalize(statement);
    if (!ok)
        unlink(part);
    free(part);
    return ok;
}
