/* SPDX-License-Identifier: Apache-2.0 */
/* Fairness and queue occupancy, against numbers worked out by hand. */
#include <math.h>

#include "sim/measure/fairness.h"
#include "sim/measure/queue_occupancy.h"
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

/*
 * Steps of 1000 bytes: empty for 50 us, at 1500 for 40 us, at 2999 for 9 us, and, still open at 100
 * us, at 7000 for 1 us. Four steps: the last one holds all larger values.
 */
static void test_queue(void **state)
{
    oche_time time[4] = {50 * OCHE_US, 40 * OCHE_US, 9 * OCHE_US, 0};
    struct oche_queue_watch watch = {.step_bytes = 1000,
                                     .steps = 4,
                                     .time = time,
                                     .since = 99 * OCHE_US,
                                     .bytes = 7000,
                                     .max_bytes = 8000,
                                     .byte_time = (40 * 1500 + 9 * 2999) * OCHE_US,
                                     .square_time = (40 * 1500 * 1500 + 9 * 2999 * 2999) * OCHE_US};
    struct oche_queue_occupancy q = oche_queue_occupancy(&watch, 100 * OCHE_US);

    (void)state;
    assert_int_equal(q.watched, 100 * OCHE_US);
    assert_int_equal(q.percentile[OCHE_P50], 0);
    assert_int_equal(q.percentile[OCHE_P90], 1000);
    assert_int_equal(q.percentile[OCHE_P99], 2000);
    assert_int_equal(q.percentile[OCHE_P999], 8000);
    assert_int_equal(q.max_bytes, 8000);
    /* 939.91 = (40 * 1500 + 9 * 2999 + 1 * 7000) / 100; squares: 219946009 / 100 */
    assert_near(q.mean_bytes, 939.91);
    assert_near(q.deviation, sqrt(2199460.09 - 939.91 * 939.91));

    time[0] = time[1] = time[2] = 0;
    watch.bytes = 0;
    watch.since = 100 * OCHE_US;
    q = oche_queue_occupancy(&watch, 100 * OCHE_US); /* not watched at all yet */
    assert_int_equal(q.watched, 0);
    assert_int_equal(q.percentile[OCHE_P999], 0);
}

/*
 * A queue as long as it can be, for half of the longest run, and then shorter by one byte. The
 * integrals need 96 and 128 bits; the deviation of half a byte shows that nothing was rounded.
 */
static void test_longest_queue(void **state)
{
    const oche_time half = INT64_MAX;
    const uint64_t bytes = UINT32_MAX;
    oche_time time[2] = {0, half};
    struct oche_queue_watch watch = {.step_bytes = 1000,
                                     .steps = 2,
                                     .time = time,
                                     .since = half,
                                     .bytes = bytes - 1,
                                     .max_bytes = bytes,
                                     .byte_time = (unsigned __int128)bytes * half,
                                     .square_time = (unsigned __int128)bytes * bytes * half};
    struct oche_queue_occupancy q = oche_queue_occupancy(&watch, 2 * half);

    (void)state;
    assert_true(q.watched == 2 * half);
    assert_true(q.mean_bytes == (double)bytes - 0.5);
    assert_near(q.deviation, 0.5);
    assert_true(oche_queue_byte_time_at(&watch, half) == watch.byte_time);
    watch.since = 2 * half; /* the queue did not change in the second half */
    watch.byte_time *= 2;
    watch.square_time *= 2;
    time[1] = 2 * half;
    q = oche_queue_occupancy(&watch, 2 * half);
    assert_true(q.mean_bytes == (double)bytes);
    assert_true(q.deviation == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jain),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_longest_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
