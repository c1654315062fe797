/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs have a load, and its window: offered and delivered bytes of the window do not depend
 * on the time of the last flow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/measures/few.h"
#include "lab/measures/metrics.h"
#include "lab/measures/outcome.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

#define STAR    "topology: {type: star, hosts: 4, host_rate: 10Gbps}\ndefaults: paper\n"
#define POISSON "{type: poisson_cdf, cdf: alistorage2019, load: 60%, stop: 3ms}"
#define PERIOD  "{type: incast, degree: 3, bytes: 10KB, period: 100us}"

static void expect_near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within))
        fail_msg("%.17g, not %.17g", value, wanted);
}

struct ran {
    struct oche_scenario *scenario;
    struct oche_world *world;
    struct oche_outcome *outcome;
};

static struct ran run(const char *rest)
{
    struct oche_error error = {""};
    char text[1024];
    struct ran ran = {.outcome = calloc(1, sizeof(*ran.outcome))};

    assert_non_null(ran.outcome);
    snprintf(text, sizeof(text), STAR "%s", rest);
    ran.scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);
    if (ran.scenario == NULL)
        fail_msg("%s", error.text);
    ran.world = oche_world_create(&ran.scenario->config, &error);
    if (ran.world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(ran.world, NULL, NULL);
    oche_outcome_take(ran.outcome, ran.world, "", 0);
    return ran;
}

static void close_run(struct ran *ran)
{
    oche_outcome_free(ran->outcome);
    free(ran->outcome);
    oche_world_free(ran->world);
    oche_scenario_close(ran->scenario);
}

/* Runs a list of flows with the lines of a CSV file. */
static struct ran run_list(const char *lines, const char *rest)
{
    char path[] = "/tmp/oche-load-XXXXXX", text[256];
    int file = mkstemp(path);
    FILE *out = fdopen(file, "w");

    assert_non_null(out);
    fprintf(out, "src,dst,bytes,start\n%s", lines);
    fclose(out);
    snprintf(text, sizeof(text), "workload: {type: from_file, file: %s}\n%s", path, rest);
    struct ran ran = run(text);

    unlink(path);
    return ran;
}

static void expect_load(const char *rest, bool known, bool alone, bool stopped)
{
    struct ran ran = run(rest);
    const struct oche_load *load = &ran.outcome->load;

    if (load->known != known || (known && (load->alone != alone || load->stopped != stopped)))
        fail_msg("%sknown %d, alone %d, stopped %d", rest, load->known, load->alone, load->stopped);
    if (!known)
        assert_true(isnan(oche_metric_value(ran.outcome, "load.offered", 0)));
    close_run(&ran);
}

static void test_who_has_a_load(void **state)
{
    (void)state;
    expect_load("workload: " POISSON "\n", true, true, true);
    expect_load("workload: " POISSON "\nduration: 2ms\n", true, true, false);
    expect_load("workload: " POISSON "\nwarmup: 4ms\nduration: 5ms\n", false, false, false);
    expect_load("workload: " PERIOD "\nduration: 1ms\n", true, true, false);
    expect_load("workload: {type: incast, degree: 3, bytes: 10KB}\n", false, false, false);
    expect_load("workload: {type: permutation, bytes: 10KB}\n", false, false, false);
    expect_load("workload: {type: long_flows, load_of: host}\nduration: 1ms\n", false, false,
                false);
    expect_load("workload: {type: closed_cdf, pairs: 2}\nduration: 1ms\n", false, false, false);
    expect_load("workload:\n  - " POISSON "\n  - {type: permutation, bytes: 1MB}\n", true, false,
                true);
}

/* The window lasts until the last workload that has an end stops. */
static void test_several_stops(void **state)
{
    struct ran ran =
        run("workload:\n  - " POISSON "\n  - {type: poisson_cdf, load: 10%, stop: 5ms, "
            "cdf: alistorage2019}\n  - " PERIOD "\nduration: 30ms\n");

    (void)state;
    assert_true(ran.outcome->load.known && ran.outcome->load.stopped);
    assert_int_equal(ran.outcome->load.until, 5 * OCHE_MS);
    assert_int_equal(oche_world_first_stop(ran.world), 3 * OCHE_MS);
    close_run(&ran);
}

/* A run that ends early has the planned window, whatever the last flow took. */
static void test_planned_window(void **state)
{
    struct ran ran = run("workload: " PERIOD "\nduration: 1ms\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_DELIVERED);
    assert_true(ran.outcome->simulated < OCHE_MS);
    assert_int_equal(ran.outcome->load.until, OCHE_MS);
    expect_near(ran.outcome->load.offered_bps, 3 * 10000 * 8 / 100e-6, 1);
    close_run(&ran);
}

/* Writes lines of `count` flows, `gap` apart, the last of which has 5000 bytes. */
static char *lines_of(char text[4096], unsigned count, unsigned bytes, unsigned from_us,
                      double gap_us)
{
    size_t length = 0;

    for (unsigned i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, 4096 - length, "%u,%u,%u,%.3fus\n", i % 4,
                                   (i + 1) % 4, i + 1 < count ? bytes : 5000, from_us + i * gap_us);
    return text;
}

static void test_list_is_counted(void **state)
{
    char text[4096];
    struct ran ran = run_list(lines_of(text, 21, 1000, 0, 10), "");
    const struct oche_load *load = &ran.outcome->load;

    (void)state;
    assert_true(load->known && load->alone && load->stopped);
    assert_int_equal(load->window, 200 * OCHE_US);
    assert_int_equal(load->flows, 20); /* the last one starts as the window ends */
    expect_near(load->offered_bps, 20 * 1000 * 8 / 200e-6, 1);
    expect_near(load->delivered_bps, load->offered_bps, 1);
    expect_near(load->share, 1, 1e-12);
    const oche_time end = oche_world_flows(ran.world)->received[20].delivered;

    expect_near(load->drain_s, (double)(end - 200 * OCHE_US) / (double)OCHE_SEC, 1e-12);
    close_run(&ran);
}

static void test_list_is_no_load(void **state)
{
    char text[4096];
    struct ran ran = run_list(lines_of(text, 16, 1000, 0, 10), ""); /* few flows */

    (void)state;
    assert_false(ran.outcome->load.known);
    close_run(&ran);
    /* In 20 microseconds they offer a hundred times the links' capacity: one burst. */
    ran = run_list(lines_of(text, 21, 500000, 0, 1), "");
    assert_false(ran.outcome->load.known);
    close_run(&ran);
    /* Flows of warm-up are neither offered load nor a reason to call it a burst. */
    char all[2 * sizeof(text)];
    int length = snprintf(all, sizeof(all), "%s", lines_of(text, 21, 500000, 0, 1));

    snprintf(all + length, sizeof(all) - (size_t)length, "%s", lines_of(text, 21, 1000, 3000, 10));
    ran = run_list(all, "warmup: 2ms\n");
    assert_true(ran.outcome->load.known);
    assert_int_equal(ran.outcome->load.from, 2 * OCHE_MS);
    assert_int_equal(ran.outcome->load.flows, 20);
    close_run(&ran);
}

/*
 * The same flows, once until all are complete and once until arrivals stop. Then goodput counts the
 * bytes delivered by that time. A stop within a window of the engine is exact, too.
 */
static void test_drain_is_apart(void **state)
{
    static const char *const stops[] = {"3ms", "2999.987us"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(stops); i++) {
        char text[200];

        snprintf(text, sizeof(text),
                 "workload: {type: poisson_cdf, cdf: websearch, load: 80%%, stop: %s}\n"
                 "warmup: 1ms\n",
                 stops[i]);
        struct ran all = run(text);

        snprintf(text, sizeof(text),
                 "workload: {type: poisson_cdf, cdf: websearch, load: 80%%}\n"
                 "warmup: 1ms\nduration: %s\n",
                 stops[i]);
        struct ran window = run(text);
        const struct oche_load *load = &all.outcome->load;

        assert_true(load->known && load->drain_s > 1e-3);
        expect_near(load->delivered_bps, oche_metric_value(window.outcome, "goodput", 0), 1);
        expect_near(load->offered_bps, window.outcome->load.offered_bps, 1);
        expect_near(load->delivered_bps, window.outcome->load.delivered_bps, 1);
        assert_true(oche_metric_value(all.outcome, "goodput", 0) < 0.9 * load->delivered_bps);
        for (unsigned place = 0; place < OCHE_PLACES; place++)
            expect_near(load->utilisation[place].mean, window.outcome->utilisation[place].mean,
                        1e-9);
        assert_true(isnan(window.outcome->load.drain_s));
        close_run(&all);
        close_run(&window);
    }
}

static void test_who_competes(void **state)
{
    struct ran ran = run("workload: {type: incast, degree: 3, bytes: 1MB}\n");

    (void)state;
    assert_true(ran.outcome->compete);
    close_run(&ran);
    ran = run("workload: " POISSON "\n"); /* of many sizes */
    assert_false(ran.outcome->compete);
    close_run(&ran);
    ran = run_list("0,1,100KB,0\n2,3,100KB,10ms\n", ""); /* one after the other */
    assert_false(ran.outcome->compete);
    close_run(&ran);
    ran = run("workload:\n  - {type: incast, degree: 2, bytes: 1MB}\n"
              "  - {type: permutation, bytes: 1MB}\n");
    assert_false(ran.outcome->compete);
    close_run(&ran);
}

static void test_few(void **state)
{
    static struct oche_outcome outcome;

    (void)state;
    outcome.sizes[1].delivered = 99;
    assert_true(oche_few(&outcome, "fct.SIZE.p99", 1));
    assert_true(oche_few(&outcome, "slowdown.SIZE.p99.9", 1));
    assert_false(oche_few(&outcome, "fct.SIZE.p90", 1));
    assert_false(oche_few(&outcome, "fct.SIZE.max", 1));
    outcome.sizes[1].delivered = 100;
    assert_false(oche_few(&outcome, "fct.SIZE.p99", 1));
    outcome.sizes[1].delivered = 999;
    assert_true(oche_few(&outcome, "fct.SIZE.p99.9", 1));
    outcome.sizes[1].delivered = 1000;
    assert_false(oche_few(&outcome, "fct.SIZE.p99.9", 1));
    outcome.failures.hit.times.delivered = 100;
    assert_false(oche_few(&outcome, "failures.fct.p99", 0));
    assert_true(oche_few(&outcome, "failures.others.fct.p99", 0));
    assert_false(oche_few(&outcome, "queue.PORT.p99.9", 0)); /* of time, not of flows */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_has_a_load),  cmocka_unit_test(test_several_stops),
        cmocka_unit_test(test_planned_window),  cmocka_unit_test(test_list_is_counted),
        cmocka_unit_test(test_list_is_no_load), cmocka_unit_test(test_drain_is_apart),
        cmocka_unit_test(test_who_competes),    cmocka_unit_test(test_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
