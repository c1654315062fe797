/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that share an adapter with few limiters (RoGUE sec 3.3; rogue.md#r32). */
#include "rogue/limiters.h"
#include "tests/support/rogue_bench.h"
#include "tests/support/test.h"

#define SEGMENT 65536
#define ENDS    4
#define TURN    5 /* batches */

static struct rogue_limiters limiters;
static struct bench ends[ENDS];

static void begin(uint64_t most, unsigned transport)
{
    limiters = (struct rogue_limiters){.most = most};
    for (unsigned i = 0; i < ENDS; i++) {
        bench_init(&ends[i]);
        ends[i].params.rate_limiters = most;
        ends[i].params.anchor_batches = TURN;
        ends[i].params.first_batch = ROGUE_FIRST_SEGMENT;
        ends[i].params.initial_packets = 1;
        ends[i].params.transport = transport;
        ends[i].limiters = &limiters;
        bench_open(&ends[i]);
    }
}

static void end(void)
{
    for (unsigned i = 0; i < ENDS; i++)
        bench_close(&ends[i]);
}

/* Returns how many pieces are posted and have not completed; they complete in order. */
static unsigned under_way(const struct bench *bench, unsigned completed)
{
    return bench->posted_count - completed;
}

/* The line itself: first come, first served; who leaves it is not served. */
static void line(void **state)
{
    struct rogue_limiters two = {.most = 2}, any = {0};
    struct rogue_limited users[6] = {0};

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        assert_true(rogue_limiters_take(&any, &users[i]));
        assert_int_equal(rogue_limiters_take(&two, &users[i]), i < 2);
        assert_int_equal(rogue_limiters_take(&two, &users[i]), i < 2); /* nobody stands twice */
    }
    assert_true(rogue_limiters_wanted(&two) && !rogue_limiters_wanted(&any));
    assert_null(rogue_limiters_give(&two, &users[3])); /* leaves the line: 2, 4, 5 */
    assert_null(rogue_limiters_give(&two, &users[5])); /* the last one: 2, 4 */
    assert_false(users[5].waits);
    assert_ptr_equal(rogue_limiters_give(&two, &users[1]), &users[2]);
    assert_true(users[2].has && !users[2].waits && !users[1].has);
    assert_false(rogue_limiters_take(&two, &users[1])); /* behind: 4, 1 */
    assert_ptr_equal(rogue_limiters_give(&two, &users[0]), &users[4]);
    assert_null(rogue_limiters_give(&two, &users[3])); /* has none, and does not wait */
    assert_ptr_equal(rogue_limiters_give(&two, &users[2]), &users[1]);
    assert_false(rogue_limiters_wanted(&two));
    assert_null(rogue_limiters_give(&two, &users[1]));
    assert_null(rogue_limiters_give(&two, &users[4]));
    assert_int_equal(two.taken, 0);
    assert_true(rogue_limiters_take(&two, &users[3]));
    assert_int_equal(two.taken, 1);
}

/* With no parameter every connection posts at once, and asks for no more signals than ever. */
static void any_number(void **state)
{
    (void)state;
    begin(0, ROGUE_RC);
    for (unsigned i = 0; i < ENDS; i++) {
        bench_post(&ends[i], ROGUE_WRITE, 100, false);
        assert_int_equal(ends[i].posted_count, 1);
        assert_false(bench_last(&ends[i])->piece.signaled);
    }
    assert_int_equal(limiters.taken, 0);
    end();
}

/* Two limiters for four: the third posts when one of the first has nothing under way any more. */
static void waits_until_one_is_quiet(void **state)
{
    (void)state;
    begin(2, ROGUE_RC);
    for (unsigned i = 0; i < ENDS; i++) {
        bench_post(&ends[i], ROGUE_WRITE, 2 * SEGMENT, true);
        assert_int_equal(ends[i].posted_count, i < 2 ? 2 : 0);
    }
    assert_int_equal(rogue_counts_of(ends[2].rogue)->limiter_waits, 1);
    bench_complete(&ends[1], 0);
    rogue_pump(ends[2].rogue, 0);
    assert_int_equal(ends[2].posted_count, 0); /* one piece of the second is still under way */
    bench_complete(&ends[1], 1);
    rogue_pump(ends[3].rogue, 0);
    assert_int_equal(ends[3].posted_count, 0); /* it is not its turn */
    rogue_pump(ends[2].rogue, 0);
    assert_int_equal(ends[2].posted_count, 2);
    bench_complete(&ends[0], 1);
    rogue_pump(ends[3].rogue, 0);
    assert_int_equal(ends[3].posted_count, 2);
    bench_complete(&ends[2], 1);
    bench_complete(&ends[3], 1);
    for (unsigned i = 0; i < ENDS; i++)
        assert_int_equal(ends[i].ended_count, 1);
    assert_int_equal(limiters.taken, 0);
    assert_int_equal(rogue_counts_of(ends[0].rogue)->limiter_waits, 0);
    end();
}

/* The application wants no signal; without one the limiter would never be free. */
static void last_piece_is_signaled(void **state)
{
    (void)state;
    begin(1, ROGUE_RC);
    bench_post(&ends[0], ROGUE_WRITE, 100, false);
    assert_true(bench_last(&ends[0])->piece.signaled);
    bench_post(&ends[1], ROGUE_READ, 100, false);
    assert_int_equal(ends[1].posted_count, 0);
    bench_complete(&ends[0], 0);
    rogue_pump(ends[1].rogue, 0);
    assert_int_equal(ends[1].posted_count, 1);
    bench_complete(&ends[1], 0);
    assert_int_equal(limiters.taken, 0);
    end();
}

/* Completes the pieces of an end one by one until it posts no more. Returns how many there were. */
static unsigned run_turn(struct bench *bench, unsigned *completed)
{
    unsigned before = *completed;

    rogue_pump(bench->rogue, 0);
    while (under_way(bench, *completed) > 0)
        bench_complete(bench, (*completed)++);
    return *completed - before;
}

/* Connections with endless data have the limiter by turns, of so many batches. */
static void takes_turns(void **state)
{
    unsigned completed[3] = {0};

    (void)state;
    begin(1, ROGUE_RC);
    bench_post(&ends[0], ROGUE_WRITE, 60 * SEGMENT, true);
    while (completed[0] < 2 * TURN + 1)
        bench_complete(&ends[0], completed[0]++);
    assert_true(under_way(&ends[0], completed[0]) > 0); /* nobody waits, so it goes on */
    bench_post(&ends[1], ROGUE_WRITE, 60 * SEGMENT, true);
    bench_post(&ends[2], ROGUE_READ, 60 * SEGMENT, true);
    while (under_way(&ends[0], completed[0]) > 0) /* what is under way, and no more */
        bench_complete(&ends[0], completed[0]++);
    assert_true(completed[0] <= 2 * TURN + 3);
    for (unsigned round = 0; round < 4; round++)
        for (unsigned i = 1; i <= 3; i++) {
            assert_int_equal(run_turn(&ends[i % 3], &completed[i % 3]), TURN);
            assert_int_equal(limiters.taken, 1);
        }
    /* Round trips of the first bytes after a wait are not used, if the limiter was set. */
    assert_true(rogue_counts_of(ends[0].rogue)->limiter_waits >= 4);
    end();
}

/* A connection that breaks gives its limiter back, or leaves the line. */
static void broken_ones_leave(void **state)
{
    (void)state;
    begin(1, ROGUE_RC);
    for (unsigned i = 0; i < ENDS; i++)
        bench_post(&ends[i], ROGUE_WRITE, 100, true);
    rogue_fail(ends[1].rogue, 7); /* it waits */
    assert_int_equal(ends[1].ended[0].status, 7);
    rogue_fail(ends[0].rogue, 7); /* it has the limiter */
    assert_true(ends[2].limited.has && !ends[1].limited.waits && !ends[1].limited.has);
    bench_post(&ends[0], ROGUE_WRITE, 100, true); /* flushed: takes none */
    assert_false(ends[0].limited.waits);
    rogue_pump(ends[2].rogue, 0);
    bench_err(&ends[2], 0, 9); /* breaks */
    assert_true(ends[3].limited.has);
    end();
}

/* The limiter stays with a connection whose queue pair has failed until its shadow is through. */
static void failure_keeps_the_limiter(void **state)
{
    (void)state;
    begin(1, ROGUE_RC);
    bench_post(&ends[0], ROGUE_WRITE, 100, true);
    bench_post(&ends[1], ROGUE_WRITE, 100, true);
    bench_lose_from(&ends[0], 0);
    assert_int_equal(bench_last(&ends[0])->qp, 1); /* repeated on the shadow */
    assert_true(ends[0].limited.has);
    bench_complete(&ends[0], 0);
    rogue_pump(ends[1].rogue, 0);
    assert_int_equal(ends[1].posted_count, 1);
    end();
}

/* On UC a batch is under way until it is answered, or given up. */
static void unreliable_ones_wait_for_answers(void **state)
{
    (void)state;
    begin(1, ROGUE_UC);
    bench_post(&ends[0], ROGUE_WRITE, 100, true);
    bench_post(&ends[1], ROGUE_WRITE, 100, true);
    bench_complete(&ends[0], 0); /* has left */
    assert_true(ends[0].limited.has);
    rogue_immediate(ends[0].rogue, bench_last(&ends[0])->piece.echo_imm, true, 10, 10);
    assert_true(ends[1].limited.has);
    rogue_pump(ends[1].rogue, 10);
    bench_complete(&ends[1], 0);
    rogue_expire(ends[1].rogue, rogue_next(ends[1].rogue)); /* no answer comes */
    assert_int_equal(limiters.taken, 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line),
        cmocka_unit_test(any_number),
        cmocka_unit_test(waits_until_one_is_quiet),
        cmocka_unit_test(last_piece_is_signaled),
        cmocka_unit_test(takes_turns),
        cmocka_unit_test(broken_ones_leave),
        cmocka_unit_test(failure_keeps_the_limiter),
        cmocka_unit_test(unreliable_ones_wait_for_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
