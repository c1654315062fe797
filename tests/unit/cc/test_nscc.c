/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NSCC: constants of a network, the four reactions to delay and marks, growth by rounds and bytes,
 * and quick adapt, against the formulas of docs/papers/nscc.md worked out by hand.
 */
#include <math.h>

#include "core/wire/opcode.h"
#include "tests/support/test.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE UINT64_C(100000000000)
#define MTU  1000
#define RTT  (12 * OCHE_US) /* so a = b = 1, and a BDP is 150,000 bytes */
#define MOST 225000.0

static struct bench bench;

/* Packets have no headers, so that payload is what the window counts. */
static void open_flow(void)
{
    bench_init(&bench, "nscc", LINE);
    bench_set(&bench, "rtt", RTT);
    bench_set(&bench, "header", 0);
    bench.flow.mtu_bytes = MTU;
    bench_start(&bench, false);
}

/* An ACK of so many bytes. */
static void ack(oche_time at, oche_time rtt, uint64_t bytes, bool marked)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK};
    const struct oche_cc_ack ack = {.packet = &packet,
                                    .acked_bytes = bytes,
                                    .flight_bytes = 20000,
                                    .rtt = rtt,
                                    .ecn_echo = marked};

    bench.now = at;
    bench.scheme->acked(&bench.flow, at, &ack);
}

static double window(void)
{
    return (double)bench.flow.window_bytes;
}

static void assert_window(double expected)
{
    if (fabs(window() - expected) > 1)
        fail_msg("the window has %.1f bytes, not %.1f", window(), expected);
}

/* The window becomes `bytes` by losses, and quick adapt does not look for a while. */
static void shrink_to(double bytes)
{
    bench_set(&bench, "quick_adapt", false);
    while (window() > bytes + 0.5)
        bench.scheme->loss(&bench.flow, bench.now, OCHE_CC_LOSS_TIMEOUT);
    assert_window(bytes);
}

static void begins_with_the_most(void **state)
{
    (void)state;
    open_flow();
    assert_window(MOST);
    assert_int_equal(bench.flow.rate_bps, LINE);
    bench_init(&bench, "nscc", LINE);
    bench_set(&bench, "rtt", RTT);
    bench.flow.mtu_bytes = MTU; /* of 1,064 bytes with headers */
    bench_start(&bench, false);
    assert_window(MOST * 1000 / 1064);
}

/* alpha n (target - d), which takes effect after more than eight packets. */
static void grows_below_target(void **state)
{
    (void)state;
    open_flow();
    shrink_to(100000);
    ack(OCHE_US, RTT + 3 * OCHE_US, 8000, false);
    assert_window(100000);
    ack(2 * OCHE_US, RTT + 6 * OCHE_US, 1000, false);
    /* 4 packets a round trip at no delay: 4000 (8000 3/4 + 1000 1/2)/100000 */
    assert_window(100000 + 260);
    ack(RTT + OCHE_US, RTT + 12 * OCHE_US - 1, 1000, false); /* a round trip: eta, 0.15 packets */
    assert_window(100260 + 150);
}

static void grows_without_marks_at_target(void **state)
{
    (void)state;
    open_flow();
    shrink_to(100000);
    ack(OCHE_US, 2 * RTT, 9000, false);
    assert_window(100000 + 5.0 * 1000 * 9000 / 100000);
}

/* After a window over an empty path: a quarter of what comes. */
static void grows_fast_on_an_empty_path(void **state)
{
    (void)state;
    open_flow();
    shrink_to(20000);
    bench_set_real(&bench, "alpha", 0);
    ack(0, RTT, 20000, false); /* as much as the window, not more */
    assert_window(20000);
    ack(OCHE_US, RTT + 999 * OCHE_NS, 4000, false);
    assert_window(21000);
    ack(2 * OCHE_US, RTT, 4000, false);
    assert_window(22000);
    ack(3 * OCHE_US, RTT + OCHE_US, 4000, false); /* not empty any more */
    ack(4 * OCHE_US, RTT, 22000, false);          /* must last for a window again */
    assert_window(22000);
}

/* Marked and late: by the mean's excess, once a round trip, to half at most. */
static void shrinks(void **state)
{
    (void)state;
    open_flow();
    bench_set(&bench, "quick_adapt", false);
    bench_set_real(&bench, "delay_gain", 1);
    ack(RTT + 1, RTT + 24 * OCHE_US, 1000, true); /* d is two targets: 1 - 0.8/2 */
    /* a round trip has passed, so eta follows; the window is at its most before */
    assert_window(MOST * 0.6 + 150);
    ack(2 * RTT, RTT + 24 * OCHE_US, 1000, true);
    assert_window(MOST * 0.6 + 150);
    ack(3 * RTT, RTT + 1200 * OCHE_US, 1000, true); /* not by 0.79 */
    assert_window((MOST * 0.6 + 150) / 2 + 150);
    const double before = window();

    ack(3 * RTT + 1, RTT + 6 * OCHE_US, 1000, true); /* marked below target: nothing */
    assert_window(before);
}

/* The mean takes a quarter of a round trip for a long delay without a mark. */
static void an_unmarked_delay_counts_little(void **state)
{
    (void)state;
    open_flow();
    bench_set(&bench, "quick_adapt", false);
    bench_set_real(&bench, "delay_gain", 0.5);
    ack(0, RTT + 40 * OCHE_US, 1000, false);      /* mean 1.5us */
    ack(RTT + 1, RTT + 24 * OCHE_US, 1000, true); /* mean 12.75us */
    assert_window(MOST * (1 - 0.8 * 0.75 / 12.75) + 150 + 5.0 * 1e6 / (MOST * 0.953));
}

static void quick_adapt(void **state)
{
    (void)state;
    open_flow();
    ack(0, RTT, 1000, false); /* it looks from now on, every two round trips */
    bench.scheme->loss(&bench.flow, OCHE_US, OCHE_CC_LOSS_NAK);
    assert_window(MOST - 1000);
    ack(RTT, RTT, 14000, false);
    ack(2 * RTT, RTT, 6000, true); /* 20,000 came, less than an eighth of the most */
    assert_window(20000);
    ack(2 * RTT + 1, 5 * RTT, 19000, true); /* 20,000 were in flight: not looked at */
    assert_window(20000);
    ack(2 * RTT + 2, RTT + 100 * OCHE_US, 1000, true);
    ack(3 * RTT, RTT + 100 * OCHE_US, 1000, true);
    assert_true(window() < 20200);
    assert_int_equal(bench.nic_state[0], 1);
}

/* What is in flight when quick adapt acts is not looked at while it is marked; the rest is. */
static void looks_at_what_is_not_marked(void **state)
{
    (void)state;
    open_flow();
    ack(0, RTT, 1000, false);
    bench.scheme->loss(&bench.flow, OCHE_US, OCHE_CC_LOSS_NAK);
    ack(2 * RTT, RTT, 20000, true);
    assert_window(20000);
    for (unsigned i = 1; i < 9; i++)
        ack(2 * RTT + i, RTT, 1000, false); /* an empty path: it grows */
    ack(3 * RTT + 20, RTT, 1000, false);
    assert_true(window() > 20000);
}

/* Much came through: nothing to adapt to. */
static void no_quick_adapt(void **state)
{
    (void)state;
    open_flow();
    ack(0, RTT, 1000, false);
    bench.scheme->loss(&bench.flow, OCHE_US, OCHE_CC_LOSS_NAK);
    ack(2 * RTT, 6 * RTT, 100000, true);
    assert_true(window() > MOST / 2 - 1000);
    assert_int_equal(bench.nic_state[0], 0);
}

static void stays_above_a_packet(void **state)
{
    (void)state;
    open_flow();
    for (unsigned i = 0; i < 1000; i++)
        bench.scheme->loss(&bench.flow, OCHE_US, OCHE_CC_LOSS_TIMEOUT);
    assert_window(MTU);
    ack(OCHE_MS, OCHE_NEVER, 0, false); /* of a packet that was sent again */
    assert_true(window() >= MTU);
}

static void a_mark_is_told_at_once(void **state)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_WRITE_MIDDLE};
    struct oche_cc_reply reply = {0};

    (void)state;
    open_flow();
    bench.scheme->arrived(&bench.flow, 0, &packet, &reply);
    assert_false(reply.ack_now);
    packet.ecn = OCHE_ECN_CE;
    bench.scheme->arrived(&bench.flow, 0, &packet, &reply);
    assert_true(reply.ack_now && !reply.send_cnp);
    packet = (struct oche_packet){.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK};
    bench.scheme->stamp_ack(&bench.flow, 0, &packet);
    assert_true(packet.bth & OCHE_BTH_BECN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_the_most),
        cmocka_unit_test(grows_below_target),
        cmocka_unit_test(grows_without_marks_at_target),
        cmocka_unit_test(grows_fast_on_an_empty_path),
        cmocka_unit_test(shrinks),
        cmocka_unit_test(an_unmarked_delay_counts_little),
        cmocka_unit_test(quick_adapt),
        cmocka_unit_test(looks_at_what_is_not_marked),
        cmocka_unit_test(no_quick_adapt),
        cmocka_unit_test(stays_above_a_packet),
        cmocka_unit_test(a_mark_is_told_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
