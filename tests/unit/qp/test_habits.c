/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Habits of some RNICs (rogue.md#habits): a rate limit takes effect late, messages are resent one
 * at a time, ACK timeouts have fixed values; or the ACK timer begins anew at each packet
 * (error-recovery.md#l10). Memory is checked packet by packet; a timeout counts as a CNP (nics.md).
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/cc/dcqcn.h"
#include "core/recovery/go_back_n.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define PACKET 1024
#define WIRE   (62 + 1024 + 20) /* line bytes of a full packet that is not a FIRST */
#define SLOW   OCHE_GBPS
#define MOST   64

/* The times at which side 0 sent each PSN. */
static struct {
    uint32_t count;
    oche_time when[MOST];
    uint32_t psn[MOST];
} seen;

static void note(struct pair *pair, int from, const struct oche_packet *packet)
{
    if (from != 0 || seen.count == MOST)
        return;
    seen.when[seen.count] = pair->now;
    seen.psn[seen.count++] = packet->psn;
}

static struct pair *open_with(const struct oche_nic_habits *habits, uint32_t retry_count)
{
    struct pair_options options = {.habits = *habits, .retry_count = retry_count};
    struct pair *pair = pair_open(&options);

    seen.count = 0;
    pair->tap = note;
    return pair;
}

static void post(struct pair *pair, uint32_t packets)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, packets * PACKET);

    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 0);
}

/* After so many bytes on the line, packets have the spacing of the new rate. */
static void test_limiter_lag(void **state)
{
    static const struct {
        uint32_t lag_bytes, fast; /* packets that leave as if there were no limit */
    } rows[] = {{0, 1}, {1, 1}, {3 * WIRE, 3}, {3 * WIRE + 17, 4}, {8 * WIRE, 8}};

    (void)state;
    for (size_t row = 0; row < OCHE_COUNT_OF(rows); row++) {
        struct oche_nic_habits habits = {.limiter_lag_bytes = rows[row].lag_bytes};
        struct pair *pair = open_with(&habits, 0);
        oche_qp_set_rate_limit(pair->side[0].qp[0], SLOW, pair->now);
        post(pair, 16);
        pair_run_quiet(pair);
        assert_int_equal(seen.count, 16);
        for (uint32_t i = 1; i < 16; i++) {
            bool slow = seen.when[i] - seen.when[i - 1] > oche_time_of_bytes(WIRE, SLOW) / 2;
            assert_int_equal(slow, i >= rows[row].fast);
        }
        pair_close(pair);
    }
}

static uint32_t lose;

static enum pair_fate lose_once(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from != 0 || packet->psn != lose)
        return PAIR_PASS;
    lose = UINT32_MAX;
    return PAIR_DROP;
}

/*
 * Four messages of two packets; the second is lost. With the habit, each resent message leaves
 * after the ACK of the one before, a round trip of 2 us. A plain NIC resends at once.
 */
static void test_one_verb_at_a_time(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        struct oche_nic_habits habits = {.resend_one_verb_at_a_time = single};
        struct pair *pair = open_with(&habits, 0);
        lose = 1;
        pair->fate = lose_once;
        for (unsigned i = 0; i < 4; i++)
            post(pair, 2);
        pair_run_quiet(pair);
        assert_int_equal(seen.count, 8 + 7);
        for (uint32_t i = 9; i < seen.count; i++) {
            bool begins = seen.psn[i] % 2 == 0;
            assert_int_equal(seen.psn[i], i - 7);
            assert_int_equal(seen.when[i] - seen.when[i - 1] >= 2 * OCHE_US, single && begins);
        }
        pair_close(pair);
    }
}

static enum pair_fate lose_all(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)packet;
    return from == 0 ? PAIR_DROP : PAIR_PASS;
}

/*
 * 2, 4, 8, 16 and again 16 ms, though the program asked for 500 us, or recovery for its own time.
 */
static void test_own_timeouts(void **state)
{
    static const struct oche_recovery_scheme *const schemes[] = {&oche_recovery_go_back_n,
                                                                 &oche_recovery_selective_repeat};
    static const oche_time waits[] = {2 * OCHE_MS, 4 * OCHE_MS, 8 * OCHE_MS, 16 * OCHE_MS,
                                      16 * OCHE_MS};
    static const struct oche_selective_repeat_params selective = {
        .window = 110, .few_packets = 3, .rto_low = 100 * OCHE_US, .rto_high = 320 * OCHE_US};

    (void)state;
    for (size_t scheme = 0; scheme < OCHE_COUNT_OF(schemes); scheme++) {
        struct pair_options options = {.habits = {.timeouts.kind = OCHE_TIMEOUTS_DOUBLING},
                                       .retry_count = 5,
                                       .recovery = schemes[scheme],
                                       .own_recovery_params = scheme == 1 ? &selective : NULL};
        struct pair *pair = pair_open(&options);
        seen.count = 0;
        pair->tap = note;
        pair->fate = lose_all;
        post(pair, 1);
        pair_run_quiet(pair);
        assert_int_equal(seen.count, 6);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(seen.when[i + 1] - seen.when[i], waits[i]);
        pair_close(pair);
    }
}

static enum pair_fate lose_answers(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)packet;
    return from == 1 ? PAIR_DROP : PAIR_PASS;
}

/*
 * A message of 16 packets, each 89 us after the one before, no answer, and an ACK timeout of 500
 * us. A plain NIC goes back in the middle, 500 us after the first packet that asked for an ACK.
 * With the habit each pass sends the whole message, and the next one begins 500 us after its last
 * packet.
 */
static void test_timed_from_last_packet(void **state)
{
    enum { PACKETS = 16, ASKS = 2, PASSES = 3 };
    const oche_time timeout = 500 * OCHE_US;

    (void)state;
    for (int habit = 0; habit < 2; habit++) {
        struct pair_options options = {
            .habits = {.timer_restart = habit ? OCHE_TIMER_RESTARTS_AT_PACKETS
                                              : OCHE_TIMER_RESTARTS_AT_PROGRESS},
            .ack_every = ASKS,
            .retry_count = PASSES - 1};
        struct pair *pair = pair_open(&options);
        seen.count = 0;
        pair->tap = note;
        pair->fate = lose_answers;
        oche_qp_set_rate_limit(pair->side[0].qp[0], SLOW / 10, pair->now);
        post(pair, PACKETS);
        pair_run_quiet(pair);
        uint32_t passes = 0, first = 0;
        for (uint32_t i = 1; i <= seen.count; i++) {
            if (i < seen.count && seen.psn[i] == seen.psn[i - 1] + 1)
                continue;
            passes++;
            assert_int_equal(i - first == PACKETS, habit);
            /* the first packet of a pass after a timeout asks for an ACK */
            const uint32_t timed = habit ? i - 1 : passes == 1 ? ASKS - 1 : first;
            if (i < seen.count) /* in the middle of a message pacing may delay what is sent again */
                assert_in_range(seen.when[i] - seen.when[timed], timeout,
                                timeout + (habit ? 0 : 89 * OCHE_US));
            first = i;
        }
        assert_int_equal(passes, PASSES);
        assert_int_equal(pair->side[0].timeouts, PASSES);
        pair_expect(pair, 0, 0, OCHE_STATUS_RETRY_EXCEEDED);
        pair_close(pair);
    }
}

static enum pair_fate lose_last_ack(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    return from == 1 && packet->psn == 3 && pair->side[0].timeouts == 0 ? PAIR_DROP : PAIR_PASS;
}

/*
 * Progress restarts the timer with the habit, too. Four packets leave at once and the last ACK is
 * lost; the timeout counts from the ACK before it, which comes a round trip of 400 us after.
 */
static void test_progress_restarts(void **state)
{
    const oche_time delay = 200 * OCHE_US;

    (void)state;
    for (int habit = 0; habit < 2; habit++) {
        struct pair_options options = {
            .habits = {.timer_restart = habit ? OCHE_TIMER_RESTARTS_AT_PACKETS
                                              : OCHE_TIMER_RESTARTS_AT_PROGRESS},
            .ack_every = 1,
            .delay = delay};
        struct pair *pair = pair_open(&options);
        seen.count = 0;
        pair->tap = note;
        pair->fate = lose_last_ack;
        post(pair, 4);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 0, OCHE_STATUS_SUCCESS);
        assert_int_equal(seen.count, 5);
        assert_int_equal(seen.psn[4], 3);
        assert_in_range(seen.when[4] - seen.when[2], 2 * delay + 500 * OCHE_US,
                        2 * delay + 501 * OCHE_US);
        pair_close(pair);
    }
}

static enum pair_fate lose_second(struct pair *pair, int from, const struct oche_packet *packet)
{
    static oche_time lost;

    if (from != 0 || packet->psn != 1 || (seen.count > 2 && lost != 0))
        return PAIR_PASS;
    lost = pair->now;
    return PAIR_DROP;
}

/* Returns how many bytes a WRITE that crosses the region's end has written. */
static uint32_t written_across(const struct pair_options *options, uint32_t bytes, uint32_t inside,
                               bool loses)
{
    struct pair *pair = pair_open(options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, PAIR_MEMORY - inside, bytes);
    uint8_t *end = pair->side[1].memory + PAIR_MEMORY - inside;
    uint32_t written = 0;

    seen.count = 0;
    pair->tap = note;
    if (loses)
        pair->fate = lose_second;
    memset(pair->side[0].memory, 0x5a, bytes);
    memset(end, 0, inside);
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 0);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 0, OCHE_STATUS_REMOTE_ACCESS);
    while (written < inside && end[written] == 0x5a)
        written++;
    for (uint32_t i = written; i < inside; i++)
        assert_int_equal(end[i], 0);
    pair_close(pair);
    return written;
}

/* Adapters check each packet of a WRITE: those before the region's end are written. */
static void test_region_end(void **state)
{
    static const struct oche_recovery_scheme *const schemes[] = {&oche_recovery_go_back_n,
                                                                 &oche_recovery_selective_repeat};

    static uint64_t params[OCHE_COUNT_OF(schemes)][64];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(schemes); i++)
        for (int loses = 0; loses < 2; loses++) {
            struct pair_options options = {
                .recovery = schemes[i], .own_recovery_params = params[i], .extensions = true};

            oche_param_defaults(&schemes[i]->table, params[i]);

            assert_int_equal(written_across(&options, 4 * PACKET, 2 * PACKET, loses), 0);
            options.peer_habits.checks_each_packet = true;
            assert_int_equal(written_across(&options, 4 * PACKET, 2 * PACKET, loses), 2 * PACKET);
            assert_int_equal(written_across(&options, 4 * PACKET, 2 * PACKET + 100, loses),
                             2 * PACKET);
            if (!loses)
                assert_int_equal(written_across(&options, 64, 32, false), 0);
        }
}

static enum pair_fate lose_first(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    return from == 0 && packet->psn == 0 && seen.count <= 1 ? PAIR_DROP : PAIR_PASS;
}

/* A timeout lowers the rate as a CNP does; without the habit it does not. */
static void test_slow_restart(void **state)
{
    static uint64_t params[128];

    (void)state;
    oche_param_defaults(&oche_cc_dcqcn.table, params);
    for (int habit = 0; habit < 2; habit++) {
        struct pair_options options = {
            .cc = &oche_cc_dcqcn, .cc_params = params, .habits.slow_restart = habit != 0};
        struct pair *pair = pair_open(&options);
        const uint64_t line_bps = oche_qp_rate_bps(pair->side[0].qp[0]);
        uint64_t after_bps;

        seen.count = 0;
        pair->tap = note;
        pair->fate = lose_first;
        post(pair, 1);
        while (oche_nic_stats(pair->side[0].nic)->timeouts == 0)
            assert_true(pair_step(pair, OCHE_SEC));
        after_bps = oche_qp_rate_bps(pair->side[0].qp[0]);
        if (habit)
            assert_true(after_bps < line_bps * 3 / 4);
        else
            assert_true(after_bps == line_bps);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->cnps_received, 0); /* none came */
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->slow_restarts, habit);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->cnps_ignored, 0);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 0, OCHE_STATUS_SUCCESS);
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limiter_lag),       cmocka_unit_test(test_one_verb_at_a_time),
        cmocka_unit_test(test_own_timeouts),      cmocka_unit_test(test_timed_from_last_packet),
        cmocka_unit_test(test_progress_restarts), cmocka_unit_test(test_region_end),
        cmocka_unit_test(test_slow_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
