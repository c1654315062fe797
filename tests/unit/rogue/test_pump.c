/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces, batches and signals (RoGUE sec 3.1), and the number under way. */
#include "tests/support/rogue_bench.h"
#include "tests/support/test.h"

#define SEGMENT 65536

static struct bench bench;

/* Whole segments leave from the beginning, and the window is no limit. */
static void begin_wide(uint32_t depth)
{
    bench_init(&bench);
    bench.params.first_batch = ROGUE_FIRST_SEGMENT;
    bench.params.initial_packets = 1000000;
    bench.config.depth = depth;
    bench_open(&bench);
}

/* Whole segments, and only least_batches of them are under way. */
static void begin_narrow(uint64_t least_batches)
{
    bench_init(&bench);
    bench.params.first_batch = ROGUE_FIRST_SEGMENT;
    bench.params.initial_packets = 1;
    bench.params.least_batches = least_batches;
    bench_open(&bench);
}

/* ---- pieces ---- */

static void large_verbs_are_cut(void **state)
{
    static const uint32_t sizes[] = {0,           1,           SEGMENT - 1,     SEGMENT,
                                     SEGMENT + 1, 2 * SEGMENT, 2 * SEGMENT + 1, 1000000};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(sizes); i++) {
        uint32_t at = 0, count = sizes[i] == 0 ? 1 : (sizes[i] + SEGMENT - 1) / SEGMENT;

        begin_wide(64);
        bench_post(&bench, ROGUE_WRITE, sizes[i], true);
        assert_int_equal(bench.posted_count, count);
        for (uint32_t n = 0; n < count; n++) {
            const struct rogue_piece *piece = &bench.posted[n].piece;

            assert_int_equal(piece->number, n);
            assert_int_equal(piece->offset, at);
            assert_int_equal(piece->last, n == count - 1);
            assert_true(piece->signaled);
            assert_int_equal(bench.posted[n].qp, 0);
            if (n < count - 1)
                assert_int_equal(piece->bytes, SEGMENT);
            at += piece->bytes;
        }
        assert_int_equal(at, sizes[i]);
        bench_close(&bench);
    }
}

static void segments_follow_the_line_rate(void **state)
{
    static const struct {
        uint64_t bps, segment_bytes;
        unsigned pieces;
    } rows[] = {{10 * OCHE_GBPS, 0, 16},
                {40 * OCHE_GBPS, 0, 8},
                {100 * OCHE_GBPS, 0, 4},
                {100 * OCHE_GBPS, 32768, 32}};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        bench_init(&bench);
        bench.params.first_batch = ROGUE_FIRST_SEGMENT;
        bench.params.initial_packets = 1000000;
        bench.params.segment_bytes = rows[i].segment_bytes;
        bench.config.line_rate_bps = rows[i].bps;
        bench_open(&bench);
        bench_post(&bench, ROGUE_WRITE, 1 << 20, true);
        assert_int_equal(bench.posted_count, rows[i].pieces);
        bench_close(&bench);
    }
}

/* ---- signals ---- */

/* Returns how many of the posted pieces ask for a signal. */
static unsigned signals(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < bench.posted_count; i++)
        count += bench.posted[i].piece.signaled;
    return count;
}

static void small_verbs_have_a_signal_per_batch(void **state)
{
    (void)state;
    begin_wide(1024);
    for (unsigned i = 0; i < 256; i++)
        bench_post(&bench, ROGUE_WRITE, 1024, false);
    assert_int_equal(bench.posted_count, 256);
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(bench.posted[i].piece.signaled, i % 64 == 63);
    assert_int_equal(rogue_counts_of(bench.rogue)->signals, 4);
    bench_close(&bench);
}

static void the_applications_signals_are_kept(void **state)
{
    (void)state;
    begin_wide(1024);
    for (unsigned i = 0; i < 100; i++)
        bench_post(&bench, ROGUE_SEND, 100, i % 7 == 3);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(bench.posted[i].piece.signaled, i % 7 == 3);
    /*
     * of a large verb only the last piece has the application's signal, but every segment has one
     */
    bench_post(&bench, ROGUE_WRITE, 2 * SEGMENT + 1, false);
    assert_true(bench.posted[100].piece.signaled && bench.posted[101].piece.signaled);
    assert_false(bench.posted[102].piece.signaled);
    bench_close(&bench);
}

/*
 * A batch is everything that one signal covers, so it restarts after the application's own signal.
 */
static void a_batch_begins_behind_a_signal(void **state)
{
    (void)state;
    begin_wide(1024);
    for (unsigned i = 0; i < 32; i++)
        bench_post(&bench, ROGUE_WRITE, 1024, i == 31);
    for (unsigned i = 0; i < 64; i++)
        bench_post(&bench, ROGUE_WRITE, 1024, false);
    assert_int_equal(signals(), 2);
    assert_true(bench.posted[31].piece.signaled && bench.posted[95].piece.signaled);
    bench_close(&bench);
}

/* Everything completes, though the application never asks for a signal. */
static void rings_are_emptied_without_signals(void **state)
{
    static const enum rogue_verb_kind mixes[][2] = {
        {ROGUE_WRITE, ROGUE_WRITE}, {ROGUE_READ, ROGUE_READ}, {ROGUE_SEND, ROGUE_READ}};
    static const uint32_t sizes[] = {0, 1, 4000, SEGMENT};

    (void)state;
    for (unsigned row = 0; row < 3 * 4 * 2; row++) {
        unsigned seen = 0;

        bench_init(&bench);
        bench.config.depth = 16;
        bench.params.first_batch = row % 2;
        bench_open(&bench);
        for (unsigned i = 0; i < 1000;) {
            enum rogue_verb_kind kind = mixes[row / 8][i % 2];
            bool taken = bench_post(&bench, kind, sizes[row / 2 % 4], false);
            i += taken;
            if (taken)
                continue;
            /* posted pieces with a signal complete */
            unsigned posted = bench.posted_count;
            for (bench.now += OCHE_US; seen < posted; seen++)
                if (bench.posted[seen].piece.signaled)
                    bench_complete(&bench, seen);
            if (posted == bench.posted_count && bench.next_id - bench.ended_count == 16)
                fail_msg("row %u: stuck with %u pieces", row, posted);
        }
        for (unsigned i = 0; i < bench.ended_count; i++)
            assert_int_equal(bench.ended[i].id, i);
        assert_in_range(bench.next_id - bench.ended_count, 0, 16);
        bench_close(&bench);
    }
}

/*
 * A batch of WRITEs ended by READs has no signal of its own. If such batches fill the window, the
 * next piece still leaves, with a signal.
 */
static void a_window_full_of_unsignaled_verbs(void **state)
{
    (void)state;
    bench_init(&bench);
    bench_open(&bench);
    bench_post(&bench, ROGUE_WRITE, 8 * BENCH_MTU, false); /* of a window of 10 packets */
    bench_post(&bench, ROGUE_READ, 8 * BENCH_MTU, false);
    assert_int_equal(signals(), 0);
    bench_post(&bench, ROGUE_WRITE, 8 * BENCH_MTU, false);
    assert_int_equal(bench.posted_count, 3);
    assert_true(bench_last(&bench)->piece.signaled);
    bench_post(&bench, ROGUE_READ, 8 * BENCH_MTU, false);
    assert_int_equal(bench.posted_count, 3); /* a signal is pending: it waits for that */
    bench_complete(&bench, 2);
    assert_int_equal(bench.ended_count, 3);
    assert_int_equal(bench.posted_count, 4);
    bench_close(&bench);
}

/* ---- windows ---- */

/*
 * After so many batches in a row the NIC runs empty (rogue.md#r22): the next batch leaves only when
 * all have completed.
 */
static void runs_empty_at_times(void **state)
{
    const unsigned row = 6;

    (void)state;
    begin_narrow(2);
    bench.params.anchor_batches = row;
    bench.now = OCHE_US;
    bench_post(&bench, ROGUE_WRITE, 20 * SEGMENT, true);
    for (unsigned i = 0; i < 2 * row; i++) {
        unsigned first = i / row * row, place = i % row;
        unsigned posted = first + (place + 3 < row ? place + 3 : row);
        bench.now += 500 * OCHE_US;
        bench_complete(&bench, i);
        assert_int_equal(bench.posted_count, place == row - 1 ? posted + 2 : posted);
    }
    bench_close(&bench);
}

/*
 * With anchor_after_hold_off the NIC runs empty when the bytes of a hold-off have been posted
 * (rogue.md#r22). So the next used round trip begins with an empty NIC.
 */
static void runs_empty_after_a_hold_off(void **state)
{
    const unsigned held = 3; /* batches that begin within the 160000 bytes after the change */

    (void)state;
    for (unsigned anchored = 0; anchored < 2; anchored++) {
        begin_narrow(2);
        bench.params.anchor_batches = 0;
        bench.params.anchor_after_hold_off = anchored;
        bench.now = OCHE_US;
        bench_post(&bench, ROGUE_WRITE, 40 * SEGMENT, true);
        for (unsigned i = 0; i < 8; i++) {
            bench.now += 500 * OCHE_US;
            bench_complete(&bench, i);
            /*
             * The first batch of a row changes the limiter. The last of the row waits for no other.
             */
            unsigned row = i / (held + 1), place = i % (held + 1);
            unsigned posted = i + 3;
            if (anchored && place >= held - 1)
                posted = (row + 1) * (held + 1) + (place == held ? 2 : 0);
            assert_int_equal(bench.posted_count, posted);
            assert_int_equal(rogue_counts_of(bench.rogue)->samples, row + 1);
        }
        bench_close(&bench);
    }
}

/* Two batches, or the number in least_batches, for any window. */
static void least_batches(void **state)
{
    (void)state;
    for (unsigned least = 1; least <= 5; least++) {
        begin_narrow(least);
        bench.now = OCHE_US;
        bench_post(&bench, ROGUE_WRITE, 20 * SEGMENT, true);
        assert_int_equal(bench.posted_count, least);
        for (unsigned i = 0; i + least < 20; i++) {
            bench.now += 500 * OCHE_US;
            bench_complete(&bench, i);
            assert_int_equal(bench.posted_count, least + i + 1);
        }
        bench_close(&bench);
    }
}

/* Small verbs fill the second batch before one has completed, but begin no third. */
static void least_batches_of_small_verbs(void **state)
{
    (void)state;
    begin_narrow(2);
    for (unsigned i = 0; i < 64; i++)
        bench_post(&bench, ROGUE_WRITE, 4096, false);
    assert_int_equal(bench.posted_count, 32);
    bench.now = 500 * OCHE_US;
    bench_complete(&bench, 15);
    assert_int_equal(bench.posted_count, 48);
    assert_int_equal(bench.ended_count, 16);
    bench_close(&bench);
}

/* rogue.md#r18: until the first round trip, only the initial window, with one signal. */
static void first_batch_is_the_window(void **state)
{
    (void)state;
    bench_init(&bench);
    bench_open(&bench);
    bench_post(&bench, ROGUE_WRITE, 10 * SEGMENT, true);
    assert_int_equal(bench.posted_count, 1);
    assert_int_equal(bench.posted[0].piece.bytes, 10 * BENCH_MTU);
    assert_true(bench.posted[0].piece.signaled);
    bench.now = 100 * OCHE_US;
    bench_complete(&bench, 0);
    /* then at least two segments, although the window is 20 packets */
    assert_int_equal(rogue_window_of(bench.rogue, ROGUE_OUT)->bytes, 20 * BENCH_MTU);
    assert_int_equal(bench.posted_count, 3);
    assert_int_equal(bench.posted[1].piece.bytes, SEGMENT);
    assert_int_equal(bench.posted[1].piece.offset, 10 * BENCH_MTU);
    bench_close(&bench);
}

static void first_batch_of_small_verbs(void **state)
{
    (void)state;
    bench_init(&bench);
    bench_open(&bench);
    for (unsigned i = 0; i < 30; i++)
        bench_post(&bench, ROGUE_WRITE, BENCH_MTU, false);
    assert_int_equal(bench.posted_count, 10);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(bench.posted[i].piece.signaled, i == 9);
    bench_close(&bench);
}

/* Pieces begin at packet boundaries, for any segment size. */
static void first_window_beyond_a_segment(void **state)
{
    (void)state;
    bench_init(&bench);
    bench.params.segment_bytes = 4 * BENCH_MTU;
    bench_open(&bench);
    bench_post(&bench, ROGUE_WRITE, 100 * BENCH_MTU, true);
    assert_int_equal(bench.posted_count, 2); /* a third would exceed the window of ten packets */
    assert_int_equal(bench.posted[1].piece.offset, 4 * BENCH_MTU);
    bench_close(&bench);
}

/* The window counts bytes under way: a third segment leaves only if it fits. */
static void window_bounds_what_is_under_way(void **state)
{
    for (uint64_t segments = 2; segments < 10; segments++) {
        bench_init(&bench);
        bench.params.first_batch = ROGUE_FIRST_SEGMENT;
        bench.params.initial_packets = segments * SEGMENT / BENCH_MTU + 1;
        bench_open(&bench);
        bench_post(&bench, ROGUE_WRITE, 20 * SEGMENT, true);
        assert_int_equal(bench.posted_count, segments);
        bench_close(&bench);
    }
    (void)state;
}

/* RoGUE sec 3.4 */
static void read_has_its_own_window(void **state)
{
    (void)state;
    begin_narrow(2);
    bench_post(&bench, ROGUE_WRITE, SEGMENT, true);
    bench_post(&bench, ROGUE_SEND, SEGMENT, true);
    bench_post(&bench, ROGUE_READ, 3 * SEGMENT, true);
    bench_post(&bench, ROGUE_WRITE, SEGMENT, true);
    /* two of each; the WRITE waits behind the READ, because verbs keep their order */
    assert_int_equal(bench.posted_count, 4);
    bench.now = 200 * OCHE_US;
    bench_complete(&bench, 0);
    assert_int_equal(bench.posted_count, 4);
    assert_true(rogue_window_of(bench.rogue, ROGUE_OUT)->base_rtt != OCHE_NEVER);
    assert_true(rogue_window_of(bench.rogue, ROGUE_IN)->base_rtt == OCHE_NEVER);
    bench_complete(&bench, 1);
    bench_complete(&bench, 2);
    assert_int_equal(bench.posted_count, 6);
    assert_true(rogue_window_of(bench.rogue, ROGUE_IN)->base_rtt != OCHE_NEVER);
    bench_close(&bench);
}

/* ---- rings ---- */

static void a_full_send_queue_is_tried_again(void **state)
{
    (void)state;
    for (unsigned room = 0; room < 6; room++) {
        begin_wide(64);
        bench.room = room;
        bench_post(&bench, ROGUE_READ, 100, false);
        bench_post(&bench, ROGUE_WRITE, 3 * SEGMENT, true);
        bench_post(&bench, ROGUE_READ, 100, true);
        assert_int_equal(bench.posted_count, room < 5 ? room : 5);
        bench.room = 100;
        rogue_pump(bench.rogue, bench.now);
        assert_int_equal(bench.posted_count, 5);
        for (unsigned i = 0; i < 5; i++)
            assert_int_equal(bench.posted[i].piece.number, i);
        assert_int_equal(bench.posted[3].piece.offset, 2 * SEGMENT);
        bench.now = OCHE_MS;
        for (unsigned i = 1; i < 5; i++)
            bench_complete(&bench, i);
        assert_int_equal(bench.ended_count, 3);
        assert_true(rogue_idle(bench.rogue));
        bench_close(&bench);
    }
}

static void depth_bounds_verbs_and_pieces(void **state)
{
    (void)state;
    begin_wide(8);
    bench_post(&bench, ROGUE_WRITE, 20 * SEGMENT, true);
    assert_int_equal(bench.posted_count, 8);
    for (unsigned i = 0; i < 7; i++)
        assert_true(bench_post(&bench, ROGUE_WRITE, 1, true));
    assert_false(bench_post(&bench, ROGUE_WRITE, 1, true));
    for (unsigned i = 0; i < 20; i++)
        bench_complete(&bench, i);
    assert_int_equal(bench.ended_count, 1);
    assert_int_equal(bench.posted_count, 27);
    assert_true(bench_post(&bench, ROGUE_WRITE, 1, true));
    assert_false(bench_post(&bench, ROGUE_WRITE, 1, true));
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_verbs_are_cut),
        cmocka_unit_test(segments_follow_the_line_rate),
        cmocka_unit_test(small_verbs_have_a_signal_per_batch),
        cmocka_unit_test(the_applications_signals_are_kept),
        cmocka_unit_test(a_batch_begins_behind_a_signal),
        cmocka_unit_test(rings_are_emptied_without_signals),
        cmocka_unit_test(a_window_full_of_unsignaled_verbs),
        cmocka_unit_test(least_batches),
        cmocka_unit_test(runs_empty_at_times),
        cmocka_unit_test(runs_empty_after_a_hold_off),
        cmocka_unit_test(least_batches_of_small_verbs),
        cmocka_unit_test(first_batch_is_the_window),
        cmocka_unit_test(first_batch_of_small_verbs),
        cmocka_unit_test(first_window_beyond_a_segment),
        cmocka_unit_test(window_bounds_what_is_under_way),
        cmocka_unit_test(read_has_its_own_window),
        cmocka_unit_test(a_full_send_queue_is_tried_again),
        cmocka_unit_test(depth_bounds_verbs_and_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
