/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiver is not ready. Each side knows the other's state meanwhile, for any delay of the NAK,
 * and for any other packets on their way.
 */
#include "tests/support/test.h"

#include "core/recovery/go_back_0.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

static uint32_t first_again; /* PSN of the first packet that side 0 sends when it may send again */

static void note_first(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 0 && oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD) && first_again == UINT32_MAX)
        first_again = packet->psn;
}

/* Side 0 sends a packet just when the NAK leaves, before it can know. */
static void post_when_it_leaves(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 11, 0, 0, 100);

    if (from == 1 && packet->opcode == OCHE_RC_ACK &&
        oche_aeth_kind(oche_aeth_syndrome(packet)) == OCHE_AETH_RNR)
        pair_post(pair, 0, &work);
}

/*
 * The NAK waits behind READ data for longer than the time that it names. Packets that the peer
 * sends before it arrives are no gap: no other NAK is sent. After the wait the message comes once.
 */
static void test_a_nak_that_leaves_late(void **state)
{
    struct pair_options options = {.line_rate_bps = 10 * OCHE_GBPS, .min_rnr_timer = 1};
    struct pair *pair = pair_open(&options);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 60 * PAIR_MTU);
    struct oche_send_work send = pair_work(OCHE_WORK_SEND, 2, 0, 0, 100);
    struct oche_send_work behind = pair_work(OCHE_WORK_WRITE, 3, 0, 0, 100);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[1].nic);

    (void)state;
    pair->tap = post_when_it_leaves;
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &send);
    for (uint64_t i = 0; i < 8; i++) { /* while the NAK waits */
        pair_run(pair, pair->now + 6 * OCHE_US);
        behind.wr_id = 3 + i;
        pair_post(pair, 0, &behind);
    }
    assert_int_equal(stats->rnr_naks_sent, 0);
    pair_run(pair, pair->now + 7 * OCHE_US);
    assert_int_equal(stats->rnr_naks_sent, 1);
    assert_int_equal(stats->naks_sent, 0);
    pair_post_recv(pair, 1, 7, 0, 100);
    pair_run_quiet(pair);
    assert_int_equal(stats->naks_sent, 0);
    assert_int_equal(stats->duplicate_packets, 0);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    for (uint64_t id = 1; id < 12; id++)
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair->side[0].timeouts, 0);
    pair_close(pair);
}

/*
 * While the sender waits, the receiver restarts the message. The sender restarts it afterwards,
 * too.
 */
static void test_a_restart_during_the_wait(void **state)
{
    static const struct oche_go_back_0_params params = {.nak_interval = 5 * OCHE_US};
    struct pair_options options = {.recovery = &oche_recovery_go_back_0,
                                   .own_recovery_params = &params,
                                   .ack_timeout = OCHE_NEVER,
                                   .min_rnr_timer = 10};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE_IMM, 1, 0, 0, 5 * PAIR_MTU);
    struct oche_packet nak;

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 50 * OCHE_US);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rnr_naks_received, 1);
    nak = pair_packet(pair, 1, OCHE_RC_ACK, 0, 0);
    nak.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0);
    oche_nic_receive(pair->side[0].nic, &nak, pair->now);
    first_again = UINT32_MAX;
    pair->tap = note_first;
    pair_run(pair, pair->now + 50 * OCHE_US);
    assert_int_equal(first_again, UINT32_MAX); /* still waits */
    pair_post_recv(pair, 1, 7, 0, 100);
    pair_run_quiet(pair);
    assert_int_equal(first_again, 0);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* A packet behind the rejected one is a gap once the wait is over: the repeated one was lost. */
static enum pair_fate lose_repeated(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *seen = pair->context;

    if (from == 0 && packet->psn == 0 && ++*seen == 2)
        return PAIR_DROP;
    return PAIR_PASS;
}

static void test_the_repeated_packet_is_lost(void **state)
{
    struct pair_options options = {.min_rnr_timer = 1};
    struct pair *pair = pair_open(&options);
    uint32_t seen = 0;

    (void)state;
    pair->fate = lose_repeated;
    pair->context = &seen;
    for (uint32_t i = 0; i < 4; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_SEND, i, 0, 0, 100);

        pair_post(pair, 0, &work);
    }
    pair_run(pair, pair->now + 5 * OCHE_US);
    for (uint32_t i = 0; i < 4; i++)
        pair_post_recv(pair, 1, 10 + i, 100 * i, 100);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[0].timeouts, 0);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->naks_sent, 1);
    for (uint32_t i = 0; i < 4; i++) {
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        pair_expect(pair, 1, 10 + i, OCHE_STATUS_SUCCESS);
    }
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_nak_that_leaves_late),
        cmocka_unit_test(test_a_restart_during_the_wait),
        cmocka_unit_test(test_the_repeated_packet_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
