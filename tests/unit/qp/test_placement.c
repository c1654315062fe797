/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets kept behind a gap, one by one. In any order of arrival, memory, completions and counts
 * equal those of packets in order. Packets that may not be kept are dropped without harm. All of
 * that where payloads are held, and where they are written to their places at once.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/recovery/selective_repeat.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define MTU    256
#define FROM   (64 * 1024)  /* in side 0's memory: where payload is taken from */
#define TARGET (128 * 1024) /* in side 1's: the payload's destination */

static struct oche_selective_repeat_params params = {
    .window = 16, .few_packets = 3, .rto_low = 100 * OCHE_US, .rto_high = 320 * OCHE_US};

static uint32_t held_bytes;

static struct pair *open_pair(void)
{
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = true,
                                   .mtu = MTU,
                                   .held_bytes = held_bytes,
                                   .in_flight = 64};
    struct pair *pair = pair_open(&options);

    pair_fill(pair, 0, FROM, 32 * 1024, 7);
    return pair;
}

/* A packet from side 0; its payload is what side 0 has at `from`. */
static struct oche_packet packet_of(const struct pair *pair, uint8_t opcode, uint32_t psn,
                                    uint32_t bytes, uint32_t from)
{
    struct oche_packet packet = pair_packet(pair, 0, opcode, psn, (uint16_t)bytes);

    packet.bth = 0;
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    packet.payload = pair->side[0].memory + from;
    packet.ext = OCHE_EXT_PAYLOAD;
    if (oche_opcode_has(opcode, OCHE_OP_HAS(IMM))) {
        packet.imm = 0x1000 + psn;
        packet.ext |= OCHE_EXT_IMM;
    }
    return packet;
}

/* Part of a WRITE of `length` bytes to TARGET + to, from `offset` on. */
static struct oche_packet write_packet(const struct pair *pair, uint8_t opcode, uint32_t psn,
                                       uint32_t to, uint32_t length, uint32_t offset)
{
    uint32_t left = length - offset, bytes = left < MTU ? left : MTU;
    struct oche_packet packet = packet_of(pair, opcode, psn, bytes, FROM + offset);

    packet.reth.va = PAIR_VA + TARGET + to + offset;
    packet.reth.rkey = PAIR_KEY;
    packet.reth.dma_length = left;
    packet.ext |= OCHE_EXT_RETH;
    return packet;
}

static struct oche_packet send_packet(const struct pair *pair, uint8_t opcode, uint32_t psn,
                                      uint32_t receive, uint32_t length, uint32_t offset)
{
    uint32_t left = length - offset, bytes = left < MTU ? left : MTU;
    struct oche_packet packet = packet_of(pair, opcode, psn, bytes, FROM + offset);
    struct oche_place place = {.receive = receive, .offset = offset};

    oche_place_put(&packet, &place);
    return packet;
}

static const struct oche_nic_stats *stats(const struct pair *pair)
{
    return oche_nic_stats(pair->side[1].nic);
}

static uint64_t rejected(const struct pair *pair, enum oche_reject cause)
{
    return oche_nic_rejected(pair->side[1].nic, cause);
}

/* The bytes of side 1 at TARGET + to are those that side 0 has at `from`. */
static void expect_bytes(const struct pair *pair, uint32_t to, uint32_t from, uint32_t count)
{
    assert_memory_equal(pair->side[1].memory + TARGET + to, pair->side[0].memory + from, count);
}

static void expect_untouched(const struct pair *pair, uint32_t to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pair->side[1].memory[TARGET + to + i], 0);
}

/* ---- any order ---- */

#define MOST 5

/* Calls `run` with each order of `count` packets. */
static void in_all_orders(unsigned count, void (*run)(const unsigned *order))
{
    unsigned order[MOST], c[MOST] = {0}, i = 1;

    for (unsigned k = 0; k < count; k++)
        order[k] = k;
    run(order);
    while (i < count) { /* Heap's algorithm */
        if (c[i] < i) {
            unsigned a = i % 2 == 0 ? 0 : c[i], keep = order[a];
            order[a] = order[i];
            order[i] = keep;
            run(order);
            c[i]++;
            i = 1;
        } else {
            c[i++] = 0;
        }
    }
}

static void give(struct pair *pair, const struct oche_packet *packets, unsigned count,
                 const unsigned *order)
{
    for (unsigned i = 0; i < count; i++) {
        const struct oche_packet *packet = &packets[order[i]];
        oche_nic_receive(pair->side[1].nic, packet, pair->now);
    }
    pair_run_quiet(pair);
}

static void run_writes(const unsigned *order)
{
    struct pair *pair = open_pair();
    const struct oche_packet packets[] = {
        write_packet(pair, OCHE_RC_WRITE_FIRST, 0, 0, 700, 0),
        write_packet(pair, OCHE_RC_WRITE_MIDDLE_AT, 1, 0, 700, MTU),
        write_packet(pair, OCHE_RC_WRITE_LAST_AT, 2, 0, 700, 2 * MTU),
        write_packet(pair, OCHE_RC_WRITE_ONLY_IMM, 3, 4096, 99, 0),
        write_packet(pair, OCHE_RC_WRITE_ONLY, 4, 8192, 0, 0),
    };

    pair_post_recv(pair, 1, 77, 0, 0);
    give(pair, packets, 5, order);
    expect_bytes(pair, 0, FROM, 700);
    expect_bytes(pair, 4096, FROM, 99);
    expect_untouched(pair, 700, 64);
    struct oche_completion done = pair_expect(pair, 1, 77, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.opcode, OCHE_DONE_RECV_WRITE_IMM);
    assert_int_equal(done.bytes, 99);
    assert_int_equal(done.imm, 0x1003);
    pair_expect_none(pair, 1);
    assert_int_equal(pair->side[1].delivered_messages, 3);
    assert_int_equal(pair->side[1].delivered_bytes, 799);
    assert_int_equal(stats(pair)->data_packets_received, 5);
    assert_int_equal(stats(pair)->placed_packets, stats(pair)->out_of_order_packets);
    assert_int_equal(stats(pair)->duplicate_packets, 0);
    pair_close(pair);
}

static void test_writes_in_any_order(void **state)
{
    (void)state;
    in_all_orders(5, run_writes);
}

static void run_sends(const unsigned *order)
{
    struct pair *pair = open_pair();
    const struct oche_packet packets[] = {
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 0, 0, 0, 0),
        send_packet(pair, OCHE_RC_SEND_FIRST_AT, 1, 1, 600, 0),
        send_packet(pair, OCHE_RC_SEND_MIDDLE_AT, 2, 1, 600, MTU),
        send_packet(pair, OCHE_RC_SEND_LAST_IMM_AT, 3, 1, 600, 2 * MTU),
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 4, 2, 5, 0),
    };
    /* The second receive has three pieces: one is empty, and none is as long as a packet. */
    struct oche_recv_work work = {
        .wr_id = 2,
        .sge_count = 4,
        .sge = {{.va = PAIR_VA + TARGET, .length = 200, .lkey = PAIR_KEY},
                {.va = PAIR_VA + TARGET, .length = 0, .lkey = PAIR_KEY},
                {.va = PAIR_VA + TARGET + 1000, .length = 99, .lkey = PAIR_KEY},
                {.va = PAIR_VA + TARGET + 2000, .length = 500, .lkey = PAIR_KEY}},
    };

    pair_post_recv(pair, 1, 1, TARGET + 5000, 10);
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &work), 0);
    pair_post_recv(pair, 1, 3, TARGET + 6000, 5);
    give(pair, packets, 5, order);
    assert_int_equal(pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS).bytes, 0);
    struct oche_completion done = pair_expect(pair, 1, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.bytes, 600);
    assert_int_equal(done.imm, 0x1003);
    assert_true(done.has_imm);
    assert_int_equal(pair_expect(pair, 1, 3, OCHE_STATUS_SUCCESS).bytes, 5);
    expect_bytes(pair, 0, FROM, 200);
    expect_bytes(pair, 1000, FROM + 200, 99);
    expect_bytes(pair, 2000, FROM + 299, 301);
    expect_untouched(pair, 2301, 199);
    expect_bytes(pair, 6000, FROM, 5);
    assert_int_equal(pair->side[1].delivered_messages, 3);
    assert_int_equal(stats(pair)->placed_packets, stats(pair)->out_of_order_packets);
    pair_close(pair);
}

static void test_sends_in_any_order(void **state)
{
    (void)state;
    in_all_orders(5, run_sends);
}

/* ---- overlaps ---- */

/* The place of packet i in the tests below. The later packet wins, in any order of arrival. */
struct overlap {
    uint32_t to, length;
};
static const struct overlap *overlap;

static void run_overlap(const unsigned *order)
{
    struct pair *pair = open_pair();
    struct oche_packet packets[4];
    uint8_t want[2048] = {0};

    for (uint32_t i = 0; i < 4; i++) {
        packets[i] = write_packet(pair, OCHE_RC_WRITE_ONLY, i, overlap[i].to, overlap[i].length, 0);
        packets[i].payload += i * 5000;
        memcpy(want + overlap[i].to, packets[i].payload, overlap[i].length);
    }
    give(pair, packets, 4, order);
    assert_int_equal(pair->side[1].delivered_messages, 4);
    assert_memory_equal(pair->side[1].memory + TARGET, want, sizeof(want));
    pair_close(pair);
}

static void test_the_last_write_wins(void **state)
{
    static const struct overlap all[][4] = {
        {{0, 256}, {0, 256}, {0, 256}, {0, 256}},     /* the same place */
        {{0, 256}, {100, 50}, {10, 60}, {255, 1}},    /* holes in the first */
        {{100, 50}, {0, 256}, {120, 10}, {0, 1}},     /* covered, and covering */
        {{0, 256}, {256, 256}, {512, 256}, {0, 0}},   /* next to each other */
        {{1, 200}, {200, 200}, {100, 200}, {0, 256}}, /* a chain */
        {{64, 64}, {0, 64}, {63, 2}, {127, 2}},       /* at the edges of words */
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        overlap = all[i];
        in_all_orders(4, run_overlap);
    }
}

/* The two packets that are farthest apart. */
static void test_the_ends_of_the_window(void **state)
{
    struct pair *pair = open_pair();

    (void)state;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t psn = (i + 15) % 16;
        struct oche_packet packet =
            write_packet(pair, OCHE_RC_WRITE_ONLY, psn, psn % 15 * 300, 200, 0);
        packet.payload += psn;
        pair_inject(pair, 0, &packet);
    }
    assert_int_equal(pair->side[1].delivered_messages, 16);
    expect_bytes(pair, 0, FROM + 15, 200);
    expect_bytes(pair, 300, FROM + 1, 200);
    pair_close(pair);
}

/*
 * Through another region over the same memory, and through receives: the real place of the bytes
 * counts.
 */
static void run_aliases(const unsigned *order)
{
    struct pair *pair = open_pair();
    const struct oche_region alias = {.va = UINT64_C(0x7000000000),
                                      .length = 1000,
                                      .key = PAIR_KEY + 1,
                                      .access = 15,
                                      .pd = PAIR_PD,
                                      .base = pair->side[1].memory + TARGET};
    struct oche_packet packets[] = {
        write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 0, 256, 0),
        write_packet(pair, OCHE_RC_WRITE_ONLY, 1, 0, 50, 0),
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 2, 0, 90, 0),
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 3, 1, 200, 0),
    };
    struct oche_recv_work work = {
        .sge_count = 2,
        .sge = {{.va = PAIR_VA + TARGET + 40, .length = 30, .lkey = PAIR_KEY},
                {.va = alias.va + 200, .length = 60, .lkey = alias.key}},
    };
    uint8_t want[1000] = {0};

    assert_true(oche_nic_add_region(pair->side[1].nic, &alias));
    packets[1].reth.va = alias.va + 20;
    packets[1].reth.rkey = alias.key;
    for (uint32_t i = 0; i < 4; i++)
        packets[i].payload += i * 5000;
    assert_int_equal(oche_qp_post_recv(pair->side[1].qp[0], &work), 0);
    pair_post_recv(pair, 1, 2, TARGET + 60, 200);
    give(pair, packets, 4, order);
    memcpy(want, packets[0].payload, 256);
    memcpy(want + 20, packets[1].payload, 50);
    memcpy(want + 40, packets[2].payload, 30);
    memcpy(want + 200, packets[2].payload + 30, 60);
    memcpy(want + 60, packets[3].payload, 200);
    assert_memory_equal(pair->side[1].memory + TARGET, want, sizeof(want));
    assert_int_equal(pair->side[1].delivered_messages, 4);
    pair_close(pair);
}

static void test_aliases(void **state)
{
    (void)state;
    in_all_orders(4, run_aliases);
}

/*
 * A kept packet names a receive that another message then uses. When the gap closes, the receive's
 * place in the ring has a new receive, which must not be used.
 */
static void test_receive_that_is_gone(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet packets[] = {
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 0, 0, 100, 0),
        write_packet(pair, OCHE_RC_WRITE_ONLY, 1, 8192, 100, 0),
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 2, 0, 100, 0), /* should say 1 */
    };

    (void)state;
    for (uint32_t i = 0; i < 16; i++)
        pair_post_recv(pair, 1, i, TARGET + 200 * i, 100);
    pair_inject(pair, 0, &packets[2]);
    pair_inject(pair, 0, &packets[0]);
    pair_expect(pair, 1, 0, OCHE_STATUS_SUCCESS);
    pair_post_recv(pair, 1, 16, TARGET + 8192, 100);
    pair_inject(pair, 0, &packets[1]);
    expect_bytes(pair, 8192, FROM, 100);
    assert_int_equal(pair->side[1].error, OCHE_STATUS_REMOTE_INVALID_REQUEST); /* for its lie */
    pair_close(pair);
}

/* ---- packets that may not be kept ---- */

static void expect_not_kept(struct pair *pair, const struct oche_packet *packet, bool wrong)
{
    uint64_t before = rejected(pair, OCHE_REJECT_PLACEMENT);
    uint64_t placed = stats(pair)->placed_packets, out_of_order = stats(pair)->out_of_order_packets;

    pair_inject(pair, 0, packet);
    assert_int_equal(stats(pair)->placed_packets, placed);
    assert_int_equal(stats(pair)->out_of_order_packets, out_of_order + 1);
    assert_int_equal(rejected(pair, OCHE_REJECT_PLACEMENT), before + wrong);
    assert_int_equal(pair->side[1].errors, 0);
    for (uint32_t i = 0; i < PAIR_MEMORY; i++)
        if (pair->side[1].memory[i] != 0)
            fail();
}

static void test_wrong_writes(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet good = write_packet(pair, OCHE_RC_WRITE_MIDDLE_AT, 2, 0, 900, MTU);
    const struct oche_packet last = write_packet(pair, OCHE_RC_WRITE_LAST_AT, 2, 0, 900, 3 * MTU);
    struct oche_packet bad;

    (void)state;
#define WRONG(from, change)                                                                        \
    bad = from;                                                                                    \
    change;                                                                                        \
    expect_not_kept(pair, &bad, true)
    WRONG(good, bad.reth.rkey++);
    WRONG(good, bad.reth.va = PAIR_VA + PAIR_MEMORY - MTU); /* what follows would not fit */
    WRONG(good, bad.reth.va = PAIR_VA - 1);
    WRONG(good, bad.reth.va = UINT64_MAX - 10);
    WRONG(good, bad.reth.dma_length = MTU); /* otherwise it would be the last one */
    WRONG(good, bad.reth.dma_length = OCHE_MAX_MESSAGE_BYTES + 1);
    WRONG(good, bad.payload_bytes = MTU - 1);
    WRONG(good, bad.payload_bytes = MTU + 1);
    WRONG(good, bad.ext &= (uint8_t)~OCHE_EXT_RETH);
    WRONG(last, bad.reth.dma_length++);
    WRONG(last, bad.reth.dma_length--);
    WRONG(last, bad.payload_bytes = MTU + 1);
#undef WRONG
    /* A plain MIDDLE does not name its place, so it is never kept. */
    bad = packet_of(pair, OCHE_RC_WRITE_MIDDLE, 2, MTU, FROM);
    expect_not_kept(pair, &bad, false);
    bad = packet_of(pair, OCHE_RC_SEND_ONLY, 2, 5, FROM);
    expect_not_kept(pair, &bad, false);
    bad = packet_of(pair, OCHE_RC_SEND_ONLY_INV, 2, 5, FROM);
    expect_not_kept(pair, &bad, false);
    bad = write_packet(pair, OCHE_RC_READ_REQUEST, 2, 0, 900, 0);
    bad.payload_bytes = 0;
    expect_not_kept(pair, &bad, false);
    bad = write_packet(pair, OCHE_RC_FETCH_ADD, 2, 0, 8, 0);
    bad.payload_bytes = 0;
    bad.ext |= OCHE_EXT_ATOMIC;
    expect_not_kept(pair, &bad, false);
    /* Behind the window. */
    bad = write_packet(pair, OCHE_RC_WRITE_ONLY, 16, 0, 9, 0);
    expect_not_kept(pair, &bad, false);
    bad.psn = (UINT32_C(1) << 23) - 1;
    expect_not_kept(pair, &bad, false);
    pair_close(pair);
}

static void test_wrong_sends(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet good = send_packet(pair, OCHE_RC_SEND_MIDDLE_AT, 2, 1, 900, MTU);
    const struct oche_packet first = send_packet(pair, OCHE_RC_SEND_FIRST_AT, 2, 1, 900, 0);
    struct oche_packet bad;

    (void)state;
    pair_post_recv(pair, 1, 1, TARGET, 4 * MTU);
    expect_not_kept(pair, &good, false); /* receive 1 is not posted yet */
    pair_post_recv(pair, 1, 2, TARGET + 4096, 2 * MTU);
#define WRONG(from, place_)                                                                        \
    bad = from;                                                                                    \
    oche_place_put(&bad, &(struct oche_place)place_);                                              \
    expect_not_kept(pair, &bad, true)
#define PLACE(receive_, offset_) {.receive = (receive_), .offset = (offset_)}
    WRONG(good, PLACE(1, MTU + 1)); /* beyond its end */
    WRONG(good, PLACE(1, UINT32_MAX));
    WRONG(good, PLACE(1, UINT32_MAX - MTU + 2)); /* the sum wraps to 1 */
    WRONG(good, PLACE(1, 0));                    /* then it were the first */
    WRONG(good, PLACE(16, MTU));
    WRONG(good, PLACE(UINT32_MAX, MTU));
    WRONG(good, PLACE(UINT32_C(1) << 31, MTU));
    WRONG(first, PLACE(1, MTU));
#undef WRONG
    bad = good;
    bad.payload_bytes = MTU - 1;
    expect_not_kept(pair, &bad, true);
    bad = good;
    bad.ext &= (uint8_t)~OCHE_EXT_SCHEME;
    expect_not_kept(pair, &bad, true);
    oche_place_put(&bad, &(struct oche_place){.receive = 5, .offset = MTU}); /* in the ring */
    expect_not_kept(pair, &bad, false);
    /* A receive into memory that was deregistered. */
    oche_nic_remove_region(pair->side[1].nic, PAIR_KEY);
    expect_not_kept(pair, &good, true);
    pair_close(pair);
}

/* A queue pair without receives, or without the right to write. */
static void test_no_right(void **state)
{
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = true,
                                   .mtu = MTU,
                                   .access = UINT32_MAX};
    struct pair *pair = pair_open(&options);
    struct oche_packet packet = write_packet(pair, OCHE_RC_WRITE_ONLY, 2, 0, 9, 0);

    (void)state;
    expect_not_kept(pair, &packet, true);
    pair_close(pair);
}

/* ---- in its turn ---- */

/* A kept packet that does not fit those before it is detected in its turn. */
static void expect_refused(struct pair *pair, const struct oche_packet *packets, unsigned count,
                           enum oche_status status)
{
    for (unsigned i = 1; i < count; i++)
        pair_inject(pair, 0, &packets[i]);
    assert_int_equal(stats(pair)->placed_packets, count - 1);
    assert_int_equal(pair->side[1].errors, 0);
    pair_inject(pair, 0, &packets[0]);
    assert_int_equal(pair->side[1].errors, 1);
    assert_int_equal(pair->side[1].error, status);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
    pair_close(pair);
}

static void test_conflicts(void **state)
{
    struct pair *pair = open_pair();
    struct oche_packet packets[3];

    (void)state;
#define WRITES()                                                                                   \
    pair = open_pair();                                                                            \
    packets[0] = write_packet(pair, OCHE_RC_WRITE_FIRST, 0, 0, 700, 0);                            \
    packets[1] = write_packet(pair, OCHE_RC_WRITE_MIDDLE_AT, 1, 0, 700, MTU);                      \
    packets[2] = write_packet(pair, OCHE_RC_WRITE_LAST_AT, 2, 0, 700, 2 * MTU)
    pair_close(pair);
    WRITES(), packets[1].reth.va++;
    expect_refused(pair, packets, 3, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    WRITES(), packets[1].reth.dma_length++;
    expect_refused(pair, packets, 3, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    WRITES(), packets[2].reth.va -= MTU; /* the last one at the place of the one before it */
    expect_refused(pair, packets, 3, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    WRITES(), packets[1] = write_packet(pair, OCHE_RC_WRITE_ONLY, 1, 0, 9, 0);
    expect_refused(pair, packets, 3, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    WRITES(), packets[0] = write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 0, 9, 0);
    expect_refused(pair, packets, 3, OCHE_STATUS_REMOTE_INVALID_REQUEST);
#undef WRITES
    /* Another key, valid by itself, for the rest of the message. */
    pair = open_pair();
    struct oche_region other = {.va = PAIR_VA,
                                .length = PAIR_MEMORY,
                                .key = PAIR_KEY + 1,
                                .access = 15,
                                .pd = PAIR_PD,
                                .base = pair->side[1].memory};
    assert_true(oche_nic_add_region(pair->side[1].nic, &other));
    packets[0] = write_packet(pair, OCHE_RC_WRITE_FIRST, 0, 0, 300, 0);
    packets[1] = write_packet(pair, OCHE_RC_WRITE_LAST_AT, 1, 0, 300, MTU);
    packets[1].reth.rkey = other.key;
    expect_refused(pair, packets, 2, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    /* A SEND that names the receive after its own; one that leaves a gap in it. */
    pair = open_pair();
    pair_post_recv(pair, 1, 1, TARGET, 4 * MTU);
    pair_post_recv(pair, 1, 2, TARGET + 4096, 4 * MTU);
    packets[0] = send_packet(pair, OCHE_RC_SEND_FIRST_AT, 0, 0, 600, 0);
    packets[1] = send_packet(pair, OCHE_RC_SEND_MIDDLE_AT, 1, 1, 600, MTU);
    expect_refused(pair, packets, 2, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    pair = open_pair();
    pair_post_recv(pair, 1, 1, TARGET, 4 * MTU);
    packets[0] = send_packet(pair, OCHE_RC_SEND_FIRST_AT, 0, 0, 1024, 0);
    packets[1] = send_packet(pair, OCHE_RC_SEND_LAST_AT, 1, 0, 1024, 3 * MTU);
    expect_refused(pair, packets, 2, OCHE_STATUS_REMOTE_INVALID_REQUEST);
    /* The region is removed between the two. */
    pair = open_pair();
    packets[0] = write_packet(pair, OCHE_RC_WRITE_ONLY, 1, 0, 9, 0);
    pair_inject(pair, 0, &packets[0]);
    oche_nic_remove_region(pair->side[1].nic, PAIR_KEY);
    packets[1] = write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 0, 0, 0);
    pair_inject(pair, 0, &packets[1]);
    assert_int_equal(pair->side[1].error, OCHE_STATUS_REMOTE_ACCESS);
    pair_close(pair);
}

/* A packet that comes twice is written once, counted, and answered. */
static void test_duplicate_of_kept(void **state)
{
    struct pair *pair = open_pair();
    struct oche_packet packet = write_packet(pair, OCHE_RC_WRITE_ONLY, 3, 0, 100, 0);

    (void)state;
    pair_inject(pair, 0, &packet);
    packet.payload += 1000;
    pair_inject(pair, 0, &packet);
    expect_bytes(pair, 0, FROM, 100);
    assert_int_equal(stats(pair)->placed_packets, 1);
    assert_int_equal(stats(pair)->duplicate_packets, 1);
    assert_int_equal(stats(pair)->out_of_order_packets, 1);
    assert_int_equal(stats(pair)->naks_sent, 2);
    /* Again after its execution: an ACK. */
    for (uint32_t psn = 0; psn < 3; psn++) {
        struct oche_packet before = write_packet(pair, OCHE_RC_WRITE_ONLY, psn, 4096, 100, 0);
        pair_inject(pair, 0, &before);
    }
    assert_int_equal(pair->side[1].delivered_messages, 4);
    uint64_t acks = stats(pair)->acks_sent;
    pair_inject(pair, 0, &packet);
    expect_bytes(pair, 0, FROM, 100);
    assert_int_equal(stats(pair)->duplicate_packets, 2);
    assert_int_equal(stats(pair)->acks_sent, acks + 1);
    pair_close(pair);
}

/* A kept message needs a receive, but there is none: RNR, and the rest continues later. */
static void test_kept_but_not_ready(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet packets[] = {
        write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 0, 10, 0),
        write_packet(pair, OCHE_RC_WRITE_ONLY_IMM, 1, 1000, 20, 0),
        write_packet(pair, OCHE_RC_WRITE_ONLY, 2, 2000, 30, 0),
    };

    (void)state;
    pair_inject(pair, 0, &packets[2]);
    pair_inject(pair, 0, &packets[1]);
    pair_inject(pair, 0, &packets[0]);
    assert_int_equal(stats(pair)->placed_packets, 2);
    assert_int_equal(stats(pair)->rnr_naks_sent, 1);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    pair_inject(pair, 0, &packets[1]); /* still not */
    assert_int_equal(stats(pair)->rnr_naks_sent, 2);
    pair_post_recv(pair, 1, 5, 0, 0);
    pair_inject(pair, 0, &packets[1]);
    assert_int_equal(pair->side[1].delivered_messages, 3);
    pair_expect(pair, 1, 5, OCHE_STATUS_SUCCESS);
    expect_bytes(pair, 2000, FROM, 30);
    assert_int_equal(pair->side[1].errors, 0);
    pair_close(pair);
}

/* After a reset none of it remains. */
static void test_reset(void **state)
{
    struct pair *pair = open_pair();
    struct oche_qp_connection connection = pair_connection(pair, 1, 0);
    struct oche_packet packets[] = {
        write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 0, 10, 0),
        write_packet(pair, OCHE_RC_WRITE_ONLY, 1, 1000, 20, 0),
    };
    struct oche_qp *qp = pair->side[1].qp[0];

    (void)state;
    pair_inject(pair, 0, &packets[1]);
    oche_qp_reset(qp);
    connection.extensions = false;
    assert_true(oche_qp_init(qp, pair->now) &&
                oche_qp_ready_to_receive(qp, &connection, pair->now) &&
                oche_qp_ready_to_send(qp, pair->now));
    packets[0].bth_reserved = packets[1].bth_reserved = 0;
    pair_inject(pair, 0, &packets[0]);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    pair_inject(pair, 0, &packets[1]);
    assert_int_equal(pair->side[1].delivered_messages, 2);
    assert_int_equal(stats(pair)->placed_packets, 1);
    pair_close(pair);
}

/* ---- payloads that are placed at once ---- */

/* The flag that overtakes its data: the message's last byte is there before its first one. */
static void test_seen_before_its_turn(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet packets[] = {
        write_packet(pair, OCHE_RC_WRITE_FIRST, 0, 0, 700, 0),
        write_packet(pair, OCHE_RC_WRITE_MIDDLE_AT, 1, 0, 700, MTU),
        write_packet(pair, OCHE_RC_WRITE_LAST_AT, 2, 0, 700, 2 * MTU),
        write_packet(pair, OCHE_RC_WRITE_ONLY_IMM, 3, 4096, 99, 0),
    };

    (void)state;
    pair_post_recv(pair, 1, 5, 0, 0);
    pair_inject(pair, 0, &packets[3]);
    pair_inject(pair, 0, &packets[2]);
    expect_bytes(pair, 2 * MTU, FROM + 2 * MTU, 700 - 2 * MTU);
    expect_bytes(pair, 4096, FROM, 99);
    expect_untouched(pair, 0, 2 * MTU);
    pair_inject(pair, 0, &packets[0]);
    expect_untouched(pair, MTU, MTU);
    pair_expect_none(pair, 1); /* only the completion waits for its turn */
    pair_inject(pair, 0, &packets[1]);
    expect_bytes(pair, 0, FROM, 700);
    pair_expect(pair, 1, 5, OCHE_STATUS_SUCCESS);
    assert_int_equal(stats(pair)->placed_packets, 2);
    assert_int_equal(pair->side[1].wishes, 0);
    pair_close(pair);
}

/* A middle packet without a RETH says no place, even if its message has begun: it is dropped. */
static void test_no_place_named(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet first = write_packet(pair, OCHE_RC_WRITE_FIRST, 0, 0, 1000, 0);
    struct oche_packet middle = write_packet(pair, OCHE_RC_WRITE_MIDDLE, 2, 0, 1000, 2 * MTU);

    (void)state;
    middle.ext = OCHE_EXT_PAYLOAD;
    expect_not_kept(pair, &middle, false);
    pair_inject(pair, 0, &first);
    pair_inject(pair, 0, &middle);
    assert_int_equal(stats(pair)->placed_packets, 0);
    expect_untouched(pair, MTU, 3 * MTU);
    pair_close(pair);
}

/* ---- held payloads ---- */

static void test_nothing_is_seen_before_its_turn(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_packet packets[] = {
        write_packet(pair, OCHE_RC_WRITE_FIRST, 0, 0, 700, 0),
        write_packet(pair, OCHE_RC_WRITE_MIDDLE_AT, 1, 0, 700, MTU),
        write_packet(pair, OCHE_RC_WRITE_LAST_AT, 2, 0, 700, 2 * MTU),
        write_packet(pair, OCHE_RC_WRITE_ONLY, 3, 4096, 99, 0),
    };

    (void)state;
    for (unsigned i = 1; i < 4; i++)
        pair_inject(pair, 0, &packets[i]);
    assert_int_equal(stats(pair)->placed_packets, 3);
    expect_untouched(pair, 0, 4096 + 99);
    pair_inject(pair, 0, &packets[0]);
    expect_bytes(pair, 0, FROM, 700);
    expect_bytes(pair, 4096, FROM, 99);
    pair_close(pair);
}

/* Room for eight payloads: the ninth is not kept, and is sent again. */
static void test_no_room(void **state)
{
    struct pair *pair = open_pair();

    (void)state;
    for (uint32_t psn = 8; psn > 0; psn--) {
        const struct oche_packet packet =
            write_packet(pair, OCHE_RC_WRITE_ONLY, psn, psn * MTU, MTU, 0);
        pair_inject(pair, 0, &packet);
    }
    assert_int_equal(stats(pair)->placed_packets, 7);
    const struct oche_packet first = write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 0, MTU, 0);
    pair_inject(pair, 0, &first);
    assert_int_equal(pair->side[1].delivered_messages, 8);
    expect_untouched(pair, 8 * MTU, MTU);
    const struct oche_packet again = write_packet(pair, OCHE_RC_WRITE_ONLY, 8, 8 * MTU, MTU, 0);
    pair_inject(pair, 0, &again);
    assert_int_equal(pair->side[1].delivered_messages, 9);
    expect_bytes(pair, 8 * MTU, FROM, MTU);
    pair_close(pair);
}

/* A region is removed while a payload waits: its packet is rejected in its turn. */
static void test_region_that_is_gone(void **state)
{
    struct pair *pair = open_pair();
    const struct oche_region gone = {.va = UINT64_C(0x7000000000),
                                     .length = 1000,
                                     .key = PAIR_KEY + 1,
                                     .access = 15,
                                     .pd = PAIR_PD,
                                     .base = pair->side[1].memory + TARGET};
    struct oche_packet packet = write_packet(pair, OCHE_RC_WRITE_ONLY, 1, 0, 100, 0);
    const struct oche_packet first = write_packet(pair, OCHE_RC_WRITE_ONLY, 0, 512, 100, 0);

    (void)state;
    assert_true(oche_nic_add_region(pair->side[1].nic, &gone));
    packet.reth.va = gone.va;
    packet.reth.rkey = gone.key;
    pair_inject(pair, 0, &packet);
    assert_int_equal(stats(pair)->placed_packets, 1);
    assert_true(oche_nic_remove_region(pair->side[1].nic, gone.key));
    pair_inject(pair, 0, &first);
    expect_bytes(pair, 512, FROM, 100);
    expect_untouched(pair, 0, 100);
    assert_int_equal(pair->side[1].error, OCHE_STATUS_REMOTE_ACCESS);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest at_once[] = {
        cmocka_unit_test(test_duplicate_of_kept),
        cmocka_unit_test(test_seen_before_its_turn),
        cmocka_unit_test(test_no_place_named),
    };
    const struct CMUnitTest held[] = {
        cmocka_unit_test(test_nothing_is_seen_before_its_turn),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_region_that_is_gone),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_in_any_order),
        cmocka_unit_test(test_sends_in_any_order),
        cmocka_unit_test(test_the_last_write_wins),
        cmocka_unit_test(test_the_ends_of_the_window),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_receive_that_is_gone),
        cmocka_unit_test(test_wrong_writes),
        cmocka_unit_test(test_wrong_sends),
        cmocka_unit_test(test_no_right),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_kept_but_not_ready),
        cmocka_unit_test(test_reset),
    };

    int failed = cmocka_run_group_tests_name("written at once", tests, NULL, NULL);

    failed += cmocka_run_group_tests_name("written at once alone", at_once, NULL, NULL);
    held_bytes = 9; /* less than a payload; nothing is held there */
    params.memory = OCHE_SELECTIVE_MEMORY_AS_IT_COMES;
    failed += cmocka_run_group_tests_name("as it comes", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("as it comes alone", at_once, NULL, NULL);
    params.memory = OCHE_SELECTIVE_MEMORY_IN_ORDER;
    held_bytes = 16 * MTU;
    failed += cmocka_run_group_tests_name("held", tests, NULL, NULL);
    held_bytes = 9 * MTU - 1;
    return failed + cmocka_run_group_tests_name("held alone", held, NULL, NULL);
}
