/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues: which queue pair takes which receive, empty queues, the limit, errors. */
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/pair.h"

#define SIDE0(offset) (pair->side[0].memory + (offset))
#define SIDE1(offset) (pair->side[1].memory + (offset))

/* Side 1's queue pairs share one; `qps` pairs. */
static struct pair *open_shared(struct pair_options options, uint32_t depth)
{
    options.srq_depth = depth;
    return pair_open(&options);
}

static int post(struct pair *pair, uint64_t wr_id, uint32_t offset, uint32_t length)
{
    struct oche_recv_work work = {
        .wr_id = wr_id,
        .sge_count = 1,
        .sge[0] = {.va = PAIR_VA + offset, .length = length, .lkey = PAIR_KEY},
    };

    return oche_srq_post_recv(pair->side[1].srq, &work);
}

static void send_on(struct pair *pair, uint32_t index, uint64_t wr_id, uint32_t length)
{
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, wr_id, 0, 0, length);
    struct oche_destination to = pair_destination(0, index);

    work.to = &to;
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[index], &work), 0);
}

static const uint8_t transports[] = {OCHE_TRANSPORT_RC, OCHE_TRANSPORT_UC, OCHE_TRANSPORT_UD};

/* Each message takes the oldest one, on any queue pair. */
static void test_order(void **state)
{
    (void)state;
    for (unsigned t = 0; t < 3; t++) {
        struct pair *pair =
            open_shared((struct pair_options){.qps = 3, .transport = transports[t]}, 8);

        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(post(pair, 70 + i, 10000 * i, 1000), 0);
        for (uint32_t i = 0; i < 6; i++) {
            send_on(pair, i % 3, i, 100);
            pair_run_quiet(pair);
        }
        for (uint32_t i = 0; i < 6; i++) {
            struct oche_completion done = pair_expect(pair, 1, 70 + i, OCHE_STATUS_SUCCESS);
            assert_int_equal(done.qpn, PAIR_QPN + 1 + 2 * (i % 3));
        }
        assert_int_equal(oche_srq_posted(pair->side[1].srq), 0);
        pair_close(pair);
    }
}

/* Messages that arrive at the same time have a receive each, and all their data. */
static void test_interleaved(void **state)
{
    struct pair *pair = open_shared((struct pair_options){.qps = 4}, 4);
    bool seen[4] = {false};

    (void)state;
    pair_fill(pair, 0, 0, 50000, 3);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(post(pair, i, 60000 * i, 60000), 0);
    assert_int_equal(post(pair, 9, 0, 10), ENOMEM);
    for (uint32_t i = 0; i < 4; i++)
        send_on(pair, i, i, 50000);
    pair_run_quiet(pair);
    for (uint32_t i = 0; i < 4; i++) {
        struct oche_completion done;
        assert_int_equal(oche_cq_poll(pair->side[1].cq, &done, 1), 1);
        assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
        assert_int_equal(done.bytes, 50000);
        assert_false(seen[done.wr_id]);
        seen[done.wr_id] = true;
        assert_memory_equal(SIDE1(60000 * done.wr_id), SIDE0(0), 50000);
    }
    pair_close(pair);
}

static void test_empty(void **state)
{
    (void)state;
    for (unsigned t = 0; t < 3; t++) {
        bool rc = transports[t] == OCHE_TRANSPORT_RC;
        struct pair_options options = {
            .qps = 2, .transport = transports[t], .min_rnr_timer = 14, .credits = true};
        struct pair *pair = open_shared(options, 4);

        send_on(pair, 0, 1, 100);
        pair_run(pair, pair->now + 100 * OCHE_US);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_NOT_READY), 1);
        assert_int_equal(pair->side[1].out_rnr_naks, rc);
        assert_int_equal(post(pair, 7, 0, 1000), 0);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        if (rc)
            pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
        else
            pair_expect_none(pair, 1);
        pair_close(pair);
    }
}

static void test_limit(void **state)
{
    struct pair *pair = open_shared((struct pair_options){.qps = 2}, 16);
    struct oche_srq *srq = pair->side[1].srq;

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(post(pair, i, 0, 1000), 0);
    oche_srq_set_limit(srq, 4);
    assert_int_equal(oche_srq_limit(srq), 4);
    send_on(pair, 0, 1, 10);
    send_on(pair, 1, 2, 10);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].srq_limits, 0); /* 4 are left */
    send_on(pair, 0, 3, 10);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].srq_limits, 1);
    assert_int_equal(oche_srq_limit(srq), 0);
    send_on(pair, 0, 4, 10);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].srq_limits, 1); /* once */
    oche_srq_set_limit(srq, 2);
    assert_int_equal(pair->side[1].srq_limits, 1);
    oche_srq_set_limit(srq, 3);
    assert_int_equal(pair->side[1].srq_limits, 2); /* at once */
    assert_int_equal(oche_srq_posted(srq), 2);
    assert_int_equal(post(pair, 9, 0, 10), 0);
    oche_srq_set_limit(srq, 0);
    assert_int_equal(pair->side[1].srq_limits, 2);
    pair_close(pair);
}

/* An error ends the receives that the queue pair has taken. The rest is for the others. */
static void test_error(void **state)
{
    struct pair *pair = open_shared((struct pair_options){.qps = 2}, 16);
    struct oche_qp *qp = pair->side[1].qp[0];

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(post(pair, 70 + i, 0, 100000), 0);
    send_on(pair, 0, 1, 100000);
    pair_run(pair, pair->now + 3 * OCHE_US); /* the message has begun to arrive */
    assert_int_equal(oche_srq_posted(pair->side[1].srq), 2);
    oche_qp_fail(qp, pair->now);
    pair_expect(pair, 1, 70, OCHE_STATUS_FLUSHED);
    pair_expect_none(pair, 1);
    assert_int_equal(pair->side[1].qp_events[OCHE_QP_EVENT_LAST_RECEIVE], 1);
    send_on(pair, 1, 2, 100);
    pair_run(pair, pair->now + 100 * OCHE_US);
    pair_expect(pair, 1, 71, OCHE_STATUS_SUCCESS);
    assert_false(oche_srq_destroy(pair->side[1].srq));
    oche_qp_destroy(qp);
    pair->side[1].qp[0] = NULL;
    assert_false(oche_srq_destroy(pair->side[1].srq));
    oche_qp_destroy(pair->side[1].qp[1]);
    pair->side[1].qp[1] = NULL;
    assert_int_equal(oche_srq_posted(pair->side[1].srq), 1);
    assert_true(oche_srq_destroy(pair->side[1].srq));
    pair_close(pair);
}

/* Without a message in progress the event comes, too, and a reset queue pair can be used. */
static void test_reset(void **state)
{
    struct pair *pair = open_shared((struct pair_options){0}, 4);
    struct oche_qp *qp = pair->side[1].qp[0];
    struct oche_qp_connection connection = pair_connection(pair, 1, 0);

    (void)state;
    send_on(pair, 0, 1, 0);
    assert_int_equal(post(pair, 70, 0, 100), 0);
    assert_int_equal(post(pair, 71, 0, 100), 0);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 70, OCHE_STATUS_SUCCESS);
    oche_qp_fail(qp, pair->now);
    assert_int_equal(pair->side[1].qp_events[OCHE_QP_EVENT_LAST_RECEIVE], 1);
    pair_expect_none(pair, 1);
    oche_qp_reset(qp);
    connection.recv_psn = oche_psn_add(connection.recv_psn, 1);
    assert_true(oche_qp_init(qp, pair->now));
    assert_true(oche_qp_ready_to_receive(qp, &connection, pair->now));
    send_on(pair, 0, 2, 50);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 1, 71, OCHE_STATUS_SUCCESS).bytes, 50);
    pair_close(pair);
}

/*
 * Too short: on RC the connection fails. On UC and UD only the receive fails, because nobody else
 * would get it.
 */
static void test_too_short(void **state)
{
    (void)state;
    for (unsigned t = 0; t < 3; t++) {
        struct pair *pair = open_shared((struct pair_options){.transport = transports[t]}, 4);
        bool rc = transports[t] == OCHE_TRANSPORT_RC;

        assert_int_equal(post(pair, 70, 0, 99), 0);
        assert_int_equal(post(pair, 71, 0, 140), 0);
        send_on(pair, 0, 1, 100);
        pair_run_quiet(pair);
        pair_expect(pair, 1, 70, OCHE_STATUS_LOCAL_LENGTH);
        pair_expect(pair, 0, 1, rc ? OCHE_STATUS_REMOTE_INVALID_REQUEST : OCHE_STATUS_SUCCESS);
        assert_int_equal(oche_qp_state(pair->side[1].qp[0]), rc ? OCHE_QP_ERR : OCHE_QP_RTS);
        if (!rc) {
            send_on(pair, 0, 2, 100);
            pair_run_quiet(pair);
            pair_expect(pair, 1, 71, OCHE_STATUS_SUCCESS);
        }
        pair_close(pair);
    }
}

/* Receives belong to the SRQ's protection domain, not to the queue pair's. */
static void test_domain(void **state)
{
    struct pair_options options = {.srq_depth = 4, .no_connect = true};
    struct pair *pair = pair_open(&options);
    static uint8_t memory[1000];
    struct oche_region region = {.va = 500,
                                 .length = sizeof(memory),
                                 .key = 4711,
                                 .access = OCHE_ACCESS_LOCAL_WRITE,
                                 .pd = PAIR_PD + 1,
                                 .base = memory};
    struct oche_recv_work work = {
        .wr_id = 7, .sge_count = 1, .sge[0] = {.va = 500, .length = 1000, .lkey = 4711}};
    struct oche_srq_config config = {.depth = 4, .max_sge = 1, .pd = PAIR_PD + 1};
    struct oche_srq *srq =
        oche_srq_create(pair->side[1].nic, aligned_alloc(64, oche_srq_bytes(&config)), &config);

    (void)state;
    assert_true(oche_nic_add_region(pair->side[1].nic, &region));
    assert_non_null(srq);
    void *before = pair->side[1].srq;
    pair->side[1].srq = srq;
    pair_connect(pair, 0, 0);
    pair_connect(pair, 1, 0);
    pair_fill(pair, 0, 0, 1000, 1);
    assert_int_equal(oche_srq_post_recv(srq, &work), 0);
    work.sge[0].lkey = PAIR_KEY; /* of the queue pair's domain */
    work.sge[0].va = PAIR_VA;
    assert_int_equal(oche_srq_post_recv(srq, &work), 0);
    send_on(pair, 0, 1, 1000);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_memory_equal(memory, SIDE0(0), 1000);
    send_on(pair, 0, 2, 10);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 7, OCHE_STATUS_LOCAL_PROTECTION);
    pair->side[1].srq = before;
    pair_close(pair);
    free(srq);
}

/* A resized queue loses nothing, for any position of its content in the ring. */
static void test_resize(void **state)
{
    static _Alignas(64) uint8_t rings[2][4096];
    static const uint32_t sizes[] = {16, 8, 4, 32, 4, 8};
    struct pair *pair = open_shared((struct pair_options){.qps = 1}, 4);
    struct oche_srq *srq = pair->side[1].srq;
    uint64_t posted = 0, seen = 0;

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        const uint32_t depth = sizes[round % 6];
        for (; posted < seen + 4; posted++)
            assert_int_equal(post(pair, posted, 0, 100), 0);
        assert_true(oche_srq_entries_bytes(depth, 4) <= sizeof(rings[0]));
        assert_false(oche_srq_resize(srq, rings[round % 2], 2)); /* there are 4 in it */
        assert_false(oche_srq_resize(srq, rings[round % 2], 6));
        assert_false(oche_srq_resize(srq, rings[round % 2], 0));
        assert_true(oche_srq_resize(srq, rings[round % 2], depth));
        for (unsigned i = 0; i < 1 + round % 4; i++) {
            send_on(pair, 0, 1000, 10);
            pair_run_quiet(pair);
            pair_expect(pair, 0, 1000, OCHE_STATUS_SUCCESS);
            pair_expect(pair, 1, seen++, OCHE_STATUS_SUCCESS);
        }
    }
    while (oche_srq_posted(srq) < 8) /* as large as it says */
        assert_int_equal(post(pair, posted++, 0, 100), 0);
    assert_int_equal(post(pair, posted, 0, 100), ENOMEM);
    pair_close(pair);
}

static void test_refuses(void **state)
{
    struct pair *pair = open_shared((struct pair_options){0}, 4);
    static _Alignas(64) uint8_t memory[4096];
    static const struct oche_srq_config wrong[] = {
        {.depth = 0, .max_sge = 1},
        {.depth = 3, .max_sge = 1},
        {.depth = 1 << 21, .max_sge = 1},
        {.depth = 4, .max_sge = 0},
        {.depth = 4, .max_sge = OCHE_MAX_SGE + 1},
    };
    struct oche_srq_config good = {.depth = 4, .max_sge = 2, .user = &pair};
    struct oche_recv_work work = {.sge_count = 3};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(wrong); i++)
        assert_null(oche_srq_create(pair->side[0].nic, memory, &wrong[i]));
    assert_true(oche_srq_bytes(&good) <= sizeof(memory));
    struct oche_srq *srq = oche_srq_create(pair->side[0].nic, memory, &good);
    assert_non_null(srq);
    assert_ptr_equal(oche_srq_user(srq), &pair);
    assert_int_equal(oche_srq_post_recv(srq, &work), EINVAL);
    work.sge_count = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(oche_srq_post_recv(srq, &work), 0);
    assert_int_equal(oche_srq_post_recv(srq, &work), ENOMEM);
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &work), EINVAL);
    assert_true(oche_srq_destroy(srq));
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_limit),
        cmocka_unit_test(test_error),     cmocka_unit_test(test_reset),
        cmocka_unit_test(test_too_short), cmocka_unit_test(test_domain),
        cmocka_unit_test(test_resize),    cmocka_unit_test(test_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
