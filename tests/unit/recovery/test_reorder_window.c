/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selective repeat with `reorder: window`: how long a missing packet may be late, by time and by
 * packets. Everything is done twice, the second time across the wrap of PSNs.
 */
#include "tests/support/test.h"

#include <stdlib.h>

#include "core/recovery/selective_repeat.h"

#define SCHEME oche_recovery_selective_repeat

static const uint32_t bases[] = {0, OCHE_PSN_MASK - 6};

/* The sender of one queue pair; PSNs in the tests are relative to `base`. */
struct sender {
    struct oche_selective_repeat_params params;
    struct oche_recovery_tx tx;
    struct oche_recovery_rx rx;
    uint32_t base;
};

/* The next packet leaves; its PSN is the one expected. */
static void leaves(struct sender *sender, uint32_t psn)
{
    struct oche_recovery_tx *tx = &sender->tx;
    const uint32_t is = tx->next;

    assert_int_equal((is - sender->base) & OCHE_PSN_MASK, psn);
    tx->next = oche_psn_add(is, 1);
    if (oche_psn_diff(tx->next, tx->high) > 0)
        tx->high = tx->next;
    SCHEME.sent(tx, is, false, 0);
}

/* Returns a sender that has sent `packets` packets, the first two of which are acknowledged. */
static struct sender *open_sender(uint32_t base, uint32_t packets, oche_time time, uint64_t most)
{
    struct sender *sender = calloc(1, sizeof(*sender));

    assert_non_null(sender);
    sender->base = base;
    oche_param_defaults(&SCHEME.table, &sender->params);
    sender->params.reorder = OCHE_SELECTIVE_REORDER_WINDOW;
    sender->params.reorder_time = time;
    sender->params.reorder_packets = most;
    sender->tx = (struct oche_recovery_tx){.una = base,
                                           .next = base,
                                           .high = base,
                                           .params = &sender->params,
                                           .state = calloc(1, SCHEME.tx_state_bytes)};
    sender->rx = (struct oche_recovery_rx){
        .epsn = base, .params = &sender->params, .state = calloc(1, SCHEME.rx_state_bytes)};
    SCHEME.extend(&sender->tx, &sender->rx);
    for (uint32_t psn = 0; psn < packets; psn++)
        leaves(sender, psn);
    sender->tx.una = oche_psn_add(base, 2);
    SCHEME.acked(&sender->tx, 0);
    return sender;
}

static void close_sender(struct sender *sender)
{
    free(sender->tx.state);
    free(sender->rx.state);
    free(sender);
}

/* A NAK for packet 2: of [first, first + count) the bits have arrived. */
static bool sacked(struct sender *sender, uint32_t first, uint32_t count, uint64_t bits)
{
    const struct oche_sack sack = {
        .first = oche_psn_add(sender->base, first), .count = (uint8_t)count, .bits = bits};

    return SCHEME.sacked(&sender->tx, oche_psn_add(sender->base, 2), &sack, 0);
}

/* Packet 2 is lost 800 ps after a later one has arrived, and an eighth of that at most. */
static void test_lost_by_time(void **context)
{
    (void)context;
    for (size_t i = 0; i < OCHE_COUNT_OF(bases); i++) {
        struct sender *sender = open_sender(bases[i], 10, 800, 0);

        assert_false(sacked(sender, 3, 7, 0x7f));
        const oche_time due = SCHEME.loss_due(&sender->tx);

        assert_in_range(due, 800, 900);
        assert_false(SCHEME.loss_timer(&sender->tx, due - 1));
        assert_int_equal(sender->tx.next, sender->tx.high);
        assert_true(SCHEME.loss_timer(&sender->tx, due));
        leaves(sender, 2);
        leaves(sender, 10);
        close_sender(sender);
    }
}

static void test_comes_in_time(void **context)
{
    (void)context;
    for (size_t i = 0; i < OCHE_COUNT_OF(bases); i++) {
        struct sender *sender = open_sender(bases[i], 10, 800, 0);

        assert_false(sacked(sender, 3, 7, 0x7f));
        sender->tx.una = oche_psn_add(sender->base, 10);
        SCHEME.acked(&sender->tx, 0);
        assert_int_equal(SCHEME.loss_due(&sender->tx), OCHE_NEVER);
        leaves(sender, 10);
        close_sender(sender);
    }
}

/* A packet is lost when one arrives that was sent four packets later, and not three. */
static void test_lost_by_packets(void **context)
{
    (void)context;
    for (size_t i = 0; i < OCHE_COUNT_OF(bases); i++) {
        struct sender *sender = open_sender(bases[i], 12, OCHE_NEVER, 4);

        assert_false(sacked(sender, 4, 1, 0x1)); /* 2 and 3 are missing */
        assert_false(sacked(sender, 4, 2, 0x3));
        assert_int_equal(SCHEME.loss_due(&sender->tx), OCHE_NEVER);
        assert_int_equal(sender->tx.next, sender->tx.high);
        assert_true(sacked(sender, 4, 3, 0x7)); /* 6 has arrived: 2 is lost, and 3 is not yet */
        leaves(sender, 2);
        leaves(sender, 12);
        assert_false(sacked(sender, 4, 3, 0x7)); /* the same once more */
        leaves(sender, 13);
        sacked(sender, 4, 4, 0xf); /* 7 has arrived: 3 is lost, too */
        leaves(sender, 3);
        leaves(sender, 14);
        close_sender(sender);
    }
}

/* Time and packets: whichever comes first. A time of 0 is no window, as `reorder: none`. */
static void test_both(void **context)
{
    (void)context;
    struct sender *sender = open_sender(0, 12, 800, 4);

    assert_false(sacked(sender, 4, 1, 0x1));
    assert_true(SCHEME.loss_timer(&sender->tx, 900));
    leaves(sender, 2);
    leaves(sender, 3);
    close_sender(sender);
    sender = open_sender(0, 12, 800, 4);
    assert_true(sacked(sender, 4, 3, 0x7));
    leaves(sender, 2);
    leaves(sender, 12);
    close_sender(sender);
    sender = open_sender(0, 10, 0, 0);
    assert_true(sacked(sender, 4, 1, 0x1));
    leaves(sender, 2);
    leaves(sender, 3);
    close_sender(sender);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_by_time),
        cmocka_unit_test(test_comes_in_time),
        cmocka_unit_test(test_lost_by_packets),
        cmocka_unit_test(test_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
