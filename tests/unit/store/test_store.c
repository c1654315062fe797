/* SPDX-License-Identifier: Apache-2.0 */
/* One run, one file: all written data is there, and no incomplete file. */
#include "tests/support/test.h"

#define TEST_FILE "run.sqlite"
#include "tests/support/temporary_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/store.h"

static struct oche_error error;

/* Returns how many files the folder has. */
static unsigned files(void)
{
    DIR *directory = opendir(folder);
    unsigned count = 0;

    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/* Returns the first column of the first row, as text. */
static const char *ask(const char *query)
{
    static char answer[256];
    sqlite3 *database;
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, query, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(statement, 0);

    snprintf(answer, sizeof(answer), "%s", text != NULL ? text : "NULL");
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return answer;
}

static const char *content(const char *name)
{
    static char text[2048];
    char file[160];

    snprintf(file, sizeof(file), "%s/%s", folder, name);
    FILE *in = fopen(file, "r");

    assert_non_null(in);
    text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
    fclose(in);
    return text;
}

static const struct oche_results_flow done = {.id = 0,
                                              .workload = 1,
                                              .src = 2,
                                              .dst = 3,
                                              .bytes = 1000,
                                              .started = 5 * OCHE_US,
                                              .delivered = 15 * OCHE_US,
                                              .completed = 16 * OCHE_US,
                                              .ideal = 4 * OCHE_US,
                                              .retransmitted_packets = 7,
                                              .status = "completed",
                                              .measured = true,
                                              .held = 3 * OCHE_US,
                                              .lost = 2 * OCHE_US,
                                              .root = "tor0:host1",
                                              .victim = true,
                                              .verb = "read"};

static const struct oche_results_flow failed = {.id = 1,
                                                .bytes = UINT64_MAX - 1,
                                                .started = OCHE_MS,
                                                .delivered = OCHE_NEVER,
                                                .completed = OCHE_NEVER,
                                                .ideal = OCHE_US,
                                                .status = "failed: a, \"b\"",
                                                .verb = "write"};

static struct oche_results *fill(void)
{
    struct oche_results *results = oche_results_create(path, &error);

    assert_non_null(results);
    oche_results_info(results, "scenario", "a \"quoted\", text");
    oche_results_parameter(results, "switch.buffer", "12MB", "bytes", true);
    oche_results_flow(results, &done);
    oche_results_flow(results, &failed);
    oche_results_counter(results, "tor0:host1", "pauses", 4);
    oche_results_counter(results, "all", "marks", UINT64_MAX);

    uint32_t queue = oche_results_series(results, "queue", "tor0:host1", "bytes");
    uint32_t rate = oche_results_series(results, "rate", "flow 0", "bps");

    oche_results_point(results, rate, OCHE_US, 2.5e9);
    oche_results_point(results, queue, 2 * OCHE_US, 3000);
    oche_results_point(results, queue, OCHE_US, 1000);
    uint32_t histogram = oche_results_histogram(results, "queue", "tor0:host1", "bytes", "ps");

    oche_results_bucket(results, histogram, 0, 1000, 900);
    oche_results_bucket(results, histogram, 1000, OCHE_NEVER, 100);

    oche_results_node(results, 0, "host0", "host", 3);
    oche_results_node(results, 1, "spine0", "core", UINT32_MAX);
    oche_results_link(results, &(struct oche_results_link){.a = 0,
                                                           .b = 1,
                                                           .port_a = "host0",
                                                           .port_b = "spine0:host0",
                                                           .rate_bps = 40 * OCHE_GBPS,
                                                           .delay = OCHE_US});
    oche_results_pause(results, &(struct oche_results_pause){.id = 7,
                                                             .parent = UINT32_MAX,
                                                             .port = "tor0:host1",
                                                             .pauses = 3,
                                                             .held = OCHE_MS,
                                                             .first = OCHE_US,
                                                             .last = OCHE_SEC,
                                                             .ports = 1,
                                                             .senders = 5});
    oche_results_pause(results, &(struct oche_results_pause){.id = 9,
                                                             .parent = 7,
                                                             .cls = 1,
                                                             .depth = 1,
                                                             .first = OCHE_NEVER,
                                                             .last = OCHE_NEVER,
                                                             .returns = true});
    oche_results_deadlock(results, 0, "s0:s1", 1);
    oche_results_deadlock(results, 1, "s1:s0", 1);
    oche_results_way(results,
                     &(struct oche_results_way){
                         .flow = 1, .packets = 8, .links = 64, .shortest = 48, .deflections = 2});
    oche_results_path(results, &(struct oche_results_path){.flow = 1,
                                                           .hop = 2,
                                                           .node = 3,
                                                           .deflected = true,
                                                           .port = "tor0:agg1",
                                                           .lane = 1,
                                                           .tokens = 3,
                                                           .time = OCHE_US});
    oche_results_path(
        results,
        &(struct oche_results_path){
            .flow = 1, .hop = 2, .ordinary = true, .port = "tor0:agg0", .time = OCHE_NEVER});
    oche_results_congestion(results, &(struct oche_results_congestion){.place = "tor_up",
                                                                       .ports = 4,
                                                                       .packets = 5,
                                                                       .marks = 1,
                                                                       .queueing = OCHE_US,
                                                                       .paused = OCHE_MS,
                                                                       .worst = 2.5,
                                                                       .worst_port = "tor0:agg1",
                                                                       .queue_most = 3000});
    oche_results_congestion(results, &(struct oche_results_congestion){.place = "host_nic",
                                                                       .ports = 2,
                                                                       .queue_most = OCHE_NEVER});
    oche_results_deflection(results, &(struct oche_results_deflection){.time = OCHE_US,
                                                                       .flow = 1,
                                                                       .node = 3,
                                                                       .in_port = "tor0:host3",
                                                                       .port = "tor0:agg1",
                                                                       .lane = 1,
                                                                       .tokens = 3});
    oche_results_deflection(results,
                            &(struct oche_results_deflection){
                                .time = OCHE_MS, .flow = UINT32_MAX, .in_port = "a", .port = "b"});
    return results;
}

static void test_what_is_written_is_there(void **state)
{
    (void)state;
    assert_true(oche_results_finish(fill(), &error));
    assert_int_equal(files(), 1);
    assert_string_equal(ask("PRAGMA user_version"), "4");
    assert_string_equal(ask("PRAGMA integrity_check"), "ok");
    assert_string_equal(ask("SELECT value FROM info"), "a \"quoted\", text");
    assert_string_equal(ask("SELECT value || unit || given FROM parameters"), "12MBbytes1");
    assert_string_equal(ask("SELECT count(*) FROM flows"), "2");
    assert_string_equal(ask("SELECT slowdown FROM flows WHERE id = 0"), "2.5");
    assert_string_equal(ask("SELECT delivered_ps FROM flows WHERE id = 0"), "15000000");
    assert_string_equal(ask("SELECT retransmitted FROM flows WHERE id = 0"), "7");
    assert_string_equal(ask("SELECT delivered_ps FROM flows WHERE id = 1"), "NULL");
    assert_string_equal(ask("SELECT slowdown FROM flows WHERE id = 1"), "NULL");
    assert_string_equal(ask("SELECT bytes FROM flows WHERE id = 1"), "9223372036854775807");
    assert_string_equal(ask("SELECT value FROM counters WHERE name = 'pauses'"), "4");
    assert_string_equal(ask("SELECT value FROM counters WHERE name = 'marks'"),
                        "9223372036854775807");
    assert_string_equal(ask("SELECT value FROM series WHERE series = 1 AND time_ps = 2000000"),
                        "3000.0");
    assert_string_equal(ask("SELECT entity FROM series_names WHERE id = 2"), "flow 0");
    assert_string_equal(ask("SELECT high FROM histograms WHERE low = 1000"), "NULL");
    assert_string_equal(ask("SELECT sum(weight) FROM histograms WHERE histogram = 1"), "1000");
    assert_string_equal(ask("SELECT name || kind || pod FROM nodes WHERE id = 0"), "host0host3");
    assert_string_equal(ask("SELECT pod FROM nodes WHERE id = 1"), "NULL");
    assert_string_equal(ask("SELECT held_ps || root || victim FROM flows WHERE lost_ps = 2000000"),
                        "3000000tor0:host11");
    assert_string_equal(ask("SELECT root FROM flows WHERE id = 1"), "NULL");
    assert_string_equal(
        ask("SELECT printf('%s %d %d %d %d %d %d %d %d %d', port, parent IS NULL, class, depth, "
            "pauses, held_ps, first_ps, last_ps, ports, senders) FROM pause_tree WHERE id = 7"),
        "tor0:host1 1 0 0 3 1000000000 1000000 1000000000000 1 5");
    assert_string_equal(
        ask("SELECT printf('%d %d %d %d %d %d', parent, port IS NULL, class, depth, first_ps IS "
            "NULL, returns) FROM pause_tree WHERE id = 9"),
        "7 1 1 1 1 1");
    assert_string_equal(ask("SELECT group_concat(port || class) FROM deadlock"), "s0:s11,s1:s01");
    assert_string_equal(ask("SELECT printf('%d %d %d %d %d', flow, packets, links, shortest, "
                            "deflections) FROM ways"),
                        "1 8 64 48 2");
    assert_string_equal(
        ask("SELECT printf('%d %d %d %d %s %d %d %d %d', flow, hop, node, deflected, "
            "port, lane, tokens, time_ps, (SELECT count(*) FROM paths WHERE way = "
            "'ordinary' AND lane IS NULL AND tokens IS NULL AND time_ps IS NULL)) "
            "FROM paths WHERE way = 'taken'"),
        "1 2 3 1 tor0:agg1 1 3 1000000 1");
    assert_string_equal(ask("SELECT printf('%d %d %d %d %.1f %s %d %d', ports, packets, marks, "
                            "queueing_ps, worst_ps, worst_port, queue_max, paused_ps) FROM "
                            "congestion WHERE place = 'tor_up'"),
                        "4 5 1 1000000 2.5 tor0:agg1 3000 1000000000");
    assert_string_equal(ask("SELECT ports FROM congestion WHERE worst_ps IS NULL AND worst_port IS "
                            "NULL AND queue_max IS NULL"),
                        "2");
    assert_string_equal(ask("SELECT printf('%d %d %d %s %s %d %d', time_ps, flow, node, in_port, "
                            "port, lane, tokens) FROM deflections ORDER BY id LIMIT 1"),
                        "1000000 1 3 tor0:host3 tor0:agg1 1 3");
    assert_string_equal(ask("SELECT flow FROM deflections ORDER BY id DESC LIMIT 1"), "NULL");
    assert_string_equal(ask("SELECT a || ' ' || port_a || ' ' || b || ' ' || port_b FROM links"),
                        "0 host0 1 spine0:host0");
    assert_string_equal(ask("SELECT rate_bps || ' ' || delay_ps FROM links WHERE id = 0"),
                        "40000000000 1000000");
}

static void test_an_abandoned_run_leaves_nothing(void **state)
{
    (void)state;
    oche_results_abandon(fill());
    assert_int_equal(files(), 0);
}

static void test_an_older_file_stays_until_the_new_one_is_whole(void **state)
{
    (void)state;
    assert_true(oche_results_finish(fill(), &error));
    struct oche_results *results = oche_results_create(path, &error);

    oche_results_info(results, "scenario", "the second");
    assert_string_equal(ask("SELECT value FROM info"), "a \"quoted\", text");
    assert_true(oche_results_finish(results, &error));
    assert_string_equal(ask("SELECT value FROM info"), "the second");
    assert_int_equal(files(), 1);
}

static void test_the_first_error_is_reported(void **state)
{
    struct oche_results *results = fill();
    char expected[OCHE_ERROR_BYTES];

    (void)state;
    oche_results_flow(results, &done); /* the same id again */
    oche_results_counter(results, "all", "marks", 1);
    assert_false(oche_results_finish(results, &error));
    snprintf(expected, sizeof(expected),
             "%s: cannot be written: UNIQUE constraint failed: flows.id", path);
    assert_string_equal(error.text, expected);
    assert_int_equal(files(), 0);
}

static void test_a_place_that_cannot_be_written(void **state)
{
    (void)state;
    assert_null(oche_results_create("/nowhere/run.sqlite", &error));
    assert_string_equal(error.text,
                        "/nowhere/run.sqlite: cannot be written: No such file or directory");
}

/* Any other file of that name is not changed. */
static void test_what_is_not_ours_stays(void **state)
{
    char expected[300];
    FILE *file = fopen(path, "w");
    struct oche_results *results;
    sqlite3 *database;

    (void)state;
    assert_non_null(file);
    fputs("notes", file);
    fclose(file);
    snprintf(expected, sizeof(expected), "%s: not a results file; remove it, or give another --out",
             path);
    assert_null(oche_results_create(path, &error));
    assert_string_equal(error.text, expected);
    assert_string_equal(content("run.sqlite"), "notes");
    unlink(path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_null(oche_results_create(path, &error));
    assert_string_equal(error.text, expected);
    rmdir(path);

    /* Another program's database, a sweep's with tables of these names, an old run's. */
    static const struct {
        const char *sql;
        bool ours;
    } files_of[] = {
        {"CREATE TABLE flows (a); CREATE TABLE notes (b)", false},
        {"CREATE TABLE info (a); CREATE TABLE flows (b); PRAGMA application_id = 1868785765",
         false},
        {"CREATE TABLE info (a); CREATE TABLE flows (b); PRAGMA user_version = 1", true},
        {"", true},
    };

    for (size_t i = 0; i < OCHE_COUNT_OF(files_of); i++) {
        assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
        assert_int_equal(sqlite3_exec(database, files_of[i].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(database);
        results = oche_results_create(path, &error);
        assert_int_equal(results != NULL, files_of[i].ours);
        oche_results_abandon(results);
        assert_int_equal(files(), 1);
        unlink(path);
    }

    /* A file that takes the name during the run is not changed either. */
    results = oche_results_create(path, &error);
    assert_non_null(results);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_false(oche_results_finish(results, &error));
    assert_non_null(strstr(error.text, "run.sqlite: cannot be written: "));
    assert_int_equal(files(), 1);
    rmdir(path);
}

static void test_csv(void **state)
{
    struct oche_results *results = fill();

    (void)state;
    assert_true(oche_results_csv(results, folder, &error));
    assert_true(oche_results_finish(results, &error));
    assert_int_equal(files(), 5);
    assert_string_equal(content("metrics.csv"), "name,unit,value\n");
    assert_string_equal(
        content("flows.csv"),
        "id,workload,src,dst,bytes,start_ps,delivered_ps,completed_ps,ideal_ps,slowdown,"
        "retransmitted,timeouts,status,measured,held_ps,lost_ps,root,victim,verb\n"
        "0,1,2,3,1000,5000000,15000000,16000000,4000000,2.5,7,0,completed,1,3000000,2000000,"
        "tor0:host1,1,read\n"
        "1,0,0,0,9223372036854775807,1000000000,,,1000000,,0,0,\"failed: a, "
        "\"\"b\"\"\",0,0,0,,0,write\n");
    assert_string_equal(content("series.csv"), "name,entity,unit,time_ps,value\n"
                                               "queue,tor0:host1,bytes,1000000,1000\n"
                                               "queue,tor0:host1,bytes,2000000,3000\n"
                                               "rate,flow 0,bps,1000000,2500000000\n");
    assert_string_equal(content("counters.csv"), "entity,name,value\n"
                                                 "all,marks,9223372036854775807\n"
                                                 "tor0:host1,pauses,4\n");
}

/* And the same under schema 3's name, as a view. */
static void test_metrics(void **state)
{
    struct oche_results *results = oche_results_create(path, &error);

    (void)state;
    oche_results_counter(results, "host3", "acks_sent", 4);
    oche_results_metric(results, "acks", "count", "ACKs sent", 7);
    oche_results_metric(results, "pause_time", "s", "time that ports were held", 1.000000000003);
    oche_results_metric(results, "fct.all.p99", "s", "99th percentile", 0.25);
    oche_results_metric(results, "rejected_packets", "count", "thrown away", 5);
    oche_results_metric(results, "late_packets", "count", "too late", 6);
    oche_results_metric(results, "iofd.deflections", "count", "deflected", 8);
    oche_results_metric(results, "iofd.short_flows", "count", "short", 9);
    oche_results_metric(results, "dart.groups.void", "count", "void", 10);
    assert_true(oche_results_csv(results, folder, &error));
    assert_true(oche_results_finish(results, &error));
    assert_string_equal(content("metrics.csv"), "name,unit,value\n"
                                                "acks,count,7\n"
                                                "dart.groups.void,count,10\n"
                                                "fct.all.p99,s,0.25\n"
                                                "iofd.deflections,count,8\n"
                                                "iofd.short_flows,count,9\n"
                                                "late_packets,count,6\n"
                                                "pause_time,s,1.000000000003\n"
                                                "rejected_packets,count,5\n");
    assert_string_equal(ask("SELECT unit || ': ' || help FROM metric_names WHERE name = 'acks'"),
                        "count: ACKs sent");
    assert_string_equal(ask("SELECT group_concat(name || ' ' || value, ', ') FROM (SELECT * FROM "
                            "counters WHERE value > 0 ORDER BY entity, name)"),
                        "dart_groups_void 10, iofd.deflections 8, late_packets 6, nic_acks_sent 7, "
                        "nic_rejected_packets 11, pause_time 1000000000003, rejected_packets 5, "
                        "acks_sent 4");
    assert_string_equal(
        ask("SELECT value || typeof(value) FROM counters WHERE name = 'marks_core'"), "0integer");
    assert_string_equal(ask("SELECT count(*) = count(DISTINCT name) FROM counters"), "1");
    assert_string_equal(ask("SELECT count(*) FROM counters WHERE name LIKE 'dart%'"), "1");
    assert_string_equal(ask("SELECT count(*) FROM entity_counters"), "1");
}

static void test_csv_that_cannot_be_written(void **state)
{
    struct oche_results *results = fill();

    (void)state;
    assert_false(oche_results_csv(results, "/nowhere", &error));
    assert_string_equal(error.text,
                        "/nowhere/flows.csv: cannot be written: No such file or directory");
    oche_results_abandon(results);
}

static void test_folders_are_made(void **state)
{
    char deep[128], expected[256];
    struct stat status;

    (void)state;
    snprintf(deep, sizeof(deep), "%s/a/b/c", folder);
    assert_true(oche_results_folder(deep, &error));
    assert_true(oche_results_folder(deep, &error));
    assert_int_equal(stat(deep, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_true(oche_results_folder(".", &error));
    assert_true(oche_results_folder("/tmp/", &error));

    assert_true(oche_results_finish(fill(), &error));
    assert_false(oche_results_folder(path, &error));
    snprintf(expected, sizeof(expected),
             "\"%s\" is a file; give a folder for the results, or the name of a new one", path);
    assert_string_equal(error.text, expected);
    assert_false(oche_results_folder("/dev/null/x", &error));
    assert_string_equal(
        error.text,
        "\"/dev/null\" is no folder; give a folder for the results, or the name of a new one");
    assert_false(oche_results_folder("", &error));
    assert_string_equal(error.text, "\"\" names no folder; give one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_written_is_there, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_an_abandoned_run_leaves_nothing, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_an_older_file_stays_until_the_new_one_is_whole,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_the_first_error_is_reported, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_what_is_not_ours_stays, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_place_that_cannot_be_written, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_csv, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_metrics, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_csv_that_cannot_be_written, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_folders_are_made, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
