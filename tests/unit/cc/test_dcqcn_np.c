/* SPDX-License-Identifier: Apache-2.0 */
/* DCQCN's notification point: when the receiver half asks for CNPs, in each variant. */
#include "tests/support/test.h"

#include "core/wire/opcode.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE_BPS (40 * OCHE_GBPS)
#define US       OCHE_US

static struct bench bench;

static void begin(const char *np)
{
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "np", np);
    bench_start(&bench, false);
}

static void expect_cnps(const oche_time *expected, unsigned count)
{
    assert_int_equal(bench.cnp_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_true(bench.cnps[i] == expected[i]);
}

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const oche_time expected[] = {__VA_ARGS__};                                                \
        expect_cnps(expected, OCHE_COUNT_OF(expected));                                            \
    } while (0)

static void unmarked_packets_cause_no_cnp(void **state)
{
    const char *const variants[] = {"window", "poll", "arrival", "ack"};

    (void)state;
    for (unsigned v = 0; v < 4; v++) {
        begin(variants[v]);
        for (unsigned i = 0; i < 500; i++)
            bench_data(&bench, i * US, false);
        bench_run(&bench, OCHE_MS);
        assert_int_equal(bench.cnp_count, 0);
        assert_int_equal(bench.timer_calls, 0);
    }
}

/* Fig 6: at once when idle, then at each window's end if the window had a mark, then idle again. */
static void window_reports_at_once_then_at_window_ends(void **state)
{
    (void)state;
    begin("window");
    bench_data(&bench, 3 * US, true);
    EXPECT(3 * US);
    bench_data(&bench, 10 * US, true);
    bench_data(&bench, 11 * US, true);
    bench_data(&bench, 12 * US, false);
    bench_run(&bench, 53 * US - 1);
    EXPECT(3 * US);
    bench_run(&bench, 400 * US); /* the window 53 … 103 had no mark: idle */
    EXPECT(3 * US, 53 * US);
    bench_data(&bench, 401 * US, true);
    EXPECT(3 * US, 53 * US, 401 * US);
    bench_data(&bench, 451 * US, true); /* N after it: no longer within the window */
    EXPECT(3 * US, 53 * US, 401 * US, 451 * US);
    assert_int_equal(bench.timer_calls, 1);
}

static void steady_marks_give_one_cnp_an_interval(void **state)
{
    (void)state;
    begin("window");
    for (unsigned i = 0; i < 1000; i++)
        bench_data(&bench, i * US, true);
    assert_int_equal(bench.cnp_count, 20);
    for (unsigned i = 0; i < 20; i++)
        assert_true(bench.cnps[i] == i * 50 * US);
}

/* ns3-rdma: only at the first packet and every N after it. */
static void poll_reports_at_fixed_times(void **state)
{
    (void)state;
    begin("poll");
    bench_data(&bench, 7 * US, false);
    bench_data(&bench, 8 * US, true);
    bench_data(&bench, 9 * US, true);
    EXPECT();
    bench_run(&bench, 300 * US);
    EXPECT(57 * US);
    bench_data(&bench, 306 * US, true);
    bench_run(&bench, 500 * US);
    EXPECT(57 * US, 307 * US);

    begin("poll"); /* the first packet is itself polled */
    bench_data(&bench, 7 * US, true);
    bench_data(&bench, 7 * US, true); /* … once */
    bench_run(&bench, 56 * US);
    EXPECT(7 * US);
    bench_run(&bench, 500 * US);
    EXPECT(7 * US, 57 * US);
}

/* A NIC's minimum time between CNPs: a mark within that time gets no CNP of its own. */
static void arrival_reports_only_with_a_marked_packet(void **state)
{
    (void)state;
    begin("arrival");
    bench_set(&bench, "cnp_interval", 4 * US);
    bench_data(&bench, 1 * US, true);
    bench_data(&bench, 2 * US, true);
    bench_run(&bench, 100 * US);
    EXPECT(1 * US);
    bench_data(&bench, 101 * US, true);
    bench_data(&bench, 104 * US, true);
    bench_data(&bench, 105 * US, true);
    EXPECT(1 * US, 101 * US, 105 * US);
    assert_int_equal(bench.timer_calls, 0);
}

static void modes_choose_their_np(void **state)
{
    const char *const modes[] = {"paper", "ns3", "nic"};
    /* Packets at 0 (unmarked), 5, 10 and 70 us. */
    const oche_time expected[3][3] = {{5 * US, 55 * US, 105 * US}, /* window */
                                      {50 * US, 100 * US},         /* poll, origin 0 */
                                      {5 * US, 70 * US}};          /* arrival */
    const unsigned counts[3] = {3, 2, 2};

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        bench_init(&bench, "dcqcn", LINE_BPS);
        bench_choose(&bench, "mode", modes[m]);
        bench_start(&bench, false);
        bench_data(&bench, 0, false);
        bench_data(&bench, 5 * US, true);
        bench_data(&bench, 10 * US, true);
        bench_data(&bench, 70 * US, true);
        bench_run(&bench, 400 * US);
        expect_cnps(expected[m], counts[m]);
    }
}

/*
 * Three queue pairs of one NIC that can make a CNP every 5 us. Marks at the same time are reported
 * at 0, 5 and 10 us, in their order. Each queue pair's next window starts at its own CNP.
 */
static void a_nic_makes_one_cnp_per_gap(void **state)
{
    static struct bench qps[3];
    const oche_time first[] = {0, 5 * US, 10 * US};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        bench_init(&qps[i], "dcqcn", LINE_BPS);
        bench_set(&qps[i], "min_cnp_gap", 5 * US);
        qps[i].flow.nic_state = qps[0].nic_state;
        bench_start(&qps[i], false);
    }
    for (unsigned i = 0; i < 3; i++)
        bench_data(&qps[i], 0, true);
    bench_data(&qps[1], 1 * US, true); /* waits already: no second slot */
    for (unsigned i = 0; i < 3; i++) {
        bench_run(&qps[i], 20 * US);
        assert_int_equal(qps[i].cnp_count, 1);
        assert_true(qps[i].cnps[0] == first[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        bench_data(&qps[i], 30 * US, true);
    for (unsigned i = 0; i < 3; i++) {
        bench_run(&qps[i], 200 * US);
        assert_int_equal(qps[i].cnp_count, 2);
        assert_true(qps[i].cnps[1] == first[i] + 50 * US);
    }
}

/* A slot is for one CNP: later simultaneous marks are spread again. */
static void a_slot_is_used_once(void **state)
{
    static struct bench qps[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        bench_init(&qps[i], "dcqcn", LINE_BPS);
        bench_set(&qps[i], "min_cnp_gap", 5 * US);
        qps[i].flow.nic_state = qps[0].nic_state;
        bench_start(&qps[i], false);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 2; i++)
            bench_data(&qps[i], round * 200 * US, true);
        for (unsigned i = 0; i < 2; i++) {
            bench_run(&qps[i], (round * 200 + 100) * US);
            assert_int_equal(qps[i].cnp_count, round + 1);
            assert_true(qps[i].cnps[round] == (round * 200 + i * 5) * US);
        }
    }
}

/* poll: a CNP that waited for its slot does not shift the times of polling. */
static void a_late_slot_does_not_move_polling(void **state)
{
    (void)state;
    begin("poll");
    bench_set(&bench, "min_cnp_gap", 20 * US);
    bench_data(&bench, 0, false);
    bench_data(&bench, 1 * US, true);
    bench.nic_state[0] = 60 * US; /* until then the NIC makes CNPs for other queue pairs */
    bench_run(&bench, 70 * US);
    EXPECT(60 * US);
    bench_data(&bench, 71 * US, true);
    bench_run(&bench, 300 * US);
    EXPECT(60 * US, 100 * US);
}

/* Returns the mark field of the receiver's packet of this opcode when it leaves. */
static bool tells(uint8_t opcode)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE, .opcode = opcode};

    bench.scheme->stamp_ack(&bench.flow, bench.now, &packet);
    return packet.bth & OCHE_BTH_BECN;
}

/* A marked packet of this opcode arrives. True if a CNP answers it at once. */
static bool marked(uint8_t opcode, oche_time at)
{
    struct oche_packet packet = {
        .kind = OCHE_PACKET_ROCE, .opcode = opcode, .ecn = OCHE_ECN_CE, .payload_bytes = 1000};
    struct oche_cc_reply reply = {0};

    bench.scheme->arrived(&bench.flow, at, &packet, &reply);
    return reply.send_cnp;
}

/* ack: each ACK, NAK or SACK reports the marks since the previous one. No other packet does. */
static void acks_tell_in_place_of_cnps(void **state)
{
    static const uint8_t acks[] = {OCHE_RC_ACK, OCHE_RC_SACK, OCHE_RC_ACK_SHARE};

    (void)state;
    begin("ack");
    assert_false(tells(OCHE_RC_ACK));
    for (unsigned i = 0; i < 30; i++) { /* no interval: one a packet */
        assert_false(marked(OCHE_RC_WRITE_MIDDLE, i));
        assert_false(tells(OCHE_CNP));
        assert_false(tells(OCHE_RC_ATOMIC_ACK));
        assert_false(tells(OCHE_RC_READ_RESPONSE_ONLY));
        assert_true(tells(acks[i % 3]));
        assert_false(tells(acks[i % 3]));
    }
    bench_data(&bench, 40 * US, true); /* a mark, then none: still reported */
    bench_data(&bench, 41 * US, false);
    bench_run(&bench, OCHE_MS);
    assert_true(tells(OCHE_RC_ACK));
    assert_int_equal(bench.cnp_count, 0);
    assert_int_equal(bench.timer_calls, 0);
    begin("arrival");
    assert_true(marked(OCHE_RC_WRITE_MIDDLE, 0));
    assert_false(tells(OCHE_RC_ACK));
}

/* ack: READ data and unreliable connections have no ACKs, so their marks cause CNPs. */
static void what_has_no_acks_has_cnps(void **state)
{
    static const uint8_t opcodes[] = {OCHE_RC_READ_RESPONSE_MIDDLE, OCHE_UC_WRITE_MIDDLE};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin("ack");
        assert_true(marked(opcodes[i], 1 * US));
        assert_false(marked(opcodes[i], 2 * US)); /* within cnp_interval */
        assert_true(marked(opcodes[i], 51 * US));
        assert_false(tells(OCHE_RC_ACK));
    }
}

/* The sender handles such an ACK as a CNP, but only with np=ack. */
static void an_ack_that_tells_is_a_cnp(void **state)
{
    static struct bench other;
    const struct oche_packet packet = {.kind = OCHE_PACKET_ROCE, .opcode = OCHE_RC_ACK};
    struct oche_cc_ack ack = {.packet = &packet, .acked_bytes = 1000, .rtt = OCHE_NEVER};

    (void)state;
    bench_init(&other, "dcqcn", LINE_BPS);
    bench_start(&other, true);
    begin("ack");
    bench.next_packet = 0;
    for (unsigned i = 1; i <= 5; i++) {
        const oche_time at = i * 30 * US;

        bench_run(&bench, at - 1);
        ack.ecn_echo = false;
        bench.scheme->acked(&bench.flow, at, &ack);
        ack.ecn_echo = true;
        bench.scheme->acked(&bench.flow, at, &ack);
        bench_run(&other, at - 1);
        other.scheme->acked(&other.flow, at, &ack); /* np=window: nothing */
        other.scheme->cnp(&other.flow, at, &packet);
        assert_int_equal(bench.flow.rate_bps, other.flow.rate_bps);
    }
    assert_true(bench.flow.rate_bps < LINE_BPS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmarked_packets_cause_no_cnp),
        cmocka_unit_test(window_reports_at_once_then_at_window_ends),
        cmocka_unit_test(steady_marks_give_one_cnp_an_interval),
        cmocka_unit_test(poll_reports_at_fixed_times),
        cmocka_unit_test(arrival_reports_only_with_a_marked_packet),
        cmocka_unit_test(modes_choose_their_np),
        cmocka_unit_test(a_nic_makes_one_cnp_per_gap),
        cmocka_unit_test(a_slot_is_used_once),
        cmocka_unit_test(a_late_slot_does_not_move_polling),
        cmocka_unit_test(acks_tell_in_place_of_cnps),
        cmocka_unit_test(what_has_no_acks_has_cnps),
        cmocka_unit_test(an_ack_that_tells_is_a_cnp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
