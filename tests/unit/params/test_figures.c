/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in tables: three digits, the right unit, and no rounding to 1000 of a unit. */
#include "params/figures.h"
#include "tests/support/test.h"

#include <math.h>

#define ASSERT_TEXT(figure, wanted) assert_string_equal((figure).text, wanted)

static void test_times(void **state)
{
    (void)state;
    ASSERT_TEXT(oche_figure_time(0), "0");
    ASSERT_TEXT(oche_figure_time(7), "7ps");
    ASSERT_TEXT(oche_figure_time(999), "999ps");
    ASSERT_TEXT(oche_figure_time(1000), "1ns");
    ASSERT_TEXT(oche_figure_time(1001), "1.00ns");
    ASSERT_TEXT(oche_figure_time(12345678), "12.3us");
    ASSERT_TEXT(oche_figure_time(812 * OCHE_US), "812us");
    ASSERT_TEXT(oche_figure_time(1049 * OCHE_US), "1.05ms");
    ASSERT_TEXT(oche_figure_time(2310 * OCHE_MS), "2.31s");
    ASSERT_TEXT(oche_figure_time(86400 * OCHE_SEC), "86400s");
    ASSERT_TEXT(oche_figure_time(9996 * OCHE_NS), "10.0us");
    ASSERT_TEXT(oche_figure_time(99960 * OCHE_NS), "100us");
}

static void test_sizes_and_rates(void **state)
{
    (void)state;
    ASSERT_TEXT(oche_figure_bytes(0), "0");
    ASSERT_TEXT(oche_figure_bytes(96), "96B");
    ASSERT_TEXT(oche_figure_bytes(10000), "10KB");
    ASSERT_TEXT(oche_figure_bytes(12345), "12.3KB");
    ASSERT_TEXT(oche_figure_bytes(UINT64_MAX), "18446744TB");
    ASSERT_TEXT(oche_figure_rate(0), "0");
    ASSERT_TEXT(oche_figure_rate(38150000000), "38.1Gbps");
    ASSERT_TEXT(oche_figure_rate(25 * OCHE_GBPS), "25Gbps");
    ASSERT_TEXT(oche_figure_rate(1600 * OCHE_GBPS), "1.60Tbps");
}

static void test_counts_shares_and_ratios(void **state)
{
    (void)state;
    ASSERT_TEXT(oche_figure_count(0), "0");
    ASSERT_TEXT(oche_figure_count(999), "999");
    ASSERT_TEXT(oche_figure_count(1000), "1,000");
    ASSERT_TEXT(oche_figure_count(1234567), "1,234,567");
    ASSERT_TEXT(oche_figure_count(UINT64_MAX), "18,446,744,073,709,551,615");
    ASSERT_TEXT(oche_figure_share(0), "0 %");
    ASSERT_TEXT(oche_figure_share(0.00123), "0.12 %");
    ASSERT_TEXT(oche_figure_share(0.123), "12.3 %");
    ASSERT_TEXT(oche_figure_share(1), "100 %");
    ASSERT_TEXT(oche_figure_ratio(1), "1.00");
    ASSERT_TEXT(oche_figure_ratio(12.345), "12.3");
    ASSERT_TEXT(oche_figure_ratio(2035.4), "2035");
}

static void test_values_and_spreads(void **state)
{
    (void)state;
    ASSERT_TEXT(oche_figure_value(NAN, "s"), "–");
    ASSERT_TEXT(oche_figure_value(0, "s"), "0");
    ASSERT_TEXT(oche_figure_value(12.345678e-6, "s"), "12.3us");
    ASSERT_TEXT(oche_figure_value(9.996e-6, "s"), "10.0us");
    ASSERT_TEXT(oche_figure_value(999.6e-6, "s"), "1.00ms");
    ASSERT_TEXT(oche_figure_value(38.15e9, "bps"), "38.1Gbps");
    ASSERT_TEXT(oche_figure_value(12345, "bytes"), "12.3KB");
    ASSERT_TEXT(oche_figure_value(1234567, "count"), "1,234,567");
    ASSERT_TEXT(oche_figure_value(0.795, "ratio"), "0.795");
    ASSERT_TEXT(oche_figure_value(0.00123456, "ratio"), "0.00123");
    ASSERT_TEXT(oche_figure_value(1371, "ratio"), "1371");
    ASSERT_TEXT(oche_figure_spread(38.15e9, 0.4e9, "bps"), "38.1 ± 0.4Gbps");
    ASSERT_TEXT(oche_figure_spread(38.15e9, NAN, "bps"), "38.1Gbps");
    ASSERT_TEXT(oche_figure_spread(1.5, 0.5, "count"), "1.50 ± 0.50");
    ASSERT_TEXT(oche_figure_spread(0.99996, 0.00003, "ratio"), "1.00 ± <0.01");
    ASSERT_TEXT(oche_figure_spread(2.33e-3, 0.4e-6, "s"), "2.33 ± <0.01ms");
    ASSERT_TEXT(oche_figure_spread(7, 0, "count"), "7");
    ASSERT_TEXT(oche_figure_spread(0, 0, "bps"), "0");
    ASSERT_TEXT(oche_figure_spread(0.00123456, 0.0001, "ratio"), "0.00123 ± 0.0001");
    ASSERT_TEXT(oche_figure_spread(NAN, 1, "ratio"), "–");
    ASSERT_TEXT(oche_figure_wait(-3), "0 s");
    ASSERT_TEXT(oche_figure_wait(99), "99 s");
    ASSERT_TEXT(oche_figure_wait(125), "2 min");
    ASSERT_TEXT(oche_figure_wait(7800), "2 h 10 min");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_sizes_and_rates),
        cmocka_unit_test(test_counts_shares_and_ratios),
        cmocka_unit_test(test_values_and_spreads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
