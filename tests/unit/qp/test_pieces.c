/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs under a congestion control whose window counts them: their requests, the data kept and
 * requested again after lost responses, and responses that a peer may not send.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/recovery/selective_repeat.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define SIDE0(offset) (pair->side[0].memory + (offset))
#define SIDE1(offset) (pair->side[1].memory + (offset))
#define THERE         500000 /* where the data is at side 1 */
#define HELD          (256 * PAIR_MTU)
#define REQUESTS      64

/* ---- a window that the test sets ---- */

static struct fixed {
    uint64_t window_bytes, rate_bps;
    uint64_t most_flight, acked_bytes;
    unsigned losses;
    unsigned rtts;
} fixed;

static void fixed_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->window_bytes = fixed.window_bytes;
}

static void fixed_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const uint64_t flight = ack->flight_bytes + ack->acked_bytes;

    (void)flow;
    (void)now;
    fixed.most_flight = flight > fixed.most_flight ? flight : fixed.most_flight;
    fixed.acked_bytes += ack->acked_bytes;
    fixed.rtts += ack->rtt != OCHE_NEVER;
}

static void fixed_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    (void)flow;
    (void)now;
    (void)kind;
    fixed.losses++;
}

static const struct oche_cc_scheme fixed_window = {.name = "fixed window",
                                                   .transports = OCHE_CC_RC,
                                                   .needs = OCHE_CC_NEEDS_RTT,
                                                   .windows_reads = true,
                                                   .start = fixed_start,
                                                   .acked = fixed_acked,
                                                   .loss = fixed_loss};

/* ---- what leaves ---- */

static struct seen {
    uint32_t psn[REQUESTS], packets[REQUESTS], count; /* READ requests */
    uint32_t data;                                    /* READ responses */
    uint32_t lose_psn, losses;                        /* responses for this PSN are lost so often */
} seen;

static void note(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    seen.data += from == 1 && packet->opcode >= OCHE_RC_READ_RESPONSE_FIRST &&
                 packet->opcode <= OCHE_RC_READ_RESPONSE_ONLY;
    if (packet->opcode != OCHE_RC_READ_REQUEST || seen.count == REQUESTS)
        return;
    seen.psn[seen.count] = packet->psn;
    seen.packets[seen.count++] = (packet->reth.dma_length + PAIR_MTU - 1) / PAIR_MTU;
    assert_int_equal(packet->reth.va, PAIR_VA + THERE + packet->psn * PAIR_MTU);
}

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 0 || packet->psn != seen.lose_psn || seen.losses == 0)
        return PAIR_PASS;
    seen.losses--;
    return PAIR_DROP;
}

static struct pair *open_pair(uint32_t window, uint32_t depth, uint32_t held)
{
    struct pair_options options = {.cc = &fixed_window,
                                   .peer_cc = &pair_cc_idle,
                                   .initiator_depth = depth,
                                   .responder_resources = depth,
                                   .held_bytes = held};

    fixed = (struct fixed){.window_bytes = (uint64_t)window * PAIR_MTU};
    seen = (struct seen){0};
    struct pair *pair = pair_open(&options);
    pair->tap = note;
    pair->fate = lose;
    return pair;
}

static void read_all(struct pair *pair, uint32_t length)
{
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, THERE, length);

    pair_fill(pair, 1, THERE, length, 3);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS).bytes, length);
    assert_memory_equal(SIDE0(0), SIDE1(THERE), length);
    assert_int_equal(pair->side[0].delivered_bytes, length);
    assert_int_equal(fixed.acked_bytes, length);
}

/* ---- pieces ---- */

/* A READ of 40 packets, the last of them short. */
static void test_pieces(void **state)
{
    static const struct {
        uint32_t window, depth; /* packets; requests */
        uint32_t pieces[24];
    } table[] = {
        {80, 16, {10, 10, 10, 10}},
        {40, 16, {5, 5, 5, 5, 5, 5, 5, 5}},
        {17, 16, {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1}},
        {40, 4, {20, 20}}, /* with fewer requests, pieces are larger */
        {40, 1, {40}},
        {10, 2, {10, 10, 10, 10}},
        {1000, 16, {40}},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(table); i++) {
        struct pair *pair = open_pair(table[i].window, table[i].depth, HELD);
        uint32_t psn = 0;

        read_all(pair, 40 * PAIR_MTU - 100);
        for (uint32_t k = 0; table[i].pieces[k] > 0; k++) {
            assert_int_equal(seen.psn[k], psn);
            assert_int_equal(seen.packets[k], table[i].pieces[k]);
            psn += table[i].pieces[k];
        }
        assert_int_equal(psn, 40);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->data_packets_sent, seen.count);
        assert_true(fixed.most_flight <= fixed.window_bytes);
        assert_int_equal(fixed.rtts, seen.count);
        pair_close(pair);
    }
}

/* Without a window that counts them, READs leave whole. */
static void test_whole(void **state)
{
    struct pair *pair = pair_open(NULL);

    (void)state;
    seen = (struct seen){0};
    fixed = (struct fixed){.acked_bytes = 40 * PAIR_MTU};
    pair->tap = note;
    read_all(pair, 40 * PAIR_MTU);
    assert_int_equal(seen.count, 1);
    pair_close(pair);
}

/* For the peer each request is a READ, so its message numbers and credits continue. */
static void test_credits(void **state)
{
    struct pair_options options = {.cc = &fixed_window, .credits = true, .recv_depth = 16};

    (void)state;
    fixed = (struct fixed){.window_bytes = 8 * PAIR_MTU};
    seen = (struct seen){0};
    struct pair *pair = pair_open(&options);
    for (uint32_t i = 0; i < 8; i++) {
        struct oche_send_work read = pair_work(OCHE_WORK_READ, i, 0, THERE, 30 * PAIR_MTU);
        struct oche_send_work send = pair_work(OCHE_WORK_SEND, 100 + i, 0, 0, 3000);

        pair_post_recv(pair, 1, i, 9000, 3000);
        pair_post(pair, 0, &read);
        pair_post(pair, 0, &send);
        pair_run_quiet(pair);
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        pair_expect(pair, 0, 100 + i, OCHE_STATUS_SUCCESS);
        pair_expect(pair, 1, i, OCHE_STATUS_SUCCESS);
    }
    assert_int_equal(pair->side[1].out_rnr_naks, 0);
    assert_true(fixed.most_flight <= fixed.window_bytes + PAIR_MTU);
    pair_close(pair);
}

/* ---- losses ---- */

/*
 * Loses the response for a PSN so often. Returns how many responses were sent beyond the necessary.
 */
static uint32_t lose_some(uint32_t psn, uint32_t times, uint32_t held, uint64_t timeouts)
{
    struct pair *pair = open_pair(16, 16, held);

    seen.lose_psn = psn;
    seen.losses = times;
    read_all(pair, 100 * PAIR_MTU);
    assert_int_equal(seen.losses, 0);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, timeouts);
    assert_true(fixed.losses > 0);
    assert_true(oche_qp_idle(pair->side[0].qp[0]) && oche_qp_idle(pair->side[1].qp[0]));
    pair_close(pair);
    return seen.data - 100;
}

static void test_losses(void **state)
{
    (void)state;
    assert_int_equal(lose_some(40, 1, HELD, 0), 1);
    assert_int_equal(lose_some(41, 1, HELD, 0), 1); /* the last of a piece */
    assert_int_equal(lose_some(40, 3, HELD, 0), 3); /* and the repetition, twice */
    /* No packet follows the last one, so only the timer finds its loss. */
    assert_int_equal(lose_some(99, 1, HELD, 1), 1);
    /* Without memory, everything behind is requested again, but never more than the window. */
    const uint32_t again = lose_some(40, 1, 0, 0);
    assert_true(again > 1 && again <= 2 * 16);
}

/* A lost READ request: the next one shows the loss, and recovery goes back. */
static enum pair_fate lose_request(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 1 || packet->psn != seen.lose_psn || seen.losses == 0)
        return PAIR_PASS;
    seen.losses--;
    return PAIR_DROP;
}

static void test_lost_request(void **state)
{
    struct pair *pair = open_pair(16, 16, HELD);

    (void)state;
    pair->fate = lose_request;
    seen.lose_psn = 40;
    seen.losses = 1;
    read_all(pair, 100 * PAIR_MTU);
    assert_int_equal(seen.losses, 0);
    assert_int_equal(seen.data, 100);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
    pair_close(pair);
}

/* ---- an atomic between READs ---- */

#define ATOMIC_AT  400000
#define MOST_ASKED 3 /* times for the same PSN, on average */

/* Which packets of the peer are lost: bit N of a PSN's row is its N-th answer. */
static struct {
    uint8_t lose[8];
    uint8_t answers[8];
    uint32_t requests, lengths[REQUESTS], psns[REQUESTS];
} between;

static enum pair_fate lose_answers(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 0 || packet->psn >= 8 ||
        !(packet->opcode == OCHE_RC_ATOMIC_ACK ||
          oche_opcode(packet->opcode)->operation == OCHE_OPERATION_READ))
        return PAIR_PASS;
    return between.lose[packet->psn] >> between.answers[packet->psn]++ & 1 ? PAIR_DROP : PAIR_PASS;
}

static void note_requests(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 1 || packet->opcode != OCHE_RC_READ_REQUEST)
        return;
    assert_true(between.requests < REQUESTS);
    between.psns[between.requests] = packet->psn;
    between.lengths[between.requests++] = packet->reth.dma_length;
}

static void slow_start(struct oche_cc_flow *flow, oche_time now)
{
    fixed_start(flow, now);
    flow->rate_bps = fixed.rate_bps;
}

/*
 * READ, atomic, READ, and a READ of three packets that leaves in pieces of one. Data of the last
 * READ is kept while recovery resends the earlier ones. Recovery skips the kept data, once, and
 * requests at most one piece at a time.
 */
static void read_around_atomic(const uint8_t lose[8], uint64_t rate_bps)
{
    static struct oche_selective_repeat_params params;
    static const struct oche_cc_scheme slow = {.name = "slow",
                                               .transports = OCHE_CC_RC,
                                               .windows_reads = true,
                                               .start = slow_start,
                                               .acked = fixed_acked};
    static const uint32_t lengths[] = {100, 8, 16, 2 * PAIR_MTU + 7};

    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    struct pair_options options = {.cc = &slow,
                                   .peer_cc = &pair_cc_idle,
                                   .recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = true,
                                   .initiator_depth = 16,
                                   .responder_resources = 16,
                                   .held_bytes = HELD,
                                   .ack_timeout = OCHE_MS};
    fixed = (struct fixed){.window_bytes = 3 * PAIR_MTU, .rate_bps = rate_bps};
    memset(&between, 0, sizeof(between));
    memcpy(between.lose, lose, 8);
    struct pair *pair = pair_open(&options);
    pair->tap = note_requests;
    pair->fate = lose_answers;
    pair_fill(pair, 1, THERE, 4 * PAIR_MTU, 3);
    for (uint32_t i = 0; i < 4; i++) {
        struct oche_send_work work =
            pair_work(i == 1 ? OCHE_WORK_FETCH_ADD : OCHE_WORK_READ, i, i * 8 * PAIR_MTU,
                      i == 1 ? ATOMIC_AT : THERE, lengths[i]);
        work.swap_add = 5;
        pair_post(pair, 0, &work);
    }
    while (pair_step(pair, 100 * OCHE_MS)) {
        oche_time when;
        assert_int_not_equal(oche_qp_wake(pair->side[0].qp[0], &when), OCHE_WAKE_NEVER);
        assert_true(when == OCHE_NEVER || when < 100 * OCHE_MS);
    }
    for (uint32_t i = 0; i < 4; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_memory_equal(SIDE0(3 * 8 * PAIR_MTU), SIDE1(THERE), lengths[3]);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_DUPLICATE_GONE), 0);
    assert_true(between.requests <= 5 * MOST_ASKED);
    for (uint32_t i = 0; i < between.requests; i++)
        assert_true(between.lengths[i] <= PAIR_MTU);
    pair_close(pair);
}

static void test_between(void **state)
{
    /* PSNs: 0 READ, 1 atomic, 2 READ, 3 to 5 READ. */
    static const uint8_t rows[][8] = {
        {1, 1, 1}, {1, 1, 3}, {1, 3, 3}, {1, 2, 1}, {1, 0, 3}, {1, 1, 7}, {1, 3, 1}, {3, 1, 3},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        for (unsigned slow = 0; slow < 2; slow++)
            read_around_atomic(rows[i], slow ? OCHE_GBPS : 100 * OCHE_GBPS);
}

/* ---- what a peer may not send ---- */

static void test_hostile(void **state)
{
    struct pair *pair = open_pair(16, 16, HELD);
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, THERE, 100 * PAIR_MTU);
    const struct oche_nic *nic = pair->side[0].nic;

    (void)state;
    pair_post(pair, 0, &work);
    while (seen.count < 8 && pair_step(pair, OCHE_SEC))
        ;
    pair_clear_link(pair);
    /* data of the READ that was not requested yet */
    struct oche_packet packet = pair_packet(pair, 1, OCHE_RC_READ_RESPONSE_MIDDLE, 20, PAIR_MTU);
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_int_equal(oche_nic_rejected(nic, OCHE_REJECT_PSN), 1);
    /* the wrong length, behind a gap */
    packet = pair_packet(pair, 1, OCHE_RC_READ_RESPONSE_LAST, 5, 100);
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_int_equal(oche_nic_rejected(nic, OCHE_REJECT_LENGTH), 1);
    assert_int_equal(oche_nic_stats(nic)->placed_packets, 0);
    pair_close(pair);
}

/* ---- justified timeouts ---- */

/*
 * A READ of 50 packets, one of which is lost again and again. The last timeout is justified,
 * although the kept data moves una past everything that was sent again.
 */
static void test_no_undo(void **state)
{
    static struct oche_selective_repeat_params params;
    static const struct {
        uint32_t psn, losses, timeouts;
    } rows[] = {{40, 2, 1}, {8, 3, 2}, {47, 2, 1}, {0, 4, 3}, {49, 1, 1}, {49, 2, 2}};

    (void)state;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.undo = true;
    for (unsigned i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct pair_options options = {.cc = &fixed_window,
                                       .peer_cc = &pair_cc_idle,
                                       .recovery = &oche_recovery_selective_repeat,
                                       .own_recovery_params = &params,
                                       .extensions = i % 2,
                                       .initiator_depth = 16,
                                       .responder_resources = 16,
                                       .held_bytes = HELD,
                                       .ack_timeout = 16 * OCHE_MS};
        fixed = (struct fixed){.window_bytes = (uint64_t)64 * PAIR_MTU};
        struct pair *pair = pair_open(&options);
        seen = (struct seen){.lose_psn = rows[i / 2].psn, .losses = rows[i / 2].losses};
        pair->tap = note;
        pair->fate = lose;
        read_all(pair, 50 * PAIR_MTU);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, rows[i / 2].timeouts);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->early_timeouts, 0);
        pair_close(pair);
    }
}

/*
 * With little room, READ data behind a gap is dropped and requested again until the driver gives
 * more room. From then on only lost data is.
 */
static void test_room(void **state)
{
    enum { LENGTH = 50 * PAIR_MTU };

    (void)state;
    for (uint32_t room = 1; room <= 16; room++) {
        struct pair_options options = {.cc = &fixed_window,
                                       .peer_cc = &pair_cc_idle,
                                       .initiator_depth = 16,
                                       .responder_resources = 16,
                                       .held_bytes = room * PAIR_MTU,
                                       .held_later = HELD};
        fixed = (struct fixed){.window_bytes = (uint64_t)64 * PAIR_MTU};
        struct pair *pair = pair_open(&options);
        pair->tap = note;
        pair->fate = lose;
        pair_fill(pair, 1, THERE, 3 * LENGTH, 3);
        for (uint32_t i = 0; i < 3; i++) {
            struct oche_send_work work =
                pair_work(OCHE_WORK_READ, i, i * LENGTH, THERE + i * LENGTH, LENGTH);
            const uint32_t before = seen.data;

            seen = (struct seen){.lose_psn = i * 50, .losses = 1};
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
            pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
            assert_memory_equal(SIDE0(i * LENGTH), SIDE1(THERE + i * LENGTH), LENGTH);
            assert_int_equal(pair->side[0].wishes, 1);
            if (i > 1)
                assert_int_equal(seen.data, before);
        }
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),       cmocka_unit_test(test_whole),
        cmocka_unit_test(test_credits),      cmocka_unit_test(test_losses),
        cmocka_unit_test(test_hostile),      cmocka_unit_test(test_no_undo),
        cmocka_unit_test(test_lost_request), cmocka_unit_test(test_between),
        cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
