/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HPCC: its rate and window against numbers worked out by hand from the formulas of hpcc.md, the
 * reference window, and what the receiver echoes.
 *
 * The link has 100 Gbit/s, so that units are 512 bytes and 320 bytes of queue. In 4096 ns it
 * carries 51,200 bytes. T is 4096 ns, unless said otherwise, so that U is the load itself.
 */
#include <math.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "core/wire/opcode.h"
#include "core/wire/telemetry.h"
#include "tests/support/test.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE (100 * OCHE_GBPS)
#define MTU  1000
#define T_NS 4096
#define FULL 51200 /* bytes in T */
#define AI   (40 * OCHE_MBPS)

static struct bench bench;
static uint32_t time_ns;
static uint64_t sent_bytes;
static uint32_t next_psn;

static void open_flow(oche_time trip, uint64_t initial_bps)
{
    bench_init(&bench, "hpcc", LINE);
    bench_set(&bench, "base_rtt", trip);
    bench.flow.mtu_bytes = MTU;
    bench.flow.initial_rate_bps = initial_bps;
    time_ns = 0;
    sent_bytes = 0;
    next_psn = OCHE_PSN_MASK - 3; /* wraps soon */
    bench_start(&bench, false);
}

static void send(void)
{
    bench_send(&bench, bench.now, next_psn++ & OCHE_PSN_MASK, MTU);
}

/* An ACK with the records of `hops` hops; all but the first are empty. */
static void ack_hops(uint32_t psn, oche_time now, unsigned hops, uint64_t queue)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE,
                                 .opcode = OCHE_RC_ACK_INT,
                                 .psn = psn & OCHE_PSN_MASK,
                                 .ext = OCHE_EXT_TRAILER};
    struct oche_cc_ack ack = {.packet = &packet, .acked_bytes = MTU, .rtt = OCHE_NEVER};
    const struct oche_hop busy = {
        .rate_bps = LINE, .time_ns = time_ns, .sent_bytes = sent_bytes, .queue_bytes = queue};
    const struct oche_hop idle = {.rate_bps = LINE, .time_ns = time_ns};

    for (unsigned i = 0; i < hops; i++)
        oche_telemetry_add(&packet.telemetry, i == 0 ? &busy : &idle);
    bench.now = now;
    bench.scheme->acked(&bench.flow, now, &ack);
}

/* The hop has sent so many bytes since the last record, `after_ns` before; acknowledges `psn`. */
static void ack(uint32_t psn, uint32_t after_ns, uint64_t sent, uint64_t queue)
{
    time_ns += after_ns;
    sent_bytes += sent;
    ack_hops(psn, bench.now + after_ns * OCHE_NS, 2, queue);
}

/* One round trip: a packet leaves, and its ACK comes. */
static void round_trip(uint32_t after_ns, uint64_t sent, uint64_t queue)
{
    send();
    ack(next_psn - 1, after_ns, sent, queue);
}

static void assert_rate(double gbps)
{
    const double rate = (double)bench.flow.rate_bps;

    if (fabs(rate - gbps * 1e9) > 1e6)
        fail_msg("the rate is %.4f Gbit/s, not %.4f", rate / 1e9, gbps);
}

static void test_start(void **state)
{
    (void)state;
    open_flow(10 * OCHE_US, LINE);
    assert_int_equal(bench.flow.rate_bps, LINE);
    /* 125,000 bytes on the line; a full packet has 1126 there, with gap and telemetry */
    assert_int_equal(bench.flow.window_bytes, 111012);
    round_trip(0, 0, 0);
    assert_int_equal(bench.flow.rate_bps, LINE); /* the first ACK is only stored */
}

/* U >= eta: R = R_c / (U / eta) + R_AI. */
static void test_by_load(void **state)
{
    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    round_trip(0, 0, 0);
    round_trip(T_NS, FULL, 0); /* U = 1 */
    assert_rate(95.04);
    round_trip(T_NS, FULL, 12800); /* the queue before was empty: the lesser counts */
    assert_rate(90.328);           /* 95.04 * 0.95 + 0.04 */
    round_trip(T_NS, FULL, 25600); /* U = 1 + 12800 / 51200 = 1.25 */
    assert_rate(68.68928);         /* 90.328 * 0.76 + 0.04 */
    round_trip(T_NS, FULL, 6400);  /* U = 1.125 */
    assert_rate(58.04428);         /* * 0.84444 */
    /* W = R T: 29,718.7 bytes on the line */
    assert_int_equal(bench.flow.window_bytes / 10, 2639);
}

/* U < eta: max_stage raises, then by load. */
static void test_stages(void **state)
{
    (void)state;
    open_flow(T_NS * OCHE_NS, LINE / 2);
    bench_set(&bench, "max_stage", 2);
    round_trip(0, 0, 0);
    round_trip(T_NS, FULL / 2, 0);
    assert_rate(50.04);
    round_trip(T_NS, FULL / 2, 0);
    assert_rate(50.08);
    round_trip(T_NS, FULL / 2, 0); /* 50.08 / (0.5 / 0.95) */
    assert_rate(95.192);
    round_trip(T_NS, FULL / 2, 0); /* a new row */
    assert_rate(95.232);
    round_trip(T_NS, FULL, 0); /* ends by load, too */
    assert_rate(90.5104);
    round_trip(T_NS, FULL / 2, 0);
    round_trip(T_NS, FULL / 2, 0);
    assert_rate(90.5904);
    round_trip(T_NS, FULL / 2, 0);
    assert_int_equal(bench.flow.rate_bps, LINE); /* not above the line */
}

/* Smoothing: U moves by tau / T; with tau above T it is the newest load. */
static void test_smoothing(void **state)
{
    (void)state;
    open_flow(4 * T_NS * OCHE_NS, LINE);
    round_trip(0, 0, 0);
    round_trip(T_NS, FULL / 2, 0); /* U = 1 + (0.5 - 1) / 4 = 0.875: below eta */
    assert_int_equal(bench.flow.rate_bps, LINE);
    bench_set(&bench, "max_stage", 0);
    round_trip(T_NS, FULL / 2, 0); /* 0.78125 */
    assert_int_equal(bench.flow.rate_bps, LINE);
    round_trip(8 * T_NS, 8 * FULL, 0); /* 1, although tau is 2 T */
    assert_rate(95.04);
}

/* The busiest hop counts, by its own time. */
static void test_busiest(void **state)
{
    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    round_trip(0, 0, 0);
    send();
    time_ns += T_NS;
    sent_bytes += FULL;
    ack_hops(next_psn - 1, 2 * T_NS * OCHE_NS, 2, 0); /* the second hop is idle */
    assert_rate(95.04);
    send();
    time_ns += T_NS;
    ack_hops(next_psn - 1, 3 * T_NS * OCHE_NS, 3, 0); /* another path: only stored */
    assert_rate(95.04);
    send();
    time_ns += T_NS;
    sent_bytes += FULL;
    ack_hops(next_psn - 1, 4 * T_NS * OCHE_NS, 3, 0);
    assert_rate(90.328);
}

/* ACKs within a round trip compute from the same reference. */
static void test_reference(void **state)
{
    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    for (unsigned i = 0; i < 3; i++)
        send(); /* first, first + 1, first + 2 */
    const uint32_t first = next_psn - 3;
    ack(first, 0, 0, 0); /* stored; the round trip ends beyond first + 2 */
    ack(first + 1, T_NS, FULL, 0);
    assert_rate(95.04); /* of 100 */
    ack(first + 2, T_NS, FULL, 0);
    assert_rate(95.04); /* of 100 again */
    send();
    ack(first + 3, T_NS, FULL, 0);
    assert_rate(95.04); /* and now it is the reference */
    send();
    ack(first + 4, T_NS, FULL, 0);
    assert_rate(90.328);
}

static void test_updates(void **state)
{
    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    bench_choose(&bench, "update", "ack");
    for (unsigned i = 0; i < 3; i++)
        send();
    ack(next_psn - 3, 0, 0, 0);
    ack(next_psn - 2, T_NS, FULL, 0);
    ack(next_psn - 1, T_NS, FULL, 0);
    assert_rate(90.328); /* both were a reference */

    open_flow(T_NS * OCHE_NS, LINE);
    bench_choose(&bench, "update", "rtt");
    for (unsigned i = 0; i < 3; i++)
        send();
    ack(next_psn - 3, 0, 0, 0);
    ack(next_psn - 2, T_NS, FULL, 0);
    assert_int_equal(bench.flow.rate_bps, LINE);
    round_trip(T_NS, FULL, 0);
    assert_rate(95.04);
}

static void test_ignored(void **state)
{
    struct oche_packet plain = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK};
    struct oche_cc_ack without = {.packet = &plain, .acked_bytes = MTU, .rtt = OCHE_US};

    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    round_trip(0, 0, 0);
    round_trip(T_NS, FULL, 0);
    bench.scheme->acked(&bench.flow, bench.now, &without);
    plain.opcode = OCHE_RC_ACK_INT; /* the receiver had none to echo */
    bench.scheme->acked(&bench.flow, bench.now, &without);
    round_trip(0, FULL, 0); /* the same time: divided by nothing */
    assert_rate(95.04);
    round_trip(T_NS, 0, 0); /* the record of before was kept: FULL in T */
    assert_rate(90.328);
    bench.now += 3 * OCHE_MS; /* longer than the switches' clock can tell */
    round_trip(T_NS, 0, 0);
    assert_rate(90.328);
    round_trip(T_NS, FULL, 0);
    assert_rate(85.8516);
}

static void test_parameters(void **state)
{
    const struct oche_cc_network network = {.line_rate_bps = LINE, .round_trip = 8 * OCHE_US};
    const struct oche_cc_scheme *scheme = oche_cc_find("hpcc");
    const struct oche_param *ai = oche_param_find(&scheme->table, "r_ai");
    const struct oche_param *rtt = oche_param_find(&scheme->table, "base_rtt");
    struct oche_derived derived;

    (void)state;
    bench_init(&bench, "hpcc", LINE);
    assert_true(scheme->advice->derived(bench.params, ai, LINE, &derived));
    assert_int_equal(derived.value.u, AI);
    bench_set(&bench, "ai_flows", 50); /* 100 Gbit/s * 0.05 / 50 */
    assert_true(scheme->advice->derived(bench.params, ai, LINE, &derived));
    assert_in_range(derived.value.u, 100 * OCHE_MBPS - 1, 100 * OCHE_MBPS);
    bench_set(&bench, "r_ai", 7);
    assert_false(scheme->advice->derived(bench.params, ai, LINE, &derived));
    assert_int_equal(derived.value.u, 7);
    scheme->advice->fit(bench.params, 0, &network);
    assert_true(scheme->advice->derived(bench.params, rtt, LINE, &derived));
    assert_int_equal(derived.value.u, 8 * OCHE_US);
    assert_null(scheme->advice->remark(bench.params, 8 * OCHE_US, LINE));
    assert_non_null(scheme->advice->remark(bench.params, 8 * OCHE_US + 1, LINE));
}

static void test_floor(void **state)
{
    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    round_trip(0, 0, 5000000);
    for (unsigned i = 0; i < 9; i++)
        round_trip(T_NS, FULL, 5000000);
    bench_set(&bench, "r_ai", 0);
    round_trip(T_NS, FULL, 5000000);
    assert_int_equal(bench.flow.rate_bps, 100 * OCHE_MBPS);
}

/* The receiver echoes the newest data packet's telemetry, and nothing before there is one. */
static void test_receiver(void **state)
{
    static struct {
        struct oche_packet packet;
        struct oche_telemetry behind;
    } data = {.packet = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_WRITE_MIDDLE}};
    struct oche_packet ack = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK_INT};
    const struct oche_hop hop = {.rate_bps = LINE, .time_ns = 5};
    struct oche_cc_reply reply = {.send_cnp = false};

    (void)state;
    open_flow(T_NS * OCHE_NS, LINE);
    bench.scheme->arrived(&bench.flow, 0, &data.packet, &reply); /* without telemetry */
    bench.scheme->stamp_ack(&bench.flow, 0, &ack);
    assert_int_equal(ack.ext, 0);
    data.packet.ext = OCHE_EXT_TRAILER;
    data.packet.bth = OCHE_BTH_TELEMETRY;
    oche_telemetry_add(&data.behind, &hop);
    bench.scheme->arrived(&bench.flow, 0, &data.packet, &reply);
    bench.scheme->stamp_ack(&bench.flow, 0, &ack);
    assert_int_equal(ack.ext, OCHE_EXT_TRAILER);
    assert_memory_equal(&ack.telemetry, &data.behind, sizeof(data.behind));
    ack.ext = 0;
    ack.opcode = OCHE_RC_SACK; /* has no room */
    bench.scheme->stamp_ack(&bench.flow, 0, &ack);
    assert_int_equal(ack.ext, 0);
    assert_true(bench_send(&bench, 0, 0, MTU).bth & OCHE_BTH_ACKREQ);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),      cmocka_unit_test(test_by_load),
        cmocka_unit_test(test_stages),     cmocka_unit_test(test_smoothing),
        cmocka_unit_test(test_busiest),    cmocka_unit_test(test_reference),
        cmocka_unit_test(test_updates),    cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_floor),
        cmocka_unit_test(test_receiver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
