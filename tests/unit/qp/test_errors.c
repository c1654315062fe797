/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: each NAK code with its causes, local errors, receivers that are not ready, flushing, and
 * dropped packets by cause.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

/* One work request that must fail, and the expected status on both sides. */
static void expect_failure(const struct pair_options *options, struct oche_send_work work,
                           enum oche_status status, enum oche_status peer_error)
{
    struct pair *pair = pair_open(options);
    struct oche_send_work after = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 10);

    work.wr_id = 1;
    work.flags = 0; /* errors complete all the same */
    after.flags = 0;
    pair_post_recv(pair, 0, 5, 0, 10);
    pair_post(pair, 0, &work);
    pair_post(pair, 0, &after);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, status);
    pair_expect(pair, 0, 2, OCHE_STATUS_FLUSHED);
    pair_expect(pair, 0, 5, OCHE_STATUS_FLUSHED);
    pair_expect_none(pair, 0);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_ERR);
    assert_int_equal(pair->side[0].errors, 1);
    assert_int_equal(pair->side[0].error, status);
    if (peer_error != OCHE_STATUS_SUCCESS) {
        assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
        assert_int_equal(pair->side[1].error, peer_error);
        assert_int_equal(pair->side[1].delivered_bytes, 0);
    }
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
    pair_close(pair);
}

#define ACCESS  OCHE_STATUS_REMOTE_ACCESS
#define INVALID OCHE_STATUS_REMOTE_INVALID_REQUEST

static void test_remote_access(void **state)
{
    static const enum oche_work_opcode opcodes[] = {OCHE_WORK_WRITE, OCHE_WORK_READ,
                                                    OCHE_WORK_FETCH_ADD};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct oche_send_work work = pair_work(opcodes[i], 1, 0, 0, 8);
        work.rkey = PAIR_KEY + 1;
        expect_failure(NULL, work, ACCESS, ACCESS);
        work = pair_work(opcodes[i], 1, 0, PAIR_MEMORY, 8); /* behind the end */
        expect_failure(NULL, work, ACCESS, ACCESS);
        work = pair_work(opcodes[i], 1, 0, 0, 8);
        work.remote_va = PAIR_VA - 8; /* before the beginning */
        expect_failure(NULL, work, ACCESS, ACCESS);
        work.remote_va = UINT64_MAX - 7; /* wraps */
        expect_failure(NULL, work, ACCESS, ACCESS);
    }
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, PAIR_MEMORY - 4000, 4001);
    expect_failure(NULL, work, ACCESS, ACCESS);
}

/* The last byte of the region can be written. */
static void test_last_byte(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, PAIR_MEMORY - 4000, 4000);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* A region is changed in place. That needs no room, and a rejected change leaves it as it was. */
static void test_region_changes(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_nic *nic = pair->side[1].nic;
    struct oche_region region = {.va = PAIR_VA, .length = 100, .pd = PAIR_PD, .key = 1000};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 50, 10);

    (void)state;
    assert_false(oche_nic_change_region(nic, &region)); /* there is no such key */
    while (oche_nic_add_region(nic, &region))
        region.key++; /* until there is no room */
    region.key = 1000;
    region.access = OCHE_ACCESS_REMOTE_WRITE;
    region.base = pair->side[1].memory;
    assert_true(oche_nic_change_region(nic, &region));
    work.rkey = 1000;
    for (unsigned round = 0; round < 2; round++) {
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        region.pd = UINT32_MAX;
        assert_false(oche_nic_change_region(nic, &region));
        region.pd = PAIR_PD;
        region.length = UINT64_MAX;
        assert_false(oche_nic_change_region(nic, &region));
    }
    region.length = 59;
    assert_true(oche_nic_change_region(nic, &region));
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, ACCESS);
    pair_close(pair);
}

static void test_region_rights(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_region read_only = {
        .va = PAIR_VA, .length = 100, .key = 5, .access = OCHE_ACCESS_REMOTE_READ, .pd = PAIR_PD};
    struct oche_region other_pd = {
        .va = PAIR_VA, .length = 100, .key = 6, .access = OCHE_ACCESS_REMOTE_WRITE, .pd = 1};

    (void)state;
    assert_true(oche_nic_add_region(pair->side[1].nic, &read_only));
    assert_true(oche_nic_add_region(pair->side[1].nic, &other_pd));
    assert_false(oche_nic_add_region(pair->side[1].nic, &other_pd)); /* key taken */
    other_pd.key = 0;
    assert_false(oche_nic_add_region(pair->side[1].nic, &other_pd));
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10);
    work.rkey = 5;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, ACCESS);
    pair_close(pair);

    pair = pair_open(NULL);
    other_pd.key = 6;
    assert_true(oche_nic_add_region(pair->side[1].nic, &other_pd));
    work.rkey = 6;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, ACCESS);
    assert_true(oche_nic_remove_region(pair->side[1].nic, 6));
    assert_false(oche_nic_remove_region(pair->side[1].nic, 6));
    pair_close(pair);
}

static void test_invalid_request(void **state)
{
    struct pair_options none = {.access = UINT32_MAX};
    struct pair_options no_reads = {.responder_resources = UINT32_MAX};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 8);

    (void)state;
    expect_failure(&none, work, INVALID, INVALID);
    work.opcode = OCHE_WORK_READ;
    expect_failure(&none, work, INVALID, INVALID);
    expect_failure(&no_reads, work, INVALID, INVALID);
    work.opcode = OCHE_WORK_COMPARE_SWAP;
    expect_failure(&none, work, INVALID, INVALID);
    work.remote_va += 4; /* not on 8 bytes */
    expect_failure(NULL, work, INVALID, INVALID);
}

/* More READs than the responder keeps: the initiator was given a wrong depth. */
static void test_too_many_reads(void **state)
{
    struct pair_options options = {.responder_resources = 2, .initiator_depth = 4};
    struct pair *pair = pair_open(&options);

    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_READ, i, 0, 0, 100000);
        pair_post(pair, 0, &work);
    }
    pair_run_quiet(pair);
    pair_expect(pair, 0, 0, OCHE_STATUS_FLUSHED);
    pair_expect(pair, 0, 1, OCHE_STATUS_FLUSHED);
    pair_expect(pair, 0, 2, INVALID);
    pair_expect(pair, 0, 3, OCHE_STATUS_FLUSHED);
    pair_close(pair);
}

/* A SEND longer than its receive: both ends get an error. */
static void test_receive_too_short(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 3000);

    (void)state;
    pair_post_recv(pair, 1, 7, 0, 2999);
    pair_post_recv(pair, 1, 8, 0, 2999);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, INVALID);
    pair_expect(pair, 1, 7, OCHE_STATUS_LOCAL_LENGTH);
    pair_expect(pair, 1, 8, OCHE_STATUS_FLUSHED);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_INVALID_REQUEST), 1);
    pair_close(pair);
}

static void test_receive_not_usable(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 30);
    struct oche_recv_work recv = {
        .wr_id = 7, .sge_count = 1, .sge[0] = {.va = PAIR_VA, .length = 100, .lkey = 1}};

    (void)state;
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &recv), 0);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_REMOTE_OPERATION);
    pair_expect(pair, 1, 7, OCHE_STATUS_LOCAL_PROTECTION);
    pair_close(pair);
}

/* A bad local key: earlier work completes, then this request fails, then the rest is flushed. */
static void test_local_protection(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work good = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20000);
    struct oche_send_work bad = pair_work(OCHE_WORK_SEND, 2, 0, 0, 10);

    (void)state;
    bad.sge[0].lkey = 9;
    pair_post(pair, 0, &good);
    pair_post(pair, 0, &bad);
    good.wr_id = 3;
    pair_post(pair, 0, &good);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_LOCAL_PROTECTION);
    pair_expect(pair, 0, 3, OCHE_STATUS_FLUSHED);
    assert_int_equal(pair->side[1].delivered_bytes, 20000);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_RTS); /* it saw nothing */
    pair_close(pair);
}

/* READ and atomics write here: the local region must allow that. */
static void test_local_write_right(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_region region = {
        .va = PAIR_VA, .length = 100, .key = 5, .pd = PAIR_PD, .base = pair->side[0].memory};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10);

    (void)state;
    assert_true(oche_nic_add_region(pair->side[0].nic, &region));
    work.sge[0].lkey = 5;
    pair_post(pair, 0, &work); /* reading it is always allowed */
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    work.opcode = OCHE_WORK_READ;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_LOCAL_PROTECTION);
    pair_close(pair);
}

/* A region is removed while a message uses it. */
static void test_region_vanishes(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 100000);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, 4 * OCHE_US);
    assert_true(oche_nic_remove_region(pair->side[1].nic, PAIR_KEY));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, ACCESS);
    pair_close(pair);

    pair = pair_open(NULL);
    pair_post(pair, 0, &work);
    pair_run(pair, 4 * OCHE_US);
    assert_true(oche_nic_remove_region(pair->side[0].nic, PAIR_KEY));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_LOCAL_PROTECTION);
    pair_close(pair);

    pair = pair_open(NULL);
    work.opcode = OCHE_WORK_READ;
    pair_post(pair, 0, &work);
    pair_run(pair, 6 * OCHE_US);
    assert_true(oche_nic_remove_region(pair->side[1].nic, PAIR_KEY));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_REMOTE_OPERATION);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
    pair_close(pair);
}

/* ---- receiver not ready ---- */

static void test_rnr_waits(void **state)
{
    struct pair_options options = {.min_rnr_timer = 8}; /* 0.16 ms */
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 3000);

    (void)state;
    pair_fill(pair, 0, 0, 3000, 1);
    pair_post(pair, 0, &work);
    pair_run(pair, 400 * OCHE_US); /* refused three times */
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);
    assert_int_equal(stats->rnr_naks_received, 3);
    assert_int_equal(stats->naks_received, 0); /* packets behind it were dropped silently */
    assert_int_equal(stats->timeouts, 0);
    pair_post_recv(pair, 1, 7, 0, 3000);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS).bytes, 3000);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, 3000);
    pair_close(pair);
}

static void test_rnr_exceeded(void **state)
{
    struct pair_options options = {.rnr_retry = 2};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE_IMM, 1, 0, 0, 3000);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_RNR_RETRY_EXCEEDED);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rnr_naks_received, 3);
    pair_close(pair);
}

/* While it waits, the requester neither counts nor obeys a NAK without progress. */
static void test_nak_during_rnr_wait(void **state)
{
    struct pair_options options = {.min_rnr_timer = 8, .retry_count = 1};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 100);
    struct oche_packet nak = pair_packet(pair, 1, OCHE_RC_ACK, 0, 0);

    (void)state;
    nak.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0);
    pair_post(pair, 0, &work);
    pair_run(pair, 50 * OCHE_US);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rnr_naks_received, 1);
    uint64_t sent = oche_nic_stats(pair->side[0].nic)->data_packets_sent;
    for (int i = 0; i < 5; i++)
        oche_nic_receive(pair->side[0].nic, &nak, pair->now);
    pair_run(pair, 60 * OCHE_US);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->data_packets_sent, sent);
    pair_post_recv(pair, 1, 7, 0, 100);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

static enum pair_fate drop_one_psn(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *psn = pair->context;

    if (from != 0 || packet->psn != *psn)
        return PAIR_PASS;
    *psn = UINT32_MAX;
    return PAIR_DROP;
}

/* The rejection ends the silence about gaps: the next gap gets its NAK. */
static void test_nak_after_rnr(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 100);
    uint32_t lost = 3;

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, 5 * OCHE_US);
    pair_post_recv(pair, 1, 7, 0, 100);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rnr_naks_received, 1);
    pair->fate = drop_one_psn;
    pair->context = &lost;
    work = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 5000);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->naks_received, 1);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
    pair_close(pair);
}

/* ---- credits ---- */

static void test_credits(void **state)
{
    struct pair_options options = {.credits = true, .rnr_retry = UINT32_MAX - 1};
    struct pair *pair = pair_open(&options);

    (void)state;
    /* The first message announces the number of receives: one more. */
    pair_post_recv(pair, 1, 10, 0, 100);
    pair_post_recv(pair, 1, 11, 0, 100);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 0, 0, 0, 100);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 0, OCHE_STATUS_SUCCESS);
    for (uint64_t i = 1; i < 6; i++) {
        work.wr_id = i;
        pair_post(pair, 0, &work);
    }
    /* One within the limit, one beyond it as a probe (rejected: no retry is allowed). */
    uint64_t sent = oche_nic_stats(pair->side[0].nic)->data_packets_sent;
    oche_nic_transmit(pair->side[0].nic, pair->now, pair->now, 0, NULL, 0); /* notice posts */
    pair_run(pair, pair->now + OCHE_US);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->data_packets_sent - sent, 2);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_RNR_RETRY_EXCEEDED);
    pair_close(pair);
}

/* With receives in time, credits cause neither endless waiting nor a rejection. */
static void test_credits_flow(void **state)
{
    struct pair_options options = {.credits = true, .rnr_retry = UINT32_MAX - 1};
    struct pair *pair = pair_open(&options);
    uint64_t posted = 0, received = 0;
    struct oche_completion done;

    (void)state;
    pair_post_recv(pair, 1, 0, 0, 100);
    pair_post_recv(pair, 1, 1, 0, 100);
    while (received < 200) {
        struct oche_send_work work =
            pair_work(posted % 3 ? OCHE_WORK_SEND : OCHE_WORK_WRITE, posted, 0, 0, 100);
        if (oche_qp_post_send(pair->side[0].qp[0], &work) == 0)
            posted++;
        if (!pair_step(pair, OCHE_SEC))
            pair->now += OCHE_US;
        while (oche_cq_poll(pair->side[1].cq, &done, 1) == 1) {
            assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
            received++;
            pair_post_recv(pair, 1, received, 0, 100);
        }
        while (oche_cq_poll(pair->side[0].cq, &done, 1) == 1)
            assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
        assert_true(pair->now < OCHE_SEC);
    }
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rnr_naks_received, 0);
    pair_close(pair);
}

/* ---- packets that are dropped ---- */

static void expect_reject(struct pair *pair, int from, const struct oche_packet *packet,
                          enum oche_reject cause)
{
    uint64_t before = oche_nic_rejected(pair->side[1 - from].nic, cause);
    uint64_t total = oche_nic_stats(pair->side[1 - from].nic)->rejected_packets;
    uint64_t sent = pair->sent;

    pair_inject(pair, from, packet);
    assert_int_equal(oche_nic_rejected(pair->side[1 - from].nic, cause), before + 1);
    assert_int_equal(oche_nic_stats(pair->side[1 - from].nic)->rejected_packets, total + 1);
    assert_int_equal(pair->sent, sent); /* silence */
    assert_int_equal(oche_qp_state(pair->side[1 - from].qp[0]), OCHE_QP_RTS);
}

static void test_rejects(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 10);

    (void)state;
    packet.dest_qpn = 0x4242;
    expect_reject(pair, 0, &packet, OCHE_REJECT_NO_QP);
    packet = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 10);
    packet.src = 55;
    expect_reject(pair, 0, &packet, OCHE_REJECT_WRONG_PEER);
    packet = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 10);
    packet.pkey = 0x8001;
    expect_reject(pair, 0, &packet, OCHE_REJECT_PKEY);
    packet = pair_packet(pair, 0, OCHE_UC_SEND_ONLY, 0, 10);
    expect_reject(pair, 0, &packet, OCHE_REJECT_OPCODE);
    packet = pair_packet(pair, 0, OCHE_UD_SEND_ONLY, 0, 10);
    expect_reject(pair, 0, &packet, OCHE_REJECT_OPCODE);
    packet = pair_packet(pair, 0, 0x1f, 0, 0); /* not in the table */
    expect_reject(pair, 0, &packet, OCHE_REJECT_OPCODE);
    packet = pair_packet(pair, 0, 0xff, 0, 0);
    expect_reject(pair, 0, &packet, OCHE_REJECT_OPCODE);
    /* Side 1 has nothing outstanding. */
    packet = pair_packet(pair, 0, OCHE_RC_ACK, 1000, 0);
    packet.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
    expect_reject(pair, 0, &packet, OCHE_REJECT_PSN);
    packet.aeth = oche_aeth(OCHE_SYNDROME_NAK_REMOTE_ACCESS, 0);
    expect_reject(pair, 0, &packet, OCHE_REJECT_PSN);
    packet.aeth = oche_aeth(0x40, 0); /* reserved kind */
    expect_reject(pair, 0, &packet, OCHE_REJECT_OPCODE);
    packet.aeth = oche_aeth(0x64, 0); /* RD only */
    expect_reject(pair, 0, &packet, OCHE_REJECT_OPCODE);
    packet = pair_packet(pair, 0, OCHE_RC_READ_RESPONSE_ONLY, 1000, 10);
    expect_reject(pair, 0, &packet, OCHE_REJECT_PSN);
    packet = pair_packet(pair, 0, OCHE_RC_ATOMIC_ACK, 1000, 0);
    expect_reject(pair, 0, &packet, OCHE_REJECT_PSN);
    for (unsigned cause = 0; cause < OCHE_REJECT_CAUSES; cause++)
        assert_true(strlen(oche_reject_name(cause)) > 3);
    assert_string_equal(oche_reject_name(OCHE_REJECT_CAUSES), "?");
    pair_close(pair);
}

/* P_Keys match when one end at least is a full member. */
static void test_pkeys(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_WRITE_ONLY, 0, 0);

    (void)state;
    packet.pkey = 0x7fff; /* limited member, our side full */
    packet.ext = OCHE_EXT_RETH;
    pair_inject(pair, 0, &packet);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    pair_close(pair);
}

/* An old ACK or NAK changes nothing. */
static void test_stale_ack(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 5000);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    struct oche_packet ack = pair_packet(pair, 1, OCHE_RC_ACK, 3, 0);
    ack.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0);
    pair_inject(pair, 1, &ack);
    ack.aeth = oche_aeth(OCHE_SYNDROME_NAK_REMOTE_ACCESS, 0);
    pair_inject(pair, 1, &ack);
    ack.aeth = oche_aeth(OCHE_SYNDROME_RNR | 1, 0);
    pair_inject(pair, 1, &ack);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_RTS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->retransmitted_packets, 0);
    pair_expect_none(pair, 0);
    pair_close(pair);
}

/* Requests that no honest peer sends: NAK invalid request, and no delivery. */
static void expect_invalid(void (*change)(struct pair *pair, struct oche_packet *packet),
                           uint8_t opcode, uint16_t payload)
{
    struct pair *pair = pair_open(NULL);
    struct oche_packet packet = pair_packet(pair, 0, opcode, 0, payload);

    pair_post_recv(pair, 1, 1, 0, 10000);
    if (change != NULL)
        change(pair, &packet);
    pair_inject(pair, 0, &packet);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_INVALID_REQUEST), 1);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->naks_sent, 1);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
    assert_int_equal(pair->side[1].delivered_messages, 0);
    pair_close(pair);
}

static void reth(struct pair *pair, struct oche_packet *packet)
{
    (void)pair;
    packet->ext |= OCHE_EXT_RETH;
    packet->reth.va = PAIR_VA;
    packet->reth.rkey = PAIR_KEY;
    packet->reth.dma_length = 2048;
}

static void reth_short(struct pair *pair, struct oche_packet *packet)
{
    reth(pair, packet);
    packet->reth.dma_length = 9;
}

static void reth_huge(struct pair *pair, struct oche_packet *packet)
{
    reth(pair, packet);
    packet->reth.dma_length = OCHE_MAX_MESSAGE_BYTES + 1;
}

static void reth_only_mtu(struct pair *pair, struct oche_packet *packet)
{
    reth(pair, packet);
    packet->reth.dma_length = 1024; /* the FIRST has all the data, but announces more */
}

static void test_invalid_packets(void **state)
{
    (void)state;
    expect_invalid(NULL, OCHE_RC_SEND_FIRST, 1000);  /* not the MTU */
    expect_invalid(NULL, OCHE_RC_SEND_ONLY, 1025);   /* above it */
    expect_invalid(NULL, OCHE_RC_SEND_MIDDLE, 1024); /* no message has begun */
    expect_invalid(NULL, OCHE_RC_SEND_LAST, 10);
    expect_invalid(NULL, OCHE_RC_WRITE_LAST_IMM, 10);
    expect_invalid(NULL, OCHE_RC_WRITE_ONLY, 10);       /* no RETH */
    expect_invalid(reth_short, OCHE_RC_WRITE_ONLY, 10); /* RETH against payload */
    expect_invalid(reth, OCHE_RC_WRITE_ONLY, 10);
    expect_invalid(reth_only_mtu, OCHE_RC_WRITE_FIRST, 1024);
    expect_invalid(reth_huge, OCHE_RC_WRITE_FIRST, 1024);
    expect_invalid(reth_huge, OCHE_RC_READ_REQUEST, 0);
    expect_invalid(reth, OCHE_RC_READ_REQUEST, 1);   /* payload on a READ */
    expect_invalid(reth, OCHE_RC_FETCH_ADD, 0);      /* no operands */
    expect_invalid(NULL, OCHE_RC_SEND_ONLY_INV, 10); /* not offered */
}

/* A message may neither change its kind nor restart in the middle. */
static void test_order_of_opcodes(void **state)
{
    static const uint8_t seconds[] = {OCHE_RC_WRITE_MIDDLE, OCHE_RC_SEND_FIRST, OCHE_RC_SEND_ONLY,
                                      OCHE_RC_READ_REQUEST, OCHE_RC_WRITE_LAST};

    (void)state;
    for (unsigned i = 0; i < sizeof(seconds); i++) {
        struct pair *pair = pair_open(NULL);
        struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_SEND_FIRST, 0, 1024);
        pair_post_recv(pair, 1, 1, 0, 10000);
        pair_inject(pair, 0, &packet);
        assert_int_equal(oche_nic_stats(pair->side[1].nic)->delivered_bytes, 1024);
        bool read = seconds[i] == OCHE_RC_READ_REQUEST;
        packet = pair_packet(pair, 0, seconds[i], 1, read ? 0 : 1024);
        packet.ext = read ? OCHE_EXT_RETH : 0;
        pair_inject(pair, 0, &packet);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_INVALID_REQUEST), 1);
        pair_expect(pair, 1, 1, OCHE_STATUS_REMOTE_INVALID_REQUEST);
        assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
        pair_close(pair);
    }
}

/* Responses that do not fit their request are dropped; the timer repairs. */
static void test_bad_response_length(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 3000);

    (void)state;
    pair_fill(pair, 1, 0, 3000, 1);
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + OCHE_US / 2);
    struct oche_packet packet = pair_packet(pair, 1, OCHE_RC_READ_RESPONSE_FIRST, 0, 1000);
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_LENGTH), 1);
    packet = pair_packet(pair, 1, OCHE_RC_ATOMIC_ACK, 0, 0);
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN), 1);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, 3000);
    pair_close(pair);
}

/* ---- UC drops the rest of a message ---- */

static enum pair_fate drop_psn(struct pair *pair, int from, const struct oche_packet *packet)
{
    return from == 0 && packet->psn == *(uint32_t *)pair->context ? PAIR_DROP : PAIR_PASS;
}

static void test_uc_loss(void **state)
{
    struct pair_options options = {.transport = OCHE_TRANSPORT_UC};

    (void)state;
    for (uint32_t lost = 0; lost < 9; lost++) {
        struct pair *pair = pair_open(&options);
        pair->fate = drop_psn;
        pair->context = &lost;
        pair_fill(pair, 0, 0, 9000, 1);
        for (uint64_t i = 0; i < 3; i++)
            pair_post_recv(pair, 1, i, (uint32_t)i * 10000, 3000);
        for (uint64_t i = 0; i < 3; i++) { /* three messages of three packets */
            struct oche_send_work work = pair_work(OCHE_WORK_SEND, i, (uint32_t)i * 3000, 0, 3000);
            pair_post(pair, 0, &work);
        }
        pair_run_quiet(pair);
        for (uint64_t i = 0; i < 3; i++)
            pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        uint64_t recv = 0;
        for (uint32_t i = 0; i < 3; i++) {
            if (lost / 3 == i)
                continue; /* its receive serves the next message */
            assert_int_equal(pair_expect(pair, 1, recv, OCHE_STATUS_SUCCESS).bytes, 3000);
            assert_memory_equal(pair->side[1].memory + recv * 10000,
                                pair->side[0].memory + i * 3000, 3000);
            recv++;
        }
        pair_expect_none(pair, 1);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_SEQUENCE), 2 - lost % 3);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->acks_received, 0);
        pair_close(pair);
    }
}

/* UC with no receive, a wrong key, or too little room: dropped without an answer. */
static void test_uc_refuses_in_silence(void **state)
{
    struct pair_options options = {.transport = OCHE_TRANSPORT_UC};
    struct pair *pair = pair_open(&options);
    struct oche_send_work send = pair_work(OCHE_WORK_SEND, 1, 0, 0, 3000);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 3000);

    (void)state;
    write.rkey = 1;
    pair_post(pair, 0, &send);
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_NOT_READY), 1);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_ACCESS), 1);
    /* too short for the next message, right for the one after */
    pair_post_recv(pair, 1, 7, 0, 1500);
    pair_post(pair, 0, &send);
    send.sge[0].length = 1500;
    pair_post(pair, 0, &send);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS).bytes, 1500);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->naks_sent, 0);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_RTS);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remote_access),
        cmocka_unit_test(test_last_byte),
        cmocka_unit_test(test_region_rights),
        cmocka_unit_test(test_region_changes),
        cmocka_unit_test(test_invalid_request),
        cmocka_unit_test(test_too_many_reads),
        cmocka_unit_test(test_receive_too_short),
        cmocka_unit_test(test_receive_not_usable),
        cmocka_unit_test(test_local_protection),
        cmocka_unit_test(test_local_write_right),
        cmocka_unit_test(test_region_vanishes),
        cmocka_unit_test(test_rnr_waits),
        cmocka_unit_test(test_rnr_exceeded),
        cmocka_unit_test(test_nak_during_rnr_wait),
        cmocka_unit_test(test_nak_after_rnr),
        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_credits_flow),
        cmocka_unit_test(test_rejects),
        cmocka_unit_test(test_pkeys),
        cmocka_unit_test(test_stale_ack),
        cmocka_unit_test(test_invalid_packets),
        cmocka_unit_test(test_order_of_opcodes),
        cmocka_unit_test(test_bad_response_length),
        cmocka_unit_test(test_uc_loss),
        cmocka_unit_test(test_uc_refuses_in_silence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
