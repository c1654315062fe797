/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A retry is spent only by a timeout whose retransmission has left. NAKs that were on their way
 * before the repair arrived spend none. Nor does time in which the port or the pacer may not send.
 * A scheme with its own timer gives up only after the connection's ACK timeouts. An answer to the
 * oldest packet restores retries, even "receiver not ready"; an answer to a later one does not.
 */
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"
#include "tests/support/test.h"

static int losses;

static enum pair_fate lose_first(struct pair *pair, int from, const struct oche_packet *packet)
{
    if (from == 0 && packet->psn == pair->options.first_psn && losses > 0) {
        losses--;
        return PAIR_DROP;
    }
    return PAIR_PASS;
}

static struct pair *open_lossy(const struct pair_options *options)
{
    struct pair *pair = pair_open(options);

    pair->fate = lose_first;
    losses = 1;
    return pair;
}

static void assert_done(struct pair *pair)
{
    struct oche_completion done;

    assert_int_equal(oche_cq_poll(pair->side[0].cq, &done, 1), 1);
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* One loss, and a NAK for every packet behind it: more NAKs than retries. */
static void test_repeated_naks(void **state)
{
    struct pair_options options = {.nak_interval = 1, .ack_every = 64};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 40000);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_true(oche_nic_stats(pair->side[0].nic)->naks_received > 8);
    assert_done(pair);
}

/* The same with an interval that is below the round trip. */
static void test_naks_faster_than_the_repair(void **state)
{
    struct pair_options options = {.nak_interval = 5 * OCHE_US,
                                   .ack_every = 64,
                                   .delay = 30 * OCHE_US,
                                   .line_rate_bps = 5 * OCHE_GBPS};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 60000);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_true(oche_nic_stats(pair->side[0].nic)->naks_received > 8);
    assert_done(pair);
}

/* The only packet is lost, then the class may not send for twelve times the ACK timeout. */
static void test_paused_is_no_retry(void **state)
{
    struct pair_options options = {0};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 500);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 10 * OCHE_US);
    uint8_t classes = pair->side[0].classes;
    pair->side[0].classes = 0;
    pair_run(pair, pair->now + 6 * OCHE_MS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    pair->side[0].classes = classes;
    pair_run_quiet(pair);
    assert_done(pair);
}

/* Four packets, the first lost; then the rate falls, and the repairs leave far apart. */
static void test_paced_is_no_timeout(void **state)
{
    struct pair_options options = {.ack_every = 1};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 4 * PAIR_MTU);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + OCHE_US);
    oche_qp_set_rate_limit(pair->side[0].qp[0], 4 * OCHE_MBPS, pair->now); /* 2 ms a packet */
    pair_run_quiet(pair);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 4);
    assert_done(pair);
}

/* ---- a scheme with a timer of its own, of 100 us ---- */

static struct pair *open_selective(struct pair_options options)
{
    static struct oche_selective_repeat_params params;

    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    options.recovery = &oche_recovery_selective_repeat;
    options.own_recovery_params = &params;
    options.extensions = true;
    options.ack_timeout = 16 * OCHE_MS;
    return pair_open(&options);
}

/* A responder that paces its READ data so that each packet takes longer than eight timers. */
static void test_slow_responder(void **state)
{
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 8 * PAIR_MTU);
    struct pair *pair = open_selective((struct pair_options){0});

    (void)state;
    pair_fill(pair, 1, 0, 8 * PAIR_MTU, 1);
    oche_qp_set_rate_limit(pair->side[1].qp[0], 4 * OCHE_MBPS, pair->now); /* 2 ms a packet */
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, 8 * PAIR_MTU);
    assert_done(pair);
}

static enum pair_fate lose_all(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair, (void)from, (void)packet;
    return PAIR_DROP;
}

/* A peer that is gone: it is given up after the same time as in any scheme, with few packets. */
static void test_dead_peer(void **state)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PAIR_MTU);

    (void)state;
    for (uint32_t retries = 1; retries <= 7; retries += 3) {
        struct pair *pair = open_selective((struct pair_options){.retry_count = retries});
        const oche_time start = pair->now, least = (retries + 1) * 16 * OCHE_MS;

        pair->fate = lose_all;
        pair_post(pair, 0, &work);
        pair_run(pair, start + least - OCHE_US);
        assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_RTS);
        pair_run(pair, start + least + 16 * OCHE_MS);
        pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
        assert_in_range(pair->sent, retries + 2, 2 * retries + 3);
        pair_close(pair);
    }
}

/* ---- answers ---- */

/* Side 1 is not ready for a SEND; of side 0's packets three of four are lost. */
static enum pair_fate lose_most(struct pair *pair, int from, const struct oche_packet *packet)
{
    static unsigned count;

    (void)pair, (void)packet;
    return from == 0 && ++count % 4 != 0 ? PAIR_DROP : PAIR_PASS;
}

static void not_ready_for(uint32_t rnr_retry, enum oche_status status)
{
    struct pair_options options = {.rnr_retry = rnr_retry, .min_rnr_timer = 1};
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 100);
    struct pair *pair = pair_open(&options);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);

    pair->fate = lose_most;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 60 * OCHE_MS);
    assert_true(stats->timeouts > 2 * 7 && stats->rnr_naks_received >= 6);
    if (status == OCHE_STATUS_SUCCESS) {
        assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_RTS);
        pair_post_recv(pair, 1, 9, 0, 100);
    }
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, status);
    pair_close(pair);
}

/* A receiver that is not ready for long, over a lossy path, is no dead peer. */
static void test_not_ready_renews(void **state)
{
    (void)state;
    not_ready_for(UINT32_MAX, OCHE_STATUS_SUCCESS);
    not_ready_for(5, OCHE_STATUS_RNR_RETRY_EXCEEDED);
}

/* After the last RNR NAK nothing comes: as many timeouts as usual. */
static void test_not_ready_and_gone(void **state)
{
    struct pair_options options = {.rnr_retry = UINT32_MAX, .min_rnr_timer = 1};
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 100);
    struct pair *pair = pair_open(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + OCHE_MS);
    assert_true(oche_nic_stats(pair->side[0].nic)->rnr_naks_received > 0);
    pair->fate = lose_all;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 8);
    pair_close(pair);
}

/* A path that drops long packets: answers to the short one behind them restore no retry. */
static enum pair_fate lose_long(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair, (void)from;
    return packet->payload_bytes == PAIR_MTU ? PAIR_DROP : PAIR_PASS;
}

static void test_later_answers_do_not_renew(void **state)
{
    static const uint8_t opcodes[] = {OCHE_WORK_WRITE, OCHE_WORK_READ};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(opcodes); i++) {
        struct oche_send_work work = pair_work(opcodes[i], 1, 0, 0, 2 * PAIR_MTU + 100);
        struct pair *pair = pair_open(&(struct pair_options){0});

        pair->fate = lose_long;
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 8);
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_naks),
        cmocka_unit_test(test_naks_faster_than_the_repair),
        cmocka_unit_test(test_paused_is_no_retry),
        cmocka_unit_test(test_paced_is_no_timeout),
        cmocka_unit_test(test_slow_responder),
        cmocka_unit_test(test_dead_peer),
        cmocka_unit_test(test_not_ready_renews),
        cmocka_unit_test(test_not_ready_and_gone),
        cmocka_unit_test(test_later_answers_do_not_renew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
