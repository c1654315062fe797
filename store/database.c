/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "params/part_file.h"

#define MOST_TEXT      (256 << 20) /* bytes of one value */
#define STEPS          100000      /* of SQLite's machine, between two looks at the budget */
#define FIRST_STEPS    INT64_C(200000000)
#define STEPS_PER_BYTE 2000
#define MOST_BYTES     (INT64_C(1) << 40) /* that steps are given for: a file may be sparse */

/* ---- limits ---- */

struct budget {
    int64_t looks; /* that are left */
};

static int look(void *context)
{
    struct budget *budget = context;

    return --budget->looks < 0;
}

static void nothing(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_null(context);
}

/* Limits what all statements together may take. A function of no use owns the budget's memory. */
static void limit_steps(sqlite3 *database, int64_t bytes)
{
    struct budget *budget = malloc(sizeof(*budget));

    OCHE_GOT(budget != NULL);
    budget->looks =
        (FIRST_STEPS + (bytes < MOST_BYTES ? bytes : MOST_BYTES) * STEPS_PER_BYTE) / STEPS;
    OCHE_GOT(sqlite3_create_function_v2(database, "oche_budget", 0, SQLITE_UTF8, budget, nothing,
                                        NULL, NULL, free) == SQLITE_OK);
    sqlite3_progress_handler(database, STEPS, look, budget);
}

static void disbelieve(sqlite3 *database)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, MOST_TEXT);
}

/* True if the file has a virtual table, which is code rather than data. */
static bool has_virtual_table(sqlite3 *database)
{
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(database,
                                  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage "
                                  "= 0 LIMIT 1",
                                  -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;

    sqlite3_finalize(statement);
    return has;
}

/* ---- opening ---- */

/*
 * Returns the path with its folder resolved (malloc'd). SQLITE_OPEN_NOFOLLOW then concerns the file
 * alone, and not links that lead to its folder.
 */
static char *in_real_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    char *real, *whole = NULL;

    OCHE_GOT(folder != NULL);
    real = realpath(folder, NULL);
    OCHE_GOT(asprintf(&whole, "%s/%s", real != NULL ? real : folder,
                      slash != NULL ? slash + 1 : path) >= 0);
    free(real);
    free(folder);
    return whole;
}

static sqlite3 *open_as(const char *path, int flags, struct oche_error *reason)
{
    sqlite3 *database = NULL;

    if (sqlite3_open_v2(path, &database, flags, NULL) == SQLITE_OK)
        return database;
    OCHE_GOT(database != NULL && sqlite3_errcode(database) != SQLITE_NOMEM);
    oche_fail(reason, "%s", sqlite3_errmsg(database));
    sqlite3_close(database);
    return NULL;
}

static sqlite3 *open_in_place(const char *path, int flags, struct oche_error *reason)
{
    char *whole = in_real_folder(path);
    sqlite3 *database = open_as(whole, flags | SQLITE_OPEN_NOFOLLOW, reason);

    free(whole);
    return database;
}

bool oche_database_is_cut(const char *path)
{
    unsigned char head[18];
    struct stat status;
    char *log = NULL;
    FILE *in = fopen(path, "rb");
    bool cut = in != NULL && fread(head, 1, sizeof(head), in) == sizeof(head) &&
               memcmp(head, "SQLite format 3", 16) == 0;

    if (in != NULL)
        fclose(in);
    if (!cut)
        return false;
    const uint32_t bytes = (uint32_t)head[16] << 8 | head[17], page = bytes == 1 ? 65536 : bytes;

    OCHE_GOT(asprintf(&log, "%s-wal", path) >= 0);
    cut = page > 0 && (stat(log, &status) != 0 || status.st_size == 0) &&
          stat(path, &status) == 0 && status.st_size % page != 0;
    free(log);
    return cut;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? strerror(EISDIR) : "not a regular file";
}

sqlite3 *oche_database_read(const char *path, struct oche_error *reason)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        oche_fail(reason, "%s",
                  access(path, F_OK) != 0 ? strerror(errno) : kind_of(status.st_mode));
        return NULL;
    }
    if (oche_database_is_cut(path)) {
        oche_fail(reason, "is damaged (" OCHE_DATABASE_CUT "); make it again, or give one that is "
                          "whole");
        return NULL;
    }
    sqlite3 *database = open_as(path, SQLITE_OPEN_READONLY, reason);

    if (database == NULL)
        return NULL;
    disbelieve(database);
    limit_steps(database, status.st_size);
    if (!has_virtual_table(database))
        return database;
    oche_fail(reason, "has a virtual table, which oche does not write");
    sqlite3_close(database);
    return NULL;
}

sqlite3 *oche_database_new(const char *part, struct oche_error *reason)
{
    const int fd = oche_part_open(part);

    if (fd < 0) {
        oche_fail(reason, "%s", strerror(errno));
        return NULL;
    }
    close(fd);
    sqlite3 *database = open_in_place(part, SQLITE_OPEN_READWRITE, reason);

    if (database == NULL)
        unlink(part);
    return database;
}

sqlite3 *oche_database_keep(const char *path, struct oche_error *reason)
{
    struct stat status = {.st_size = 0};

    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        oche_fail(reason, "%s",
                  S_ISLNK(status.st_mode) ? "a symbolic link, which is not followed"
                                          : kind_of(status.st_mode));
        return NULL;
    }
    sqlite3 *database = open_in_place(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, reason);

    if (database == NULL)
        return NULL;
    disbelieve(database);
    if (!has_virtual_table(database))
        return database;
    oche_fail(reason, "has a virtual table, which oche does not write");
    sqlite3_close(database);
    return NULL;
}

void oche_database_explain(sqlite3 *database, const char *what_to_do, struct oche_error *reason)
{
    const int code = sqlite3_errcode(database) & 0xff;

    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        oche_fail(reason, "is damaged (%s); %s", sqlite3_errmsg(database), what_to_do);
    else if (code == SQLITE_INTERRUPT)
        oche_fail(reason,
                  "takes more steps to read than a file of its size can need, so oche has "
                  "not written it; %s",
                  what_to_do);
    else
        oche_fail(reason, "%s", sqlite3_errmsg(database));
}
