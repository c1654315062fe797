/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report's data: results as the program writes them and the data made from them, against numbers
 * worked out by hand. Damaged and foreign files are rejected in one line, or left out.
 */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>
#include <json-c/json_pointer.h>
#include <sqlite3.h>

#include "report/report.h"
#include "store/store.h"
#include "store/sweep_store.h"

#define HOSTS   50
#define SAMPLES 1000
#define WARMUP  (1 * OCHE_MS)
#define STEP    (1 * OCHE_US)

static char folder[64];
static struct oche_error error;
static struct json_object *data; /* of the last report */
static uint64_t next_flow;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/oche-report-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    json_object_put(data);
    data = NULL;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[160];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void report(void)
{
    size_t bytes;
    char *text = oche_report_data(folder, "oche test", "oche report", NULL, &bytes, &error);

    if (text == NULL)
        print_message("%s\n", error.text);
    assert_non_null(text);
    assert_int_equal(bytes, strlen(text));
    assert_null(strchr(text, '<'));
    json_object_put(data);
    data = json_tokener_parse(text);
    assert_non_null(data);
    free(text);
}

/* The report's text instead. `name` is the file that it refers to. */
static void assert_refused(const char *name, const char *what)
{
    char expected[1024];
    size_t bytes;

    assert_null(oche_report_data(folder, "oche", "oche", NULL, &bytes, &error));
    snprintf(expected, sizeof(expected), "%s%s%s: %s", folder, name[0] == '\0' ? "" : "/", name,
             what);
    assert_string_equal(error.text, expected);
}

/* Returns the value there, or NULL: no value, or null. */
static struct json_object *at(const char *path)
{
    struct json_object *value = NULL;
    char full[256];

    snprintf(full, sizeof(full), "/documents/%s", path);
    return json_pointer_get(data, full, &value) == 0 ? value : NULL;
}

static double number(const char *path)
{
    struct json_object *value = at(path);

    assert_non_null(value);
    return json_object_get_double(value);
}

static const char *text(const char *path)
{
    struct json_object *value = at(path);

    assert_non_null(value);
    return json_object_get_string(value);
}

static size_t length(const char *path)
{
    struct json_object *value = at(path);

    assert_non_null(value);
    return json_object_array_length(value);
}

/* ---- a run ---- */

static void add_network(struct oche_results *results)
{
    char name[32], other[32];

    for (uint32_t i = 0; i < HOSTS; i++) {
        snprintf(name, sizeof(name), "host%u", i);
        oche_results_node(results, i, name, "host", i / 25);
    }
    oche_results_node(results, HOSTS, "tor0", "tor", 0);
    oche_results_node(results, HOSTS + 1, "tor1", "tor", 1);
    oche_results_node(results, HOSTS + 2, "spine0", "core", UINT32_MAX);
    for (uint32_t i = 0; i < HOSTS; i++) {
        snprintf(name, sizeof(name), "host%u", i);
        snprintf(other, sizeof(other), "tor%u:host%u", i / 25, i);
        oche_results_link(results, &(struct oche_results_link){.a = i,
                                                               .b = HOSTS + i / 25,
                                                               .port_a = name,
                                                               .port_b = other,
                                                               .rate_bps = 10 * OCHE_GBPS,
                                                               .delay = OCHE_US});
    }
    for (uint32_t i = 0; i < 2; i++) { /* from the spine down: the order is reversed */
        snprintf(name, sizeof(name), "spine0:tor%u", i);
        snprintf(other, sizeof(other), "tor%u:spine0", i);
        oche_results_link(results, &(struct oche_results_link){.a = HOSTS + 2,
                                                               .b = HOSTS + i,
                                                               .port_a = name,
                                                               .port_b = other,
                                                               .rate_bps = 40 * OCHE_GBPS,
                                                               .delay = OCHE_US});
    }
    /* In 1 ms 10 Gbit/s carry 1,250,000 bytes. */
    oche_results_counter(results, "host0", "line_bytes", 1250000);
    oche_results_counter(results, "host1", "line_bytes", 250000);
    oche_results_counter(results, "tor1:host30", "line_bytes", 625000);
    oche_results_counter(results, "spine0:tor1", "line_bytes", 500000);
    oche_results_counter(results, "host1", "paused_time_0", 3 * OCHE_US);
    oche_results_counter(results, "host1", "paused_time_3", 1 * OCHE_US);
    oche_results_counter(results, "tor0:spine0", "paused_time_0", 5 * OCHE_US);
    oche_results_counter(results, "tor0:host0", "max_queue_bytes", 777);
    oche_results_metric(results, "pauses", "count", "", 9);
    oche_results_metric(results, "goodput", "bps", "", 2.5e9);
    oche_results_metric(results, "queue.tor0:host0.mean", "bytes", "", 143.5);
}

static void add_flow(struct oche_results *results, uint64_t bytes, oche_time time,
                     const char *status, bool measured)
{
    bool done = strcmp(status, "completed") == 0;

    oche_results_flow(results,
                      &(struct oche_results_flow){.id = next_flow++,
                                                  .dst = 1,
                                                  .bytes = bytes,
                                                  .started = WARMUP,
                                                  .delivered = done ? WARMUP + time : OCHE_NEVER,
                                                  .completed = done ? WARMUP + time : OCHE_NEVER,
                                                  .ideal = OCHE_US,
                                                  .status = status,
                                                  .measured = measured});
}

static void add_series(struct oche_results *results)
{
    uint32_t all = oche_results_series(results, "goodput", "all", "bps");
    uint32_t flow = oche_results_series(results, "goodput", "flow 0", "bps");
    uint32_t held = oche_results_series(results, "held", "host1", "ratio");
    uint32_t less = oche_results_series(results, "held", "tor0:spine0", "ratio");
    uint32_t queue = oche_results_histogram(results, "queue", "tor0:host0", "bytes", "ps");

    for (uint32_t i = 0; i < SAMPLES; i++) {
        oche_results_point(results, all, WARMUP + (i + 1) * STEP, i);
        if (i < 10)
            oche_results_point(results, flow, WARMUP + (i + 1) * STEP, 8);
    }
    for (uint32_t i = 0; i < 10; i++)
        oche_results_point(results, held, WARMUP + (i + 1) * STEP, 0.5);
    oche_results_point(results, less, WARMUP + SAMPLES * STEP, 1);
    oche_results_bucket(results, queue, 0, 100, 500);
    oche_results_bucket(results, queue, 100, 200, 400);
    oche_results_bucket(results, queue, 700, OCHE_NEVER, 100);
}

static void write_run(const char *name, const char *scenario, const char *label)
{
    struct oche_results *results = oche_results_create(path_of(name), &error);

    assert_non_null(results);
    next_flow = 0;
    oche_results_info(results, "scenario", scenario);
    oche_results_info(results, "label", label);
    oche_results_info(results, "simulated_ps", "2000000000");
    oche_results_info(results, "measured_ps", "1000000000");
    oche_results_parameter(results, "seed", "1", "count", true);
    add_network(results);
    add_flow(results, 5000, 2 * OCHE_US, "completed", true);
    add_flow(results, 9999, 4 * OCHE_US, "completed", true);
    add_flow(results, 10000, 8 * OCHE_US, "completed", true);
    add_flow(results, 5000, 0, "unfinished", true);
    add_flow(results, 5000, 0, "failed: retries exceeded", true);
    add_flow(results, 5000, 1 * OCHE_US, "completed", false);
    add_series(results);
    assert_true(oche_results_finish(results, &error));
}

static void test_a_run(void **state)
{
    (void)state;
    write_run("run.sqlite", "</script>", "");
    report();
    assert_string_equal(text("0/kind"), "runs");
    assert_string_equal(text("0/scenario"), "</script>");
    assert_string_equal(text("0/runs/0/file"), "run.sqlite");
    assert_string_equal(text("0/runs/0/parameters/0/0"), "seed");
    assert_int_equal(number("0/runs/0/metrics/pauses/0"), 9);

    /* Flows: two ranges that have any, and all. */
    assert_int_equal(number("0/runs/0/flows/in_warmup"), 1);
    assert_int_equal(length("0/runs/0/flows/ranges"), 3);
    assert_int_equal(number("0/runs/0/flows/ranges/0/to"), 10000);
    assert_int_equal(number("0/runs/0/flows/ranges/0/started"), 4);
    assert_int_equal(number("0/runs/0/flows/ranges/0/delivered"), 2);
    assert_int_equal(number("0/runs/0/flows/ranges/0/failed"), 1);
    assert_int_equal(number("0/runs/0/flows/ranges/1/from"), 10000);
    assert_int_equal(number("0/runs/0/flows/ranges/1/started"), 1);
    assert_null(at("0/runs/0/flows/ranges/2/to"));
    assert_int_equal(number("0/runs/0/flows/ranges/2/started"), 5);
    assert_int_equal(number("0/runs/0/flows/ranges/2/delivered"), 3);
    assert_true(number("0/runs/0/flows/ranges/2/fct/0") == 4e-6);   /* p50 */
    assert_true(number("0/runs/0/flows/ranges/2/fct/4") == 8e-6);   /* largest */
    assert_true(number("0/runs/0/flows/ranges/2/slowdown/0") == 4); /* ideal: 1 us */
    assert_true(number("0/runs/0/flows/ranges/2/slowdown_curve/0") == 2);
    assert_true(number("0/runs/0/flows/ranges/2/goodput/4") == 2e10); /* 5000 B in 2 us */
    assert_int_equal(number("0/runs/0/flows/fine/0/from"), 5000);
    assert_int_equal(length("0/runs/0/flows/fine"), 2);
}

static void test_series_of_a_run(void **state)
{
    (void)state;
    write_run("run.sqlite", "a", "");
    report();
    assert_int_equal(length("0/runs/0/series"), 2); /* held ports are elsewhere */
    assert_int_equal(number("0/runs/0/series/0/width"), 3);
    assert_int_equal(length("0/runs/0/series/0/mean"), 334);
    assert_true(number("0/runs/0/series/0/mean/1") == 4);
    assert_true(number("0/runs/0/series/0/least/1") == 3);
    assert_true(number("0/runs/0/series/0/most/1") == 5);
    assert_true(number("0/runs/0/series/0/mean/333") == 999);
    assert_true(number("0/runs/0/series/0/step_s") == 1e-6);
    assert_true(number("0/runs/0/series/0/first_s") == 0.001001);
    assert_string_equal(text("0/runs/0/series/1/about"), "host0 → host1");
    assert_int_equal(number("0/runs/0/series/1/width"), 1);

    assert_int_equal(length("0/runs/0/held/timeline/ports"), 2);
    assert_string_equal(text("0/runs/0/held/timeline/ports/0/port"), "host1");
    assert_string_equal(text("0/runs/0/held/timeline/ports/0/kind"), "host");
    assert_true(number("0/runs/0/held/timeline/ports/0/held_s") == 5e-6);
    assert_int_equal(length("0/runs/0/held/timeline/ports/0/at"), 2);
    assert_true(number("0/runs/0/held/timeline/ports/0/share/1") == 0.5);
    assert_int_equal(number("0/runs/0/held/timeline/ports/1/at/0"), 199);
    assert_true(number("0/runs/0/held/timeline/ports/1/share/0") == 0.2); /* 1 of 5 */
    assert_true(number("0/runs/0/held/timeline/start_s") == 0.001);
    assert_true(number("0/runs/0/held/timeline/step_s") == 5e-6);

    assert_true(number("0/runs/0/queues/0/most") == 777);
    assert_true(number("0/runs/0/queues/0/summary/0") == 0);   /* half of the time */
    assert_true(number("0/runs/0/queues/0/summary/1") == 100); /* p90 */
    assert_true(number("0/runs/0/queues/0/summary/2") == 700); /* p99 */
    /* The mean is the exact one of the run, not the histogram's, which would be 110. */
    assert_true(number("0/runs/0/queues/0/summary/5") == 143.5);
}

/*
 * The forest. The nodes held longest are shown with their parents. Flows by their share of lost
 * time; a deadlock.
 */
static void test_pauses_of_a_run(void **state)
{
    struct oche_results *results;

    (void)state;
    results = oche_results_create(path_of("run.sqlite"), &error);
    assert_non_null(results);
    add_network(results);
    for (uint32_t i = 0; i < 400; i++) /* 200 pairs of a hot spot and a port that it held */
        oche_results_pause(
            results, &(struct oche_results_pause){.id = i,
                                                  .parent = i % 2 == 0 ? UINT32_MAX : i - 1,
                                                  .port = i == 0       ? NULL
                                                          : i % 2 == 0 ? "tor0:host1"
                                                                       : "host2",
                                                  .depth = i % 2,
                                                  .pauses = i,
                                                  .held = i % 2 == 0 ? 1 : (1000 - i) * OCHE_US,
                                                  .first = OCHE_US,
                                                  .last = OCHE_MS,
                                                  .senders = 4,
                                                  .returns = i == 1});
    for (uint32_t i = 0; i < 30; i++) /* each lost 1 us more, of 100 */
        oche_results_flow(results, &(struct oche_results_flow){.id = i,
                                                               .dst = 1,
                                                               .bytes = 5000,
                                                               .started = WARMUP,
                                                               .delivered = WARMUP + 100 * OCHE_US,
                                                               .completed = OCHE_NEVER,
                                                               .status = "completed",
                                                               .measured = true,
                                                               .held = 50 * OCHE_US,
                                                               .lost = i * OCHE_US,
                                                               .root = "tor0:host1",
                                                               .victim = i >= 10});
    oche_results_deadlock(results, 0, "tor0:spine0", 0);
    oche_results_deadlock(results, 1, "spine0:tor1", 0);
    assert_true(oche_results_finish(results, &error));
    report();
    assert_int_equal(number("0/runs/0/pauses/hot_spots"), 200);
    assert_int_equal(number("0/runs/0/pauses/nodes"), 400);
    assert_int_equal(length("0/runs/0/pauses/tree"), 300);
    assert_null(at("0/runs/0/pauses/tree/0/port"));
    assert_null(at("0/runs/0/pauses/tree/0/parent"));
    assert_int_equal(number("0/runs/0/pauses/tree/0/branches"), 1);
    assert_int_equal(number("0/runs/0/pauses/tree/0/senders"), 4);
    assert_string_equal(text("0/runs/0/pauses/tree/1/port"), "host2");
    assert_int_equal(number("0/runs/0/pauses/tree/1/parent"), 0);
    assert_true(number("0/runs/0/pauses/tree/1/held_s") == 0.000999);
    assert_true(number("0/runs/0/pauses/tree/1/first_s") == 1e-6);
    assert_true(number("0/runs/0/pauses/tree/1/last_s") == 1e-3);
    assert_true(json_object_get_boolean(at("0/runs/0/pauses/tree/1/returns")));
    assert_int_equal(number("0/runs/0/pauses/tree/299/id"), 299);
    assert_int_equal(number("0/runs/0/pauses/victims"), 20);
    assert_int_equal(length("0/runs/0/pauses/flows"), 20);
    assert_int_equal(number("0/runs/0/pauses/flows/0/id"), 29);
    assert_string_equal(text("0/runs/0/pauses/flows/0/dst"), "host1");
    assert_string_equal(text("0/runs/0/pauses/flows/0/root"), "tor0:host1");
    assert_true(number("0/runs/0/pauses/flows/0/life_s") == 1e-4);
    assert_true(number("0/runs/0/pauses/flows/0/lost_s") == 2.9e-5);
    assert_true(json_object_get_boolean(at("0/runs/0/pauses/flows/19/victim")));
    assert_string_equal(text("0/runs/0/pauses/deadlock/1"), "spine0:tor1");

    write_run("run.sqlite", "a", "");
    report();
    assert_int_equal(number("0/runs/0/pauses/hot_spots"), 0);
    assert_int_equal(length("0/runs/0/pauses/tree"), 0);
    assert_int_equal(length("0/runs/0/pauses/flows"), 0);
    assert_int_equal(length("0/runs/0/pauses/deadlock"), 0);
}

static void test_topology_of_a_run(void **state)
{
    (void)state;
    write_run("run.sqlite", "a", "");
    report();
    assert_int_equal(number("0/runs/0/topology/hosts"), HOSTS);
    assert_int_equal(length("0/runs/0/topology/groups"), 5);
    assert_string_equal(text("0/runs/0/topology/groups/1/name"), "host25");
    assert_string_equal(text("0/runs/0/topology/groups/1/last"), "host49");
    assert_int_equal(number("0/runs/0/topology/groups/1/nodes"), 25);
    assert_int_equal(number("0/runs/0/topology/groups/1/tor"), 3);
    assert_string_equal(text("0/runs/0/topology/groups/4/kind"), "core");
    assert_int_equal(length("0/runs/0/topology/links"), 4);
    assert_int_equal(number("0/runs/0/topology/links/0/links"), 25);
    assert_true(number("0/runs/0/topology/links/0/ab/0") == 0.048); /* (1 + 0.2) / 25 */
    assert_true(number("0/runs/0/topology/links/0/ab/1") == 1);
    assert_string_equal(text("0/runs/0/topology/links/0/ab/2"), "host0");
    assert_true(number("0/runs/0/topology/links/0/ba/1") == 0);
    assert_true(number("0/runs/0/topology/links/1/ba/0") == 0.02);
    assert_string_equal(text("0/runs/0/topology/links/1/ba/2"), "tor1:host30");
    assert_int_equal(number("0/runs/0/topology/links/3/a"), 3);
    assert_int_equal(number("0/runs/0/topology/links/3/b"), 4);
    assert_true(number("0/runs/0/topology/links/3/ab/0") == 0);
    assert_true(number("0/runs/0/topology/links/3/ba/0") == 0.1);
}

static void test_runs_are_put_together(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"b", "a10", "a9"};

        assert_int_equal(mkdir(path_of(names[i]), 0777), 0);
    }
    write_run("b/run.sqlite", "one", "dcqcn");
    write_run("a10/run.sqlite", "one", "none");
    write_run("a9/run.sqlite", "two", "");
    report();
    assert_int_equal(json_object_array_length(json_object_object_get(data, "documents")), 2);
    assert_string_equal(text("0/scenario"), "two"); /* a9, a10, b */
    assert_int_equal(length("1/runs"), 2);
    assert_string_equal(text("1/runs/0/file"), "a10/run.sqlite");
    assert_string_equal(text("1/runs/1/info/label"), "dcqcn");
}

/* ---- a sweep, a figure ---- */

static const char *const losses[] = {"0", "1e-3", "1e-2"};
static const char *const schemes[] = {"gbn", "irn"};

/* Points 0 … 11: three losses, two schemes, two seeds; 5 crashed, 6 and 7 are missing. */
static struct oche_sweep_store *write_sweep(const char *name, const char *kind)
{
    const struct oche_sweep_axis axes[] = {{"loss", losses, 3}, {"scheme", schemes, 2}};
    const struct oche_sweep_description description = {.program = "oche test",
                                                       .command = "oche sweep",
                                                       .kind = kind,
                                                       .scenario = "a.yaml",
                                                       .scenario_text = "a: b",
                                                       .grid = "grid",
                                                       .seed = 1,
                                                       .repeats = 2,
                                                       .axes = axes,
                                                       .axis_count = 2};
    struct oche_sweep_store *store =
        oche_sweep_store_open(path_of(name), &description, false, &error);

    assert_non_null(store);
    for (size_t i = 0; i < 12; i++) {
        const size_t numbers[] = {i / 4, i / 2 % 2};
        const double percentiles[] = {1, 2, (double)(10 + i)};
        bool crashed = i == 5;

        if (i == 6 || i == 7)
            continue;
        oche_sweep_store_begin(store);
        oche_sweep_store_point(store,
                               &(struct oche_sweep_point){.id = i,
                                                          .repeat = (uint32_t)(i % 2),
                                                          .seed = UINT64_MAX - i % 2,
                                                          .status = crashed ? "crashed" : "done",
                                                          .error = crashed ? "signal" : NULL,
                                                          .numbers = numbers});
        if (!crashed) {
            oche_sweep_store_metric(store, i, "goodput", "bps", "help", (double)(100 * i));
            oche_sweep_store_distribution(store, i, "fct", "s", 10, percentiles, 3, 500);
        }
        assert_true(oche_sweep_store_commit(store, &error));
    }
    return store;
}

static void test_a_sweep(void **state)
{
    (void)state;
    oche_sweep_store_close(write_sweep("sweep.sqlite", "sweep"));
    report();
    assert_string_equal(text("0/kind"), "sweep");
    assert_string_equal(text("0/axes/0/key"), "loss");
    assert_string_equal(text("0/axes/0/values/2"), "1e-2");
    /* Of six combinations five have points: (0, 0), (0, 1), (1, 0), (2, 0), (2, 1). */
    assert_int_equal(length("0/combinations/0"), 5);
    assert_int_equal(number("0/combinations/0/3"), 2);
    assert_int_equal(number("0/combinations/1/3"), 0);
    assert_int_equal(number("0/done/0"), 2);
    assert_int_equal(number("0/done/2"), 1);
    assert_int_equal(number("0/points"), 10);
    assert_int_equal(number("0/not_done"), 1);
    assert_int_equal(number("0/listed/0/point"), 5);
    assert_int_equal(number("0/listed/0/combination"), 2);
    assert_string_equal(text("0/listed/0/seed"), "18446744073709551614");
    assert_string_equal(text("0/listed/0/error"), "signal");
    assert_string_equal(text("0/metrics/0/name"), "goodput");
    assert_null(at("0/metrics/0/count")); /* every point that is done has it */
    assert_true(number("0/metrics/0/mean/1") == 250);
    assert_true(number("0/metrics/0/deviation/1") == 70.711);
    assert_true(number("0/metrics/0/least/1") == 200 && number("0/metrics/0/most/1") == 300);
    assert_true(number("0/metrics/0/mean/2") == 400);
    assert_null(at("0/metrics/0/deviation/2")); /* one point left */
    assert_int_equal(length("0/distributions/0/at"), 43);
    assert_true(number("0/distributions/0/curves/1/42") == 12.5); /* 12 and 13 */
    assert_true(number("0/distributions/0/curves/1/20") == 2);
    assert_null(at("0/distributions/0/curves/1/1")); /* not kept */
}

static void test_a_figure(void **state)
{
    struct oche_sweep_store *store = write_sweep("fig10.sqlite", "figure");

    (void)state;
    oche_sweep_store_begin(store);
    oche_sweep_store_info(store, "figure", "fig10");
    uint32_t claim =
        oche_sweep_store_claim(store, &(struct oche_sweep_claim){.name = "c",
                                                                 .text = "claim",
                                                                 .published = 0.7,
                                                                 .published_text = "70%",
                                                                 .unit = "ratio",
                                                                 .measured = 0.123456789,
                                                                 .low = 0.1,
                                                                 .high = 0.2,
                                                                 .verdict = "in shape",
                                                                 .explanation = "why",
                                                                 .unsure = true});
    oche_sweep_store_reading(store, claim,
                             &(struct oche_sweep_reading){.label = "to the <letter>",
                                                          .measured = 0.25,
                                                          .low = NAN,
                                                          .high = NAN,
                                                          .verdict = "not reproduced"});
    uint32_t empty = oche_sweep_store_plot(store, &(struct oche_sweep_plot){.title = "empty"});
    uint32_t plot = oche_sweep_store_plot(store, &(struct oche_sweep_plot){.title = "the <second>",
                                                                           .x_name = "loss",
                                                                           .x_scale = "log",
                                                                           .y_name = "throughput",
                                                                           .y_scale = "linear"});
    uint32_t curve = oche_sweep_store_curve(
        store, &(struct oche_sweep_curve){
                   .plot = plot, .label = "GBN", .kind = "published", .y_unit = "ratio"});
    oche_sweep_store_curve_point(store, curve, 1e-3, 0.5, 0.25, 0.75);
    oche_sweep_store_difference(store, "another <network>");
    assert_true(oche_sweep_store_commit(store, &error));
    oche_sweep_store_close(store);
    oche_sweep_store_close(write_sweep("fig9.sqlite", "figure"));
    report();
    assert_string_equal(text("0/file"), "fig9.sqlite");
    assert_string_equal(text("1/kind"), "figure");
    assert_string_equal(text("1/info/figure"), "fig10");
    assert_string_equal(text("1/claims/0/verdict"), "in shape");
    assert_true(number("1/claims/0/measured") == 0.123456789);
    assert_true(number("1/claims/0/unsure") == 1);
    assert_string_equal(text("1/claims/0/readings/0/label"), "to the <letter>");
    assert_string_equal(text("1/claims/0/readings/0/verdict"), "not reproduced");
    assert_true(number("1/claims/0/readings/0/measured") == 0.25);
    assert_int_not_equal(empty, plot);
    assert_string_equal(text("1/plots/0/title"), "empty");
    assert_null(at("1/plots/0/curves/0"));
    assert_string_equal(text("1/plots/1/title"), "the <second>");
    assert_string_equal(text("1/plots/1/x_name"), "loss");
    assert_string_equal(text("1/plots/1/x_scale"), "log");
    assert_string_equal(text("1/plots/1/y_name"), "throughput");
    assert_string_equal(text("1/plots/1/y_scale"), "linear");
    assert_string_equal(text("1/plots/1/curves/0/kind"), "published");
    assert_true(number("1/plots/1/curves/0/points/0/3") == 0.75);
    assert_string_equal(text("1/differences/0"), "another <network>");
    assert_int_equal(number("1/points"), 10);
}

/* ---- rejected files ---- */

static void run_sql(const char *name, const char *sql)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path_of(name), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/* Schema 1: one plot, whose axes are in info. Early claims did not state their certainty. */
static void test_an_older_figure(void **state)
{
    struct oche_sweep_store *store = write_sweep("fig1.sqlite", "figure");

    (void)state;
    oche_sweep_store_begin(store);
    oche_sweep_store_info(store, "x_name", "loss");
    oche_sweep_store_info(store, "x_scale", "log");
    oche_sweep_store_claim(store, &(struct oche_sweep_claim){.name = "c", .unsure = true});
    oche_sweep_store_curve_point(
        store, oche_sweep_store_curve(store, &(struct oche_sweep_curve){.plot = 7, .label = "a"}),
        1, 2, NAN, NAN);
    assert_true(oche_sweep_store_commit(store, &error));
    oche_sweep_store_close(store);
    run_sql("fig1.sqlite", "DROP TABLE plots; ALTER TABLE curves DROP COLUMN plot;"
                           "ALTER TABLE claims DROP COLUMN unsure;"
                           "ALTER TABLE claims DROP COLUMN source; PRAGMA user_version = 1");
    report();
    assert_string_equal(text("0/claims/0/name"), "c");
    assert_true(number("0/claims/0/unsure") == 0);
    assert_string_equal(text("0/plots/0/x_scale"), "log");
    assert_string_equal(text("0/plots/0/x_name"), "loss");
    assert_string_equal(text("0/plots/0/curves/0/label"), "a");
    assert_true(number("0/plots/0/curves/0/points/0/1") == 2);
    run_sql("fig1.sqlite", "ALTER TABLE claims DROP COLUMN tolerance");
    assert_refused("fig1.sqlite", "was made by another version of the program (no such column: "
                                  "tolerance); make it again, or use that one");
    run_sql("fig1.sqlite", "PRAGMA user_version = 4");
    assert_refused("fig1.sqlite", "is of schema 4, and this program reads 1 to 3; make it again "
                                  "with oche sweep or oche reproduce");
}

static void test_what_is_refused(void **state)
{
    (void)state;
    assert_refused(
        "", "has no results; give a folder or a file that oche run, oche sweep or oche reproduce "
            "has written");
    run_sql("other.sqlite", "CREATE TABLE something (a)"); /* somebody else's is left out */
    assert_refused(
        "", "has no results; give a folder or a file that oche run, oche sweep or oche reproduce "
            "has written");
    write_run("run.sqlite", "a", "");
    report();
    run_sql("run.sqlite", "PRAGMA user_version = 1");
    assert_refused("run.sqlite", "is of schema 1, and this program reads 4; make it again with "
                                 "oche run");
    run_sql("run.sqlite", "PRAGMA user_version = 4; UPDATE links SET b = 99 WHERE id = 3");
    assert_refused("run.sqlite", "damaged: a link leads to a node that is not there");
    run_sql("run.sqlite", "DELETE FROM links; DELETE FROM nodes WHERE id = 7");
    assert_refused("run.sqlite", "damaged: its nodes are not numbered one by one");
    run_sql("run.sqlite", "DELETE FROM nodes; DROP TABLE series");
    assert_refused("run.sqlite", "was made by another version of the program (no such table: "
                                 "series); make it again, or use that one");
    unlink(path_of("run.sqlite"));

    FILE *out = fopen(path_of("fig1.sqlite"), "w");

    assert_non_null(out);
    for (int i = 0; i < 1000; i++)
        fputs("not a database ", out);
    fclose(out);
    assert_refused("fig1.sqlite",
                   "is not a results file (file is not a database); move it elsewhere, or "
                   "give a file that oche run, oche sweep or oche reproduce has "
                   "written");
}

/* Where a clock starts flows, link use counts the bytes sent until arrivals stopped. */
static void test_use_of_links_without_drain(void **state)
{
    (void)state;
    write_run("run.sqlite", "a", "");
    run_sql("run.sqlite", "INSERT INTO info VALUES ('load_ps', '500000000');"
                          "INSERT INTO entity_counters VALUES "
                          "('host0', 'line_bytes_of_load', 312500)");
    report();
    /* half of 10 Gbit/s in 0.5 ms, of one host in 25; the drain of host1 does not count */
    assert_true(number("0/runs/0/topology/links/0/ab/0") == 0.02);
    assert_true(number("0/runs/0/topology/links/0/ab/1") == 0.5);
}

/* Any numbers in a file are read, but none is trusted. */
static void test_numbers_that_cannot_be(void **state)
{
    (void)state;
    write_run("run.sqlite", "a", "");
    run_sql("run.sqlite", "UPDATE flows SET bytes = -5, delivered_ps = -1, slowdown = 9e999;"
                          "UPDATE links SET rate_bps = 0; UPDATE series SET time_ps = -time_ps;"
                          "UPDATE info SET value = 'x' WHERE key = 'measured_ps';"
                          "UPDATE histograms SET weight = 0");
    report();
    assert_null(at("0/runs/0/topology/links/0/ab/0"));
    oche_sweep_store_close(write_sweep("sweep.sqlite", "sweep"));
    run_sql("sweep.sqlite", "UPDATE metrics SET value = 'x' WHERE point = 1; UPDATE metrics SET "
                            "value = 9e999 WHERE point = 0; UPDATE point_values SET number = 77 "
                            "WHERE point = 2; DELETE FROM axis_values WHERE axis = 1");
    assert_refused("sweep.sqlite", "damaged: its grid is too large or empty");
    run_sql("sweep.sqlite", "INSERT INTO axis_values VALUES (1, 0, 'gbn'), (1, 1, 'irn')");
    report();
    assert_int_equal(number("1/points"), 10);
}

static void test_page(void **state)
{
    char read[64] = "";

    (void)state;
    assert_true(oche_report_write(path_of("page"), "<a>" OCHE_REPORT_MARK "<b>", "{}", &error));
    FILE *in = fopen(path_of("page"), "r");

    assert_non_null(in);
    assert_true(fread(read, 1, sizeof(read) - 1, in) > 0);
    fclose(in);
    assert_string_equal(read, "<a>{}<b>");
    assert_false(oche_report_write(path_of("page"), "no mark", "{}", &error));
    assert_false(oche_report_write("/nowhere/page", OCHE_REPORT_MARK, "{}", &error));
    assert_string_equal(
        error.text,
        "/nowhere/page: cannot be written: No such file or directory; give a place that can be");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_run),
        IN_FOLDER(test_series_of_a_run),
        IN_FOLDER(test_pauses_of_a_run),
        IN_FOLDER(test_topology_of_a_run),
        IN_FOLDER(test_use_of_links_without_drain),
        IN_FOLDER(test_runs_are_put_together),
        IN_FOLDER(test_a_sweep),
        IN_FOLDER(test_a_figure),
        IN_FOLDER(test_an_older_figure),
        IN_FOLDER(test_what_is_refused),
        IN_FOLDER(test_numbers_that_cannot_be),
        IN_FOLDER(test_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
