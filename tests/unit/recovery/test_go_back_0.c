/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-0: packets and answers, one by one. A restarted message is delivered, counted and
 * completed once. The livelock, and how retries end it. Peers of another scheme.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/recovery/go_back_0.h"
#include "core/recovery/go_back_n.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/unit/recovery/script.h"

static const struct oche_go_back_0_params params = {.nak_interval = 50 * OCHE_US,
                                                    .nak_exception = true};
static const struct oche_go_back_n_params plain_params = {.nak_interval = 50 * OCHE_US,
                                                          .nak_exception = true};

static struct pair_options with_go_back_0(void)
{
    return (struct pair_options){.recovery = &oche_recovery_go_back_0,
                                 .own_recovery_params = &params};
}

/* `messages` of `packets` each were sent, and the result is as if nothing had been lost. */
static void assert_delivered(struct script *script, uint32_t messages, uint32_t packets)
{
    const struct pair_side *to = &script->pair->side[1];

    for (uint64_t i = 1; i <= messages; i++)
        pair_expect(script->pair, 0, i, OCHE_STATUS_SUCCESS);
    pair_expect_none(script->pair, 0);
    assert_int_equal(to->delivered_messages, messages);
    assert_int_equal(to->delivered_bytes, messages * packets * PAIR_MTU);
    assert_int_equal(oche_nic_stats(to->nic)->delivered_bytes, to->delivered_bytes);
    assert_int_equal(oche_nic_stats(to->nic)->delivered_messages, messages);
    assert_memory_equal(script->pair->side[0].memory, to->memory, packets * PAIR_MTU);
    assert_true(oche_qp_idle(script->pair->side[0].qp[0]));
    script_close(script);
}

/* Each loss, and its exchange of packets. The first packet of a new pass asks for an ACK. */
static void test_exchanges(void **state)
{
    static const struct {
        const char *lose, *sent, *answered;
        unsigned timeouts;
    } cases[] = {
        {"", "0 1 2 3 4 5", "a5", 0},
        {"3", "0 1 2 3! 4 5 0 1 2 3 4 5", "n0 a0 a5", 0},
        {"0", "0! 1 2 3 4 5 0 1 2 3 4 5", "n0 a0 a5", 0},
        /* The receiver has restarted already. */
        {"3 n0", "0 1 2 3! 4 5 0 1 2 3 4 5", "n0! a0 a5", 1},
        /* The receiver has not: it sees duplicates until the packet that it expects. */
        {"5", "0 1 2 3 4 5! 0 1 2 3 4 5", "a4 a5", 1},
        {"a5", "0 1 2 3 4 5 0 1 2 3 4 5", "a5! a5 a5", 1},
        /* A loss in the second pass causes another NAK, though for the same PSN … */
        {"3 4.2", "0 1 2 3! 4 5 0 1 2 3 4! 5 0 1 2 3 4 5", "n0 a0 n0 a0 a5", 0},
        /* … unless no packet of that pass arrived: that is a repetition, and has to wait. */
        {"3 0.2", "0 1 2 3! 4 5 0! 1 2 3 4 5 0 1 2 3 4 5", "n0 a0 a5", 1},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        const struct pair_options options = with_go_back_0();
        struct script script;

        script_open(&script, &options, cases[i].lose);
        script_post(&script, OCHE_WORK_SEND_IMM, 1, 6);
        script_expect(&script, cases[i].sent, cases[i].answered);
        assert_int_equal(script_timeouts(&script), cases[i].timeouts);
        pair_expect(script.pair, 1, 1, OCHE_STATUS_SUCCESS);
        pair_expect_none(script.pair, 1);
        assert_delivered(&script, 1, 6);
    }
}

/* Messages before the one with the gap stay delivered. */
static void test_pipelined(void **state)
{
    const struct pair_options options = with_go_back_0();
    struct script script;

    (void)state;
    script_open(&script, &options, "3");
    script_post(&script, OCHE_WORK_WRITE, 1, 2);
    script_post(&script, OCHE_WORK_SEND, 2, 2);
    script_post(&script, OCHE_WORK_WRITE, 3, 2);
    script_expect(&script, "0 1 2 3! 4 5 2 3 4 5", "a1 n2 a2 a3 a5");
    assert_delivered(&script, 3, 2);
}

/* After a timeout, too, all of the message leaves again, despite the duplicates' ACKs. */
static void test_all_of_it_again(void **state)
{
    struct pair_options options = with_go_back_0();
    struct script script;

    (void)state;
    options.ack_every = 4;
    script_open(&script, &options, "39");
    script_post(&script, OCHE_WORK_WRITE, 1, 40); /* longer than a round trip */
    pair_run_quiet(script.pair);
    assert_int_equal(oche_qp_retransmitted_packets(script.pair->side[0].qp[0]), 40);
    assert_int_equal(script_timeouts(&script), 1);
    assert_delivered(&script, 1, 40);
}

static enum pair_fate no_answers(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)packet;
    return from == 1 ? PAIR_DROP : PAIR_PASS;
}

/*
 * The second pass has just begun when a late ACK of the first one comes. It completes the message
 * that is being repeated. It lies within the next one, of which nothing counts yet.
 */
static void test_ack_of_an_earlier_pass(void **state)
{
    struct pair_options options = with_go_back_0();
    struct pair *pair = pair_open(&options);
    const struct oche_send_work first = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 5 * PAIR_MTU);
    const struct oche_send_work second = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 10 * PAIR_MTU);
    struct oche_packet ack = pair_packet(pair, 1, OCHE_RC_ACK, 8, 0);

    (void)state;
    ack.aeth = oche_aeth(OCHE_SYNDROME_ACK, 1);
    pair->fate = no_answers;
    pair_post(pair, 0, &first);
    pair_post(pair, 0, &second);
    while (pair->sent < 2 * 15) /* 15 packets and 15 ACKs, which are lost */
        assert_true(pair_step(pair, OCHE_SEC));
    while (oche_qp_timeouts(pair->side[0].qp[0]) == 0)
        assert_true(pair_step(pair, OCHE_SEC));
    pair->fate = NULL;
    oche_nic_receive(pair->side[0].nic, &ack, pair->now);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect_none(pair, 0);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair->side[1].delivered_messages, 2);
    assert_true(oche_qp_idle(pair->side[0].qp[0]));
    pair_close(pair);
}

/* Windows of less than a message: of PSNs, which partial ACKs must open. */
static void test_small_window(void **state)
{
    struct pair_options options = with_go_back_0();
    struct script script;

    (void)state;
    options.window_packets = 4;
    script_open(&script, &options, "9");
    script_post(&script, OCHE_WORK_WRITE, 1, 20);
    script_post(&script, OCHE_WORK_WRITE, 2, 20);
    pair_run_quiet(script.pair);
    assert_int_equal(script_timeouts(&script), 0);
    assert_delivered(&script, 2, 20);
}

/* A gap in the responses: the whole READ again. Earlier responses do not count. */
static void test_read(void **state)
{
    const struct pair_options options = with_go_back_0();
    struct script script;

    (void)state;
    script_open(&script, &options, "d1 d0.3");
    script_post(&script, OCHE_WORK_READ, 1, 3);
    script_post(&script, OCHE_WORK_READ, 2, 3);
    script_expect(&script, "r0 r3 r0 r3", "d0 d1! d2 d3 d4 d5 d0 d1 d2 d3 d4 d5");
    pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(script.pair->side[0].delivered_messages, 2);
    assert_int_equal(script.pair->side[0].delivered_bytes, 6 * PAIR_MTU);
    assert_int_equal(oche_nic_stats(script.pair->side[0].nic)->delivered_bytes, 6 * PAIR_MTU);
    assert_memory_equal(script.pair->side[0].memory, script.pair->side[1].memory, 3 * PAIR_MTU);
    script_close(&script);
}

/* An RNR NAK within a message is no loss: neither it nor later packets restart the message. */
static void test_not_ready(void **state)
{
    const struct pair_options options = with_go_back_0();
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE_IMM, 1, 0, 0, 3 * PAIR_MTU);
    struct script script;

    (void)state;
    script_open(&script, &options, "");
    pair_post(script.pair, 0, &work);
    script_post(&script, OCHE_WORK_WRITE, 2, 3);
    pair_run(script.pair, script.pair->now + 5 * OCHE_US);
    pair_post_recv(script.pair, 1, 9, 0, 0);
    script_expect(&script, "0 1 2 3 4 5 2 3 4 5", "w2 a2 a5");
    pair_expect(script.pair, 1, 9, OCHE_STATUS_SUCCESS);
    assert_delivered(&script, 2, 3);
}

/* ---- the livelock ---- */

static uint64_t data_packets;

static enum pair_fate lose_every_256th(struct pair *pair, int from,
                                       const struct oche_packet *packet)
{
    (void)pair;
    return from == 0 && packet->payload_bytes > 0 && ++data_packets % 256 == 0 ? PAIR_DROP
                                                                               : PAIR_PASS;
}

static struct pair *open_losing(const struct pair_options *options)
{
    struct pair *pair = pair_open(options);

    data_packets = 0;
    pair->fate = lose_every_256th;
    return pair;
}

static void test_livelock(void **state)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 600 * PAIR_MTU);
    struct pair_options options = with_go_back_0();

    (void)state;
    options.ack_every = 256; /* within a pass only the first packet asks */
    options.retry_count = UINT32_MAX;
    struct pair *pair = open_losing(&options);
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 20 * OCHE_MS);
    pair_expect_none(pair, 0);
    assert_true(oche_nic_stats(pair->side[1].nic)->naks_sent > 500);
    assert_true(oche_nic_stats(pair->side[1].nic)->data_packets_received > 100000);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->delivered_bytes, 0);
    assert_int_equal(pair->side[1].delivered_bytes, 0);
    assert_int_equal(oche_qp_arrived_bytes(pair->side[1].qp[0]), 0);
    assert_int_equal(oche_qp_timeouts(pair->side[0].qp[0]), 0);
    pair_close(pair);

    options.retry_count = 7;
    pair = open_losing(&options);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
    /* Before the first, nothing had been acknowledged. Then seven retries, and one too many. */
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->naks_received, 9);
    assert_int_equal(pair->side[1].delivered_bytes, 0);
    pair_close(pair);

    options.recovery = &oche_recovery_go_back_n;
    options.own_recovery_params = &plain_params;
    pair = open_losing(&options);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* The same of a READ, whose responses are lost. */
static enum pair_fate lose_third_response(struct pair *pair, int from,
                                          const struct oche_packet *packet)
{
    (void)pair;
    return from == 1 && packet->psn == 2 && packet->payload_bytes > 0 ? PAIR_DROP : PAIR_PASS;
}

static void test_read_livelock(void **state)
{
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 6 * PAIR_MTU);
    struct pair_options options = with_go_back_0();

    (void)state;
    options.retry_count = 3;
    struct pair *pair = pair_open(&options);
    pair->fate = lose_third_response;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
    assert_int_equal(pair->side[0].delivered_bytes, 0);
    assert_int_equal(oche_qp_timeouts(pair->side[0].qp[0]), 0);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 3);
    pair_close(pair);
}

/* Messages that fit between two losses all pass, because each completion restores the retries. */
static void test_short_messages(void **state)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 100 * PAIR_MTU);
    struct pair_options options = with_go_back_0();

    (void)state;
    options.retry_count = 1;
    options.send_depth = 32;
    struct pair *pair = open_losing(&options);
    for (work.wr_id = 1; work.wr_id <= 32; work.wr_id++)
        pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_true(oche_nic_stats(pair->side[0].nic)->naks_received > 10);
    for (uint64_t i = 1; i <= 32; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair->side[1].delivered_bytes, 32 * 100 * PAIR_MTU);
    pair_close(pair);
}

/* ---- a peer of another scheme: both go back n ---- */

static void test_receiver_goes_back_n(void **state)
{
    struct pair_options options = with_go_back_0();
    struct script script;

    (void)state;
    options.peer_recovery = &oche_recovery_go_back_n;
    options.peer_recovery_params = &plain_params;
    script_open(&script, &options, "3 4.2");
    script_post(&script, OCHE_WORK_WRITE, 1, 6);
    script_expect(&script, "0 1 2 3! 4 5 3 4! 5 4 5", "n3 n4 a5");
    assert_delivered(&script, 1, 6);
}

static void test_sender_goes_back_n(void **state)
{
    struct pair_options options = {.recovery = &oche_recovery_go_back_n,
                                   .own_recovery_params = &plain_params,
                                   .peer_recovery = &oche_recovery_go_back_0,
                                   .peer_recovery_params = &params};
    struct script script;

    (void)state;
    script_open(&script, &options, "3");
    script_post(&script, OCHE_WORK_WRITE, 1, 6);
    script_expect(&script, "0 1 2 3! 4 5 3 4 5", "n3 a5");
    assert_delivered(&script, 1, 6);

    options.ack_every = 1;
    script_open(&script, &options, "3");
    script_post(&script, OCHE_WORK_WRITE, 1, 6);
    script_expect(&script, "0 1 2 3! 4 5 3 4 5", "a0 a1 a2 n3 a3 a4 a5");
    assert_int_equal(script_timeouts(&script), 0);
    assert_delivered(&script, 1, 6);
}

/* Each NAK of a peer that goes back n is progress: none of them costs a retry. */
static void test_no_retries_spent(void **state)
{
    struct pair_options options = with_go_back_0();
    struct script script;

    (void)state;
    options.ack_every = 1;
    options.retry_count = 1;
    options.peer_recovery = &oche_recovery_go_back_n;
    options.peer_recovery_params = &plain_params;
    script_open(&script, &options, "2 4 6 8 10 12 14");
    script_post(&script, OCHE_WORK_WRITE, 1, 20);
    pair_run_quiet(script.pair);
    assert_int_equal(script_timeouts(&script), 0);
    assert_delivered(&script, 1, 20);
}

/* A stranger's bit does not reset what was acknowledged. The peer's own first packet does. */
static void test_strangers_bit(void **state)
{
    struct pair_options options = {.recovery = &oche_recovery_go_back_n,
                                   .own_recovery_params = &plain_params,
                                   .peer_recovery = &oche_recovery_go_back_0,
                                   .peer_recovery_params = &params,
                                   .ack_every = 1};
    struct script script;

    (void)state;
    script_open(&script, &options, "3");
    struct oche_packet cnp = pair_packet(script.pair, 0, OCHE_CNP, 0, 0);
    struct oche_packet write = pair_packet(script.pair, 0, OCHE_RC_WRITE_MIDDLE, 9, PAIR_MTU);
    cnp.bth_reserved = write.bth_reserved = OCHE_BTH_RESTARTS;
    pair_inject(script.pair, 0, &cnp);
    pair_inject(script.pair, 0, &write);
    script_post(&script, OCHE_WORK_WRITE, 1, 6);
    pair_run_quiet(script.pair);
    assert_string_equal(script.sent[0], "0 1 2 3! 4 5 3 4 5");
    assert_delivered(&script, 1, 6);
}

/* ---- the receiver by itself ---- */

static void test_interval(void **state)
{
    struct oche_go_back_0_params own = {.nak_interval = 500, .nak_exception = false};
    struct oche_packet packet = {.psn = 15};
    uint64_t memory[4] = {0};
    struct oche_recovery_rx rx = {
        .epsn = 12, .message_start = 10, .timer = OCHE_NEVER, .params = &own, .state = memory};
    static const struct {
        oche_time now;
        bool naks;
    } gaps[] = {{1000, true}, {1001, false}, {1499, false}, {1500, true}, {1501, false}};

    (void)state;
    assert_true(oche_recovery_go_back_0.rx_state_bytes <= sizeof(memory));
    oche_recovery_go_back_0.peer_restarts(&rx);
    for (size_t i = 0; i < OCHE_COUNT_OF(gaps); i++) {
        struct oche_recovery_reply reply = {0};
        assert_int_equal(oche_recovery_go_back_0.arrived(&rx, &packet, gaps[i].now, &reply),
                         OCHE_VERDICT_DROP);
        assert_true(reply.restart); /* a NAK or none */
        assert_int_equal(reply.send_nak, gaps[i].naks);
        assert_int_equal(reply.nak_psn, 10);
        rx.epsn = 10;
    }
    struct oche_recovery_reply reply = {0};
    packet.psn = 10;
    assert_int_equal(oche_recovery_go_back_0.arrived(&rx, &packet, 1600, &reply),
                     OCHE_VERDICT_DELIVER);
    rx.epsn = 11;
    oche_recovery_go_back_0.accepted(&rx, &packet, 1600);
    assert_int_equal(oche_recovery_go_back_0.arrived(&rx, &packet, 1601, &reply),
                     OCHE_VERDICT_DUPLICATE);
    assert_false(reply.restart || reply.send_nak);
    packet.psn = 13;
    oche_recovery_go_back_0.arrived(&rx, &packet, 1700, &reply);
    assert_false(reply.send_nak); /* without the exception it waits */
    own.nak_exception = true;
    oche_recovery_go_back_0.arrived(&rx, &packet, 1700, &reply);
    assert_true(reply.send_nak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_pipelined),
        cmocka_unit_test(test_all_of_it_again),
        cmocka_unit_test(test_ack_of_an_earlier_pass),
        cmocka_unit_test(test_small_window),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_not_ready),
        cmocka_unit_test(test_livelock),
        cmocka_unit_test(test_read_livelock),
        cmocka_unit_test(test_short_messages),
        cmocka_unit_test(test_receiver_goes_back_n),
        cmocka_unit_test(test_sender_goes_back_n),
        cmocka_unit_test(test_no_retries_spent),
        cmocka_unit_test(test_strangers_bit),
        cmocka_unit_test(test_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
