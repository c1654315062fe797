/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand's congestion control: entries of the table; the index, which BECNs raise and its timer
 * lowers within bounds; FECNs that become BECNs.
 */
#include "core/cc/ib_cc.h"
#include "core/wire/opcode.h"
#include "tests/support/test.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE  UINT64_C(56000000000)
#define TIMER (153600 * OCHE_NS)

/* shift:2, multiplier:14. Eighths while they fit, then quarters, halves, wholes. */
static void test_entries(void **state)
{
    (void)state;
    assert_int_equal(oche_ib_cct_entry(0), 3 << 14);
    assert_int_equal(oche_ib_cct_entry(1), 3 << 14 | 8);
    assert_int_equal(oche_ib_cct_entry(0.125), 3 << 14 | 1);
    assert_int_equal(oche_ib_cct_entry(0.06), 3 << 14); /* too small to differ from none */
    assert_int_equal(oche_ib_cct_entry(2047.875), 3 << 14 | 16383);
    assert_int_equal(oche_ib_cct_entry(2048), 2 << 14 | 8192);
    assert_int_equal(oche_ib_cct_entry(8000), 1 << 14 | 16000);
    assert_int_equal(oche_ib_cct_entry(16383), 16383);
    assert_int_equal(oche_ib_cct_entry(1e9), 16383);
    for (unsigned eighths = 0; eighths < 16384; eighths++)
        assert_int_equal(oche_ib_cct_eighths(oche_ib_cct_entry(eighths / 8.0)), eighths);
    assert_int_equal(oche_ib_cct_eighths(2 << 14 | 8192), 2048 * 8);
    assert_int_equal(oche_ib_cct_eighths(16383), 16383 * 8);
}

static void test_rates(void **state)
{
    (void)state;
    assert_int_equal(oche_ib_cct_rate(LINE, 0), LINE);
    assert_int_equal(oche_ib_cct_rate(LINE, 8), LINE / 2);
    assert_int_equal(oche_ib_cct_rate(LINE, 24), LINE / 4);
    assert_int_equal(oche_ib_cct_rate(LINE, 127 * 8), LINE / 128);
    assert_int_equal(oche_ib_cct_rate(1, 16383 * 8), 1); /* never none at all */
}

/*
 * Each BECN raises the index at once; each timer lowers it by one. BECNs do not restart the timer.
 */
static void test_index(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench_start(&bench, false);
    assert_int_equal(bench.flow.rate_bps, LINE);
    assert_int_equal(bench.flow.timer[0], OCHE_NEVER);
    bench_cnp(&bench, 10 * OCHE_US);
    assert_int_equal(bench.flow.rate_bps, LINE / 2);
    bench_cnp(&bench, 100 * OCHE_US);
    assert_int_equal(bench.flow.rate_bps, LINE / 3);
    assert_int_equal(bench.flow.timer[0], 10 * OCHE_US + TIMER);
    bench_run(&bench, 10 * OCHE_US + TIMER - 1);
    assert_int_equal(bench.flow.rate_bps, LINE / 3);
    bench_run(&bench, 10 * OCHE_US + TIMER);
    assert_int_equal(bench.flow.rate_bps, LINE / 2);
    bench_run(&bench, 10 * OCHE_US + 2 * TIMER);
    assert_int_equal(bench.flow.rate_bps, LINE);
    assert_int_equal(bench.flow.timer[0], OCHE_NEVER);
    assert_int_equal(bench.timer_calls, 2);
}

static void test_bounds(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench_set(&bench, "ccti_increase", 50);
    bench_set(&bench, "ccti_limit", 99);
    bench_set(&bench, "ccti_min", 3);
    bench_start(&bench, false);
    assert_int_equal(bench.flow.rate_bps, LINE / 4);
    assert_int_equal(bench.flow.timer[0], OCHE_NEVER);
    for (unsigned i = 0; i < 10; i++)
        bench_cnp(&bench, i + 1);
    assert_int_equal(bench.flow.rate_bps, LINE / 100);
    bench_run(&bench, OCHE_SEC);
    assert_int_equal(bench.flow.rate_bps, LINE / 4);
    assert_int_equal(bench.timer_calls, 96);
}

/*
 * By rate: each step lowers it by 1/(limit + 1) of the line, rounded to an eighth of a packet time.
 */
static void test_table_by_rate(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench_choose(&bench, "cct", "rate");
    bench_set(&bench, "ccti_limit", 7);
    bench_start(&bench, false);
    for (unsigned i = 1; i <= 7; i++) {
        double wanted = (double)LINE * (8 - i) / 8;

        bench_cnp(&bench, i);
        assert_true((double)bench.flow.rate_bps > wanted * 0.95);
        assert_true((double)bench.flow.rate_bps < wanted * 1.05);
    }
    assert_int_equal(bench.flow.rate_bps, LINE / 8);
}

static void test_steps(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench_set_real(&bench, "cct_step", 0.25);
    bench_start(&bench, false);
    for (unsigned i = 1; i <= 12; i++)
        bench_cnp(&bench, i);
    assert_int_equal(bench.flow.rate_bps, LINE / 4);
}

/* Local policy sets the starting rate: the first entry that is not faster, and up from there. */
static void test_initial_rate(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench.flow.initial_rate_bps = LINE / 10 + 1;
    bench_start(&bench, false);
    assert_int_equal(bench.flow.rate_bps, LINE / 10);
    bench_run(&bench, 9 * TIMER);
    assert_int_equal(bench.flow.rate_bps, LINE);
}

static struct oche_packet arrive(struct bench *bench, uint8_t opcode, bool fecn, bool *cnp)
{
    struct oche_packet data = {.opcode = opcode, .ecn = fecn ? OCHE_ECN_CE : OCHE_ECN_ECT0};
    struct oche_packet ack = {.opcode = OCHE_RC_ACK};
    struct oche_cc_reply reply = {0};

    bench->scheme->arrived(&bench->flow, 1, &data, &reply);
    *cnp = reply.send_cnp;
    bench->scheme->stamp_ack(&bench->flow, 1, &ack);
    return ack;
}

/* An ACK returns the mark since the last ACK. Where there is no ACK, a CNP returns it. */
static void test_becn(void **state)
{
    static struct bench bench;
    struct oche_packet packet;
    bool cnp;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench_start(&bench, false);
    assert_int_equal(arrive(&bench, OCHE_RC_WRITE_MIDDLE, false, &cnp).bth, 0);
    assert_int_equal(arrive(&bench, OCHE_RC_WRITE_MIDDLE, true, &cnp).bth, OCHE_BTH_BECN);
    assert_false(cnp);
    assert_int_equal(arrive(&bench, OCHE_RC_WRITE_LAST, false, &cnp).bth, 0);
    assert_int_equal(arrive(&bench, OCHE_UC_WRITE_MIDDLE, true, &cnp).bth, 0);
    assert_true(cnp);
    assert_int_equal(arrive(&bench, OCHE_RC_READ_RESPONSE_MIDDLE, true, &cnp).bth, 0);
    assert_true(cnp);

    struct oche_packet data = {.opcode = OCHE_RC_WRITE_MIDDLE, .ecn = OCHE_ECN_CE};
    struct oche_cc_reply reply = {0};
    bench.scheme->arrived(&bench.flow, 1, &data, &reply);
    packet = (struct oche_packet){.opcode = OCHE_RC_READ_RESPONSE_MIDDLE};
    bench.scheme->stamp_ack(&bench.flow, 1, &packet);
    assert_int_equal(packet.bth, 0); /* waits for an ACK */
    packet = (struct oche_packet){.opcode = OCHE_RC_ACK};
    bench.scheme->stamp_ack(&bench.flow, 1, &packet);
    assert_int_equal(packet.bth, OCHE_BTH_BECN);

    bench_choose(&bench, "becn", "cnp");
    assert_int_equal(arrive(&bench, OCHE_RC_WRITE_MIDDLE, true, &cnp).bth, 0);
    assert_true(cnp);
}

/* The sender counts a BECN in an ACK, and no ACK without one. */
static void test_becn_in_ack(void **state)
{
    static struct bench bench;
    struct oche_packet packet = {.opcode = OCHE_RC_ACK, .bth = OCHE_BTH_BECN};
    struct oche_cc_ack ack = {.packet = &packet, .ecn_echo = true};

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    bench_start(&bench, false);
    bench_ack(&bench, 1, 1);
    assert_int_equal(bench.flow.rate_bps, LINE);
    bench.scheme->acked(&bench.flow, 2, &ack);
    assert_int_equal(bench.flow.rate_bps, LINE / 2);
}

static void test_check(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "ib_cc", LINE);
    assert_null(bench.scheme->check(bench.params));
    bench_set(&bench, "ccti_limit", 5);
    bench_set(&bench, "ccti_min", 5);
    assert_non_null(bench.scheme->check(bench.params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),       cmocka_unit_test(test_rates),
        cmocka_unit_test(test_index),         cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_table_by_rate), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_initial_rate),  cmocka_unit_test(test_becn),
        cmocka_unit_test(test_becn_in_ack),   cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
