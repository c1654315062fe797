/* SPDX-License-Identifier: Apache-2.0 */
/* Marks that the receiver echoes, in a scheme that uses core/cc/ecn_echo.h in one line. */
#include "tests/support/test.h"

#include <string.h>

#include "core/cc/ecn_echo.h"
#include "core/recovery/selective_repeat.h"
#include "core/qp/qp_internal.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

static struct {
    unsigned acks, echoes, cnps;
} seen;

static void start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps;
    assert_false(flow->mark_waits);
}

static void acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    (void)flow;
    (void)now;
    seen.acks++;
    seen.echoes += ack->ecn_echo;
}

static void cnp(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet)
{
    (void)flow;
    (void)now;
    (void)packet;
    seen.cnps++;
}

static const struct oche_cc_scheme scheme = {
    .name = "echo",
    .needs = OCHE_CC_NEEDS_ECN,
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .start = start,
    .acked = acked,
    .cnp = cnp,
    OCHE_ECN_ECHO,
};

static void mark_every_fourth(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    if (packet->psn % 4 == 1 && oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD))
        ((struct oche_packet *)(uintptr_t)packet)->ecn = OCHE_ECN_CE;
}

/* Sends one message of eight packets, two of which are marked. */
static void run(struct pair_options options, enum oche_work_opcode opcode)
{
    struct oche_send_work work = pair_work(opcode, 1, 0, 0, 8 * 1024);

    options.cc = &scheme;
    struct pair *pair = pair_open(&options);
    memset(&seen, 0, sizeof(seen));
    pair->tap = mark_every_fourth;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_close(pair);
}

static void each_mark_is_echoed_by_its_ack(void **state)
{
    (void)state;
    run((struct pair_options){.ack_every = 1}, OCHE_WORK_WRITE);
    assert_int_equal(seen.acks, 8);
    assert_int_equal(seen.echoes, 2);
    assert_int_equal(seen.cnps, 0);
}

/* The same with opcodes of the extended RC, which selective repeat uses. */
static void each_mark_of_extended_packets_is_echoed(void **state)
{
    static struct oche_selective_repeat_params params;

    (void)state;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    run((struct pair_options){.ack_every = 1,
                              .extensions = true,
                              .recovery = &oche_recovery_selective_repeat,
                              .own_recovery_params = &params,
                              .held_bytes = 64 * PAIR_MTU},
        OCHE_WORK_WRITE);
    assert_int_equal(seen.acks, 8);
    assert_int_equal(seen.echoes, 2);
    assert_int_equal(seen.cnps, 0);
}

static void marks_before_one_ack_are_one_echo(void **state)
{
    (void)state;
    run((struct pair_options){.ack_every = 8}, OCHE_WORK_WRITE);
    assert_int_equal(seen.acks, 1);
    assert_int_equal(seen.echoes, 1);
    assert_int_equal(seen.cnps, 0);
}

static void what_no_ack_answers_brings_a_cnp(void **state)
{
    (void)state;
    /* the data goes to side 0, which requests it from side 1 */
    run((struct pair_options){0}, OCHE_WORK_READ);
    assert_int_equal(seen.cnps, 2);
    assert_int_equal(seen.echoes, 0);
    run((struct pair_options){.transport = OCHE_TRANSPORT_UC}, OCHE_WORK_WRITE);
    assert_int_equal(seen.cnps, 2);
}

/* A pending mark at the end of a connection does not pass to the next one. `start` checks this. */
static void a_reset_forgets_the_mark(void **state)
{
    struct pair_options options = {.cc = &scheme};
    struct pair *pair = pair_open(&options);

    (void)state;
    pair->side[1].qp[0]->flow.mark_waits = true;
    oche_qp_reset(pair->side[1].qp[0]);
    struct oche_qp_connection connection = pair_connection(pair, 1, 0);
    assert_true(oche_qp_init(pair->side[1].qp[0], pair->now) &&
                oche_qp_ready_to_receive(pair->side[1].qp[0], &connection, pair->now));
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mark_is_echoed_by_its_ack),
        cmocka_unit_test(each_mark_of_extended_packets_is_echoed),
        cmocka_unit_test(marks_before_one_ack_are_one_echo),
        cmocka_unit_test(what_no_ack_answers_brings_a_cnp),
        cmocka_unit_test(a_reset_forgets_the_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
