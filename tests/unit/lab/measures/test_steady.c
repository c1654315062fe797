/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch means equal those by hand, and batches' values those of the whole run. A run ends when its
 * metric is stable, at the same time for any number of threads.
 */
#include "lab/measures/steady.h"

#include <math.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/measures/steady_metric.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

/* ---- the interval ---- */

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-4 * fmax(1, fabs(expected)))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void test_by_hand(void **state)
{
    (void)state;
    /* Squares about 2.5: 5. Steps: 3. 1 - 3 / 10. t(3) = 3.182, sqrt(5 / 3 / 4) = 0.645497. */
    struct oche_batch_means rising = oche_batch_means((const double[]){1, 2, 3, 4}, 4);

    assert_int_equal(rising.batches, 4);
    assert_near(rising.mean, 2.5);
    assert_near(rising.correlation, 0.7);
    assert_near(rising.bound, 0.600616);                 /* 1.644854 sqrt(2 / 15) */
    assert_near(rising.half_width, 2.053971 * 2.380476); /* sqrt(1.7 / 0.3), above the bound */
    assert_true(oche_batch_means_hold(&rising));
    /* Squares about 3.5: 17.5. Steps: 5. 1 - 5 / 35. t(5) = 2.571, sqrt(17.5 / 5 / 6). */
    struct oche_batch_means longer = oche_batch_means((const double[]){1, 2, 3, 4, 5, 6}, 6);

    assert_near(longer.correlation, 0.857143);
    assert_false(oche_batch_means_hold(&longer));
    /* Squares about 3: 4. Steps: 4. 1 - 4 / 8, below 1.644854 sqrt(2 / 15). */
    struct oche_batch_means step = oche_batch_means((const double[]){2, 2, 4, 4}, 4);

    assert_near(step.correlation, 0.5);
    assert_near(step.half_width, 3.182 * 0.577350);
    /* Squares about 2: 4. Steps: 12. 1 - 12 / 8. */
    struct oche_batch_means alternating = oche_batch_means((const double[]){1, 3, 1, 3}, 4);

    assert_near(alternating.correlation, -0.5);
    assert_near(alternating.half_width, 3.182 * 0.577350);
    struct oche_batch_means constant = oche_batch_means((const double[]){7, 7, 7}, 3);

    assert_near(constant.mean, 7);
    assert_true(constant.half_width == 0 && constant.correlation == 0);
}

/*
 * Intervals cover the mean about as often as stated, and nearly so when batches depend on each
 * other.
 */
static void test_coverage(void **state)
{
    struct oche_random random = oche_random_stream(3, "batches", 0);
    uint32_t independent = 0, covered = 0, follow_held = 0, follow_covered = 0;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        double values[20], follow[20];

        for (int v = 0; v < 20; v++) {
            values[v] = -6;
            for (int k = 0; k < 12; k++)
                values[v] += oche_random_unit(&random);
            follow[v] = values[v] + (v > 0 ? 0.5 * follow[v - 1] : 0);
        }
        struct oche_batch_means result = oche_batch_means(values, 20);

        independent += result.correlation <= result.bound;
        covered += fabs(result.mean) <= result.half_width;
        result = oche_batch_means(follow, 20);
        follow_held += oche_batch_means_hold(&result);
        follow_covered += oche_batch_means_hold(&result) && fabs(result.mean) <= result.half_width;
    }
    assert_in_range(independent, 4000 * 94 / 100, 4000 * 96 / 100);
    assert_in_range(covered, 4000 * 94 / 100, 4000 * 96 / 100);
    if (follow_covered < follow_held * 85 / 100) /* 70 % without widening */
        fail_msg("%u of %u", follow_covered, follow_held);
}

/* ---- runs ---- */

struct opened {
    struct oche_scenario *scenario;
    struct oche_world *world;
    struct oche_steady *steady;
};

static struct opened open_run(const char *text, const char *metric, double within, uint32_t threads,
                              struct oche_error *error)
{
    struct opened opened = {.scenario = oche_scenario_parse("s.yaml", text, strlen(text), error)};

    if (opened.scenario == NULL)
        fail_msg("%s", error->text);
    opened.scenario->config.threads = threads;
    opened.world = oche_world_create(&opened.scenario->config, error);
    if (opened.world == NULL)
        fail_msg("%s", error->text);
    opened.steady = metric != NULL ? oche_steady_create(opened.world, metric, within, error) : NULL;
    return opened;
}

static void close_run(struct opened *opened)
{
    oche_steady_free(opened->steady);
    oche_world_free(opened->world);
    oche_scenario_close(opened->scenario);
}

struct end {
    oche_time time;
    uint64_t hash;
    struct oche_steady_result result;
    struct oche_outcome outcome;
};

static struct end run(const char *text, const char *metric, double within, uint32_t threads)
{
    struct oche_error error;
    struct opened opened = open_run(text, metric, within, threads, &error);
    struct end end;

    if (metric != NULL && opened.steady == NULL)
        fail_msg("%s", error.text);
    oche_world_run(opened.world, NULL, NULL);
    end = (struct end){.time = oche_world_network(opened.world)->now};
    oche_outcome_take(&end.outcome, opened.world, "", 0);
    end.hash = end.outcome.totals.hash;
    if (metric != NULL)
        oche_steady_take(opened.steady, &end.result);
    assert_int_equal(oche_world_ended(opened.world) == OCHE_END_STABLE,
                     metric != NULL && end.result.state == OCHE_STEADY_STABLE &&
                         end.time < oche_world_until(opened.world));
    close_run(&opened);
    return end;
}

#define STEADY                                                                                     \
    "topology: {type: star, hosts: 4, host_rate: 10Gbps}\n"                                        \
    "workload: {type: long_flows, load: 50%, load_of: host}\n"
#define RANDOM                                                                                     \
    "topology: {type: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_rate: 25Gbps, "    \
    "link_rate: 25Gbps}\n"                                                                         \
    "workload: {type: poisson_cdf, load: 30%, load_of: host, cdf: solar2022}\n"                    \
    "measure: {queues: \"leaf0:host0\"}\n"

static void test_steady_ends_early(void **state)
{
    (void)state;
    struct end end = run(STEADY "duration: 1s\n", "goodput", 0.05, 1);
    const struct oche_steady_result *result = &end.result;

    assert_int_equal(result->state, OCHE_STEADY_STABLE);
    assert_true(end.time < 20 * OCHE_MS);
    assert_true(result->interval.batches == 20 || result->interval.batches == 30);
    assert_true(result->interval.half_width <= 0.05 * result->interval.mean);
    oche_outcome_free(&end.outcome);
}

/* The mean of batches of equal length is the mean of the whole. */
static void test_batches_are_of_the_run(void **state)
{
    static const char *const metrics[] = {"goodput", "utilisation.tor_to_host.mean",
                                          "queue.leaf0:host0.mean"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(metrics); i++) {
        struct end end = run(RANDOM "duration: 1s\nwarmup: 123456ns\n", metrics[i], 0.6, 1);
        const double whole = oche_metric_value(&end.outcome, metrics[i], 0);
        const double rounded = strstr(metrics[i], "queue") != NULL ? 1 : 1e-3 * whole;

        assert_int_equal(end.result.state, OCHE_STEADY_STABLE);
        if (fabs(end.result.interval.mean - whole) > rounded)
            fail_msg("%s: %g by batches, %g in all", metrics[i], end.result.interval.mean, whole);
        oche_outcome_free(&end.outcome);
    }
}

/* The check changes nothing: a run that is never stable equals the run without the check. */
static void test_looks_change_nothing(void **state)
{
    (void)state;
    struct end plain = run(RANDOM "duration: 3ms\nwarmup: 123456ns\n", NULL, 0, 1);
    struct end judged = run(RANDOM "duration: 3ms\nwarmup: 123456ns\n", "goodput", 1e-9, 1);

    assert_int_equal(judged.result.state, OCHE_STEADY_WIDE);
    assert_int_equal(judged.time, plain.time);
    assert_true(judged.hash == plain.hash);
    oche_outcome_free(&plain.outcome);
    oche_outcome_free(&judged.outcome);
}

/* Percentiles, too: a batch gives one value for any number of flows. */
static void test_flows(void **state)
{
    (void)state;
    struct end mean = run(RANDOM "duration: 1s\n", "slowdown.all.mean", 0.2, 1);
    struct end p90 = run(RANDOM "duration: 1s\n", "fct.all.p90", 0.4, 1);

    assert_int_equal(mean.result.state, OCHE_STEADY_STABLE);
    assert_int_equal(mean.result.least_flows, 10);
    assert_true(mean.result.fewest_flows >= 10);
    assert_true(
        fabs(mean.result.interval.mean / mean.outcome.sizes[OCHE_OUTCOME_SIZES].slowdown_mean - 1) <
        0.05);
    assert_int_equal(p90.result.state, OCHE_STEADY_STABLE);
    assert_int_equal(p90.result.least_flows, 100);
    assert_true(p90.result.fewest_flows >= 100);
    const double whole = oche_metric_value(&p90.outcome, "fct.all.p90", 0);

    assert_true(fabs(p90.result.interval.mean / whole - 1) < 0.2);
    oche_outcome_free(&mean.outcome);
    oche_outcome_free(&p90.outcome);
}

static void test_any_number_of_threads(void **state)
{
    static const char *const metrics[] = {"goodput", "slowdown.all.p50", "queue.leaf0:host0.p99"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(metrics); i++) {
        struct end one = run(RANDOM "duration: 8ms\n", metrics[i], 0.8, 1);

        struct end two = run(RANDOM "duration: 8ms\n", metrics[i], 0.8, 2);

        assert_int_equal(two.time, one.time);
        assert_true(two.hash == one.hash);
        assert_int_equal(two.result.interval.batches, one.result.interval.batches);
        assert_true(two.result.interval.mean == one.result.interval.mean);
        assert_true(two.result.interval.half_width == one.result.interval.half_width);
        assert_true(two.result.interval.correlation == one.result.interval.correlation);
        oche_outcome_free(&two.outcome);
        oche_outcome_free(&one.outcome);
    }
}

static void test_not_stable(void **state)
{
    static const struct {
        const char *text, *metric;
        double within;
        enum oche_steady_state why;
        const char *says;
    } cases[] = {
        {RANDOM "duration: 3ms\n", "goodput", 0.001, OCHE_STEADY_WIDE, "more than 0.1 %, after "},
        {RANDOM "duration: 3ms\n", "fct.100KB_to_1MB.mean", 0.5, OCHE_STEADY_FEW_FLOWS,
         "of 10 that it needs"},
        {"topology: {type: star, hosts: 4, host_rate: 10Gbps}\nduration: 20ms\n"
         "workload: {type: poisson_cdf, load: 50%, load_of: host, cdf: websearch}\n",
         "goodput", 0.9, OCHE_STEADY_BRIEF, " are shorter than flows take, "},
        {STEADY "duration: 3ms\nmeasure: {queues: \"tor0:host0\"}\n", "queue.tor0:host0.p50", 0.5,
         OCHE_STEADY_ZERO, "it is 0"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct end end = run(cases[i].text, cases[i].metric, cases[i].within, 1);
        char line[OCHE_STEADY_TEXT_BYTES];

        oche_steady_complaint(&end.result, line, sizeof(line));
        if (end.result.state != cases[i].why || strstr(line, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].metric, line);
        assert_non_null(strstr(line, " is not stable at the end of the run: "));
        oche_outcome_free(&end.outcome);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *metric, *why;
    } cases[] = {
        {RANDOM "duration: 1s\n", "goodputt", "goodputt: no such metric; perhaps goodput?"},
        {RANDOM "duration: 1s\n", "jain",
         "jain: has no mean that a longer run makes more certain; give one of goodput, "},
        {RANDOM "duration: 1s\n", "fct.all.max", "fct.all.max: has no mean that "},
        {RANDOM "duration: 1s\n", "fct.of_8KB.p50", "fct.of_8KB.p50: sizes here are below_10KB, "},
        {RANDOM "duration: 1s\n", "queue.leaf1:host2.mean",
         "queue.leaf1:host2.mean: leaf1:host2 is not in measure.queues; leaf0:host0 is"},
        {STEADY "duration: 1s\n", "queue.tor0:host0.mean",
         "queue.tor0:host0.mean: no queue is watched; set measure.queues=tor0:host0"},
        {STEADY "duration: 1s\n", "utilisation.core.mean",
         "utilisation.core.mean: this topology has no ports there"},
        {STEADY "duration: 1s\n", "fct.all.p99",
         "fct.all.p99: needs 1000 flows in each of 20 batches, and the run has at most "},
        {STEADY "duration: 20us\n", "goodput", "goodput: duration leaves 20us after warmup, and "},
        {"topology: {type: star, hosts: 4}\nworkload: {type: permutation}\nduration: 1s\n",
         "goodput",
         "goodput: every workload ends by itself, so nothing here has a steady state; "
         "permutation ends by itself; with messages: 0 goes on "},
        {"topology: {type: star, hosts: 4}\nworkload: [{type: permutation}, "
         "{type: permutation, messages: 0}]\n",
         "goodput", "goodput: needs the most that the run may last; set duration"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_error error = {""};
        struct opened opened = open_run(cases[i].text, cases[i].metric, 0.05, 1, &error);

        if (opened.steady != NULL || strstr(error.text, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].metric, error.text);
        close_run(&opened);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_steady_ends_early),
        cmocka_unit_test(test_batches_are_of_the_run),
        cmocka_unit_test(test_looks_change_nothing),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_not_stable),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
