/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spurious and justified timeouts: CUBIC and selective repeat with `undo`. Late ACKs restore the
 * window, and nothing more is sent again. Losses do not restore it. Also with a peer that does
 * Go-Back-N, and in random worlds.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/send/sender.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define PACKETS 64
#define FIRST   (OCHE_PSN_MASK - 30) /* PSNs wrap among the packets */
#define AWAY    (400 * OCHE_US)      /* longer than rto_high, and shorter than twice that */

/* Data packets that are lost at their first transmission. */
struct losses {
    uint32_t from, to; /* positions in the message */
    uint32_t twice;    /* the packet at `from` is lost so often */
    uint32_t lost;
    bool left[PACKETS];   /* once already */
    bool passed[PACKETS]; /* some copy was not lost */
    uint64_t timeouts;
    uint32_t perhaps; /* timeouts whose packet was not lost */
};

static enum pair_fate fate_of(struct losses *losses, uint32_t at, bool again)
{
    if (at < losses->from || at >= losses->to)
        return PAIR_PASS;
    if (at == losses->from && losses->twice > 0) {
        losses->twice--;
        return PAIR_DROP;
    }
    return again ? PAIR_PASS : PAIR_DROP;
}

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct losses *losses = pair->context;
    const uint32_t at = (packet->psn - FIRST) & OCHE_PSN_MASK;

    if (from != 0 || at >= PACKETS)
        return PAIR_PASS;
    const bool again = losses->left[at];
    const uint64_t timeouts = oche_nic_stats(pair->side[0].nic)->timeouts;
    if (timeouts > losses->timeouts)
        losses->perhaps += losses->passed[at];
    losses->timeouts = timeouts;
    losses->left[at] = true;
    if (fate_of(losses, at, again) == PAIR_DROP) {
        losses->lost++;
        return PAIR_DROP;
    }
    losses->passed[at] = true;
    return PAIR_PASS;
}

struct world {
    bool plain; /* the peer does Go-Back-N */
    bool undo_cc, undo_recovery;
    uint64_t window; /* packets of the initial window */
};

static struct pair *open_world(const struct world *world, struct losses *losses)
{
    static struct oche_selective_repeat_params params;
    static uint64_t cubic[32], plain[32];
    const struct oche_cc_scheme *cc = oche_cc_find("cubic");
    struct pair_options options = {.cc = cc,
                                   .cc_params = cubic,
                                   .recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = !world->plain,
                                   .first_psn = FIRST,
                                   .ack_every = 4,
                                   .ack_timeout = 16 * OCHE_MS};

    assert_true(cc->table.struct_bytes <= sizeof(cubic));
    oche_param_defaults(&cc->table, cubic);
    oche_param_fit(&cc->table, cubic, UINT64_MAX, "initial_window", world->window);
    oche_param_fit(&cc->table, cubic, UINT64_MAX, "undo", world->undo_cc);
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.undo = world->undo_recovery;
    params.few_packets = 0;
    if (world->plain) {
        options.peer_recovery = oche_recovery_find("go_back_n");
        oche_param_defaults(&options.peer_recovery->table, plain);
        options.peer_recovery_params = plain;
    }
    struct pair *pair = pair_open(&options);
    *losses = (struct losses){0};
    pair->fate = lose;
    pair->context = losses;
    return pair;
}

static void post(struct pair *pair)
{
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PACKETS * PAIR_MTU);

    pair_fill(pair, 0, 0, PACKETS * PAIR_MTU, 3);
    pair_post(pair, 0, &work);
}

static uint64_t window_of(const struct pair *pair)
{
    return pair->side[0].qp[0]->flow.window_bytes / PAIR_MTU;
}

static uint64_t early_of(const struct pair *pair)
{
    return oche_nic_stats(pair->side[0].nic)->early_timeouts;
}

static void finish(struct pair *pair)
{
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, PACKETS * PAIR_MTU);
    pair_close(pair);
}

/* The peer is silent for AWAY from `at` on. */
static void go_away(struct pair *pair, oche_time at)
{
    const uint8_t classes = pair->side[1].classes;

    pair_run(pair, at);
    pair->side[1].classes = 0;
    pair_run(pair, at + AWAY);
    pair->side[1].classes = classes;
}

static enum pair_fate lose_second_ack(struct pair *pair, int from, const struct oche_packet *packet)
{
    bool *lost = pair->context;

    if (from != 1 || packet->psn != oche_psn_add(FIRST, 1) || *lost)
        return PAIR_PASS;
    *lost = true;
    return PAIR_DROP;
}

/*
 * A spurious timeout is detected before anything was sent again, because the class is paused. The
 * second of two messages is still in flight, and its ACK is lost.
 */
static void test_rest_is_timed(void **state)
{
    const struct oche_cc_scheme *cc = oche_cc_find("cubic"); /* it has round trips measured */
    struct oche_selective_repeat_params params;
    uint64_t cubic[32];
    bool lost = false;

    (void)state;
    oche_param_defaults(&cc->table, cubic);
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.undo = true;
    struct pair *pair =
        pair_open(&(struct pair_options){.cc = cc,
                                         .cc_params = cubic,
                                         .recovery = &oche_recovery_selective_repeat,
                                         .own_recovery_params = &params,
                                         .extensions = true,
                                         .first_psn = FIRST,
                                         .delay = 200 * OCHE_US, /* rto_low is 100 us */
                                         .ack_timeout = 16 * OCHE_MS});
    pair->fate = lose_second_ack;
    pair->context = &lost;
    for (uint32_t i = 0; i < 2; i++) {
        const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 100);
        pair_post(pair, 0, &work);
    }
    pair_run(pair, 10 * OCHE_US);
    pair->side[0].classes = 0;
    pair_run(pair, 500 * OCHE_US);
    pair_expect(pair, 0, 0, OCHE_STATUS_SUCCESS);
    assert_int_equal(early_of(pair), 1);
    assert_true(lost);
    oche_time when;
    assert_int_not_equal(oche_qp_wake(pair->side[0].qp[0], &when), OCHE_WAKE_NEVER);
    pair->side[0].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* A late ACK: all data had arrived. `undo`: with the strict value, one packet leaves. */
static void late(bool plain, bool undo)
{
    struct losses losses;
    struct pair *pair = open_world(
        &(struct world){.plain = plain, .undo_cc = undo, .undo_recovery = undo, .window = PACKETS},
        &losses);

    post(pair);
    go_away(pair, pair->now + 3 * OCHE_US);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    assert_int_equal(window_of(pair), 1);
    pair_run(pair, pair->now + 3 * OCHE_US); /* the ACK comes */
    assert_int_equal(early_of(pair), undo);
    if (undo) {
        assert_true(window_of(pair) >= PACKETS);
        assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 1);
    } else {
        assert_true(window_of(pair) < PACKETS);
    }
    finish(pair);
}

static void test_late(void **state)
{
    (void)state;
    late(false, true);
    late(true, true);
    late(false, false);
    late(true, false);
}

/* Several timeouts in a row restore the state from before the first. */
static void test_late_for_long(void **state)
{
    struct losses losses;
    struct pair *pair = open_world(
        &(struct world){.undo_cc = true, .undo_recovery = true, .window = PACKETS}, &losses);

    (void)state;
    post(pair);
    go_away(pair, pair->now + 3 * OCHE_US);
    pair->side[1].classes ^= UINT8_MAX;
    pair_run(pair, pair->now + 2 * AWAY);
    pair->side[1].classes ^= UINT8_MAX;
    assert_in_range(oche_nic_stats(pair->side[0].nic)->timeouts, 3, 4);
    pair_run(pair, pair->now + 3 * OCHE_US);
    assert_int_equal(early_of(pair), 1);
    assert_true(window_of(pair) >= PACKETS);
    finish(pair);
}

/* Lost: [from, to), and its first packets so often. None of the timeouts was spurious. */
static void test_lost(void **state)
{
    static const struct {
        struct losses losses;
        bool plain;
    } rows[] = {
        {{.from = 60, .to = 64}, false},             /* the end of the message */
        {{.from = 63, .to = 64}, false},             /* its last packet */
        {{.from = 1, .to = 64}, false},              /* nearly all of it */
        {{.from = 20, .to = 21, .twice = 2}, false}, /* a packet and its repair */
        {{.from = 20, .to = 30, .twice = 3}, false},
        {{.from = 60, .to = 64}, true},
        {{.from = 1, .to = 64}, true},
        {{.from = 20, .to = 64, .twice = 2}, true},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct losses losses;
        struct pair *pair = open_world(
            &(struct world){
                .plain = rows[i].plain, .undo_cc = true, .undo_recovery = true, .window = PACKETS},
            &losses);

        losses = rows[i].losses;
        post(pair);
        pair_run_quiet(pair);
        assert_true(losses.lost > 0);
        assert_true(oche_nic_stats(pair->side[0].nic)->timeouts > 0);
        if (early_of(pair) != 0)
            fail_msg("row %u", i);
        assert_true(window_of(pair) < PACKETS);
        finish(pair);
    }
}

/* A late ACK, and then a loss: the window is reduced only for the loss. */
static void test_late_and_lost(void **state)
{
    struct losses losses;
    struct pair *pair =
        open_world(&(struct world){.undo_cc = true, .undo_recovery = true, .window = 16}, &losses);

    (void)state;
    post(pair);
    go_away(pair, pair->now + OCHE_US);
    losses.from = 40;
    losses.to = 41;
    pair_run_quiet(pair);
    assert_int_equal(losses.lost, 1);
    assert_int_equal(early_of(pair), 1);
    assert_in_range(window_of(pair), 12, PACKETS - 8);
    finish(pair);
}

/*
 * At random: the peer is silent for a while, or packets are lost, or both. With the peer present, a
 * timeout whose packet was lost is never spurious. (A silent peer has no NAK to send when the gap
 * is closed.) Without losses each timeout is spurious, unless a single packet was outstanding.
 */
static void test_random(void **state)
{
    uint64_t found = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        struct oche_random random = oche_random_stream(seed, "early timeouts", 0);
        const bool away = oche_random_below(&random, 2), losing = oche_random_below(&random, 2);
        const uint32_t from = (uint32_t)oche_random_below(&random, PACKETS);
        const uint32_t count = 1 + (uint32_t)oche_random_below(&random, PACKETS);
        struct losses losses;
        struct pair *pair =
            open_world(&(struct world){.plain = oche_random_below(&random, 3) == 0,
                                       .undo_cc = true,
                                       .undo_recovery = true,
                                       .window = 2 + oche_random_below(&random, PACKETS)},
                       &losses);

        if (losing)
            losses = (struct losses){.from = from,
                                     .to = from + count < PACKETS ? from + count : PACKETS,
                                     .twice = (uint32_t)oche_random_below(&random, 4)};
        post(pair);
        if (away)
            go_away(pair, pair->now + oche_random_below(&random, 6 * OCHE_US));
        const uint32_t outstanding =
            (snd(pair->side[0].qp[0])->tx.high - snd(pair->side[0].qp[0])->tx.una) & OCHE_PSN_MASK;
        pair_run_quiet(pair);
        const uint64_t timeouts = oche_nic_stats(pair->side[0].nic)->timeouts;
        found += early_of(pair);
        if (early_of(pair) > losses.perhaps && !away)
            fail_msg("seed %u: a timeout was early whose packet was lost", seed);
        if (early_of(pair) > timeouts)
            fail_msg("seed %u: more early timeouts than timeouts", seed);
        if (away && !losing && timeouts > 0 && early_of(pair) == 0 && outstanding > 1)
            fail_msg("seed %u: %u packets were late, and the timeout counts", seed, outstanding);
        finish(pair);
    }
    assert_true(found > 50);
}

static enum pair_fate lose_first_and_naks(struct pair *pair, int from,
                                          const struct oche_packet *packet)
{
    bool *gone = pair->context;

    if (oche_nic_stats(pair->side[0].nic)->timeouts > 0)
        return PAIR_PASS;
    if (from == 1)
        return PAIR_DROP;
    if (packet->psn != FIRST || *gone)
        return PAIR_PASS;
    *gone = true;
    return PAIR_DROP;
}

/* The first of so many packets is lost, and all NAKs for it. Returns the timeout afterwards. */
static oche_time timeout_after_lost_naks(uint32_t packets, oche_time *before)
{
    struct oche_selective_repeat_params params;
    bool gone = false;

    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.undo = true;
    params.rto = OCHE_SELECTIVE_RTO_MEASURED;
    params.rto_most = OCHE_SEC;
    struct pair *pair =
        pair_open(&(struct pair_options){.recovery = &oche_recovery_selective_repeat,
                                         .own_recovery_params = &params,
                                         .extensions = true,
                                         .first_psn = FIRST,
                                         .ack_timeout = 16 * OCHE_MS});
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, packets * PAIR_MTU);
    struct oche_qp *qp = pair->side[0].qp[0];

    *before = qp->nic->recovery->rto(&snd(qp)->tx, snd(qp)->ack_timeout);
    pair->fate = lose_first_and_naks;
    pair->context = &gone;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_true(gone);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    assert_int_equal(early_of(pair), 1); /* it looks the same */
    const oche_time after = qp->nic->recovery->rto(&snd(qp)->tx, snd(qp)->ack_timeout);
    pair_close(pair);
    return after;
}

/*
 * Lost NAKs do not lengthen the timeout up to rto_most; otherwise each loss on a bad path would.
 * Three in a row do not count as lost.
 */
static void test_lost_naks(void **state)
{
    oche_time before;

    (void)state;
    for (uint32_t packets = 2; packets < 4; packets++)
        assert_true(timeout_after_lost_naks(packets, &before) <= before);
    assert_true(timeout_after_lost_naks(4, &before) >= 3 * before - 3 * OCHE_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_is_timed), cmocka_unit_test(test_late),
        cmocka_unit_test(test_late_for_long), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_late_and_lost), cmocka_unit_test(test_random),
        cmocka_unit_test(test_lost_naks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
