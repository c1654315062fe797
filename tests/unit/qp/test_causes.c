/* SPDX-License-Identifier: Apache-2.0 */
/* The cause that a failed work request names. Requests flushed after it name the same cause. */
#include "tests/support/test.h"

#include "tests/support/pair.h"

#define BYTES 100

static bool cut; /* nothing passes any more */

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    (void)packet;
    return cut ? PAIR_DROP : PAIR_PASS;
}

static struct pair *open_with(struct pair_options options, bool cut_at_once)
{
    struct pair *pair = pair_open(&options);

    pair->fate = lose;
    cut = cut_at_once;
    return pair;
}

/* Executes the work, and another WRITE behind it, which is flushed. */
static void fails(struct pair *pair, const struct oche_send_work *work, enum oche_status status,
                  enum oche_cause cause)
{
    const struct oche_send_work behind = pair_work(OCHE_WORK_WRITE, 2, 0, 0, BYTES);

    pair_post(pair, 0, work);
    pair_post(pair, 0, &behind);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 0, work->wr_id, status).cause, cause);
    assert_int_equal(pair_expect(pair, 0, 2, OCHE_STATUS_FLUSHED).cause, cause);
    pair_close(pair);
}

static void test_silence(void **state)
{
    const struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 0, BYTES);
    struct pair *pair;

    (void)state;
    fails(open_with((struct pair_options){0}, true), &write, OCHE_STATUS_RETRY_EXCEEDED,
          OCHE_CAUSE_NEVER_ANSWERED);
    for (int from = 0; from < 2; from++) { /* an ACK came before, or a request */
        pair = open_with((struct pair_options){0}, false);
        pair_post(pair, from, &write);
        pair_run_quiet(pair);
        assert_int_equal(pair_expect(pair, from, 1, OCHE_STATUS_SUCCESS).cause, OCHE_CAUSE_NONE);
        cut = true;
        fails(pair, &write, OCHE_STATUS_RETRY_EXCEEDED, OCHE_CAUSE_SILENT);
    }
}

static void test_refused(void **state)
{
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 0, BYTES);
    const struct oche_send_work send = pair_work(OCHE_WORK_SEND, 1, 0, 0, BYTES);
    struct pair *pair = open_with((struct pair_options){0}, false);

    (void)state;
    fails(open_with((struct pair_options){.rnr_retry = UINT32_MAX - 1}, false), &send,
          OCHE_STATUS_RNR_RETRY_EXCEEDED, OCHE_CAUSE_NOT_READY);
    write.rkey++;
    pair_post_recv(pair, 1, 7, 0, BYTES);
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 0, 1, OCHE_STATUS_REMOTE_ACCESS).cause,
                     OCHE_CAUSE_REFUSED_ACCESS);
    assert_int_equal(pair_expect(pair, 1, 7, OCHE_STATUS_FLUSHED).cause, OCHE_CAUSE_PEER_ACCESS);
    pair_close(pair);
    pair = open_with((struct pair_options){0}, false);
    pair_post_recv(pair, 1, 7, 0, BYTES - 1);
    pair_post_recv(pair, 1, 8, 0, BYTES - 1);
    pair_post(pair, 0, &send);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 0, 1, OCHE_STATUS_REMOTE_INVALID_REQUEST).cause,
                     OCHE_CAUSE_REFUSED_REQUEST);
    assert_int_equal(pair_expect(pair, 1, 7, OCHE_STATUS_LOCAL_LENGTH).cause,
                     OCHE_CAUSE_RECEIVE_SHORT);
    assert_int_equal(pair_expect(pair, 1, 8, OCHE_STATUS_FLUSHED).cause, OCHE_CAUSE_RECEIVE_SHORT);
    pair_close(pair);
}

static void test_own_memory(void **state)
{
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 0, BYTES);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, BYTES);

    (void)state;
    write.sge[0].lkey++;
    read.sge[0].lkey++;
    fails(open_with((struct pair_options){0}, false), &write, OCHE_STATUS_LOCAL_PROTECTION,
          OCHE_CAUSE_SEND_MEMORY);
    fails(open_with((struct pair_options){0}, false), &read, OCHE_STATUS_LOCAL_PROTECTION,
          OCHE_CAUSE_RESULT_MEMORY);
}

/*
 * The program itself has put the queue pair into the error state. After a reset no cause remains.
 */
static void test_none(void **state)
{
    struct pair *pair = open_with((struct pair_options){0}, true);
    const struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 0, BYTES);

    (void)state;
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED).cause,
                     OCHE_CAUSE_NEVER_ANSWERED);
    oche_qp_reset(pair->side[0].qp[0]);
    assert_true(oche_qp_init(pair->side[0].qp[0], pair->now));
    pair_post_recv(pair, 0, 7, 0, BYTES);
    oche_qp_fail(pair->side[0].qp[0], pair->now);
    assert_int_equal(pair_expect(pair, 0, 7, OCHE_STATUS_FLUSHED).cause, OCHE_CAUSE_NONE);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_own_memory),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
