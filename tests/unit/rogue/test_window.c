/* SPDX-License-Identifier: Apache-2.0 */
/* The window of a direction and the limiter's rate (RoGUE sec 3.3; rogue.md#vegas). */
#include "core/random.h"
#include "rogue/window.h"
#include "tests/support/test.h"

#define MTU     1024
#define LINE    (10 * OCHE_GBPS)
#define SEGMENT 65536

static struct rogue_params params;

static void begin(struct rogue_window *window)
{
    oche_param_defaults(&rogue_param_table, &params);
    rogue_window_init(window, &params, LINE, MTU);
}

/* A window after slow start. */
static void steady(struct rogue_window *window, uint64_t packets, oche_time base)
{
    begin(window);
    window->slow_start = false;
    window->bytes = packets * MTU;
    window->base_rtt = base;
    window->rate_bps = oche_rate_of(window->bytes, base);
    if (window->rate_bps > LINE)
        window->rate_bps = LINE;
}

static void begins_at_line_rate(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    assert_int_equal(w.bytes, 10 * MTU);
    assert_int_equal(w.rate_bps, LINE);
    assert_true(w.slow_start);
    assert_true(w.base_rtt == OCHE_NEVER && w.rtt == OCHE_NEVER);
}

/* The window doubles each round trip: each batch adds its bytes, but at most the window. */
static void slow_start_doubles(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    assert_true(rogue_window_sample(&w, 200 * OCHE_US, 10 * MTU, true, 0));
    assert_int_equal(w.bytes, 20 * MTU);
    rogue_window_sample(&w, 200 * OCHE_US, 10 * MTU, true, 0);
    rogue_window_sample(&w, 200 * OCHE_US, 10 * MTU, true, 0);
    assert_int_equal(w.bytes, 40 * MTU);
    rogue_window_sample(&w, 200 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 80 * MTU);
    rogue_window_sample(&w, 200 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 80 * MTU + SEGMENT);
    assert_true(w.slow_start);
}

/* rogue.md#r9: from line rate to window / base RTT, without steps. */
static void slow_start_has_no_steps(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    assert_true(rogue_window_sample(&w, 200 * OCHE_US, 10 * MTU, true, 0));
    assert_int_equal(w.rate_bps, oche_rate_of(20 * MTU, 200 * OCHE_US));
    assert_true(w.rate_bps < LINE - OCHE_GBPS);
}

/* gamma = 1: more than a packet in queues ends slow start (rogue.md#r3). */
static void slow_start_ends(void **state)
{
    static const struct {
        oche_time rtt;
        bool ends;
    } rows[] = {
        {90 * OCHE_US, false},
        {100 * OCHE_US, false}, /* 10 packets, a tenth of the RTT is queueing: just one */
        {100 * OCHE_US + OCHE_NS, true},
        {1000 * OCHE_US, true},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++)
        for (unsigned clamp = 0; clamp < 2; clamp++) {
            struct rogue_window w;

            begin(&w);
            params.clamp = clamp == 1;
            w.base_rtt = 90 * OCHE_US;
            rogue_window_sample(&w, rows[i].rtt, SEGMENT, true, 0);
            assert_int_equal(w.slow_start, !rows[i].ends);
            uint64_t fills = 10 * MTU * (90 * OCHE_US) / rows[i].rtt + MTU;
            if (!rows[i].ends)
                assert_int_equal(w.bytes, 20 * MTU);
            else if (clamp == 1 && fills < 10 * MTU)
                assert_int_equal(w.bytes, fills);
            else
                assert_int_equal(w.bytes, 10 * MTU);
        }
}

/* Packets in queues are window x (RTT - base) / RTT; alpha 2 and beta 4. */
static void vegas_steps(void **state)
{
    static const struct {
        uint64_t packets;
        oche_time base, rtt;
        int step;
    } rows[] = {
        {10, 100 * OCHE_US, 100 * OCHE_US, 1},
        {10, 80 * OCHE_US, 100 * OCHE_US - OCHE_NS, 1},
        {10, 80 * OCHE_US, 100 * OCHE_US, 0}, /* 2 packets */
        {10, 70 * OCHE_US, 100 * OCHE_US, 0}, /* 3 */
        {10, 60 * OCHE_US, 100 * OCHE_US, 0}, /* 4 */
        {10, 60 * OCHE_US, 100 * OCHE_US + OCHE_NS, -1},
        {10, 60 * OCHE_US, 10 * OCHE_MS, -1},
        {100, 97 * OCHE_US, 100 * OCHE_US, 0},
        {100, 95 * OCHE_US, 100 * OCHE_US, -1},
        {100, 99 * OCHE_US, 100 * OCHE_US, 1},
        {1, 1 * OCHE_US, 100 * OCHE_US, 1}, /* one packet cannot fill queues with two */
        {2, 1 * OCHE_US, 1 * OCHE_SEC, 1},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct rogue_window w;

        steady(&w, rows[i].packets, rows[i].base);
        params.most_window = 0;
        rogue_window_sample(&w, rows[i].rtt, SEGMENT, true, 0);
        if ((int64_t)w.bytes != ((int64_t)rows[i].packets + rows[i].step) * MTU)
            fail_msg("row %u: %llu bytes", i, (unsigned long long)w.bytes);
        assert_false(w.slow_start);
    }
}

/*
 * Over the base RTT, as in Linux, packets in queues are window x (RTT - base) / base. One or two
 * packets may fill queues then, and shrink (rogue.md#r29).
 */
static void vegas_steps_over_the_base_rtt(void **state)
{
    static const struct {
        uint64_t packets;
        oche_time base, rtt;
        int step;
    } rows[] = {
        {10, 100 * OCHE_US, 100 * OCHE_US, 1},
        {10, 100 * OCHE_US, 120 * OCHE_US - OCHE_NS, 1},
        {10, 100 * OCHE_US, 120 * OCHE_US, 0}, /* 2 packets */
        {10, 100 * OCHE_US, 140 * OCHE_US, 0}, /* 4 */
        {10, 100 * OCHE_US, 140 * OCHE_US + OCHE_NS, -1},
        {10, 60 * OCHE_US, 100 * OCHE_US, -1}, /* 6.7; by the RTT 4 */
        {2, 100 * OCHE_US, 300 * OCHE_US, 0},  /* 4; by the RTT 1.3 */
        {2, 100 * OCHE_US, 300 * OCHE_US + OCHE_NS, -1},
        {2, 100 * OCHE_US, 200 * OCHE_US - OCHE_NS, 1},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct rogue_window w;

        steady(&w, rows[i].packets, rows[i].base);
        params.vegas_divisor = ROGUE_BY_BASE_RTT;
        params.most_window = 0;
        rogue_window_sample(&w, rows[i].rtt, SEGMENT, true, 0);
        if ((int64_t)w.bytes != ((int64_t)rows[i].packets + rows[i].step) * MTU)
            fail_msg("row %u: %llu bytes", i, (unsigned long long)w.bytes);
    }
}

/* The bound of the base RTT counts in the divisor, too; slow start ends by the same number. */
static void the_divisor_is_the_base_rtt_in_use(void **state)
{
    struct rogue_window w;

    (void)state;
    steady(&w, 10, 10 * OCHE_US);
    params.vegas_divisor = ROGUE_BY_BASE_RTT;
    params.least_base_rtt = 100 * OCHE_US;
    rogue_window_sample(&w, 141 * OCHE_US, SEGMENT, true, 0); /* 4.1; over 10 us it were 41 */
    assert_int_equal(w.bytes, 9 * MTU);
    rogue_window_sample(&w, 130 * OCHE_US, SEGMENT, true, 0); /* 2.7 */
    assert_int_equal(w.bytes, 9 * MTU);

    begin(&w);
    params.vegas_divisor = ROGUE_BY_BASE_RTT;
    w.base_rtt = 100 * OCHE_US;
    rogue_window_sample(&w, 110 * OCHE_US, SEGMENT, true, 0); /* just one packet */
    assert_true(w.slow_start);
    rogue_window_sample(&w, 106 * OCHE_US, SEGMENT, true, 0); /* 1.2 of 20 */
    assert_false(w.slow_start);
}

static void rate_is_window_over_base_rtt(void **state)
{
    struct rogue_window w;

    (void)state;
    steady(&w, 50, 100 * OCHE_US);
    assert_true(rogue_window_sample(&w, 100 * OCHE_US, SEGMENT, true, 0));
    assert_int_equal(w.rate_bps, oche_rate_of(51 * MTU, 100 * OCHE_US));
    /* no change: between alpha and beta */
    assert_false(rogue_window_sample(&w, 106 * OCHE_US, SEGMENT, true, 0));
    assert_int_equal(w.bytes, 51 * MTU);
}

/* RoGUE sec 3.3: at most 1 Gbit/s at a time. */
static void rate_changes_in_steps(void **state)
{
    struct rogue_window w;

    (void)state;
    steady(&w, 20, 100 * OCHE_US); /* 1.6 Gbit/s */
    w.rate_bps = LINE;
    for (uint64_t gbps = 9; gbps >= 2; gbps--) {
        assert_true(rogue_window_sample(&w, 112 * OCHE_US, SEGMENT, true, 0));
        assert_int_equal(w.rate_bps, gbps * OCHE_GBPS);
    }
    assert_true(rogue_window_sample(&w, 112 * OCHE_US, SEGMENT, true, 0));
    assert_int_equal(w.rate_bps, oche_rate_of(20 * MTU, 100 * OCHE_US));
    assert_false(rogue_window_sample(&w, 112 * OCHE_US, SEGMENT, true, 0));
    w.bytes = 100 * MTU; /* 8.192 Gbit/s */
    for (unsigned i = 1; i <= 6; i++) {
        assert_true(rogue_window_sample(&w, 103 * OCHE_US, SEGMENT, true, 0));
        assert_int_equal(w.rate_bps, oche_rate_of(20 * MTU, 100 * OCHE_US) + i * OCHE_GBPS);
    }
    assert_true(rogue_window_sample(&w, 103 * OCHE_US, SEGMENT, true, 0));
    assert_int_equal(w.rate_bps, oche_rate_of(100 * MTU, 100 * OCHE_US));
}

/* rogue.md#r8 */
static void floors(void **state)
{
    struct rogue_window w;

    (void)state;
    steady(&w, 2, 20 * OCHE_MS);
    params.alpha = params.beta = 0;
    w.rate_bps = OCHE_GBPS;
    rogue_window_sample(&w, 40 * OCHE_MS, SEGMENT, true, 0);
    assert_int_equal(w.bytes, MTU);
    assert_int_equal(w.rate_bps, 10 * OCHE_MBPS); /* not the 0.4 Mbit/s of a packet in 20 ms */
    rogue_window_sample(&w, 40 * OCHE_MS, SEGMENT, true, 0);
    assert_int_equal(w.bytes, MTU);
    params.least_rate = 100 * OCHE_KBPS;
    rogue_window_sample(&w, 40 * OCHE_MS, SEGMENT, true, 0);
    assert_int_equal(w.rate_bps, oche_rate_of(MTU, 20 * OCHE_MS));
}

/* A minimum rate above the line's becomes the line's. */
static void the_line_bounds_the_least_rate(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    params.least_rate = 2 * LINE;
    rogue_window_sample(&w, 100 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.rate_bps, LINE);
    params.least_rate = OCHE_KBPS;
}

/* rogue.md#r16 */
static void cap(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    for (unsigned i = 0; i < 10; i++)
        rogue_window_sample(&w, 100 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 250000); /* twice 125000 bytes in 100 us */
    assert_int_equal(w.rate_bps, LINE);
    w.slow_start = false;
    rogue_window_sample(&w, 100 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 250000);
    params.most_window = 0;
    rogue_window_sample(&w, 100 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 250000 + MTU);
    params.most_window = 1;
    rogue_window_sample(&w, 100 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 125000);
    w.base_rtt = OCHE_NS; /* two bytes fill the path */
    rogue_window_sample(&w, OCHE_NS, SEGMENT, true, 0);
    assert_int_equal(w.bytes, MTU);
}

/* The minimum of all samples, but not below the configured bound. */
static void base_rtt_is_the_least(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    rogue_window_sample(&w, 300 * OCHE_US, MTU, true, 0);
    rogue_window_sample(&w, 200 * OCHE_US, MTU, true, OCHE_SEC);
    rogue_window_sample(&w, 250 * OCHE_US, MTU, true, 100 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 200 * OCHE_US);
    assert_int_equal(w.rtt, 250 * OCHE_US);

    steady(&w, 20, 10 * OCHE_US);
    params.least_base_rtt = 100 * OCHE_US;
    rogue_window_sample(&w, 104 * OCHE_US, SEGMENT, true, 0); /* against 100 us: empty queues */
    assert_int_equal(w.bytes, 21 * MTU);
    assert_int_equal(w.rate_bps, LINE - OCHE_GBPS); /* on its way to 21 packets in 100 us */
    params.least_base_rtt = 5 * OCHE_US;
    rogue_window_sample(&w, 104 * OCHE_US, SEGMENT, true, 0);
    assert_int_equal(w.bytes, 20 * MTU);
}

/* rogue.md#r28: a sample that may be too short changes the window, but not the base RTT. */
static void only_exact_samples_are_the_base(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    rogue_window_sample(&w, 100 * OCHE_US, MTU, false, 0);
    assert_int_equal(w.base_rtt, 100 * OCHE_US); /* without a round trip there is no rate */
    w.slow_start = false;
    rogue_window_sample(&w, 90 * OCHE_US, MTU, false, 0);
    assert_int_equal(w.base_rtt, 100 * OCHE_US);
    assert_int_equal(w.rtt, 90 * OCHE_US);
    assert_int_equal(w.bytes, 12 * MTU);
    rogue_window_sample(&w, 95 * OCHE_US, MTU, true, 0);
    assert_int_equal(w.base_rtt, 95 * OCHE_US);

    begin(&w);
    params.base_rtt_age = 10 * OCHE_SEC;
    rogue_window_sample(&w, 100 * OCHE_US, MTU, true, 0);
    rogue_window_sample(&w, 80 * OCHE_US, MTU, false, 15 * OCHE_SEC);
    rogue_window_sample(&w, 200 * OCHE_US, MTU, true, 30 * OCHE_SEC);
    rogue_window_sample(&w, 200 * OCHE_US, MTU, true, 50 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 200 * OCHE_US);
}

static void a_round_trip_of_nothing(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    for (unsigned i = 0; i < 3; i++)
        rogue_window_sample(&w, 0, SEGMENT, true, 0);
    assert_true(w.bytes >= MTU && w.rate_bps == LINE);
}

/* rogue.md#r10: without ageing, for ever; otherwise the minimum of one to two periods. */
static void base_rtt_ages(void **state)
{
    struct rogue_window w;

    (void)state;
    begin(&w);
    params.base_rtt_age = 10 * OCHE_SEC;
    rogue_window_sample(&w, 100 * OCHE_US, MTU, true, 1 * OCHE_SEC);
    rogue_window_sample(&w, 200 * OCHE_US, MTU, true, 9 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 100 * OCHE_US);
    /* the next period still uses the minimum of this one, */
    rogue_window_sample(&w, 200 * OCHE_US, MTU, true, 11 * OCHE_SEC);
    rogue_window_sample(&w, 250 * OCHE_US, MTU, true, 20 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 100 * OCHE_US);
    /* the one after no more */
    rogue_window_sample(&w, 300 * OCHE_US, MTU, true, 21 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 200 * OCHE_US);
    /* and a smaller one counts at once */
    rogue_window_sample(&w, 150 * OCHE_US, MTU, true, 22 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 150 * OCHE_US);
    /* after a long silence only the present sample remains */
    rogue_window_sample(&w, 400 * OCHE_US, MTU, true, 100 * OCHE_SEC);
    rogue_window_sample(&w, 400 * OCHE_US, MTU, true, 110 * OCHE_SEC);
    assert_int_equal(w.base_rtt, 400 * OCHE_US);
}

/* UC: rogue.md#r7 */
static void losses_and_timeouts(void **state)
{
    struct rogue_window w;

    (void)state;
    steady(&w, 100, 100 * OCHE_US);
    w.slow_start = true;
    assert_true(rogue_window_lost(&w));
    assert_int_equal(w.bytes, 50 * MTU);
    assert_false(w.slow_start);
    assert_int_equal(w.rate_bps, oche_rate_of(100 * MTU, 100 * OCHE_US) - OCHE_GBPS);
    for (unsigned i = 0; i < 20; i++)
        rogue_window_lost(&w);
    assert_int_equal(w.bytes, MTU);
    rogue_window_timeout(&w);
    assert_int_equal(w.bytes, 10 * MTU);
    assert_true(w.slow_start);
    assert_int_equal(w.rate_bps, oche_rate_of(10 * MTU, 100 * OCHE_US));
    begin(&w); /* before any sample there is no base RTT for a rate */
    assert_false(rogue_window_lost(&w));
    assert_int_equal(w.rate_bps, LINE);
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void any_step(struct oche_random *random, struct rogue_window *w, oche_time now)
{
    uint64_t before = w->rate_bps, bytes = w->bytes;
    bool stepwise = !w->slow_start, changed;
    uint64_t dice = oche_random_below(random, 40);

    if (dice == 0) {
        changed = rogue_window_timeout(w);
        stepwise = false;
    } else if (dice == 1) {
        changed = rogue_window_lost(w);
        stepwise = true;
    } else {
        oche_time rtt = oche_random_below(random, OCHE_US << oche_random_below(random, 12));
        changed = rogue_window_sample(w, rtt, oche_random_below(random, 3 * SEGMENT), true, now);
        if (stepwise && params.most_window == 0)
            assert_true(difference(bytes, w->bytes) <= MTU);
    }
    assert_int_equal(changed, before != w->rate_bps);
    assert_true(w->bytes >= MTU);
    assert_in_range(w->rate_bps, params.least_rate, LINE);
    if (stepwise)
        assert_true(difference(before, w->rate_bps) <= params.rate_step);
}

static void bounds_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct oche_random random = oche_random_stream(seed, "rogue windows", 0);
        struct rogue_window w;
        oche_time now = 0;

        begin(&w);
        params.clamp = oche_random_below(&random, 2) == 0;
        params.vegas_divisor = (uint32_t)oche_random_below(&random, 2);
        params.most_window = (double)oche_random_below(&random, 3);
        params.least_base_rtt = oche_random_below(&random, 100) * OCHE_US;
        params.rate_step = 1000 + oche_random_below(&random, 2 * OCHE_GBPS);
        params.initial_packets = 1 + oche_random_below(&random, 100);
        if (oche_random_below(&random, 2) == 0)
            params.base_rtt_age = (1 + oche_random_below(&random, 1000)) * OCHE_US;
        rogue_window_init(&w, &params, LINE, MTU);
        for (unsigned i = 0; i < 500; i++) {
            now += oche_random_below(&random, 100 * OCHE_US);
            any_step(&random, &w, now);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(begins_at_line_rate),
                                       cmocka_unit_test(slow_start_doubles),
                                       cmocka_unit_test(slow_start_has_no_steps),
                                       cmocka_unit_test(slow_start_ends),
                                       cmocka_unit_test(vegas_steps),
                                       cmocka_unit_test(vegas_steps_over_the_base_rtt),
                                       cmocka_unit_test(the_divisor_is_the_base_rtt_in_use),
                                       cmocka_unit_test(rate_is_window_over_base_rtt),
                                       cmocka_unit_test(rate_changes_in_steps),
                                       cmocka_unit_test(floors),
                                       cmocka_unit_test(the_line_bounds_the_least_rate),
                                       cmocka_unit_test(cap),
                                       cmocka_unit_test(base_rtt_is_the_least),
                                       cmocka_unit_test(only_exact_samples_are_the_base),
                                       cmocka_unit_test(a_round_trip_of_nothing),
                                       cmocka_unit_test(base_rtt_ages),
                                       cmocka_unit_test(losses_and_timeouts),
                                       cmocka_unit_test(bounds_hold)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
