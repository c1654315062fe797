/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence intervals cover the true value about as often as stated. */
#include "lab/measures/interval.h"

#include <math.h>

#include "tests/support/test.h"

/* Approximately normal: twelve uniform variates, less their mean. */
static double draw_normal(struct oche_random *random)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += oche_random_unit(random);
    return sum;
}

static void test_students_t_is_that_of_tables(void **state)
{
    (void)state;
    assert_true(oche_student_t(1) == 12.706);
    assert_true(oche_student_t(9) == 2.262);
    assert_true(oche_student_t(29) == 2.045);
    assert_true(fabs(oche_student_t(40) - 2.0211) < 5e-4);
    assert_true(fabs(oche_student_t(60) - 2.0003) < 5e-4);
    assert_true(fabs(oche_student_t(1000000) - 1.95996) < 1e-4);
    for (uint32_t freedom = 1; freedom < 100; freedom++)
        assert_true(oche_student_t(freedom) > oche_student_t(freedom + 1));
}

/* Returns how many intervals of 4000 samples of `count` values contain the true mean. */
static double coverage(size_t count)
{
    struct oche_random random = oche_random_stream(7, "coverage", count);
    double values[32];
    int inside = 0;

    for (int i = 0; i < 4000; i++) {
        for (size_t v = 0; v < count; v++)
            values[v] = draw_normal(&random);
        inside += fabs(oche_mean(values, count)) <= oche_mean_spread(values, count);
    }
    return inside / 4000.0;
}

static void test_the_interval_of_a_mean_covers_it_95_times_of_100(void **state)
{
    static const size_t counts[] = {2, 5, 30};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(counts); i++) {
        double share = coverage(counts[i]);

        if (share < 0.94 || share > 0.96) /* three standard errors */
            fail_msg("%zu values: %g", counts[i], share);
    }
}

static void test_draws_are_even_and_in_range(void **state)
{
    struct oche_random random = oche_random_stream(1, "bootstrap", 1);
    uint32_t draw[10], seen[10] = {0};

    (void)state;
    for (int i = 0; i < 10000; i++) {
        oche_draw(&random, draw, 10);
        for (int j = 0; j < 10; j++) {
            assert_in_range(draw[j], 0, 9);
            seen[draw[j]]++;
        }
    }
    for (int j = 0; j < 10; j++)
        assert_in_range(seen[j], 9700, 10300);
}

static void test_the_middle_leaves_out_as_much_on_either_side(void **state)
{
    double values[2000], low, high;

    (void)state;
    for (int i = 0; i < 2000; i++)
        values[i] = (i * 7919) % 2000; /* 0 … 1999, mixed */
    oche_middle(values, 2000, &low, &high);
    assert_true(low == 50 && high == 1949);
    oche_middle(values, 1, &low, &high);
    assert_true(low == high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_students_t_is_that_of_tables),
        cmocka_unit_test(test_the_interval_of_a_mean_covers_it_95_times_of_100),
        cmocka_unit_test(test_draws_are_even_and_in_range),
        cmocka_unit_test(test_the_middle_leaves_out_as_much_on_either_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
