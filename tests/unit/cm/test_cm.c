/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two connection managers: the reaction to each message in each state, repetition and giving up,
 * and cleanup at the end.
 */
#include <string.h>

#include "tests/support/cm_pair.h"
#include "tests/support/test.h"

static struct cm_pair pair;

#define SECOND (1000 * OCHE_MS)

static int begin(void **state)
{
    (void)state;
    cm_pair_init(&pair, 1);
    return 0;
}

/* Fails unless both ends have forgotten everything. */
static void nothing_is_left(void)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct oche_cm *cm = &pair.ends[i].cm;

        assert_null(cm->timers);
        for (unsigned b = 0; b < OCHE_CM_BUCKETS; b++) {
            assert_null(cm->by_id[b]);
            assert_null(cm->by_remote[b]);
            assert_null(cm->by_qpn[b]);
        }
    }
}

static struct cm_pair_conn *passive(void)
{
    return cm_pair_nth(&pair, 1, 0);
}

/* ---- up and down ---- */

static void up_and_down(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    cm_pair_run(&pair, SECOND);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED));
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_CONNECTED));
    assert_int_equal(active->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(passive()->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(active->conn.remote_id, passive()->conn.local_id);
    assert_int_equal(active->conn.remote_qpn, 0x200);
    assert_int_equal(passive()->conn.remote_qpn, 0x100);
    assert_int_equal(active->conn.local_id >> 26, 1);
    assert_int_equal(passive()->conn.local_id >> 26, 2);
    assert_memory_equal(active->private_data, "yes", 3);
    assert_true(pair.now == SECOND); /* nothing is repeated: all timers are stopped */

    assert_true(oche_cm_disconnect(&pair.ends[0].cm, pair.now, &active->conn));
    assert_false(oche_cm_disconnect(&pair.ends[0].cm, pair.now, &active->conn));
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED, OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_CONNECTED, OCHE_CM_DISCONNECTED,
                            OCHE_CM_TIMEWAIT_OVER));
    assert_int_equal(pair.ends[0].cm.stats.repeated + pair.ends[1].cm.stats.repeated, 0);
    nothing_is_left();
}

static void both_hang_up(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    cm_pair_run(&pair, SECOND);
    assert_true(oche_cm_disconnect(&pair.ends[0].cm, pair.now, &active->conn));
    assert_true(oche_cm_disconnect(&pair.ends[1].cm, pair.now, &passive()->conn));
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED, OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_CONNECTED, OCHE_CM_DISCONNECTED,
                            OCHE_CM_TIMEWAIT_OVER));
    nothing_is_left();
}

static void refused_by_the_program(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    pair.ends[1].plan = CM_PAIR_REJECT;
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_REJECTED));
    assert_int_equal(active->reason, OCHE_CM_REASON_CONSUMER);
    assert_memory_equal(active->private_data, "no!", 3);
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED));
    nothing_is_left();
}

static void nobody_listens(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    pair.ends[1].plan = CM_PAIR_REFUSE;
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_REJECTED));
    assert_int_equal(active->reason, OCHE_CM_REASON_INVALID_SERVICE);
    assert_null(passive());
    nothing_is_left();
}

static void the_answer_is_refused(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);
    struct oche_cm_message message = {.reason = OCHE_CM_REASON_CONSUMER};

    (void)state;
    pair.ends[0].no_rtu = true;
    cm_pair_run(&pair, 100 * OCHE_MS);
    assert_int_equal(active->conn.state, OCHE_CM_REP_RCVD);
    assert_true(oche_cm_reject(&pair.ends[0].cm, pair.now, &active->conn, &message));
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_REJECTED));
    nothing_is_left();
}

/* ---- time ---- */

static oche_time last_req;
static unsigned reqs;

static bool count_reqs(struct cm_pair *of, unsigned from, const struct oche_cm_message *message)
{
    (void)from;
    if (message->kind == OCHE_CM_REQ) {
        reqs++;
        last_req = of->now;
    }
    return true;
}

/* IBTA: max_cm_retries + 1 times the response time; 68.7 s. */
static void a_dead_peer(void **state)
{
    struct cm_pair_conn *active;

    (void)state;
    reqs = 0;
    pair.filter = count_reqs;
    pair.ends[1].dead = true;
    active = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_UNREACHABLE));
    assert_true(pair.now == 16 * oche_cm_time(OCHE_CM_RESPONSE_TIMEOUT));
    assert_int_equal(reqs, 20); /* four between the first and the second that Linux would send */
    nothing_is_left();
}

static void a_peer_that_dies_after_its_answer(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    pair.ends[0].no_rtu = true;
    cm_pair_run(&pair, 100 * OCHE_MS);
    pair.ends[0].dead = true;
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED));
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_UNCONFIRMED));
}

static void a_peer_that_dies_while_connected(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    cm_pair_run(&pair, SECOND);
    pair.ends[1].dead = true;
    assert_true(oche_cm_disconnect(&pair.ends[0].cm, pair.now, &active->conn));
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED, OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
}

/* A program that takes a minute to decide: the peer is asked to wait, and it waits. */
static void a_slow_program(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);
    struct oche_cm_message answer = {
        .qpn = 0x200, .local_response_timeout = 20, .max_cm_retries = 15};

    (void)state;
    reqs = 0;
    pair.filter = count_reqs;
    pair.ends[1].plan = CM_PAIR_WAIT;
    cm_pair_run(&pair, 120 * SECOND);
    assert_int_equal(active->event_count, 0);
    assert_true(reqs < 25);
    assert_true(oche_cm_accept(&pair.ends[1].cm, pair.now, &passive()->conn, &answer));
    cm_pair_run(&pair, OCHE_NEVER);
    assert_int_equal(active->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(passive()->conn.state, OCHE_CM_ESTABLISHED);
}

/* No peer makes us wait longer than twice the allowed time. */
static bool mra_instead(struct cm_pair *of, unsigned from, const struct oche_cm_message *message)
{
    struct oche_cm_message mra = {.kind = OCHE_CM_MRA, .service_timeout = 31};
    uint8_t mad[OCHE_MAD_BYTES];

    if (from == 1)
        return false;
    mra.tid = message->tid;
    mra.remote_id = message->local_id;
    mra.local_id = 5;
    oche_cm_write(&mra, mad);
    of->messages[CM_PAIR_MESSAGES - 1] =
        (struct cm_pair_message){.used = true, .at = of->now + OCHE_MS, .to = 0};
    memcpy(of->messages[CM_PAIR_MESSAGES - 1].from_gid, of->ends[1].gid, OCHE_CM_GID_BYTES);
    memcpy(of->messages[CM_PAIR_MESSAGES - 1].mad, mad, OCHE_MAD_BYTES);
    return false;
}

static void a_peer_that_asks_for_time_for_ever(void **state)
{
    struct cm_pair_conn *active;

    (void)state;
    pair.filter = mra_instead;
    active = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_UNREACHABLE));
    assert_true(pair.now <= 16 * oche_cm_time(20) + oche_cm_time(24));
}

/* ---- one message is lost ---- */

static uint8_t to_lose;
static unsigned lost;

static bool lose_first(struct cm_pair *of, unsigned from, const struct oche_cm_message *message)
{
    (void)of;
    (void)from;
    return message->kind != to_lose || lost++ > 0;
}

static void each_message_is_lost_once(void **state)
{
    static const uint8_t kinds[] = {OCHE_CM_REQ, OCHE_CM_REP, OCHE_CM_RTU, OCHE_CM_DREQ,
                                    OCHE_CM_DREP};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(kinds); i++) {
        struct cm_pair_conn *active;

        cm_pair_init(&pair, 1);
        pair.filter = lose_first;
        to_lose = kinds[i];
        lost = 0;
        active = cm_pair_connect(&pair, 0x100);
        cm_pair_run(&pair, SECOND);
        assert_int_equal(active->conn.state, OCHE_CM_ESTABLISHED);
        assert_int_equal(passive()->conn.state, OCHE_CM_ESTABLISHED);
        assert_true(oche_cm_disconnect(&pair.ends[0].cm, pair.now, &active->conn));
        cm_pair_run(&pair, OCHE_NEVER);
        assert_true(
            CM_PAIR_HAD(active, OCHE_CM_ANSWERED, OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
        assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_CONNECTED,
                                OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
        assert_true(lost > 1);
        nothing_is_left();
    }
}

/* ---- forgetting ---- */

static void forgotten_in_each_state(void **state)
{
    (void)state;
    /* asked: the peer learns that no answer follows */
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    pair.ends[1].plan = CM_PAIR_WAIT;
    cm_pair_run(&pair, 10 * OCHE_MS);
    oche_cm_forget(&pair.ends[0].cm, pair.now, &active->conn);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_REJECTED));
    assert_int_equal(passive()->reason, OCHE_CM_REASON_TIMEOUT);
    nothing_is_left();

    /* was asked */
    cm_pair_init(&pair, 1);
    pair.ends[1].plan = CM_PAIR_WAIT;
    active = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, 10 * OCHE_MS);
    oche_cm_forget(&pair.ends[1].cm, pair.now, &passive()->conn);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_REJECTED));
    nothing_is_left();

    /* connected */
    cm_pair_init(&pair, 1);
    active = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, 10 * OCHE_MS);
    oche_cm_forget(&pair.ends[1].cm, pair.now, &passive()->conn);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED, OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
    nothing_is_left();

    /* is hung up on */
    cm_pair_init(&pair, 1);
    active = cm_pair_connect(&pair, 0x100);
    pair.ends[1].keeps_dreq = true;
    cm_pair_run(&pair, 10 * OCHE_MS);
    assert_true(oche_cm_disconnect(&pair.ends[0].cm, pair.now, &active->conn));
    cm_pair_run(&pair, pair.now + SECOND);
    assert_int_equal(active->conn.state, OCHE_CM_DREQ_SENT);
    oche_cm_forget(&pair.ends[1].cm, pair.now, &passive()->conn);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(active, OCHE_CM_ANSWERED, OCHE_CM_DISCONNECTED, OCHE_CM_TIMEWAIT_OVER));
    nothing_is_left();
}

/* ---- one side has forgotten the other ---- */

/* The peer restarts and happens to use the same queue pair. */
static void a_queue_pair_that_comes_again(void **state)
{
    struct cm_pair_conn *first = cm_pair_connect(&pair, 0x100), *second;

    (void)state;
    cm_pair_run(&pair, SECOND);
    memset(pair.ends[0].cm.by_id, 0, sizeof(pair.ends[0].cm.by_id)); /* it forgets everything */
    memset(pair.ends[0].cm.by_remote, 0, sizeof(pair.ends[0].cm.by_remote));
    memset(pair.ends[0].cm.by_qpn, 0, sizeof(pair.ends[0].cm.by_qpn));
    second = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(first, OCHE_CM_ANSWERED));
    assert_true(CM_PAIR_HAD(second, OCHE_CM_REJECTED));
    assert_int_equal(second->reason, OCHE_CM_REASON_STALE);
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_CONNECTED, OCHE_CM_DISCONNECTED,
                            OCHE_CM_TIMEWAIT_OVER));
    second = cm_pair_connect(&pair, 0x100);
    cm_pair_run(&pair, pair.now + SECOND);
    assert_int_equal(second->conn.state, OCHE_CM_ESTABLISHED);
}

/* An answer for a vanished connection is rejected at once, and not repeated for a minute. */
static void an_answer_to_nobody(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);

    (void)state;
    cm_pair_run(&pair, OCHE_MS / 2);
    oche_cm_forget(&pair.ends[0].cm, pair.now, &active->conn);
    for (unsigned i = 0; i < CM_PAIR_MESSAGES; i++) /* its REJ is lost */
        if (pair.messages[i].used && pair.messages[i].mad[17] == OCHE_CM_REJ)
            pair.messages[i].used = false;
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED, OCHE_CM_REJECTED));
    assert_int_equal(passive()->reason, OCHE_CM_REASON_INVALID_ID);
    assert_true(pair.now < SECOND);
    nothing_is_left();
}

/* ---- messages that are not from the peer ---- */

static void arrives_from(const uint8_t *gid, struct oche_cm_message *message)
{
    uint8_t mad[OCHE_MAD_BYTES];

    oche_cm_write(message, mad);
    oche_cm_arrive(&pair.ends[0].cm, pair.now, pair.ends[0].gid, gid, mad, sizeof(mad));
}

static void forged_messages_change_nothing(void **state)
{
    struct cm_pair_conn *active = cm_pair_connect(&pair, 0x100);
    uint8_t elsewhere[OCHE_CM_GID_BYTES] = {9};
    struct oche_cm_message message = {.qpn = 0x100};

    (void)state;
    cm_pair_run(&pair, SECOND);
    for (uint8_t kind = OCHE_CM_MRA; kind <= OCHE_CM_DREP; kind++) {
        message.kind = kind;
        message.local_id = active->conn.remote_id;
        message.remote_id = active->conn.local_id;
        arrives_from(elsewhere, &message); /* another address */
        message.local_id ^= 1;
        arrives_from(pair.ends[1].gid, &message); /* another connection's number */
    }
    message.kind = OCHE_CM_DREQ;
    message.local_id = active->conn.remote_id;
    message.qpn = 0x101;
    arrives_from(pair.ends[1].gid, &message); /* another queue pair */
    assert_int_equal(active->conn.state, OCHE_CM_ESTABLISHED);
    assert_int_equal(active->event_count, 1);
    assert_int_equal(pair.ends[0].cm.stats.strangers, 12);
}

static void requests_that_make_no_sense(void **state)
{
    static const struct {
        struct oche_cm_message message;
        uint16_t reason;
    } cases[] = {
        {{.kind = OCHE_CM_REQ, .transport = OCHE_CM_RD, .mtu = 5, .qpn = 9, .local_id = 1},
         OCHE_CM_REASON_INVALID_TRANSPORT},
        {{.kind = OCHE_CM_REQ, .transport = OCHE_CM_EXTENDED, .mtu = 5, .qpn = 9, .local_id = 1},
         OCHE_CM_REASON_INVALID_TRANSPORT},
        {{.kind = OCHE_CM_REQ, .mtu = 0, .qpn = 9, .local_id = 1}, OCHE_CM_REASON_INVALID_MTU},
        {{.kind = OCHE_CM_REQ, .mtu = 6, .qpn = 9, .local_id = 1}, OCHE_CM_REASON_INVALID_MTU},
        {{.kind = OCHE_CM_REQ, .mtu = 5, .qpn = 1, .local_id = 1}, OCHE_CM_REASON_NO_QP},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_cm_message message = cases[i].message, answer;
        bool found = false;

        arrives_from(pair.ends[1].gid, &message);
        for (unsigned m = 0; m < CM_PAIR_MESSAGES; m++)
            if (pair.messages[m].used) {
                found = true;
                pair.messages[m].used = false;
                assert_int_equal(oche_cm_read(pair.messages[m].mad, OCHE_MAD_BYTES, &answer),
                                 OCHE_CM_OK);
            }
        assert_true(found);
        assert_int_equal(answer.kind, OCHE_CM_REJ);
        assert_int_equal(answer.reason, cases[i].reason);
        assert_int_equal(answer.remote_id, 1);
    }
    nothing_is_left();
}

/* ---- datagrams ---- */

static struct cm_pair_conn *ask(void)
{
    struct cm_pair_conn *conn = NULL;
    struct oche_cm_message message = {.service_id = oche_cma_service(OCHE_CMA_UDP, 7),
                                      .pkey = 0xffff};

    for (unsigned i = 0; conn == NULL; i++)
        if (!pair.ends[0].conns[i].used)
            conn = &pair.ends[0].conns[i];
    *conn = (struct cm_pair_conn){.end = &pair.ends[0], .used = true};
    conn->conn.owner = conn;
    assert_true(oche_cm_ask(&pair.ends[0].cm, pair.now, &conn->conn, pair.ends[0].gid,
                            pair.ends[1].gid, &message, 20, 15));
    return conn;
}

static void datagrams(void **state)
{
    struct cm_pair_conn *conn;

    (void)state;
    pair.filter = lose_first; /* the answer is lost, and sent again */
    to_lose = OCHE_CM_SIDR_REP;
    lost = 0;
    conn = ask();
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(conn, OCHE_CM_ANSWERED));
    assert_memory_equal(conn->private_data, "yes", 3);
    assert_true(CM_PAIR_HAD(passive(), OCHE_CM_REQUESTED));
    assert_int_equal(lost, 2);
    oche_cm_forget(&pair.ends[1].cm, pair.now, &passive()->conn);
    nothing_is_left();

    cm_pair_init(&pair, 1);
    pair.ends[1].plan = CM_PAIR_REJECT;
    conn = ask();
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(conn, OCHE_CM_REJECTED));

    cm_pair_init(&pair, 1);
    pair.ends[1].plan = CM_PAIR_REFUSE;
    conn = ask();
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(conn, OCHE_CM_REJECTED));
    nothing_is_left();

    cm_pair_init(&pair, 1);
    pair.ends[1].dead = true;
    conn = ask();
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(conn, OCHE_CM_UNREACHABLE));
    nothing_is_left();

    cm_pair_init(&pair, 1); /* forgotten before it was decided */
    pair.ends[1].plan = CM_PAIR_WAIT;
    conn = ask();
    cm_pair_run(&pair, SECOND);
    oche_cm_forget(&pair.ends[1].cm, pair.now, &passive()->conn);
    cm_pair_run(&pair, OCHE_NEVER);
    assert_true(CM_PAIR_HAD(conn, OCHE_CM_REJECTED));
    nothing_is_left();
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(up_and_down),
        TEST(both_hang_up),
        TEST(refused_by_the_program),
        TEST(nobody_listens),
        TEST(the_answer_is_refused),
        TEST(a_dead_peer),
        TEST(a_peer_that_dies_after_its_answer),
        TEST(a_peer_that_dies_while_connected),
        TEST(a_slow_program),
        TEST(a_peer_that_asks_for_time_for_ever),
        TEST(each_message_is_lost_once),
        TEST(forgotten_in_each_state),
        TEST(a_queue_pair_that_comes_again),
        TEST(an_answer_to_nobody),
        TEST(forged_messages_change_nothing),
        TEST(requests_that_make_no_sense),
        TEST(datagrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
