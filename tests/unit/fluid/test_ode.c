/* SPDX-License-Identifier: Apache-2.0 */
/* The integrator against known solutions: order, delays, jumps, bounds. */
#include "tests/support/test.h"

#include <math.h>

#include "fluid/ode.h"
#include "tests/unit/fluid/model_defaults.h"

#define PI 3.14159265358979323846

static const double one = 1, none_below = -INFINITY, none_above = INFINITY;

/* A system of one component, without bounds. */
static struct oche_ode_system scalar(void (*slope)(void *, const struct oche_ode *, double,
                                                   const double *, double *))
{
    return (struct oche_ode_system){.size = 1,
                                    .slope = slope,
                                    .shortest_delay = INFINITY,
                                    .scale = &one,
                                    .lower = &none_below,
                                    .upper = &none_above};
}

static struct oche_ode *run(const struct oche_ode_system *system, double tolerance, double step,
                            double initial, double until)
{
    struct oche_ode_options options = {
        .tolerance = tolerance, .step = step, .longest_step = INFINITY};
    struct oche_ode *ode = oche_ode_create(system, &options, 0, &initial);

    while (oche_ode_time(ode) < until)
        oche_ode_step(ode, until);
    assert_true(oche_ode_time(ode) == until);
    return ode;
}

static double value_at(const struct oche_ode_system *system, double tolerance, double step,
                       double initial, double until)
{
    struct oche_ode *ode = run(system, tolerance, step, initial, until);
    double value = oche_ode_state(ode)[0];

    oche_ode_free(ode);
    return value;
}

/* Each halving of the step divides the error by 16, nearly; *last is the smallest error. */
static void expect_order_4(const struct oche_ode_system *system, double initial, double until,
                           double right, double step)
{
    double before = fabs(value_at(system, 1, step, initial, until) - right);

    for (unsigned i = 0; i < 3; i++) {
        step /= 2;
        double error = fabs(value_at(system, 1, step, initial, until) - right);

        assert_true(before / error > 12 && before / error < 24);
        before = error;
    }
}

/* ---- without delay: y' = -2 t y ---- */

static void gauss(void *context, const struct oche_ode *ode, double time, const double *state,
                  double *slope)
{
    (void)context;
    (void)ode;
    slope[0] = -2 * time * state[0];
}

static void test_order(void **state)
{
    struct oche_ode_system system = scalar(gauss);

    (void)state;
    expect_order_4(&system, 1, 1, exp(-1), 0.1);
}

static void test_tolerance(void **state)
{
    struct oche_ode_system system = scalar(gauss);
    double coarse = 0;

    (void)state;
    for (double tolerance = 1e-3; tolerance > 1e-12; tolerance /= 100) {
        struct oche_ode *ode = run(&system, tolerance, 0, 1, 2);
        double error = fabs(oche_ode_state(ode)[0] - exp(-4));

        /* The bound is for the error of one step. The total is at most the sum over all steps. */
        assert_true(error < tolerance * (double)oche_ode_counts(ode).steps);
        assert_true(coarse == 0 || error < coarse);
        assert_int_equal(oche_ode_counts(ode).forced, 0);
        coarse = error;
        oche_ode_free(ode);
    }
}

/* ---- with delay: y' = -y(t - 1), y = 1 before 0 ---- */

static void delayed(void *context, const struct oche_ode *ode, double time, const double *state,
                    double *slope)
{
    double past;

    (void)context;
    (void)state;
    oche_ode_past(ode, time, 1, 0, 1, &past);
    slope[0] = -past;
}

/* By the method of steps, in closed form. */
static double delayed_exactly(double time)
{
    double sum = 1, term;

    for (int k = 1; k <= (int)floor(time) + 1; k++) {
        term = 1;
        for (int i = 1; i <= k; i++)
            term *= -(time - (k - 1)) / i;
        sum += term;
    }
    return sum;
}

static void test_delay(void **state)
{
    struct oche_ode_system system = scalar(delayed);

    (void)state;
    system.shortest_delay = system.longest_delay = 1;
    expect_order_4(&system, 1, 10, delayed_exactly(10), 0.25);
    struct oche_ode *ode = run(&system, 1e-10, 0, 1, 10);

    assert_near(oche_ode_state(ode)[0], delayed_exactly(10), 1e-7);
    /* Values between the steps are as accurate. */
    for (double time = 9; time < 10; time += 0.0123) {
        double value;

        oche_ode_at(ode, time, 0, 1, &value);
        assert_near(value, delayed_exactly(time), 1e-7);
    }
    oche_ode_free(ode);
}

/* ---- a jump in the slope, one delay after a crossing: a relay that switches late ---- */

#define LATE 0.3

struct relay {
    bool above; /* in this step, LATE ago */
};

static void relay_begin(void *context, const struct oche_ode *ode, double time, double step)
{
    double past;

    oche_ode_past(ode, time + step / 2, LATE, 0, 1, &past);
    ((struct relay *)context)->above = past > 1;
}

static void relay_slope(void *context, const struct oche_ode *ode, double time, const double *state,
                        double *slope)
{
    (void)ode;
    (void)time;
    (void)state;
    slope[0] = ((struct relay *)context)->above ? -1 : 2;
}

/* From 0: up with 2 until LATE after 1, down with 1 until LATE after 1 again, and so on. */
static double relay_exactly(double time)
{
    double begin = 0.5 + LATE;                    /* first turn, at the top */
    double down = 3 * LATE, up = LATE / 2 + LATE; /* back to 1, and LATE more */

    if (time < begin)
        return 2 * time;
    time = fmod(time - begin, down + up);
    return time < down ? 1 + 2 * LATE - time : 1 - LATE + 2 * (time - down);
}

static void test_crossing(void **state)
{
    struct relay relay = {false};
    const double delay = LATE;
    const struct oche_ode_level level = {0, 1, LATE};
    struct oche_ode_system system = scalar(relay_slope);

    (void)state;
    system.context = &relay;
    system.begin_step = relay_begin;
    system.shortest_delay = system.longest_delay = LATE;
    system.delays = &delay;
    system.delay_count = 1;
    system.levels = &level;
    system.level_count = 1;
    for (double until = 0.05; until < 30; until += 0.77)
        assert_near(value_at(&system, 1e-6, 0, 0, until), relay_exactly(until), 1e-9);
    /* Steps as long as the delay, and every switch is still in its place. */
    assert_near(value_at(&system, 1, LATE, 0, 29), relay_exactly(29), 1e-9);
}

/* ---- bounds: y' = cos t, not below 0, not above 1.5 ---- */

static void wave(void *context, const struct oche_ode *ode, double time, const double *state,
                 double *slope)
{
    (void)context;
    (void)ode;
    (void)state;
    slope[0] = cos(time);
}

static void test_bounds(void **state)
{
    const double lower = 0, upper = 1.5;
    struct oche_ode_system system = scalar(wave);

    (void)state;
    system.lower = &lower;
    system.upper = &upper;
    /* From 1: full from sin t = 1/2 to pi/2, then empty after falling by 1.5, until 3 pi / 2. */
    assert_near(value_at(&system, 1e-9, 0, 1, 0.4), 1 + sin(0.4), 1e-7);
    assert_true(value_at(&system, 1e-9, 0, 1, 1.2) == 1.5);
    assert_near(value_at(&system, 1e-9, 0, 1, 2.5), 0.5 + sin(2.5), 1e-6);
    assert_true(value_at(&system, 1e-9, 0, 1, 4.5) == 0);
    assert_near(value_at(&system, 1e-9, 0, 1, 5.5), 1 + sin(5.5), 1e-6);
}

/* ---- the caller's jump, which returns one delay later: y' = y(t - 1) ---- */

static void echo(void *context, const struct oche_ode *ode, double time, const double *state,
                 double *slope)
{
    (void)context;
    (void)state;
    oche_ode_past(ode, time, 1, 0, 1, slope);
}

static void test_jump(void **state)
{
    const double delay = 1, initial = 0;
    struct oche_ode_system system = scalar(echo);
    struct oche_ode_options options = {.tolerance = 1e-9, .longest_step = INFINITY};

    (void)state;
    system.shortest_delay = system.longest_delay = 1;
    system.delays = &delay;
    system.delay_count = 1;
    struct oche_ode *ode = oche_ode_create(&system, &options, 0, &initial);

    while (oche_ode_time(ode) < 0.5)
        oche_ode_step(ode, 0.5);
    oche_ode_jump(ode, 0, 3);
    while (oche_ode_time(ode) < 2.25)
        oche_ode_step(ode, 2.25);
    /* 3 until 1.5; then it grows by 3 a unit of time. */
    double value;

    oche_ode_at(ode, 1.4999, 0, 1, &value);
    assert_near(value, 3, 1e-9);
    assert_near(oche_ode_state(ode)[0], 3 + 3 * 0.75, 1e-9);
    oche_ode_free(ode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),  cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_delay),  cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_jump),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
