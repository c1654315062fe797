/* SPDX-License-Identifier: Apache-2.0 */
/* DCQCN's fluid model against dcqcn.md#fluid-model and #sweeps, and against itself. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "core/cc/cc.h"
#include "fabric/switch.h"
#include "tests/unit/fluid/model_defaults.h"

static const struct oche_fluid_flow fast_and_slow[] = {{40e9, 0, 1}, {5e9, 0, 1}};

static struct came_to two_flows(const struct oche_dcqcn_model *model, double until)
{
    return run_to(oche_dcqcn_fluid_create(model, fast_and_slow, 2, &OCHE_FLUID_OPTIONS), until / 2,
                  until);
}

/* ---- parameters ---- */

/* Every value of the model exists under its name in core's or in the switch's table. */
static void test_names(void **state)
{
    static const char *const names[] = {
        "g",   "initial_alpha", "alpha_interval", "timer", "cnp_interval", "fast_recovery_steps",
        "rai", "byte_counter",  "kmin",           "kmax",  "pmax"};
    const struct oche_param_table *tables[] = {&oche_cc_find("dcqcn")->table, &oche_switch_params};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(names); i++) {
        struct oche_dcqcn_model before = deployed(), after = before;
        const struct oche_param *param = oche_param_find(tables[0], names[i]);

        if (param == NULL)
            param = oche_param_find(tables[1], names[i]);
        assert_non_null(param);
        union oche_value value = param->maximum;

        if (param->unit == OCHE_UNIT_REAL)
            value.real *= 0.75;
        else
            value.u -= value.u / 4;
        assert_true(oche_dcqcn_model_set(&after, param, value));
        assert_true(memcmp(&before, &after, sizeof(before)) != 0);
    }
    struct oche_dcqcn_model model = deployed();

    assert_false(oche_dcqcn_model_set(&model, oche_param_find(tables[0], "rhai"),
                                      (union oche_value){.u = 1}));
    assert_near(model.timer, 55e-6, 1e-18);
    assert_near(model.rai, 40e6, 0);
    assert_near(model.byte_counter, 10e6, 0);
    assert_near(model.kmax, 200e3, 0);
}

static void test_check(void **state)
{
    struct oche_dcqcn_model model = deployed();

    (void)state;
    assert_null(oche_dcqcn_model_check(&model));
    model.kmin = model.kmax + 1;
    assert_memory_equal(oche_dcqcn_model_check(&model), "kmin: ", 6);
    model = deployed();
    model.delay = 0;
    assert_memory_equal(oche_dcqcn_model_check(&model), "delay: ", 7);
    model = deployed();
    model.byte_counter = 10;
    assert_memory_equal(oche_dcqcn_model_check(&model), "byte_counter: ", 14);
}

/* ---- the equations ---- */

static void test_mark(void **state)
{
    struct oche_dcqcn_model model = deployed();

    (void)state;
    assert_true(oche_dcqcn_mark(&model, 0) == 0);
    assert_true(oche_dcqcn_mark(&model, 5000) == 0);
    assert_near(oche_dcqcn_mark(&model, 102500), 0.005, 1e-15);
    assert_near(oche_dcqcn_mark(&model, 200000), 0.01, 1e-15);
    assert_true(oche_dcqcn_mark(&model, 200001) == 1);
    model.kmin = model.kmax;
    assert_true(oche_dcqcn_mark(&model, 200000) == 0);
    assert_true(oche_dcqcn_mark(&model, 200001) == 1);
}

/* As printed in dcqcn.md#fluid-model, without care for small numbers. */
static struct oche_dcqcn_events as_printed(const struct oche_dcqcn_model *m, double p, double bps)
{
    double rate = bps / 8 / m->packet, bytes = m->byte_counter / m->packet;
    double b = p / (pow(1 - p, -bytes) - 1), c = b * pow(1 - p, m->fast_recovery_steps * bytes);
    double d = p / (pow(1 - p, -m->timer * rate) - 1);
    double e = d * pow(1 - p, m->fast_recovery_steps * m->timer * rate);

    return (struct oche_dcqcn_events){.alpha = 1 - pow(1 - p, m->alpha_interval * rate),
                                      .cuts = (1 - pow(1 - p, m->cnp_interval * rate)) /
                                              m->cnp_interval,
                                      .raises = rate * (b + d),
                                      .additive = rate * (c + e)};
}

static void expect_events(struct oche_dcqcn_events got, struct oche_dcqcn_events want,
                          double relative)
{
    assert_near(got.alpha, want.alpha, relative * fabs(want.alpha));
    assert_near(got.cuts, want.cuts, relative * fabs(want.cuts));
    assert_near(got.raises, want.raises, relative * fabs(want.raises) + 1e-9);
    assert_near(got.additive, want.additive, relative * fabs(want.additive) + 1e-9);
}

static void test_events(void **state)
{
    struct oche_dcqcn_model model = deployed(), other = model;

    (void)state;
    other.timer = 300e-6; /* not the same as alpha_interval */
    other.fast_recovery_steps = 3;
    other.byte_counter = 150e3;
    for (double p = 1e-4; p < 0.9; p *= 2.3)
        for (double bps = 1e8; bps <= 40e9; bps *= 4) {
            expect_events(oche_dcqcn_events(&model, p, bps), as_printed(&model, p, bps), 1e-9);
            expect_events(oche_dcqcn_events(&other, p, bps), as_printed(&other, p, bps), 1e-9);
        }
}

/* The limits of the printed terms. No term jumps on the way there. */
static void test_limits(void **state)
{
    struct oche_dcqcn_model model = deployed();
    double rate = 20e9 / 8 / 1000;
    struct oche_dcqcn_events none = oche_dcqcn_events(&model, 0, 20e9);
    struct oche_dcqcn_events all = oche_dcqcn_events(&model, 1, 20e9);
    struct oche_dcqcn_events silent = oche_dcqcn_events(&model, 0.01, 0);

    (void)state;
    assert_true(none.alpha == 0 && none.cuts == 0);
    assert_near(none.raises, rate * 1000 / 10e6 + 1 / 55e-6, 1e-9);
    assert_true(none.additive == none.raises);
    assert_true(all.alpha == 1 && all.raises == 0 && all.additive == 0);
    assert_near(all.cuts, 1 / 50e-6, 1e-9);
    /* Nothing is sent: nothing is marked, and only the timer runs. */
    assert_true(silent.alpha == 0 && silent.cuts == 0);
    assert_near(silent.raises, 0.01 / -log(0.99) / 55e-6, 1e-6);
    /* Towards the ends. */
    expect_events(
        oche_dcqcn_events(&model, 1e-12, 20e9),
        (struct oche_dcqcn_events){1e-12 * 55e-6 * rate, 1e-12 * rate, none.raises, none.additive},
        1e-6);
    struct oche_dcqcn_events nearly = oche_dcqcn_events(&model, 1 - 1e-12, 20e9);

    assert_near(nearly.cuts, all.cuts, 1e-6);
    assert_near(nearly.raises, 0, 1e-9);
    struct oche_dcqcn_events slow = oche_dcqcn_events(&model, 0.01, 1e-3);

    assert_near(slow.raises, silent.raises, 1e-6 * silent.raises);
}

/* ---- dcqcn.md#sweeps: rate gap below 10 % of the fair share; 40, 5 Gbit/s ---- */

static void test_convergence(void **state)
{
    struct oche_dcqcn_model model = deployed();

    (void)state;
    assert_near(two_flows(&model, 0.2).converged_s, 0.040, 0.0005);
    model.timer = 100e-6;
    assert_near(two_flows(&model, 0.2).converged_s, 0.078, 0.0005);
    model.timer = 300e-6;
    assert_near(two_flows(&model, 0.4).converged_s, 0.29, 0.005);
    model.timer = 1.5e-3;
    assert_true(two_flows(&model, 0.3).converged_s == INFINITY);
    model.byte_counter = 150e3;
    assert_near(two_flows(&model, 0.3).converged_s, 0.126, 0.0005);
    model.byte_counter = 500e3;
    assert_true(two_flows(&model, 0.2).converged_s == INFINITY);
    model.byte_counter = 1e6;
    assert_true(two_flows(&model, 0.2).converged_s == INFINITY);
    model = strawman();
    struct came_to came =
        run_to(oche_dcqcn_fluid_create(&model, fast_and_slow, 2, &OCHE_FLUID_OPTIONS), 0.199, 0.2);

    assert_true(came.converged_s == INFINITY);
    assert_near(came.rates[0] / 1e9, 39.9,
                0.1); /* dcqcn.md#sweeps has 39.97: an instantaneous value, not a mean */
    assert_near(came.rates[1] / 1e9, 0.15, 0.01);
    model.timer = 55e-6;
    model.byte_counter = 10e6;
    assert_near(two_flows(&model, 0.2).converged_s, 0.10, 0.005);
    model = strawman();
    model.kmin = 5e3;
    model.kmax = 200e3;
    model.pmax = 0.01;
    assert_near(two_flows(&model, 0.3).converged_s, 0.14, 0.005);
}

/* ---- the runs of dcqcn.md#stability: queue and link use over the second half of 100 ms ---- */

static struct came_to many(double delay, double pmax, uint32_t flows)
{
    struct oche_dcqcn_model model = deployed();
    const struct oche_fluid_flow list[] = {{40e9, 0, flows}};

    model.delay = delay;
    model.pmax = pmax;
    return run_to(oche_dcqcn_fluid_create(&model, list, 1, &OCHE_FLUID_OPTIONS), 0.05, 0.1);
}

/* Limit cycles are within 5 % of the result of Euler steps of 0.5 us, steady queues within 1 %. */
static void test_queues(void **state)
{
    const struct {
        double delay, pmax;
        uint32_t flows;
        double mean, sd, sd_tolerance, used; /* KB */
    } cases[] = {
        {4e-6, 0.01, 2, 20.1, 0.1, 0.15, 1},   {4e-6, 0.01, 10, 122, 0.7, 0.1, 1},
        {4e-6, 0.01, 64, 161, 42, 7, 1},       {85e-6, 0.01, 2, 20.1, 0.8, 0.2, 1},
        {85e-6, 0.01, 10, 79, 72, 3.6, 0.968}, {85e-6, 0.01, 64, 126, 160, 8, 0.865},
        {4e-6, 0.1, 2, 6.5, 0, 0.1, 1},        {4e-6, 0.1, 10, 16.7, 0, 0.1, 1},
        {4e-6, 0.1, 64, 120, 0, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct came_to came = many(cases[i].delay, cases[i].pmax, cases[i].flows);
        double relative = cases[i].sd > 1 ? 0.05 : 0.01;

        assert_near(came.queue_mean / 1e3, cases[i].mean, relative * cases[i].mean);
        assert_near(came.queue_sd / 1e3, cases[i].sd, cases[i].sd_tolerance);
        assert_near(came.utilisation, cases[i].used, 0.003);
        assert_int_equal(came.counts.forced, 0);
    }
    /* N = 10, 85 us: between empty and 234 KB. */
    struct came_to swings = many(85e-6, 0.01, 10);

    assert_near(swings.queue_min, 0, 1e-6);
    assert_near(swings.queue_max / 1e3, 234, 3);
}

/* ---- the solution ---- */

/* Two flows without any limit: they start below the capacity and fill the queue at once. */
static double rate_after(double step, double tolerance, double until)
{
    const struct oche_fluid_flow flows[] = {{30e9, 0, 1}, {20e9, 0, 1}};
    struct oche_dcqcn_model model = deployed();
    struct oche_fluid *fluid =
        oche_dcqcn_fluid_create(&model, flows, 2, &(struct oche_fluid_options){tolerance, step});
    double rates[2];

    assert_true(oche_fluid_run(fluid, until, NULL, NULL));
    assert_true(oche_fluid_at(fluid, until, rates) > 0);
    oche_fluid_free(fluid);
    return rates[0];
}

/*
 * Each halving of the step reduces the error to a sixteenth, with or without thresholds on the way.
 */
static void test_order(void **state)
{
    double right = rate_after(31.25e-9, 1, 0.4e-3);
    double before = fabs(rate_after(1e-6, 1, 0.4e-3) - right);

    (void)state;
    for (double step = 0.5e-6; step > 0.2e-6; step /= 2) {
        double error = fabs(rate_after(step, 1, 0.4e-3) - right);

        assert_true(before / error > 11 && before / error < 20);
        before = error;
    }
    for (double tolerance = 1e-4; tolerance > 1e-9; tolerance /= 10)
        assert_near(rate_after(0, tolerance, 2e-3), rate_after(31.25e-9, 1, 2e-3),
                    40e9 * tolerance * 10);
}

/*
 * The bytes sent beyond the capacity are in the queue. An empty queue wastes the remaining
 * capacity.
 */
struct balance {
    double sent, queue, wasted; /* bytes: beyond the capacity; in the queue now; unused capacity */
    bool ok;
};

static void weigh(void *context, const struct oche_fluid *fluid, double begin, double end)
{
    struct balance *balance = context;
    double rates[2], queue = oche_fluid_at(fluid, begin, rates), inflow = rates[0] + rates[1];

    inflow /= 6;
    oche_fluid_at(fluid, (begin + end) / 2, rates);
    inflow += (rates[0] + rates[1]) * 4 / 6;
    double after = oche_fluid_at(fluid, end, rates);

    inflow = (inflow + (rates[0] + rates[1]) / 6 - oche_fluid_capacity(fluid)) / 8 * (end - begin);
    double made = after - queue - inflow; /* out of nothing */

    if (queue == 0)
        balance->wasted += made;
    balance->ok &= made > -1 && (queue == 0 || made < 1);
    balance->sent += inflow;
    balance->queue = after;
}

static void test_conservation(void **state)
{
    struct oche_dcqcn_model model = deployed();

    (void)state;
    for (double delay = 4e-6; delay < 200e-6; delay *= 5) {
        const struct oche_fluid_flow flows[] = {{40e9, 0, 1}, {40e9, 1e-3, 1}};
        struct balance balance = {.ok = true};

        model.delay = delay;
        struct oche_fluid *fluid = oche_dcqcn_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS);

        assert_true(oche_fluid_run(fluid, 0.02, weigh, &balance));
        assert_true(balance.ok);
        assert_near(balance.sent + balance.wasted, balance.queue, 1);
        oche_fluid_free(fluid);
    }
}

/* Equal flows may be one entry or many, in any order. */
static void test_entries(void **state)
{
    struct oche_dcqcn_model model = deployed();
    const struct oche_fluid_flow few[] = {{40e9, 0, 3}, {10e9, 2e-3, 2}};
    const struct oche_fluid_flow all[] = {
        {10e9, 2e-3, 1}, {40e9, 0, 1}, {40e9, 0, 1}, {10e9, 2e-3, 1}, {40e9, 0, 1}};
    struct oche_fluid_options options = {1, 1e-6};
    struct came_to one = run_to(oche_dcqcn_fluid_create(&model, few, 2, &options), 0.01, 0.02);
    struct came_to other = run_to(oche_dcqcn_fluid_create(&model, all, 5, &options), 0.01, 0.02);

    (void)state;
    assert_near(one.queue_mean, other.queue_mean, 1e-3);
    assert_near(one.rates[0], other.rates[1], 1);
    assert_near(one.rates[1], other.rates[0], 1);
    assert_near(one.converged_s, other.converged_s, 1e-9);
}

/* A flow does nothing before it starts. Then it behaves as at any other time. */
static void test_starts(void **state)
{
    struct oche_dcqcn_model model = deployed();
    const double late = 7e-3;
    const struct oche_fluid_flow now[] = {{40e9, 0, 2}}, later[] = {{40e9, late, 2}};
    struct oche_fluid_options options = {1, 1e-6};
    struct oche_fluid *one = oche_dcqcn_fluid_create(&model, now, 1, &options);
    struct oche_fluid *other = oche_dcqcn_fluid_create(&model, later, 1, &options);
    double rate, shifted;

    (void)state;
    assert_true(oche_fluid_run(other, late * 0.9, NULL, NULL));
    assert_false(oche_fluid_started(other, 0));
    assert_true(oche_fluid_at(other, late * 0.9, &rate) == 0 && rate == 0);
    for (double time = 1e-4; time < 5e-3; time += 1e-4) {
        assert_true(oche_fluid_run(one, time, NULL, NULL));
        assert_true(oche_fluid_run(other, late + time, NULL, NULL));
        double queue = oche_fluid_at(one, time, &rate);

        assert_near(oche_fluid_at(other, late + time, &shifted), queue, 0.1);
        assert_near(shifted, rate, 1e4);
    }
    oche_fluid_free(one);
    oche_fluid_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_check),
        cmocka_unit_test(test_mark),         cmocka_unit_test(test_events),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_queues),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_conservation), cmocka_unit_test(test_entries),
        cmocka_unit_test(test_starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
