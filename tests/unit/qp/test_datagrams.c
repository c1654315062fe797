/* SPDX-License-Identifier: Apache-2.0 */
/* UD: the destinations of datagrams, the content of a receive, and dropped datagrams. */
#include "tests/support/test.h"

#include <errno.h>
#include <string.h>

#include "core/cc/dcqcn.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define SIDE0(offset) (pair->side[0].memory + (offset))
#define SIDE1(offset) (pair->side[1].memory + (offset))

static struct pair *open_ud(struct pair_options options)
{
    options.transport = OCHE_TRANSPORT_UD;
    return pair_open(&options);
}

static void post_to(struct pair *pair, int from, struct oche_send_work work,
                    const struct oche_destination *to)
{
    work.to = to;
    pair_post(pair, from, &work);
}

static struct oche_packet last_sent;

static void note_sent(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 0)
        last_sent = *packet;
}

static void test_send(void **state)
{
    struct pair *pair = open_ud((struct pair_options){.bytes = true});
    struct oche_destination to = pair_destination(0, 0);
    struct oche_completion done;
    uint32_t source = 100;

    (void)state;
    pair->tap = note_sent;
    pair_fill(pair, 0, 0, 1000, 1);
    memset(SIDE1(0), 0, 4000);
    pair_post_recv(pair, 1, 7, 2000, 40 + 1000);
    pair_post_recv(pair, 1, 8, 4000, 2000);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 1000), &to);
    struct oche_send_work imm = pair_work(OCHE_WORK_SEND_IMM, 2, 0, 0, 0);
    imm.imm = 0xfeed;
    imm.flags |= OCHE_WORK_SOLICITED;
    post_to(pair, 0, imm, &to);
    memset(&to, 0xff, sizeof(to)); /* it was copied */
    pair_run_quiet(pair);

    done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_SEND);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    done = pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_RECV);
    assert_int_equal(done.bytes, 1040);
    assert_int_equal(done.src_qpn, PAIR_QPN);
    assert_false(done.has_imm || done.solicited);
    assert_memory_equal(SIDE1(2000), &source, 4);
    for (int i = 4; i < 40; i++)
        assert_int_equal(SIDE1(2000)[i], 0xee);
    assert_memory_equal(SIDE1(2040), SIDE0(0), 1000);
    assert_int_equal(SIDE1(1999)[0], 0);
    assert_int_equal(SIDE1(3040)[0], 0);
    done = pair_expect(pair, 1, 8, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.bytes, 40);
    assert_true(done.has_imm && done.imm == 0xfeed && done.solicited);
    assert_int_equal(pair->sent, 2); /* nothing is acknowledged */
    assert_int_equal(last_sent.opcode, OCHE_UD_SEND_ONLY_IMM);
    assert_int_equal(last_sent.dest_qpn, PAIR_QPN + 1);
    assert_int_equal(last_sent.flow_hash, 77);
    assert_int_equal(last_sent.tag, 99);
    assert_int_equal(last_sent.udp_source_port, 0xd000);
    assert_int_equal(last_sent.psn, 1); /* the first was 0 */
    assert_int_equal(pair->side[1].delivered_messages, 2);
    pair_close(pair);
}

/* One queue pair sends to several peers. */
static void test_destinations(void **state)
{
    struct pair *pair = open_ud((struct pair_options){.qps = 3});
    struct oche_recv_work receive = {.sge_count = 1,
                                     .sge[0] = {.va = PAIR_VA, .length = 100, .lkey = PAIR_KEY}};

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        receive.wr_id = 70 + i;
        assert_int_equal(oche_qp_post_recv(pair->side[1].qp[i], &receive), 0);
    }
    for (uint32_t i = 3; i-- > 0;) {
        struct oche_destination to = pair_destination(0, i);
        post_to(pair, 0, pair_work(OCHE_WORK_SEND, i, 0, 0, 10), &to);
    }
    pair_run_quiet(pair);
    for (uint32_t i = 3; i-- > 0;) {
        struct oche_completion done = pair_expect(pair, 1, 70 + i, OCHE_STATUS_SUCCESS);
        assert_int_equal(done.qpn, PAIR_QPN + 1 + 2 * i);
        assert_int_equal(done.src_qpn, PAIR_QPN);
    }
    pair_close(pair);
}

/* Each leaves in its destination's class. A class that may not send delays the others. */
static void test_classes(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);

    (void)state;
    pair->tap = note_sent;
    pair->side[0].classes = (uint8_t) ~(1 << 3);
    for (uint32_t i = 0; i < 3; i++) {
        to.traffic_class = (uint8_t)(2 + i);
        post_to(pair, 0, pair_work(OCHE_WORK_SEND, i, 0, 0, 10), &to);
    }
    pair_run_quiet(pair);
    assert_int_equal(pair->sent, 1);
    assert_int_equal(last_sent.traffic_class, 2);
    pair->side[0].classes = 1 << 3;
    pair_run_quiet(pair);
    assert_int_equal(pair->sent, 2);
    assert_int_equal(last_sent.traffic_class, 3);
    pair->side[0].classes = 0xff;
    pair_run_quiet(pair);
    assert_int_equal(pair->sent, 3);
    assert_int_equal(last_sent.traffic_class, 4);
    pair_close(pair);
}

static void test_qkeys(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);

    (void)state;
    pair_post_recv(pair, 1, 7, 0, 100);
    to.qkey = PAIR_QKEY + 1;
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 10), &to);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect_none(pair, 1);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_QKEY), 1);
    to.qkey = OCHE_QKEY_PRIVILEGED; /* the sender's own */
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 2, 0, 0, 10), &to);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* Too long for a packet: neither sent nor an error (IBTA C10-93.1.1). The next one is sent. */
static void test_too_long_to_send(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);

    (void)state;
    pair_post_recv(pair, 1, 7, 0, 40 + PAIR_MTU);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, PAIR_MTU + 1), &to);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 2, 0, 0, PAIR_MTU), &to);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 3, 0, 0, 2 * PAIR_MTU), &to);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 4, 0, 0, 3 * PAIR_MTU), &to);
    pair_run_quiet(pair);
    for (uint64_t i = 1; i <= 4; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair->sent, 1);
    assert_true(oche_qp_idle(pair->side[0].qp[0]));
    pair_close(pair);
}

/* No receive, or a short one: the datagram is dropped, and the receive stays. */
static void test_no_room(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);

    (void)state;
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 10), &to);
    pair_run_quiet(pair);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_NOT_READY), 1);
    pair_post_recv(pair, 1, 7, 0, 49);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 2, 0, 0, 10), &to);
    pair_run_quiet(pair);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_LENGTH), 1);
    pair_expect_none(pair, 1);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 3, 0, 0, 9), &to);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* GRH and payload are split over the SGEs in order. */
static void test_scattered(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);
    struct oche_recv_work receive = {
        .wr_id = 7,
        .sge_count = 4,
        .sge = {{.va = PAIR_VA + 1000, .length = 30, .lkey = PAIR_KEY},
                {.va = PAIR_VA + 2000, .length = 0, .lkey = 0},
                {.va = PAIR_VA + 3000, .length = 25, .lkey = PAIR_KEY},
                {.va = PAIR_VA + 4000, .length = 100, .lkey = PAIR_KEY}}};

    (void)state;
    pair_fill(pair, 0, 0, 100, 3);
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &receive), 0);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 100), &to);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS).bytes, 140);
    assert_int_equal(SIDE1(1029)[0], 0xee);
    assert_int_equal(SIDE1(3009)[0], 0xee);
    assert_memory_equal(SIDE1(3010), SIDE0(0), 15);
    assert_memory_equal(SIDE1(4000), SIDE0(15), 85);
    pair_close(pair);
}

static void test_posts(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_destination to = pair_destination(0, 0);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 10);

    (void)state;
    assert_int_equal(oche_qp_post_send(qp, &work), EINVAL); /* where to? */
    work.to = &to;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        work.opcode = (uint8_t)opcode;
        if (opcode != OCHE_WORK_SEND && opcode != OCHE_WORK_SEND_IMM)
            assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
    }
    work.opcode = OCHE_WORK_SEND;
    to.qpn = 1 << 24;
    assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
    to = pair_destination(0, 0);
    to.traffic_class = OCHE_CLASSES;
    assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
    to = pair_destination(0, 0);
    assert_int_equal(oche_qp_post_send(qp, &work), 0);
    pair_close(pair);
}

/*
 * An error at the sender ends in SQE: the rest is flushed, receives stay, and the queue pair can
 * continue.
 */
static void test_send_error(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);
    struct oche_send_work wrong = pair_work(OCHE_WORK_SEND, 2, 0, 0, 10);

    (void)state;
    wrong.sge[0].lkey = PAIR_KEY + 1;
    pair_post_recv(pair, 0, 6, 0, 100);
    pair_post_recv(pair, 1, 7, 0, 100);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 10), &to);
    post_to(pair, 0, wrong, &to);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 3, 0, 0, 10), &to);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_LOCAL_PROTECTION);
    pair_expect(pair, 0, 3, OCHE_STATUS_FLUSHED);
    pair_expect_none(pair, 0);
    pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_SQE);
    to = pair_destination(1, 0);
    post_to(pair, 1, pair_work(OCHE_WORK_SEND, 4, 0, 0, 10), &to); /* it still receives */
    pair_run_quiet(pair);
    pair_expect(pair, 0, 6, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_resume(pair->side[0].qp[0], pair->now));
    to = pair_destination(0, 0);
    pair_post_recv(pair, 1, 8, 0, 100);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 5, 0, 0, 10), &to);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 5, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* A receive into memory that is not ours ends the queue pair (fault class A). */
static void test_receive_error(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_destination to = pair_destination(0, 0);
    struct oche_recv_work receive = {
        .wr_id = 7, .sge_count = 1, .sge[0] = {.va = PAIR_VA, .length = 100, .lkey = PAIR_KEY + 1}};

    (void)state;
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &receive), 0);
    pair_post_recv(pair, 1, 8, 0, 100);
    post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 10), &to);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 7, OCHE_STATUS_LOCAL_PROTECTION);
    pair_expect(pair, 1, 8, OCHE_STATUS_FLUSHED);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
    assert_int_equal(pair->side[1].errors, 1);
    pair_close(pair);
}

/* A stranger's packets: only valid ones are accepted, and none is answered. */
static void test_hostile(void **state)
{
    struct pair *pair = open_ud((struct pair_options){0});
    struct oche_packet good = pair_packet(pair, 0, OCHE_UD_SEND_ONLY, 5, 0);

    (void)state;
    good.ext = OCHE_EXT_DETH;
    good.deth.qkey = PAIR_QKEY;
    good.deth.src_qpn = 0xff123456;
    good.src = UINT32_MAX; /* nobody's address */
    pair_post_recv(pair, 1, 7, 0, 2000);
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        struct oche_packet packet = good;
        packet.opcode = (uint8_t)opcode;
        if (opcode != OCHE_UD_SEND_ONLY && opcode != OCHE_UD_SEND_ONLY_IMM)
            pair_inject(pair, 0, &packet);
    }
    struct oche_packet packet = good;
    packet.ext = 0;
    pair_inject(pair, 0, &packet);
    packet = good;
    packet.payload_bytes = PAIR_MTU + 1;
    pair_inject(pair, 0, &packet);
    packet = good;
    packet.pkey = 0x1234;
    pair_inject(pair, 0, &packet);
    packet = good;
    packet.deth.qkey |= OCHE_QKEY_PRIVILEGED;
    pair_inject(pair, 0, &packet);
    pair_expect_none(pair, 1);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_RTS);
    pair_inject(pair, 0, &good);
    assert_int_equal(pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS).src_qpn, 0x123456);
    assert_int_equal(pair->sent, 0);
    pair_close(pair);
}

/* A connected queue pair ignores a datagram. */
static void test_to_connected(void **state)
{
    static const uint8_t transports[] = {OCHE_TRANSPORT_RC, OCHE_TRANSPORT_UC};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct pair_options options = {.transport = transports[i]};
        struct pair *pair = pair_open(&options);
        struct oche_packet packet = pair_packet(pair, 0, OCHE_UD_SEND_ONLY, 0, 0);

        packet.ext = OCHE_EXT_DETH;
        packet.deth.qkey = PAIR_QKEY;
        pair_post_recv(pair, 1, 7, 0, 2000);
        pair_inject(pair, 0, &packet);
        pair_expect_none(pair, 1);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_OPCODE), 1);
        assert_int_equal(pair->sent, 0);
        pair_close(pair);
    }
}

/* Congestion control that is not for datagrams is not called. Pacing by the limit still applies. */
static void test_uncontrolled(void **state)
{
    const struct oche_cc_scheme *dcqcn = oche_cc_find("dcqcn");
    uint8_t params[4096];
    struct oche_destination to = pair_destination(0, 0);

    (void)state;
    assert_non_null(dcqcn);
    assert_true(dcqcn->table.struct_bytes <= sizeof(params));
    oche_param_defaults(&dcqcn->table, params);
    struct pair *pair = open_ud((struct pair_options){.cc = dcqcn, .cc_params = params});
    oche_qp_set_rate_limit(pair->side[0].qp[0], OCHE_GBPS, pair->now);
    pair_post_recv(pair, 1, 7, 0, 2000);
    oche_time start = pair->now;
    for (uint64_t i = 0; i < 10; i++)
        post_to(pair, 0, pair_work(OCHE_WORK_SEND, i, 0, 0, 1000), &to);
    struct oche_packet cnp = pair_packet(pair, 1, OCHE_CNP, 0, 0);
    pair_inject(pair, 1, &cnp);
    pair_run_quiet(pair);
    for (uint64_t i = 0; i < 10; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    oche_time one = oche_time_of_bytes(1000 + 70 + OCHE_GAP_BYTES, OCHE_GBPS);
    assert_true(pair->now - start >= 9 * one);
    assert_true(pair->now - start <= 10 * one + 2 * OCHE_US);
    pair_close(pair);
}

static unsigned ect, marked_with_cnp;

static void look_at_ecn(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    ect += from == 0 && packet->ecn != OCHE_ECN_NOT_ECT;
    marked_with_cnp += from == 1 && packet->opcode == OCHE_CNP;
}

/*
 * A scheme that is not for datagrams does not ask the network to mark them. A datagram that arrives
 * with a mark is only counted, because no sender would react to a CNP.
 */
static void test_marks(void **state)
{
    const struct oche_cc_scheme *dcqcn = oche_cc_find("dcqcn");
    static _Alignas(8) uint8_t params[512];

    (void)state;
    assert_true(dcqcn->table.struct_bytes <= sizeof(params));
    oche_param_defaults(&dcqcn->table, params);
    for (unsigned connected = 0; connected < 2; connected++) {
        struct pair_options options = {.cc = dcqcn,
                                       .cc_params = params,
                                       .transport =
                                           connected ? OCHE_TRANSPORT_RC : OCHE_TRANSPORT_UD};
        struct pair *pair = pair_open(&options);
        struct oche_destination to = pair_destination(0, 0);
        struct oche_packet packet = pair_packet(
            pair, 0, connected ? OCHE_RC_SEND_ONLY : OCHE_UD_SEND_ONLY, connected ? 1 : 0, 100);

        ect = marked_with_cnp = 0;
        pair->tap = look_at_ecn;
        pair_post_recv(pair, 1, 7, 0, 2000);
        pair_post_recv(pair, 1, 8, 0, 2000);
        post_to(pair, 0, pair_work(OCHE_WORK_SEND, 1, 0, 0, 1000), &to);
        pair_run_quiet(pair);
        packet.ecn = OCHE_ECN_CE;
        pair_inject(pair, 0, &packet);
        pair_run_quiet(pair);
        assert_int_equal(ect, connected);
        assert_int_equal(oche_nic_stats(pair->side[1].nic)->ce_received, 1);
        assert_int_equal(marked_with_cnp, connected);
        assert_int_equal(oche_nic_stats(pair->side[1].nic)->cnps_sent, connected);
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_destinations),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_qkeys),
        cmocka_unit_test(test_too_long_to_send),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_posts),
        cmocka_unit_test(test_send_error),
        cmocka_unit_test(test_receive_error),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_to_connected),
        cmocka_unit_test(test_uncontrolled),
        cmocka_unit_test(test_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
