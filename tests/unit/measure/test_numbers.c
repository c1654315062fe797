/* SPDX-License-Identifier: Apache-2.0 */
/* Fairness, goodput, time series and queue occupancy, against numbers worked out by hand. */
#include <math.h>

#include "sim/measure/fairness.h"
#include "sim/measure/goodput.h"
#include "sim/measure/queue_occupancy.h"
#include "sim/measure/time_series.h"
#include "tests/support/test.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_jain(void **state)
{
    (void)state;
    assert_near(oche_jain_index((const double[]){5, 5, 5, 5}, 4), 1);
    assert_near(oche_jain_index((const double[]){0, 0, 7, 0}, 4), 0.25);
    assert_near(oche_jain_index((const double[]){1, 2, 3}, 3), 36.0 / 42);
    assert_near(oche_jain_index((const double[]){1e200, 2e200, 3e200}, 3), 36.0 / 42);
    assert_near(oche_jain_index((const double[]){40e9, 0.15e9}, 2),
                40.15 * 40.15 / (2 * (1600 + 0.0225)));
    assert_near(oche_jain_index((const double[]){0, 0}, 2), -1);
    assert_near(oche_jain_index(NULL, 0), -1);
}

static void test_goodput(void **state)
{
    /* 1 ms; 125 KB is 1 Gbit/s. */
    struct oche_goodput g = oche_goodput((const uint64_t[]){375000, 125000, 250000}, 3, OCHE_MS);

    (void)state;
    assert_int_equal(g.bytes, 750000);
    assert_int_equal(g.total_bps, 6 * OCHE_GBPS);
    assert_int_equal(g.smallest_bps, OCHE_GBPS);
    assert_int_equal(g.median_bps, 2 * OCHE_GBPS);
    assert_int_equal(g.largest_bps, 3 * OCHE_GBPS);
    assert_near(g.jain, 36.0 / 42);
    g = oche_goodput(NULL, 0, OCHE_MS);
    assert_int_equal(g.total_bps, 0);
    assert_near(g.jain, -1);
    g = oche_goodput((const uint64_t[]){1}, 1, 0);
    assert_int_equal(g.total_bps, 0);
}

static void test_series(void **state)
{
    static const double values[] = {100, 2, 4, 4, 4, 5, 5, 7, 9, 100};
    struct oche_series_summary s = oche_series_summary(values, 1, 8);
    double means[4];

    (void)state;
    assert_int_equal(s.samples, 8);
    assert_near(s.mean, 5);
    assert_near(s.deviation, 2);
    assert_near(s.smallest, 2);
    assert_near(s.largest, 9);
    assert_near(s.percentile[OCHE_P50], 4);
    assert_near(s.percentile[OCHE_P90], 9);
    s = oche_series_summary(values, 10, 0);
    assert_int_equal(s.samples, 0);
    assert_int_equal(oche_series_means(values, 10, 3, means), 3);
    assert_near(means[0], 106.0 / 3);
    assert_near(means[1], 13.0 / 3);
    assert_near(means[2], 7);
    assert_int_equal(oche_series_means(values, 2, 3, means), 0);
}

static void test_convergence(void **state)
{
    /* At sample 1 within 10 %, apart again at 2, together from 3 on. */
    static const double a[] = {40, 22, 30, 21, 20, 21}, b[] = {5, 20, 15, 20, 20, 19};
    const double *const both[] = {a, b};

    (void)state;
    assert_int_equal(oche_series_converged(both, 2, 6, 0.1), 3);
    assert_int_equal(oche_series_converged(both, 2, 3, 0.1), 3); /* never */
    assert_int_equal(oche_series_converged(both, 2, 2, 0.1), 1);
    assert_int_equal(oche_series_converged(both, 2, 6, 0.9), 0);
    assert_int_equal(oche_series_converged(both, 1, 6, 0), 0);
}

/*
 * Steps of 1000 bytes: empty for 50 us, at 1500 for 40 us, at 2999 for 9 us, and, still open at
 * 100 us, at 3000 for 1 us. Four steps: the last one takes what is beyond.
 */
static void test_queue(void **state)
{
    oche_time time[4] = {50 * OCHE_US, 40 * OCHE_US, 9 * OCHE_US, 0};
    struct oche_queue_watch watch = {.step_bytes = 1000,
                                     .steps = 4,
                                     .time = time,
                                     .since = 99 * OCHE_US,
                                     .bytes = 7000,
                                     .max_bytes = 8000};
    struct oche_queue_occupancy q = oche_queue_occupancy(&watch, 100 * OCHE_US);
    struct oche_queue_point points[4];

    (void)state;
    assert_int_equal(q.watched, 100 * OCHE_US);
    assert_int_equal(q.percentile[OCHE_P50], 0);
    assert_int_equal(q.percentile[OCHE_P90], 1000);
    assert_int_equal(q.percentile[OCHE_P99], 2000);
    assert_int_equal(q.percentile[OCHE_P999], 8000);
    assert_int_equal(q.max_bytes, 8000);
    assert_int_equal(q.mean_bytes, 610); /* (40 * 1000 + 9 * 2000 + 1 * 3000) / 100 */
    assert_int_equal(oche_queue_distribution(&watch, 100 * OCHE_US, points), 4);
    assert_near(points[1].share, 0.9);
    assert_int_equal(points[2].bytes, 2000);
    assert_near(points[3].share, 1);

    time[1] = 0;
    watch.bytes = 0;
    watch.since = 100 * OCHE_US;
    assert_int_equal(oche_queue_distribution(&watch, 100 * OCHE_US, points), 2);
    time[0] = time[2] = 0;
    q = oche_queue_occupancy(&watch, 100 * OCHE_US); /* not watched at all yet */
    assert_int_equal(q.watched, 0);
    assert_int_equal(q.percentile[OCHE_P999], 0);
    assert_int_equal(oche_queue_distribution(&watch, 100 * OCHE_US, points), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jain),   cmocka_unit_test(test_goodput),
        cmocka_unit_test(test_series), cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
