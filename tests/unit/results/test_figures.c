/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in tables: three digits, the right unit, nothing rounded to another unit's thousand. */
#include "results/figures.h"
#include "tests/support/test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_sizes_and_rates),
        cmocka_unit_test(test_counts_shares_and_ratios),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
