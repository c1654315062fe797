/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair's report of losses: the PSN in whose place others came, NAKs sent and acted upon,
 * and the sender's position when its ACK timer expired.
 */
#include "core/recovery/go_back_0.h"
#include "core/wire/aeth.h"
#include "tests/support/pair.h"
#include "tests/support/test.h"

#include <string.h>

#define MISSING   3
#define PACKETS   10
#define BEHIND_IT (PACKETS - 1 - MISSING)

static int data_losses, nak_losses;

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (packet->psn != MISSING)
        return PAIR_PASS;
    if (from == 0)
        return data_losses-- > 0 ? PAIR_DROP : PAIR_PASS;
    return oche_aeth_kind(oche_aeth_syndrome(packet)) == OCHE_AETH_NAK && nak_losses-- > 0
               ? PAIR_DROP
               : PAIR_PASS;
}

static struct oche_go_back_0_params go_back_0;

static struct pair *run_scheme(const struct oche_recovery_scheme *recovery, int data, int naks,
                               oche_time nak_interval)
{
    struct pair_options options = {.recovery = recovery,
                                   .own_recovery_params = &go_back_0,
                                   .nak_interval = nak_interval,
                                   .ack_every = 64};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PACKETS * PAIR_MTU);

    go_back_0 = (struct oche_go_back_0_params){.nak_interval = nak_interval, .nak_exception = true};
    struct pair *pair = pair_open(&options);
    data_losses = data;
    nak_losses = naks;
    pair->fate = lose;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    return pair;
}

static struct pair *run(int data, int naks, oche_time nak_interval)
{
    return run_scheme(NULL, data, naks, nak_interval);
}

static void assert_never(const struct oche_psn_note *note)
{
    assert_int_equal(note->psn, 0);
    assert_int_equal(note->first, 0);
    assert_int_equal(note->last, 0);
}

static void test_nothing_lost(void **state)
{
    struct pair *pair = run(0, 0, OCHE_NEVER);

    (void)state;
    for (int side = 0; side < 2; side++) {
        struct oche_qp_losses losses;

        oche_qp_losses(pair->side[side].qp[0], &losses);
        assert_never(&losses.nak_taken);
        assert_never(&losses.missing);
        assert_never(&losses.restarted);
        assert_never(&losses.nak_sent);
        assert_int_equal(losses.una, side == 0 ? PACKETS : 1000);
        assert_int_equal(losses.epsn, side == 0 ? 1000 : PACKETS);
        assert_int_equal(pair->side[side].timeouts, 0);
    }
    pair_close(pair);
}

/* A NAK for each packet behind the gap: the notes have the times of the first and the last. */
static void test_repaired(void **state)
{
    struct pair *pair = run(1, 0, 1);
    struct oche_qp_losses sender, receiver;

    (void)state;
    oche_qp_losses(pair->side[0].qp[0], &sender);
    oche_qp_losses(pair->side[1].qp[0], &receiver);
    assert_int_equal(receiver.missing.psn, MISSING);
    assert_int_equal(receiver.nak_sent.psn, MISSING);
    assert_int_equal(sender.nak_taken.psn, MISSING);
    assert_true(receiver.missing.first < receiver.missing.last);
    assert_never(&receiver.restarted);
    assert_true(receiver.nak_sent.first >= receiver.missing.first);
    /* The NAKs took equally long. */
    assert_int_equal(sender.nak_taken.first - receiver.nak_sent.first,
                     sender.nak_taken.last - receiver.nak_sent.last);
    assert_true(sender.nak_taken.first < sender.nak_taken.last);
    assert_int_equal(pair->side[0].timeouts, 0);
    pair_close(pair);
}

/* The packets behind the gap come in place of the first one, as soon as that is expected again. */
static void test_restarted(void **state)
{
    struct pair *pair = run_scheme(&oche_recovery_go_back_0, 1, 0, OCHE_NEVER);
    struct oche_qp_losses receiver;

    (void)state;
    oche_qp_losses(pair->side[1].qp[0], &receiver);
    assert_int_equal(receiver.restarted.psn, MISSING);
    assert_int_equal(receiver.restarted.first, receiver.restarted.last);
    assert_int_equal(receiver.missing.psn, 0);
    assert_true(receiver.missing.first > receiver.restarted.last);
    assert_int_equal(receiver.nak_sent.psn, 0);
    pair_close(pair);
}

static void test_timeout(void **state)
{
    struct pair *pair = run(1, 1, OCHE_NEVER);
    struct oche_qp_losses receiver;
    const struct oche_qp_losses *sender = &pair->side[0].at_timeout;

    (void)state;
    assert_int_equal(pair->side[0].timeouts, 1);
    assert_int_equal(sender->una, 0); /* no ACK was asked for before */
    assert_int_equal(sender->next, PACKETS);
    assert_int_equal(sender->high, PACKETS);
    assert_never(&sender->nak_taken);
    oche_qp_losses(pair->side[1].qp[0], &receiver);
    assert_int_equal(receiver.nak_sent.psn, MISSING);
    assert_int_equal(receiver.nak_sent.first, receiver.nak_sent.last);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->out_of_order_packets, BEHIND_IT);
    pair_close(pair);
}

/* Retransmissions are counted by their cause. */
static void test_causes(void **state)
{
    static const struct {
        const char *recovery;
        int data, naks; /* how often the packet, and its NAKs, are lost */
        enum oche_resent cause;
        uint64_t least; /* packets */
    } cases[] = {
        {"go_back_n", 1, 0, OCHE_RESENT_NAK, PACKETS - MISSING},
        {"go_back_n", 1, 100, OCHE_RESENT_TIMEOUT, PACKETS - MISSING},
        {"go_back_0", 1, 0, OCHE_RESENT_NAK, PACKETS},
        {"selective_repeat", 1, 0, OCHE_RESENT_SELECTIVE, 1},
        {"improved_go_back_n", 0, 0, OCHE_RESENT_TWICE, 1},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        const struct oche_recovery_scheme *recovery = oche_recovery_find(cases[i].recovery);
        uint64_t params[32] = {0};
        struct pair_options options = {.recovery = recovery,
                                       .own_recovery_params = params,
                                       .extensions = true,
                                       .ack_every = 64};
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PACKETS * PAIR_MTU);
        struct pair *pair;
        const struct oche_nic *nic;
        uint64_t again;

        assert_true(recovery->table.struct_bytes <= sizeof(params));
        oche_param_defaults(&recovery->table, params);
        if (recovery->fit != NULL)
            recovery->fit(params, &(struct oche_recovery_network){0});
        pair = pair_open(&options);
        nic = pair->side[0].nic;
        data_losses = cases[i].data;
        nak_losses = cases[i].naks;
        pair->fate = lose;
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        again = oche_nic_resent(nic, cases[i].cause);
        if (again < cases[i].least || again != oche_nic_stats(nic)->retransmitted_packets)
            fail_msg("%s: %d of the packet, %d of its NAKs lost: %d for %s", cases[i].recovery,
                     cases[i].data, cases[i].naks, (int)again, oche_resent_name(cases[i].cause));
        pair_close(pair);
    }
}

static void test_forgotten_at_reset(void **state)
{
    struct pair *pair = run(1, 0, OCHE_NEVER);
    struct oche_qp_losses losses;

    (void)state;
    for (int side = 0; side < 2; side++) {
        oche_qp_reset(pair->side[side].qp[0]);
        oche_qp_losses(pair->side[side].qp[0], &losses);
        assert_never(&losses.nak_taken);
        assert_never(&losses.missing);
        assert_never(&losses.restarted);
        assert_never(&losses.nak_sent);
    }
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_lost),       cmocka_unit_test(test_repaired),
        cmocka_unit_test(test_restarted),          cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_forgotten_at_reset), cmocka_unit_test(test_causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
