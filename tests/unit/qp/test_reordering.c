/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Late and lost packets: CUBIC, and selective repeat with a reordering window. Late packets are not
 * sent again, or congestion control gets its window back. Lost packets are sent again without a
 * timeout, and the window stays reduced. Requests, READ data, and a peer that does Go-Back-N.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/send/sender.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/aeth.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define PACKETS 64
#define FIRST   (OCHE_PSN_MASK - 90) /* PSNs wrap in the second message */
#define DELAY   (100 * OCHE_US)
#define HOLE    20
#define WINDOW  (2 * DELAY / 4) /* while there is one step */

/* The fate of the packet at HOLE of each message. */
struct fates {
    uint32_t first; /* PSN of the message */
    int from;       /* the side whose packets it is about */
    enum pair_fate fate;
    uint32_t times; /* so often, then it passes */
};

static enum pair_fate decide(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct fates *fates = pair->context;

    if (from != fates->from || packet->payload_bytes == 0 || fates->times == 0 ||
        packet->psn != oche_psn_add(fates->first, HOLE))
        return PAIR_PASS;
    fates->times--;
    return fates->fate;
}

struct setting {
    bool plain; /* the peer does Go-Back-N */
    bool none;  /* without a reordering window */
    oche_time late_by;
    uint64_t window; /* packets of the initial window; 0: two messages */
};

static struct pair *open_pair(const struct setting *setting, struct fates *fates)
{
    static struct oche_selective_repeat_params params;
    static uint64_t cubic[32], plain[32];
    const struct oche_cc_scheme *cc = oche_cc_find("cubic");
    struct pair_options options = {.cc = cc,
                                   .cc_params = cubic,
                                   .recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = !setting->plain,
                                   .first_psn = FIRST,
                                   .delay = DELAY,
                                   .late_by = setting->late_by,
                                   .held_bytes = 4096 * PAIR_MTU,
                                   .ack_timeout = 16 * OCHE_MS};

    assert_true(cc->table.struct_bytes <= sizeof(cubic));
    oche_param_defaults(&cc->table, cubic);
    oche_param_fit(&cc->table, cubic, UINT64_MAX, "initial_window",
                   setting->window == 0 ? 2 * PACKETS : setting->window);
    oche_param_fit(&cc->table, cubic, UINT64_MAX, "undo", true);
    oche_param_fit(&cc->table, cubic, UINT64_MAX, "pacing", false);
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.undo = true;
    params.few_packets = 0;
    params.rto_high = 10 * OCHE_MS;
    params.reorder = setting->none ? OCHE_SELECTIVE_REORDER_NONE : OCHE_SELECTIVE_REORDER_RACK;
    if (setting->plain) {
        options.peer_recovery = oche_recovery_find("go_back_n");
        oche_param_defaults(&options.peer_recovery->table, plain);
        options.peer_recovery_params = plain;
    }
    struct pair *pair = pair_open(&options);
    *fates = (struct fates){.first = FIRST};
    pair->fate = decide;
    pair->context = fates;
    return pair;
}

static uint64_t window_of(const struct pair *pair)
{
    return pair->side[0].qp[0]->flow.window_bytes / PAIR_MTU;
}

static const struct oche_nic_stats *stats_of(const struct pair *pair)
{
    return oche_nic_stats(pair->side[0].nic);
}

static uint64_t again(const struct pair *pair, int side)
{
    return oche_nic_stats(pair->side[side].nic)->retransmitted_packets;
}

/*
 * A message of PACKETS. The packet at HOLE has this fate so often. Returns the window afterwards.
 */
static uint64_t message(struct pair *pair, enum oche_work_opcode opcode, enum pair_fate fate,
                        uint32_t times)
{
    struct fates *fates = pair->context;
    const struct oche_send_work work = pair_work(opcode, 1, 0, 0, PACKETS * PAIR_MTU);
    const int from = opcode == OCHE_WORK_READ;

    fates->first = snd(pair->side[0].qp[0])->tx.high;
    fates->from = from;
    fates->fate = fate;
    fates->times = times;
    pair_fill(pair, from, 0, PACKETS * PAIR_MTU, (uint8_t)fates->first);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, PACKETS * PAIR_MTU);
    return window_of(pair);
}

/* The round trip is known after the first message. */
static uint64_t begin(struct pair *pair)
{
    const uint64_t window = message(pair, OCHE_WORK_WRITE, PAIR_PASS, 0);

    assert_true(window >= 2 * PACKETS);
    assert_int_equal(again(pair, 0), 0);
    return window;
}

/*
 * The first late packet of a connection is sent again needlessly. The sender waits for later ones.
 */
static void test_late(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.late_by = WINDOW / 2}, &fates);
    const uint64_t window = begin(pair);

    (void)state;
    assert_true(message(pair, OCHE_WORK_WRITE, PAIR_LATE, 1) >= window);
    assert_int_equal(again(pair, 0), 1);
    assert_int_equal(stats_of(pair)->early_losses, 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(message(pair, OCHE_WORK_WRITE, PAIR_LATE, 1) >= window);
    assert_int_equal(again(pair, 0), 1);
    assert_int_equal(stats_of(pair)->early_losses, 1);
    pair_close(pair);
}

/* Without the window each late packet is sent again. */
static void test_none(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.none = true, .late_by = WINDOW / 2}, &fates);

    (void)state;
    begin(pair);
    for (uint32_t i = 0; i < 3; i++)
        message(pair, OCHE_WORK_WRITE, PAIR_LATE, 1);
    assert_int_equal(again(pair, 0), 3);
    pair_close(pair);
}

/*
 * Later than a round trip: the copy comes first, and the peer reports the original as a duplicate.
 */
static void test_very_late(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.late_by = 5 * DELAY}, &fates);
    const uint64_t window = begin(pair);

    (void)state;
    assert_true(message(pair, OCHE_WORK_WRITE, PAIR_LATE, 1) >= window);
    assert_int_equal(again(pair, 0), 1);
    assert_int_equal(stats_of(pair)->early_losses, 1);
    assert_int_equal(stats_of(pair)->timeouts, 0);
    pair_close(pair);
}

static void test_lost(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.late_by = WINDOW / 2}, &fates);
    const uint64_t window = begin(pair);

    (void)state;
    message(pair, OCHE_WORK_WRITE, PAIR_LATE, 1); /* from here on packets may be late */
    assert_true(message(pair, OCHE_WORK_WRITE, PAIR_DROP, 1) < window);
    assert_int_equal(again(pair, 0), 2);
    assert_int_equal(stats_of(pair)->early_losses, 1);
    assert_int_equal(stats_of(pair)->timeouts, 0);
    pair_close(pair);
}

/* A lost retransmission is detected by packets that left after it. */
static void test_lost_twice(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.window = 16}, &fates);

    (void)state;
    message(pair, OCHE_WORK_WRITE, PAIR_DROP, 2);
    assert_int_equal(again(pair, 0), 2);
    assert_int_equal(stats_of(pair)->timeouts, 0);
    assert_int_equal(stats_of(pair)->early_losses, 0);
    pair_close(pair);

    pair = open_pair(&(struct setting){.none = true, .window = 16}, &fates);
    message(pair, OCHE_WORK_WRITE, PAIR_DROP, 2);
    assert_int_equal(stats_of(pair)->timeouts, 1);
    pair_close(pair);
}

/* The peer has dropped the packets behind the gap, but congestion control has its window again. */
static void test_plain_peer(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.plain = true, .late_by = DELAY}, &fates);
    const uint64_t window = begin(pair);

    (void)state;
    assert_true(message(pair, OCHE_WORK_WRITE, PAIR_LATE, 1) >= window);
    assert_int_equal(stats_of(pair)->early_losses, 1);
    assert_true(message(pair, OCHE_WORK_WRITE, PAIR_DROP, 1) < window);
    assert_int_equal(stats_of(pair)->early_losses, 1);
    pair_close(pair);
}

static void test_late_read(void **state)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.late_by = WINDOW / 2}, &fates);
    const uint64_t window = begin(pair);

    (void)state;
    assert_true(message(pair, OCHE_WORK_READ, PAIR_LATE, 1) >= window);
    assert_true(message(pair, OCHE_WORK_READ, PAIR_LATE, 1) >= window);
    const uint64_t asked = again(pair, 1);

    assert_true(message(pair, OCHE_WORK_READ, PAIR_LATE, 1) >= window);
    assert_int_equal(again(pair, 1), asked);
    assert_true(message(pair, OCHE_WORK_READ, PAIR_DROP, 1) < window);
    assert_true(again(pair, 1) > asked);
    assert_int_equal(stats_of(pair)->timeouts, 0);
    pair_close(pair);
}

/*
 * An answer for the packet at `psn`. `arrived`: a packet so far behind it has arrived; 0: an ACK.
 */
static void answer(struct pair *pair, uint32_t psn, uint32_t arrived, uint8_t bits)
{
    const uint8_t opcode = arrived > 0 ? OCHE_RC_SACK : OCHE_RC_ACK;
    const struct oche_sack sack = {.first = oche_psn_add(psn, arrived), .count = 1, .bits = 1};
    struct oche_packet packet = pair_packet(pair, 1, opcode, psn, 0);

    packet.aeth = oche_aeth(arrived > 0 ? OCHE_SYNDROME_NAK_SEQUENCE : OCHE_SYNDROME_ACK, 0);
    packet.bth_reserved = bits;
    if (arrived > 0) {
        packet.ext |= OCHE_EXT_SCHEME;
        oche_sack_put(&packet, &sack);
    }
    pair_receive(pair, 0, &packet);
    pair_run(pair, pair->now + OCHE_US);
}

static enum pair_fate drop(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)packet;
    return from == 0 ? PAIR_DROP : PAIR_PASS;
}

/* Posts a message, and waits for a timeout, while the peer is silent. */
static void time_out(struct pair *pair)
{
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PACKETS * PAIR_MTU);
    const uint64_t before = stats_of(pair)->timeouts;

    pair_post(pair, 0, &work);
    pair->side[1].classes = 0;
    while (stats_of(pair)->timeouts == before)
        assert_true(pair_step(pair, OCHE_SEC));
}

/*
 * A timeout, and then a supposed loss: the peer reports the copy. That neither affects this timeout
 * nor the next one.
 */
static void duplicate_after_timeout(uint32_t arrived)
{
    struct fates fates;
    struct pair *pair = open_pair(&(struct setting){.late_by = DELAY}, &fates);
    const uint64_t window = begin(pair);
    const uint32_t first = snd(pair->side[0].qp[0])->tx.high;

    time_out(pair);
    pair_run(pair, pair->now + OCHE_US);
    answer(pair, first, 0, 0);
    answer(pair, oche_psn_add(first, 1), arrived, 0);
    answer(pair, oche_psn_add(first, 1), 0, 0);
    assert_in_range(again(pair, 0), 4, 8);
    for (uint32_t i = 0; i < 4; i++)
        answer(pair, oche_psn_add(first, 1), 0, OCHE_BTH_DUPLICATE);
    assert_int_equal(stats_of(pair)->early_timeouts, 0);
    assert_true(window_of(pair) < window);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);

    const uint64_t early = stats_of(pair)->early_timeouts;
    pair->fate = drop; /* all of it is lost, the first time */
    time_out(pair);
    pair->fate = decide;
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(stats_of(pair)->early_timeouts, early);
    pair_close(pair);
}

/* The timeout is in doubt when the copies are reported, or has been shown to be justified. */
static void test_duplicate_after_timeout(void **state)
{
    (void)state;
    duplicate_after_timeout(2);
    duplicate_after_timeout(PACKETS - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),       cmocka_unit_test(test_none),
        cmocka_unit_test(test_very_late),  cmocka_unit_test(test_lost),
        cmocka_unit_test(test_lost_twice), cmocka_unit_test(test_plain_peer),
        cmocka_unit_test(test_late_read),  cmocka_unit_test(test_duplicate_after_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
