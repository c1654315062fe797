/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep's file: committed data is permanent, and only the same sweep may continue in it. */
#include "store/sweep_store.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/support/test.h"

#define TEST_FILE "sweep.sqlite"
#include "tests/support/temporary_folder.h"

static struct oche_error error;

static const char *const losses[] = {"0", "1%"}, *const pairs[] = {"4"};
static const struct oche_sweep_axis axes[] = {{"loss.probability", losses, 2},
                                              {"workload.\"pairs\"", pairs, 1}};

static struct oche_sweep_description describe(const char *kind)
{
    return (struct oche_sweep_description){.program = "oche 1",
                                           .command = "oche sweep x.yaml",
                                           .kind = kind,
                                           .scenario = "x.yaml",
                                           .scenario_text = "topology: star\n",
                                           .grid = "--vary loss.probability=0,1% --repeat 2",
                                           .seed = UINT64_MAX,
                                           .repeats = 2,
                                           .cores = 4,
                                           .axes = axes,
                                           .axis_count = 2};
}

static struct oche_sweep_store *open_kind(const char *kind, bool restart)
{
    const struct oche_sweep_description description = describe(kind);
    struct oche_sweep_store *store = oche_sweep_store_open(path, &description, restart, &error);

    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

/* Returns the first column of the first row, as text; "" without one. */
static const char *ask(const char *query)
{
    static char answer[256];
    sqlite3 *database;
    sqlite3_stmt *statement;

    answer[0] = '\0';
    assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, query, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL)
        snprintf(answer, sizeof(answer), "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return answer;
}

static void add_point(struct oche_sweep_store *store, size_t id, const char *status, double goodput)
{
    const size_t numbers[] = {id / 2, 0};
    const double values[] = {1, 2, 4};

    oche_sweep_store_point(
        store, &(struct oche_sweep_point){.id = id,
                                          .repeat = (uint32_t)id % 2,
                                          .seed = UINT64_MAX - 1 + id % 2,
                                          .status = status,
                                          .error = strcmp(status, "done") == 0 ? NULL : "signal 9",
                                          .wall_s = 0.5,
                                          .trace_hash = 0xfedcba9876543210,
                                          .numbers = numbers});
    if (strcmp(status, "done") != 0)
        return;
    oche_sweep_store_metric(store, id, "goodput", "bps", "payload delivered", goodput);
    oche_sweep_store_distribution(store, id, "fct", "s", 17, values, 3, 500);
}

static void commit(struct oche_sweep_store *store)
{
    if (!oche_sweep_store_commit(store, &error))
        fail_msg("%s", error.text);
}

static void test_what_is_written_is_there(void **state)
{
    struct oche_sweep_store *store = open_kind("sweep", false);
    double values[4];
    bool done[4];

    (void)state;
    oche_sweep_store_begin(store);
    oche_sweep_store_parameter(store, "loss.probability", "0", "real", false);
    add_point(store, 3, "done", 1.0 / 3);
    add_point(store, 1, "crashed", 0);
    commit(store);
    assert_int_equal(oche_sweep_store_done(store, done, 4), 1);
    assert_true(done[3] && !done[1] && !done[0]);
    oche_sweep_store_values(store, "goodput", values, 4);
    assert_true(values[3] == 1.0 / 3 && values[3] == values[3]);
    assert_true(values[1] != values[1]); /* NAN */
    oche_sweep_store_close(store);

    assert_string_equal(ask("PRAGMA integrity_check"), "ok");
    assert_string_equal(ask("SELECT group_concat(point || ' ' || thousandth || ' ' || value || ' ' "
                            "|| samples, ', ') FROM distributions WHERE name = 'fct'"),
                        "3 0 1.0 17, 3 500 2.0 17, 3 1000 4.0 17");
    assert_string_equal(ask("PRAGMA application_id"), "1868785765");
    assert_string_equal(ask("PRAGMA user_version"), "3");
    assert_string_equal(ask("SELECT value FROM info WHERE key = 'seed'"), "18446744073709551615");
    assert_string_equal(ask("SELECT seed FROM points WHERE id = 3"), "18446744073709551615");
    assert_string_equal(ask("SELECT trace_hash FROM points WHERE id = 3"), "fedcba9876543210");
    assert_string_equal(ask("SELECT count(*) FROM points WHERE id = 1 AND wall_s IS NULL AND"
                            " trace_hash IS NULL"),
                        "1");
    assert_string_equal(ask("SELECT error FROM points WHERE id = 1"), "signal 9");
    assert_string_equal(ask("SELECT group_concat(key) FROM axes"),
                        "loss.probability,workload.\"pairs\"");
    assert_string_equal(ask("SELECT value FROM point_values JOIN axis_values USING (axis, number)"
                            " WHERE point = 3 AND axis = 0"),
                        "1%");
    assert_string_equal(ask("SELECT unit || help FROM metric_names"), "bpspayload delivered");
    assert_string_equal(ask("SELECT count(*) FROM info WHERE key IN ('program', 'command', 'kind',"
                            " 'scenario', 'scenario_text', 'seed', 'repeats', 'grid', 'began',"
                            " 'ended', 'cores')"),
                        "11");
}

/* ---- without memory ---- */

static sqlite3_mem_methods usual;
static unsigned allocations; /* allocations left until one fails; 0: none fails */

static void *allocate(int bytes)
{
    return allocations > 0 && --allocations == 0 ? NULL : usual.xMalloc(bytes);
}

/* In a separate process: writes a point while SQLite's n-th allocation fails. */
enum { ENOUGH, NOT_NEEDED, REFUSED };
static int write_without_memory(unsigned n)
{
    const struct oche_sweep_description description = describe("sweep");
    struct oche_sweep_store *store;
    sqlite3_mem_methods failing;
    bool failed;

    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    failing = usual;
    failing.xMalloc = allocate;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    store = oche_sweep_store_open(path, &description, true, &error);
    if (store == NULL)
        return -1;
    global_expecting_assert = 1; /* oche_panic reports missing memory, and returns here */
    if (setjmp(global_expect_assert_env) != 0)
        return REFUSED;
    allocations = n;
    oche_sweep_store_begin(store);
    add_point(store, 3, "done", 1);
    if (!oche_sweep_store_commit(store, &error))
        return REFUSED;
    failed = allocations == 0;
    allocations = 0;
    oche_sweep_store_close(store);
    return failed ? NOT_NEEDED : ENOUGH;
}

/* A point is complete, or the store reports that it is not. */
static void test_without_memory(void **state)
{
    unsigned refused = 0;
    int status = NOT_NEEDED << 8;

    (void)state;
    for (unsigned n = 1; WEXITSTATUS(status) != ENOUGH; n++) {
        const pid_t child = fork();

        if (child == 0)
            _exit(write_without_memory(n));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= REFUSED);
        refused += WEXITSTATUS(status) == REFUSED;
        if (WEXITSTATUS(status) == REFUSED)
            continue;
        assert_string_equal(ask("SELECT name || unit || help FROM metric_names WHERE name ="
                                " 'goodput'"),
                            "goodputbpspayload delivered");
        assert_string_equal(ask("SELECT value FROM metrics WHERE name = 'goodput'"), "1.0");
    }
    assert_true(refused > 5);
}

/* A failed point is tried again: nothing of the failure remains. */
static void test_a_point_is_written_anew(void **state)
{
    struct oche_sweep_store *store = open_kind("sweep", false);
    bool done[4];

    (void)state;
    oche_sweep_store_begin(store);
    add_point(store, 2, "crashed", 0);
    commit(store);
    oche_sweep_store_begin(store);
    add_point(store, 2, "done", 5);
    commit(store);
    oche_sweep_store_begin(store);
    add_point(store, 2, "done", 6);
    commit(store);
    assert_int_equal(oche_sweep_store_done(store, done, 4), 1);
    oche_sweep_store_close(store);
    assert_string_equal(ask("SELECT count(*) || ' ' || max(value) FROM metrics"), "1 6.0");
    assert_string_equal(ask("SELECT count(*) FROM points"), "1");
    assert_string_equal(ask("SELECT count(*) FROM point_values"), "2");
}

static void test_only_the_same_sweep_goes_on(void **state)
{
    static const struct {
        const char *error;
        size_t offset;
    } rows[] = {
        {"has results of another program (oche 1); ",
         offsetof(struct oche_sweep_description, program)},
        {"has results of another text of the scenario (x.yaml); ",
         offsetof(struct oche_sweep_description, scenario_text)},
        {"has results of another grid (--vary loss.probability=0,1% --repeat 2); --out puts new "
         "ones elsewhere, --restart begins anew here",
         offsetof(struct oche_sweep_description, grid)},
    };
    struct oche_sweep_store *store = open_kind("sweep", false);
    bool done[4];

    (void)state;
    oche_sweep_store_begin(store);
    add_point(store, 0, "done", 5);
    commit(store);
    oche_sweep_store_close(store);
    for (size_t i = 0; i < 3; i++) {
        struct oche_sweep_description description = describe("sweep");
        const char *other = "another\nline";

        memcpy((char *)&description + rows[i].offset, &other, sizeof(other));
        assert_null(oche_sweep_store_open(path, &description, false, &error));
        if (strstr(error.text, rows[i].error) == NULL ||
            strncmp(error.text, path, strlen(path)) != 0)
            fail_msg("%s", error.text);
    }
    store = open_kind("sweep", false);
    assert_int_equal(oche_sweep_store_done(store, done, 4), 1);
    oche_sweep_store_close(store);
    store = open_kind("sweep", true);
    assert_int_equal(oche_sweep_store_done(store, done, 4), 0);
    oche_sweep_store_close(store);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_other_files_are_left_alone(void **state)
{
    const struct oche_sweep_description description = describe("sweep");
    sqlite3 *database;

    (void)state;
    write_file("some notes, long enough to be looked at: not a database of any kind\n");
    for (int restart = 0; restart < 2; restart++) {
        assert_null(oche_sweep_store_open(path, &description, restart, &error));
        assert_non_null(strstr(error.text, "not a results file; "));
    }
    remove(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    for (int restart = 0; restart < 2; restart++) {
        assert_null(oche_sweep_store_open(path, &description, restart, &error));
        assert_non_null(strstr(error.text, "not the results of a sweep; "));
    }
    assert_string_equal(ask("SELECT name FROM sqlite_schema"), "mine");
    snprintf(path, sizeof(path), "%s/none/sweep.sqlite", folder);
    assert_null(oche_sweep_store_open(path, &description, false, &error));
    assert_non_null(strstr(error.text, "cannot be written"));
}

static void test_one_process_at_a_time(void **state)
{
    const struct oche_sweep_description description = describe("sweep");
    struct oche_sweep_store *store = open_kind("sweep", false);

    (void)state;
    assert_null(oche_sweep_store_open(path, &description, false, &error));
    assert_non_null(strstr(error.text, "another oche is writing there"));
    oche_sweep_store_close(store);
    oche_sweep_store_close(open_kind("sweep", false));
}

/*
 * A process that writes point after point is killed at ten random times: only whole points remain.
 */
static void test_kill_9_loses_nothing_that_was_finished(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++) {
        int pipe_ends[2];
        char ended;
        size_t said = 0;
        bool done[1000];

        assert_int_equal(pipe(pipe_ends), 0);
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            struct oche_sweep_store *store = open_kind("sweep", true);

            for (size_t id = 0; id < 1000; id++) {
                oche_sweep_store_begin(store);
                add_point(store, id, "done", (double)id);
                if (!oche_sweep_store_commit(store, &error) || write(pipe_ends[1], "x", 1) != 1)
                    _exit(1);
            }
            _exit(0);
        }
        close(pipe_ends[1]);
        while (said < 3 + 7 * round && read(pipe_ends[0], &ended, 1) == 1)
            said++;
        usleep(137 * round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(pipe_ends[0], &ended, 1) == 1)
            said++;
        close(pipe_ends[0]);
        struct oche_sweep_store *store = open_kind("sweep", false);
        size_t found = oche_sweep_store_done(store, done, 1000);

        /* one point may be committed but not yet reported */
        assert_in_range(found, said, said + 1);
        oche_sweep_store_close(store);
        assert_string_equal(ask("PRAGMA integrity_check"), "ok");
        assert_string_equal(ask("SELECT (SELECT count(*) FROM points) = (SELECT count(*) FROM"
                                " metrics) AND (SELECT count(*) FROM points) * 3 = (SELECT"
                                " count(*) FROM distributions)"),
                            "1");
    }
}

static void test_a_figure(void **state)
{
    struct oche_sweep_store *store = open_kind("figure", false);

    (void)state;
    for (int again = 0; again < 2; again++) {
        oche_sweep_store_begin(store);
        oche_sweep_store_clear_figure(store);
        oche_sweep_store_info(store, "paper", "error-recovery");
        uint32_t claim =
            oche_sweep_store_claim(store, &(struct oche_sweep_claim){.name = "half",
                                                                     .text = "it halves",
                                                                     .quantity = "goodput",
                                                                     .published = 0.5,
                                                                     .unit = "ratio",
                                                                     .tolerance = "10 %",
                                                                     .measured = NAN,
                                                                     .low = 0.4,
                                                                     .high = 0.6,
                                                                     .spread = 0.1,
                                                                     .verdict = "no data",
                                                                     .interval = "t",
                                                                     .unsure = true});
        oche_sweep_store_reading(store, claim,
                                 &(struct oche_sweep_reading){.label = "to the letter",
                                                              .measured = 0.25,
                                                              .low = NAN,
                                                              .high = NAN,
                                                              .verdict = "not reproduced"});
        for (int i = 0; i < 2; i++) {
            uint32_t plot = oche_sweep_store_plot(
                store, &(struct oche_sweep_plot){.title = i == 0 ? "first" : NULL,
                                                 .x_name = "load",
                                                 .x_scale = "log",
                                                 .y_name = "rate",
                                                 .y_scale = "linear"});
            uint32_t curve = oche_sweep_store_curve(
                store, &(struct oche_sweep_curve){
                           .plot = plot, .label = i == 0 ? "a" : "b", .kind = "measured"});

            oche_sweep_store_curve_point(store, curve, 1, 2 + i, NAN, NAN);
        }
        oche_sweep_store_difference(store, "no switch");
        commit(store);
    }
    oche_sweep_store_close(store);
    assert_string_equal(ask("SELECT count(*) FROM claims WHERE measured IS NULL AND published ="
                            " 0.5 AND verdict = 'no data' AND explanation = '' AND high = 0.6"
                            " AND interval = 't' AND unsure"),
                        "1");
    assert_string_equal(ask("SELECT group_concat(name || label || readings.measured) FROM readings"
                            " JOIN claims ON claim = id WHERE readings.low IS NULL"),
                        "halfto the letter0.25");
    assert_string_equal(ask("SELECT group_concat(label || y) FROM curves JOIN curve_points ON curve"
                            " = id WHERE low IS NULL"),
                        "a2.0,b3.0");
    assert_string_equal(
        ask("SELECT group_concat(title || plots.x_name || x_scale || plots.y_name || y_scale ||"
            " label) FROM plots JOIN curves ON plot = plots.id"),
        "firstloadlogratelineara,loadlogratelinearb");
    assert_string_equal(ask("SELECT group_concat(text) FROM differences"), "no switch");
}

static void run_sql(const char *sql)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/*
 * A figure of schema 1, from before claims stated their certainty. After continuing it has the
 * present schema.
 */
static void test_an_older_figure_is_brought_up_to_date(void **state)
{
    struct oche_sweep_store *store = open_kind("figure", false);

    (void)state;
    oche_sweep_store_begin(store);
    add_point(store, 0, "done", 5);
    oche_sweep_store_claim(store, &(struct oche_sweep_claim){.name = "half", .verdict = "no data"});
    oche_sweep_store_curve(store, &(struct oche_sweep_curve){.plot = 1, .label = "a"});
    oche_sweep_store_info(store, "x_name", "load");
    oche_sweep_store_info(store, "x_scale", "log");
    oche_sweep_store_info(store, "y_name", "rate");
    commit(store);
    oche_sweep_store_close(store);
    run_sql("DROP TABLE plots; ALTER TABLE curves DROP COLUMN plot;"
            "ALTER TABLE claims DROP COLUMN interval; ALTER TABLE claims DROP COLUMN unsure;"
            "ALTER TABLE claims DROP COLUMN source; PRAGMA user_version = 1");

    store = open_kind("figure", false);
    bool done[1];

    assert_int_equal(oche_sweep_store_done(store, done, 1), 1);
    oche_sweep_store_close(store);
    assert_string_equal(ask("PRAGMA user_version"), "3");
    assert_string_equal(
        ask("SELECT group_concat(plots.id || title || plots.x_name || x_scale ||"
            " plots.y_name || y_scale || label) FROM plots JOIN curves ON plot = plots.id"),
        "1loadlogratelineara");
    assert_string_equal(ask("SELECT name || interval || unsure || source FROM claims"), "half0");
    assert_string_equal(ask("SELECT count(*) FROM info WHERE key LIKE 'x%' OR key LIKE 'y%'"), "0");
    store = open_kind("figure", false);
    oche_sweep_store_begin(store);
    oche_sweep_store_clear_figure(store);
    oche_sweep_store_plot(store, &(struct oche_sweep_plot){.title = "new"});
    commit(store);
    oche_sweep_store_close(store);
    assert_string_equal(ask("SELECT group_concat(title) FROM plots"), "new");

    run_sql("PRAGMA user_version = 4"); /* of a program to come */
    const struct oche_sweep_description description = describe("figure");

    assert_null(oche_sweep_store_open(path, &description, false, &error));
    assert_non_null(strstr(error.text, "has results of another program"));
}

static void read_file(const char *name, char *text, size_t bytes)
{
    char file[128];

    snprintf(file, sizeof(file), "%s/%s", folder, name);
    FILE *in = fopen(file, "r");

    assert_non_null(in);
    text[fread(text, 1, bytes - 1, in)] = '\0';
    fclose(in);
}

static void test_csv(void **state)
{
    struct oche_sweep_store *store = open_kind("sweep", false);
    char text[1024];

    (void)state;
    oche_sweep_store_begin(store);
    add_point(store, 0, "done", 5);
    add_point(store, 3, "crashed", 0);
    commit(store);
    assert_true(oche_sweep_store_csv(store, folder, &error));
    oche_sweep_store_close(store);
    read_file("points.csv", text, sizeof(text));
    assert_string_equal(
        text, "point,loss.probability,\"workload.\"\"pairs\"\"\",repeat,seed,status,error,wall_s,"
              "trace_hash,loss.probability.number,\"workload.\"\"pairs\"\".number\",goodput\n"
              "0,0,4,0,18446744073709551614,done,,0.5,fedcba9876543210,0,4,5\n"
              "3,1%,4,1,18446744073709551615,crashed,signal 9,,,0.01,4,\n");
    read_file("metrics.csv", text, sizeof(text));
    assert_string_equal(text, "point,loss.probability,\"workload.\"\"pairs\"\"\",repeat,seed,name,"
                              "unit,value\n"
                              "0,0,4,0,18446744073709551614,goodput,bps,5\n");
}

/* Commit reports it, and reports it again each time. */
static void test_a_row_that_cannot_be_written(void **state)
{
    struct oche_sweep_store *store = open_kind("sweep", false);
    sqlite3 *reader;

    (void)state;
    /* A missing table stands for every error with a row. */
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "DROP TABLE metrics", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(reader);
    oche_sweep_store_begin(store);
    add_point(store, 0, "done", 5);
    assert_false(oche_sweep_store_commit(store, &error));
    assert_non_null(strstr(error.text, "cannot be written"));
    oche_sweep_store_begin(store);
    assert_false(oche_sweep_store_commit(store, &error));
    oche_sweep_store_close(store);
    assert_string_equal(ask("SELECT count(*) FROM points"), "0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_written_is_there),
        TEST(test_without_memory),
        TEST(test_a_point_is_written_anew),
        TEST(test_only_the_same_sweep_goes_on),
        TEST(test_other_files_are_left_alone),
        TEST(test_one_process_at_a_time),
        TEST(test_kill_9_loses_nothing_that_was_finished),
        TEST(test_a_figure),
        TEST(test_an_older_figure_is_brought_up_to_date),
        TEST(test_csv),
        TEST(test_a_row_that_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
