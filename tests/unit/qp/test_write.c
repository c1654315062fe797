/* SPDX-License-Identifier: Apache-2.0 */
/* RC WRITE from end to end: bytes, ACKs, losses, timeouts, PSN wrap, completions. */
#include "tests/support/test.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "tests/support/pair.h"

static void same_memory(const struct pair *pair, uint32_t from, uint32_t to, uint32_t length)
{
    assert_memory_equal(pair->side[0].memory + from, pair->side[1].memory + to, length);
}

static void test_one_message(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 100, 50000, 10000);

    (void)state;
    pair_fill(pair, 0, 100, 10000, 1);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    same_memory(pair, 100, 50000, 10000);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_WRITE);
    assert_int_equal(done.qpn, PAIR_QPN);
    pair_expect_none(pair, 0);
    pair_expect_none(pair, 1);
    assert_int_equal(pair->side[1].delivered_bytes, 10000);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);
    assert_int_equal(stats->data_packets_sent, 10);
    assert_int_equal(stats->data_bytes_sent, 10000);
    assert_int_equal(stats->retransmitted_packets, 0);
    assert_true(oche_qp_idle(pair->side[0].qp[0]));
    assert_true(oche_qp_idle(pair->side[1].qp[0]));
    pair_close(pair);
}

/* Ten packets of 1024 (the last 784) at 100 Gbit/s, 1 µs: the time of the last ACK is known. */
static void test_line_rate(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10000);
    oche_time start = pair->now;

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    /* Line bytes: 62 + payload + gap 20; the first has a RETH of 16. ACK: 66 + 20. */
    uint64_t bytes = 9 * (62 + 1024 + 20) + 16 + (62 + 784 + 20);
    oche_time on_line = oche_time_of_bytes(1106 + 16, 100 * OCHE_GBPS) +
                        8 * oche_time_of_bytes(1106, 100 * OCHE_GBPS) +
                        oche_time_of_bytes(866, 100 * OCHE_GBPS);
    assert_int_equal(bytes, 9 * 1106 + 16 + 866);
    oche_time want = start + on_line + OCHE_US + oche_time_of_bytes(86, 100 * OCHE_GBPS) + OCHE_US;
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.time, want);
    pair_close(pair);
}

static enum pair_fate drop_psns(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *left = pair->context; /* PSNs to drop once, ended by UINT32_MAX */

    if (from != 0)
        return PAIR_PASS;
    for (; *left != UINT32_MAX; left++) {
        if (*left != packet->psn)
            continue;
        *left = UINT32_MAX - 1;
        return PAIR_DROP;
    }
    return PAIR_PASS;
}

static void test_loss_goes_back(void **state)
{
    uint32_t lost[] = {3, 7, UINT32_MAX};
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20 * 1024);

    (void)state;
    pair->fate = drop_psns;
    pair->context = lost;
    pair_fill(pair, 0, 0, 20 * 1024, 2);
    pair_post(pair, 0, &work);
    oche_time end = pair_run_quiet(pair);
    same_memory(pair, 0, 0, 20 * 1024);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);
    const struct oche_nic_stats *peer = oche_nic_stats(pair->side[1].nic);
    assert_int_equal(stats->naks_received, 1);
    assert_int_equal(peer->naks_sent, 1);
    assert_int_equal(stats->timeouts, 0);
    assert_true(stats->retransmitted_packets > 0);
    assert_int_equal(peer->delivered_bytes, 20 * 1024);
    assert_true(end < 500 * OCHE_US + OCHE_MS); /* the idle ACK timer is the last event */
    pair_close(pair);
}

static void test_last_packet_lost_times_out(void **state)
{
    uint32_t lost[] = {4, UINT32_MAX};
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 5 * 1024);

    (void)state;
    pair->fate = drop_psns;
    pair->context = lost;
    pair_fill(pair, 0, 0, 5 * 1024, 3);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    same_memory(pair, 0, 0, 5 * 1024);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);
    assert_int_equal(stats->timeouts, 1);
    assert_int_equal(oche_qp_timeouts(pair->side[0].qp[0]), 1);
    assert_int_equal(stats->retransmitted_packets, 1);
    /* Counted from the last progress: the ACK of PSN 3. */
    oche_time progress = OCHE_US + oche_time_of_bytes(1106 + 16, 100 * OCHE_GBPS) +
                         3 * oche_time_of_bytes(1106, 100 * OCHE_GBPS) + OCHE_US +
                         oche_time_of_bytes(86, 100 * OCHE_GBPS) + OCHE_US;
    oche_time repaired = progress + 500 * OCHE_US + oche_time_of_bytes(1106, 100 * OCHE_GBPS) +
                         OCHE_US + oche_time_of_bytes(86, 100 * OCHE_GBPS) + OCHE_US;
    assert_int_equal(done.time, repaired);
    pair_close(pair);
}

static enum pair_fate drop_to_1(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)packet;
    (void)pair;
    return from == 0 ? PAIR_DROP : PAIR_PASS;
}

static void test_retry_exceeded(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 5 * 1024);

    (void)state;
    pair->fate = drop_to_1;
    pair_post(pair, 0, &work);
    work.wr_id = 2;
    work.flags = 0;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
    pair_expect(pair, 0, 2, OCHE_STATUS_FLUSHED);
    pair_expect_none(pair, 0);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_ERR);
    assert_int_equal(oche_qp_timeouts(pair->side[0].qp[0]), 8);
    assert_int_equal(pair->side[0].errors, 1);
    assert_int_equal(pair->side[0].error, OCHE_STATUS_RETRY_EXCEEDED);
    pair_close(pair);
}

static void test_psn_wraps(void **state)
{
    struct pair_options options = {.first_psn = OCHE_PSN_MASK - 7, .drop = 50, .seed = 4};
    struct pair *pair = pair_open(&options);

    (void)state;
    pair_fill(pair, 0, 0, 60000, 4);
    for (uint32_t i = 0; i < 10; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, i * 6000, i * 6000, 6000);
        pair_post(pair, 0, &work);
    }
    pair_run_quiet(pair);
    same_memory(pair, 0, 0, 60000);
    for (uint32_t i = 0; i < 10; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair->side[1].delivered_bytes, 60000);
    pair_close(pair);
}

static void test_zero_length(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 0);

    (void)state;
    work.sge_count = 0;
    work.rkey = 0; /* no byte is accessed, so no key is checked */
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->data_packets_sent, 1);
    pair_close(pair);
}

static void test_unsignaled(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, 100);

    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        work.wr_id = i;
        work.flags = i % 4 == 3 ? OCHE_WORK_SIGNALED : 0;
        pair_post(pair, 0, &work);
        pair_run_quiet(pair); /* each frees its ring entry, signalled or not */
    }
    for (uint64_t i = 3; i < 40; i += 4)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    pair_expect_none(pair, 0);
    pair_close(pair);
}

static void test_queue_full(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, 100);

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(oche_qp_send_room(pair->side[0].qp[0]), 16 - i);
        pair_post(pair, 0, &work);
    }
    assert_int_equal(oche_qp_send_room(pair->side[0].qp[0]), 0);
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 12 /* ENOMEM */);
    pair_run_quiet(pair);
    assert_int_equal(oche_qp_send_room(pair->side[0].qp[0]), 16);
    pair_post(pair, 0, &work);
    pair_close(pair);
}

static void test_unknown_qp_hook(void **state)
{
    struct pair_options options = {.unknown_qp = true};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 5000);

    (void)state;
    pair_fill(pair, 0, 0, 5000, 5);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    same_memory(pair, 0, 0, 5000);
    pair_expect(pair, 0, 9, OCHE_STATUS_SUCCESS);
    assert_non_null(pair->side[1].qp[0]);
    pair_close(pair);
}

static void count_ack_requests(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *counts = pair->context; /* by side: data with AckReq, ACKs */

    counts[0] += from == 0 && (packet->bth & OCHE_BTH_ACKREQ);
    counts[1] += from == 1 && packet->opcode == OCHE_RC_ACK;
}

static void test_ack_every(void **state)
{
    struct pair_options options = {.ack_every = 4};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 10 * 1024);
    uint32_t counts[2] = {0};

    (void)state;
    pair->tap = count_ack_requests;
    pair->context = counts;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 9, OCHE_STATUS_SUCCESS);
    assert_int_equal(counts[0], 3); /* the 4th, the 8th, the last */
    assert_int_equal(counts[1], 3);
    pair_close(pair);
}

static void test_window_asks_for_ack(void **state)
{
    struct pair_options options = {.ack_every = 1000, .window_packets = 4};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 10 * 1024);
    uint32_t counts[2] = {0};

    (void)state;
    pair->tap = count_ack_requests;
    pair->context = counts;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 9, OCHE_STATUS_SUCCESS);
    assert_int_equal(counts[0], 3); /* every fourth fills the window; the last */
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
    pair_close(pair);
}

/* After a timeout the first packet asks for an ACK, to learn what arrived. */
static enum pair_fate drop_all_but_first(struct pair *pair, int from,
                                         const struct oche_packet *packet)
{
    uint32_t *counts = pair->context;

    return from == 0 && packet->psn != 0 && counts[1] == 0 ? PAIR_DROP : PAIR_PASS;
}

static void test_timeout_asks_for_ack(void **state)
{
    struct pair_options options = {.ack_every = 1000};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 10 * 1024);
    uint32_t counts[2] = {0};

    (void)state;
    pair->tap = count_ack_requests;
    pair->fate = drop_all_but_first;
    pair->context = counts;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 9, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 2); /* PSN 0 is through */
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 10 + 9);
    pair_close(pair);
}

/* While the receiver's port is blocked, ACKs are merged into one. */
static void test_acks_coalesce(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 100 * 1024);

    (void)state;
    pair->side[1].classes = 0;
    pair_post(pair, 0, &work);
    pair_run(pair, 50 * OCHE_US);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 9, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->acks_sent, 1);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_message),
        cmocka_unit_test(test_line_rate),
        cmocka_unit_test(test_loss_goes_back),
        cmocka_unit_test(test_last_packet_lost_times_out),
        cmocka_unit_test(test_retry_exceeded),
        cmocka_unit_test(test_psn_wraps),
        cmocka_unit_test(test_zero_length),
        cmocka_unit_test(test_unsignaled),
        cmocka_unit_test(test_queue_full),
        cmocka_unit_test(test_unknown_qp_hook),
        cmocka_unit_test(test_ack_every),
        cmocka_unit_test(test_window_asks_for_ack),
        cmocka_unit_test(test_timeout_asks_for_ack),
        cmocka_unit_test(test_acks_coalesce),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
