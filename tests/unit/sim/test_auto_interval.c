/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time series with measure.interval auto: they do not change the run, their number is bounded, and
 * they equal those of their final interval.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/internal.h"
#include "tests/support/ran.h"

#define MOST 512

/*
 * Senders that lose packets, wait for timeouts and are held by PAUSE: far longer than the shortest
 * run.
 */
#define LOSSY                                                                                      \
    "topology: {type: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, host_rate: 40Gbps, "    \
    "link_rate: 40Gbps, delay: 1300ns}\ndefaults: paper\nswitch: {buffer: 1500KB}\n"               \
    "workload: [{type: incast, degree: 6, bytes: 800KB}, "                                         \
    "{type: incast, degree: 1, bytes: 100KB, start: 777us}]\n"                                     \
    "host: {ack_timeout: 300us}\nloss: {pattern: \"data:every 400\"}\n"
#define WATCHED "measure: {queues: \"leaf0:*\", rates: true"

static void assert_same_run(const struct ran *one, const struct ran *other)
{
    assert_int_equal(one->totals.hash, other->totals.hash);
    assert_int_equal(one->totals.measured, other->totals.measured);
    assert_int_equal(oche_world_ended(one->world), oche_world_ended(other->world));
}

/* True if they are equal except for the rounding of rates. */
static bool is_near(double one, double other)
{
    return fabs(one - other) <= 2 + 1e-9 * fabs(other) || (isnan(one) && isnan(other));
}

static void assert_same_series(const struct ran *one, const struct ran *other)
{
    uint32_t count = oche_world_series_count(one->world);

    assert_int_equal(oche_world_interval(one->world), oche_world_interval(other->world));
    assert_int_equal(count, oche_world_series_count(other->world));
    for (uint32_t i = 0; i < count; i++) {
        struct oche_world_series a = oche_world_series(one->world, i);
        struct oche_world_series b = oche_world_series(other->world, i);
        uint32_t rows = a.count < b.count ? a.count : b.count;

        assert_string_equal(a.name, b.name);
        assert_string_equal(a.entity, b.entity);
        assert_in_range(a.count, b.count - 1, b.count + 1);
        for (uint32_t row = 0; row < rows; row++)
            if (!is_near(a.values[row], b.values[row]))
                fail_msg("%s of %s, row %u: %g and %g", a.name, a.entity, row, a.values[row],
                         b.values[row]);
    }
}

/* The same ports are held at the same times, and never for longer than an interval. */
static void assert_same_holds(const struct ran *one, const struct ran *other)
{
    size_t count, others;
    const struct oche_world_paused_port *a = oche_world_paused_ports(one->world, &count);
    const struct oche_world_paused_port *b = oche_world_paused_ports(other->world, &others);

    assert_true(count > 0);
    assert_int_equal(count, others);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].node, b[i].node);
        assert_int_equal(a[i].port, b[i].port);
        assert_int_equal(a[i].row, b[i].row);
        assert_in_range(a[i].held, b[i].held, oche_world_interval(one->world));
    }
}

static void test_without_duration(void **state)
{
    struct ran none = ran_open(LOSSY WATCHED "}\n", false, 1);
    struct ran ran = ran_open(LOSSY WATCHED "}\n", true, 1);
    struct ran two = ran_open(LOSSY WATCHED "}\n", true, 2);
    oche_time interval = oche_world_interval(ran.world);
    char text[2048];

    (void)state;
    assert_int_equal(oche_world_series_count(none.world), 0);
    assert_int_equal(oche_world_interval(none.world), 0);
    assert_same_run(&ran, &none);
    assert_same_run(&two, &none);
    assert_in_range(oche_world_series(ran.world, 0).count, MOST / 2, MOST);
    /* it has doubled: the messages alone would take 1.2 ms, and the run is longer */
    assert_true(interval >= 2 * oche_world_auto_interval(ran.world, ran.world->most_rows));
    assert_same_series(&two, &ran);
    assert_same_holds(&two, &ran);
    snprintf(text, sizeof(text), LOSSY WATCHED ", interval: %lluns}\n",
             (unsigned long long)(interval / OCHE_NS));
    struct ran given = ran_open(text, false, 1);

    assert_same_series(&ran, &given);
    assert_same_holds(&ran, &given);
    ran_close(&given);
    ran_close(&two);
    ran_close(&ran);
    ran_close(&none);
}

/* An odd warm-up, a round duration, and an end between two samples. */
static void test_with_duration(void **state)
{
    static const char *const ends[] = {"duration: 1ms\nwarmup: 100333ns\nstop_when_done: false\n",
                                       "duration: 999999ns\nwarmup: 1ps\nstop_when_done: false\n",
                                       "duration: 20ms\n"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++) {
        char text[2048];

        snprintf(text, sizeof(text), LOSSY "%s", ends[i]);
        struct ran none = ran_open(text, false, 1), ran = ran_open(text, true, 1);

        assert_same_run(&ran, &none);
        assert_in_range(oche_world_series(ran.world, 0).count, MOST / 4, MOST);
        ran_close(&ran);
        ran_close(&none);
    }
}

/* A run with one event, the last: the end is detected at the same time as without series. */
static void test_ends_alike(void **state)
{
    (void)state;
    for (unsigned bytes = 1; bytes < 200000; bytes = bytes * 3 + 1000) {
        char text[512];

        snprintf(text, sizeof(text),
                 "topology: {type: star, hosts: 2, host_rate: 10Gbps, delay: 7777ns}\n"
                 "workload: {type: incast, degree: 1, bytes: %uB}\n",
                 bytes);
        struct ran none = ran_open(text, false, 1), ran = ran_open(text, true, 1);

        assert_same_run(&ran, &none);
        assert_in_range(oche_world_series(ran.world, 0).count, 1, MOST);
        ran_close(&ran);
        ran_close(&none);
    }
}

static void test_zero_is_none(void **state)
{
    struct ran ran = ran_open(LOSSY "measure: {interval: 0}\n", true, 1);

    (void)state;
    assert_int_equal(oche_world_series_count(ran.world), 0);
    ran_close(&ran);
}

/* Samples of a large network are at ends of windows. Otherwise they would split windows. */
static void test_large_network(void **state)
{
    static const char *const delays[] = {"1us", "700ns"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(delays); i++) {
        char text[2048];
        oche_time interval[2];

        for (unsigned large = 0; large < 2; large++) {
            snprintf(text, sizeof(text),
                     "topology: {type: fat_tree, k: %d, link_rate: 100Gbps, delay: %s}\n"
                     "workload: {type: incast, degree: 4, bytes: 20KB}\n",
                     large ? 16 : 8, delays[i]);
            struct ran none = ran_open(text, false, 1), ran = ran_open(text, true, 1);

            assert_same_run(&ran, &none);
            interval[large] = oche_world_interval(ran.world);
            assert_true(!large || interval[large] % ran.world->network.window == 0);
            ran_close(&ran);
            ran_close(&none);
        }
        assert_true(interval[0] < interval[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_duration), cmocka_unit_test(test_with_duration),
        cmocka_unit_test(test_ends_alike),       cmocka_unit_test(test_zero_is_none),
        cmocka_unit_test(test_large_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
