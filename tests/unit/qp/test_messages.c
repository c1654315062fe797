/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arriving messages as congestion control sees them: each begins once and ends once, over links
 * that lose, double and delay. Every recovery scheme; SEND, WRITE and READ; reliable and unreliable
 * queue pairs. A stopped queue pair has none.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/cc/cc_messages.h"
#include "core/qp/qp_internal.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

struct log {
    uint32_t begins, ends, stops;
    uint32_t open; /* now, of all queue pairs */
};

struct flow_log {
    uint32_t open;
};

static struct log *log_of(struct oche_cc_flow *flow)
{
    return *(struct log *const *)flow->params;
}

static void hook_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps;
}

static void hook_begins(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    log_of(flow)->begins++;
    log_of(flow)->open++;
    ((struct flow_log *)flow->state)->open++;
}

static void hook_ends(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    assert_true(((struct flow_log *)flow->state)->open > 0);
    log_of(flow)->ends++;
    log_of(flow)->open--;
    ((struct flow_log *)flow->state)->open--;
}

static void hook_stop(struct oche_cc_flow *flow)
{
    struct flow_log *own = flow->state;

    log_of(flow)->stops++;
    log_of(flow)->open -= own->open;
    own->open = 0;
}

static const struct oche_cc_messages messages = {.begins = hook_begins, .ends = hook_ends};

static const struct oche_cc_scheme scheme = {
    .name = "messages",
    .flow_state_bytes = sizeof(struct flow_log),
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .start = hook_start,
    .stop = hook_stop,
    .messages = &messages,
};

static struct pair *open_logged(struct pair_options options, struct log **log)
{
    options.cc = &scheme;
    options.cc_params = log;
    return pair_open(&options);
}

static void post(struct pair *pair, enum oche_work_opcode opcode, uint32_t length)
{
    struct oche_send_work work = pair_work(opcode, 1, 0, 0, length);

    pair_post(pair, 0, &work);
}

/*
 * A message exists between its first and its last packet. One of a single packet begins and ends at
 * once.
 */
static void begins_and_ends(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    oche_time packet = oche_time_of_bytes(1024 + 62 + 20, 100 * OCHE_GBPS);

    (void)state;
    post(pair, OCHE_WORK_WRITE, 4096);
    pair_run(pair, pair->now + OCHE_US + packet * 2);
    assert_int_equal(log.begins, 1);
    assert_int_equal(log.ends, 0);
    pair_run_quiet(pair);
    assert_int_equal(log.ends, 1);
    pair_post_recv(pair, 1, 2, 0, 4096);
    post(pair, OCHE_WORK_SEND_IMM, 10);
    pair_run_quiet(pair);
    assert_int_equal(log.begins, 2);
    assert_int_equal(log.ends, 2);
    pair_close(pair);
}

/* READ: at the requester, from its issue to its last response. */
static void read_is_the_requesters(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct flow_log *requester = pair->side[0].qp[0]->flow.state;

    (void)state;
    post(pair, OCHE_WORK_READ, 3000);
    post(pair, OCHE_WORK_READ, 0);
    pair_run(pair, pair->now + OCHE_US / 2);
    assert_int_equal(requester->open, 2);
    pair_run_quiet(pair);
    assert_int_equal(log.begins, 2);
    assert_int_equal(log.ends, 2);
    pair_close(pair);
}

/* A queue pair that fails or is reset ends its messages. The next connection has none. */
static void stops_take_messages(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);

    (void)state;
    post(pair, OCHE_WORK_WRITE, 100000);
    post(pair, OCHE_WORK_READ, 100000);
    pair_run(pair, pair->now + 3 * OCHE_US);
    assert_int_equal(log.begins, 1);
    oche_qp_fail(pair->side[1].qp[0], pair->now);
    assert_int_equal(log.open, 0);
    oche_qp_reset(pair->side[1].qp[0]);
    oche_qp_fail(pair->side[0].qp[0], pair->now);
    oche_qp_reset(pair->side[0].qp[0]);
    pair_clear_link(pair);
    assert_int_equal(log.stops, 2);
    for (int side = 0; side < 2; side++) {
        struct oche_qp_connection connection = pair_connection(pair, side, 0);
        struct oche_qp *qp = pair->side[side].qp[0];
        assert_true(oche_qp_init(qp, pair->now) &&
                    oche_qp_ready_to_receive(qp, &connection, pair->now) &&
                    oche_qp_ready_to_send(qp, pair->now));
    }
    post(pair, OCHE_WORK_WRITE, 5000);
    post(pair, OCHE_WORK_READ, 5000);
    pair_run_quiet(pair);
    assert_int_equal(log.begins, 3);
    assert_int_equal(log.ends, 2);
    assert_int_equal(log.open, 0);
    pair_close(pair);
}

static enum pair_fate drop_listed(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint64_t *psns = pair->context;

    if (from != 0 || !(*psns >> (packet->psn & 63) & 1))
        return PAIR_PASS;
    *psns &= ~(UINT64_C(1) << (packet->psn & 63));
    return PAIR_DROP;
}

/* UC: a message with a lost rest ends when the next packet shows the loss. */
static void unreliable(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){.transport = OCHE_TRANSPORT_UC}, &at);
    uint64_t lost = 1 << 3 | 1 << 4 | 1 << 9; /* LAST of 0-3, FIRST of 4-7, MIDDLE of 8-11 */

    (void)state;
    pair->fate = drop_listed;
    pair->context = &lost;
    for (unsigned i = 0; i < 4; i++) {
        post(pair, OCHE_WORK_WRITE, 4 * 1024);
        pair_run_quiet(pair);
        assert_int_equal(log.open, i == 0);
    }
    assert_int_equal(log.begins, 3);
    assert_int_equal(log.ends, 3);
    pair_close(pair);
}

/* For any loss, doubling or delay: as many messages begin as are posted, and all end. */
static void once_each(void **state)
{
    static const char *const names[] = {"go_back_n", "go_back_0", "improved_go_back_n",
                                        "selective_repeat"};
    static const enum oche_work_opcode opcodes[] = {OCHE_WORK_WRITE, OCHE_WORK_SEND, OCHE_WORK_READ,
                                                    OCHE_WORK_WRITE_IMM};

    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        for (uint64_t seed = 1; seed <= 40; seed++) {
            struct log log = {0}, *at = &log;
            const struct oche_recovery_scheme *recovery = oche_recovery_find(names[n]);
            uint64_t params[64];
            bool restarts = recovery->whole_messages;
            oche_param_defaults(&recovery->table, params);
            struct pair *pair = open_logged((struct pair_options){.recovery = recovery,
                                                                  .own_recovery_params = params,
                                                                  .extensions = seed & 1,
                                                                  .seed = seed,
                                                                  .retry_count = UINT32_MAX,
                                                                  .rnr_retry = UINT32_MAX,
                                                                  .drop = restarts ? 10 : 60,
                                                                  .twice = 60,
                                                                  .late = restarts ? 10 : 60,
                                                                  .recv_depth = 16},
                                            &at);
            for (unsigned i = 0; i < 12; i++) {
                pair_post_recv(pair, 1, 100 + i, 0, 20000);
                post(pair, opcodes[(i + seed) % 4], (uint32_t)((i * 977 + seed * 331) % 12000));
            }
            pair_run_quiet(pair);
            assert_int_equal(log.begins, 12);
            assert_int_equal(log.ends, 12);
            assert_int_equal(log.open, 0);
            assert_int_equal(pair->side[0].errors + pair->side[1].errors, 0);
            pair_close(pair);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_and_ends),     cmocka_unit_test(read_is_the_requesters),
        cmocka_unit_test(stops_take_messages), cmocka_unit_test(unreliable),
        cmocka_unit_test(once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
