/* SPDX-License-Identifier: Apache-2.0 */
/* Completion times and slowdowns by size, against numbers worked out by hand. */
#include <math.h>

#include "sim/measure/flow_completion.h"
#include "tests/support/test.h"

static void test_ranks(void **state)
{
    static const uint64_t ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const uint64_t one[] = {42};

    (void)state;
    assert_int_equal(oche_percentile_u64(ten, 10, 500), 5);
    assert_int_equal(oche_percentile_u64(ten, 10, 900), 9);
    assert_int_equal(oche_percentile_u64(ten, 10, 901), 10);
    assert_int_equal(oche_percentile_u64(ten, 10, 990), 10);
    assert_int_equal(oche_percentile_u64(ten, 10, 0), 1);
    assert_int_equal(oche_percentile_u64(ten, 10, 1000), 10);
    assert_int_equal(oche_percentile_u64(one, 1, 500), 42);
    /* ceil(0.999 * 1000) = 999, of 1001: ceil(999.999) = 1000. */
    assert_int_equal(oche_percentile_rank(1000, 999), 999);
    assert_int_equal(oche_percentile_rank(1001, 999), 1000);
    assert_int_equal(oche_percentile_rank(UINT64_MAX, 1000), UINT64_MAX);
}

/*
 * Short (below 1000 bytes): 10, 20, 30 us with ideal 10 us: slowdowns 1, 2, 3. Long: 400 us with
 * ideal 100 us; one not delivered, one failed. One in the warm-up, one never started.
 */
static void test_rows(void **state)
{
    static const uint64_t sizes[] = {0, 1000};
    const oche_time us = OCHE_US;
    const struct oche_flow_record flows[] = {
        {.bytes = 999, .start = 130 * us, .end = 160 * us, .ideal = 10 * us},
        {.bytes = 100, .start = 100 * us, .end = 110 * us, .ideal = 10 * us},
        {.bytes = 500, .start = 110 * us, .end = 130 * us, .ideal = 10 * us},
        {.bytes = 1000, .start = 100 * us, .end = 500 * us, .ideal = 100 * us},
        {.bytes = 5000, .start = 100 * us, .end = OCHE_NEVER, .ideal = 100 * us},
        {.bytes = 5000, .start = 100 * us, .end = 900 * us, .ideal = 100 * us, .failed = true},
        {.bytes = 700, .start = 100 * us - 1, .end = 110 * us, .ideal = 10 * us},
        {.bytes = 700, .start = OCHE_NEVER, .end = OCHE_NEVER, .ideal = 10 * us},
    };
    struct oche_completion_row rows[3];
    uint64_t left_out = oche_flow_completion(flows, OCHE_COUNT_OF(flows), 100 * us, sizes, 2, rows);

    (void)state;
    assert_int_equal(left_out, 1);
    assert_int_equal(rows[0].from_bytes, 0);
    assert_int_equal(rows[0].to_bytes, 1000);
    assert_int_equal(rows[0].flows, 3);
    assert_int_equal(rows[0].delivered, 3);
    assert_int_equal(rows[0].bytes, 1599);
    assert_int_equal(rows[0].time_mean, 20 * us);
    assert_int_equal(rows[0].time[OCHE_P50], 20 * us);
    assert_int_equal(rows[0].time[OCHE_P90], 30 * us);
    assert_int_equal(rows[0].time_max, 30 * us);
    assert_true(rows[0].slowdown[OCHE_P50] == 2 && rows[0].slowdown[OCHE_P999] == 3);
    assert_true(rows[0].slowdown_mean == 2 && rows[0].slowdown_max == 3);

    assert_int_equal(rows[1].to_bytes, UINT64_MAX);
    assert_int_equal(rows[1].flows, 3);
    assert_int_equal(rows[1].delivered, 1);
    assert_int_equal(rows[1].failed, 1);
    assert_true(rows[1].slowdown[OCHE_P50] == 4);

    assert_int_equal(rows[2].flows, 6);
    assert_int_equal(rows[2].delivered, 4);
    assert_int_equal(rows[2].time_mean, 115 * us); /* 10 + 20 + 30 + 400, over 4 */
    assert_int_equal(rows[2].time[OCHE_P50], 20 * us);
    assert_int_equal(rows[2].time[OCHE_P90], 400 * us);
    assert_true(rows[2].slowdown_mean == 2.5);
}

/* Percentiles of slowdown order by slowdown, not by time: the small flow is the slow one. */
static void test_slowdown_order(void **state)
{
    static const uint64_t sizes[] = {0};
    const struct oche_flow_record flows[] = {
        {.bytes = 1, .start = 0, .end = 80, .ideal = 10},
        {.bytes = 9, .start = 0, .end = 100, .ideal = 100},
    };
    struct oche_completion_row rows[2];

    (void)state;
    oche_flow_completion(flows, 2, 0, sizes, 1, rows);
    assert_int_equal(rows[1].time[OCHE_P50], 80);
    assert_true(rows[1].slowdown[OCHE_P50] == 1 && rows[1].slowdown[OCHE_P90] == 8);
}

static void test_nothing(void **state)
{
    struct oche_completion_row rows[16];

    (void)state;
    assert_true(oche_completion_size_count < 16);
    assert_int_equal(oche_completion_sizes[0], 0);
    assert_int_equal(
        oche_flow_completion(NULL, 0, 0, oche_completion_sizes, oche_completion_size_count, rows),
        0);
    assert_int_equal(rows[oche_completion_size_count].flows, 0);
    assert_int_equal(rows[oche_completion_size_count].time[OCHE_P999], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_slowdown_order),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
