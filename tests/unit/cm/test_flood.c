/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks by strangers on a connection manager: the limit of half-open connections, honest peers
 * beside them, and guessed numbers, which change nothing.
 */
#include <string.h>

#include "tests/support/cm_pair.h"
#include "tests/support/test.h"

#define SECOND    (1000 * OCHE_MS)
#define HALF_OPEN 8

static struct cm_pair pair;

static int begin(void **state)
{
    (void)state;
    cm_pair_init(&pair, 1);
    pair.ends[1].cm.most_half_open = HALF_OPEN;
    return 0;
}

/* A REQ to end 1 from end 0's address; its sender never confirms. */
static void stranger_asks(uint32_t id, uint32_t qpn, uint64_t tid)
{
    struct oche_cm_message request = {.kind = OCHE_CM_REQ,
                                      .tid = tid,
                                      .local_id = id,
                                      .qpn = qpn,
                                      .mtu = 5,
                                      .local_response_timeout = 31,
                                      .max_cm_retries = 15};
    uint8_t mad[OCHE_MAD_BYTES];

    oche_cm_write(&request, mad);
    oche_cm_arrive(&pair.ends[1].cm, pair.now, pair.ends[1].gid, pair.ends[0].gid, mad,
                   sizeof(mad));
}

static unsigned answers, last_reason, resent;

static bool count_answers(struct cm_pair *of, unsigned from, const struct oche_cm_message *message)
{
    (void)of;
    if (from == 1) {
        answers++;
        last_reason = message->reason;
        resent += message->kind == OCHE_CM_REP;
    }
    return true;
}

/* Answers to strangers, which nobody receives. */
static bool for_strangers_lost(struct cm_pair *of, unsigned from,
                               const struct oche_cm_message *message)
{
    (void)of;
    return from == 0 || (message->remote_id & 0xffff0000) != 0;
}

/* ---- how many ---- */

static void the_oldest_goes_first(void **state)
{
    struct cm_pair_conn *honest;

    (void)state;
    pair.filter = for_strangers_lost;
    for (uint32_t i = 0; i < HALF_OPEN; i++) {
        stranger_asks(1 + i, 0x1000 + i, i);
        cm_pair_run(&pair, pair.now + OCHE_MS);
    }
    assert_int_equal(pair.ends[1].cm.half_open_count, HALF_OPEN);
    honest = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, pair.now + 10 * OCHE_MS);
    assert_int_equal(honest->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(pair.ends[1].cm.stats.displaced, 1);
    assert_int_equal(pair.ends[1].cm.half_open_count, HALF_OPEN - 1);
    assert_true(CM_PAIR_HAD(cm_pair_nth(&pair, 1, 0), OCHE_CM_REQUESTED, OCHE_CM_UNCONFIRMED));
    assert_true(CM_PAIR_HAD(cm_pair_nth(&pair, 1, 1), OCHE_CM_REQUESTED));
    /* a timeout of 8,800 s counts as 17 s, 16 times: then all of them are over */
    cm_pair_run(&pair, pair.now + 16 * oche_cm_time(22));
    assert_int_equal(pair.ends[1].cm.half_open_count, 0);
    assert_null(pair.ends[1].cm.unconfirmed);
}

/* The program does not decide. Pending requests stay, and further ones get no answer. */
static void a_program_that_does_not_decide(void **state)
{
    struct cm_pair_conn *honest;
    struct oche_cm_message answer = {
        .qpn = 0x200, .local_response_timeout = 20, .max_cm_retries = 15};

    (void)state;
    pair.ends[1].plan = CM_PAIR_WAIT;
    for (uint32_t i = 0; i < 3 * HALF_OPEN; i++)
        stranger_asks(1 + i, 0x1000 + i, i);
    assert_int_equal(pair.ends[1].cm.half_open_count, HALF_OPEN);
    assert_int_equal(pair.ends[1].cm.stats.crowded, 2 * HALF_OPEN);
    honest = cm_pair_connect(&pair, 0x100);
    pair.filter = for_strangers_lost;
    cm_pair_run(&pair, pair.now + 100 * OCHE_MS);
    assert_int_equal(honest->event_count, 0);
    assert_true(oche_cm_accept(&pair.ends[1].cm, pair.now, &cm_pair_nth(&pair, 1, 0)->conn,
                               &answer)); /* the first is waited for, and may end */
    pair.ends[1].plan = CM_PAIR_ACCEPT;
    cm_pair_run(&pair, pair.now + SECOND); /* the honest peer has asked again */
    assert_int_equal(honest->conn.state, OCHE_CM_ESTABLISHED);
}

/* A peer that asks for unknown services does not take all places for waiting requests. */
static void one_peer_waits_in_few_places(void **state)
{
    (void)state;
    pair.filter = count_answers;
    pair.ends[1].plan = CM_PAIR_REFUSE;
    answers = 0;
    for (uint32_t i = 0; i < OCHE_CM_MOST_GRACE; i++) {
        stranger_asks(1 + i, 0x1000 + i, i);
        stranger_asks(1 + i, 0x1000 + i, i); /* a repeated request takes no place of its own */
    }
    assert_int_equal(answers, 2 * (OCHE_CM_MOST_GRACE - OCHE_CM_MOST_GRACE / 4));
    cm_pair_run(&pair, SECOND);
    assert_int_equal(answers,
                     2 * (OCHE_CM_MOST_GRACE - OCHE_CM_MOST_GRACE / 4) + OCHE_CM_MOST_GRACE / 4);
    assert_int_equal(last_reason, OCHE_CM_REASON_INVALID_SERVICE);
}

/* A peer that states a response time of zero does not make us send without pause. */
static void a_peer_without_patience(void **state)
{
    struct oche_cm_message answer = {.qpn = 0x200, .local_response_timeout = 0};

    (void)state;
    pair.filter = count_answers;
    pair.ends[1].plan = CM_PAIR_WAIT;
    stranger_asks(1, 0x1000, 1);
    answers = 0;
    pair.lose_percent = 100;
    answer.max_cm_retries = 15;
    assert_true(
        oche_cm_accept(&pair.ends[1].cm, pair.now, &cm_pair_nth(&pair, 1, 0)->conn, &answer));
    cm_pair_run(&pair, 100 * OCHE_MS);
    assert_in_range(answers, 2, 12);
    cm_pair_run(&pair, SECOND);
    assert_in_range(answers, 16, 20);
    assert_int_equal(pair.ends[1].cm.half_open_count, 0);
}

/* ---- guessed numbers ---- */

/* All numbers are right but the transaction, which only readers of our messages can know. */
static void another_transaction(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);
    const struct oche_cm_conn *conn;

    (void)state;
    cm_pair_run(&pair, SECOND);
    conn = &cm_pair_nth(&pair, 1, 0)->conn;
    for (uint8_t kind = OCHE_CM_MRA; kind <= OCHE_CM_DREP; kind++) {
        struct oche_cm_message message = {.kind = kind,
                                          .tid = conn->tid ^ 1,
                                          .local_id = conn->remote_id,
                                          .remote_id = conn->local_id};
        uint8_t mad[OCHE_MAD_BYTES];

        oche_cm_write(&message, mad);
        if (kind != OCHE_CM_DREQ)
            oche_cm_arrive(&pair.ends[1].cm, pair.now, pair.ends[1].gid, pair.ends[0].gid, mad,
                           sizeof(mad));
    }
    assert_int_equal(conn->state, OCHE_CM_ESTABLISHED);
    assert_int_equal(pair.ends[1].cm.stats.strangers, 5);
    assert_int_equal(active->conn.state, OCHE_CM_ESTABLISHED);
}

/* A REQ with the queue pair of a connection: its peer is asked, and the connection continues. */
static void a_forged_restart(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    cm_pair_run(&pair, SECOND);
    pair.filter = count_answers;
    answers = resent = 0;
    for (unsigned i = 0; i < 100; i++)
        stranger_asks(77 + i, 0x100, i);
    assert_int_equal(answers, 101); /* STALE, and the REP once */
    assert_int_equal(resent, 1);
    cm_pair_run(&pair, 200 * SECOND);
    assert_int_equal(active->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(cm_pair_nth(&pair, 1, 0)->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(resent, 1);
    assert_null(pair.ends[1].cm.timers);
}

/* The peer has gone, and its host is silent: the connection ends. */
static void a_restart_that_is_silent(void **state)
{
    cm_pair_connect(&pair, 0x100);

    (void)state;
    cm_pair_run(&pair, SECOND);
    pair.ends[0].dead = true;
    stranger_asks(77, 0x100, 1);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(cm_pair_nth(&pair, 1, 0), OCHE_CM_REQUESTED, OCHE_CM_CONNECTED,
                            OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
    assert_true(pair.now <= SECOND + 17 * oche_cm_time(OCHE_CM_RESPONSE_TIMEOUT) + SECOND);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_oldest_goes_first),        TEST(a_program_that_does_not_decide),
        TEST(one_peer_waits_in_few_places), TEST(a_peer_without_patience),
        TEST(another_transaction),          TEST(a_forged_restart),
        TEST(a_restart_that_is_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
