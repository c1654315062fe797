/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event that will continue a queue pair (core/qp/wake.c): each answer once, and a deliberate
 * fault.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/send/sender.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define DELAY (10 * OCHE_US)

static enum oche_wake wake_of(const struct pair *pair, int side)
{
    oche_time when;

    return oche_qp_wake(pair->side[side].qp[0], &when);
}

static oche_time time_of(const struct pair *pair, int side, enum oche_wake wake)
{
    oche_time when;

    assert_string_equal(oche_wake_name(oche_qp_wake(pair->side[side].qp[0], &when)),
                        oche_wake_name(wake));
    return when;
}

static enum pair_fate lose_all(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    (void)packet;
    return PAIR_DROP;
}

static struct pair *open_pair(const struct pair_options *options)
{
    struct pair_options o = *options;

    o.delay = DELAY;
    return pair_open(&o);
}

static void post_write(struct pair *pair, uint64_t wr_id, uint32_t bytes)
{
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, wr_id, 0, 0, bytes);

    pair_post(pair, 0, &work);
}

/* From the post to the completion: doorbell, port, ACK timer, nothing. */
static void test_way(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){0});

    (void)state;
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_NO_WORK);
    post_write(pair, 1, 100);
    assert_int_equal(time_of(pair, 0, OCHE_WAKE_DOORBELL), OCHE_NEVER);
    pair->side[0].classes = 0; /* paused: it stays ready */
    pair_run(pair, pair->now + OCHE_US);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_PORT);
    pair->side[0].classes = UINT8_MAX;
    pair_run(pair, pair->now + OCHE_US);
    assert_int_equal(time_of(pair, 0, OCHE_WAKE_ACK_TIMER), pair->now - OCHE_US + 500 * OCHE_US);
    pair_run(pair, pair->now + DELAY);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_NO_WORK);
    pair_close(pair);
}

static void test_pacing(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){0});

    (void)state;
    oche_qp_set_rate_limit(pair->side[0].qp[0], OCHE_GBPS, pair->now);
    post_write(pair, 1, 3 * PAIR_MTU);
    pair_step(pair, OCHE_SEC);
    const oche_time due = time_of(pair, 0, OCHE_WAKE_PACING);
    assert_true(due > pair->now && due < pair->now + 20 * OCHE_US);
    pair_close(pair);
}

/* The peer has no receive: the requester waits for the time in its NAK. */
static void test_rnr(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){.min_rnr_timer = 20});
    const struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 100);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 3 * DELAY);
    const oche_time due = time_of(pair, 0, OCHE_WAKE_RNR_TIMER);
    assert_true(due > pair->now + OCHE_MS && due < pair->now + 20 * OCHE_MS);
    pair_close(pair);
}

/* With an ACK timeout of never, only the peer can continue it. */
static void test_no_timeout(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){.ack_timeout = OCHE_NEVER});
    struct oche_qp_connection patient = pair_connection(pair, 0, 0);
    oche_time when;

    (void)state;
    pair->fate = lose_all;
    post_write(pair, 1, 100);
    pair_run_quiet(pair);
    assert_int_equal(time_of(pair, 0, OCHE_WAKE_PEER), OCHE_NEVER);
    /* A timeout that is set later also applies to outstanding requests. */
    patient.ack_timeout = OCHE_MS;
    oche_qp_set_retries(pair->side[0].qp[0], &patient);
    assert_int_equal(oche_qp_wake(pair->side[0].qp[0], &when), OCHE_WAKE_ACK_TIMER);
    pair->fate = NULL;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    pair_close(pair);
}

/* The same where recovery's parameters have no timeout. */
static void test_no_timeout_of_recovery(void **state)
{
    struct oche_selective_repeat_params params;

    (void)state;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.rto_low = OCHE_NEVER;
    struct pair *pair = open_pair(&(struct pair_options){
        .recovery = &oche_recovery_selective_repeat, .own_recovery_params = &params});
    pair->fate = lose_all;
    post_write(pair, 1, 100);
    pair_run_quiet(pair);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_PEER);
    assert_ptr_equal(oche_nic_hung(pair->side[0].nic), NULL);
    pair_close(pair);
}

/* A shorter timeout also applies to outstanding requests. */
static void test_shorter_timeout(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){.ack_timeout = OCHE_SEC});
    struct oche_qp_connection hasty = pair_connection(pair, 0, 0);

    (void)state;
    pair->fate = lose_all;
    post_write(pair, 1, 100);
    pair_run(pair, pair->now + 5 * OCHE_US);
    const oche_time long_one = time_of(pair, 0, OCHE_WAKE_ACK_TIMER);
    hasty.ack_timeout = OCHE_MS;
    oche_qp_set_retries(pair->side[0].qp[0], &hasty);
    assert_int_equal(time_of(pair, 0, OCHE_WAKE_ACK_TIMER), long_one - OCHE_SEC + OCHE_MS);
    pair_run(pair, 3 * OCHE_MS);
    assert_true(oche_nic_stats(pair->side[0].nic)->timeouts > 0);
    pair_close(pair);
}

static void test_program(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){0});

    (void)state;
    oche_qp_drain(pair->side[0].qp[0], pair->now);
    post_write(pair, 1, 100);
    pair_run_quiet(pair);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_PROGRAM);
    oche_qp_resume(pair->side[0].qp[0], pair->now);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);

    const struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 100);
    pair_post(pair, 0, &read);
    oche_qp_set_initiator_depth(pair->side[0].qp[0], 0);
    pair_run_quiet(pair);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_PROGRAM);
    pair_close(pair);
}

/* The responder: its answer waits for the port. */
static void test_answers(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){0});
    const struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 3 * PAIR_MTU);

    (void)state;
    pair->side[1].classes = 0;
    post_write(pair, 2, 100);
    pair_run(pair, pair->now + 2 * DELAY);
    assert_int_equal(wake_of(pair, 1), OCHE_WAKE_PORT); /* an ACK */
    pair_post(pair, 0, &read);
    pair_run(pair, pair->now + 2 * DELAY);
    assert_int_equal(wake_of(pair, 1), OCHE_WAKE_PORT);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    assert_int_equal(wake_of(pair, 1), OCHE_WAKE_NO_WORK);
    pair_close(pair);
}

/* Deliberate faults: a timer, a list, a doorbell is missing. */
static void test_faults(void **state)
{
    struct pair *pair = open_pair(&(struct pair_options){0});
    struct oche_qp *qp = pair->side[0].qp[0];

    (void)state;
    post_write(pair, 1, 100);
    atomic_store(&qp->rung, 0);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_NEVER);
    atomic_store(&qp->rung, 1);
    pair->side[0].classes = 0;
    pair_run(pair, pair->now + OCHE_US);
    snd(qp)->queued = QUEUED_NOT;
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_NEVER);
    snd(qp)->queued = QUEUED_READY;
    pair->side[0].classes = UINT8_MAX;
    pair_run(pair, pair->now + OCHE_US);
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_ACK_TIMER);
    const oche_time deadline = snd(qp)->ack_deadline;
    snd(qp)->ack_deadline = OCHE_NEVER;
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_NEVER);
    assert_ptr_equal(oche_nic_hung(pair->side[0].nic), qp);
    assert_ptr_equal(oche_nic_hung(pair->side[1].nic), NULL);
    snd(qp)->ack_deadline = deadline - 1; /* before the entry in the heap, so it would be late */
    assert_int_equal(wake_of(pair, 0), OCHE_WAKE_NEVER);
    snd(qp)->ack_deadline = deadline;
    pair_run(pair, pair->now + DELAY);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    struct oche_qp *peer = pair->side[1].qp[0];
    peer->control = CONTROL_ACK; /* and not listed */
    assert_int_equal(wake_of(pair, 1), OCHE_WAKE_NEVER);
    peer->control = 0;
    pair_close(pair);
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned a = 0; a < OCHE_WAKES; a++) {
        assert_true(strlen(oche_wake_name((enum oche_wake)a)) > 1);
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(oche_wake_name((enum oche_wake)a),
                                    oche_wake_name((enum oche_wake)b));
    }
    assert_string_equal(oche_wake_name(OCHE_WAKES), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_way),
        cmocka_unit_test(test_pacing),
        cmocka_unit_test(test_rnr),
        cmocka_unit_test(test_no_timeout),
        cmocka_unit_test(test_shorter_timeout),
        cmocka_unit_test(test_no_timeout_of_recovery),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
