/* SPDX-License-Identifier: Apache-2.0 */
/* Phase margins and roots of systems with known closed-form solutions. */
#include "tests/support/test.h"

#include <math.h>

#include "fluid/control.h"
#include "tests/unit/fluid/model_defaults.h"

#define PI 3.14159265358979323846

static const struct oche_band band = {1e-4, 1e5};

/* gain e^(-delay s) / s, and the closed loop: s + gain e^(-delay s). */
struct integrator {
    double gain, delay;
};

static double complex loop(void *context, double complex s)
{
    const struct integrator *i = context;

    return i->gain * cexp(-s * i->delay) / s;
}

static double complex closed(void *context, double complex s)
{
    const struct integrator *i = context;

    return s + i->gain * cexp(-s * i->delay);
}

static void test_margin(void **state)
{
    (void)state;
    for (double gain = 0.1; gain < 20; gain *= 1.7) {
        struct integrator i = {gain, 0.3};
        struct oche_margin margin = oche_phase_margin(loop, &i, band);

        assert_near(margin.frequency, gain, gain * 1e-4);
        assert_near(margin.phase_deg, 90 - gain * 0.3 * 180 / PI, 0.01);
    }
}

/* Stable while gain * delay < pi / 2; then pairs of roots cross, at pi / 2 + 2 pi k. */
static void test_delay(void **state)
{
    (void)state;
    for (double gain = 0.1; gain < 40; gain *= 1.3) {
        struct integrator i = {gain, 1};
        int pairs = gain < PI / 2 ? 0 : 1 + (int)floor((gain - PI / 2) / (2 * PI));

        assert_int_equal(oche_unstable_roots(closed, &i, 1, band), 2 * pairs);
        assert_true((oche_phase_margin(loop, &i, band).phase_deg > 0) == (pairs == 0));
    }
    /* Without feedback, and with the wrong sign: one root on the right. */
    assert_int_equal(oche_unstable_roots(closed, &(struct integrator){-2, 1}, 1, band), 1);
}

/* A polynomial by its roots. */
struct polynomial {
    unsigned degree;
    double complex roots[4];
};

static double complex evaluate(void *context, double complex s)
{
    const struct polynomial *p = context;
    double complex value = 1;

    for (unsigned i = 0; i < p->degree; i++)
        value *= s - p->roots[i];
    return value;
}

static void test_roots(void **state)
{
    const struct {
        struct polynomial p;
        int unstable;
    } cases[] = {
        {{4, {-1, -2, -3 + I, -3 - I}}, 0},
        {{4, {-1, -2, 0.01 + 5 * I, 0.01 - 5 * I}}, 2},
        {{4, {-1, -2, -0.01 + 5 * I, -0.01 - 5 * I}}, 0},
        {{3, {3, -2, -4}}, 1},
        {{4, {1, 2, 3 + I, 3 - I}}, 4},
        {{3, {-1, 5 * I, -5 * I}}, -1}, /* on the axis: no answer */
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct polynomial p = cases[i].p;

        assert_int_equal(oche_unstable_roots(evaluate, &p, p.degree, band), cases[i].unstable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_margin),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_roots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
