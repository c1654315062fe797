/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of both TIMELY schemes: segments and their RTTs, with both kinds of pacing;
 * losses, late and coalesced ACKs, READs between; the start rate, the scaling of steps, the window.
 */
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/unit/cc/timely_bench.h"

#define STEP 10e6

static struct bench bench;

/* Segments of four packets, 32 us each at 1 Gbps; every RTT is below t_low. */
static void begin_as(const char *scheme, const char *pacing)
{
    bench_init(&bench, scheme, LINE_BPS);
    bench_set(&bench, "segment", 4000);
    bench_choose(&bench, "update", "completion");
    bench_choose(&bench, "pacing", pacing);
    bench_set_real(&bench, "use_to_raise", 0.0);
    bench.flow.initial_rate_bps = OCHE_GBPS;
    bench_start(&bench, false);
}

static void begin(const char *pacing)
{
    begin_as("timely", pacing);
}

/* `count` packets from `psn` on, back to back at line rate. */
static void send(uint32_t psn, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        bench_send(&bench, bench.now + (i > 0 ? PACKET_TIME : 0), psn + i, 1000);
}

static oche_time last_rtt(void)
{
    assert_true(bench.state_count > 0);
    return bench.states[bench.state_count - 1].a;
}

static void only_the_last_asks_and_ends_the_burst(void **state)
{
    (void)state;
    begin("segment");
    for (uint32_t psn = 0; psn < 12; psn++) {
        struct oche_packet packet = bench_send(&bench, psn * PACKET_TIME, psn, 1000);
        bool last = psn % 4 == 3;
        assert_int_equal(packet.bth & OCHE_BTH_ACKREQ, last ? OCHE_BTH_ACKREQ : 0);
        assert_int_equal(bench.flow.burst, !last);
    }
    begin("packet");
    for (uint32_t psn = 0; psn < 12; psn++) {
        struct oche_packet packet = bench_send(&bench, psn * PACKET_TIME, psn, 1000);
        assert_int_equal(packet.bth & OCHE_BTH_ACKREQ, psn % 4 == 3 ? OCHE_BTH_ACKREQ : 0);
        assert_false(bench.flow.burst);
    }
}

/* A segment has a whole number of packets: the nearest, at least one. */
static void segment_sizes(void **state)
{
    static const struct {
        uint64_t bytes;
        uint32_t packets;
    } cases[] = {{1, 1}, {1460, 1}, {1500, 2}, {16000, 16}, {64000, 64}};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        bench_init(&bench, "timely", LINE_BPS);
        bench_set(&bench, "segment", cases[i].bytes);
        bench_start(&bench, false);
        for (uint32_t psn = 0; psn < 2 * cases[i].packets; psn++) {
            struct oche_packet packet = bench_send(&bench, psn, psn, 1000);
            bool last = (psn + 1) % cases[i].packets == 0;
            assert_int_equal(packet.bth & OCHE_BTH_ACKREQ, last ? OCHE_BTH_ACKREQ : 0);
        }
    }
}

/* By segment: counted from the first packet's departure, less the segment's time at line rate. */
static void rtt_of_segment(void **state)
{
    (void)state;
    begin("segment");
    bench.now = 50 * OCHE_US;
    send(0, 4);
    bench_ack(&bench, 50 * OCHE_US + 4 * PACKET_TIME + 12345, 3);
    assert_int_equal(bench.state_count, 1);
    assert_int_equal(last_rtt(), 12345);
    /* Delay of the segment within the NIC counts. */
    bench_send(&bench, 100 * OCHE_US, 4, 1000);
    bench_send(&bench, 101 * OCHE_US, 5, 1000);
    bench_send(&bench, 120 * OCHE_US, 6, 1000);
    bench_send(&bench, 121 * OCHE_US, 7, 1000);
    bench_ack(&bench, 130 * OCHE_US, 7);
    assert_int_equal(last_rtt(), 30 * OCHE_US - 4 * PACKET_TIME);
    /* The last segment of a message may be shorter in bytes. */
    bench_send(&bench, 200 * OCHE_US, 8, 1000);
    bench_send(&bench, 201 * OCHE_US, 9, 1000);
    bench_send(&bench, 202 * OCHE_US, 10, 1000);
    bench_send(&bench, 203 * OCHE_US, 11, 230);
    bench_ack(&bench, 210 * OCHE_US, 11);
    assert_int_equal(last_rtt(), 10 * OCHE_US - 3 * PACKET_TIME - 200000);
}

/* By packet: the RTT of the last packet alone. */
static void rtt_of_last_packet(void **state)
{
    (void)state;
    begin("packet");
    for (uint32_t psn = 0; psn < 4; psn++)
        bench_send(&bench, psn * 8 * OCHE_US, psn, 1000);
    bench_ack(&bench, 24 * OCHE_US + PACKET_TIME + 777, 3);
    assert_int_equal(last_rtt(), 777);
}

/* On the wire a line may be faster than stated. Then the RTT is 0, not huge. */
static void never_negative(void **state)
{
    (void)state;
    begin("segment");
    for (uint32_t psn = 0; psn < 4; psn++)
        bench_send(&bench, OCHE_US, psn, 1000);
    bench_ack(&bench, 2 * OCHE_US, 3);
    assert_int_equal(last_rtt(), 0);
    assert_rate(&bench, 1e9 + STEP);
}

/*
 * An ACK within a segment is no completion. An ACK that covers several is one completion, of the
 * newest.
 */
static void which_acks_complete(void **state)
{
    (void)state;
    begin("packet");
    send(0, 20); /* the last ones of segments at 3, 7, 11, 15 and 19 packet times */
    oche_time now = bench.now;
    bench_ack(&bench, now, 2);
    assert_int_equal(bench.state_count, 0);
    bench_ack(&bench, now, 4);
    assert_int_equal(bench.state_count, 1);
    assert_int_equal(last_rtt(), 15 * PACKET_TIME);
    bench_ack(&bench, now, 6);
    assert_int_equal(bench.state_count, 1);
    bench_ack(&bench, now + OCHE_US, 16);
    assert_int_equal(bench.state_count, 2);
    assert_int_equal(last_rtt(), 3 * PACKET_TIME + OCHE_US);
    bench_ack(&bench, now + OCHE_US, 11); /* overtaken */
    bench_ack(&bench, now + OCHE_US, 16); /* again */
    bench_ack(&bench, now + OCHE_US, 20); /* nobody sent that */
    bench_ack(&bench, now + OCHE_US, OCHE_PSN_MASK - 16);
    assert_int_equal(bench.state_count, 2);
    bench_ack(&bench, now + 5 * OCHE_US, 19);
    assert_int_equal(bench.state_count, 3);
}

static void other_answers_do_not_complete(void **state)
{
    struct oche_packet packet = {
        .opcode = OCHE_RC_ACK, .psn = 4, .aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0)};
    struct oche_cc_ack ack = {.packet = &packet, .acked_bytes = 4000, .rtt = OCHE_NEVER};

    (void)state;
    begin("packet");
    bench_ack(&bench, 0, 3); /* nothing was sent */
    send(0, 8);
    bench.scheme->acked(&bench.flow, bench.now, &ack);
    packet.opcode = OCHE_RC_READ_RESPONSE_ONLY;
    packet.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
    bench.scheme->acked(&bench.flow, bench.now, &ack);
    assert_int_equal(bench.state_count, 0);
    bench_ack(&bench, bench.now, 7);
    assert_int_equal(bench.state_count, 1);
}

/* Going back: packets sent twice are not measured. Later packets, sent for the first time, are. */
static void losses_are_not_measured(void **state)
{
    (void)state;
    begin("segment");
    send(0, 14);
    bench_ack(&bench, bench.now, 4); /* segment 0; PSN 5 was lost */
    assert_int_equal(bench.state_count, 1);
    struct oche_packet again = bench_send(&bench, bench.now + OCHE_US, 5, 1000);
    assert_int_equal(again.bth & OCHE_BTH_ACKREQ, 0);
    assert_true(bench.flow.burst);
    bench_ack(&bench, bench.now + OCHE_US, 11); /* all had arrived, after all */
    assert_int_equal(bench.state_count, 1);
    send(6, 8);
    bench_send(&bench, bench.now, 14, 1000);
    again = bench_send(&bench, bench.now, 15, 1000);
    assert_int_equal(again.bth & OCHE_BTH_ACKREQ, OCHE_BTH_ACKREQ);
    bench_ack(&bench, bench.now + OCHE_US, 15); /* PSN 12 and 13 left twice */
    assert_int_equal(bench.state_count, 1);
    send(16, 4);
    bench_ack(&bench, bench.now + OCHE_US, 19);
    assert_int_equal(bench.state_count, 2);
}

/* If the last packet of a message leaves twice by design, only its own segment is not measured. */
static void last_packet_twice(void **state)
{
    (void)state;
    begin("segment");
    send(0, 8);
    bench_send(&bench, bench.now, 7, 1000);
    bench_ack(&bench, bench.now, 3);
    assert_int_equal(bench.state_count, 1);
    bench_ack(&bench, bench.now, 7);
    assert_int_equal(bench.state_count, 1);
    send(8, 2);
    bench_send(&bench, bench.now, 9, 1000);
    send(10, 6);
    bench_ack(&bench, bench.now, 11);
    assert_int_equal(bench.state_count, 1);
    bench_ack(&bench, bench.now, 15);
    assert_int_equal(bench.state_count, 2);
}

/* PSNs of READs lie between; segments go on behind them. */
static void reads_between(void **state)
{
    (void)state;
    begin("segment");
    send(0, 2);
    struct oche_packet read = {.opcode = OCHE_RC_READ_REQUEST, .psn = 2};
    bench.scheme->sent(&bench.flow, bench.now, &read, 98);
    assert_false(bench.flow.burst);
    send(11, 1); /* the READ had nine PSNs: this ends segment 2 */
    bench_ack(&bench, bench.now, 11);
    assert_int_equal(bench.state_count, 0);
    send(12, 4);
    bench_ack(&bench, bench.now + OCHE_US, 15);
    assert_int_equal(bench.state_count, 1);
}

/* The PSNs of READ data are the peer's: they are not counted. */
static void read_data_is_not_counted(void **state)
{
    struct oche_packet data = {
        .opcode = OCHE_RC_READ_RESPONSE_MIDDLE, .psn = 500, .payload_bytes = 1000};

    (void)state;
    begin("segment");
    send(0, 2);
    bench.scheme->sent(&bench.flow, bench.now, &data, 1020);
    assert_int_equal(data.bth, 0);
    assert_false(bench.flow.burst);
    send(2, 2);
    bench_ack(&bench, bench.now, 3);
    assert_int_equal(bench.state_count, 1);
}

static void sequence_numbers_wrap(void **state)
{
    (void)state;
    begin("segment");
    for (uint32_t i = 0; i < 4; i++) {
        send(0xfffff6 + 4 * i, 4);
        bench_ack(&bench, bench.now + OCHE_US, 0xfffff6 + 4 * i + 3);
        assert_int_equal(bench.state_count, i + 1);
    }
}

/* More outstanding segments than places: the first ones are measured, then new ones. */
static void many_outstanding(void **state)
{
    (void)state;
    bench_init(&bench, "timely", LINE_BPS);
    bench_set(&bench, "segment", 1000);
    bench_start(&bench, false);
    send(0, 600);
    bench_ack(&bench, bench.now, 511);
    assert_int_equal(bench.state_count, 1);
    for (uint32_t psn = 512; psn < 600; psn++)
        bench_ack(&bench, bench.now, psn);
    assert_int_equal(bench.state_count, 1);
    send(600, 1);
    bench_ack(&bench, bench.now + OCHE_US, 600);
    assert_int_equal(bench.state_count, 2);
    assert_int_equal(last_rtt(), OCHE_US - PACKET_TIME);
    send(601, 700);
    bench_ack(&bench, bench.now, 1300); /* segments without a place give nothing */
    assert_int_equal(bench.state_count, 2);
    send(1301, 1);
    bench_ack(&bench, bench.now + OCHE_US, 1301);
    assert_int_equal(bench.state_count, 3);
}

/* ---- the start ---- */

/*
 * Second and third flow of a NIC. The test changes values in between, which apply to these flows.
 */
static void another_flow(struct bench *other, uint64_t initial_bps)
{
    bench_init(other, bench.scheme->name, LINE_BPS);
    other->flow.nic_state = bench.nic_state;
    other->flow.initial_rate_bps = initial_bps;
    bench_start(other, false);
}

static void check_share(const char *scheme)
{
    static struct bench second, third, fourth;

    bench_init(&bench, scheme, LINE_BPS);
    bench_start(&bench, false);
    another_flow(&second, LINE_BPS);
    another_flow(&third, LINE_BPS);
    bench_send(&bench, 0, 0, 1000);
    assert_rate(&bench, 10e9);
    bench_send(&second, 0, 0, 1000);
    assert_rate(&second, 5e9);
    another_flow(&fourth, 2 * OCHE_GBPS);
    bench_send(&fourth, 0, 0, 1000);
    assert_rate(&fourth, 2e9); /* as the workload sets it; but it counts */
    bench_send(&third, 0, 0, 1000);
    assert_rate(&third, 2.5e9);
    bench.scheme->idle(&bench.flow, 0);
    second.scheme->stop(&second.flow);
    second.scheme->stop(&second.flow);
    another_flow(&second, LINE_BPS);
    bench_send(&second, 0, 0, 1000);
    assert_rate(&second, 10e9 / 3);
    bench_send(&bench, 1, 1, 1000); /* again: at the rate that it had before */
    assert_rate(&bench, 10e9);
    another_flow(&third, LINE_BPS);
    /* the bench, the second, the fourth, and the third, which ended */
    bench_send(&third, 0, 0, 1000);
    assert_rate(&third, 2e9);
}

static void starts_at_a_share(void **state)
{
    (void)state;
    check_share("timely");
    check_share("timely_patched");
}

static void starts_at_line_rate(void **state)
{
    static struct bench second;

    (void)state;
    bench_init(&bench, "timely", LINE_BPS);
    bench_start(&bench, false);
    bench_send(&bench, 0, 0, 1000);
    bench_init(&second, "timely", LINE_BPS);
    bench_choose(&second, "start", "line");
    second.flow.nic_state = bench.nic_state;
    bench_start(&second, false);
    bench_send(&second, 0, 0, 1000);
    assert_true(second.flow.rate_bps == LINE_BPS);
}

/* ---- scaling, use, window ---- */

/* A segment of 4000 bytes takes 32 us at 1 Gbps, 8 us at 4 Gbps: 2/5 of 20 us. */
static void scaled_steps(void **state)
{
    (void)state;
    begin("segment");
    bench_choose(&bench, "update", "scaled");
    send(0, 4);
    bench_ack(&bench, bench.now + OCHE_US, 3);
    assert_rate(&bench, 1e9 + STEP);
    begin("segment");
    bench.flow.initial_rate_bps = 4 * OCHE_GBPS;
    bench_choose(&bench, "update", "scaled");
    bench_start(&bench, false);
    send(0, 4);
    bench_ack(&bench, bench.now + OCHE_US, 3);
    assert_rate(&bench, 4e9 + 0.4 * STEP);
    send(4, 4);
    bench_ack(&bench, bench.now + PACKET_TIME + 1000 * OCHE_US, 7);
    double rate = 4e9 + 0.4 * STEP;
    assert_rate(&bench, rate * (1 - 0.4 * (4e9 / rate) * 0.8 * 0.5));
}

/* Four packets at 4 Gbps with this RTT: two fifths of a step. */
static void step_at(uint32_t psn, oche_time rtt)
{
    oche_time at = bench.now;

    send(psn, 4);
    bench_ack(&bench, at + 4 * PACKET_TIME + rtt, psn + 3);
}

/* Between the thresholds steps are scaled too: up, hyperactive, and down by the gradient. */
static void scaled_steps_by_gradient(void **state)
{
    double rate = 4e9;

    (void)state;
    begin("segment");
    bench.flow.initial_rate_bps = 4 * OCHE_GBPS;
    bench_choose(&bench, "update", "scaled");
    bench_set(&bench, "hai_events", 1);
    bench_set_real(&bench, "ewma", 1.0);
    bench_start(&bench, false);
    step_at(0, 100 * OCHE_US);
    assert_rate(&bench, rate += 0.4 * STEP);
    step_at(4, 90 * OCHE_US);
    assert_rate(&bench, rate += 0.4 * (4e9 / rate) * 5 * STEP);
    step_at(8, 95 * OCHE_US); /* 5 us of 20 */
    assert_rate(&bench, rate *= 1 - 0.4 * (4e9 / rate) * 0.8 * 0.25);
}

static void scaled_steps_patched(void **state)
{
    double rate = 4e9;

    (void)state;
    begin_as("timely_patched", "segment");
    bench.flow.initial_rate_bps = 4 * OCHE_GBPS;
    bench_choose(&bench, "update", "scaled");
    bench_start(&bench, false);
    step_at(0, 20 * OCHE_US);
    assert_rate(&bench, rate += 0.4 * STEP);
    step_at(4, 100 * OCHE_US); /* 0.875 * 80 us: w = 1, error 1 */
    assert_rate(&bench, rate -= 0.4 * (4e9 / rate) * 0.008 * rate);
}

/* update=min_rtt: completions that are too close to the last one are ignored. */
static void seldom_updates(void **state)
{
    (void)state;
    begin("segment");
    bench_choose(&bench, "update", "min_rtt");
    for (uint32_t i = 0; i < 10; i++) {
        send(4 * i, 4); /* takes 3 packet times */
        bench_ack(&bench, (i + 1) * 5 * OCHE_US, 4 * i + 3);
    }
    assert_int_equal(bench.state_count, 3); /* at 5, 25 and 45 us: 20 us are enough */
    assert_rate(&bench, 1e9 + 3 * STEP);
}

/* A sender that does not use its rate gets no increase. It may still get a decrease. */
static void unused_rate_is_not_raised(void **state)
{
    (void)state;
    begin("segment");
    bench_set_real(&bench, "use_to_raise", 0.8);
    send(0, 4);
    bench_ack(&bench, 20 * OCHE_US, 3);
    assert_rate(&bench, 1e9 + STEP);
    bench.now = 40 * OCHE_US; /* 4080 bytes on the line in 40 us: 0.8 of 1.01 Gbps */
    send(4, 4);
    bench_ack(&bench, 60 * OCHE_US, 7);
    assert_rate(&bench, 1e9 + 2 * STEP);
    bench.now = 81 * OCHE_US; /* in 41 us: 0.7805 */
    send(8, 4);
    bench_ack(&bench, 90 * OCHE_US, 11);
    assert_rate(&bench, 1e9 + 2 * STEP);
    bench.now = 200 * OCHE_US;
    send(12, 4);
    bench_ack(&bench, 4 * PACKET_TIME + 1200 * OCHE_US, 15); /* RTT 1000 us */
    assert_rate(&bench, (1e9 + 2 * STEP) * 0.6);
}

/*
 * A sender that always has data uses all of its rate, also where one step doubles it. A gap that
 * began before the step does not mean that the sender has little to send. At the floor, 10 Mbps, a
 * segment of 4080 bytes on the line takes 3264 us.
 */
static void check_climb(const char *scheme)
{
    double rate = 10e6;

    begin_as(scheme, "segment");
    bench_set_real(&bench, "use_to_raise", 0.8);
    bench.flow.initial_rate_bps = 10 * OCHE_MBPS;
    bench_start(&bench, false);
    for (uint32_t i = 0; i < 5; i++) {
        oche_time next = bench.now + (oche_time)(4080 * 8 / rate * (double)OCHE_SEC) + 1;
        step_at(4 * i, 10 * OCHE_US);
        assert_rate(&bench, rate += STEP);
        bench.now = next;
    }
    /* Completions within the gap are ignored. */
    oche_time next = bench.now + (oche_time)(4080 * 8 / rate * (double)OCHE_SEC);
    step_at(20, OCHE_MS);
    assert_true((double)bench.flow.rate_bps < rate);
    bench.now = next;
    rate = (double)bench.flow.rate_bps;
    step_at(24, 10 * OCHE_US);
    assert_rate(&bench, rate + STEP);
}

static void climbs_with_every_completion(void **state)
{
    (void)state;
    check_climb("timely");
    check_climb("timely_patched");
}

/* The same between the thresholds, where the gradient would raise the rate. */
static void check_unused_by_gradient(const char *scheme, double fall)
{
    begin_as(scheme, "segment");
    bench_set_real(&bench, "use_to_raise", 0.8);
    bench_set_real(&bench, "ewma", 1.0);
    step_at(0, 100 * OCHE_US);
    bench.now = OCHE_MS;
    double rate = (double)bench.flow.rate_bps;
    step_at(4, 60 * OCHE_US);
    assert_rate(&bench, rate);
    bench.now = 2 * OCHE_MS;
    step_at(8, 70 * OCHE_US); /* 10 us of 20 */
    assert_rate(&bench, rate * (1 - fall));
}

static void unused_rate_is_not_raised_by_gradient(void **state)
{
    (void)state;
    check_unused_by_gradient("timely", 0.8 * 0.5);
    check_unused_by_gradient("timely_patched", 0.008 * 0.4);
}

/* The defaults for a user who sets nothing: segments, pacing, scaling, use. */
static void check_defaults(const char *scheme, uint32_t packets, bool burst)
{
    bench_init(&bench, scheme, LINE_BPS);
    bench_start(&bench, false);
    for (uint32_t psn = 0; psn < 2 * packets; psn++) {
        struct oche_packet packet = bench_send(&bench, psn * PACKET_TIME, psn, 1000);
        bool last = (psn + 1) % packets == 0;
        assert_int_equal(packet.bth & OCHE_BTH_ACKREQ, last ? OCHE_BTH_ACKREQ : 0);
        assert_int_equal(bench.flow.burst, burst && !last);
    }
    bench_init(&bench, scheme, LINE_BPS);
    bench_set(&bench, "segment", 4000);
    bench.flow.initial_rate_bps = 4 * OCHE_GBPS;
    bench_start(&bench, false);
    step_at(0, 10 * OCHE_US);
    assert_rate(&bench, 4e9 + 0.4 * STEP);
    double rate = (double)bench.flow.rate_bps;
    bench.now = 10 * OCHE_US; /* 4080 bytes in 10 us: 0.816 of 4 Gbps */
    step_at(4, 10 * OCHE_US);
    assert_rate(&bench, rate += 0.4 * (4e9 / rate) * STEP);
    bench.now = 10 * OCHE_US + 105 * OCHE_US / 10; /* 0.777 */
    step_at(8, 10 * OCHE_US);
    assert_rate(&bench, rate);
}

static void defaults_of_segments(void **state)
{
    (void)state;
    check_defaults("timely", 64, true);
    check_defaults("timely_patched", 16, false);
}

/* A floor of less than one bit per second becomes one. */
static void rate_is_never_zero(void **state)
{
    (void)state;
    bench_init(&bench, "timely", OCHE_MBPS);
    bench_set(&bench, "segment", 1000);
    bench_choose(&bench, "update", "completion");
    bench_set_real(&bench, "min_rate_fraction", 1e-9);
    bench_set_real(&bench, "beta_high", 1.0);
    bench_start(&bench, false);
    for (uint32_t psn = 0; psn < 5; psn++)
        complete(&bench, psn, OCHE_SEC);
    assert_true(bench.flow.rate_bps == 1);
}

/* Dart's setting: no window before the first RTT, then rate * RTT and a segment. */
static void window(void **state)
{
    (void)state;
    begin("packet");
    assert_true(bench.flow.window_bytes == UINT64_MAX);
    begin("packet");
    bench_set(&bench, "window", 1);
    bench_start(&bench, false);
    send(0, 4);
    assert_true(bench.flow.window_bytes == UINT64_MAX);
    bench_ack(&bench, bench.now + PACKET_TIME + 40 * OCHE_US, 3);
    assert_rate(&bench, 1e9 + STEP);
    assert_int_equal(bench.flow.window_bytes, 5050 + 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_last_asks_and_ends_the_burst),
        cmocka_unit_test(segment_sizes),
        cmocka_unit_test(rtt_of_segment),
        cmocka_unit_test(rtt_of_last_packet),
        cmocka_unit_test(never_negative),
        cmocka_unit_test(which_acks_complete),
        cmocka_unit_test(other_answers_do_not_complete),
        cmocka_unit_test(losses_are_not_measured),
        cmocka_unit_test(last_packet_twice),
        cmocka_unit_test(reads_between),
        cmocka_unit_test(read_data_is_not_counted),
        cmocka_unit_test(sequence_numbers_wrap),
        cmocka_unit_test(many_outstanding),
        cmocka_unit_test(starts_at_a_share),
        cmocka_unit_test(starts_at_line_rate),
        cmocka_unit_test(scaled_steps),
        cmocka_unit_test(scaled_steps_by_gradient),
        cmocka_unit_test(scaled_steps_patched),
        cmocka_unit_test(seldom_updates),
        cmocka_unit_test(unused_rate_is_not_raised),
        cmocka_unit_test(climbs_with_every_completion),
        cmocka_unit_test(unused_rate_is_not_raised_by_gradient),
        cmocka_unit_test(defaults_of_segments),
        cmocka_unit_test(rate_is_never_zero),
        cmocka_unit_test(window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
