/* SPDX-License-Identifier: Apache-2.0 */
/* Unreliable connections: questions and answers, lost batches, timeouts (RoGUE sec 3.4). */
#include "core/random.h"
#include "tests/support/rogue_bench.h"
#include "tests/support/test.h"

#define SEGMENT 65536
#define UNIT    (16 * OCHE_NS) /* of the turnaround in an answer */

static struct bench bench;

static void begin(void)
{
    bench_init(&bench);
    bench.params.transport = ROGUE_UC;
    bench.params.hold_off_bytes = 0;
    bench_open(&bench);
}

/* Whole segments, first two of them. */
static void begin_with_segments(uint64_t packets)
{
    bench_init(&bench);
    bench.params.transport = ROGUE_UC;
    bench.params.hold_off_bytes = 0;
    bench.params.first_batch = ROGUE_FIRST_SEGMENT;
    bench.params.initial_packets = packets;
    bench_open(&bench);
}

static const struct rogue_window *window(void)
{
    return rogue_window_of(bench.rogue, ROGUE_OUT);
}

static const struct rogue_counts *counts(void)
{
    return rogue_counts_of(bench.rogue);
}

/* The peer answers the question of a piece after holding it for `turnaround`. */
static void answer(uint64_t number, oche_time turnaround)
{
    const struct rogue_piece *piece = &bench_piece(&bench, number)->piece;

    assert_true(piece->echo);
    rogue_immediate(bench.rogue, piece->echo_imm | (uint32_t)(turnaround / UNIT), true, bench.now,
                    bench.now);
}

/* ---- questions ---- */

static void each_batch_asks(void **state)
{
    (void)state;
    begin_with_segments(1000);
    bench_post(&bench, ROGUE_WRITE, 5 * SEGMENT + 1, false);
    for (unsigned i = 0; i < 5; i++) {
        const struct rogue_piece *piece = &bench.posted[i].piece;

        assert_true(piece->signaled && piece->echo);
        assert_int_equal(piece->echo_imm, i << 24);
    }
    /* the rest is not yet a batch */
    assert_false(bench.posted[5].piece.signaled || bench.posted[5].piece.echo);
    bench_close(&bench);
}

static void reliable_connections_do_not_ask(void **state)
{
    (void)state;
    bench_init(&bench);
    bench_open(&bench);
    bench_post(&bench, ROGUE_WRITE, 1000, true);
    assert_false(bench.posted[0].piece.echo);
    rogue_immediate(bench.rogue, 0, false, 0, 0);
    rogue_immediate(bench.rogue, 0, true, 0, 0);
    assert_int_equal(bench.answer_count, 0);
    assert_int_equal(bench.ended_count, 0);
    assert_true(rogue_next(bench.rogue) == OCHE_NEVER);
    bench_close(&bench);
}

/* The answer states how long the question was at the peer, in units of 16 ns, at most 268 ms. */
static void questions_are_answered(void **state)
{
    static const struct {
        oche_time came, now;
        uint32_t imm, answer;
    } rows[] = {
        {100, 100, 0x07000000, 0x07000000},
        {0, UNIT - 1, 0xff000000, 0xff000000},
        {OCHE_SEC, OCHE_SEC + 5 * UNIT + 1, 0x12abcdef, 0x12000005},
        {0, 0xffffff * UNIT, 0x01000000, 0x01ffffff},
        {0, 10 * OCHE_SEC, 0x01000000, 0x01ffffff},
    };

    (void)state;
    begin();
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        rogue_immediate(bench.rogue, rows[i].imm, false, rows[i].came, rows[i].now);
        assert_int_equal(bench.answer_count, i + 1);
        assert_int_equal(bench.answers[i], rows[i].answer);
    }
    assert_int_equal(counts()->answers, OCHE_COUNT_OF(rows));
    bench_close(&bench);
}

/* ---- round trips ---- */

/* From the batch's departure from the NIC, less the peer's turnaround. */
static void a_round_trip_is_measured(void **state)
{
    (void)state;
    begin();
    bench_post(&bench, ROGUE_WRITE, 10 * BENCH_MTU, true);
    bench.now = 12 * OCHE_US;
    bench_complete(&bench, 0); /* it has left; for the application it is complete */
    assert_int_equal(bench.ended_count, 1);
    assert_false(rogue_quiet(bench.rogue));
    assert_int_equal(counts()->samples, 0);
    bench.now = 100 * OCHE_US;
    answer(0, 32 * OCHE_US);
    assert_int_equal(window()->rtt, 56 * OCHE_US);
    assert_int_equal(window()->bytes, 20 * BENCH_MTU);
    assert_true(rogue_quiet(bench.rogue) && rogue_idle(bench.rogue));
    assert_true(rogue_next(bench.rogue) == OCHE_NEVER);
    assert_int_equal(bench.limit_count, 1);
    bench_close(&bench);
}

/* Verbs whose batches are all answered, while later ones are under way or given up. */
static void verbs_are_answered_one_by_one(void **state)
{
    (void)state;
    begin_with_segments(1000);
    bench_post(&bench, ROGUE_WRITE, 1000, true);
    bench_post(&bench, ROGUE_WRITE, SEGMENT + 1, true);
    bench_post(&bench, ROGUE_WRITE, 1000, true);
    for (uint64_t i = 0; i < 4; i++)
        bench_complete(&bench, i);
    assert_int_equal(bench.ended_count, 3);
    assert_int_equal(rogue_verbs_answered(bench.rogue), 0);
    answer(0, 0);
    assert_int_equal(rogue_verbs_answered(bench.rogue), 1);
    answer(1, 0); /* a part of the second verb */
    assert_int_equal(rogue_verbs_answered(bench.rogue), 1);
    answer(3, 0); /* the answer to its rest is lost */
    assert_int_equal(rogue_verbs_answered(bench.rogue), 3);
    assert_true(rogue_quiet(bench.rogue));
    bench_close(&bench);
}

/* An answer that states a longer turnaround than possible. */
static void a_turnaround_that_cannot_be(void **state)
{
    (void)state;
    begin();
    bench_post(&bench, ROGUE_WRITE, 1000, true);
    bench.now = 10 * OCHE_US;
    bench_complete(&bench, 0);
    bench.now = 20 * OCHE_US;
    answer(0, OCHE_MS);
    assert_int_equal(window()->rtt, 0);
    assert_true(window()->rate_bps <= BENCH_LINE);
    bench_close(&bench);
}

/* rogue.md#r7: the answer to a later batch comes first. */
static void a_lost_batch_halves_the_window(void **state)
{
    (void)state;
    begin_with_segments(200);
    bench_post(&bench, ROGUE_WRITE, 3 * SEGMENT, true);
    assert_int_equal(bench.posted_count, 3);
    bench.now = 300 * OCHE_US;
    for (unsigned i = 0; i < 3; i++)
        bench_complete(&bench, i);
    assert_int_equal(bench.ended_count, 1);
    answer(2, 0);
    assert_int_equal(counts()->unanswered_batches, 2);
    assert_int_equal(counts()->samples, 1);
    assert_false(window()->slow_start);
    assert_true(rogue_quiet(bench.rogue));
    /* a half of 200 packets, plus the sample's own effect; nothing twice */
    assert_in_range(window()->bytes, BENCH_MTU, 101 * BENCH_MTU);
    answer(0, 0);
    answer(1, 0);
    answer(2, 0);
    assert_int_equal(counts()->samples, 1);
    assert_int_equal(counts()->unanswered_batches, 2);
    bench_close(&bench);
}

/* Without any answer the window keeps its initial size. No more leaves until an answer comes. */
static void all_answers_are_lost(void **state)
{
    (void)state;
    begin();
    bench_post(&bench, ROGUE_WRITE, 100 * SEGMENT, true);
    bench.now = 100 * OCHE_US;
    bench_complete(&bench, 0);
    bench.now = 200 * OCHE_US;
    answer(0, 0);
    assert_int_equal(bench.posted_count, 3); /* two segments */
    bench.now = OCHE_MS;
    bench_complete(&bench, 1);
    bench_complete(&bench, 2);
    assert_int_equal(bench.posted_count, 3);
    for (unsigned i = 1; i <= 3; i++) {
        oche_time deadline = rogue_next(bench.rogue);

        /* rogue.md#r20: twice as long each time */
        assert_in_range(deadline - bench.now, (3 * OCHE_MS) << (i - 1), (4 * OCHE_MS) << (i - 1));
        rogue_expire(bench.rogue, deadline - 1);
        assert_int_equal(counts()->sample_timeouts, i - 1);
        bench.now = deadline;
        rogue_expire(bench.rogue, deadline);
        assert_int_equal(counts()->sample_timeouts, i);
        assert_int_equal(window()->bytes, 10 * BENCH_MTU);
        assert_true(window()->slow_start);
        /* one batch of ten packets */
        assert_int_equal(bench.posted_count, 3 + i);
        assert_int_equal(bench_last(&bench)->piece.bytes, 10 * BENCH_MTU);
        bench.now += 100 * OCHE_US;
        bench_complete(&bench, 2 + i);
        assert_int_equal(bench.posted_count, 3 + i);
    }
    assert_int_equal(counts()->unanswered_batches, 4);
    bench.now += 100 * OCHE_US;
    answer(5, 0);
    assert_int_equal(counts()->samples, 2);
    assert_int_equal(bench.posted_count, 8);
    bench_close(&bench);
}

/*
 * rogue.md#r20: a peer that waits for a core answers after 10 ms. That is longer than uc_timeout,
 * so the first batches count as lost until the wait is long enough. Afterwards none does.
 */
static void slow_answers_are_waited_for(void **state)
{
    uint64_t timeouts = 0;

    (void)state;
    begin();
    bench_post(&bench, ROGUE_WRITE, 100 * SEGMENT, true);
    for (unsigned i = 0; i < 20; i++) {
        const unsigned number = bench.posted_count - 1;
        oche_time asked = bench.now;

        bench_complete(&bench, number);
        while (rogue_next(bench.rogue) < asked + 10 * OCHE_MS && bench.posted_count == number + 1) {
            bench.now = rogue_next(bench.rogue);
            rogue_expire(bench.rogue, bench.now);
        }
        if (bench.posted_count > number + 1) {
            timeouts++;
            continue; /* its answer will match no batch */
        }
        bench.now = asked + 10 * OCHE_MS;
        answer(number, 9 * OCHE_MS);
    }
    assert_in_range(timeouts, 1, 3);
    assert_int_equal(counts()->sample_timeouts, timeouts);
    assert_true(counts()->samples >= 5);
    bench_close(&bench);
}

/* ---- rings ---- */

/* Each verb is a batch. All have left the NIC, and none is answered. */
static void no_more_batches_than_there_is_room_for(void **state)
{
    static const uint32_t depths[] = {4, 64, 1024};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(depths); i++) {
        unsigned seen = 0;

        bench_init(&bench);
        bench.params.transport = ROGUE_UC;
        bench.params.initial_packets = 10000;
        bench.params.first_batch = ROGUE_FIRST_SEGMENT;
        bench.config.depth = depths[i];
        bench_open(&bench);
        for (unsigned n = 0; n < 2000; n++) {
            bench_post(&bench, ROGUE_WRITE, 1, true);
            while (seen < bench.posted_count)
                bench_complete(&bench, seen++);
        }
        /* the number in an answer has 8 bits; half of the numbers may be under way */
        if (seen > depths[i] || seen > 128)
            fail_msg("depth %u: %u batches under way", depths[i], seen);
        /* the newest answer finds its batch, and there is room again */
        answer(seen - 1, 0);
        assert_int_equal(counts()->unanswered_batches, seen - 1);
        assert_int_equal(counts()->samples, 1);
        bench_post(&bench, ROGUE_WRITE, 1, true);
        assert_true(bench.posted_count > seen);
        bench_close(&bench);
    }
}

/* Any immediate data at any time, and any completions: the bytes sent stay within the window. */
static void hostile_answers(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct oche_random random = oche_random_stream(seed, "hostile answers", 0);
        unsigned seen = 0;

        begin();
        for (unsigned i = 0; i < 300; i++) {
            bench.now += oche_random_below(&random, 100 * OCHE_US);
            bench_post(&bench, ROGUE_WRITE, (uint32_t)oche_random_below(&random, 3000),
                       oche_random_below(&random, 2) == 0);
            if (oche_random_below(&random, 2) == 0 && seen < bench.posted_count) {
                seen++;
                if (bench.posted[seen - 1].piece.signaled)
                    bench_complete(&bench, seen - 1);
            }
            uint32_t imm = (uint32_t)oche_random_u64(&random);
            if (oche_random_below(&random, 2) == 0) /* often of a batch that is under way */
                imm = bench_last(&bench)->piece.echo_imm | (imm & 0xffffff);
            rogue_immediate(bench.rogue, imm, oche_random_below(&random, 4) != 0,
                            bench.now - oche_random_below(&random, bench.now + 1), bench.now);
            if (rogue_next(bench.rogue) <= bench.now)
                rogue_expire(bench.rogue, bench.now);
            assert_true(window()->bytes >= BENCH_MTU);
            assert_in_range(window()->rate_bps, bench.params.least_rate, BENCH_LINE);
        }
        bench_close(&bench);
    }
}

/* ---- errors ---- */

static void errors_break_it(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        begin();
        bench_post(&bench, ROGUE_WRITE, 1000, true);
        bench_post(&bench, ROGUE_WRITE, 1000, true);
        if (lost == 1)
            bench_lose(&bench, 0);
        else
            bench_err(&bench, 0, 9);
        assert_true(rogue_broken(bench.rogue));
        assert_int_equal(bench.ended_count, 2);
        assert_int_equal(bench.ended[0].outcome, ROGUE_FAILED);
        assert_int_equal(bench.ended[1].outcome, ROGUE_FLUSHED);
        assert_true(rogue_next(bench.rogue) == OCHE_NEVER);
        rogue_expire(bench.rogue, OCHE_SEC);
        assert_int_equal(bench.limit_count, 0);
        rogue_immediate(bench.rogue, 0, true, OCHE_SEC, OCHE_SEC);
        rogue_immediate(bench.rogue, 0, false, OCHE_SEC, OCHE_SEC);
        assert_int_equal(bench.answer_count, 0);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_batch_asks),
        cmocka_unit_test(reliable_connections_do_not_ask),
        cmocka_unit_test(questions_are_answered),
        cmocka_unit_test(a_round_trip_is_measured),
        cmocka_unit_test(verbs_are_answered_one_by_one),
        cmocka_unit_test(a_turnaround_that_cannot_be),
        cmocka_unit_test(a_lost_batch_halves_the_window),
        cmocka_unit_test(all_answers_are_lost),
        cmocka_unit_test(slow_answers_are_waited_for),
        cmocka_unit_test(no_more_batches_than_there_is_room_for),
        cmocka_unit_test(hostile_answers),
        cmocka_unit_test(errors_break_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
