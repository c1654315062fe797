/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs end once and in order. Round trips reach windows and limiters. Errors break a connection.
 */
#include "tests/support/rogue_bench.h"
#include "tests/support/test.h"

#define SEGMENT 65536

static struct bench bench;

static void begin(void)
{
    bench_init(&bench);
    bench_open(&bench);
}

/* Two whole segments at line rate from the beginning. Every round trip counts. */
static void begin_with_segments(void)
{
    bench_init(&bench);
    bench.params.first_batch = ROGUE_FIRST_SEGMENT;
    bench.params.hold_off_bytes = 0;
    bench_open(&bench);
}

static oche_time line_time(uint64_t bytes)
{
    return oche_time_of_bytes(bytes, BENCH_LINE);
}

static void assert_ended(unsigned index, uint64_t id, enum rogue_outcome outcome, int status)
{
    assert_in_range(index, 0, bench.ended_count - 1);
    assert_int_equal(bench.ended[index].id, id);
    assert_int_equal(bench.ended[index].outcome, outcome);
    assert_int_equal(bench.ended[index].status, status);
}

/* ---- ends of verbs ---- */

static void unsignaled_verbs_end_with_the_next_signal(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 7; i++)
        bench_post(&bench, i % 2 ? ROGUE_WRITE : ROGUE_SEND, 100, i == 3 || i == 6);
    assert_int_equal(bench.ended_count, 0);
    bench_complete(&bench, 3);
    assert_int_equal(bench.ended_count, 4);
    assert_false(rogue_idle(bench.rogue));
    bench_complete(&bench, 6);
    assert_int_equal(bench.ended_count, 7);
    for (unsigned i = 0; i < 7; i++)
        assert_ended(i, i, ROGUE_DONE, 0);
    assert_true(rogue_idle(bench.rogue));
    bench_close(&bench);
}

static void a_large_verb_ends_with_its_last_segment(void **state)
{
    (void)state;
    begin_with_segments();
    bench_post(&bench, ROGUE_WRITE, 3 * SEGMENT, true);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(bench.ended_count, 0);
        bench.now += OCHE_MS;
        bench_complete(&bench, i);
    }
    assert_ended(0, 0, ROGUE_DONE, 0);
    bench_close(&bench);
}

/* A piece that completes twice, was never posted, or is on the other queue pair has no effect. */
static void stray_completions_are_ignored(void **state)
{
    struct rogue_completion stray = {.success = true};

    (void)state;
    begin();
    rogue_completed(bench.rogue, &stray, 0); /* nothing was posted at all */
    for (unsigned i = 0; i < 4; i++)
        bench_post(&bench, ROGUE_WRITE, 100, true);
    bench_complete(&bench, 1);
    bench_complete(&bench, 1);
    bench_complete(&bench, 0);
    for (unsigned success = 0; success < 2; success++) {
        stray = (struct rogue_completion){.number = 2, .qp = 1, .success = success == 1};
        rogue_completed(bench.rogue, &stray, 0);
        stray = (struct rogue_completion){.number = 4, .success = success == 1};
        rogue_completed(bench.rogue, &stray, 0);
        stray.number = UINT64_MAX;
        rogue_completed(bench.rogue, &stray, 0);
        stray.number = 0;
        rogue_completed(bench.rogue, &stray, 0);
    }
    assert_int_equal(bench.ended_count, 2);
    assert_false(rogue_broken(bench.rogue));
    bench_complete(&bench, 3);
    assert_int_equal(bench.ended_count, 4);
    assert_true(rogue_idle(bench.rogue));
    bench_close(&bench);
}

/* ---- round trips ---- */

/* From the departure of the last byte, at the limiter's rate, to the NIC's time stamp. */
static void a_round_trip_is_measured(void **state)
{
    const struct rogue_window *window;

    (void)state;
    bench_init(&bench);
    bench.overheads = 1000; /* rogue.md#r21: in the limiter's bytes */
    bench.now = 7 * OCHE_US;
    bench_open(&bench);
    window = rogue_window_of(bench.rogue, ROGUE_OUT);
    bench_post(&bench, ROGUE_WRITE, 10 * BENCH_MTU, true);
    bench.now += line_time(10 * BENCH_MTU + 1000) + 50 * OCHE_US;
    bench_complete(&bench, 0);
    assert_int_equal(window->rtt, 50 * OCHE_US);
    assert_int_equal(bench.last_sample, 50 * OCHE_US);
    assert_int_equal(bench.sampled[ROGUE_OUT], 1);
    assert_int_equal(bench.sampled[ROGUE_IN], 0);
    assert_int_equal(window->bytes, 20 * BENCH_MTU);
    assert_int_equal(bench.limit_count, 1);
    assert_int_equal(bench.limits[0].qp, 0);
    assert_false(bench.limits[0].reads);
    assert_int_equal(bench.limits[0].bps, oche_rate_of(20 * BENCH_MTU, 50 * OCHE_US));
    assert_int_equal(rogue_counts_of(bench.rogue)->samples, 1);
    assert_int_equal(rogue_counts_of(bench.rogue)->limiter_changes, 1);
    bench_close(&bench);
}

/* The NIC's time stamp counts, not the time at which the library gets the completion. */
static void late_polling_is_no_delay(void **state)
{
    (void)state;
    begin();
    bench_post(&bench, ROGUE_WRITE, 10 * BENCH_MTU, true);
    struct rogue_completion done = {.success = true,
                                    .completed = line_time(10 * BENCH_MTU) + 30 * OCHE_US};
    rogue_completed(bench.rogue, &done, 10 * OCHE_MS);
    assert_int_equal(rogue_window_of(bench.rogue, ROGUE_OUT)->rtt, 30 * OCHE_US);
    bench_close(&bench);
}

/* RoGUE sec 3.4: the responder sets the rate of READs by its window. */
static void reads_are_limited_at_the_peer(void **state)
{
    (void)state;
    begin();
    bench_post(&bench, ROGUE_READ, 10 * BENCH_MTU, true);
    bench.now = line_time(10 * BENCH_MTU) + 50 * OCHE_US;
    bench_complete(&bench, 0);
    assert_int_equal(bench.limit_count, 1);
    assert_true(bench.limits[0].reads);
    assert_int_equal(bench.limits[0].bps, oche_rate_of(20 * BENCH_MTU, 50 * OCHE_US));
    assert_int_equal(rogue_window_of(bench.rogue, ROGUE_OUT)->rate_bps, BENCH_LINE);
    bench_close(&bench);
}

/* RoGUE sec 3.3: no round trip is used from the 160 KB after a change of the limiter. */
static void hold_off(void **state)
{
    const struct rogue_counts *counts;

    (void)state;
    bench_init(&bench);
    bench.config.line_rate_bps = 100 * OCHE_GBPS;
    bench.params.segment_bytes = SEGMENT;
    bench.params.gamma = bench.params.most_window = 1e6; /* the window grows with every sample */
    bench_open(&bench);
    counts = rogue_counts_of(bench.rogue);
    bench_post(&bench, ROGUE_WRITE, 10 * BENCH_MTU + 20 * SEGMENT, true);
    for (unsigned i = 0; i < 17; i++) {
        bench.now += i == 0 ? 50 * OCHE_US : OCHE_MS;
        bench_complete(&bench, i);
        /* batches that begin within 160000 bytes after the batch that changed it: three */
        assert_int_equal(counts->samples, 1 + i / 4);
        assert_int_equal(bench.sampled[ROGUE_OUT], counts->samples); /* not those held off */
        assert_int_equal(counts->held_off, i - i / 4);
        assert_int_equal(counts->limiter_changes, counts->samples);
    }
    bench_close(&bench);
}

/*
 * rogue.md#r5: bytes that have not left when the rate changes leave later. rogue.md#r24: the last
 * packet does not wait for the gap after it. With count_last_gap it does, as in the paper.
 */
static void the_limiter_changes_inside_a_batch(void **state)
{
    (void)state;
    for (unsigned counted = 0; counted < 2; counted++) {
        oche_time first = line_time(SEGMENT) + 20 * OCHE_US, left = 2 * line_time(SEGMENT);

        bench_init(&bench);
        bench.params.first_batch = ROGUE_FIRST_SEGMENT;
        bench.params.hold_off_bytes = 0;
        bench.params.count_last_gap = counted;
        bench_open(&bench);
        const struct rogue_window *window = rogue_window_of(bench.rogue, ROGUE_OUT);
        bench_post(&bench, ROGUE_WRITE, 4 * SEGMENT, true);
        bench.now = first;
        bench_complete(&bench, 0);
        assert_int_equal(window->rate_bps, oche_rate_of(20 * BENCH_MTU, 20 * OCHE_US));
        left = first + (left - first) * BENCH_LINE / window->rate_bps;
        oche_time gap = oche_time_of_bytes(BENCH_MTU, window->rate_bps) - line_time(BENCH_MTU);
        bench.now = left + 23 * OCHE_US - (counted ? 0 : gap);
        bench_complete(&bench, 1);
        assert_int_equal(window->rtt, 23 * OCHE_US);
        bench_close(&bench);
    }
}

/* A batch that another direction's batch cuts short has no signal, so no round trip. */
static void a_batch_without_signal_is_not_measured(void **state)
{
    (void)state;
    begin();
    bench_post(&bench, ROGUE_WRITE, 100, false);
    bench_post(&bench, ROGUE_READ, 100, true);
    bench.now = OCHE_MS;
    bench_complete(&bench, 1);
    assert_int_equal(bench.ended_count, 2);
    assert_int_equal(rogue_counts_of(bench.rogue)->samples, 1);
    assert_true(rogue_window_of(bench.rogue, ROGUE_OUT)->rtt == OCHE_NEVER);
    assert_true(rogue_window_of(bench.rogue, ROGUE_IN)->rtt != OCHE_NEVER);
    bench_close(&bench);
}

/* ---- errors ---- */

static void other_errors_break_the_connection(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 6; i++)
        bench_post(&bench, ROGUE_WRITE, 100, i == 1);
    bench_err(&bench, 3, 10);
    assert_int_equal(bench.ended_count, 6);
    for (unsigned i = 0; i < 3; i++)
        assert_ended(i, i, ROGUE_DONE, 0);
    assert_ended(3, 3, ROGUE_FAILED, 10);
    assert_ended(4, 4, ROGUE_FLUSHED, 0);
    assert_ended(5, 5, ROGUE_FLUSHED, 0);
    assert_true(rogue_broken(bench.rogue));
    assert_int_equal(bench.failed[0], 1);
    assert_int_equal(bench.failed[1], 1);
    assert_int_equal(bench.told_count, 0);
    assert_true(rogue_next(bench.rogue) == OCHE_NEVER);
    /* whatever comes afterwards */
    bench_flush(&bench, 4);
    bench_complete(&bench, 5);
    bench_hear(&bench, ROGUE_RESYNC_REQUEST, 0, 1, 77);
    rogue_expire(bench.rogue, OCHE_SEC);
    assert_int_equal(bench.ended_count, 6);
    assert_int_equal(bench.told_count + bench.restart_count, 0);
    assert_true(bench_post(&bench, ROGUE_WRITE, 1000000, true));
    assert_ended(6, 6, ROGUE_FLUSHED, 0);
    assert_int_equal(bench.posted_count, 6);
    bench_close(&bench);
}

/* The verb of the failed segment is the one that fails, even if others wait to be posted. */
static void an_error_inside_a_large_verb(void **state)
{
    (void)state;
    begin_with_segments();
    bench_post(&bench, ROGUE_WRITE, 100, true);
    bench_post(&bench, ROGUE_WRITE, 10 * SEGMENT, true);
    bench_post(&bench, ROGUE_READ, 100, true);
    bench_err(&bench, 1, 9);
    assert_int_equal(bench.ended_count, 3);
    assert_ended(0, 0, ROGUE_DONE, 0);
    assert_ended(1, 1, ROGUE_FAILED, 9);
    assert_ended(2, 2, ROGUE_FLUSHED, 0);
    bench_close(&bench);
}

static void without_shadow_a_loss_breaks_it(void **state)
{
    (void)state;
    bench_init(&bench);
    bench.params.shadow = false;
    bench_open(&bench);
    bench_post(&bench, ROGUE_WRITE, 100, true);
    bench_post(&bench, ROGUE_WRITE, 100, true);
    bench_lose(&bench, 0);
    assert_ended(0, 0, ROGUE_FAILED, BENCH_STATUS);
    assert_ended(1, 1, ROGUE_FLUSHED, 0);
    assert_true(rogue_broken(bench.rogue));
    bench_close(&bench);
}

/* rogue.md#r11: an atomic is not repeated without the application's knowledge. */
static void atomics_are_not_repeated(void **state)
{
    static const struct {
        const char *verbs; /* those that are under way */
        unsigned lost;
        bool replay, breaks;
    } rows[] = {
        {"aww", 0, false, true},  {"wwa", 0, false, true},  {"waw", 1, false, true},
        {"aww", 1, false, false}, /* it had completed */
        {"aww", 0, true, false},  {"www", 0, false, false}, {"rrr", 0, false, false},
    };

    (void)state;
    for (unsigned row = 0; row < OCHE_COUNT_OF(rows); row++) {
        bench_init(&bench);
        bench.config.replay_atomics = rows[row].replay;
        bench_open(&bench);
        for (const char *c = rows[row].verbs; *c != '\0'; c++)
            bench_post(&bench,
                       *c == 'a'   ? ROGUE_ATOMIC
                       : *c == 'r' ? ROGUE_READ
                                   : ROGUE_WRITE,
                       8, true);
        bench_lose_from(&bench, rows[row].lost);
        if (rogue_broken(bench.rogue) != rows[row].breaks)
            fail_msg("row %u", row);
        if (rows[row].breaks) {
            assert_int_equal(bench.ended_count, 3);
            assert_ended(rows[row].lost, rows[row].lost, ROGUE_FAILED, BENCH_STATUS);
        } else {
            assert_int_equal(bench.posted_count, 6 - rows[row].lost);
            assert_int_equal(bench_last(&bench)->qp, 1);
        }
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsignaled_verbs_end_with_the_next_signal),
        cmocka_unit_test(a_large_verb_ends_with_its_last_segment),
        cmocka_unit_test(stray_completions_are_ignored),
        cmocka_unit_test(a_round_trip_is_measured),
        cmocka_unit_test(late_polling_is_no_delay),
        cmocka_unit_test(reads_are_limited_at_the_peer),
        cmocka_unit_test(hold_off),
        cmocka_unit_test(the_limiter_changes_inside_a_batch),
        cmocka_unit_test(a_batch_without_signal_is_not_measured),
        cmocka_unit_test(other_errors_break_the_connection),
        cmocka_unit_test(an_error_inside_a_large_verb),
        cmocka_unit_test(without_shadow_a_loss_breaks_it),
        cmocka_unit_test(atomics_are_not_repeated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
