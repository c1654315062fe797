/* SPDX-License-Identifier: Apache-2.0 */
/* Each option of DCQCN does what its line in the table says. The numbers are worked out by hand. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/unit/cc/cc_bench.h"

#define LINE_BPS (40 * OCHE_GBPS)
#define US       OCHE_US
#define MBPS     OCHE_MBPS

enum cause { CUT = 1, FIRST, FAST, ADDITIVE, HYPER, RELEASED, INITIAL };

static struct bench bench;

static void begin(const char *mode)
{
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "mode", mode);
}

/* `count` events of the byte counter, which must be at 1000 bytes. */
static void bytes(unsigned count)
{
    struct oche_packet packet = {.frame_bytes = 980};

    for (unsigned i = 0; i < count; i++)
        bench.scheme->sent(&bench.flow, bench.now, &packet, 1000);
}

static bool near(double value, double expected)
{
    return fabs(value - expected) < 1.0;
}

static void expect_rate(double bps)
{
    assert_true(near((double)bench.flow.rate_bps, bps));
}

static void g_and_initial_alpha(void **state)
{
    (void)state;
    begin("paper");
    bench_set_real(&bench, "initial_alpha", 0.25);
    bench_set_real(&bench, "g", 1.0 / 16);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    expect_rate(40e9 * (1 - 0.125));
    assert_true(bench_alpha(&bench) == 0.25 * 15 / 16 + 1.0 / 16);
    bench_cnp(&bench, 55 * US + 1);
    assert_true(fabs(bench_alpha(&bench) - (0.296875 * 15 / 16 * 15 / 16 + 1.0 / 16)) < 1e-9);
}

static void alpha_interval(void **state)
{
    (void)state;
    begin("paper");
    bench_set(&bench, "alpha_interval", 100 * US);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 250 * US); /* two intervals */
    assert_true(fabs(bench_alpha(&bench) - (255.0 / 256 * 255 / 256 * 255 / 256 + 1.0 / 256)) <
                1e-9);
}

static void alpha_update(void **state)
{
    /* From alpha 1/2 with g 1/2: cut by 1/4, by 3/8 (alpha 3/4), and by 1/4 (no change). */
    const char *const updates[] = {"cut_first", "alpha_first", "timer"};
    const double rates[] = {30e9, 25e9, 30e9};
    const double alphas[] = {0.75, 0.75, 0.5};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        begin("paper");
        bench_choose(&bench, "alpha_update", updates[i]);
        bench_choose(&bench, "alpha_timer", "free");
        bench_set_real(&bench, "g", 0.5);
        bench_set_real(&bench, "initial_alpha", 0.5);
        bench_start(&bench, false);
        bench_cnp(&bench, 0);
        expect_rate(rates[i]);
        assert_true(bench_alpha(&bench) == alphas[i]);
    }
    /* timer: intervals end at 55 (no CNP: 1/4), 110 (CNP: 5/8), 165 (none: 5/16). */
    bench_cnp(&bench, 60 * US);
    assert_true(bench_alpha(&bench) == 0.25);
    bench_cnp(&bench, 120 * US);
    assert_true(bench_alpha(&bench) == 0.625);
    bench_cnp(&bench, 240 * US); /* 165: CNP at 120: 13/16; 220: none: 13/32 */
    assert_true(bench_alpha(&bench) == 0.8125 / 2);
}

static void alpha_timer(void **state)
{
    const char *const kinds[] = {"restart", "free"};
    const unsigned decays[] = {0, 1};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        double alpha = 1.0;

        begin("paper");
        bench_choose(&bench, "alpha_timer", kinds[i]);
        bench_start(&bench, false);
        bench_cnp(&bench, 0);
        bench_cnp(&bench, 50 * US);
        bench_cnp(&bench, 100 * US); /* free: an interval ended at 55 us */
        for (unsigned k = 0; k < decays[i]; k++)
            alpha *= 255.0 / 256;
        assert_true(fabs(bench_alpha(&bench) - (alpha * 255 / 256 + 1.0 / 256)) < 1e-9);
    }
}

static void a_long_silence_leaves_alpha_zero(void **state)
{
    (void)state;
    begin("ns3"); /* never released */
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench.flow.timer[0] = OCHE_NEVER; /* no increase: only alpha matters here */
    bench_cnp(&bench, 100000 * OCHE_SEC);
    assert_true(bench_alpha(&bench) == 1.0 / 256);
    bench_cnp(&bench, 100000 * OCHE_SEC + 50 * US);
    assert_true(fabs(bench_alpha(&bench) - (1.0 / 256 * 255 / 256 + 1.0 / 256)) < 1e-9);

    begin("nic"); /* 1000 intervals leave something */
    bench_choose(&bench, "cut", "every_cnp");
    bench_choose(&bench, "first_cnp", "cut");
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 55000 * US + 1);
    assert_true(fabs(bench_alpha(&bench) - pow(255.0 / 256, 1000)) < 1e-9);
}

static void periodic_cuts(void **state)
{
    (void)state;
    begin("paper");
    bench_choose(&bench, "cut", "periodic");
    bench_set(&bench, "reduce_monitor_period", 10 * US);
    bench_start(&bench, false);
    bench_cnp(&bench, 3 * US);
    bench_cnp(&bench, 4 * US);
    bench_cnp(&bench, 12 * US);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    bench_run(&bench, 13 * US);
    assert_true(bench.flow.rate_bps == 20 * OCHE_GBPS);
    bench_run(&bench, 30 * US); /* checks without a CNP have no effect and no cost */
    assert_int_equal(bench.timer_calls, 1);
    bench_cnp(&bench, 33 * US); /* exactly at a check: that check sees it */
    bench_run(&bench, 33 * US);
    assert_true(bench.flow.rate_bps == 10 * OCHE_GBPS);
    bench_cnp(&bench, 34 * US);
    bench_run(&bench, 43 * US - 1);
    assert_true(bench.flow.rate_bps == 10 * OCHE_GBPS);
    bench_run(&bench, 43 * US);
    assert_true(bench.flow.rate_bps == 5 * OCHE_GBPS);
}

/* A flow at line rate keeps the limiter while a cut is pending. Otherwise it drops the limiter. */
static void periodic_cuts_and_release(void **state)
{
    (void)state;
    begin("paper");
    bench_choose(&bench, "cut", "periodic");
    bench_set(&bench, "reduce_monitor_period", 100 * US);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_run(&bench, 60 * US); /* the timer's first event, at line rate */
    bench_run(&bench, 100 * US);
    expect_rate(40e9 * (1 - 255.0 / 512)); /* alpha decayed once */
    bench_run(&bench, 3 * OCHE_MS);
    assert_true(bench.rates[bench.rate_count - 1].b == LINE_BPS);
    assert_true(bench.flow.timer[0] == OCHE_NEVER);
}

/* alpha's interval ends exactly at the check: alpha first, then the cut. */
static void alpha_interval_at_a_check(void **state)
{
    (void)state;
    begin("nic");
    bench_set(&bench, "alpha_interval", 4 * US);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_run(&bench, 4 * US);
    expect_rate(40e9 * (1 - 255.0 / 512));
}

static void first_cnp_sets_the_rate(void **state)
{
    (void)state;
    begin("paper");
    bench_choose(&bench, "first_cnp", "set_rate");
    bench_set_real(&bench, "rate_on_first_cnp", 0.25);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    expect_rate(10e9);
    assert_true(bench.rates[0].a == FIRST);
    bench_run(&bench, 55 * US); /* R_T is 10 Gbps too: fast recovery stays there */
    expect_rate(10e9);
    bench_cnp(&bench, 60 * US); /* the second one cuts, after one decay of alpha */
    expect_rate(10e9 * (1 - 255.0 / 512));
    assert_true(bench.rates[1].a == CUT);
}

static void first_cnp_respects_the_floor(void **state)
{
    (void)state;
    begin("paper");
    bench_choose(&bench, "first_cnp", "set_rate");
    bench_set_real(&bench, "rate_on_first_cnp", 1e-6);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    expect_rate(40e6);
}

/* nic: set the rate at the first CNP, cut at the check 4 us later. */
static void first_cnp_in_mode_nic(void **state)
{
    (void)state;
    begin("nic");
    bench_set_real(&bench, "rate_on_first_cnp", 0.5);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    expect_rate(20e9);
    bench_run(&bench, 4 * US);
    expect_rate(10e9);
}

static void target_at_cut(void **state)
{
    /*
     * Events: CNP, CNP (40, 20, 10 Gbps), timer, CNP. The test compares R_T after each cut, in
     * Gbps.
     */
    const char *const kinds[] = {"always", "after_increase", "after_bytes"};
    const double targets[3][3] = {{40, 20, 15}, {40, 40, 25}, {40, 40, 40}};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        begin("paper");
        bench_choose(&bench, "target_at_cut", kinds[i]);
        bench_set(&bench, "byte_counter", 1000);
        bench_start(&bench, false);
        bench_cnp(&bench, 0);
        bench_cnp(&bench, 10 * US);
        bench_run(&bench, 65 * US);
        bench_cnp(&bench, 66 * US);
        for (unsigned k = 0; k < 3; k++)
            assert_true(near((double)bench.states[k].b, targets[i][k] * 1e9));
        bytes(1);
        bench_cnp(&bench, 67 * US); /* the byte counter runs for all three */
        assert_true(near((double)bench.states[3].b, (double)bench.rates[bench.rate_count - 2].b));
    }
}

static void increase_on(void **state)
{
    const char *const kinds[] = {"both", "timer", "bytes"};
    const unsigned events[] = {2, 1, 1};
    const unsigned timers[] = {1, 1, 0};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        begin("paper");
        bench_choose(&bench, "increase_on", kinds[i]);
        bench_set(&bench, "byte_counter", 1000);
        bench_start(&bench, false);
        bench_cnp(&bench, 0);
        bench_run(&bench, 54 * US);
        bytes(1);
        bench_run(&bench, 56 * US);
        assert_int_equal(bench.rate_count, 1 + events[i]);
        assert_int_equal(bench.timer_calls, timers[i]);
    }
}

/* The causes of the first events of the timer alone. */
static void expect_causes(const char *causes)
{
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 0); /* 5 Gbps is far from the line rate, so every event changes the rate */
    bench_run(&bench, strlen(causes) * 55 * US);
    assert_int_equal(bench.rate_count, 3 + strlen(causes));
    for (unsigned i = 0; causes[i] != '\0'; i++) {
        uint64_t cause = causes[i] == 'f' ? FAST : causes[i] == 'a' ? ADDITIVE : HYPER;

        assert_true(bench.rates[3 + i].a == cause);
    }
}

static void fast_recovery_steps_and_stage_count(void **state)
{
    (void)state;
    begin("paper");
    expect_causes("ffffaaaa");
    begin("paper");
    bench_set(&bench, "fast_recovery_steps", 2);
    expect_causes("faaaa");
    begin("paper");
    bench_choose(&bench, "stage_count", "before");
    expect_causes("fffffaaa");
    /*
     * at first by the timer alone: F fast increases, one additive one, then always hyper increase
     */
    begin("nic");
    bench_choose(&bench, "cut", "every_cnp");
    bench_choose(&bench, "first_cnp", "cut");
    bench_choose(&bench, "target_at_cut", "always");
    bench_set(&bench, "fast_recovery_steps", 3);
    expect_causes("fffahhhh");
}

/*
 * F = 2, R_C = 5, R_T = 10 Gbps. Byte events first, then timer events. Tests when the increase is
 * hyper, and by how many R_HAI R_T rises (R_C shows half of it).
 */
static void hyper_and_its_multiplier(void **state)
{
    static const struct {
        const char *hyper, *multiplier;
        unsigned byte_events;
        const char *causes; /* of the byte events, then of four timer events */
        double last_step;   /* growth of R_T in the last event, in bit/s */
    } cases[] = {
        {"min_above", "linear", 3,
         "faa"
         "aahh",
         200e6}, /* min 1 2 3 3 */
        {"min_above", "linear", 9,
         "faaaaaaaa"
         "aahh",
         400e6}, /* min 1 2 3 4: 4-2 */
        {"min_above", "plus_one", 9,
         "faaaaaaaa"
         "aahh",
         600e6},
        {"min_above", "constant", 9,
         "faaaaaaaa"
         "aahh",
         200e6},
        {"min_at_least", "plus_one", 9,
         "faaaaaaaa"
         "ahhh",
         600e6},
        {"min_at_least", "linear", 2,
         "fa"
         "ahhh",
         0.0}, /* min 1 2 2 2: 2-2 */
        {"max_above", "linear", 4,
         "fahh"
         "hhhh",
         400e6}, /* max 4 */
        {"max_above", "constant", 4,
         "fahh"
         "hhhh",
         200e6},
        {"never", "linear", 9,
         "faaaaaaaa"
         "aaaa",
         40e6},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(cases); i++) {
        double rate = 5e9, target = 10e9;
        unsigned count = (unsigned)strlen(cases[i].causes);

        begin("paper");
        bench_choose(&bench, "hyper", cases[i].hyper);
        bench_choose(&bench, "hai_multiplier", cases[i].multiplier);
        bench_set(&bench, "fast_recovery_steps", 2);
        bench_set(&bench, "byte_counter", 1000);
        bench_start(&bench, false);
        for (unsigned k = 0; k < 3; k++)
            bench_cnp(&bench, 0);
        bytes(cases[i].byte_events);
        bench_run(&bench, 4 * 55 * US);
        assert_int_equal(bench.rate_count, 3 + count);
        for (unsigned k = 0; k < count; k++) {
            uint64_t cause = cases[i].causes[k] == 'f'   ? FAST
                             : cases[i].causes[k] == 'a' ? ADDITIVE
                                                         : HYPER;
            double now = (double)bench.rates[3 + k].b;
            double step = 2 * now - rate - target; /* now = (target + step + rate) / 2 */

            assert_true(bench.rates[3 + k].a == cause);
            if (cause == FAST)
                assert_true(fabs(step) < 4.0);
            if (cause == ADDITIVE)
                assert_true(fabs(step - 40e6) < 4.0);
            if (k + 1 == count)
                assert_true(fabs(step - cases[i].last_step) < 4.0);
            target += step;
            rate = now;
        }
    }
}

static void rai_and_rhai(void **state)
{
    (void)state;
    begin("paper");
    bench_set(&bench, "fast_recovery_steps", 1);
    bench_set(&bench, "rai", 100 * MBPS);
    bench_set(&bench, "rhai", 1000 * MBPS);
    bench_set(&bench, "byte_counter", 1000);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 0);
    expect_rate(10e9); /* R_T 20 */
    bytes(2);          /* T 0, BC 1 and 2: additive */
    expect_rate((20.2e9 + (20.1e9 + 10e9) / 2) / 2);
    bench_run(&bench, 110 * US); /* T 1 (min 1: additive), T 2 (min 2: one R_HAI) */
    expect_rate((21.3e9 + (20.3e9 + 17.625e9) / 2) / 2);
}

static void timer_and_byte_counter(void **state)
{
    (void)state;
    begin("paper");
    bench_set(&bench, "timer", 7 * US);
    bench_set(&bench, "byte_counter", 2001);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_run(&bench, 7 * US - 1);
    bytes(2);
    assert_int_equal(bench.rate_count, 1);
    bytes(1);
    assert_int_equal(bench.rate_count, 2);
    bench_run(&bench, 7 * US);
    assert_int_equal(bench.rate_count, 3);
    bytes(2);
    assert_int_equal(bench.rate_count, 3);
    bytes(1);
    assert_int_equal(bench.rate_count, 4);
    bench_run(&bench, 14 * US);
    assert_int_equal(bench.rate_count, 5);
}

/*
 * F = 1, min_at_least: the second byte event after a timer event is hyper, and so are all later
 * ones.
 */
static void hyper_halves(void **state)
{
    const char *const kinds[] = {"no", "yes"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin("paper");
        bench_choose(&bench, "hyper", "min_at_least");
        bench_choose(&bench, "hyper_halves", kinds[i]);
        bench_set(&bench, "fast_recovery_steps", 1);
        bench_set(&bench, "byte_counter", 4000);
        bench_start(&bench, false);
        bench_cnp(&bench, 0);
        bench_cnp(&bench, 0);
        bytes(4);                    /* BC 1, additive; the next full count begins */
        bench_run(&bench, 55 * US);  /* T 1: hyper; the period was chosen before: full */
        bench_run(&bench, 109 * US); /* so nothing yet */
        assert_int_equal(bench.rate_count, 4);
        bytes(4); /* BC 2: hyper; a hyper event came before, so half a count begins */
        assert_int_equal(bench.rate_count, 5);
        bytes(2);
        assert_int_equal(bench.rate_count, i == 0 ? 5 : 6);
        bench_run(&bench, 110 * US);
        assert_int_equal(bench.rate_count, i == 0 ? 6 : 7);
        bench_run(&bench, 137500 * OCHE_NS);
        assert_int_equal(bench.rate_count, i == 0 ? 6 : 8);
    }
}

/* A cut ends hyper increase: the periods after it are whole. */
static void a_cut_ends_halved_periods(void **state)
{
    (void)state;
    begin("paper");
    bench_choose(&bench, "hyper", "max_above");
    bench_choose(&bench, "hyper_halves", "yes");
    bench_set(&bench, "fast_recovery_steps", 1);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 0);
    bench_run(&bench, 110 * US); /* T 2: hyper, from now on half periods */
    assert_true(bench.rates[3].a == HYPER);
    bench_cnp(&bench, 110 * US);
    bench_run(&bench, 165 * US);
    assert_int_equal(bench.rate_count, 6);
    bench_run(&bench, 220 * US - 1);
    assert_int_equal(bench.rate_count, 6);
    bench_run(&bench, 220 * US);
    assert_int_equal(bench.rate_count, 7);
}

/* alpha 1 eleven times: R_C is the floor, 1/20 of the line; R_T 20 times R_C is divided by 8. */
static void target_guard(void **state)
{
    const char *const kinds[] = {"no", "yes"};
    const double rates[] = {(40e9 + 2e9) / 2, (5e9 + 2e9) / 2};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin("paper");
        bench_choose(&bench, "target_guard", kinds[i]);
        bench_choose(&bench, "target_at_cut", "after_increase");
        bench_set(&bench, "min_rate", 2000 * MBPS);
        bench_start(&bench, false);
        for (unsigned k = 0; k < 5; k++)
            bench_cnp(&bench, 0);
        expect_rate(2e9);
        bench_run(&bench, 55 * US);
        expect_rate(rates[i]);
        bench_run(&bench, 110 * US); /* T 2: the guard is over, and R_T <= 10 R_C anyway */
        expect_rate((rates[i] * 2 - 2e9 + rates[i]) / 2);
    }
}

/* The guard also applies at the first event of the byte counter, for any T. */
static void target_guard_at_byte_events(void **state)
{
    (void)state;
    begin("paper");
    bench_choose(&bench, "target_guard", "yes");
    bench_choose(&bench, "target_at_cut", "after_increase");
    bench_set(&bench, "min_rate", 100 * MBPS);
    bench_set(&bench, "byte_counter", 1000);
    bench_start(&bench, false);
    for (unsigned k = 0; k < 12; k++)
        bench_cnp(&bench, 0);
    expect_rate(100e6);
    bytes(1); /* BC 1: R_T 5 Gbps */
    expect_rate(2.55e9);
    bytes(1); /* BC 2 */
    expect_rate(3.775e9);
}

static void clamp_target_rate(void **state)
{
    const char *const kinds[] = {"yes", "no"};
    const double steps[] = {0, 1e9};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin("paper");
        bench_choose(&bench, "clamp_target_rate", kinds[i]);
        bench_set(&bench, "fast_recovery_steps", 1);
        bench_set(&bench, "rai", 1000 * MBPS);
        bench_start(&bench, false);
        bench_cnp(&bench, 0);
        bench_run(&bench, 55 * US);
        expect_rate((40e9 + steps[i] + 20e9) / 2);
    }
}

static void min_rate(void **state)
{
    static const struct {
        const char *mode;
        uint64_t min_rate;
        double fraction, floor;
    } cases[] = {
        {"paper", 0, 0.001, 40e6},
        {"ns3", 0, 0.001, 40e6},
        {"nic", 0, 0.001, 1e6},
        {"paper", 0, 0.01, 400e6},
        {"paper", 100000000, 0.001, 100e6},
        {"nic", 5000000, 0.5, 5e6},
        {"paper", 1, 0.001, 1},
        {"paper", 50000000000, 0.5, 40e9},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(cases); i++) {
        begin(cases[i].mode);
        bench_set(&bench, "min_rate", cases[i].min_rate);
        bench_set_real(&bench, "min_rate_fraction", cases[i].fraction);
        bench_start(&bench, false);
        for (unsigned k = 0; k < 50; k++) {
            bench_cnp(&bench, k * 5 * US);
            bench_run(&bench, (k + 1) * 5 * US - 1);
        }
        assert_true(near((double)bench.flow.rate_bps, cases[i].floor) ||
                    (cases[i].floor < 2 && bench.flow.rate_bps == 1));
        assert_true(bench.flow.rate_bps > 0);
    }
}

/*
 * CNPs raise alpha also when the rate cannot fall. From 1/2, each halves alpha's distance to 1. The
 * cut may stop at the floor (35 Gbps) or begin there.
 */
static void alpha_rises_at_the_floor(void **state)
{
    static const char *const modes[] = {"paper", "ns3"};
    static const double alphas[] = {0.75, 0.875, 0.9375, 0.96875};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin(modes[i]);
        bench_set(&bench, "min_rate", 35000000000);
        bench_set_real(&bench, "g", 0.5);
        bench_set_real(&bench, "initial_alpha", 0.5);
        bench_start(&bench, false);
        for (unsigned k = 0; k < 4; k++) {
            bench_cnp(&bench, k * US);
            expect_rate(35e9);
            assert_true(bench_alpha(&bench) == alphas[k]);
        }
    }
}

/* R_C reaches the line (within half a bit per second) at event 36: 20e9 / 2^36 = 0.29. */
static void release_at_line(void **state)
{
    (void)state;
    begin("paper");
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_run(&bench, 35 * 55 * US);
    assert_true(bench.flow.rate_bps == LINE_BPS - 1);
    assert_true(bench.flow.timer[0] != OCHE_NEVER);
    bench_run(&bench, 36 * 55 * US);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        assert_true(bench.flow.timer[i] == OCHE_NEVER);
    bench_cnp(&bench, 3 * OCHE_MS); /* a first one again: alpha is 1 */
    assert_true(bench.flow.rate_bps == 20 * OCHE_GBPS);

    begin("paper");
    bench_choose(&bench, "release", "never");
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_run(&bench, 3 * OCHE_MS);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    assert_true(bench.flow.timer[0] != OCHE_NEVER);
    bench_cnp(&bench, 3 * OCHE_MS); /* 54 intervals of 55 us ended */
    expect_rate(40e9 * (1 - pow(255.0 / 256, 54) / 2));
}

static void idle_timeout(void **state)
{
    (void)state;
    begin("paper");
    bench_set(&bench, "idle_timeout", 100 * US);
    bench_start(&bench, false);
    bench.scheme->idle(&bench.flow, 0); /* not limited: nothing to forget */
    bench.scheme->busy(&bench.flow, 0);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 0);
    bench_run(&bench, 10 * US);
    bench.scheme->idle(&bench.flow, 10 * US);
    bench_run(&bench, 90 * US); /* the timer also runs while idle */
    expect_rate(15e9);
    bench.scheme->busy(&bench.flow, 90 * US);
    bench_run(&bench, 111 * US);
    assert_true(bench.rates[bench.rate_count - 1].a == FAST);
    bench.scheme->idle(&bench.flow, 111 * US);
    bench_run(&bench, 211 * US - 1);
    assert_true(bench.rates[bench.rate_count - 1].a == FAST);
    bench_run(&bench, 211 * US);
    assert_true(bench.rates[bench.rate_count - 1].a == RELEASED);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    bench.scheme->busy(&bench.flow, 211 * US);
    bench_cnp(&bench, 211 * US); /* busy: no timeout */
    bench_run(&bench, 320 * US);
    assert_true(bench.rates[bench.rate_count - 1].a == FAST);
    bench.scheme->idle(&bench.flow, 320 * US);
    bench_run(&bench, 420 * US);
    assert_true(bench.rates[bench.rate_count - 1].a == RELEASED);
    bench_cnp(&bench, 430 * US); /* still idle: a late CNP limits the rate until 530 us */
    bench_run(&bench, 530 * US - 1);
    assert_true(bench.flow.rate_bps < LINE_BPS);
    bench_run(&bench, 530 * US);
    assert_true(bench.flow.rate_bps == LINE_BPS);

    begin("paper");
    bench_set(&bench, "idle_timeout", OCHE_NEVER);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench.scheme->idle(&bench.flow, 0);
    assert_true(bench.flow.timer[1] == OCHE_NEVER);
}

/* Starts at 5 Gbit/s, as local policy sets: limited without a CNP, R_T = R_C. */
static void initial_rate(void **state)
{
    (void)state;
    begin("paper");
    bench.flow.initial_rate_bps = 5 * OCHE_GBPS;
    bench_start(&bench, true);
    expect_rate(5e9);
    assert_int_equal(bench.rate_count, 1);
    assert_int_equal(bench.rates[0].a, INITIAL);
    /* four steps of fast recovery towards R_T, which is already reached */
    bench_run(&bench, 275 * US - 1);
    expect_rate(5e9);
    bench_run(&bench, 275 * US);
    expect_rate(5e9 + 20e6); /* R_T = 5.04 */
    bench_cnp(&bench, 300 * US);
    /* alpha decayed five times from the start. The cut is not a first one: R_T = R_C = 5.02. */
    double alpha = pow(255.0 / 256, 5);
    expect_rate(5.02e9 * (1 - alpha / 2));
    bench_run(&bench, 355 * US);
    expect_rate(5.02e9 * (1 - alpha / 4));

    begin("nic"); /* the first CNP does not set the rate, because the limiter exists already */
    bench_set_real(&bench, "rate_on_first_cnp", 0.5);
    bench.flow.initial_rate_bps = 5 * OCHE_GBPS;
    bench_start(&bench, false);
    bench_cnp(&bench, US);
    expect_rate(5e9);

    begin("paper"); /* not below the floor, 0.1 % */
    bench.flow.initial_rate_bps = OCHE_MBPS;
    bench_start(&bench, false);
    expect_rate(40e6);
}

static void check_refuses_contradictions(void **state)
{
    (void)state;
    begin("paper");
    assert_null(bench.scheme->check(bench.params));
    bench_set(&bench, "alpha_interval", 50 * US);
    assert_non_null(strstr(bench.scheme->check(bench.params), "alpha_interval"));
    bench_choose(&bench, "mode", "nic");
    assert_null(bench.scheme->check(bench.params));
    bench_choose(&bench, "alpha_timer", "restart");
    assert_non_null(strstr(bench.scheme->check(bench.params), "alpha_timer"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g_and_initial_alpha),
        cmocka_unit_test(alpha_interval),
        cmocka_unit_test(alpha_update),
        cmocka_unit_test(alpha_timer),
        cmocka_unit_test(a_long_silence_leaves_alpha_zero),
        cmocka_unit_test(periodic_cuts),
        cmocka_unit_test(periodic_cuts_and_release),
        cmocka_unit_test(alpha_interval_at_a_check),
        cmocka_unit_test(first_cnp_sets_the_rate),
        cmocka_unit_test(first_cnp_respects_the_floor),
        cmocka_unit_test(first_cnp_in_mode_nic),
        cmocka_unit_test(target_at_cut),
        cmocka_unit_test(increase_on),
        cmocka_unit_test(fast_recovery_steps_and_stage_count),
        cmocka_unit_test(hyper_and_its_multiplier),
        cmocka_unit_test(rai_and_rhai),
        cmocka_unit_test(timer_and_byte_counter),
        cmocka_unit_test(hyper_halves),
        cmocka_unit_test(a_cut_ends_halved_periods),
        cmocka_unit_test(target_guard),
        cmocka_unit_test(target_guard_at_byte_events),
        cmocka_unit_test(clamp_target_rate),
        cmocka_unit_test(min_rate),
        cmocka_unit_test(alpha_rises_at_the_floor),
        cmocka_unit_test(release_at_line),
        cmocka_unit_test(idle_timeout),
        cmocka_unit_test(initial_rate),
        cmocka_unit_test(check_refuses_contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
