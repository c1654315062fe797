/* SPDX-License-Identifier: Apache-2.0 */
/* Events that a queue pair reports to its driver: once, at the right time. */
#include "tests/support/test.h"

#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define TOLD(s, name) pair->side[s].qp_events[OCHE_QP_EVENT_##name]

/* Side 1 in RTR. */
static struct pair *open_half(uint8_t transport)
{
    struct pair_options options = {.no_connect = true, .transport = transport};
    struct pair *pair = pair_open(&options);

    pair_connect(pair, 0, 0);
    pair_connect(pair, 1, 0);
    struct oche_qp_connection connection = pair_connection(pair, 1, 0);
    oche_qp_reset(pair->side[1].qp[0]);
    assert_true(oche_qp_init(pair->side[1].qp[0], pair->now));
    assert_true(oche_qp_ready_to_receive(pair->side[1].qp[0], &connection, pair->now));
    return pair;
}

static void test_established(void **state)
{
    static const uint8_t transports[] = {OCHE_TRANSPORT_RC, OCHE_TRANSPORT_UC};

    (void)state;
    for (unsigned t = 0; t < 2; t++) {
        struct pair *pair = open_half(transports[t]);
        struct oche_packet stranger = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 0);
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 5000);

        stranger.src = 7;
        pair_inject(pair, 0, &stranger);
        stranger = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 0);
        stranger.pkey = 0x1234;
        pair_inject(pair, 0, &stranger);
        stranger = pair_packet(pair, 0, OCHE_UD_SEND_ONLY, 0, 0);
        pair_inject(pair, 0, &stranger);
        assert_int_equal(TOLD(1, ESTABLISHED), 0);
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        assert_int_equal(TOLD(1, ESTABLISHED), 1);
        assert_true(oche_qp_ready_to_send(pair->side[1].qp[0], pair->now));
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        assert_int_equal(TOLD(1, ESTABLISHED), 1);
        assert_int_equal(TOLD(0, ESTABLISHED), 0); /* it was in RTS */
        pair_close(pair);
    }
}

/* A UD queue pair is never connected. */
static void test_never_established(void **state)
{
    struct pair *pair = open_half(OCHE_TRANSPORT_UD);
    struct oche_destination to = pair_destination(0, 0);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 10);

    (void)state;
    work.to = &to;
    pair_post_recv(pair, 1, 7, 0, 100);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_int_equal(TOLD(1, ESTABLISHED), 0);
    pair_close(pair);
}

static void test_drained(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20000);

    (void)state;
    assert_true(oche_qp_drain(qp, pair->now)); /* nothing is under way */
    assert_int_equal(TOLD(0, DRAINED), 1);
    assert_true(oche_qp_resume(qp, pair->now));
    pair_post(pair, 0, &work);
    work.wr_id = 2;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 500 * OCHE_NS);
    assert_true(oche_qp_drain(qp, pair->now));
    work.wr_id = 3;
    pair_post(pair, 0, &work);
    assert_int_equal(TOLD(0, DRAINED), 1);
    assert_false(oche_qp_drained(qp));
    pair_run_quiet(pair);
    assert_int_equal(TOLD(0, DRAINED), 2);
    assert_true(oche_qp_drained(qp));
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS); /* had begun */
    pair_expect_none(pair, 0);
    assert_true(oche_qp_resume(qp, pair->now));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 3, OCHE_STATUS_SUCCESS);
    assert_int_equal(TOLD(0, DRAINED), 2);
    pair_close(pair);
}

/* External causes that end a queue pair: each has a name. */
static void test_errors(void **state)
{
    (void)state;
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, PAIR_MEMORY, 1);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(TOLD(1, BAD_ACCESS), 1);
    assert_int_equal(TOLD(0, BAD_ACCESS), 0);
    pair_close(pair);

    pair = pair_open(NULL);
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_SEND_LAST, 0, 0);
    pair_inject(pair, 0, &packet);
    assert_int_equal(TOLD(1, BAD_REQUEST), 1);
    pair_close(pair);

    pair = pair_open(NULL);
    work = pair_work(OCHE_WORK_READ, 1, 0, 0, 100000);
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 3 * OCHE_US);
    assert_true(oche_nic_remove_region(pair->side[1].nic, PAIR_KEY));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_REMOTE_OPERATION);
    assert_int_equal(TOLD(1, FATAL), 1);
    pair_close(pair);
}

static void test_responder_resources(void **state)
{
    struct pair *pair = pair_open(&(struct pair_options){.responder_resources = 4});
    struct oche_qp *qp = pair->side[1].qp[0];
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 5000);

    (void)state;
    assert_false(oche_qp_set_responder_resources(qp, 5));
    assert_true(oche_qp_set_responder_resources(qp, 0));
    assert_true(oche_qp_set_responder_resources(qp, 2));
    oche_qp_set_initiator_depth(pair->side[0].qp[0], 2);
    for (uint64_t i = 0; i < 10; i++) {
        work.wr_id = i;
        pair_post(pair, 0, &work);
    }
    pair_run_quiet(pair);
    for (uint64_t i = 0; i < 10; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_false(oche_qp_set_responder_resources(qp, 4)); /* duplicates may come */
    assert_true(oche_qp_set_responder_resources(qp, 2));
    oche_qp_set_initiator_depth(pair->side[0].qp[0], 3);
    for (uint64_t i = 0; i < 3; i++)
        pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(TOLD(1, BAD_REQUEST), 1); /* one too many */
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_established),
        cmocka_unit_test(test_never_established),
        cmocka_unit_test(test_drained),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_responder_resources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
