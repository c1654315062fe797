/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults as in the paper, segments by line rate (RoGUE sec 3.1; rogue.md#r17), contradictions. */
#include "rogue/params.h"
#include "tests/support/test.h"

static struct rogue_params defaults(void)
{
    struct rogue_params params;

    oche_param_defaults(&rogue_param_table, &params);
    return params;
}

static void defaults_are_the_papers(void **state)
{
    struct rogue_params p = defaults();

    (void)state;
    assert_int_equal(p.segment_bytes, 0);
    assert_int_equal(p.least_batches, 2);
    assert_int_equal(p.first_batch, ROGUE_FIRST_WINDOW);
    assert_true(p.alpha == 2 && p.beta == 4 && p.gamma == 1);
    assert_int_equal(p.vegas_divisor, ROGUE_BY_RTT);
    assert_int_equal(p.initial_packets, 10);
    assert_true(p.most_window == 2);
    assert_int_equal(p.least_rate, 10 * OCHE_MBPS);
    assert_int_equal(p.rate_step, OCHE_GBPS);
    assert_int_equal(p.hold_off_bytes, 160000);
    assert_int_equal(p.least_base_rtt, 0);
    assert_true(p.base_rtt_age == OCHE_NEVER);
    assert_false(p.clamp);
    assert_true(p.loss_factor == 0.5);
    assert_true(p.shadow);
    assert_int_equal(p.resync_interval, OCHE_MS);
    assert_null(rogue_params_check(&p));
}

static void segments_follow_the_line(void **state)
{
    static const struct {
        uint64_t bps;
        uint32_t bytes;
    } rows[] = {
        {200 * OCHE_MBPS, 8 << 10},      {OCHE_GBPS, 8 << 10},
        {5 * OCHE_GBPS, 32 << 10},       {10 * OCHE_GBPS - 1, 63 << 10},
        {10 * OCHE_GBPS, 64 << 10},      {25 * OCHE_GBPS - 1, 64 << 10},
        {25 * OCHE_GBPS, 128 << 10},     {40 * OCHE_GBPS, 128 << 10},
        {75 * OCHE_GBPS - 1, 128 << 10}, {75 * OCHE_GBPS, 256 << 10},
        {100 * OCHE_GBPS, 256 << 10},    {400 * OCHE_GBPS, 256 << 10},
    };
    struct rogue_params p = defaults();

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++)
        assert_int_equal(rogue_segment_bytes(&p, rows[i].bps), rows[i].bytes);
    p.segment_bytes = 12345;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++)
        assert_int_equal(rogue_segment_bytes(&p, rows[i].bps), 12345);
}

/* With the defaults for today's lines 1 KB counts as a packet for each 10 Gbit/s (rogue.md#r2). */
static void packets_and_steps_follow_the_line(void **state)
{
    static const struct {
        uint64_t bps, bytes, step;
    } rows[] = {
        {OCHE_GBPS, 1024, 100 * OCHE_MBPS},       {10 * OCHE_GBPS, 1024, OCHE_GBPS},
        {25 * OCHE_GBPS, 2500, 2500 * OCHE_MBPS}, {100 * OCHE_GBPS, 10000, 10 * OCHE_GBPS},
        {800 * OCHE_GBPS, 80000, 80 * OCHE_GBPS},
    };
    struct rogue_params paper = defaults(), deployed;

    (void)state;
    oche_param_preset(&rogue_param_table, OCHE_PRESET_DEPLOYED, &deployed);
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        assert_int_equal(rogue_packet_bytes(&paper, rows[i].bps, 1024), 1024);
        assert_int_equal(rogue_rate_step(&paper, rows[i].bps), OCHE_GBPS);
        assert_int_equal(rogue_packet_bytes(&deployed, rows[i].bps, 1024), rows[i].bytes);
        assert_int_equal(rogue_rate_step(&deployed, rows[i].bps), rows[i].step);
    }
    deployed.packet_bytes = 500; /* a given value counts, even below the MTU */
    assert_int_equal(rogue_packet_bytes(&deployed, OCHE_GBPS, 1024), 500);
}

static void alpha_above_beta_is_refused(void **state)
{
    struct rogue_params p = defaults();

    (void)state;
    p.alpha = 4; /* as sec 4 of the paper has it (rogue.md#r1) */
    p.beta = 2;
    assert_non_null(rogue_params_check(&p));
    p.alpha = p.beta = 3;
    assert_null(rogue_params_check(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults_are_the_papers),
                                       cmocka_unit_test(segments_follow_the_line),
                                       cmocka_unit_test(packets_and_steps_follow_the_line),
                                       cmocka_unit_test(alpha_above_beta_is_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
