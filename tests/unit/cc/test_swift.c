/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swift: its window against numbers worked out by hand from the formulas of swift.md, and pacing
 * below one packet.
 */
#include "core/cc/cc_advice.h"
#include "core/wire/opcode.h"
#include "tests/support/test.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE UINT64_C(100000000000)
#define MTU  1000

static struct bench bench;

/* Without flow scaling, and with round numbers. */
static void open_flow(uint64_t packets)
{
    bench_init(&bench, "swift", LINE);
    bench_set(&bench, "base_target", 20 * OCHE_US);
    bench_set(&bench, "hop_scale", 3 * OCHE_US);
    bench_set(&bench, "fs_range", 0);
    bench_set(&bench, "initial_cwnd", packets);
    bench.flow.mtu_bytes = MTU;
    bench.now = OCHE_MS;
}

static void start(uint64_t packets)
{
    open_flow(packets);
    bench_start(&bench, false);
    bench.now = OCHE_MS;
}

/* An ACK of so many bytes, that has crossed so many links. */
static void ack_over(oche_time rtt, uint64_t bytes, uint8_t links)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK, .hops = links};
    struct oche_cc_ack ack = {.packet = &packet, .acked_bytes = bytes, .rtt = rtt};

    bench.scheme->acked(&bench.flow, bench.now, &ack);
}

static void ack(oche_time rtt, uint64_t bytes)
{
    ack_over(rtt, bytes, 1); /* no switch */
}

static void lose(enum oche_cc_loss kind)
{
    bench.scheme->loss(&bench.flow, bench.now, kind);
}

static void assert_window(uint64_t bytes)
{
    assert_int_equal(bench.flow.window_bytes, bytes);
}

static void test_increase(void **state)
{
    (void)state;
    start(12);
    assert_window(12000);
    assert_int_equal(bench.flow.rate_bps, LINE); /* not paced */
    ack(10 * OCHE_US, MTU);
    assert_window(12083); /* 12 + 1/12 */
    start(12);
    ack(20 * OCHE_US - 1, 12 * MTU);
    assert_window(13000); /* one packet a round trip */
    ack(OCHE_NEVER, 13 * MTU);
    assert_window(13000); /* without a round trip nothing is known */
    start(12);
    bench_set_real(&bench, "ai", 4.0);
    ack(10 * OCHE_US, 3 * MTU);
    assert_window(13000);
}

static void test_decrease(void **state)
{
    (void)state;
    start(12);
    ack(40 * OCHE_US, MTU);
    assert_window(7200); /* 1 - 0.8 * 20/40 */
    bench.now += 40 * OCHE_US - 1;
    ack(40 * OCHE_US, MTU);
    assert_window(7200); /* once a round trip */
    bench.now += 1;
    ack(40 * OCHE_US, MTU);
    assert_window(4320);
    bench.now += 200 * OCHE_US;
    ack(200 * OCHE_US, MTU);
    assert_window(2160); /* 0.8 * 180/200 is more than max_mdf */
    ack(10 * OCHE_US, 2160);
    assert_window(3160); /* it may grow at once */

    /* At the target itself the window stays, and the round trip begins. */
    start(12);
    ack(20 * OCHE_US, MTU);
    assert_window(12000);
    bench.now += 20 * OCHE_US;
    ack(40 * OCHE_US, MTU);
    assert_window(12000); /* 20us after, and the round trip takes 40us */
}

static void test_hops(void **state)
{
    (void)state;
    start(12);
    ack_over(29 * OCHE_US - 1, 12 * MTU, 4); /* three switches: 20us + 9us */
    assert_window(13000);
    ack_over(29 * OCHE_US, 13 * MTU, 4);
    assert_window(13000);
    start(12);
    bench_set(&bench, "hops", 5);
    ack_over(35 * OCHE_US - 1, 12 * MTU, 2);
    assert_window(13000); /* 20us + 15us, whatever the ACK has crossed */
    start(12);
    ack_over(30 * OCHE_US, MTU, 0); /* on the wire: no hops */
    assert_window(8800);            /* 1 - 0.8 * 10/30 */
}

/* fs_range 95us between 1/4 packet and 100: 50us / sqrt(w) - 5us. */
static void scale(uint64_t packets)
{
    open_flow(packets);
    bench_set(&bench, "fs_range", 95 * OCHE_US);
    bench_set_real(&bench, "fs_min_cwnd", 0.25);
    bench_set_real(&bench, "fs_max_cwnd", 100);
    bench_set(&bench, "min_cwnd", 1);
    bench_start(&bench, false);
    bench.now = OCHE_MS;
}

static void test_flow_scaling(void **state)
{
    (void)state;
    scale(4); /* target 20us + 20us */
    ack(39999 * OCHE_NS, 4 * MTU);
    assert_window(5000);
    scale(4);
    ack(50 * OCHE_US, MTU);
    assert_window(3360); /* 1 - 0.8 * 10/50 */
    scale(100);          /* target 20us */
    ack(25 * OCHE_US, MTU);
    assert_window(84000); /* 1 - 0.8 * 5/25 */
    scale(200);           /* not less than 20us */
    ack(25 * OCHE_US, MTU);
    assert_window(168000);
    scale(1); /* 65us, then 115us at half a packet less */
    for (unsigned i = 0; i < 6; i++) {
        ack(OCHE_MS, MTU);
        bench.now += OCHE_MS;
    }
    assert_window(16);       /* 1000/64 bytes: far below fs_min_cwnd */
    ack(114 * OCHE_US, MTU); /* and the target is 115us */
    assert_window(1016);
}

static void test_below_one_packet(void **state)
{
    (void)state;
    start(1);
    bench_send(&bench, bench.now, 0, MTU);
    ack(200 * OCHE_US, MTU);
    assert_window(500);
    /* one packet of 1020 bytes on the line each 200us / 0.5 */
    assert_int_equal(bench.flow.rate_bps, 20400000);
    ack(400 * OCHE_US, MTU); /* the window stays, the round trip is longer */
    assert_window(500);
    assert_int_equal(bench.flow.rate_bps, 10200000);
    ack(10 * OCHE_US, 100);
    assert_window(600); /* by ai for each packet */
    assert_int_equal(bench.flow.rate_bps, 489600000);
    ack(10 * OCHE_US, MTU);
    assert_window(1600);
    assert_int_equal(bench.flow.rate_bps, LINE);
}

static void test_losses(void **state)
{
    (void)state;
    start(12);
    ack(10 * OCHE_US, 0);
    lose(OCHE_CC_LOSS_NAK);
    assert_window(6000);
    bench.now += 10 * OCHE_US - 1;
    lose(OCHE_CC_LOSS_NAK);
    lose(OCHE_CC_LOSS_TIMEOUT);
    assert_window(6000);
    bench.now += 1;
    lose(OCHE_CC_LOSS_TIMEOUT);
    assert_window(3000);
}

static void test_timeouts_in_a_row(void **state)
{
    (void)state;
    start(1000);
    bench_set(&bench, "retx_reset", 3);
    for (unsigned i = 0; i < 2; i++) {
        lose(OCHE_CC_LOSS_TIMEOUT);
        bench.now += OCHE_MS;
    }
    assert_window(250000);
    ack(10 * OCHE_US, 250 * MTU); /* a new row */
    assert_window(251000);
    for (unsigned i = 0; i < 2; i++) {
        lose(OCHE_CC_LOSS_TIMEOUT);
        bench.now += OCHE_MS;
    }
    assert_window(62750);
    lose(OCHE_CC_LOSS_NAK); /* so does this */
    assert_window(31375);
    for (unsigned i = 0; i < 2; i++)
        lose(OCHE_CC_LOSS_TIMEOUT);
    assert_window(31375);
    lose(OCHE_CC_LOSS_TIMEOUT);
    assert_window(10); /* min_cwnd, at once */
}

static void test_bounds(void **state)
{
    (void)state;
    start(999);
    ack(OCHE_US, 2000 * MTU);
    assert_window(1000 * MTU);
    for (unsigned i = 0; i < 40; i++) {
        ack(OCHE_MS, MTU);
        bench.now += OCHE_MS;
    }
    assert_window(10);
    /* one packet of 1082 bytes on the line each 1s / 0.01 */
    ack(OCHE_SEC, MTU);
    assert_int_equal(bench.flow.rate_bps, 86);
}

/* READ data is not paced, as its requester has the window. */
static void test_read_data(void **state)
{
    struct oche_packet packet = {.opcode = OCHE_RC_READ_RESPONSE_MIDDLE, .payload_bytes = MTU};

    (void)state;
    start(1);
    ack(200 * OCHE_US, MTU);
    assert_true(bench.flow.rate_bps < LINE);
    bench.scheme->sent(&bench.flow, bench.now, &packet, 1082);
    assert_int_equal(bench.flow.rate_bps, LINE);
}

static void test_parameters(void **state)
{
    const struct oche_cc_network network = {.line_rate_bps = LINE, .round_trip = 200 * OCHE_US};
    const struct oche_cc_advice *advice;

    (void)state;
    open_flow(12);
    advice = bench.scheme->advice;
    assert_null(bench.scheme->check(bench.params));
    assert_null(advice->remark(bench.params, 20 * OCHE_US, LINE));
    assert_non_null(advice->remark(bench.params, 20 * OCHE_US + 1, LINE));
    advice->fit(bench.params, UINT64_MAX, &network);
    assert_null(advice->remark(bench.params, 500 * OCHE_US, LINE)); /* 2.5 round trips */
    assert_non_null(advice->remark(bench.params, 500 * OCHE_US + 1, LINE));
    bench_set(&bench, "max_cwnd", 11);
    assert_non_null(bench.scheme->check(bench.params));
    bench_set(&bench, "max_cwnd", 12);
    bench_set_real(&bench, "fs_min_cwnd", 100);
    assert_non_null(bench.scheme->check(bench.params));
}

/* Equipment in use: windows by the line and the network's round trip, whatever the packets. */
static void test_deployed(void **state)
{
    const struct oche_cc_scheme *scheme = oche_cc_find("swift");
    const struct oche_param *first = oche_param_find(&scheme->table, "initial_cwnd");
    const struct oche_param *most = oche_param_find(&scheme->table, "max_cwnd");
    struct oche_cc_network network = {.line_rate_bps = LINE, .round_trip = 8 * OCHE_US};
    struct oche_derived derived;

    (void)state;
    bench_init(&bench, "swift", LINE);
    oche_param_preset(&scheme->table, OCHE_PRESET_DEPLOYED, bench.params);
    scheme->advice->fit(bench.params, 0, &network);
    bench.flow.mtu_bytes = 4000;
    bench_start(&bench, false);
    assert_window(100000); /* 100 Gbit/s for 8 us */
    ack(OCHE_US, 25 * 4000);
    assert_window(116000); /* four packets a round trip */
    ack(OCHE_US, 1000000000);
    assert_window(4096000);
    assert_true(scheme->advice->derived(bench.params, first, LINE, &derived));
    assert_int_equal(derived.value.u, 97); /* packets of 1 KiB */
    assert_true(scheme->advice->derived(bench.params, most, 4 * LINE, &derived));
    assert_int_equal(derived.value.u, 16000);
    network.round_trip = 0; /* unknown */
    scheme->advice->fit(bench.params, 0, &network);
    bench_start(&bench, false);
    assert_window(12288);
    assert_null(scheme->check(bench.params));
    bench_set(&bench, "initial_cwnd", 7);
    assert_false(scheme->advice->derived(bench.params, first, LINE, &derived));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_increase),
        cmocka_unit_test(test_decrease),
        cmocka_unit_test(test_hops),
        cmocka_unit_test(test_flow_scaling),
        cmocka_unit_test(test_below_one_packet),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_timeouts_in_a_row),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_read_data),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_deployed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
