/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patched TIMELY by hand: w at its corners and between, the decrease by the RTT's distance from the
 * reference, the thresholds' branches, and the fixed point.
 */
#include "core/cc/cc_advice.h"
#include "tests/unit/cc/timely_bench.h"

#include <string.h>

#define DELTA 10e6
#define BETA  0.008

static struct bench bench;

/* ewma 1: the gradient is the last difference over 16 us. */
static void begin(void)
{
    timely_bench(&bench, "timely_patched");
    bench_set(&bench, "min_rtt", 16 * OCHE_US);
    bench_set_real(&bench, "ewma", 1.0);
    bench_start(&bench, false);
    complete(&bench, 0, 100 * OCHE_US); /* g = 0, w = 1/2, error 1 */
    assert_rate(&bench, 4e9 + DELTA / 2 - 4e9 * BETA / 2);
}

static double step(double rate, double w, double error)
{
    return DELTA * (1 - w) + rate * (1 - BETA * w * error);
}

/* The second completion has this RTT. Then w is as given. */
static void check_weight(oche_time rtt, double w)
{
    double rate = 4e9 + DELTA / 2 - 4e9 * BETA / 2;

    begin();
    complete(&bench, 1, rtt);
    assert_rate(&bench, step(rate, w, ((double)rtt - 50e6) / 50e6));
}

static void weights(void **state)
{
    (void)state;
    check_weight(100 * OCHE_US, 0.5);   /* g = 0 */
    check_weight(104 * OCHE_US, 1.0);   /* 1/4 */
    check_weight(103 * OCHE_US, 0.875); /* 3/16 */
    check_weight(102 * OCHE_US, 0.75);  /* 1/8 */
    check_weight(200 * OCHE_US, 1.0);
    check_weight(96 * OCHE_US, 0.0); /* -1/4: only up */
    check_weight(97 * OCHE_US, 0.125);
    check_weight(98 * OCHE_US, 0.25); /* -1/8 */
    check_weight(60 * OCHE_US, 0.0);
}

static void wider_limit(void **state)
{
    double rate = 4e9 + DELTA / 2 - 4e9 * BETA / 2;

    (void)state;
    begin();
    bench_set_real(&bench, "gradient_limit", 1.0);
    complete(&bench, 1, 108 * OCHE_US); /* g = 1/2 */
    assert_rate(&bench, step(rate, 0.75, 58.0 / 50));
}

static void thresholds(void **state)
{
    double rate = 4e9 + DELTA / 2 - 4e9 * BETA / 2;

    (void)state;
    begin();
    complete(&bench, 1, 49 * OCHE_US);
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 2, 1000 * OCHE_US);
    assert_rate(&bench, rate *= 1 - 0.008 * 0.5);
    bench_set_real(&bench, "beta_high", 0.8);
    complete(&bench, 3, 1000 * OCHE_US);
    assert_rate(&bench, rate *= 1 - 0.8 * 0.5);
    complete(&bench, 4, 500 * OCHE_US); /* between again: falling, so up */
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 5, 500 * OCHE_US);
    assert_rate(&bench, step(rate, 0.5, 9.0));
}

/* At t_low the weights decide. With the whole weight on the decrease, there is none. */
static void at_the_lower_threshold(void **state)
{
    double rate = 4e9 + DELTA / 2 - 4e9 * BETA / 2;

    (void)state;
    begin();
    complete(&bench, 1, 40 * OCHE_US);
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 2, 50 * OCHE_US); /* g = 10/16 */
    assert_rate(&bench, rate);
}

/* The output names the reference that is used. */
static void remarks(void **state)
{
    (void)state;
    begin();
    assert_null(bench.scheme->advice->remark(bench.params, 50 * OCHE_US - 1, 100 * OCHE_GBPS));
    assert_non_null(
        strstr(bench.scheme->advice->remark(bench.params, 50 * OCHE_US, 100 * OCHE_GBPS), "t_low"));
    assert_non_null(strstr(
        bench.scheme->advice->remark(bench.params, 500 * OCHE_US + 1, 100 * OCHE_GBPS), "t_high"));
    bench_set(&bench, "rtt_ref", 80 * OCHE_US);
    assert_null(bench.scheme->advice->remark(bench.params, 60 * OCHE_US, 100 * OCHE_GBPS));
    assert_non_null(strstr(
        bench.scheme->advice->remark(bench.params, 80 * OCHE_US, 100 * OCHE_GBPS), "rtt_ref"));
    bench_set(&bench, "rtt_ref", 40 * OCHE_US);
    assert_non_null(strstr(
        bench.scheme->advice->remark(bench.params, 45 * OCHE_US, 100 * OCHE_GBPS), "rtt_ref"));
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

static void reference_of_its_own(void **state)
{
    double rate = 4e9 + DELTA / 2 - 4e9 * BETA / 2;

    (void)state;
    begin();
    bench_set(&bench, "rtt_ref", 80 * OCHE_US);
    complete(&bench, 1, 100 * OCHE_US);
    assert_rate(&bench, rate = step(rate, 0.5, 0.25));
    complete(&bench, 2, 60 * OCHE_US); /* below the reference, falling */
    assert_rate(&bench, rate += DELTA);
    complete(&bench, 3, 60 * OCHE_US); /* the error is negative: the rate rises by both */
    assert_rate(&bench, rate = step(rate, 0.5, -0.25));
}

/* At C/N and the RTT of the fixed point nothing moves; a faster flow slows down, a slower one not.
 */
static void fixed_point(void **state)
{
    oche_time rtt = 62500 * OCHE_NS; /* 50 us * (1 + 2 * 10 Mbps / (0.008 * 10 Gbps)) */

    (void)state;
    for (uint64_t gbps = 3; gbps <= 7; gbps++) {
        timely_bench(&bench, "timely_patched");
        bench.flow.initial_rate_bps = gbps * OCHE_GBPS;
        bench_start(&bench, false);
        for (uint32_t i = 0; i < 10; i++)
            complete(&bench, i, rtt);
        double moved = (double)bench.flow.rate_bps - (double)gbps * 1e9;
        assert_true(gbps == 5 ? moved == 0 : gbps < 5 ? moved > 1e6 : moved < -1e6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights),
        cmocka_unit_test(wider_limit),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(at_the_lower_threshold),
        cmocka_unit_test(remarks),
        cmocka_unit_test(limits_must_be_in_order),
        cmocka_unit_test(reference_of_its_own),
        cmocka_unit_test(fixed_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
