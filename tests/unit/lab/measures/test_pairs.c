/* SPDX-License-Identifier: Apache-2.0 */
/* Goodputs by pair of hosts: which transfers count, and the case of too many pairs. */
#include "lab/measures/pairs.h"

#include <math.h>
#include <stdlib.h>

#include "lab/sweep/point.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

static struct oche_error error;
static struct oche_scenario *scenario;
static struct oche_world *world;
static struct oche_pair_row rows[OCHE_MOST_PAIRS];

#define DUMBBELL "topology={type: dumbbell, left_hosts: 9, right_hosts: 9, delay: 1us}"

static uint32_t take(const char *workload, const char *duration, const char *warmup)
{
    const char *sets[] = {DUMBBELL,         workload, duration, warmup, "congestion_control=none",
                          "measure.queues="};

    oche_world_free(world);
    oche_scenario_close(scenario);
    scenario = oche_scenario_open("tests/scenarios/pauses.yaml", sets, 6, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    world = oche_world_create(&scenario->config, &error);
    if (world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(world, NULL, NULL);
    return oche_pairs_take(world, rows);
}

static void close_to(double value, double expected)
{
    if (!(fabs(value / expected - 1) < 0.02))
        fail_msg("%g instead of %g", value, expected);
}

/* Two pairs share the bottleneck. In both directions one has a link for itself. */
static void by_pair(void **state)
{
    (void)state;
    assert_int_equal(take("workload={type: transfers, pairs: [3>9, 4>10, 9>3], bytes: 100KB}",
                          "duration=2ms", "warmup=500us"),
                     3);
    assert_int_equal(rows[0].src, 3);
    assert_int_equal(rows[0].dst, 9);
    assert_int_equal(rows[2].src, 9);
    assert_int_equal(rows[2].dst, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(rows[i].failed, 0);
        assert_int_equal(rows[i].started - rows[i].delivered, 1); /* the one at the end */
        assert_in_range(rows[i].counted - rows[i].delivered, 0, 1);
        assert_true(rows[i].least <= rows[i].p10 && rows[i].p10 <= rows[i].median &&
                    rows[i].median <= rows[i].p90 && rows[i].p90 <= rows[i].most);
        assert_true(rows[i].mean >= rows[i].least && rows[i].mean <= rows[i].most);
    }
    close_to(rows[0].median / rows[1].median, 1);
    assert_true(rows[2].median > 1.5 * rows[0].median);
    /* Only transfers that began after warm-up: three quarters of the whole run. */
    uint64_t after = rows[2].started;

    take("workload={type: transfers, pairs: [3>9, 4>10, 9>3], bytes: 100KB}", "duration=2ms",
         "warmup=0");
    close_to((double)after / (double)rows[2].started, 0.75);
}

/*
 * An unfinished transfer that has taken longer than all delivered ones counts with its bytes so
 * far.
 */
static void unfinished(void **state)
{
    (void)state;
    assert_int_equal(take("workload={type: transfers, pairs: 3>9, bytes: 1GB, messages: 1}",
                          "duration=1ms", "warmup=0"),
                     1);
    assert_int_equal(rows[0].started, 1);
    assert_int_equal(rows[0].delivered, 0);
    assert_int_equal(rows[0].counted, 1);
    const uint64_t bytes = oche_world_flow_bytes(world, 0);

    assert_true(rows[0].median == (double)bytes * 8 * 1e12 / 1e9 && rows[0].median > 35e9);

    /* Short ones first, then a long one; and at the end a short one that has just begun. */
    assert_int_equal(take("workload=[{type: transfers, pairs: 3>9, bytes: 100KB, messages: 4},"
                          "{type: transfers, pairs: 3>9, bytes: 1GB, messages: 1, start: 200us},"
                          "{type: transfers, pairs: 3>9, bytes: 100KB, start: 998us}]",
                          "duration=1ms", "warmup=0"),
                     1);
    assert_int_equal(rows[0].started, 6);
    assert_int_equal(rows[0].delivered, 4);
    assert_int_equal(rows[0].counted, 5);
    assert_true(rows[0].most < 40e9 && rows[0].least > 20e9);
}

/* Messages that wait behind others on a queue pair are not slow because of that. */
static void several_outstanding(void **state)
{
    static const char one_pair[] = "host.connections=per_pair";
    static const char *const outstanding[] = {"workload.outstanding=1", "workload.outstanding=4"};
    double median[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const char *sets[] = {DUMBBELL,
                              "workload={type: transfers, pairs: [3>9, 4>10], bytes: 1MB}",
                              outstanding[i],
                              one_pair,
                              "congestion_control=none",
                              "measure.queues=",
                              "duration=4ms"};
        struct oche_point_result point;

        oche_point_run("tests/scenarios/pauses.yaml", sets, 7, &point);
        assert_int_equal(point.status, OCHE_POINT_DONE);
        median[i] = oche_point_metric(&point, "pair.1.goodput.p50");
        oche_point_free(&point);
    }
    close_to(median[0], 18.5e9);
    close_to(median[1], 18.5e9);
}

static void none_and_too_many(void **state)
{
    (void)state;
    assert_int_equal(take("workload={type: transfers, pairs: 3>9, bytes: 1GB, messages: 1}",
                          "duration=1ms", "warmup=500us"),
                     1);
    assert_int_equal(rows[0].started, 0);
    assert_true(isnan(rows[0].least) && isnan(rows[0].median) && isnan(rows[0].mean));
    assert_int_equal(
        take("workload={type: permutation, bytes: 1KB, messages: 1}", "duration=1ms", "warmup=0"),
        0); /* 18 hosts */
}

/* As metrics: numbers are pairs, and missing ones are left out. */
static void as_metrics(void **state)
{
    static const char *const sets[] = {
        DUMBBELL, "workload={type: transfers, pairs: [3>9, 4>10], bytes: 100KB}",
        "measure.queues="};
    struct oche_point_result point;

    (void)state;
    oche_point_run("tests/scenarios/pauses.yaml", sets, 3, &point);
    assert_int_equal(point.status, OCHE_POINT_DONE);
    assert_true(oche_point_metric(&point, "pair.1.goodput.min") <=
                oche_point_metric(&point, "pair.1.goodput.p50"));
    assert_true(oche_point_metric(&point, "pair.0.goodput.max") > 1e9);
    assert_true(oche_point_metric(&point, "pair.1.started") -
                    oche_point_metric(&point, "pair.1.delivered") ==
                1);
    assert_true(isnan(oche_point_metric(&point, "pair.2.started")));
    oche_point_free(&point);
}

static int clean_up(void **state)
{
    (void)state;
    oche_world_free(world);
    oche_scenario_close(scenario);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_pair),
        cmocka_unit_test(unfinished),
        cmocka_unit_test(several_outstanding),
        cmocka_unit_test(none_and_too_many),
        cmocka_unit_test(as_metrics),
    };

    return cmocka_run_group_tests(tests, NULL, clean_up);
}
