/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMELY's Algorithm 1, each branch by hand: thresholds, gradient and its filter, a gradient of
 * exactly 0, hyperactive increase, floor and cap. Powers of two make the arithmetic exact:
 * min_rtt 16 us, ewma 1/2.
 */
#include "core/cc/cc_advice.h"
#include "tests/unit/cc/timely_bench.h"

#include <string.h>

#define DELTA 10e6

static struct bench bench;

static void begin(void)
{
    timely_bench(&bench, "timely");
    bench_set(&bench, "min_rtt", 16 * OCHE_US);
    bench_set_real(&bench, "ewma", 0.5);
    bench_start(&bench, false);
    assert_rate(&bench, 4e9);
}

/* Below t_low the rate rises by delta for any gradient. At t_low the gradient decides. */
static void low_branch(void **state)
{
    (void)state;
    begin();
    complete(&bench, 0, 20 * OCHE_US);
    assert_rate(&bench, 4e9 + DELTA);
    complete(&bench, 1, 49 * OCHE_US); /* gradient: 29/2/16 */
    assert_rate(&bench, 4e9 + 2 * DELTA);
    assert_int_equal(bench.rates[1].a, 2);
    complete(&bench, 2, 50 * OCHE_US); /* (14.5 + 1)/2 / 16 = 0.484375 */
    assert_rate(&bench, (4e9 + 2 * DELTA) * (1 - 0.8 * 0.484375));
}

/*
 * Above t_high the rate falls with the distance to t_high, even when the RTT falls. At t_high the
 * gradient decides.
 */
static void high_branch(void **state)
{
    (void)state;
    begin();
    complete(&bench, 0, 1000 * OCHE_US);
    assert_rate(&bench, 4e9 * (1 - 0.8 * 0.5));
    complete(&bench, 1, 625 * OCHE_US);
    assert_rate(&bench, 4e9 * 0.6 * (1 - 0.8 * 0.2));
    complete(&bench, 2, 500 * OCHE_US); /* negative gradient */
    assert_rate(&bench, 4e9 * 0.6 * 0.84 + DELTA);
    bench_set_real(&bench, "beta_high", 0.25);
    complete(&bench, 3, 1000 * OCHE_US);
    assert_rate(&bench, (4e9 * 0.6 * 0.84 + DELTA) * (1 - 0.25 * 0.5));
}

/* The filtered gradient, step by step: diffs 0, 8, -4, -4 (us); /2 each time; over 16 us. */
static void gradient_branch(void **state)
{
    double rate = 4e9;

    (void)state;
    begin();
    /* the first completion has gradient 0, which raises the rate */
    complete(&bench, 0, 60 * OCHE_US);
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 1, 68 * OCHE_US); /* 4 us: 0.25 */
    assert_rate(&bench, rate *= 1 - 0.8 * 0.25);
    complete(&bench, 2, 64 * OCHE_US); /* 2 - 2 = 0 */
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 3, 60 * OCHE_US); /* -2 us */
    assert_rate(&bench, rate += DELTA);
    assert_true(bench.states[3].b == (uint64_t) - (INT64_C(1) << 29)); /* -0.125 */
    assert_true(bench.states[3].a == 60 * OCHE_US);
}

/* A gradient of exactly 0 raises as in Algorithm 1, or holds. */
static void zero_gradient(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 20; i++)
        complete(&bench, i, 100 * OCHE_US);
    assert_rate(&bench, 4e9 + 20 * DELTA); /* 0 is not negative: no hyperactive increase */
    begin();
    bench_choose(&bench, "zero_gradient", "hold");
    for (uint32_t i = 0; i < 20; i++)
        complete(&bench, i, 100 * OCHE_US);
    assert_rate(&bench, 4e9);
}

/* A gradient above 1/beta would give a negative rate, so the rate stops at the floor. */
static void factor_is_not_negative(void **state)
{
    (void)state;
    begin();
    complete(&bench, 0, 60 * OCHE_US);
    complete(&bench, 1, 460 * OCHE_US); /* 200 us / 16 us */
    assert_rate(&bench, 10e6);          /* min_rate_fraction 0.001 */
    bench_set(&bench, "min_rate", 50 * OCHE_MBPS);
    complete(&bench, 2, 499 * OCHE_US);
    assert_rate(&bench, 50e6);
}

/*
 * From the fifth completion in a row with a falling RTT on, the step is five times as large. A
 * rising RTT ends that.
 */
static void hyperactive_increase(void **state)
{
    double rate = 4e9;
    oche_time rtt = 400 * OCHE_US;

    (void)state;
    begin();
    complete(&bench, 0, rtt);
    rate += DELTA;
    for (uint32_t i = 1; i <= 7; i++) {
        complete(&bench, i, rtt -= OCHE_US);
        assert_rate(&bench, rate += i < 5 ? DELTA : 5 * DELTA);
    }
    assert_int_equal(bench.rates[bench.rate_count - 1].a, 5);
    complete(&bench, 8, rtt += 8 * OCHE_US); /* last: -127/128 us; now (8 - 127/128)/2 us */
    assert_rate(&bench, rate *= 1 - 0.8 * (8 - 127.0 / 128) / 2 / 16);
    for (uint32_t i = 9; i <= 13; i++) {
        complete(&bench, i, rtt -= 10 * OCHE_US);
        assert_rate(&bench, rate += i < 13 ? DELTA : 5 * DELTA);
    }
    /* In the low branch the gradient is counted, but the step is single. */
    complete(&bench, 14, 40 * OCHE_US);
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 15, 55 * OCHE_US); /* the filter is still far below 0 */
    assert_rate(&bench, rate += 5 * DELTA);
}

static void hyperactive_increase_options(void **state)
{
    double rate = 4e9;

    (void)state;
    begin();
    bench_set(&bench, "hai_events", 2);
    bench_set(&bench, "hai_multiplier", 3);
    for (uint32_t i = 0; i < 5; i++) {
        complete(&bench, i, (400 - i) * OCHE_US);
        assert_rate(&bench, rate += i < 2 ? DELTA : 3 * DELTA);
    }
}

/* The defaults are those of timely.md#parameters: one step with them, by hand. */
static void defaults(void **state)
{
    (void)state;
    bench_init(&bench, "timely", LINE_BPS);
    bench_set(&bench, "segment", 1000);
    bench_choose(&bench, "update", "completion");
    bench_choose(&bench, "pacing", "packet");
    bench.flow.initial_rate_bps = 4 * OCHE_GBPS;
    bench_start(&bench, false);
    complete(&bench, 0, 100 * OCHE_US);
    assert_rate(&bench, 4e9 + 10e6);
    complete(&bench, 1, 110 * OCHE_US); /* 0.875 * 10 / 20 */
    assert_rate(&bench, (4e9 + 10e6) * (1 - 0.8 * 0.4375));
}

static void cap(void **state)
{
    (void)state;
    begin();
    bench_set_real(&bench, "max_rate_fraction", 0.5);
    for (uint32_t i = 0; i < 200; i++)
        complete(&bench, i, 10 * OCHE_US);
    assert_rate(&bench, 5e9);
    bench_set_real(&bench, "max_rate_fraction", 1.0);
    for (uint32_t i = 200; i < 1000; i++)
        complete(&bench, i, 10 * OCHE_US);
    assert_true(bench.flow.rate_bps == LINE_BPS);
}

/* Thresholds that do not fit the network give a warning, not an error. */
static void remarks(void **state)
{
    (void)state;
    begin();
    assert_null(bench.scheme->advice->remark(bench.params, 50 * OCHE_US - 1, 100 * OCHE_GBPS));
    assert_non_null(
        strstr(bench.scheme->advice->remark(bench.params, 50 * OCHE_US, 100 * OCHE_GBPS), "t_low"));
    assert_non_null(strstr(
        bench.scheme->advice->remark(bench.params, 500 * OCHE_US, 100 * OCHE_GBPS), "t_low"));
    assert_non_null(strstr(
        bench.scheme->advice->remark(bench.params, 500 * OCHE_US + 1, 100 * OCHE_GBPS), "t_high"));
}

static void limits_must_be_in_order(void **state)
{
    (void)state;
    begin();
    assert_null(bench.scheme->check(bench.params));
    bench_set(&bench, "t_low", 500 * OCHE_US);
    assert_non_null(bench.scheme->check(bench.params));
    bench_set(&bench, "t_low", 50 * OCHE_US);
    bench_set_real(&bench, "min_rate_fraction", 0.5);
    bench_set_real(&bench, "max_rate_fraction", 0.5);
    assert_null(bench.scheme->check(bench.params));
    bench_set_real(&bench, "max_rate_fraction", 0.25);
    assert_non_null(bench.scheme->check(bench.params));
    bench_set(&bench, "min_rate", OCHE_MBPS); /* then the fraction has no effect */
    assert_null(bench.scheme->check(bench.params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_branch),
        cmocka_unit_test(high_branch),
        cmocka_unit_test(gradient_branch),
        cmocka_unit_test(zero_gradient),
        cmocka_unit_test(factor_is_not_negative),
        cmocka_unit_test(hyperactive_increase),
        cmocka_unit_test(hyperactive_increase_options),
        cmocka_unit_test(defaults),
        cmocka_unit_test(cap),
        cmocka_unit_test(remarks),
        cmocka_unit_test(limits_must_be_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
