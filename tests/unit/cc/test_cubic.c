/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUBIC with HyStart++: its window against RFC 9438's formulas, when it grows, how losses reduce
 * it, and how packets are spread over a round trip.
 */
#include <math.h>

#include "core/wire/opcode.h"
#include "tests/support/test.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE UINT64_C(100000000000)
#define MTU  1000

static struct bench bench;
static uint32_t psn;

/* By the RFCs' values. */
static void open_flow(void)
{
    bench_init(&bench, "cubic", LINE);
    bench_set_real(&bench, "alpha", 0);
    bench_choose(&bench, "hystart_from", "last_round");
    bench_set(&bench, "hystart_rounds", 5);
    bench.flow.mtu_bytes = MTU;
    psn = OCHE_PSN_MASK - 20; /* the PSN wraps soon */
}

static double window(void)
{
    return (double)bench.flow.window_bytes / MTU;
}

/*
 * Sends so many packets at once. Their ACKs arrive a round trip later. `used`: the whole window is
 * used.
 */
static void round_trip(oche_time rtt, unsigned packets, bool used)
{
    const uint32_t first = psn;

    for (unsigned i = 0; i < packets; i++)
        bench_send(&bench, bench.now, psn++, MTU);
    bench.now += rtt;
    for (unsigned i = 0; i < packets; i++) {
        struct oche_packet packet = {
            .kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK, .psn = (first + i) & OCHE_PSN_MASK};
        const uint64_t flight = used ? bench.flow.window_bytes - MTU : 0;
        struct oche_cc_ack ack = {
            .packet = &packet, .acked_bytes = MTU, .flight_bytes = flight, .rtt = rtt};

        bench.scheme->acked(&bench.flow, bench.now, &ack);
    }
}

static void full_round(oche_time rtt)
{
    round_trip(rtt, (unsigned)window(), true);
}

static void lose(enum oche_cc_loss kind)
{
    bench.scheme->loss(&bench.flow, bench.now, kind);
}

/* Grows the window to `packets` in slow start, then loses one. */
static void grow_and_lose(double packets, oche_time rtt)
{
    while (window() < packets)
        full_round(rtt);
    lose(OCHE_CC_LOSS_NAK);
}

static void test_slow_start(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    assert_int_equal(bench.flow.window_bytes, 10 * MTU);
    assert_int_equal(bench.flow.rate_bps, LINE); /* no round trip is known */
    full_round(OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 20 * MTU);
    round_trip(OCHE_MS, 5, false); /* the window did not limit the sender */
    assert_int_equal(bench.flow.window_bytes, 20 * MTU);
    full_round(OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 40 * MTU);
}

/* RFC 9438 sec 4.6: beta, once a round trip; and ssthresh after a timeout. */
static void test_losses(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(160, OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 112 * MTU);
    lose(OCHE_CC_LOSS_NAK);
    bench.now += OCHE_MS - 1;
    lose(OCHE_CC_LOSS_NAK);
    assert_int_equal(bench.flow.window_bytes, 112 * MTU);
    bench.now += 1;
    lose(OCHE_CC_LOSS_NAK); /* the retransmission is lost, too */
    assert_true(fabs(window() - 78.4) < 0.01);
    bench.now += 10 * OCHE_MS;
    lose(OCHE_CC_LOSS_TIMEOUT);
    assert_int_equal(bench.flow.window_bytes, MTU);
    lose(OCHE_CC_LOSS_TIMEOUT);
    assert_int_equal(bench.flow.window_bytes, MTU);
    for (unsigned i = 0; i < 6; i++)
        full_round(OCHE_MS);
    assert_true(window() >= 54.8 && window() < 64); /* slow start up to 0.7 of 78.4 */
}

/* The cubic function after a loss at W packets: W(t) = C (t - K)^3 + W, K = cbrt(W (1 - beta) / C).
 */
static void test_cubic_function(void **state)
{
    const oche_time rtt = 50 * OCHE_MS;
    const double most = 1280, k = cbrt(most * 0.3 / 0.4);

    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(most, rtt);
    assert_int_equal(bench.flow.window_bytes, 896 * MTU);
    full_round(rtt); /* the losses are repaired, and the epoch begins */
    const oche_time start = bench.now;
    while (bench.now - start < 15 * OCHE_SEC) {
        const double t = (double)(bench.now - start) / OCHE_SEC;
        const double right = 0.4 * pow(t - k, 3) + most;

        assert_true(fabs(window() - right) / right < 0.01);
        full_round(rtt);
    }
    assert_true(window() > most); /* beyond the plateau */
}

/*
 * Sec 4.3: where the cubic function is slower than Reno, the window grows as Reno's does, by alpha
 * a round.
 */
static void test_reno_friendly(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(40, OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 28 * MTU);
    full_round(OCHE_MS);
    const double first = window();
    for (unsigned i = 0; i < 20; i++)
        full_round(OCHE_MS);
    assert_true(fabs(window() - first - 20 * 3 * 0.3 / 1.7) < 0.7);
    for (unsigned i = 0; i < 20; i++)
        full_round(OCHE_MS);
    /* the window before the loss: from here on it grows by 1 a round */
    const double beyond = window();
    assert_true(beyond > 50 && beyond < 60);
    for (unsigned i = 0; i < 10; i++)
        full_round(OCHE_MS);
    assert_true(fabs(window() - beyond - 10) < 1.5);
}

/* Our own `alpha`: so many packets a round trip, if that is at most an eighth of the window. */
static void test_least_growth(void **state)
{
    static const struct {
        double alpha;
        double window, grown; /* packets: the window at the loss, and its growth in two rounds */
    } rows[] = {{4, 160, 8}, {4, 40, 7.8}, {4, 20, 4}, {1, 160, 2}, {0, 160, 1.1}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_flow();
        bench_set_real(&bench, "alpha", rows[i].alpha);
        bench_start(&bench, false);
        grow_and_lose(rows[i].window, OCHE_MS);
        full_round(OCHE_MS);
        const double before = window();
        full_round(OCHE_MS);
        full_round(OCHE_MS);
        assert_true(fabs(window() - before - rows[i].grown) < 0.6);
    }
}

/* Sec 4.7: a flow that loses again below its plateau lowers the next plateau. */
static void test_fast_convergence(void **state)
{
    const oche_time rtt = 50 * OCHE_MS;
    double plateau[2];

    (void)state;
    for (int on = 0; on < 2; on++) {
        open_flow();
        bench_set(&bench, "fast_convergence", (uint64_t)on);
        bench_start(&bench, false);
        grow_and_lose(1280, rtt);
        full_round(rtt);
        full_round(rtt);
        lose(OCHE_CC_LOSS_NAK);
        const double most = on ? 896 * 1.7 / 2 : 896;
        const oche_time k = (oche_time)(cbrt((most - 0.7 * 896) / 0.4) * OCHE_SEC);
        const oche_time end = bench.now + k;
        while (bench.now < end)
            full_round(rtt);
        plateau[on] = window();
        assert_true(fabs(plateau[on] - most) / most < 0.02);
    }
    assert_true(plateau[1] < plateau[0]);
}

/* RFC 9406: longer round trips end slow start after five rounds. A short rise does not. */
static void test_hystart(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    full_round(10 * OCHE_MS);
    full_round(10 * OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 40 * MTU);
    full_round(13 * OCHE_MS); /* less than 4 ms longer */
    assert_int_equal(bench.flow.window_bytes, 80 * MTU);
    full_round(18 * OCHE_MS); /* from the eighth ACK on, a quarter for each */
    assert_true(window() > 100 && window() < 120);
    const double slow = window();
    full_round(10 * OCHE_MS); /* it was noise: slow start continues */
    assert_true(window() > 1.7 * slow);
    full_round(18 * OCHE_MS);
    for (unsigned i = 0; i < 5; i++)
        full_round(30 * OCHE_MS);
    const double end = window();
    full_round(30 * OCHE_MS);
    full_round(30 * OCHE_MS);
    assert_true(window() < 1.02 * end); /* slow start is over */
}

/*
 * Our own values: a slowly filling queue also ends slow start, in one round. Then the window grows
 * by four packets a round trip.
 */
static void test_own_values(void **state)
{
    (void)state;
    bench_init(&bench, "cubic", LINE);
    bench.flow.mtu_bytes = MTU;
    psn = 0;
    bench_start(&bench, false);
    full_round(OCHE_MS);
    full_round(2 * OCHE_MS);
    full_round(4 * OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 80 * MTU);
    full_round(6 * OCHE_MS); /* each is less than 4 ms longer than the one before */
    const double end = window();
    assert_true(end > 80 && end < 110);
    for (unsigned i = 0; i < 10; i++)
        full_round(6 * OCHE_MS);
    assert_true(fabs(window() - end - 40) < 2);
}

/* A round with few ACKs counts when it ends. */
static void test_few_samples(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    bench.flow.window_bytes = 10 * MTU;
    round_trip(OCHE_MS, 2, true);
    round_trip(20 * OCHE_MS, 2, true);
    const double before = window();
    round_trip(20 * OCHE_MS, 4, true);
    assert_true(fabs(window() - before - 1) < 0.01); /* a quarter each */
}

/* An unused window says nothing about the network. */
static void test_unused(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(160, OCHE_MS);
    full_round(OCHE_MS);
    const uint64_t before = bench.flow.window_bytes;
    for (unsigned i = 0; i < 1000; i++)
        round_trip(OCHE_MS, 10, false);
    assert_int_equal(bench.flow.window_bytes, before);
}

/* Sec 5.8: after 20 s without sending, the growth of that time is not caught up. */
static void test_unused_time(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(160, OCHE_MS);
    full_round(OCHE_MS);
    full_round(OCHE_MS);
    for (unsigned i = 0; i < 20000; i++)
        round_trip(OCHE_MS, 1, false);
    const double before = window();
    for (unsigned i = 0; i < 6; i++)
        full_round(OCHE_MS);
    assert_true(window() < before + 6);
}

/* Sec 4.8: after a timeout the plateau is the window at the end of slow start. */
static void test_after_timeout(void **state)
{
    const oche_time rtt = 50 * OCHE_MS;

    (void)state;
    open_flow();
    bench_start(&bench, false);
    while (window() < 1280)
        full_round(rtt);
    lose(OCHE_CC_LOSS_TIMEOUT);
    while (window() < 896)
        full_round(rtt);
    const oche_time start = bench.now;
    while (bench.now - start < 4 * OCHE_SEC)
        full_round(rtt);
    assert_true(window() > 896 + 20 && window() < 896 + 60); /* by Reno's growth, which is larger */
}

static void undo(void)
{
    bench.scheme->undo(&bench.flow, bench.now, OCHE_CC_LOSS_TIMEOUT);
}

/*
 * Sec 4.9, RFC 4015: a spurious timeout restores the state from before the first of several in a
 * row. The time until then does not count. A justified timeout restores nothing.
 */
static void test_undo(void **state)
{
    const oche_time rtt = 50 * OCHE_MS;

    (void)state;
    open_flow();
    bench_set(&bench, "undo", true);
    bench_start(&bench, false);
    grow_and_lose(1280, rtt);
    full_round(rtt);
    full_round(rtt);
    const double before = window();
    const uint64_t rate = bench.flow.rate_bps;
    bench.now += OCHE_SEC;
    lose(OCHE_CC_LOSS_TIMEOUT);
    bench.now += OCHE_SEC;
    lose(OCHE_CC_LOSS_TIMEOUT);
    bench.scheme->undo(&bench.flow, bench.now, OCHE_CC_LOSS_NAK);
    assert_int_equal(bench.flow.window_bytes, MTU);
    undo();
    assert_true(fabs(window() - before) < 0.01);
    assert_int_equal(bench.flow.rate_bps, rate);
    full_round(rtt);
    assert_true(window() >= before && window() < before + 150); /* of 1 s, not of 2 s */
    const double grown = window();
    undo(); /* there is nothing to undo */
    assert_true(fabs(window() - grown) < 0.01);
    lose(OCHE_CC_LOSS_TIMEOUT);
    full_round(rtt); /* all earlier packets are acknowledged: the timeout was justified */
    full_round(rtt);
    undo();
    assert_true(window() < grown / 2);
    lose(OCHE_CC_LOSS_TIMEOUT);
    lose(OCHE_CC_LOSS_NAK); /* and something was lost */
    undo();
    assert_true(window() < grown / 2);
}

/* Without `undo` sec 4.8 holds. */
static void test_no_undo(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(160, OCHE_MS);
    full_round(OCHE_MS);
    lose(OCHE_CC_LOSS_TIMEOUT);
    undo();
    assert_int_equal(bench.flow.window_bytes, MTU);
}

static void test_idle(void **state)
{
    (void)state;
    open_flow();
    bench_start(&bench, false);
    grow_and_lose(160, OCHE_MS);
    full_round(OCHE_MS);
    const uint64_t before = bench.flow.window_bytes;
    bench.scheme->idle(&bench.flow, bench.now);
    bench.now += 199 * OCHE_MS;
    bench.scheme->busy(&bench.flow, bench.now);
    assert_int_equal(bench.flow.window_bytes, before);
    full_round(OCHE_MS);
    assert_true(window() < (double)before / MTU + 1); /* idle time did not count */
    bench.scheme->idle(&bench.flow, bench.now);
    bench.now += 200 * OCHE_MS;
    bench.scheme->busy(&bench.flow, bench.now);
    assert_int_equal(bench.flow.window_bytes, 10 * MTU);
    full_round(OCHE_MS);
    assert_int_equal(bench.flow.window_bytes, 20 * MTU);
}

/*
 * The pacing rate per round trip: twice the window in slow start, then 1.2 times; after a loss, the
 * window.
 */
static void test_pacing(void **state)
{
    const double packet_bps = MTU * 8 / 0.001; /* one packet a round trip */

    (void)state;
    open_flow();
    bench_start(&bench, false);
    full_round(OCHE_MS);
    assert_true(fabs((double)bench.flow.rate_bps / packet_bps - 2 * window()) < 0.1);
    grow_and_lose(160, OCHE_MS);
    assert_true(fabs((double)bench.flow.rate_bps / packet_bps - 112) < 0.1);
    full_round(OCHE_MS);
    assert_true(fabs((double)bench.flow.rate_bps / packet_bps - 1.2 * window()) < 0.1);
    open_flow();
    bench_set(&bench, "pacing", 0);
    bench_start(&bench, false);
    grow_and_lose(160, OCHE_MS);
    assert_int_equal(bench.flow.rate_bps, LINE);
}

/* READ data that this end sends has the PSNs of the peer's requests. */
static void test_read_data(void **state)
{
    struct oche_packet data = {.kind = OCHE_PACKET_ROCE,
                               .opcode = OCHE_RC_READ_RESPONSE_MIDDLE,
                               .psn = 0x400000,
                               .payload_bytes = MTU};

    (void)state;
    open_flow();
    bench_start(&bench, false);
    full_round(OCHE_MS);
    assert_true(bench.flow.rate_bps < LINE);
    bench.scheme->sent(&bench.flow, bench.now, &data, MTU + 60);
    assert_int_equal(bench.flow.rate_bps, LINE); /* nothing limits its rate */
    lose(OCHE_CC_LOSS_NAK);
    full_round(OCHE_MS); /* everything sent is acknowledged, so the window grows again */
    const double repaired = window();
    for (unsigned i = 0; i < 3; i++)
        full_round(OCHE_MS);
    assert_true(window() > repaired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_start),       cmocka_unit_test(test_losses),
        cmocka_unit_test(test_cubic_function),   cmocka_unit_test(test_reno_friendly),
        cmocka_unit_test(test_fast_convergence), cmocka_unit_test(test_hystart),
        cmocka_unit_test(test_unused),           cmocka_unit_test(test_unused_time),
        cmocka_unit_test(test_after_timeout),    cmocka_unit_test(test_idle),
        cmocka_unit_test(test_pacing),           cmocka_unit_test(test_read_data),
        cmocka_unit_test(test_own_values),       cmocka_unit_test(test_few_samples),
        cmocka_unit_test(test_least_growth),     cmocka_unit_test(test_undo),
        cmocka_unit_test(test_no_undo),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
