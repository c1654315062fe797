/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of a report: what ranks did in columns of equal length, phases, and the numbers of ranks
 * that are shown. Files of earlier versions have no jobs, and numbers that cannot be do no harm.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <json-c/json_pointer.h>
#include <sqlite3.h>

#include "report/json.h"
#include "report/parts.h"
#include "store/store.h"

#define STEP (10 * OCHE_NS)

static char path[64];
static struct oche_error error;
static struct json_object *jobs;

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/oche-jobs-%d.sqlite", (int)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    json_object_put(jobs);
    jobs = NULL;
    return unlink(path);
}

static struct oche_results *begin(void)
{
    struct oche_results *results = oche_results_create(path, &error);

    assert_non_null(results);
    oche_results_node(results, 0, "host0", "host", UINT32_MAX);
    return results;
}

static void add_job(struct oche_results *results, uint32_t ranks, uint64_t last)
{
    oche_results_job(results, &(struct oche_results_job){.job = 2,
                                                         .title = "all_reduce (ring)",
                                                         .ranks = ranks,
                                                         .bytes = 1000,
                                                         .start = 5 * STEP,
                                                         .end = 100 * STEP,
                                                         .last_rank = last,
                                                         .late = 3 * STEP});
}

static void add_span(struct oche_results *results, uint32_t rank, uint32_t from, uint32_t to,
                     oche_time calculates, oche_time waits)
{
    oche_results_span(results, &(struct oche_results_span){.job = 2,
                                                           .rank = rank,
                                                           .begin = from * STEP,
                                                           .end = to * STEP,
                                                           .times = {calculates, 0, 0, waits}});
}

static void read_jobs(struct oche_results *results)
{
    struct oche_report_source source;

    if (results != NULL)
        assert_true(oche_results_finish(results, &error));
    json_object_put(jobs);
    assert_true(oche_report_source_open(&source, path, &error));
    jobs = oche_report_jobs(&source);
    assert_false(source.failed);
    oche_report_source_close(&source);
}

static struct json_object *at(const char *pointer)
{
    struct json_object *value = NULL;

    return json_pointer_get(jobs, pointer, &value) == 0 ? value : NULL;
}

static void assert_json(const char *pointer, const char *expected)
{
    assert_non_null(at(pointer));
    assert_string_equal(json_object_to_json_string_ext(at(pointer), JSON_C_TO_STRING_PLAIN),
                        expected);
}

static void test_a_job(void **state)
{
    struct oche_results *results = begin();
    struct oche_results_repetition phase = {
        .job = 2, .name = "up", .begin = 5 * STEP, .end = 25 * STEP};

    (void)state;
    add_job(results, 2, 1);
    oche_results_rank(results, 2, 0, 0, 90 * STEP, STEP);
    oche_results_rank(results, 2, 1, 0, OCHE_NEVER, STEP);
    oche_results_repetition(
        results, &(struct oche_results_repetition){.job = 2, .begin = STEP, .end = 3 * STEP});
    oche_results_repetition(results, &phase);
    phase.repetition = 1;
    phase.end = 65 * STEP;
    oche_results_repetition(results, &phase);
    add_span(results, 0, 5, 6, STEP / 4, 3 * STEP / 4);
    add_span(results, 0, 6, 7, STEP / 4, 3 * STEP / 4);
    add_span(results, 0, 7, 17, 10 * STEP, 0);
    add_span(results, 1, 9, 10, 0, STEP / 2);
    read_jobs(results);
    assert_json("/0/job", "2");
    assert_json("/0/title", "\"all_reduce (ring)\"");
    assert_json("/0/ended", "1");
    assert_json("/0/last_rank", "1");
    assert_json("/0/repetitions", "[[1e-08,3e-08,0]]");
    assert_json("/0/phases/0",
                "{\"name\":\"up\",\"mean_s\":4e-07,\"least_s\":2e-07,\"most_s\":6e-07}");
    assert_json("/0/timeline/start_s", "5e-08");
    assert_json("/0/timeline/step_s", "1e-08");
    assert_json("/0/timeline/columns", "12");
    assert_json("/0/timeline/rows/0/cells", "[0,2,25,0,0,75,2,12,100,0,0,0]");
    assert_json("/0/timeline/rows/0/host", "\"host0\"");
    assert_json("/0/timeline/rows/0/sums", "[1.05e-07,0,0,1.5e-08]");
    assert_json("/0/timeline/rows/1/cells", "[4,5,0,0,0,50]");
}

/* Long timelines get columns that are as many times as long as a power of two. */
static void test_long_timelines(void **state)
{
    struct oche_results *results = begin();

    (void)state;
    add_job(results, 1, 0);
    add_span(results, 0, 5, 6, STEP, 0);
    add_span(results, 0, 6, 5 + 1000, 0, 999 * STEP);
    read_jobs(results);
    assert_json("/0/timeline/step_s", "4e-08");
    assert_json("/0/timeline/columns", "250");
    assert_json("/0/timeline/rows/0/cells", "[0,1,25,0,0,75,1,250,0,0,0,100]");
}

/* If there are many ranks, some are shown, and the one that ended last. */
static void test_many_ranks(void **state)
{
    struct oche_results *results = begin();

    (void)state;
    add_job(results, 513, 511);
    for (uint32_t i = 0; i < 513; i++)
        add_span(results, i, 5, 6 + i, 0, STEP);
    read_jobs(results);
    assert_int_equal(json_object_array_length(at("/0/timeline/rows")), 172);
    assert_json("/0/timeline/rows/1/rank", "3");
    assert_json("/0/timeline/rows/171/rank", "511");
    assert_in_range(json_object_get_int(at("/0/timeline/columns")), 64, 480);
}

static void execute(const char *sql)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void test_numbers_that_cannot_be(void **state)
{
    static const char *const changes[] = {
        "UPDATE job_spans SET begin_ps = -5",
        "UPDATE job_spans SET end_ps = 9223372036854775807",
        "UPDATE job_spans SET end_ps = begin_ps",
        "UPDATE job_spans SET calculates_ps = 9e300, waits_ps = -9e300",
        "UPDATE job_spans SET begin_ps = 'x', end_ps = 'y'",
        "UPDATE jobs SET end_ps = 'never', last_rank = -1, ranks = 1e300",
        "UPDATE job_phases SET end_ps = -1",
    };
    struct oche_results *results = begin();

    (void)state;
    add_job(results, 2, 1);
    oche_results_repetition(results, &(struct oche_results_repetition){.job = 2, .name = "up"});
    add_span(results, 0, 5, 6, STEP, 0);
    read_jobs(results);
    for (size_t i = 0; i < OCHE_COUNT_OF(changes); i++) {
        execute(changes[i]);
        read_jobs(NULL);
        assert_int_equal(json_object_array_length(jobs), 1);
    }
    execute("DROP TABLE job_spans; DROP TABLE jobs");
    read_jobs(NULL);
    assert_int_equal(json_object_array_length(jobs), 0);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(test_a_job),
        WITH_FILE(test_long_timelines),
        WITH_FILE(test_many_ranks),
        WITH_FILE(test_numbers_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
