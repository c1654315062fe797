/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps between rates by hand; thresholds against the arithmetic of DCQCN sec 4 (dcqcn.md#buffers).
 */
#include <math.h>

#include "sim/measure/rate_gap.h"
#include "sim/measure/thresholds.h"
#include "tests/support/test.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Rates apart; just within the limit; just outside; within until the end. */
static void test_two_flows(void **state)
{
    double values[] = {40, 20.9, 20.5, 20.1, 20, 5, 19, 18.45, 20, 20};
    const struct oche_rates rates = {.flows = 2, .windows = 5, .window_s = 1, .rates = values};
    struct oche_rate_gap gap = oche_rate_gap(&rates);

    (void)state;
    assert_near(gap.mean, (35 + 1.9 + 2.05 + 0.1) / 5);
    assert_near(gap.of_means, (121.5 - 82.45) / 5);
    assert_near(gap.late, (60.6 - 58.45) / 3);
    assert_int_equal(gap.equal, 3);
    assert_int_equal(gap.first, 1);
    assert_int_equal(gap.since, 3);
    assert_near(oche_rates_mean(&rates, 1), 82.45 / 5);
}

/* The gap is between the extremes of many rates. The fair share is the mean of all. */
static void test_many_flows(void **state)
{
    double values[] = {10, 10, 10.5, 10, 9.6, 10.8};
    const struct oche_rates rates = {.flows = 3, .windows = 2, .window_s = 1, .rates = values};
    struct oche_rate_gap gap = oche_rate_gap(&rates);

    (void)state;
    assert_near(gap.mean, (0.9 + 0.8) / 2);
    assert_int_equal(gap.equal, 2);
    assert_int_equal(gap.since, 0);
}

/* Equal all the time, and constant from the third window on; or not even at the end. */
static void test_settled(void **state)
{
    double values[] = {10, 8, 5.4, 5, 5, 5, 10, 8, 5, 5, 5, 5};
    struct oche_rates rates = {.flows = 2, .windows = 6, .window_s = 1, .rates = values};

    (void)state;
    assert_int_equal(oche_rate_gap(&rates).since, 0);
    assert_int_equal(oche_rate_gap(&rates).settled, 2);
    assert_int_equal(oche_rate_gap(&rates).settled_close, 3); /* 8 %, but not 5 */
    values[2] = 5.6;
    assert_int_equal(oche_rate_gap(&rates).settled, 3);
    values[11] = 4;
    assert_int_equal(oche_rate_gap(&rates).settled, 6);
    rates.windows = 0;
    assert_int_equal(oche_rate_gap(&rates).settled, 0);
}

/* Never; not at the end; nothing changed; no samples. */
static void test_never(void **state)
{
    double apart[] = {30, 30, 10, 10}, parted[] = {20, 30, 20, 10}, still[] = {0, 0, 0, 0};
    struct oche_rates rates = {.flows = 2, .windows = 2, .window_s = 1, .rates = apart};
    struct oche_rate_gap gap = oche_rate_gap(&rates);

    (void)state;
    assert_int_equal(gap.equal, 0);
    assert_int_equal(gap.first, 2);
    assert_int_equal(gap.since, 2);
    rates.rates = parted;
    gap = oche_rate_gap(&rates);
    assert_int_equal(gap.first, 0);
    assert_int_equal(gap.since, 2);
    rates.rates = still;
    assert_int_equal(oche_rate_gap(&rates).equal, 0);
    gap = oche_rate_gap(&(struct oche_rates){.flows = 0});
    assert_true(gap.mean == 0 && gap.since == 0);
}

static void test_apart(void **state)
{
    double one[] = {1, 2, 3, 4, 5, 6}, other[] = {0, 0, 0, 5, 3, 7};
    const struct oche_rates a = {.flows = 2, .windows = 3, .rates = one};
    const struct oche_rates b = {.flows = 2, .windows = 3, .rates = other};

    (void)state;
    assert_near(oche_rates_apart(&a, &b, 0), 2);
    assert_near(oche_rates_apart(&a, &b, 1), 4.0 / 3);
}

/* The paper's switch; a port with a longer cable; none without PFC or without room. */
static void test_thresholds(void **state)
{
    struct oche_switch_params params;
    struct oche_switch_port_config ports[32];
    struct oche_switch_config config = {.params = &params,
                                        .port_count = 32,
                                        .ports = ports,
                                        .class_count = 8,
                                        .lossless_classes = 0xff,
                                        .mtu_frame_bytes = 1500};
    struct oche_thresholds t;

    (void)state;
    oche_param_defaults(&oche_switch_params, &params);
    params.buffer_bytes = 12000000;
    params.headroom_bytes = 22400;
    params.pfc_priorities = 8;
    params.beta = 8;
    params.xoff_bytes = 100; /* the switch's setting is not used */
    for (unsigned i = 0; i < 32; i++)
        ports[i] = (struct oche_switch_port_config){.rate_bps = 40 * OCHE_GBPS, .delay = OCHE_US};
    assert_true(oche_thresholds(&config, &t));
    assert_near(t.headroom, 22400);
    assert_near(t.headroom_all, 5734400);
    assert_near(t.shared, 6265600);
    assert_near(t.static_pfc, 24475);
    assert_near(t.static_ecn, 24475.0 / 32);
    assert_near(t.dynamic_pfc, 6265600);
    assert_near(t.dynamic_ecn, 8.0 * 6265600 / (8 * 32 * 9));
    assert_near(t.resume, 3000);
    assert_near(t.frame, 1500);
    params.headroom_bytes = OCHE_NEVER;
    ports[7].delay = 2 * OCHE_US;
    assert_true(oche_thresholds(&config, &t));
    double usual = (t.headroom_all / 8 - t.headroom) / 31;
    assert_near(t.headroom - usual, 2e-6 * 40e9 / 8); /* there and back */
    params.buffer_bytes = 100000;
    assert_false(oche_thresholds(&config, &t));
    params.buffer_bytes = 12000000;
    params.pfc = false;
    assert_false(oche_thresholds(&config, &t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_flows), cmocka_unit_test(test_many_flows),
        cmocka_unit_test(test_settled),   cmocka_unit_test(test_never),
        cmocka_unit_test(test_apart),     cmocka_unit_test(test_thresholds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
