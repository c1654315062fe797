/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine: allowed transitions, and what each state sends, accepts and flushes. */
#include "tests/support/test.h"

#include <string.h>

#include "core/cc/cc.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

enum action { INIT, RTR, RTS, DRAIN, RESUME, FAIL, RESET, ACTIONS };

static bool act(struct pair *pair, struct oche_qp *qp, enum action action)
{
    struct oche_qp_connection connection = pair_connection(pair, 0, 0);

    switch (action) {
    case INIT:
        return oche_qp_init(qp, pair->now);
    case RTR:
        return oche_qp_ready_to_receive(qp, &connection, pair->now);
    case RTS:
        return oche_qp_ready_to_send(qp, pair->now);
    case DRAIN:
        return oche_qp_drain(qp, pair->now);
    case RESUME:
        return oche_qp_resume(qp, pair->now);
    case FAIL:
        oche_qp_fail(qp, pair->now);
        return true;
    default:
        oche_qp_reset(qp);
        return true;
    }
}

/* By state and action: the state after it, or -1: rejected and unchanged. */
static const int table[OCHE_QP_ERR + 1][ACTIONS] = {
    [OCHE_QP_RESET] = {OCHE_QP_INIT, -1, -1, -1, -1, OCHE_QP_ERR, OCHE_QP_RESET},
    [OCHE_QP_INIT] = {-1, OCHE_QP_RTR, -1, -1, -1, OCHE_QP_ERR, OCHE_QP_RESET},
    [OCHE_QP_RTR] = {-1, -1, OCHE_QP_RTS, -1, -1, OCHE_QP_ERR, OCHE_QP_RESET},
    [OCHE_QP_RTS] = {-1, -1, -1, OCHE_QP_SQD, -1, OCHE_QP_ERR, OCHE_QP_RESET},
    [OCHE_QP_SQD] = {-1, -1, -1, -1, OCHE_QP_RTS, OCHE_QP_ERR, OCHE_QP_RESET},
    [OCHE_QP_SQE] = {-1, -1, -1, -1, OCHE_QP_RTS, OCHE_QP_ERR, OCHE_QP_RESET},
    [OCHE_QP_ERR] = {-1, -1, -1, -1, -1, OCHE_QP_ERR, OCHE_QP_RESET},
};

/* Brings a fresh queue pair into a state. */
static void reach(struct pair *pair, struct oche_qp *qp, enum oche_qp_state state)
{
    static const enum action path[] = {INIT, RTR, RTS};

    oche_qp_reset(qp);
    for (unsigned i = 0; i < 3 && state > i; i++)
        assert_true(act(pair, qp, path[i]));
    if (state == OCHE_QP_SQD) {
        assert_true(act(pair, qp, DRAIN));
    } else if (state == OCHE_QP_ERR) {
        act(pair, qp, FAIL);
    } else if (state == OCHE_QP_SQE) {
        struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 10);
        work.sge[0].lkey = 1;
        assert_int_equal(oche_qp_post_send(qp, &work), 0);
        pair_run_quiet(pair);
    }
    assert_int_equal(oche_qp_state(qp), state);
}

static void test_transitions(void **state)
{
    struct pair_options options = {.transport = OCHE_TRANSPORT_UC};
    struct pair *pair = pair_open(&options);
    struct oche_qp *qp = pair->side[0].qp[0];

    (void)state;
    for (int from = OCHE_QP_RESET; from <= OCHE_QP_ERR; from++)
        for (enum action action = INIT; action < ACTIONS; action++) {
            reach(pair, qp, (enum oche_qp_state)from);
            bool done = act(pair, qp, action);
            int to = table[from][action];
            assert_int_equal(done, to >= 0);
            assert_int_equal(oche_qp_state(qp), to >= 0 ? to : from);
        }
    pair_close(pair);
}

/* A scheme for RC alone, because it needs ACKs, does not affect UC. */
static void test_scheme_of_rc_alone(void **state)
{
    static const char *const schemes[] = {"cubic", "timely", "timely_patched"};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(schemes); i++) {
        const struct oche_cc_scheme *cc = oche_cc_find(schemes[i]);
        _Alignas(8) unsigned char params[1024];
        struct pair_options options = {
            .cc = cc, .cc_params = params, .transport = OCHE_TRANSPORT_UC};
        struct pair *pair;

        assert_int_equal(cc->transports, OCHE_CC_RC);
        assert_true(cc->table.struct_bytes <= sizeof(params));
        oche_param_defaults(&cc->table, params);
        pair = pair_open(&options);
        for (unsigned message = 0; message < 3; message++) {
            struct oche_send_work work = pair_work(OCHE_WORK_SEND, message, 0, 0, 10000);

            pair_post_recv(pair, 1, message, 0, 10000);
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
            pair_expect(pair, 0, message, OCHE_STATUS_SUCCESS);
            pair_expect(pair, 1, message, OCHE_STATUS_SUCCESS);
        }
        assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[0]), 100 * OCHE_GBPS);
        pair_close(pair);
    }
}

static void test_posts_by_state(void **state)
{
    struct pair_options options = {.transport = OCHE_TRANSPORT_UC};
    struct pair *pair = pair_open(&options);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_send_work send = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10);
    struct oche_recv_work recv = {.wr_id = 2};

    (void)state;
    for (int s = OCHE_QP_RESET; s <= OCHE_QP_ERR; s++) {
        reach(pair, qp, (enum oche_qp_state)s);
        assert_int_equal(oche_qp_post_send(qp, &send), s < OCHE_QP_RTS ? 22 : 0);
        reach(pair, qp, (enum oche_qp_state)s);
        assert_int_equal(oche_qp_post_recv(qp, &recv), s == OCHE_QP_RESET ? 22 : 0);
    }
    pair_close(pair);
}

static void test_requests_by_state(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_qp *qp = pair->side[0].qp[0];

    (void)state;
    for (int s = OCHE_QP_RESET; s <= OCHE_QP_ERR; s++) {
        if (s == OCHE_QP_SQE)
            continue; /* not of RC */
        reach(pair, qp, (enum oche_qp_state)s);
        uint64_t before = pair->side[0].delivered_messages;
        uint64_t rejected = oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_QP_STATE);
        struct oche_packet packet = pair_packet(pair, 1, OCHE_RC_WRITE_ONLY, 1000, 0);
        packet.ext = OCHE_EXT_RETH;
        pair_inject(pair, 1, &packet);
        bool takes = s >= OCHE_QP_RTR && s != OCHE_QP_ERR;
        assert_int_equal(pair->side[0].delivered_messages - before, takes);
        assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_QP_STATE) - rejected,
                         !takes);
    }
    pair_close(pair);
}

/* SQD completes work in progress and starts no new work; RTS continues. */
static void test_drain(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 50000);

    (void)state;
    pair_post(pair, 0, &work);
    work.wr_id = 2;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + OCHE_US);
    assert_true(oche_qp_drain(qp, pair->now));
    assert_false(oche_qp_drained(qp));
    work.wr_id = 3;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect_none(pair, 0);
    assert_true(oche_qp_drained(qp));
    assert_false(oche_qp_idle(qp));
    assert_true(oche_qp_resume(qp, pair->now));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 3, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_idle(qp));
    pair_close(pair);
}

static void test_flush(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, 50000);

    (void)state;
    work.flags = 0;
    for (uint64_t i = 0; i < 5; i++) {
        work.wr_id = i;
        pair_post(pair, 0, &work);
        pair_post_recv(pair, 0, 10 + i, 0, 10);
    }
    pair_run(pair, pair->now + 2 * OCHE_US); /* the first is on its way */
    work.wr_id = 5;                          /* posted, and not noticed yet */
    pair_post(pair, 0, &work);
    oche_qp_fail(qp, pair->now);
    for (uint64_t i = 0; i < 6; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_FLUSHED);
    for (uint64_t i = 0; i < 5; i++)
        pair_expect(pair, 0, 10 + i, OCHE_STATUS_FLUSHED);
    pair_expect_none(pair, 0);
    work.wr_id = 6; /* in ERR: flushed when noticed */
    pair_post(pair, 0, &work);
    pair_post_recv(pair, 0, 16, 0, 10);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 6, OCHE_STATUS_FLUSHED);
    pair_expect(pair, 0, 16, OCHE_STATUS_FLUSHED);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), OCHE_NEVER);
    assert_int_equal(pair->side[0].errors, 0); /* the driver caused it, so it gets no event */
    pair_close(pair);
}

/* UC: an error of its own stops only the send queue, and can be cleared. */
static void test_sqe(void **state)
{
    struct pair_options options = {.transport = OCHE_TRANSPORT_UC};
    struct pair *pair = pair_open(&options);
    struct oche_send_work bad = pair_work(OCHE_WORK_SEND, 1, 0, 0, 10);
    struct oche_send_work good = pair_work(OCHE_WORK_WRITE, 2, 0, 500, 2000);

    (void)state;
    bad.sge[0].lkey = 1;
    pair_post_recv(pair, 0, 9, 0, 10);
    pair_post(pair, 0, &bad);
    pair_post(pair, 0, &good);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_LOCAL_PROTECTION);
    pair_expect(pair, 0, 2, OCHE_STATUS_FLUSHED);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_SQE);
    pair_post(pair, 0, &good);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_FLUSHED);
    /* It still receives. */
    struct oche_packet packet = pair_packet(pair, 1, OCHE_UC_SEND_ONLY, 1000, 5);
    pair_inject(pair, 1, &packet);
    pair_expect(pair, 0, 9, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_resume(pair->side[0].qp[0], pair->now));
    pair_fill(pair, 0, 0, 2000, 1);
    pair_post(pair, 0, &good);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory + 500, 2000);
    pair_close(pair);
}

/* RESET clears everything; the same queue pair connects anew. */
static void test_reset(void **state)
{
    struct pair_options options = {.drop = 100, .seed = 3};
    struct pair *pair = pair_open(&options);

    (void)state;
    pair_fill(pair, 0, 0, 20000, 1);
    for (int round = 0; round < 20; round++) {
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 30000, 20000);
        struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 60000, 0, 20000);
        struct oche_completion done[8];
        pair_post(pair, 0, &work);
        pair_post(pair, 0, &read);
        pair_run(pair, pair->now + (oche_time)round * OCHE_US / 2);
        pair_post(pair, 0, &work);
        for (int s = 0; s < 2; s++) {
            struct oche_qp_connection connection = pair_connection(pair, s, 0);
            struct oche_qp *qp = pair->side[s].qp[0];
            oche_qp_reset(qp);
            assert_int_equal(oche_qp_state(qp), OCHE_QP_RESET);
            assert_int_equal(oche_nic_next(pair->side[s].nic, UINT8_MAX), OCHE_NEVER);
            assert_int_equal(oche_nic_backlog_bytes(pair->side[s].nic), 0);
            pair->now += 10 * OCHE_US; /* the link is empty */
            pair_run_quiet(pair);
            assert_true(oche_qp_init(qp, pair->now));
            assert_true(oche_qp_ready_to_receive(qp, &connection, pair->now));
            assert_true(oche_qp_ready_to_send(qp, pair->now));
        }
        oche_cq_poll(pair->side[0].cq, done, 8);
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        pair_expect_none(pair, 0);
        assert_memory_equal(pair->side[0].memory, pair->side[1].memory + 30000, 20000);
    }
    pair_close(pair);
}

/* A queue pair destroyed at any moment leaves no trace in the NIC. */
static void test_destroy(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct pair_options options = {.qps = 3, .seed = 1};
        struct pair *pair = pair_open(&options);
        struct oche_nic *nic = pair->side[0].nic;
        for (uint32_t i = 0; i < 3; i++) {
            struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 5000);
            assert_int_equal(oche_qp_post_send(pair->side[0].qp[i], &work), 0);
            if (i == 1)
                oche_qp_set_rate_limit(pair->side[0].qp[i], OCHE_GBPS, pair->now);
        }
        pair_run(pair, pair->now + (oche_time)round * OCHE_US / 8);
        uint32_t victim = (uint32_t)round % 3;
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 5, 0, 0, 5000);
        assert_int_equal(oche_qp_post_send(pair->side[0].qp[victim], &work), 0);
        oche_qp_destroy(pair->side[0].qp[victim]);
        memset(pair->side[0].qp_memory[victim], 0x5a, 512);
        pair->side[0].qp[victim] = NULL;
        pair_run_quiet(pair);
        assert_null(oche_nic_find_qp(nic, PAIR_QPN + 2 * victim));
        assert_int_equal(oche_nic_backlog_bytes(nic), 0);
        for (uint32_t i = 0; i < 3; i++)
            if (i != victim)
                assert_true(oche_qp_idle(pair->side[0].qp[i]));
        pair_close(pair);
    }
}

/* The same with all of them in the list of control packets, or waiting to be noticed. */
static void test_destroy_in_lists(void **state)
{
    (void)state;
    for (uint32_t victim = 0; victim < 3; victim++) {
        struct pair_options options = {.qps = 3};
        struct pair *pair = pair_open(&options);
        pair->side[1].classes = 0;
        for (uint32_t i = 0; i < 3; i++) {
            struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 100);
            assert_int_equal(oche_qp_post_send(pair->side[0].qp[i], &work), 0);
        }
        pair_run(pair, pair->now + 10 * OCHE_US); /* side 1 owes three ACKs */
        for (uint32_t i = 0; i < 3; i++) {
            struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 100);
            assert_int_equal(oche_qp_post_send(pair->side[1].qp[i], &work), 0);
        }
        oche_qp_destroy(pair->side[1].qp[victim]);
        memset(pair->side[1].qp_memory[victim], 0x5a, 512);
        pair->side[1].qp[victim] = NULL;
        oche_qp_destroy(pair->side[0].qp[victim]);
        pair->side[0].qp[victim] = NULL;
        pair->side[1].classes = UINT8_MAX;
        pair_run_quiet(pair);
        assert_int_equal(oche_nic_stats(pair->side[1].nic)->acks_sent, 2);
        assert_int_equal(pair->side[0].delivered_messages, 2);
        for (uint32_t i = 0; i < 3; i++)
            if (i != victim)
                assert_true(oche_qp_idle(pair->side[0].qp[i]) && oche_qp_idle(pair->side[1].qp[i]));
        pair_close(pair);
    }
}

/* Ready to receive, but not to send: requests are answered, responses are not expected. */
static void test_ready_to_receive(void **state)
{
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    struct oche_qp_config config = pair_qp_config(pair, 1, 0);
    struct oche_qp_connection connection = pair_connection(pair, 1, 0);
    struct oche_packet ack = pair_packet(pair, 0, OCHE_RC_ACK, 1000, 0);
    static _Alignas(64) uint8_t memory[16384];

    (void)state;
    pair_connect(pair, 0, 0);
    struct oche_qp *qp = oche_qp_create(pair->side[1].nic, memory, &config);
    pair->side[1].qp[0] = qp;
    assert_true(oche_qp_init(qp, 0) && oche_qp_ready_to_receive(qp, &connection, 0));
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 3000);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 3000);
    pair_post(pair, 0, &write);
    pair_post(pair, 0, &read);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_inject(pair, 0, &ack);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_QP_STATE), 1);
    pair_close(pair);
}

/*
 * As in verbs: the path's MTU, the sender's half of the connection and the peer's rights are set by
 * state changes, not when the queue pair is made.
 */
static void test_known_late(void **state)
{
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    static _Alignas(64) uint8_t memory[2][16384];

    (void)state;
    for (int s = 0; s < 2; s++) {
        struct oche_qp_config config = pair_qp_config(pair, s, 0);
        struct oche_qp_connection early = pair_connection(pair, s, 0), late = early;
        early.send_psn = 77;
        early.ack_timeout = OCHE_NEVER;
        early.retry_count = early.rnr_retry = 0;
        struct oche_qp *qp = oche_qp_create(pair->side[s].nic, memory[s], &config);
        pair->side[s].qp[0] = qp;
        assert_true(oche_qp_init(qp, 0));
        assert_false(oche_qp_ready_to_send_as(qp, &late, 0));
        early.mtu_bytes = config.mtu_bytes + 1;
        assert_false(oche_qp_ready_to_receive(qp, &early, 0));
        early.mtu_bytes = 63;
        assert_false(oche_qp_ready_to_receive(qp, &early, 0));
        early.mtu_bytes = 256;
        assert_true(oche_qp_ready_to_receive(qp, &early, 0));
        oche_qp_set_initiator_depth(qp, 1);
        assert_true(oche_qp_ready_to_send_as(qp, &late, 0));
    }
    pair_fill(pair, 0, 0, 3000, 1);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 10000, 3000);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 20000, 10000, 3000);
    pair_post(pair, 0, &write);
    pair_post(pair, 0, &read);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->side[0].memory, pair->side[0].memory + 20000, 3000);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->data_packets_sent, 12 + 1);
    oche_qp_set_access(pair->side[1].qp[0], OCHE_ACCESS_REMOTE_READ);
    pair_post(pair, 0, &read);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    pair_close(pair);
}

static void test_create_refuses(void **state)
{
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    struct oche_nic *nic = pair->side[0].nic;
    static _Alignas(64) uint8_t memory[16384];
    const struct oche_qp_config good = pair_qp_config(pair, 0, 0);
    struct oche_qp_config c;

    (void)state;
    assert_true(oche_qp_bytes(nic, &good) <= sizeof(memory));
#define REFUSED(field, value)                                                                      \
    c = good;                                                                                      \
    c.field = (value);                                                                             \
    assert_null(oche_qp_create(nic, memory, &c))
    REFUSED(qpn, 0);
    REFUSED(qpn, 1);
    REFUSED(qpn, 1 << 24);
    REFUSED(transport, OCHE_TRANSPORT_UD + 1);
    REFUSED(traffic_class, OCHE_CLASSES);
    REFUSED(mtu_bytes, 63);
    REFUSED(mtu_bytes, 9001);
    REFUSED(send_depth, 3);
    REFUSED(recv_depth, 6);
    REFUSED(max_send_sge, OCHE_MAX_SGE + 1);
    REFUSED(max_recv_sge, OCHE_MAX_SGE + 1);
    REFUSED(max_inline_bytes, OCHE_MAX_INLINE_BYTES + 1);
    REFUSED(responder_resources, 256);
#undef REFUSED
    struct oche_qp *qp = oche_qp_create(nic, memory, &good);
    assert_non_null(qp);
    assert_null(oche_qp_create(nic, memory + 8192, &good)); /* number taken */
    assert_int_equal(oche_qp_number(qp), PAIR_QPN);
    oche_qp_destroy(qp);
    assert_non_null(oche_qp_create(nic, memory, &good));
    oche_qp_destroy(qp);
    pair_close(pair);
}

/* As many queue pairs as announced, and not one more. */
static void test_max_qps(void **state)
{
    struct pair_options options = {.qps = PAIR_QPS};
    struct pair *pair = pair_open(&options);
    static _Alignas(64) uint8_t memory[16384];
    struct oche_qp_config config = pair_qp_config(pair, 0, PAIR_QPS);

    (void)state;
    assert_null(oche_qp_create(pair->side[0].nic, memory, &config));
    pair_close(pair);
}

/* A queue pair with the options of a simulation fits into a kibibyte. */
static void test_size(void **state)
{
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    struct oche_qp_config config = {.qpn = 2, .mtu_bytes = 1024, .send_depth = 1};

    (void)state;
    print_message("a queue pair: %zu bytes\n", oche_qp_bytes(pair->side[0].nic, &config));
    assert_true(oche_qp_bytes(pair->side[0].nic, &config) <= 1024);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transitions),
        cmocka_unit_test(test_scheme_of_rc_alone),
        cmocka_unit_test(test_posts_by_state),
        cmocka_unit_test(test_requests_by_state),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_sqe),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_destroy),
        cmocka_unit_test(test_known_late),
        cmocka_unit_test(test_create_refuses),
        cmocka_unit_test(test_max_qps),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_destroy_in_lists),
        cmocka_unit_test(test_ready_to_receive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
