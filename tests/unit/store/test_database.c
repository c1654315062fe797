/* SPDX-License-Identifier: Apache-2.0 */
/* Results files made by others, and their rejection. */
#include "store/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

#define TEST_FILE "x"
#include "tests/support/temporary_folder.h"

static struct oche_error reason;

/* Makes a file with a table, and the effects of the other statements. */
static void make(const char *statements)
{
    sqlite3 *database = NULL;

    unlink(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(database, "CREATE TABLE t (a); INSERT INTO t VALUES (1)", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, statements, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static int run(sqlite3 *database, const char *sql)
{
    assert_non_null(database);
    return sqlite3_exec(database, sql, NULL, NULL, NULL);
}

static int rows_of_t(sqlite3 *database)
{
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_prepare_v2(database, "SELECT count(*) FROM t", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int rows = sqlite3_column_int(statement, 0);

    sqlite3_finalize(statement);
    return rows;
}

static void test_views_and_triggers(void **state)
{
    (void)state;
    make("CREATE VIEW v AS SELECT a FROM t;"
         "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END");
    sqlite3 *database = oche_database_read(path, &reason);

    assert_int_equal(run(database, "SELECT a FROM t"), SQLITE_OK);
    assert_int_equal(run(database, "SELECT a FROM v"), SQLITE_ERROR);
    assert_int_equal(run(database, "INSERT INTO t VALUES (2)"), SQLITE_READONLY);
    sqlite3_close(database);
    database = oche_database_keep(path, &reason);
    assert_int_equal(run(database, "SELECT a FROM v"), SQLITE_ERROR);
    assert_int_equal(run(database, "INSERT INTO t VALUES (2)"), SQLITE_OK);
    assert_int_equal(rows_of_t(database), 2);
    sqlite3_close(database);
}

/* Any cause of an endless statement: here one of our own. */
static void test_steps_are_counted(void **state)
{
    (void)state;
    make("");
    sqlite3 *database = oche_database_read(path, &reason);

    assert_int_equal(run(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                                   " SELECT count(*) FROM n"),
                     SQLITE_INTERRUPT);
    oche_database_explain(database, "make it again", &reason);
    assert_string_equal(reason.text, "takes more steps to read than a file of its size can need, "
                                     "so oche has not written it; make it again");
    assert_int_equal(run(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                   "WHERE i < 1000000) SELECT count(*) FROM n"),
                     SQLITE_INTERRUPT); /* the steps of all statements count */
    sqlite3_close(database);
}

static void test_what_is_cut(void **state)
{
    struct stat status;

    (void)state;
    make("CREATE TABLE u (a); CREATE TABLE w (a)");
    assert_int_equal(stat(path, &status), 0);
    assert_false(oche_database_is_cut(path));
    assert_int_equal(truncate(path, status.st_size - 1), 0);
    assert_true(oche_database_is_cut(path));
    assert_null(oche_database_read(path, &reason));
    assert_string_equal(reason.text, "is damaged (its last page is cut); make it again, or give "
                                     "one that is whole");
    assert_int_equal(truncate(path, status.st_size - 4096), 0);
    assert_false(oche_database_is_cut(path));
    sqlite3 *database = oche_database_read(path, &reason);

    assert_int_equal(run(database, "SELECT a FROM t"), SQLITE_CORRUPT);
    oche_database_explain(database, "make it again", &reason);
    assert_string_equal(reason.text,
                        "is damaged (database disk image is malformed); make it again");
    sqlite3_close(database);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(oche_database_read(path, &reason));
    assert_string_equal(reason.text, "not a regular file");
    assert_null(oche_database_keep(path, &reason));
    assert_string_equal(reason.text, "not a regular file");
    unlink(path);
    assert_null(oche_database_read(path, &reason));
    assert_string_equal(reason.text, "No such file or directory");
    assert_null(oche_database_read(folder, &reason));
    assert_string_equal(reason.text, "Is a directory");
    assert_int_equal(symlink("nowhere", path), 0);
    assert_null(oche_database_keep(path, &reason));
    assert_string_equal(reason.text, "a symbolic link, which is not followed");
    sqlite3 *database = oche_database_new(path, &reason); /* takes its place */

    assert_int_equal(run(database, "CREATE TABLE t (a)"), SQLITE_OK);
    sqlite3_close(database);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views_and_triggers),
        cmocka_unit_test(test_steps_are_counted),
        cmocka_unit_test(test_what_is_cut),
        cmocka_unit_test(test_what_is_no_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
