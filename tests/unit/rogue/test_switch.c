/* SPDX-License-Identifier: Apache-2.0 */
/* Shadow queue pairs (RoGUE sec 3.5), and how failed ones are restored (rogue.md#resync). */
#include <string.h>

#include "core/random.h"
#include "tests/unit/rogue/two_ends.h"

/* Both ends know of the same failures, and the queue pair is usable again at both. */
static void assert_back(unsigned qp, uint32_t epoch)
{
    const struct bench_restart *at_a = &a.restarts[a.restart_count - 1];
    const struct bench_restart *at_b = &b.restarts[b.restart_count - 1];

    assert_int_equal(rogue_epoch(a.rogue, qp), epoch);
    assert_int_equal(rogue_epoch(b.rogue, qp), epoch);
    assert_int_equal(at_a->qp, qp);
    assert_int_equal(at_b->qp, qp);
    assert_int_equal(at_a->send_psn, at_b->recv_psn);
    assert_int_equal(at_b->send_psn, at_a->recv_psn);
    assert_true(at_a->send_psn <= OCHE_PSN_MASK && at_b->send_psn <= OCHE_PSN_MASK);
    assert_int_not_equal(at_a->send_psn, at_b->send_psn);
    assert_true(rogue_next(a.rogue) == OCHE_NEVER);
    assert_true(rogue_next(b.rogue) == OCHE_NEVER);
}

/* ---- the shadow takes over ---- */

static void the_shadow_begins_with_what_failed(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 5; lost++) {
        begin();
        post_writes(&a, 5, false);
        bench_lose_from(&a, lost);
        assert_int_equal(a.ended_count, lost);
        assert_int_equal(rogue_active(a.rogue), 1);
        assert_int_equal(a.posted_count, 5 + 5 - lost);
        for (unsigned i = lost; i < 5; i++) {
            const struct bench_piece *again = &a.posted[5 + i - lost];

            assert_int_equal(again->qp, 1);
            assert_int_equal(again->piece.number, i);
            assert_int_equal(again->verb.id, i);
        }
        post_writes(&a, 1, true);
        bench_complete(&a, 5);
        assert_int_equal(rogue_counts_of(a.rogue)->switches, 1);
        assert_int_equal(rogue_counts_of(a.rogue)->replayed_pieces, 5 - lost);
        assert_false(rogue_idle(a.rogue)); /* its queue pair 0 is not restored */
        bench_settle(&a, &b);
        assert_done(&a, 6);
        assert_back(0, 1);
        assert_true(rogue_idle(a.rogue) && rogue_idle(b.rogue));
        end();
    }
}

/* Segments that had arrived are not sent again. */
static void a_large_verb_goes_on_at_its_failed_segment(void **state)
{
    (void)state;
    begin();
    bench_post(&a, ROGUE_WRITE, 5 * SEGMENT + 1, true);
    bench_complete(&a, 0);
    bench_complete(&a, 1);
    bench_lose_from(&a, 2);
    const struct bench_piece *again = bench_piece(&a, 2);
    assert_int_equal(again->qp, 1);
    assert_int_equal(again->piece.offset, 2 * SEGMENT);
    for (unsigned i = 2; i < 6; i++)
        bench_complete(&a, i);
    bench_settle(&a, &b);
    assert_done(&a, 1);
    end();
}

/*
 * rogue.md#r13: no piece is posted on the shadow before the failed queue pair's flushes have come.
 */
static void the_shadow_waits_for_flushes(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 4, false);
    bench_lose(&a, 1);
    for (unsigned i = 2; i < 4; i++) {
        post_writes(&a, 1, true);
        assert_int_equal(a.posted_count, 4);
        assert_int_equal(a.told_count, 0);
        bench_flush(&a, i);
    }
    assert_int_equal(a.posted_count, 4 + 5);
    assert_int_equal(bench_piece(&a, 1)->qp, 1);
    assert_int_equal(a.told_count, 1);
    end();
}

/* The rates of both windows move with the connection, unless they are the line's. */
static void the_shadow_has_the_limits(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 1, true);
    bench_lose(&a, 0);
    assert_int_equal(a.limit_count, 0);
    end();

    bench_init(&a);
    bench_open(&a);
    bench_post(&a, ROGUE_WRITE, 1000, true);
    bench_post(&a, ROGUE_READ, 1000, true);
    a.now = OCHE_MS;
    bench_complete(&a, 0);
    bench_complete(&a, 1);
    assert_int_equal(a.limit_count, 2);
    bench_post(&a, ROGUE_READ, 1000, true);
    bench_lose(&a, 2);
    assert_int_equal(a.limit_count, 4);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(a.limits[i].qp, 0);
        assert_int_equal(a.limits[i + 2].qp, 1);
        assert_int_equal(a.limits[i + 2].reads, i == 1);
    }
    assert_int_equal(a.limits[2].bps, a.limits[0].bps);
    assert_true(a.limits[3].bps < a.limits[1].bps); /* the READ failed */
    bench_close(&a);
}

/* rogue.md#r23: initial values until the first round trip. READs have lost nothing. */
static void a_failure_sets_the_window_back(void **state)
{
    const struct rogue_window *window;

    (void)state;
    bench_init(&a);
    a.params.hold_off_bytes = 0;
    bench_open(&a);
    window = rogue_window_of(a.rogue, ROGUE_OUT);
    bench_post(&a, ROGUE_READ, 10 * BENCH_MTU, true);
    bench_post(&a, ROGUE_WRITE, 10 * BENCH_MTU + 20 * SEGMENT, true);
    a.now = 500 * OCHE_US;
    bench_complete(&a, 0);
    bench_complete(&a, 1);
    a.now += 10 * OCHE_MS;
    bench_complete(&a, 2); /* that took long: slow start ends */
    assert_false(window->slow_start);
    assert_true(window->bytes > 10 * BENCH_MTU);
    bench_lose_from(&a, 3);
    assert_true(window->slow_start);
    assert_int_equal(window->bytes, 10 * BENCH_MTU);
    assert_int_equal(window->rate_bps, oche_rate_of(10 * BENCH_MTU, window->base_rtt));
    assert_int_equal(rogue_window_of(a.rogue, ROGUE_IN)->bytes, 20 * BENCH_MTU);
    /* on the shadow only the window, and two segments only after its round trip */
    assert_int_equal(bench_last(&a)->qp, 1);
    assert_int_equal(bench_last(&a)->piece.number, 3);
    assert_int_equal(bench_last(&a)->piece.bytes, 10 * BENCH_MTU);
    a.now += 10 * OCHE_MS;
    bench_complete(&a, 3);
    assert_int_equal(bench_last(&a)->piece.number, 5);
    bench_close(&a);
}

/* Failed pieces are no longer under way, also inside a batch: the amount is the window. */
static void the_window_holds_after_a_failure(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 16; lost++) {
        bench_init(&a);
        a.params.first_batch = ROGUE_FIRST_SEGMENT;
        a.params.segment_bytes = 4 * BENCH_MTU;
        a.params.initial_packets = 16;
        bench_open(&a);
        for (unsigned i = 0; i < 50; i++)
            bench_post(&a, i < 8 ? ROGUE_WRITE : ROGUE_SEND, BENCH_MTU, false);
        assert_int_equal(a.posted_count, 16);
        bench_lose_from(&a, lost);
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(bench_last(&a)->piece.number, lost + 4 * i + 15);
            bench_complete(&a, lost + 4 * i + 3);
        }
        assert_int_equal(a.ended_count, lost); /* the peer has not heard */
        bench_close(&a);
    }
}

/* Nor are its batches: two of them are on the shadow, too. */
static void two_batches_after_a_failure(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        begin();
        a.params.initial_packets = 1;
        bench_close(&a);
        bench_open(&a);
        bench_post(&a, ROGUE_WRITE, 10 * SEGMENT, true);
        assert_int_equal(a.posted_count, 2);
        bench_lose_from(&a, lost);
        assert_int_equal(a.posted_count, 4);
        assert_int_equal(bench_last(&a)->piece.number, lost + 1);
        end();
    }
}

/* A verb longer than the rest of the first window. */
static void a_large_verb_after_a_failure(void **state)
{
    (void)state;
    bench_init(&a);
    bench_open(&a);
    for (unsigned i = 0; i < 5; i++)
        bench_post(&a, ROGUE_WRITE, BENCH_MTU, false);
    bench_post(&a, ROGUE_WRITE, SEGMENT, true);
    bench_lose_from(&a, 4);
    bench_complete(&a, bench_last(&a)->piece.number);
    bench_complete(&a, bench_last(&a)->piece.number);
    bench_hear(&a, ROGUE_RESYNC_REPLY, 0, 1, 0);
    assert_done(&a, 6);
    bench_close(&a);
}

/* ---- bringing back ---- */

static void the_messages(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 1, true);
    bench_lose(&a, 0);
    assert_int_equal(a.told_count, 1);
    const struct rogue_resync request = a.told[0];
    assert_int_equal(request.kind, ROGUE_RESYNC_REQUEST);
    assert_int_equal(request.qp, 0);
    assert_int_equal(request.epoch, 1);
    assert_true(request.token == BENCH_TOKEN && request.psn <= OCHE_PSN_MASK);
    assert_int_equal(a.restart_count, 0); /* the peer's PSN is not known */

    bench_pass(&a, &b);
    assert_int_equal(b.failed[0], 1);
    assert_int_equal(b.failed[1], 0);
    assert_int_equal(b.restart_count, 1);
    assert_int_equal(b.restarts[0].recv_psn, request.psn);
    assert_int_equal(rogue_active(b.rogue), 1);
    assert_false(rogue_idle(b.rogue)); /* it does not know if the other one is ready */
    const struct rogue_resync *reply = &b.told[b.told_count - 1];
    assert_int_equal(reply->kind, ROGUE_RESYNC_REPLY);
    assert_int_equal(reply->psn, b.restarts[0].send_psn);

    bench_pass(&b, &a);
    assert_true(rogue_epoch(a.rogue, 0) == 1 && a.restart_count == 1);
    assert_int_equal(a.told[a.told_count - 1].kind, ROGUE_RESYNC_DONE);
    bench_settle(&a, &b);
    assert_back(0, 1);
    assert_int_equal(a.failed[0], 0); /* it had failed by itself */
    assert_int_equal(rogue_counts_of(a.rogue)->resynchronised, 1);
    assert_int_equal(rogue_counts_of(b.rogue)->resynchronised, 1);
    end();
}

/* Queue pairs alternate. Each failure is an epoch of the one that failed. */
static void again_and_again(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 20; i++) {
        post_writes(&a, 1, true);
        assert_int_equal(bench_last(&a)->qp, i % 2);
        bench_lose(&a, i);
        assert_int_equal(bench_last(&a)->qp, 1 - i % 2);
        bench_settle(&a, &b);
        assert_back(i % 2, i / 2 + 1);
        bench_complete(&a, i);
    }
    assert_done(&a, 20);
    end();
}

/* Both ends' verbs are lost at once: rogue.md#resync has no rule for ties, and needs none. */
static void both_ends_begin(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 2, true);
    post_writes(&b, 3, true);
    bench_lose_from(&a, 0);
    bench_lose_from(&b, 1);
    bench_settle(&a, &b);
    assert_back(0, 1);
    bench_complete(&a, 1);
    bench_complete(&b, 2);
    assert_done(&a, 2);
    assert_done(&b, 3);
    assert_true(rogue_idle(a.rogue) && rogue_idle(b.rogue));
    end();
}

/* One end learns of it while its own queue pair drains. */
static void a_request_while_draining(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 2, true);
    post_writes(&b, 2, true);
    bench_lose(&b, 0);
    bench_lose_from(&a, 0);
    bench_pass(&a, &b);
    assert_int_equal(b.restart_count, 0);
    assert_int_equal(b.told_count, 0);
    bench_flush(&b, 1);
    assert_int_equal(b.restart_count, 1);
    bench_settle(&a, &b);
    assert_back(0, 1);
    end();
}

/* The peer's failure comes while our verbs are under way on the same queue pair. */
static void the_peer_begins(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 1, true);
    post_writes(&b, 3, true);
    bench_complete(&b, 0);
    bench_lose(&a, 0);
    bench_pass(&a, &b);
    assert_int_equal(b.failed[0], 1);
    assert_int_equal(b.posted_count, 3);
    bench_complete(&b, 1); /* it had, before */
    bench_flush(&b, 2);
    bench_flush_marker(&b);
    assert_int_equal(b.posted_count, 4);
    assert_int_equal(bench_last(&b)->piece.number, 2);
    assert_int_equal(bench_last(&b)->qp, 1);
    bench_settle(&a, &b);
    assert_back(0, 1);
    bench_complete(&b, 2);
    assert_done(&b, 3);
    end();
}

/* All our pieces had completed without signals, so no completion shows that it is empty. */
static void the_peer_begins_when_nothing_is_flushed(void **state)
{
    (void)state;
    for (uint64_t room = 0; room < 2; room++) {
        begin();
        post_writes(&a, 1, true);
        post_writes(&b, 3, false);
        post_writes(&b, 1, room == 0);
        b.room = room; /* the send queue may be full of them */
        bench_lose(&a, 0);
        bench_pass(&a, &b);
        assert_int_equal(b.markers, room);
        b.room = 100;
        if (room == 0)
            bench_complete(&b, 3);
        assert_int_equal(b.markers, 1);
        bench_flush_marker(&b);
        assert_int_equal(b.ended_count, room == 0 ? 4 : 0);
        assert_int_equal(b.posted_count, room == 0 ? 4 : 8);
        bench_settle(&a, &b);
        assert_back(0, 1);
        end();
    }
}

/* rogue.md#r11, also when the peer begins. */
static void the_peer_begins_and_an_atomic_is_under_way(void **state)
{
    (void)state;
    for (unsigned done = 0; done < 2; done++) {
        begin();
        post_writes(&a, 1, true);
        bench_post(&b, ROGUE_ATOMIC, 8, true);
        post_writes(&b, 1, true);
        bench_lose(&a, 0);
        bench_pass(&a, &b);
        if (done == 1)
            bench_complete(&b, 0);
        bench_flush_from(&b, done);
        bench_flush_marker(&b);
        assert_int_equal(rogue_broken(b.rogue), done == 0);
        assert_int_equal(b.posted_count, done == 0 ? 2 : 3);
        if (done == 0) {
            assert_int_equal(b.ended_count, 2);
            assert_int_equal(b.ended[0].outcome, ROGUE_FAILED);
            assert_int_equal(b.ended[1].outcome, ROGUE_FLUSHED);
        }
        end();
    }
}

static void both_queue_pairs_fail(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 3, true);
    bench_lose_from(&a, 0);
    assert_int_equal(a.posted_count, 6);
    bench_lose_from(&a, 0);
    assert_int_equal(a.posted_count, 6); /* none is left: verbs wait */
    post_writes(&a, 1, true);
    assert_int_equal(a.posted_count, 6);
    assert_int_equal(a.told_count, 2);
    assert_int_equal(a.told[0].qp, 0);
    assert_int_equal(a.told[1].qp, 1);
    assert_int_equal(rogue_counts_of(a.rogue)->switches, 1); /* there was no other queue pair */
    /* the second is restored first: it continues */
    rogue_told(b.rogue, &a.told[1], 0);
    a.passed = 2;
    bench_settle(&a, &b);
    assert_int_equal(a.posted_count, 10);
    assert_int_equal(bench_last(&a)->qp, 1);
    rogue_expire(a.rogue, OCHE_MS);
    bench_settle(&a, &b);
    assert_back(0, 1);
    bench_complete(&a, 3);
    assert_done(&a, 4);
    assert_true(rogue_idle(a.rogue) && rogue_idle(b.rogue));
    end();
}

/* ---- a channel with losses ---- */

static void lose_by(struct bench *from, struct bench *to, unsigned *number, uint32_t lost)
{
    for (; from->passed < from->told_count; from->passed++, ++*number)
        if (*number >= 10 || !(lost >> *number & 1))
            rogue_told(to->rogue, &from->told[from->passed], to->now);
}

/* Any of the first ten messages may be lost. */
static void any_messages_are_lost(void **state)
{
    (void)state;
    for (uint32_t lost = 0; lost < 1024; lost++) {
        unsigned number = 0;
        oche_time now = 0;

        begin();
        post_writes(&a, 1, true);
        bench_lose(&a, 0);
        for (unsigned round = 0; round < 50; round++) {
            lose_by(&a, &b, &number, lost);
            lose_by(&b, &a, &number, lost);
            if (a.passed < a.told_count || b.passed < b.told_count)
                continue;
            now = oche_time_min(rogue_next(a.rogue), rogue_next(b.rogue));
            if (now == OCHE_NEVER)
                break;
            assert_true(now <= 10 * OCHE_MS);
            a.now = b.now = now;
            rogue_expire(a.rogue, now);
            rogue_expire(b.rogue, now);
        }
        assert_back(0, 1);
        assert_int_equal(a.restart_count, 1);
        assert_int_equal(b.restart_count, 1);
        bench_complete(&a, 0);
        assert_true(rogue_idle(a.rogue) && rogue_idle(b.rogue));
        end();
    }
}

static void repeats_every_interval(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 1, true);
    a.now = 5 * OCHE_US;
    bench_lose(&a, 0);
    for (unsigned i = 1; i < 10; i++) {
        a.now = 5 * OCHE_US + i * OCHE_MS;
        assert_int_equal(rogue_next(a.rogue), a.now);
        rogue_expire(a.rogue, a.now - 1);
        assert_int_equal(a.told_count, i);
        rogue_expire(a.rogue, a.now);
        assert_int_equal(a.told_count, i + 1);
        assert_int_equal(a.told[i].kind, ROGUE_RESYNC_REQUEST);
        assert_int_equal(a.told[i].psn, a.told[0].psn);
    }
    end();
}

static void nobody_answers(void **state)
{
    (void)state;
    for (unsigned posted = 0; posted < 2; posted++) {
        begin();
        a.params.resync_tries = 7;
        post_writes(&a, 3, true);
        bench_lose_from(&a, 0);
        if (posted == 0) /* the shadow has not reached the peer either */
            bench_lose_from(&a, 0);
        unsigned told = a.told_count;
        for (unsigned i = 0; i < 7; i++) {
            assert_false(rogue_broken(a.rogue));
            a.now = rogue_next(a.rogue);
            rogue_expire(a.rogue, a.now);
        }
        assert_int_equal(a.told_count, 8 * told);
        assert_int_equal(a.ended_count, 0);
        rogue_expire(a.rogue, rogue_next(a.rogue));
        assert_true(rogue_broken(a.rogue));
        assert_true(rogue_next(a.rogue) == OCHE_NEVER);
        assert_int_equal(a.ended_count, 3);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(a.ended[i].id, i);
            assert_int_equal(a.ended[i].outcome, i == 0 ? ROGUE_FAILED : ROGUE_FLUSHED);
            assert_int_equal(a.ended[i].status, i == 0 ? BENCH_STATUS : 0);
        }
        assert_true(a.failed[0] > 0 && a.failed[1] > 0);
        bench_flush_from(&a, 0);
        post_writes(&a, 2, true);
        assert_int_equal(a.ended_count, 5);
        end();
    }
}

/* ---- forgers ---- */

/* The possible effects of a message on an end. */
static void assert_untouched(const struct bench *bench, const struct bench *before)
{
    assert_int_equal(bench->told_count, before->told_count);
    assert_int_equal(bench->restart_count, before->restart_count);
    assert_int_equal(bench->posted_count, before->posted_count);
    assert_int_equal(bench->ended_count, before->ended_count);
    assert_int_equal(bench->failed[0] + bench->failed[1], before->failed[0] + before->failed[1]);
}

/*
 * A message with another token, for another queue pair, or of any epoch other than the present one
 * or a later REQUEST.
 */
static void forge(struct bench *bench)
{
    static struct bench before;

    before = *bench;
    for (unsigned kind = 0; kind < 256; kind += kind < 5 ? 1 : 50)
        for (unsigned qp = 0; qp < 256; qp += qp < 3 ? 1 : 63)
            for (uint32_t ahead = 0; ahead < 8; ahead++) {
                static const uint32_t aheads[] = {
                    0, 1, 2, 100, UINT32_MAX, 0x7fffffff, 0x80000000, UINT32_MAX - 1};
                uint32_t epoch = rogue_epoch(bench->rogue, qp & 1) + aheads[ahead];
                struct rogue_resync message = {.kind = (uint8_t)kind,
                                               .qp = (uint8_t)qp,
                                               .epoch = epoch,
                                               .psn = 1,
                                               .token = BENCH_TOKEN ^ 1};

                rogue_told(bench->rogue, &message, bench->now);
                message.token = BENCH_TOKEN;
                if (qp > 1 || ahead > 1 || epoch == 0 ||
                    (ahead == 1 && kind != ROGUE_RESYNC_REQUEST))
                    rogue_told(bench->rogue, &message, bench->now);
                assert_untouched(bench, &before);
            }
}

static void forged_messages_do_nothing(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 3, true);
    forge(&a);
    bench_lose(&a, 0);
    forge(&a); /* while it drains */
    bench_flush_from(&a, 1);
    forge(&a); /* while it waits */
    bench_settle(&a, &b);
    forge(&a);
    forge(&b);
    bench_complete(&a, 2);
    assert_done(&a, 3);
    assert_true(rogue_idle(a.rogue) && rogue_idle(b.rogue));
    end();
}

/* Messages of the first failure come again, after it, and during and after the next. */
static void old_messages_do_nothing(void **state)
{
    (void)state;
    begin();
    post_writes(&a, 1, true);
    bench_lose(&a, 0);
    bench_settle(&a, &b);
    for (unsigned round = 0; round < 3; round++) {
        unsigned told_a = a.told_count, told_b = b.told_count;

        for (unsigned i = 0; i < told_a; i++)
            rogue_told(b.rogue, &a.told[i], b.now);
        for (unsigned i = 0; i < told_b; i++)
            rogue_told(a.rogue, &b.told[i], a.now);
        if (round == 1) {
            bench_lose(&a, 0); /* on queue pair 1, and on 0 again */
            bench_settle(&a, &b);
            bench_lose(&a, 0);
        }
        bench_settle(&a, &b);
        assert_int_equal(a.restart_count, round == 0 ? 1 : 3);
        assert_int_equal(b.restart_count, round == 0 ? 1 : 3);
    }
    assert_back(0, 2);
    bench_complete(&a, 0);
    assert_done(&a, 1);
    assert_true(rogue_idle(a.rogue) && rogue_idle(b.rogue));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shadow_begins_with_what_failed),
        cmocka_unit_test(a_large_verb_goes_on_at_its_failed_segment),
        cmocka_unit_test(the_shadow_waits_for_flushes),
        cmocka_unit_test(the_shadow_has_the_limits),
        cmocka_unit_test(a_failure_sets_the_window_back),
        cmocka_unit_test(the_window_holds_after_a_failure),
        cmocka_unit_test(two_batches_after_a_failure),
        cmocka_unit_test(a_large_verb_after_a_failure),
        cmocka_unit_test(the_messages),
        cmocka_unit_test(again_and_again),
        cmocka_unit_test(both_ends_begin),
        cmocka_unit_test(a_request_while_draining),
        cmocka_unit_test(the_peer_begins),
        cmocka_unit_test(the_peer_begins_when_nothing_is_flushed),
        cmocka_unit_test(the_peer_begins_and_an_atomic_is_under_way),
        cmocka_unit_test(both_queue_pairs_fail),
        cmocka_unit_test(any_messages_are_lost),
        cmocka_unit_test(repeats_every_interval),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(forged_messages_do_nothing),
        cmocka_unit_test(old_messages_do_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
