/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recovery contract, seen from a scheme of this test: when each hook is called, with which
 * arguments, and that the queue pair obeys the scheme.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "tests/support/pair.h"

/* Goes back on everything; the receiver also has a timer that repeats its NAK. */
struct log {
    uint32_t acked, naks, timeouts, arrived, accepted, timers;
    uint32_t nak_psn, skip_on_ack;
    oche_time nak_after;
};

static struct log *tx_log(const struct oche_recovery_tx *tx)
{
    return *(struct log *const *)tx->params;
}

static struct log *rx_log(const struct oche_recovery_rx *rx)
{
    return *(struct log *const *)rx->params;
}

static void check_tx(const struct oche_recovery_tx *tx)
{
    assert_true(oche_psn_diff(tx->next, tx->una) >= 0);
    assert_true(oche_psn_diff(tx->high, tx->next) >= 0);
    assert_true(oche_psn_diff(tx->una, tx->message_start) >= 0);
    ++*(uint32_t *)tx->state;
}

static void hook_acked(struct oche_recovery_tx *tx, oche_time now)
{
    (void)now;
    check_tx(tx);
    tx_log(tx)->acked++;
    if (tx_log(tx)->skip_on_ack > 0 && tx->high == tx->next) {
        tx_log(tx)->skip_on_ack--; /* sends the last PSN once more */
        tx->next = oche_psn_add(tx->high, OCHE_PSN_MASK);
        if (oche_psn_diff(tx->next, tx->una) < 0)
            tx->next = tx->una;
    }
}

static void hook_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now)
{
    (void)now;
    check_tx(tx);
    assert_int_equal(psn, tx->una);
    tx_log(tx)->naks++;
    tx_log(tx)->nak_psn = psn;
    tx->next = psn;
}

static void hook_timeout(struct oche_recovery_tx *tx, oche_time now)
{
    (void)now;
    check_tx(tx);
    tx_log(tx)->timeouts++;
    tx->next = tx->message_start; /* … or the message's start, if that is not acknowledged */
    if (oche_psn_diff(tx->next, tx->una) < 0)
        tx->next = tx->una;
}

static enum oche_verdict hook_arrived(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                                      oche_time now, struct oche_recovery_reply *reply)
{
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    assert_false(reply->send_nak);
    ++*(uint32_t *)rx->state;
    rx_log(rx)->arrived++;
    if (ahead == 0)
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0)
        return OCHE_VERDICT_DUPLICATE;
    if (rx->timer == OCHE_NEVER)
        rx->timer = now + rx_log(rx)->nak_after;
    return OCHE_VERDICT_DROP;
}

static void hook_accepted(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                          oche_time now)
{
    (void)now;
    rx_log(rx)->accepted++;
    assert_true(oche_psn_diff(rx->epsn, packet->psn) > 0);
    rx->timer = OCHE_NEVER;
}

static void hook_rx_timer(struct oche_recovery_rx *rx, oche_time now,
                          struct oche_recovery_reply *reply)
{
    (void)now;
    assert_true(rx->timer == OCHE_NEVER);
    rx_log(rx)->timers++;
    reply->send_nak = true;
    reply->nak_psn = rx->epsn;
}

static const struct oche_recovery_scheme scheme = {
    .name = "of the test",
    .tx_state_bytes = 4,
    .rx_state_bytes = 4,
    .acked = hook_acked,
    .nak = hook_nak,
    .timeout = hook_timeout,
    .arrived = hook_arrived,
    .accepted = hook_accepted,
    .rx_timer = hook_rx_timer,
};

static struct pair *open_logged(struct log **log)
{
    struct pair_options options = {.recovery = &scheme, .own_recovery_params = log};

    return pair_open(&options);
}

static enum pair_fate drop_psn_once(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *psn = pair->context;

    if (from != 0 || packet->psn != *psn)
        return PAIR_PASS;
    *psn = UINT32_MAX;
    return PAIR_DROP;
}

static void test_receiver_timer(void **state)
{
    struct log log = {.nak_after = 30 * OCHE_US}, *at = &log;
    struct pair *pair = open_logged(&at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10 * 1024);
    uint32_t lost = 4;

    (void)state;
    pair->fate = drop_psn_once;
    pair->context = &lost;
    pair_fill(pair, 0, 0, 10 * 1024, 1);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_in_range(done.time, 30 * OCHE_US, 50 * OCHE_US);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, 10 * 1024);
    assert_int_equal(log.timers, 1);
    assert_int_equal(log.naks, 1);
    assert_int_equal(log.nak_psn, 4);
    assert_int_equal(log.arrived, 9 + 6);
    assert_int_equal(log.accepted, 10);
    assert_int_equal(log.timeouts, 0);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->naks_sent, 1);
    pair_close(pair);
}

/*
 * On a timeout this scheme restarts at the message that holds una: at una itself, because una has
 * moved.
 */
static void test_message_start(void **state)
{
    struct log log = {.nak_after = OCHE_SEC}, *at = &log;
    struct pair *pair = open_logged(&at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 3 * 1024);
    uint32_t lost = 3;

    (void)state;
    pair->fate = drop_psn_once;
    pair->context = &lost;
    pair_post(pair, 0, &work);
    pair_post(pair, 0, &work);
    pair_run(pair, OCHE_MS);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(log.timeouts, 1);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 3);
    pair_close(pair);
}

/* A scheme may move next on an ACK as well. */
static void test_moves_on_ack(void **state)
{
    struct log log = {.skip_on_ack = 3}, *at = &log;
    struct pair *pair = open_logged(&at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10 * 1024);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 3);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->duplicate_packets, 3);
    assert_true(log.acked >= 10);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_receiver_timer),
        cmocka_unit_test(test_message_start),
        cmocka_unit_test(test_moves_on_ack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
