/* SPDX-License-Identifier: Apache-2.0 */
/* TIMELY's fluid model against timely.md#defects: no fixed point, and the patch's fixed point. */
#include "tests/support/test.h"

#include <math.h>

#include "fluid/timely_fluid.h"
#include "tests/unit/fluid/model_defaults.h"

static struct oche_timely_model defaults(bool patched)
{
    struct oche_timely_params params = {0};

    oche_param_defaults(patched ? &oche_timely_patched_params : &oche_timely_params, &params);
    assert_null(oche_timely_params_check(&params));
    return oche_timely_model(&params, patched);
}

static struct came_to two(bool patched, double first, double second, double start, double until)
{
    struct oche_timely_model model = defaults(patched);
    const struct oche_fluid_flow flows[] = {{first, 0, 1}, {second, start, 1}};

    return run_to(oche_timely_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS), until / 2,
                  until);
}

static void test_tables(void **state)
{
    struct oche_timely_params params = {0};

    (void)state;
    assert_null(oche_param_find(&oche_timely_params, "gradient_limit"));
    oche_param_defaults(&oche_timely_params, &params);
    assert_near(params.beta, 0.8, 0);
    oche_param_defaults(&oche_timely_patched_params, &params);
    assert_near(params.beta, 0.008, 0);
    params.t_low = params.t_high;
    assert_memory_equal(oche_timely_params_check(&params), "t_low: ", 7);
    params.t_low /= 2;
    params.delta_bps = params.capacity_bps + 1;
    assert_memory_equal(oche_timely_params_check(&params), "delta: ", 7);
}

/* Original: oscillates for ever, and the shares depend on the start. */
static void test_original(void **state)
{
    struct came_to equal = two(false, 5e9, 5e9, 0, 0.2);
    struct came_to later = two(false, 5e9, 5e9, 0.01, 0.2);
    struct came_to unequal = two(false, 7e9, 3e9, 0, 0.2);

    (void)state;
    assert_false(oche_timely_fixed_point(&(struct oche_timely_model){.capacity = 10e9}, 2).exists);
    assert_true(equal.queue_sd > 5e3 && later.queue_sd > 5e3 && unequal.queue_sd > 5e3);
    assert_near(equal.rates[0], equal.rates[1], 1);
    assert_true(later.converged_s == INFINITY && later.rates[0] > 2 * later.rates[1]);
    assert_true(unequal.converged_s == INFINITY && unequal.rates[0] > 2 * unequal.rates[1]);
}

/* Patched: q* = q' (1 + N delta / (beta C)), for any start. */
static void test_patched(void **state)
{
    struct oche_timely_model model = defaults(true);
    struct came_to later = two(true, 5e9, 5e9, 0.01, 0.5), unequal = two(true, 7e9, 3e9, 0, 0.5);

    (void)state;
    assert_near(oche_timely_fixed_point(&model, 2).queue, 62500 * 1.25, 1e-6);
    assert_near(oche_timely_fixed_point(&model, 40).queue, 62500 * 6, 1e-6);
    assert_true(oche_timely_fixed_point(&model, 40).exists);
    assert_false(oche_timely_fixed_point(&model, 80).exists); /* beyond t_high */
    assert_near(later.queue_mean, 78125, 10);
    assert_near(unequal.queue_mean, 78125, 10);
    assert_near(later.rates[0], 5e9, 1e6);
    assert_near(unequal.rates[0], 5e9, 1e6);
    assert_true(later.converged_s < 0.0767 && unequal.converged_s < 0.0767);
}

/*
 * Thresholds that include the path reduce the queue; it is zero if the path alone is above t_low.
 */
static void test_base_rtt(void **state)
{
    const struct oche_fluid_flow flows[] = {{7e9, 0, 1}, {3e9, 0, 1}};
    struct oche_timely_model model = defaults(true);

    (void)state;
    model.base_rtt = 10e-6;
    struct oche_timely_point point = oche_timely_fixed_point(&model, 2);
    struct came_to came =
        run_to(oche_timely_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS), 0.25, 0.5);

    assert_near(point.queue, 62500 * 1.25 - 12500, 1e-6);
    assert_near(came.queue_mean, point.queue, 10);
    assert_near(came.rates[0], 5e9, 1e6);
    assert_true(point.exists);
    model.t_high = 62e-6; /* the queue would be above 52 us */
    assert_false(oche_timely_fixed_point(&model, 2).exists);
    model.t_high = 500e-6;
    model.base_rtt = 70e-6;
    assert_false(oche_timely_fixed_point(&model, 2).exists);
    came = run_to(oche_timely_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS), 0.25, 0.5);
    assert_near(came.queue_mean, 0, 1);
    /* At w = 1/2: delta / (beta (base - t_low) / t_low). */
    assert_near(came.rates[0], 10e6 / (0.008 * 0.4), 1e7);
}

/* Flows that all start at the capacity learn of it late, but the queue shrinks again. */
static void test_line_rate(void **state)
{
    (void)state;
    for (unsigned patched = 0; patched < 2; patched++) {
        struct oche_timely_model model = defaults(patched);
        const struct oche_fluid_flow flows[] = {{10e9, 0, 4}};
        struct came_to came =
            run_to(oche_timely_fluid_create(&model, flows, 1, &OCHE_FLUID_OPTIONS), 0.3, 0.4);

        assert_true(came.queue_max < (patched ? 200e3 : 100e3));
        assert_true(came.rates[0] > 2e9 && came.rates[0] < 2.51e9);
    }
}

/*
 * Once the queue is constant, a difference of two rates decays by delta / (2 Seg): 76.7 ms to 1/20.
 */
static void test_decay(void **state)
{
    struct oche_timely_model model = defaults(true);
    struct oche_timely_point point = oche_timely_fixed_point(&model, 2);
    const struct oche_fluid_flow flows[] = {{7e9, 0, 1}, {3e9, 0, 1}};
    struct oche_fluid *fluid = oche_timely_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS);
    double rates[2], before;

    (void)state;
    assert_near(point.decay_s, 2 * 16000 * 8 / 10e6, 1e-9);
    assert_near(point.decay_s * log(20), 0.0767, 0.00005);
    assert_true(oche_fluid_run(fluid, 0.1, NULL, NULL));
    oche_fluid_at(fluid, 0.1, rates);
    before = rates[0] - rates[1];
    assert_true(oche_fluid_run(fluid, 0.15, NULL, NULL));
    oche_fluid_at(fluid, 0.15, rates);
    assert_near((rates[0] - rates[1]) / before, exp(-0.05 / point.decay_s), 0.002);
    oche_fluid_free(fluid);
}

static bool swings(const struct oche_timely_model *model, uint32_t flows)
{
    const struct oche_fluid_flow list[] = {{model->capacity / flows, 0, flows}};
    struct came_to came =
        run_to(oche_timely_fluid_create(model, list, 1, &OCHE_FLUID_OPTIONS), 0.4, 0.5);

    return came.queue_sd > 100;
}

/*
 * "ECN or Delay" states stability up to about 40 flows. That is right for a weight that rises with
 * a slope of 1/2, over gradients from -1 to 1. The printed weight has slope 2 and is stable up to
 * 19.
 */
static void test_stability(void **state)
{
    (void)state;
    for (double limit = 0.25; limit <= 1; limit += 0.75) {
        struct oche_timely_model model = defaults(true);
        uint32_t most = limit == 0.25 ? 19 : 39;

        model.gradient_limit = limit;
        for (uint32_t flows = 4; flows <= 50; flows++) {
            struct oche_timely_point point = oche_timely_fixed_point(&model, flows);

            assert_int_equal(point.unstable_roots, flows <= most ? 0 : 2);
            assert_true((point.margin.phase_deg > 0) == (point.unstable_roots == 0));
        }
        assert_false(swings(&model, most - 2));
        assert_true(swings(&model, most + 3));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_original),
        cmocka_unit_test(test_patched),   cmocka_unit_test(test_base_rtt),
        cmocka_unit_test(test_line_rate), cmocka_unit_test(test_decay),
        cmocka_unit_test(test_stability),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
