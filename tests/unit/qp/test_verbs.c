/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation other than a plain WRITE: its data, its completion, and the work it waits for. */
#include "tests/support/test.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define SIDE0(offset) (pair->side[0].memory + (offset))
#define SIDE1(offset) (pair->side[1].memory + (offset))

static uint64_t load64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static void store64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof(value));
}

static void test_send(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 5000);

    (void)state;
    pair_fill(pair, 0, 0, 5000, 1);
    pair_post_recv(pair, 1, 7, 9000, 6000);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_SEND);
    done = pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_RECV);
    assert_int_equal(done.bytes, 5000);
    assert_false(done.has_imm);
    assert_false(done.solicited);
    assert_memory_equal(SIDE0(0), SIDE1(9000), 5000);
    pair_close(pair);
}

static void test_immediates(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND_IMM, 1, 0, 0, 3000);

    (void)state;
    pair_fill(pair, 0, 0, 3000, 1);
    pair_post_recv(pair, 1, 7, 9000, 6000);
    pair_post_recv(pair, 1, 8, 0, 0);
    work.imm = 0xabcd1234;
    work.flags |= OCHE_WORK_SOLICITED;
    pair_post(pair, 0, &work);
    work = pair_work(OCHE_WORK_WRITE_IMM, 2, 0, 20000, 3000);
    work.imm = 5;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    struct oche_completion done = pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_true(done.has_imm && done.imm == 0xabcd1234 && done.solicited);
    done = pair_expect(pair, 1, 8, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_RECV_WRITE_IMM);
    assert_true(done.has_imm && done.imm == 5 && !done.solicited && done.bytes == 3000);
    assert_memory_equal(SIDE0(0), SIDE1(9000), 3000);
    assert_memory_equal(SIDE0(0), SIDE1(20000), 3000);
    pair_close(pair);
}

static void test_read(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 100, 50000, 10000);

    (void)state;
    pair_fill(pair, 1, 50000, 10000, 2);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_READ);
    assert_int_equal(done.bytes, 10000);
    assert_memory_equal(SIDE0(100), SIDE1(50000), 10000);
    assert_int_equal(pair->side[0].delivered_bytes, 10000);
    assert_int_equal(pair->side[0].delivered_messages, 1);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->acks_sent, 0);
    assert_true(oche_qp_idle(pair->side[1].qp[0]));
    pair_close(pair);
}

/* READ takes as many PSNs as its response has packets. Later work continues after them. */
struct psns {
    uint32_t opcode[32], psn[32], count;
};

static void note_requests(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct psns *seen = pair->context;

    if (from != 0 || seen->count == 32)
        return;
    seen->opcode[seen->count] = packet->opcode;
    seen->psn[seen->count++] = packet->psn;
}

static void test_read_takes_psns(void **state)
{
    struct pair_options options = {.first_psn = OCHE_PSN_MASK - 1};
    struct pair *pair = pair_open(&options);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 3 * 1024 + 1);
    struct oche_send_work empty = pair_work(OCHE_WORK_READ, 2, 0, 0, 0);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 3, 0, 0, 10);
    struct psns seen = {0};

    (void)state;
    pair->tap = note_requests;
    pair->context = &seen;
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &empty);
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    for (uint64_t i = 1; i <= 3; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.psn[0], OCHE_PSN_MASK - 1);
    assert_int_equal(seen.psn[1], 2);
    assert_int_equal(seen.psn[2], 3);
    assert_int_equal(seen.opcode[2], OCHE_RC_WRITE_ONLY);
    pair_close(pair);
}

static void test_atomics(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work add = pair_work(OCHE_WORK_FETCH_ADD, 1, 0, 64, 8);
    struct oche_send_work swap = pair_work(OCHE_WORK_COMPARE_SWAP, 2, 8, 64, 8);

    (void)state;
    store64(SIDE1(64), 1000);
    add.swap_add = 17;
    pair_post(pair, 0, &add);
    swap.compare = 1017;
    swap.swap_add = 5;
    pair_post(pair, 0, &swap);
    swap.wr_id = 3; /* compares unequal now: no swap, the old value is returned */
    swap.sge[0].va += 8;
    pair_post(pair, 0, &swap);
    pair_run_quiet(pair);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_FETCH_ADD);
    assert_int_equal(done.bytes, 8);
    done = pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_COMPARE_SWAP);
    pair_expect(pair, 0, 3, OCHE_STATUS_SUCCESS);
    assert_int_equal(load64(SIDE0(0)), 1000);
    assert_int_equal(load64(SIDE0(8)), 1017);
    assert_int_equal(load64(SIDE0(16)), 5);
    assert_int_equal(load64(SIDE1(64)), 5);
    pair_close(pair);
}

static void test_zero_lengths(void **state)
{
    static const enum oche_work_opcode opcodes[] = {
        OCHE_WORK_SEND, OCHE_WORK_SEND_IMM, OCHE_WORK_WRITE, OCHE_WORK_WRITE_IMM, OCHE_WORK_READ};
    struct pair *pair = pair_open(NULL);

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        pair_post_recv(pair, 1, 10 + i, 0, 0);
    for (uint64_t i = 0; i < 5; i++) {
        struct oche_send_work work = pair_work(opcodes[i], i, 0, 0, 0);
        work.rkey = 12345; /* never looked at */
        work.sge[0].lkey = 12345;
        pair_post(pair, 0, &work);
    }
    pair_run_quiet(pair);
    for (uint64_t i = 0; i < 5; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(pair_expect(pair, 1, 10 + i, OCHE_STATUS_SUCCESS).bytes, 0);
    pair_close(pair);
}

static void test_several_sges(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 1500);
    struct oche_recv_work recv = {.wr_id = 2, .sge_count = 3};

    (void)state;
    pair_fill(pair, 0, 0, 10000, 3);
    work.sge_count = 4; /* 1500 from 0, none, 1 from 3000, 2000 from 5000 */
    work.sge[1] = (struct oche_sge){.va = 1, .length = 0, .lkey = 99};
    work.sge[2] = (struct oche_sge){.va = PAIR_VA + 3000, .length = 1, .lkey = PAIR_KEY};
    work.sge[3] = (struct oche_sge){.va = PAIR_VA + 5000, .length = 2000, .lkey = PAIR_KEY};
    recv.sge[0] = (struct oche_sge){.va = PAIR_VA + 100, .length = 1023, .lkey = PAIR_KEY};
    recv.sge[1] = (struct oche_sge){.va = PAIR_VA + 20000, .length = 2, .lkey = PAIR_KEY};
    recv.sge[2] = (struct oche_sge){.va = PAIR_VA + 40000, .length = 4000, .lkey = PAIR_KEY};
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &recv), 0);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair_expect(pair, 1, 2, OCHE_STATUS_SUCCESS).bytes, 3501);
    uint8_t sent[3501], got[3501];
    memcpy(sent, SIDE0(0), 1500);
    memcpy(sent + 1500, SIDE0(3000), 1);
    memcpy(sent + 1501, SIDE0(5000), 2000);
    memcpy(got, SIDE1(100), 1023);
    memcpy(got + 1023, SIDE1(20000), 2);
    memcpy(got + 1025, SIDE1(40000), 2476);
    assert_memory_equal(sent, got, 3501);
    pair_close(pair);
}

/* Inline data is copied at post time, needs no key, and may change at once. */
static void test_inline(void **state)
{
    struct pair *pair = pair_open(NULL);
    char text[] = "taken at post time";
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 300, sizeof(text));

    (void)state;
    work.flags |= OCHE_WORK_INLINE;
    work.inline_data = text;
    work.sge[0].lkey = 0;
    pair_post(pair, 0, &work);
    memset(text, 'x', sizeof(text));
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_string_equal((char *)SIDE1(300), "taken at post time");
    work.sge[0].length = 65;
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 22 /* EINVAL */);
    pair_close(pair);
}

static void test_bad_posts(void **state)
{
    struct pair_options small = {.initiator_depth = UINT32_MAX};
    struct pair *pair = pair_open(NULL), *no_reads = pair_open(&small);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 8);

    (void)state;
    work.opcode = OCHE_WORK_OPCODES;
    assert_int_equal(oche_qp_post_send(qp, &work), 22);
    work.opcode = OCHE_WORK_WRITE;
    work.sge_count = 5; /* the queue pair was made for 4 */
    assert_int_equal(oche_qp_post_send(qp, &work), 22);
    work.sge_count = 1;
    work.sge[0].length = OCHE_MAX_MESSAGE_BYTES + 1;
    assert_int_equal(oche_qp_post_send(qp, &work), 22);
    work.sge[0].length = UINT32_MAX;
    work.sge[1].length = UINT32_MAX;
    work.sge_count = 2;
    assert_int_equal(oche_qp_post_send(qp, &work), 22);
    work.sge_count = 1;
    work.opcode = OCHE_WORK_FETCH_ADD;
    work.sge[0].length = 4;
    assert_int_equal(oche_qp_post_send(qp, &work), 22);
    work.sge[0].length = 8;
    work.flags |= OCHE_WORK_INLINE;
    assert_int_equal(oche_qp_post_send(qp, &work), 22);
    work.flags = 0;
    assert_int_equal(oche_qp_post_send(no_reads->side[0].qp[0], &work), 22);
    work.opcode = OCHE_WORK_READ;
    assert_int_equal(oche_qp_post_send(no_reads->side[0].qp[0], &work), 22);
    struct oche_recv_work recv = {.sge_count = 5};
    assert_int_equal(oche_qp_post_recv(qp, &recv), 22);
    recv.sge_count = 0;
    for (int i = 0; i < 16; i++)
        assert_int_equal(oche_qp_post_recv(qp, &recv), 0);
    assert_int_equal(oche_qp_post_recv(qp, &recv), 12 /* ENOMEM */);
    pair_run_quiet(pair);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->data_packets_sent, 0);
    pair_close(pair);
    pair_close(no_reads);
}

/* ---- READ against the rest ---- */

/* Returns how many requests have left when the last of the READ's data leaves the other side. */
struct fenced {
    uint32_t requests, requests_before_data;
};

static void note_fenced(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct fenced *f = pair->context;

    f->requests += from == 0;
    if (from == 1 && packet->opcode == OCHE_RC_READ_RESPONSE_LAST)
        f->requests_before_data = f->requests;
}

static uint32_t requests_before_data(bool fence)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 100000);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 2, 0, 200000, 10);
    struct fenced fenced = {0};

    if (fence)
        write.flags |= OCHE_WORK_FENCE;
    pair->tap = note_fenced;
    pair->context = &fenced;
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(fenced.requests, 2);
    pair_close(pair);
    return fenced.requests_before_data;
}

static void test_fence(void **state)
{
    (void)state;
    assert_int_equal(requests_before_data(false), 2);
    assert_int_equal(requests_before_data(true), 1);
}

/* Each reason for waiting has a name. */
static void test_waits_for(void **state)
{
    struct pair_options options = {.initiator_depth = 1, .window_packets = 4};
    struct pair *pair = pair_open(&options);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 2048);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 20000);
    struct oche_send_work bad = pair_work(OCHE_WORK_WRITE, 3, 0, 0, 8);

    (void)state;
    pair->side[1].classes = 0;
    assert_string_equal(oche_qp_waits_for(qp), "work");
    pair_post(pair, 0, &write);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_string_equal(oche_qp_waits_for(qp), "window");
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair->side[1].classes = 0;
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &read);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_string_equal(oche_qp_waits_for(qp), "initiator depth");
    assert_true(oche_qp_drain(qp, pair->now));
    assert_string_equal(oche_qp_waits_for(qp), "resume");
    assert_true(oche_qp_resume(qp, pair->now));
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair->side[1].classes = 0;
    write.flags |= OCHE_WORK_FENCE;
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &write);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_string_equal(oche_qp_waits_for(qp), "fence");
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair->side[1].classes = 0;
    bad.sge[0].lkey++;
    write.sge[0].length = 100;
    pair_post(pair, 0, &write);
    pair_post(pair, 0, &bad);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_string_equal(oche_qp_waits_for(qp), "earlier work, then fails");
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    assert_string_equal(oche_qp_waits_for(qp), "state");
    pair_close(pair);
}

/* Never more READs outstanding than agreed; the others wait. */
struct outstanding {
    uint32_t now, most;
};

static void count_reads(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct outstanding *o = pair->context;

    if (from == 0 && packet->opcode == OCHE_RC_READ_REQUEST && ++o->now > o->most)
        o->most = o->now;
    if (from == 1 && oche_opcode_has(packet->opcode, OCHE_OP_LAST))
        o->now--;
}

static void test_initiator_depth(void **state)
{
    struct pair_options options = {.initiator_depth = 2, .responder_resources = 2};
    struct pair *pair = pair_open(&options);
    struct outstanding outstanding = {0};

    (void)state;
    pair->tap = count_reads;
    pair->context = &outstanding;
    for (uint64_t i = 0; i < 6; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_READ, i, (uint32_t)i * 5000, 0, 5000);
        pair_post(pair, 0, &work);
    }
    pair_run_quiet(pair);
    for (uint64_t i = 0; i < 6; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_int_equal(outstanding.most, 2);
    pair_close(pair);
}

/*
 * A READ and then a WRITE: the WRITE is executed long before the READ's data has left, and its ACK
 * must not overtake the data. An ACK for a WRITE before the READ leaves at once.
 */
struct order {
    uint32_t acks_before_last_response, acks, responses, ack_psn[4];
    bool last_seen;
};

static void note_order(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct order *o = pair->context;

    if (from != 1)
        return;
    if (packet->opcode == OCHE_RC_ACK) {
        o->ack_psn[o->acks++] = packet->psn;
        o->acks_before_last_response += !o->last_seen;
    } else {
        o->responses++;
        o->last_seen |= oche_opcode_has(packet->opcode, OCHE_OP_LAST);
    }
}

static void test_ack_behind_read(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work before = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 10 * 1024);
    struct oche_send_work after = pair_work(OCHE_WORK_WRITE, 3, 0, 0, 10);
    struct order order = {0};

    (void)state;
    pair->tap = note_order;
    pair->context = &order;
    pair->side[1].classes = 0; /* let all requests arrive first */
    pair_post(pair, 0, &before);
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &after);
    pair_run(pair, 20 * OCHE_US);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    for (uint64_t i = 1; i <= 3; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    assert_int_equal(order.responses, 10);
    assert_int_equal(order.acks, 2);
    assert_int_equal(order.ack_psn[0], 0);
    assert_int_equal(order.ack_psn[1], 11);
    assert_int_equal(order.acks_before_last_response, 1);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->retransmitted_packets, 0);
    pair_close(pair);
}

/* Atomic results are control packets, but keep their place behind READ data. */
static void test_atomic_behind_read(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 10 * 1024);
    struct oche_send_work add = pair_work(OCHE_WORK_FETCH_ADD, 2, 20000, 64, 8);

    (void)state;
    store64(SIDE1(64), 3);
    add.swap_add = 1;
    pair_post(pair, 0, &add);
    pair_post(pair, 0, &read);
    add.wr_id = 3;
    pair_post(pair, 0, &add);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 3, OCHE_STATUS_SUCCESS);
    assert_int_equal(load64(SIDE1(64)), 5);
    assert_int_equal(load64(SIDE0(20000)), 4);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->retransmitted_packets, 0);
    pair_close(pair);
}

/* ... and READ data behind an atomic's result that could not leave yet continues after it. */
static void test_read_behind_atomic(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 3000);
    struct oche_send_work add = pair_work(OCHE_WORK_FETCH_ADD, 1, 20000, 64, 8);

    (void)state;
    pair->side[1].classes = 0;
    pair_post(pair, 0, &add);
    pair_post(pair, 0, &read);
    pair_run(pair, 20 * OCHE_US);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
    pair_close(pair);
}

/* ---- UC ---- */

static void test_uc(void **state)
{
    struct pair_options options = {.transport = OCHE_TRANSPORT_UC};
    struct pair *pair = pair_open(&options);
    struct oche_send_work send = pair_work(OCHE_WORK_SEND_IMM, 1, 0, 0, 3000);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 2, 0, 50000, 5000);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 3, 0, 50000, 5000);
    oche_time start = pair->now;

    (void)state;
    pair_fill(pair, 0, 0, 5000, 4);
    pair_post_recv(pair, 1, 7, 9000, 6000);
    send.imm = 99;
    pair_post(pair, 0, &send);
    pair_post(pair, 0, &write);
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &read), 22 /* EINVAL */);
    pair_run_quiet(pair);
    struct oche_completion done = pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    /*
     * Completed when the last bit has left: two full frames with their gaps, then the last frame.
     */
    oche_time left = start + 2 * oche_time_of_bytes(62 + 1024 + 20, 100 * OCHE_GBPS) +
                     oche_time_of_bytes(62 + 4 + 952, 100 * OCHE_GBPS);
    assert_int_equal(done.time, left);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    done = pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
    assert_true(done.has_imm && done.imm == 99 && done.bytes == 3000);
    assert_memory_equal(SIDE0(0), SIDE1(9000), 3000);
    assert_memory_equal(SIDE0(0), SIDE1(50000), 5000);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->acks_sent, 0);
    pair_close(pair);
}

/* ---- events ---- */

static void test_events(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, 10);

    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        pair_post_recv(pair, 1, i, 0, 100);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].events, 0); /* not armed */
    oche_cq_arm(pair->side[1].cq, true);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].events, 0); /* not solicited */
    work.flags |= OCHE_WORK_SOLICITED;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].events, 1);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].events, 1); /* one shot */
    oche_cq_arm(pair->side[1].cq, false);
    work.flags = OCHE_WORK_SIGNALED;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(pair->side[1].events, 2);
    /* A failed completion wakes a program that waits for solicited ones. */
    oche_cq_arm(pair->side[1].cq, true);
    pair_post_recv(pair, 1, 9, 0, 100);
    oche_qp_fail(pair->side[1].qp[0], pair->now);
    assert_int_equal(pair->side[1].events, 3);
    pair_close(pair);
}

/* A program that sees a completion may post at once in the freed place. */
static void test_post_at_completion(void **state)
{
    struct pair *pair = pair_open(NULL);
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_completion done;
    unsigned posted = 1, completed = 0;

    (void)state;
    while (oche_qp_post_send(qp, &work) == 0)
        posted++;
    oche_cq_arm(pair->side[0].cq, false);
    pair->side[0].post_at_event = &work;
    pair->side[0].posted_at_event = -1;
    pair_run_quiet(pair);
    assert_int_equal(pair->side[0].posted_at_event, 0);
    while (oche_cq_poll(pair->side[0].cq, &done, 1) == 1) {
        assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
        completed++;
    }
    assert_int_equal(completed, posted);
    pair_close(pair);
}

static void test_cq_overflow(void **state)
{
    static _Alignas(64) uint8_t memory[1024];
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    struct oche_completion done[8];

    (void)state;
    assert_true(oche_cq_bytes(2) <= sizeof(memory));
    struct oche_cq *cq = oche_cq_create(memory, 2), *kept = pair->side[0].cq;
    pair->side[0].cq = cq;
    pair_connect(pair, 0, 0);
    pair_connect(pair, 1, 0);
    for (uint64_t i = 0; i < 3; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 10);
        assert_false(oche_cq_overflowed(cq));
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
    }
    assert_true(oche_cq_overflowed(cq));
    assert_int_equal(oche_cq_poll(cq, done, 8), 2);
    assert_int_equal(done[0].wr_id, 0);
    assert_int_equal(done[1].wr_id, 1);
    assert_true(oche_cq_overflowed(cq));
    /* The work with the lost completion has failed, and later work is lost, too: it was flushed. */
    assert_int_equal(pair->side[0].cq_errors, 1);
    assert_int_equal(pair->side[0].qp_events[OCHE_QP_EVENT_FATAL], 1);
    assert_int_equal(oche_qp_state(pair->side[0].qp[0]), OCHE_QP_ERR);
    struct oche_send_work late = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 10);
    pair_post(pair, 0, &late);
    pair_run_quiet(pair);
    assert_int_equal(oche_cq_poll(cq, done, 8), 0);
    assert_int_equal(pair->side[0].cq_errors, 1);
    /* Nobody else has. */
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_RTS);
    pair->side[0].cq = kept;
    pair_close(pair);
}

/* The same for receives, of all transports, and for a send queue in an error of its own. */
static void test_cq_overflow_elsewhere(void **state)
{
    static _Alignas(64) uint8_t memory[1024];
    static const uint8_t transports[] = {OCHE_TRANSPORT_RC, OCHE_TRANSPORT_UC, OCHE_TRANSPORT_UD};

    (void)state;
    for (size_t i = 0; i < sizeof(transports); i++) {
        struct pair_options options = {.transport = transports[i], .no_connect = true};
        struct pair *pair = pair_open(&options);
        struct oche_cq *cq = oche_cq_create(memory, 1), *kept = pair->side[1].cq;
        pair->side[1].cq = cq;
        pair_connect(pair, 0, 0);
        pair_connect(pair, 1, 0);
        for (uint64_t n = 0; n < 4; n++) {
            struct oche_send_work work = pair_work(OCHE_WORK_SEND, n, 0, 0, 10);
            struct oche_destination to = pair_destination(0, 0);
            work.to = &to;
            pair_post_recv(pair, 1, 20 + n, 0, 100);
            pair_post(pair, 0, &work);
        }
        pair_run_quiet(pair);
        assert_int_equal(pair->side[1].cq_errors, 1);
        assert_int_equal(pair->side[1].qp_events[OCHE_QP_EVENT_FATAL], 1);
        assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
        pair->side[1].cq = kept;
        pair_close(pair);
    }
}

/* A resized queue loses nothing, for any position of its content in the ring. */
static void test_cq_resize(void **state)
{
    static _Alignas(64) uint8_t memory[8192], rings[2][8192];
    static const uint32_t sizes[] = {16, 8, 4, 64, 4, 8};
    struct oche_cq *cq = oche_cq_create(memory, 4), *kept;
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    uint64_t made = 0, seen = 0;
    struct oche_completion done;

    (void)state;
    kept = pair->side[0].cq;
    pair->side[0].cq = cq;
    pair_connect(pair, 0, 0);
    pair_connect(pair, 1, 0);
    for (unsigned round = 0; round < 60; round++) {
        const uint32_t entries = sizes[round % 6];
        for (; made < seen + 4; made++) {
            struct oche_send_work work = pair_work(OCHE_WORK_WRITE, made, 0, 0, 10);
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
        }
        assert_true(oche_cq_entries_bytes(entries) <= sizeof(rings[0]));
        assert_false(oche_cq_resize(cq, rings[round % 2], 2)); /* there are 4 in it */
        assert_true(oche_cq_resize(cq, rings[round % 2], entries));
        for (unsigned i = 0; i < 1 + round % 4; i++) {
            assert_int_equal(oche_cq_poll(cq, &done, 1), 1);
            assert_int_equal(done.wr_id, seen++);
        }
    }
    assert_false(oche_cq_overflowed(cq));
    pair->side[0].cq = kept;
    pair_close(pair);
}

/* Completions of two queue pairs, mixed, across the end of the ring. */
static void test_cq_forget(void **state)
{
    static _Alignas(64) uint8_t memory[1024];
    struct pair_options options = {.no_connect = true, .qps = 2};
    struct pair *pair = pair_open(&options);
    struct oche_completion done[8];

    (void)state;
    assert_true(oche_cq_bytes(4) <= sizeof(memory));
    struct oche_cq *cq = oche_cq_create(memory, 4), *kept = pair->side[0].cq;
    pair->side[0].cq = cq;
    for (unsigned qp = 0; qp < 2; qp++) {
        pair_connect(pair, 0, qp);
        pair_connect(pair, 1, qp);
    }
    const uint32_t qpn = oche_qp_number(pair->side[0].qp[1]);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 4; i++) {
            struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 10);
            assert_int_equal(oche_qp_post_send(pair->side[0].qp[i % 2], &work), 0);
            pair_run_quiet(pair);
        }
        assert_int_equal(oche_cq_poll(cq, done, round), round);
        oche_cq_forget(cq, qpn);
        oche_cq_forget(cq, 0x123); /* nobody's */
        /* 0 and 2 are left (1 and 3 were removed), without those that were polled. */
        assert_int_equal(oche_cq_poll(cq, done, 8), round == 0 ? 2 : 1);
        assert_int_equal(done[0].wr_id, round == 0 ? 0 : 2);
        assert_true(round > 0 || done[1].wr_id == 2);
        oche_cq_forget(cq, qpn); /* of an empty one */
        assert_int_equal(oche_cq_poll(cq, done, 8), 0);
    }
    assert_false(oche_cq_overflowed(cq));
    pair->side[0].cq = kept;
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_immediates),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_takes_psns),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_zero_lengths),
        cmocka_unit_test(test_several_sges),
        cmocka_unit_test(test_inline),
        cmocka_unit_test(test_bad_posts),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_waits_for),
        cmocka_unit_test(test_initiator_depth),
        cmocka_unit_test(test_ack_behind_read),
        cmocka_unit_test(test_atomic_behind_read),
        cmocka_unit_test(test_read_behind_atomic),
        cmocka_unit_test(test_uc),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_post_at_completion),
        cmocka_unit_test(test_cq_overflow),
        cmocka_unit_test(test_cq_forget),
        cmocka_unit_test(test_cq_overflow_elsewhere),
        cmocka_unit_test(test_cq_resize),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
