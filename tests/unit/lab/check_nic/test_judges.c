/* SPDX-License-Identifier: Apache-2.0 */
/* The judges of an adapter's packets: a right trace of each kind, and each rule broken once. */
#include <string.h>

#include "lab/check_nic/check.h"
#include "tests/support/test.h"

#define MOST 64
#define BASE UINT32_C(0xfffffe) /* PSNs pass the end of the circle */

static struct oche_seen_packet packets[MOST];
static struct oche_seen_stream streams[2];
static struct oche_nic_trace trace;
static struct oche_check_nic check;
static struct oche_nic_expected expected;

static void begin(bool responses, uint64_t count)
{
    for (uint32_t i = 0; i < 2; i++)
        streams[i] = (struct oche_seen_stream){
            .qpn = i, .sender = 0, .receiver = 1, .responses = responses, .first = BASE};
    trace = (struct oche_nic_trace){.packets = packets, .streams = streams, .stream_count = 1};
    expected =
        (struct oche_nic_expected){.packets = count, .cnps = true, .cnp_interval = 4 * OCHE_US};
}

/* Adds a packet a microsecond after the one before. */
static struct oche_seen_packet *add(enum oche_seen_kind kind, uint32_t psn, unsigned event)
{
    struct oche_seen_packet *packet = &packets[trace.count];

    *packet = (struct oche_seen_packet){.when = trace.count * OCHE_US,
                                        .number = trace.count + 1,
                                        .psn = oche_psn_add(BASE, psn),
                                        .kind = (uint8_t)kind,
                                        .event = (uint8_t)event};
    trace.count++;
    return packet;
}

static void data(uint32_t from, uint32_t to)
{
    for (; from <= to; from++)
        add(OCHE_SEEN_DATA, from, OCHE_SEEN_PASSED);
}

static void judge(enum oche_nic_judge wrong, size_t at)
{
    oche_check_nic(&trace, &expected, &check);
    for (int i = 0; i < OCHE_JUDGES; i++)
        if (check.verdicts[i].wrong != ((int)wrong == i))
            fail_msg("%s: %s", oche_nic_judge_name((enum oche_nic_judge)i), check.verdicts[i].what);
    if (wrong != OCHE_JUDGES)
        assert_int_equal(check.verdicts[wrong].at, at);
}

/* 0 1 (2 lost) 3, NACK 2, 2 3, ACK 3. */
static void gap(void)
{
    begin(false, 4);
    data(0, 1);
    add(OCHE_SEEN_DATA, 2, OCHE_SEEN_DROPPED);
    data(3, 3);
    add(OCHE_SEEN_NAK, 2, 0);
    data(2, 3);
    add(OCHE_SEEN_ACK, 3, 0);
}

static void right(void **state)
{
    (void)state;
    gap();
    judge(OCHE_JUDGES, 0);
    assert_int_equal(check.counters.packet_seq_err, 1);
    assert_int_equal(check.counters.out_of_sequence, 1);
    assert_int_equal(check.counters.local_ack_timeout_err, 0);
    assert_int_equal(oche_nic_median(&check.latencies[0][OCHE_LATENCY_GENERATION]), OCHE_US);
    assert_int_equal(oche_nic_median(&check.latencies[0][OCHE_LATENCY_REACTION]), OCHE_US);
    assert_int_equal(oche_nic_median(&check.latencies[0][OCHE_LATENCY_RESENDING]), 3 * OCHE_US);
    oche_nic_check_free(&check);
}

static void sender(void **state)
{
    (void)state;
    gap();
    packets[5].psn = oche_psn_add(BASE, 1); /* restarts elsewhere */
    packets[6].psn = oche_psn_add(BASE, 2);
    trace.count = 7;
    data(3, 3);
    add(OCHE_SEEN_ACK, 3, 0);
    judge(OCHE_JUDGE_SENDER, 5);
    oche_nic_check_free(&check);
    gap();
    trace.count--; /* nothing is acknowledged at the end */
    judge(OCHE_JUDGE_SENDER, SIZE_MAX);
    oche_nic_check_free(&check);
    gap();
    expected.packets = 5;
    judge(OCHE_JUDGE_SENDER, SIZE_MAX);
    oche_nic_check_free(&check);
}

static void receiver(void **state)
{
    (void)state;
    begin(false, 4);
    data(0, 1);
    add(OCHE_SEEN_DATA, 2, OCHE_SEEN_DAMAGED);
    data(3, 3);
    data(2, 3); /* a timeout; no NACK, which is counted and not wrong */
    add(OCHE_SEEN_ACK, 3, 0);
    judge(OCHE_JUDGES, 0);
    assert_int_equal(check.counters.local_ack_timeout_err, 1);
    assert_int_equal(check.gaps_without_nak, 1);
    oche_nic_check_free(&check);
    begin(false, 2);
    data(0, 1);
    add(OCHE_SEEN_NAK, 1, 0); /* nothing is missing */
    data(1, 1);
    add(OCHE_SEEN_ACK, 1, 0);
    judge(OCHE_JUDGE_RECEIVER, 2);
    oche_nic_check_free(&check);
}

/* One packet more, or another PSN: both ends break a rule, or one of them. */
static void broken(void **state)
{
    (void)state;
    begin(false, 4);
    data(0, 1);
    data(3, 3); /* 2 was never sent */
    add(OCHE_SEEN_NAK, 2, 0);
    data(2, 3);
    add(OCHE_SEEN_ACK, 3, 0);
    judge(OCHE_JUDGE_SENDER, 2);
    oche_nic_check_free(&check);
    for (int wrong = 0; wrong < 4; wrong++) {
        gap();
        trace.count = 5;
        if (wrong == 0)
            packets[4].psn = oche_psn_add(BASE, 1); /* the NACK's PSN arrived */
        if (wrong == 1)
            add(OCHE_SEEN_NAK, 2, 0); /* twice */
        data(wrong == 0 ? 1 : 2, 3);
        add(OCHE_SEEN_ACK, 3, 0);
        if (wrong == 2)
            add(OCHE_SEEN_ACK, 2, 0); /* falls */
        if (wrong == 3)
            packets[trace.count - 1].psn = oche_psn_add(BASE, 5); /* was not sent */
        oche_check_nic(&trace, &expected, &check);
        assert_true(check.verdicts[OCHE_JUDGE_RECEIVER].wrong);
        assert_int_equal(check.verdicts[OCHE_JUDGE_SENDER].wrong, wrong != 0);
        oche_nic_check_free(&check);
    }
}

static void request(uint32_t psn, uint32_t span)
{
    add(OCHE_SEEN_READ_REQUEST, psn, 0)->span = span;
}

static void reads(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        begin(true, 4);
        request(0, wrong == 1 ? 3 : 4);
        data(0, 1);
        add(OCHE_SEEN_DATA, 2, OCHE_SEEN_DROPPED);
        data(3, 3);
        request(2, wrong == 2 ? 1 : 2);
        data(wrong == 3 ? 1 : 2, 3);
        oche_check_nic(&trace, &expected, &check);
        assert_int_equal(check.verdicts[OCHE_JUDGE_RESPONDER].wrong, wrong == 1 || wrong == 3);
        assert_int_equal(check.verdicts[OCHE_JUDGE_REQUESTER].wrong, wrong > 0);
        assert_int_equal(check.counters.implied_nak_seq_err, wrong == 0 || wrong == 3);
        oche_nic_check_free(&check);
    }
}

static void cnps(void **state)
{
    (void)state;
    for (uint32_t sent = 0; sent < 4; sent++) {
        begin(false, 2);
        trace.stream_count = 2;
        for (uint32_t i = 0; i < 2; i++) {
            add(OCHE_SEEN_DATA, 0, OCHE_SEEN_MARKED)->stream = i;
            add(OCHE_SEEN_DATA, 1, OCHE_SEEN_MARKED)->stream = i;
        }
        for (uint32_t i = 0; i < 2; i++)
            add(OCHE_SEEN_ACK, 1, 0)->stream = i;
        for (uint32_t i = 0; i < sent; i++)
            add(OCHE_SEEN_CNP, 0, 0)->stream = i % 2;
        oche_check_nic(&trace, &expected, &check);
        assert_int_equal(check.cnps.fits[0][0], sent == 2); /* queue pair */
        assert_int_equal(check.cnps.fits[0][2], sent == 1); /* port */
        assert_int_equal(check.verdicts[OCHE_JUDGE_CNPS].wrong, sent == 0 || sent == 3);
        oche_nic_check_free(&check);
    }
}

/* A timeout repeats a packet while the NACK for it is on its way. */
static void late_nak(void **state)
{
    (void)state;
    begin(false, 4);
    data(0, 1);
    add(OCHE_SEEN_DATA, 2, OCHE_SEEN_DROPPED);
    data(3, 3);
    data(2, 3);
    add(OCHE_SEEN_NAK, 2, 0);
    add(OCHE_SEEN_ACK, 3, 0);
    judge(OCHE_JUDGES, 0);
    assert_int_equal(check.gaps_without_nak, 0);
    assert_int_equal(check.latencies[0][OCHE_LATENCY_GENERATION].count, 1);
    oche_nic_check_free(&check);
}

/* The sender repeats all, and leaves out what was acknowledged meanwhile; but no more than that. */
static void acknowledged_meanwhile(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        begin(false, 6);
        data(0, 4);
        add(OCHE_SEEN_DATA, 5, OCHE_SEEN_DROPPED);
        data(0, 2); /* a timeout */
        add(OCHE_SEEN_ACK, wrong ? 3 : 4, 0);
        data(5, 5);
        add(OCHE_SEEN_ACK, 5, 0);
        judge(wrong ? OCHE_JUDGE_SENDER : OCHE_JUDGES, 10);
        assert_int_equal(check.counters.local_ack_timeout_err, 1);
        oche_nic_check_free(&check);
    }
}

/* A repeat after an RNR NAK is no timeout. */
static void not_ready(void **state)
{
    (void)state;
    begin(false, 2);
    data(0, 1);
    add(OCHE_SEEN_RNR, 0, 0);
    data(0, 1);
    add(OCHE_SEEN_ACK, 1, 0);
    judge(OCHE_JUDGES, 0);
    assert_int_equal(check.counters.local_ack_timeout_err, 0);
    oche_nic_check_free(&check);
}

/* A CNP comes after its reason, and not too soon after another one if times are a switch's. */
static void cnps_in_time(void **state)
{
    (void)state;
    begin(false, 2);
    add(OCHE_SEEN_CNP, 0, 0);
    add(OCHE_SEEN_DATA, 0, OCHE_SEEN_MARKED);
    data(1, 1);
    add(OCHE_SEEN_ACK, 1, 0);
    judge(OCHE_JUDGE_CNPS, 0);
    oche_nic_check_free(&check);
    for (int exact = 0; exact < 2; exact++) {
        begin(false, 8);
        expected.exact_times = exact != 0;
        add(OCHE_SEEN_DATA, 0, OCHE_SEEN_MARKED);
        data(1, 5);
        add(OCHE_SEEN_DATA, 6, OCHE_SEEN_MARKED);
        data(7, 7);
        add(OCHE_SEEN_CNP, 0, 0);
        add(OCHE_SEEN_CNP, 0, 0); /* a microsecond later; four are between them by the interval */
        add(OCHE_SEEN_ACK, 7, 0);
        judge(exact ? OCHE_JUDGE_CNPS : OCHE_JUDGES, SIZE_MAX);
        oche_nic_check_free(&check);
    }
}

/* A mark and a NACK of one packet have one CNP, or two. */
static void cnps_merged(void **state)
{
    (void)state;
    for (int sent = 0; sent < 4; sent++) {
        begin(false, 4);
        expected.nak_brings_cnp = OCHE_ANSWER_YES;
        expected.cnp_interval = 0;
        data(0, 1);
        add(OCHE_SEEN_DATA, 2, OCHE_SEEN_DROPPED);
        add(OCHE_SEEN_DATA, 3, OCHE_SEEN_MARKED);
        add(OCHE_SEEN_NAK, 2, 0);
        for (int i = 0; i < sent; i++)
            add(OCHE_SEEN_CNP, 0, 0);
        data(2, 3);
        add(OCHE_SEEN_ACK, 3, 0);
        oche_check_nic(&trace, &expected, &check);
        assert_int_equal(check.verdicts[OCHE_JUDGE_CNPS].wrong, sent == 0 || sent == 3);
        oche_nic_check_free(&check);
    }
}

/* An adapter that marks data itself may send more; then there is no verdict. */
static void cnps_of_its_own(void **state)
{
    (void)state;
    begin(false, 2);
    expected.marks_itself = true;
    data(0, 1);
    add(OCHE_SEEN_CNP, 0, 0);
    add(OCHE_SEEN_ACK, 1, 0);
    judge(OCHE_JUDGES, 0);
    assert_false(check.verdicts[OCHE_JUDGE_CNPS].judged);
    assert_int_equal(check.own_cnps, 1);
    oche_nic_check_free(&check);
}

/* The delay is measured only where the interval keeps no CNP back. */
static void cnp_delays(void **state)
{
    (void)state;
    begin(false, 20);
    add(OCHE_SEEN_DATA, 0, OCHE_SEEN_MARKED);
    add(OCHE_SEEN_CNP, 0, 0);
    add(OCHE_SEEN_DATA, 1, OCHE_SEEN_MARKED); /* within the interval */
    data(2, 12);
    add(OCHE_SEEN_DATA, 13, OCHE_SEEN_MARKED);
    add(OCHE_SEEN_CNP, 0, 0);
    data(14, 19);
    add(OCHE_SEEN_ACK, 19, 0);
    judge(OCHE_JUDGES, 0);
    assert_int_equal(check.cnps.delays.count, 2);
    assert_int_equal(check.cnps.delays.list[0], OCHE_US);
    assert_int_equal(check.cnps.delays.list[1], OCHE_US);
    oche_nic_check_free(&check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right),       cmocka_unit_test(sender),
        cmocka_unit_test(receiver),    cmocka_unit_test(broken),
        cmocka_unit_test(reads),       cmocka_unit_test(cnps),
        cmocka_unit_test(late_nak),    cmocka_unit_test(acknowledged_meanwhile),
        cmocka_unit_test(not_ready),   cmocka_unit_test(cnps_in_time),
        cmocka_unit_test(cnps_merged), cmocka_unit_test(cnps_of_its_own),
        cmocka_unit_test(cnp_delays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
