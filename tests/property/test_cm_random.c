/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections between two connection managers at random: many at a time, over a wire that loses,
 * repeats and reorders messages, with programs that accept, refuse, wait, hang up and vanish. The
 * events of each connection come in an allowed order, each question has one answer, and in the end
 * nothing is left. If few messages are lost and no program vanishes, both ends agree on the
 * connections that were made.
 */
#include <string.h>

#include "tests/support/cm_pair.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#define SECOND (1000 * OCHE_MS)
#define CASES  3000

static struct cm_pair pair;

/* ---- events ---- */

/* Returns what may follow `event` as a set of bits. */
static uint32_t may_follow(enum oche_cm_event event)
{
    switch (event) {
    case OCHE_CM_REQUESTED:
        return 1u << OCHE_CM_CONNECTED | 1u << OCHE_CM_REJECTED | 1u << OCHE_CM_UNCONFIRMED |
               1u << OCHE_CM_DISCONNECTED;
    case OCHE_CM_ANSWERED:
        return 1u << OCHE_CM_DISCONNECTED | 1u << OCHE_CM_REJECTED;
    case OCHE_CM_CONNECTED:
        return 1u << OCHE_CM_DISCONNECTED;
    case OCHE_CM_DISCONNECTED:
        return 1u << OCHE_CM_TIMEWAIT_OVER;
    default:
        return 0;
    }
}

static void events_are_in_order(const struct cm_pair_conn *conn, bool asked)
{
    uint32_t allowed =
        asked ? 1u << OCHE_CM_ANSWERED | 1u << OCHE_CM_REJECTED | 1u << OCHE_CM_UNREACHABLE
              : 1u << OCHE_CM_REQUESTED;

    for (unsigned i = 0; i < conn->event_count; i++) {
        if ((allowed >> conn->events[i] & 1) == 0)
            fail_msg("event %u of a connection is %d", i, conn->events[i]);
        allowed = may_follow(conn->events[i]);
    }
}

static void nothing_is_left(void)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct oche_cm *cm = &pair.ends[i].cm;

        assert_null(cm->timers);
        for (unsigned b = 0; b < OCHE_CM_BUCKETS; b++)
            assert_true(cm->by_id[b] == NULL && cm->by_remote[b] == NULL && cm->by_qpn[b] == NULL);
    }
}

/* ---- what programs do ---- */

static struct cm_pair_conn *any_conn(struct oche_random *random, unsigned end)
{
    struct cm_pair_conn *conn = &pair.ends[end].conns[oche_random_below(random, CM_PAIR_CONNS)];

    return conn->used && conn->conn.state != OCHE_CM_IDLE ? conn : NULL;
}

static void act(struct oche_random *random, bool vanish)
{
    const unsigned end = (unsigned)oche_random_below(random, 2);
    struct cm_pair_conn *conn = any_conn(random, end);
    struct oche_cm_message message = {
        .qpn = 0x300, .local_response_timeout = 20, .max_cm_retries = 15};
    struct oche_cm *cm = &pair.ends[end].cm;

    if (conn == NULL)
        return;
    switch (oche_random_below(random, vanish ? 5 : 4)) {
    case 0:
        oche_cm_disconnect(cm, pair.now, &conn->conn);
        break;
    case 1:
        oche_cm_accept(cm, pair.now, &conn->conn, &message);
        break;
    case 2:
        oche_cm_confirm(cm, pair.now, &conn->conn, &message);
        break;
    case 3:
        message.reason = OCHE_CM_REASON_CONSUMER;
        oche_cm_reject(cm, pair.now, &conn->conn, &message);
        break;
    default:
        oche_cm_forget(cm, pair.now, &conn->conn);
        break;
    }
}

/* Random messages about existing connections, from a stranger who does not know all numbers. */
static void forge(struct oche_random *random)
{
    const unsigned end = (unsigned)oche_random_below(random, 2);
    struct cm_pair_conn *conn = any_conn(random, end);
    uint8_t mad[OCHE_MAD_BYTES], elsewhere[OCHE_CM_GID_BYTES] = {7};
    struct oche_cm_message message = {.kind =
                                          (uint8_t)(OCHE_CM_MRA + oche_random_below(random, 6))};

    if (conn == NULL)
        return;
    message.local_id = conn->conn.remote_id;
    message.remote_id = conn->conn.local_id;
    message.qpn = conn->conn.local_qpn;
    oche_cm_write(&message, mad);
    oche_cm_arrive(&pair.ends[end].cm, pair.now, pair.ends[end].gid, elsewhere, mad, sizeof(mad));
}

/* ---- one case ---- */

static void both_ends_agree(void)
{
    for (unsigned n = 0; n < CM_PAIR_CONNS; n++) {
        const struct cm_pair_conn *active = cm_pair_nth(&pair, 0, n);

        for (unsigned m = 0; active != NULL && m < CM_PAIR_CONNS; m++) {
            const struct cm_pair_conn *passive = cm_pair_nth(&pair, 1, m);

            if (passive == NULL || active->conn.state != OCHE_CM_ESTABLISHED ||
                passive->conn.local_id != active->conn.remote_id)
                continue;
            assert_int_equal(passive->conn.state, OCHE_CM_ESTABLISHED);
            assert_int_equal(passive->conn.remote_id, active->conn.local_id);
            assert_int_equal(passive->conn.remote_qpn, active->conn.local_qpn);
        }
    }
}

static void run_case(uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "cm case", 0);
    const unsigned count = 1 + (unsigned)oche_random_below(&random, 12);
    const unsigned actions = (unsigned)oche_random_below(&random, 30);
    const bool vanish = oche_random_below(&random, 2) == 0;
    const uint32_t losses[] = {0, 0, 10, 30, 60, 100};

    cm_pair_init(&pair, seed);
    pair.lose_percent = losses[oche_random_below(&random, OCHE_COUNT_OF(losses))];
    pair.repeat_percent = (uint32_t)oche_random_below(&random, 40);
    pair.reorder = oche_random_below(&random, 2) == 0;
    for (unsigned i = 0; i < count + actions; i++) {
        pair.ends[1].plan = (enum cm_pair_answer)oche_random_below(&random, 4);
        if (i < count)
            cm_pair_connect(&pair, 0x1000 + i);
        else
            act(&random, vanish);
        forge(&random);
        cm_pair_run(&pair,
                    pair.now + oche_random_below(&random, 4) * oche_random_below(&random, SECOND));
    }
    cm_pair_run(&pair, pair.now + 300 * SECOND);
    for (unsigned end = 0; end < 2; end++)
        for (unsigned i = 0; i < CM_PAIR_CONNS; i++)
            if (pair.ends[end].conns[i].used)
                events_are_in_order(&pair.ends[end].conns[i], end == 0);
    if (pair.lose_percent <= 10 && !vanish)
        both_ends_agree();
    pair.lose_percent = 0;
    for (unsigned end = 0; end < 2; end++)
        for (unsigned i = 0; i < CM_PAIR_CONNS; i++)
            oche_cm_forget(&pair.ends[end].cm, pair.now, &pair.ends[end].conns[i].conn);
    cm_pair_run(&pair, OCHE_NEVER);
    for (unsigned i = 0; i < CM_PAIR_CONNS; i++) /* requests that arrived after these calls */
        oche_cm_forget(&pair.ends[1].cm, pair.now, &pair.ends[1].conns[i].conn);
    cm_pair_run(&pair, OCHE_NEVER);
    nothing_is_left();
}

static void connections_at_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds_of(CASES); seed++)
        run_case(seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(connections_at_random)};

    if (argc > 1) {
        run_case(strtoull(argv[1], NULL, 10));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
