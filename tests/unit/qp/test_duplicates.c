/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Duplicates, by opcode (rocev2.md#duplicates), and the effects of lost responses. An atomic is
 * replayed and never executed twice. A READ is executed again from the first missing data. SEND and
 * WRITE are acknowledged again and not delivered again.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

/* The packets that side `from` sends: opcode and PSN. */
struct seen {
    int from;
    uint32_t count, opcode[64], psn[64], aeth[64];
};

static void note(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct seen *seen = pair->context;

    if (from != seen->from || seen->count == 64)
        return;
    seen->opcode[seen->count] = packet->opcode;
    seen->aeth[seen->count] = packet->aeth;
    seen->psn[seen->count++] = packet->psn;
}

static void test_send_and_write(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct seen seen = {.from = 1};
    struct oche_packet first = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 10);
    struct oche_packet second = pair_packet(pair, 0, OCHE_RC_WRITE_ONLY, 1, 0);

    (void)state;
    pair->tap = note;
    pair->context = &seen;
    second.ext = OCHE_EXT_RETH;
    pair_post_recv(pair, 1, 1, 0, 100);
    pair_post_recv(pair, 1, 2, 0, 100);
    pair_inject(pair, 0, &first);
    pair_inject(pair, 0, &second);
    pair_inject(pair, 0, &first);
    pair_inject(pair, 0, &second);
    first.bth = 0; /* asks for nothing, gets nothing */
    pair_inject(pair, 0, &first);
    pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS);
    pair_expect_none(pair, 1); /* the second receive is untouched */
    assert_int_equal(pair->side[1].delivered_bytes, 10);
    assert_int_equal(pair->side[1].delivered_messages, 2);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->duplicate_packets, 3);
    assert_int_equal(seen.count, 4);
    static const uint32_t psns[] = {0, 1, 1, 1}, msns[] = {1, 2, 2, 2};
    for (int i = 0; i < 4; i++) { /* duplicates: the newest PSN, not their own */
        assert_int_equal(seen.opcode[i], OCHE_RC_ACK);
        assert_int_equal(seen.psn[i], psns[i]);
        assert_int_equal(seen.aeth[i], oche_aeth(OCHE_SYNDROME_ACK, msns[i]));
    }
    pair_close(pair);
}

/* The duplicate comes before the original's ACK has left: each gets an ACK, at most two. */
static void test_duplicate_at_once(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct seen seen = {.from = 1};
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_WRITE_ONLY, 0, 0);

    (void)state;
    pair->tap = note;
    pair->context = &seen;
    packet.ext = OCHE_EXT_RETH;
    oche_nic_receive(pair->side[1].nic, &packet, pair->now);
    oche_nic_receive(pair->side[1].nic, &packet, pair->now);
    pair_inject(pair, 0, &packet);
    assert_int_equal(seen.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.opcode[i], OCHE_RC_ACK);
        assert_int_equal(seen.psn[i], 0);
    }
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->acks_sent, 2);
    pair_close(pair);
}

static enum pair_fate double_requests(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    return packet->opcode == OCHE_RC_READ_REQUEST ? PAIR_TWICE : PAIR_PASS;
}

/* A READ is requested again while it is answered: only data that had left is sent twice. */
static void test_read_repeated_midway(void **state)
{
    uint64_t most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pair_options options = {.seed = seed};
        struct pair *pair = pair_open(&options);
        struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 40 * PAIR_MTU);
        pair->fate = double_requests;
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        const struct oche_nic_stats *stats = oche_nic_stats(pair->side[1].nic);
        assert_int_equal(stats->data_packets_sent - stats->retransmitted_packets, 40);
        assert_int_equal(stats->data_bytes_sent - stats->retransmitted_bytes, 40 * PAIR_MTU);
        most = stats->retransmitted_packets > most ? stats->retransmitted_packets : most;
        pair_close(pair);
    }
    assert_true(most > 2);
}

static struct oche_packet atomic_packet(const struct pair *pair, uint32_t psn)
{
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_FETCH_ADD, psn, 0);

    packet.ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC;
    packet.reth.va = PAIR_VA + 64;
    packet.reth.rkey = PAIR_KEY;
    packet.atomic.swap_add = 1;
    return packet;
}

struct results {
    uint32_t count;
    uint64_t original[16];
    uint32_t psn[16];
};

static void note_results(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct results *results = pair->context;

    if (from != 1 || packet->opcode != OCHE_RC_ATOMIC_ACK)
        return;
    results->psn[results->count] = packet->psn;
    results->original[results->count++] = packet->original;
}

static void test_atomic_replayed(void **state)
{
    struct pair_options options = {.responder_resources = 2};
    struct pair *pair = pair_open(&options);
    struct results results = {0};
    struct oche_packet packet;

    (void)state;
    pair->tap = note_results;
    pair->context = &results;
    memset(pair->side[1].memory + 64, 0, 8);
    for (uint32_t psn = 0; psn < 3; psn++) {
        packet = atomic_packet(pair, psn);
        pair_inject(pair, 0, &packet);
    }
    packet = atomic_packet(pair, 1);
    pair_inject(pair, 0, &packet);
    packet = atomic_packet(pair, 2);
    pair_inject(pair, 0, &packet);
    packet = atomic_packet(pair, 0); /* forgotten: two places only */
    pair_inject(pair, 0, &packet);
    static const uint32_t psns[] = {0, 1, 2, 1, 2};
    assert_int_equal(results.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(results.psn[i], psns[i]);
        assert_int_equal(results.original[i], psns[i]);
    }
    uint64_t counter;
    memcpy(&counter, pair->side[1].memory + 64, 8);
    assert_int_equal(counter, 3); /* executed once each */
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_DUPLICATE_GONE), 1);
    packet = atomic_packet(pair, 2);
    packet.reth.va += 8; /* not what was asked then */
    pair_inject(pair, 0, &packet);
    packet = atomic_packet(pair, 2);
    packet.opcode = OCHE_RC_COMPARE_SWAP;
    pair_inject(pair, 0, &packet);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_DUPLICATE_GONE), 3);
    assert_int_equal(results.count, 5);
    pair_close(pair);
}

static struct oche_packet read_packet(const struct pair *pair, uint32_t psn, uint32_t offset,
                                      uint32_t length)
{
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_READ_REQUEST, psn, 0);

    packet.ext = OCHE_EXT_RETH;
    packet.reth.va = PAIR_VA + offset;
    packet.reth.rkey = PAIR_KEY;
    packet.reth.dma_length = length;
    return packet;
}

static void expect_seen(struct seen *seen, const uint32_t *opcodes, const uint32_t *psns,
                        uint32_t count)
{
    assert_int_equal(seen->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(seen->opcode[i], opcodes[i]);
        assert_int_equal(seen->psn[i], psns[i]);
    }
    seen->count = 0;
}

#define FIRST  OCHE_RC_READ_RESPONSE_FIRST
#define MIDDLE OCHE_RC_READ_RESPONSE_MIDDLE
#define LAST   OCHE_RC_READ_RESPONSE_LAST
#define ONLY   OCHE_RC_READ_RESPONSE_ONLY

static void test_read_repeated(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct seen seen = {.from = 1};

    (void)state;
    pair->tap = note;
    pair->context = &seen;
    struct oche_packet packet = read_packet(pair, 0, 5000, 3000);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){FIRST, MIDDLE, LAST}, (uint32_t[]){0, 1, 2}, 3);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){FIRST, MIDDLE, LAST}, (uint32_t[]){0, 1, 2}, 3);
    packet = read_packet(pair, 1, 6024, 1976); /* the rest of it */
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){FIRST, LAST}, (uint32_t[]){1, 2}, 2);
    packet = read_packet(pair, 2, 7048, 952);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){2}, 1);
    packet = read_packet(pair, 1, 6024, 1024); /* a part of the rest */
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){1}, 1);
    /* Another address, more bytes, or another key: not a repetition. */
    packet = read_packet(pair, 1, 5000, 1976);
    pair_inject(pair, 0, &packet);
    packet = read_packet(pair, 1, 6024, 1977);
    pair_inject(pair, 0, &packet);
    packet = read_packet(pair, 1, 6024, 1976);
    packet.reth.rkey++;
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, NULL, NULL, 0);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_DUPLICATE_GONE), 3);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_RTS);
    packet = read_packet(pair, 3, 0, 0); /* the next new one */
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){3}, 1);
    pair_close(pair);
}

/*
 * Two READs of one packet each, the second not executed. Then one request covers both. The executed
 * part is answered. The rest may be requested as a new READ.
 */
static void test_read_repeated_with_more(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct seen seen = {.from = 1};

    (void)state;
    pair->tap = note;
    pair->context = &seen;
    struct oche_packet packet = read_packet(pair, 0, 5000, PAIR_MTU);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){0}, 1);
    packet = read_packet(pair, 0, 5000, PAIR_MTU + 32);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){0}, 1);
    packet = read_packet(pair, 1, 5000 + PAIR_MTU, 32);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){1}, 1);
    /* The first READ ends with a short packet, so another READ follows it. */
    packet = read_packet(pair, 1, 5000 + PAIR_MTU, 33);
    pair_inject(pair, 0, &packet);
    packet = read_packet(pair, 1, 5000 + PAIR_MTU, PAIR_MTU);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, NULL, NULL, 0);
    /* The same with a READ of zero bytes. */
    packet = read_packet(pair, 2, 5000, 0);
    pair_inject(pair, 0, &packet);
    packet = read_packet(pair, 2, 5000, PAIR_MTU);
    pair_inject(pair, 0, &packet);
    expect_seen(&seen, (uint32_t[]){ONLY}, (uint32_t[]){2}, 1);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_DUPLICATE_GONE), 3);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_RTS);
    pair_close(pair);
}

/* ---- the requester's side ---- */

/* Drops the n-th packet of this opcode from side 1, or from both. */
struct drop {
    int from;
    uint32_t opcode, nth, count;
};

static enum pair_fate drop_nth(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct drop *drop = pair->context;

    if (from != drop->from || packet->opcode != drop->opcode)
        return PAIR_PASS;
    return drop->count++ == drop->nth ? PAIR_DROP : PAIR_PASS;
}

/* A gap in READ data: the READ is requested again from the missing PSN, at once. */
static void test_read_data_lost(void **state)
{
    static const struct drop drops[] = {{1, FIRST, 0, 0},
                                        {1, MIDDLE, 0, 0},
                                        {1, MIDDLE, 5, 0},
                                        {1, LAST, 0, 0},
                                        {0, OCHE_RC_READ_REQUEST, 0, 0}};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct pair *pair = pair_open(NULL);
        struct drop drop = drops[i];
        struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 20000, 10 * 1024);
        pair_fill(pair, 1, 20000, 10 * 1024, (uint8_t)i);
        pair->fate = drop_nth;
        pair->context = &drop;
        pair_post(pair, 0, &work);
        work.wr_id = 2;
        work.sge[0].va += 50000;
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
        assert_memory_equal(pair->side[0].memory, pair->side[1].memory + 20000, 10 * 1024);
        assert_memory_equal(pair->side[0].memory + 50000, pair->side[1].memory + 20000, 10 * 1024);
        /*
         * All losses but that of a request are noticed without a timeout: the second READ's data.
         */
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
        assert_int_equal(pair->side[0].delivered_bytes, 2 * 10 * 1024);
        pair_close(pair);
    }
}

/* The repair of a READ requests only the missing part. */
static void test_read_resumes(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct drop drop = {1, MIDDLE, 3, 0};
    struct seen seen = {.from = 0};
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 20000, 10 * 1024);

    (void)state;
    pair->fate = drop_nth;
    pair->context = &drop;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 2 * OCHE_US);
    pair_run(pair, pair->now + 1);
    pair->tap = NULL;
    while (drop.count < 5)
        assert_true(pair_step(pair, OCHE_SEC));
    pair->context = &seen;
    pair->fate = NULL;
    pair->tap = note;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    expect_seen(&seen, (uint32_t[]){OCHE_RC_READ_REQUEST}, (uint32_t[]){4}, 1);
    pair_close(pair);
}

/* A lost atomic result: the request is repeated, the result replayed. */
static void test_atomic_result_lost(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct drop drop = {1, OCHE_RC_ATOMIC_ACK, 1, 0};

    (void)state;
    pair->fate = drop_nth;
    pair->context = &drop;
    memset(pair->side[1].memory + 64, 0, 8);
    for (uint64_t i = 0; i < 3; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_FETCH_ADD, i, (uint32_t)i * 8, 64, 8);
        work.swap_add = 1;
        pair_post(pair, 0, &work);
    }
    pair_run_quiet(pair);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t result;
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        memcpy(&result, pair->side[0].memory + 8 * i, 8);
        assert_int_equal(result, i);
    }
    uint64_t counter;
    memcpy(&counter, pair->side[1].memory + 64, 8);
    assert_int_equal(counter, 3);
    pair_close(pair);
}

/* ACKs lost: the WRITE is sent again, acknowledged again, delivered once. */
static void test_ack_lost(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct drop drop = {1, OCHE_RC_ACK, 0, 0};
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 10);

    (void)state;
    pair->fate = drop_nth;
    pair->context = &drop;
    pair_post_recv(pair, 1, 5, 0, 10);
    pair_post_recv(pair, 1, 6, 0, 10);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 1, 5, OCHE_STATUS_SUCCESS);
    pair_expect_none(pair, 1);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    pair_close(pair);
}

/* A NAK without progress costs a retry. One with progress restores all retries. */
static void test_nak_retries(void **state)
{
    struct pair_options options = {.retry_count = 2, .ack_timeout = OCHE_NEVER};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 3000);
    struct oche_packet nak = pair_packet(pair, 1, OCHE_RC_ACK, 0, 0);

    (void)state;
    pair->side[1].classes = 0;
    nak.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_inject(pair, 1, &nak);
    pair_inject(pair, 1, &nak);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_RTS);
    nak.psn = 1; /* acknowledges PSN 0 */
    pair_inject(pair, 1, &nak);
    pair_inject(pair, 1, &nak);
    pair_inject(pair, 1, &nak);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_RTS);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 3 + 3 + 2 + 2 + 2);
    pair_inject(pair, 1, &nak);
    pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED);
    pair_close(pair);
}

/* A NAK that could not leave is dropped when the missing packet arrives after all. */
static void test_nak_overtaken(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct seen seen = {.from = 1};
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_WRITE_ONLY, 1, 0);

    (void)state;
    pair->tap = note;
    pair->context = &seen;
    pair->side[1].classes = 0;
    packet.ext = OCHE_EXT_RETH;
    pair_inject(pair, 0, &packet); /* a gap */
    packet.psn = 0;
    pair_inject(pair, 0, &packet);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.aeth[0], oche_aeth(OCHE_SYNDROME_ACK, 1));
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->naks_sent, 0);
    pair_close(pair);
}

/* The ACK for a packet that is about to be sent again arrives: then it is not sent. */
static void test_late_ack_skips(void **state)
{
    struct pair_options options = {.ack_timeout = 10 * OCHE_US};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10 * 1024);
    struct oche_packet ack = pair_packet(pair, 1, OCHE_RC_ACK, 6, 0);

    (void)state;
    pair->side[1].classes = 0;
    pair_post(pair, 0, &work);
    pair_run(pair, 8 * OCHE_US);
    pair->side[0].classes = 0; /* times out, but cannot send */
    pair_run(pair, 15 * OCHE_US);
    assert_int_equal(oche_qp_timeouts(pair->side[0].qp[0]), 1);
    ack.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
    oche_nic_receive(pair->side[0].nic, &ack, pair->now);
    pair->side[0].classes = pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 3); /* 7, 8, 9 */
    pair_close(pair);
}

/*
 * A stranger repeats requests for READ data without end. From one packet, data is sent only as
 * often as agreed. A peer that makes progress may continue to ask.
 */
static void test_read_repeated_for_ever(void **state)
{
    struct pair *pair = pair_open(&(struct pair_options){.most_repeats = 10});
    struct oche_packet packet = read_packet(pair, 0, 5000, 3000);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[1].nic);

    (void)state;
    pair_inject(pair, 0, &packet);
    for (int i = 0; i < 1000; i++)
        pair_inject(pair, 0, &packet);
    assert_int_equal(stats->data_packets_sent, 3 * 11);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_REPEATS), 990);
    packet = read_packet(pair, 1, 6024, 1976);
    for (int i = 0; i < 1000; i++)
        oche_nic_receive(pair->side[1].nic, &packet, pair->now); /* none has left yet */
    pair_run_quiet(pair);
    assert_int_equal(stats->data_packets_sent, 3 * 11 + 2);
    packet = read_packet(pair, 0, 5000, 3000); /* back again */
    pair_inject(pair, 0, &packet);
    assert_int_equal(stats->data_packets_sent, 3 * 11 + 2);
    packet = read_packet(pair, 2, 7048, 952);
    pair_inject(pair, 0, &packet);
    packet = read_packet(pair, 3, 0, 0); /* the next new one, as usual */
    pair_inject(pair, 0, &packet);
    assert_int_equal(stats->data_packets_sent, 3 * 11 + 2 + 2);
    pair_close(pair);
}

/*
 * Requests ahead of the expected one cause a NAK, as a loss does. Requests too far ahead for the
 * peer are dropped without effect. Requests behind it are duplicates, at any distance.
 */
static void test_far_ahead(void **state)
{
    static const struct {
        int32_t ahead;
        bool naked, voided;
    } cases[] = {{1, true, false},       {1000, true, false},          {1001, false, true},
                 {1 << 22, false, true}, {(1 << 23) - 1, false, true}, {-1, false, false},
                 {-1001, false, false},  {-(1 << 23), false, false}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct pair *pair =
            pair_open(&(struct pair_options){.most_ahead = 1000, .first_psn = 0xfffe00});
        const uint32_t psn = (0xfffe00 + (uint32_t)cases[i].ahead) & OCHE_PSN_MASK;
        struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_WRITE_MIDDLE, psn, PAIR_MTU);

        pair_inject(pair, 0, &packet);
        assert_int_equal(pair->side[1].out_naks, cases[i].naked);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_AHEAD), cases[i].voided);
        assert_int_equal(oche_nic_stats(pair->side[1].nic)->duplicate_packets, cases[i].ahead < 0);
        pair_close(pair);
    }
}

/* An answer half the circle away is neither ahead nor behind, even if no request is outstanding. */
static void test_half_the_circle(void **state)
{
    static const uint8_t syndromes[] = {OCHE_SYNDROME_ACK, OCHE_SYNDROME_RNR | 1,
                                        OCHE_SYNDROME_NAK_SEQUENCE};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PAIR_MTU);

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(syndromes); i++) {
        struct pair *pair = pair_open(&(struct pair_options){.first_psn = 0x500000});

        for (unsigned round = 0; round < 3; round++) {
            for (uint32_t off = 0; off < 3; off++) {
                const uint32_t psn = (0x500000 + round + off - 1) ^ 1u << 23;
                struct oche_packet answer = pair_packet(pair, 1, OCHE_RC_ACK, psn, 0);

                answer.aeth = oche_aeth(syndromes[i], 0);
                pair_inject(pair, 1, &answer);
            }
            assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN),
                             3 * (round + 1));
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
            pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        }
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send_and_write),
        cmocka_unit_test(test_duplicate_at_once),
        cmocka_unit_test(test_atomic_replayed),
        cmocka_unit_test(test_read_repeated),
        cmocka_unit_test(test_read_repeated_with_more),
        cmocka_unit_test(test_read_repeated_for_ever),
        cmocka_unit_test(test_read_repeated_midway),
        cmocka_unit_test(test_read_data_lost),
        cmocka_unit_test(test_read_resumes),
        cmocka_unit_test(test_atomic_result_lost),
        cmocka_unit_test(test_nak_overtaken),
        cmocka_unit_test(test_ack_lost),
        cmocka_unit_test(test_nak_retries),
        cmocka_unit_test(test_late_ack_skips),
        cmocka_unit_test(test_far_ahead),
        cmocka_unit_test(test_half_the_circle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
