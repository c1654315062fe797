/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failed queue pair and the verbs that complete, and a connection that fails again and again
 * (rogue.md#r25, rogue.md#r27).
 */
#include "tests/unit/rogue/two_ends.h"

/* ---- held verbs (rogue.md#r27) ---- */

/*
 * rogue.md#r27: the failed queue pair's packets may still change the peer's memory until the peer
 * knows of the failure. Until then no verb completes, but posting continues.
 */
static void ends_wait_until_the_peer_has_heard(void **state)
{
    static const enum rogue_resync_kind kinds[] = {ROGUE_RESYNC_REQUEST, ROGUE_RESYNC_REPLY};

    (void)state;
    for (unsigned row = 0; row < 4; row++) {
        bool held = row / 2 == 0;

        bench_init(&a);
        a.params.hold_ends = held;
        bench_open(&a);
        post_writes(&a, 4, true);
        bench_complete(&a, 0);
        bench_lose_from(&a, 1);
        for (unsigned i = 1; i < 4; i++) {
            bench_complete(&a, i);
            assert_int_equal(a.ended_count, held ? 1 : 1 + i);
        }
        post_writes(&a, 1, true);
        assert_int_equal(bench_last(&a)->verb.id, 4);
        bench_hear(&a, kinds[row % 2], 0, 0, 5); /* of an earlier failure */
        bench_hear(&a, ROGUE_RESYNC_DONE, 0, 1, 0);
        assert_int_equal(a.ended_count, held ? 1 : 4);
        bench_hear(&a, kinds[row % 2], 0, 1, 5);
        assert_done(&a, 4);
        bench_complete(&a, 4);
        assert_done(&a, 5);
        bench_close(&a);
    }
}

/* When the connection fails, completed verbs count as done, even if they were held. */
static void what_was_held_is_done_in_the_end(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 4, true);
    bench_lose_from(&a, 0);
    bench_complete(&a, 0);
    bench_complete(&a, 1);
    assert_int_equal(a.ended_count, 0);
    bench_err(&a, 2, 10);
    assert_int_equal(a.ended_count, 4);
    assert_int_equal(a.ended[0].outcome, ROGUE_DONE);
    assert_int_equal(a.ended[1].outcome, ROGUE_DONE);
    assert_int_equal(a.ended[2].outcome, ROGUE_FAILED);
    assert_int_equal(a.ended[2].status, 10);
    assert_int_equal(a.ended[3].outcome, ROGUE_FLUSHED);
    end();
}

/* ---- fruitless switches (rogue.md#r25) ---- */

/* Fails the first piece under way and restores the queue pair, until the connection breaks. */
static unsigned failures_until_broken(uint64_t number)
{
    unsigned failures = 0;

    while (!rogue_broken(a.rogue)) {
        bench_lose_from(&a, number);
        bench_settle(&a, &b);
        assert_true(++failures < 100);
    }
    return failures;
}

/* The peer's library answers, but no data sent to it completes. */
static void a_peer_that_refuses(void **state)
{
    static const struct {
        uint64_t param;
        uint32_t retry_count;
        unsigned failures;
    } cases[] = {{8, UINT32_MAX, 9}, {8, 7, 9}, {8, 2, 4}, {3, 7, 4}, {1, 0, 2}, {8, 0, 2}};

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench_init(&a);
        bench_init(&b);
        a.params.fruitless_switches = cases[i].param;
        bench_open(&a);
        if (cases[i].retry_count != UINT32_MAX)
            rogue_set_retry_count(a.rogue, cases[i].retry_count);
        bench_open(&b);
        post_writes(&a, 3, true);
        assert_int_equal(failures_until_broken(0), cases[i].failures);
        assert_int_equal(rogue_counts_of(a.rogue)->switches, cases[i].failures - 1);
        assert_int_equal(a.ended_count, 3);
        assert_int_equal(a.ended[0].outcome, ROGUE_FAILED);
        assert_int_equal(a.ended[0].status, BENCH_STATUS);
        assert_int_equal(a.ended[2].outcome, ROGUE_FLUSHED);
        assert_true(rogue_next(a.rogue) == OCHE_NEVER);
        end();
    }
}

/* One completed segment of a verb is progress, even if only a later failure reports it. */
static void progress_counts_anew(void **state)
{
    (void)state;
    for (unsigned told = 0; told < 2; told++) {
        begin();
        if (told)
            bench_post(&a, ROGUE_WRITE, 2 * SEGMENT, true);
        else
            post_writes(&a, 2, false);
        for (unsigned i = 0; i < 8; i++) {
            bench_lose_from(&a, 0);
            bench_settle(&a, &b);
        }
        assert_false(rogue_broken(a.rogue));
        if (told)
            bench_complete(&a, 0);
        assert_int_equal(failures_until_broken(1), 9);
        end();
    }
}

/* The peer's queue pairs fail, each time with our verbs under way. */
static void the_peer_fails_again_and_again(void **state)
{
    (void)state;
    begin();
    b.params.fruitless_switches = 100;
    post_writes(&a, 1, true);
    post_writes(&b, 1, true);
    for (unsigned i = 0; i <= 8; i++) {
        assert_false(rogue_broken(a.rogue));
        bench_lose(&b, 0);
        bench_pass(&b, &a);
        if (!rogue_broken(a.rogue)) {
            bench_flush(&a, 0);
            bench_flush_marker(&a);
        }
        bench_settle(&a, &b);
    }
    assert_true(rogue_broken(a.rogue));
    assert_int_equal(a.ended_count, 1);
    assert_int_equal(a.ended[0].outcome, ROGUE_FAILED);
    assert_int_equal(a.ended[0].status, BENCH_STATUS);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_wait_until_the_peer_has_heard),
        cmocka_unit_test(what_was_held_is_done_in_the_end),
        cmocka_unit_test(a_peer_that_refuses),
        cmocka_unit_test(progress_counts_anew),
        cmocka_unit_test(the_peer_fails_again_and_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
