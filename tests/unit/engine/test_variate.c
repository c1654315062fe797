/* SPDX-License-Identifier: Apache-2.0 */
/* The logarithm is right and bit for bit the same everywhere. Exponential variates follow it. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "sim/engine/variate.h"

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* True values rounded to nearest, from 60-digit arithmetic. `ulps`: our recorded error. */
static void logarithm_bit_by_bit(void **state)
{
    static const struct {
        double x, ln;
        int64_t ulps;
    } cases[] = {
        {0x1p-53, -0x1.25e4f7b2737fap+5, 0},
        {0x1p-1022, -0x1.6232bdd7abcd2p+9, 0},
        {0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1, 0},
        {0x1p-1, -0x1.62e42fefa39efp-1, 0},
        {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2, 0}, /* sqrt(1/2) and its neighbour: */
        {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2, 0}, /* the two halves of the range */
        {0x1.fffffffffffffp-1, -0x1p-53, 0},
        {0x1p+0, 0.0, 0},
        {0x1.0000000000001p+0, 0x1.fffffffffffffp-53, 0},
        {0x1.8p+0, 0x1.9f323ecbf984cp-2, 0},
        {0x1p+1, 0x1.62e42fefa39efp-1, 0},
        {0x1.8p+1, 0x1.193ea7aad030bp+0, -1},
        {0x1.4p+3, 0x1.26bb1bbb55516p+1, 0},
        {0x1.81cd6c8b43958p+13, 0x1.2d79559791e31p+3, 0},
        {0x1.7e43c8800759cp+996, 0x1.5963447f87fb5p+9, 0},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++)
        assert_true((int64_t)(bits_of(oche_ln(cases[i].x)) - bits_of(cases[i].ln)) ==
                    cases[i].ulps);
}

static void logarithm_agrees_with_libm(void **state)
{
    struct oche_random random = oche_random_stream(1, "test", 1);

    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        uint64_t draw = oche_random_u64(&random);
        double fraction = (double)(draw >> 12) * 0x1p-52;
        double x = i % 3 == 0   ? fraction + 0x1p-53
                   : i % 3 == 1 ? 1.0 - fraction * 0x1p-16
                                : ldexp(1.0 + fraction, (int)(draw % 2000) - 1000);
        double expected = log(x), error = fabs(oche_ln(x) - expected);

        assert_true(error <= 1e-12);
        assert_true(error <= 1e-12 * fabs(expected));
        assert_true(error <= 4.5e-16 * fabs(expected)); /* 2 ulp */
    }
}

static void exponential_bit_by_bit(void **state)
{
    const double expected[] = {0x1.53e61873c1f15p+2, 0x1.9f3de2f88f09cp+1, 0x1.c44f590463cb2p+0,
                               0x1.abdacb8264567p-4};
    const oche_time times[] = {143394811, 87590055, 47704565, 2820331};
    struct oche_random a = oche_random_stream(7, "variate", 3);
    struct oche_random b = oche_random_stream(7, "variate", 3);

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_true(bits_of(oche_random_exponential(&a)) == bits_of(expected[i]));
        assert_true(oche_random_exponential_time(&b, 27 * OCHE_US) == times[i]);
    }
}

/* Mean and variance 1, and P(X > k) = e^-k, each within 5 standard errors. */
static void exponential_is_exponential(void **state)
{
    enum { DRAWS = 400000 };
    struct oche_random random = oche_random_stream(2, "test", 2);
    double sum = 0, squares = 0, error = 5 / sqrt(DRAWS);
    unsigned above[4] = {0};

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        double x = oche_random_exponential(&random);

        assert_true(x >= 0.0 && x <= 36.75);
        sum += x;
        squares += x * x;
        for (unsigned k = 1; k < 4; k++)
            above[k] += x > k;
    }
    assert_true(fabs(sum / DRAWS - 1) < error);
    assert_true(fabs(squares / DRAWS - 2) < error * sqrt(20)); /* Var X^2 = 24 - 4 */
    for (unsigned k = 1; k < 4; k++)
        assert_true(fabs((double)above[k] / DRAWS - exp(-(double)k)) < error * exp(-k / 2.0));
}

static void logarithm_refuses_what_has_none(void **state)
{
    (void)state;
    expect_assert_failure(oche_ln(0.0));
    expect_assert_failure(oche_ln(-1.0));
    expect_assert_failure(oche_ln(INFINITY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm_bit_by_bit),
        cmocka_unit_test(logarithm_agrees_with_libm),
        cmocka_unit_test(exponential_bit_by_bit),
        cmocka_unit_test(exponential_is_exponential),
        cmocka_unit_test(logarithm_refuses_what_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
