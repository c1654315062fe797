/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest rank: every answer is a sample, ranks are exact, histograms agree with samples. */
#include "tests/support/test.h"

#include "core/random.h"
#include "results/percentile.h"

static void test_nearest_rank_of_few(void **state)
{
    /* The usual example: 15 20 35 40 50; p30 is rank 2, p40 rank 2, p50 rank 3. */
    uint64_t samples[] = {35, 15, 50, 40, 20};

    (void)state;
    oche_sort_u64(samples, 5);
    assert_int_equal(oche_percentile_u64(samples, 5, (struct oche_fraction){5, 100}), 15);
    assert_int_equal(oche_percentile_u64(samples, 5, (struct oche_fraction){30, 100}), 20);
    assert_int_equal(oche_percentile_u64(samples, 5, (struct oche_fraction){40, 100}), 20);
    assert_int_equal(oche_percentile_u64(samples, 5, OCHE_P50), 35);
    assert_int_equal(oche_percentile_u64(samples, 5, OCHE_P999), 50);
    assert_int_equal(oche_percentile_u64(samples, 5, (struct oche_fraction){1, 1}), 50);
    assert_int_equal(oche_percentile_u64(samples, 5, (struct oche_fraction){0, 1}), 15);
    assert_int_equal(oche_percentile_u64(samples, 1, OCHE_P99), 15);
}

static void test_ranks_are_exact(void **state)
{
    static uint64_t samples[100000];

    (void)state;
    for (uint64_t i = 0; i < 100000; i++)
        samples[i] = i + 1;
    /* Rank p n exactly, with n such that p n is whole. */
    assert_int_equal(oche_percentile_u64(samples, 1000, OCHE_P999), 999);
    assert_int_equal(oche_percentile_u64(samples, 1001, OCHE_P999), 1000);
    assert_int_equal(oche_percentile_u64(samples, 100000, OCHE_P99), 99000);
    assert_int_equal(oche_percentile_u64(samples, 100000, OCHE_P90), 90000);
    assert_int_equal(oche_percentile_u64(samples, 2, OCHE_P50), 1);
    assert_int_equal(oche_percentile_u64(samples, 3, OCHE_P50), 2);
}

static void test_reals(void **state)
{
    double samples[] = {2.5, 1.0, 1.5, -4};

    (void)state;
    oche_sort_real(samples, 4);
    assert_true(oche_percentile_real(samples, 4, OCHE_P50) == 1.0);
    assert_true(oche_percentile_real(samples, 4, OCHE_P99) == 2.5);
    assert_true(oche_percentile_real(samples, 4, (struct oche_fraction){1, 4}) == -4);
}

static void test_histograms_agree_with_samples(void **state)
{
    static const struct oche_fraction fractions[] = {{0, 1},    {1, 100},    {1, 2}, {9, 10},
                                                     {99, 100}, {999, 1000}, {1, 1}};
    struct oche_random random = oche_random_stream(1, "percentile", 0);
    uint64_t samples[1000], weights[50] = {0};

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        samples[i] = oche_random_below(&random, 7) * oche_random_below(&random, 8);
        weights[samples[i]]++;
    }
    oche_sort_u64(samples, 1000);
    for (unsigned i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++)
        assert_int_equal(oche_percentile_bucket(weights, 50, fractions[i]),
                         oche_percentile_u64(samples, 1000, fractions[i]));
}

static void test_histograms_of_time(void **state)
{
    /* Weights near 2^63 do not overflow; empty ones have no percentile. */
    uint64_t heavy[] = {0, UINT64_MAX / 2, UINT64_MAX / 2, UINT64_MAX / 2};
    uint64_t nothing[] = {0, 0, 0};

    (void)state;
    assert_int_equal(oche_percentile_bucket(heavy, 4, OCHE_P50), 2);
    assert_int_equal(oche_percentile_bucket(heavy, 4, (struct oche_fraction){0, 1}), 1);
    assert_int_equal(oche_percentile_bucket(heavy, 4, (struct oche_fraction){1, 1}), 3);
    assert_int_equal(oche_percentile_bucket(nothing, 3, OCHE_P50), 3);
    assert_int_equal(oche_percentile_bucket(nothing, 0, OCHE_P50), 0);
}

static void test_nothing_has_no_percentile(void **state)
{
    (void)state;
    expect_assert_failure(oche_percentile_u64(&(uint64_t){1}, 0, OCHE_P50));
    expect_assert_failure(oche_percentile_u64(&(uint64_t){1}, 1, (struct oche_fraction){2, 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_rank_of_few),
        cmocka_unit_test(test_ranks_are_exact),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_histograms_agree_with_samples),
        cmocka_unit_test(test_histograms_of_time),
        cmocka_unit_test(test_nothing_has_no_percentile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
