/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs that will use a shared receive and arrive behind a gap. Before their turn it is unknown
 * which receive they will use. They are kept where their payload can be held until then; otherwise
 * they are sent again. Both where WRITEs behind the gap are held, too, and where they are placed at
 * once.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/recovery/selective_repeat.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define MTU     256
#define FROM    (64 * 1024)  /* in side 0's memory: where payload is taken from */
#define TARGET  (128 * 1024) /* in side 1's: the payload's destination */
#define PACKETS 4

static struct oche_selective_repeat_params params = {
    .window = 16, .few_packets = 3, .rto_low = 100 * OCHE_US, .rto_high = 320 * OCHE_US};

static struct pair *open_shared(uint32_t held_bytes)
{
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = true,
                                   .mtu = MTU,
                                   .held_bytes = held_bytes,
                                   .srq_depth = 8,
                                   .in_flight = 64};
    struct pair *pair = pair_open(&options);

    pair_fill(pair, 0, FROM, 32 * 1024, 7);
    return pair;
}

static void post(struct pair *pair, uint64_t wr_id, uint32_t to, uint32_t length)
{
    const struct oche_recv_work work = {
        .wr_id = wr_id,
        .sge_count = 1,
        .sge[0] = {.va = PAIR_VA + TARGET + to, .length = length, .lkey = PAIR_KEY},
    };

    assert_int_equal(oche_srq_post_recv(pair->side[1].srq, &work), 0);
}

/* Part of the SEND number `receive` of `length` bytes, from `offset` on. */
static struct oche_packet send_packet(const struct pair *pair, uint8_t opcode, uint32_t psn,
                                      uint32_t receive, uint32_t length, uint32_t offset)
{
    const uint32_t left = length - offset;
    const struct oche_place place = {.receive = receive, .offset = offset};
    struct oche_packet packet =
        pair_packet(pair, 0, opcode, psn, (uint16_t)(left < MTU ? left : MTU));

    packet.bth = 0;
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    packet.payload = pair->side[0].memory + FROM + offset;
    packet.ext = OCHE_EXT_PAYLOAD;
    oche_place_put(&packet, &place);
    return packet;
}

/* A WRITE of one packet; its payload is what side 0 has at FROM + from. */
static struct oche_packet write_packet(const struct pair *pair, uint32_t psn, uint32_t to,
                                       uint32_t length, uint32_t from)
{
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_WRITE_ONLY, psn, (uint16_t)length);

    packet.bth = 0;
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    packet.payload = pair->side[0].memory + FROM + from;
    packet.ext = OCHE_EXT_PAYLOAD | OCHE_EXT_RETH;
    packet.reth.va = PAIR_VA + TARGET + to;
    packet.reth.rkey = PAIR_KEY;
    packet.reth.dma_length = length;
    return packet;
}

static const struct oche_nic_stats *stats(const struct pair *pair)
{
    return oche_nic_stats(pair->side[1].nic);
}

/* The bytes of side 1 at TARGET + to are those that were sent. */
static void expect_sent(const struct pair *pair, uint32_t to, uint32_t count)
{
    assert_memory_equal(pair->side[1].memory + TARGET + to, pair->side[0].memory + FROM, count);
}

/*
 * A waiting SEND takes no receive. One without a receive in its turn is requested again, even if it
 * was kept.
 */
static void run(const unsigned order[PACKETS])
{
    struct pair *pair = open_shared(16 * MTU);
    const struct oche_packet packets[PACKETS] = {
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 0, 0, 9, 0),
        send_packet(pair, OCHE_RC_SEND_FIRST_AT, 1, 1, 300, 0),
        send_packet(pair, OCHE_RC_SEND_LAST_AT, 2, 1, 300, MTU),
        send_packet(pair, OCHE_RC_SEND_ONLY_AT, 3, 2, 5, 0),
    };

    post(pair, 1, 0, 10);
    post(pair, 2, 1000, 300);
    for (unsigned i = 0; i < PACKETS; i++)
        pair_inject(pair, 0, &packets[order[i]]);
    assert_int_equal(pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS).bytes, 9);
    assert_int_equal(pair_expect(pair, 1, 2, OCHE_STATUS_SUCCESS).bytes, 300);
    expect_sent(pair, 0, 9);
    expect_sent(pair, 1000, 300);
    assert_int_equal(stats(pair)->placed_packets, stats(pair)->out_of_order_packets);
    assert_true(stats(pair)->rnr_naks_sent > 0);
    post(pair, 3, 2000, 5);
    pair_inject(pair, 0, &packets[3]);
    assert_int_equal(pair_expect(pair, 1, 3, OCHE_STATUS_SUCCESS).bytes, 5);
    expect_sent(pair, 2000, 5);
    assert_int_equal(pair->side[1].errors, 0);
    pair_close(pair);
}

static void test_any_order(void **state)
{
    unsigned order[PACKETS];

    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        unsigned seen = 0;

        for (unsigned k = 0; k < PACKETS; k++) {
            order[k] = i >> 2 * k & 3;
            seen |= 1u << order[k];
        }
        if (seen == 15)
            run(order);
    }
}

/* A SEND too long for its receive is an error in its turn, and not before. */
static void test_too_long(void **state)
{
    struct pair *pair = open_shared(16 * MTU);
    const struct oche_packet first = send_packet(pair, OCHE_RC_SEND_ONLY_AT, 0, 0, 9, 0),
                             next = send_packet(pair, OCHE_RC_SEND_ONLY_AT, 1, 1, 20, 0);

    (void)state;
    post(pair, 1, 0, 10);
    post(pair, 2, 1000, 19);
    pair_inject(pair, 0, &next);
    assert_int_equal(stats(pair)->placed_packets, 1);
    assert_int_equal(pair->side[1].errors, 0);
    pair_inject(pair, 0, &first);
    pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 1, 2, OCHE_STATUS_LOCAL_LENGTH);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(pair->side[1].memory[TARGET + 1000 + i], 0);
    pair_close(pair);
}

/*
 * A SEND goes between two WRITEs to the same place, and in any order of arrival the last one wins.
 * A WRITE behind a gap is seen at once only if it is placed at once; the SEND is never.
 */
static void test_between_writes(void **state)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const bool at_once = params.memory == OCHE_SELECTIVE_MEMORY_AS_IT_COMES;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(orders); i++) {
        struct pair *pair = open_shared(16 * MTU);
        const struct oche_packet packets[] = {
            write_packet(pair, 0, 0, 100, 1000),
            send_packet(pair, OCHE_RC_SEND_ONLY_AT, 1, 0, 100, 0),
            write_packet(pair, 2, 60, 100, 2000),
        };
        const uint8_t *const to = pair->side[1].memory + TARGET;
        const uint8_t *const from = pair->side[0].memory + FROM;

        post(pair, 1, 30, 100);
        for (unsigned k = 0; k < 3; k++) {
            pair_inject(pair, 0, &packets[orders[i][k]]);
            if (k == 0 && orders[i][0] == 2)
                assert_int_equal(memcmp(to + 60, from + 2000, 100) == 0, at_once);
            if (k == 0 && orders[i][0] == 1)
                assert_int_equal(to[30], 0);
        }
        pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS);
        assert_memory_equal(to, from + 1000, 30);
        assert_memory_equal(to + 30, from, 30);
        assert_memory_equal(to + 60, from + 2000, 100);
        assert_int_equal(to[160], 0);
        assert_int_equal(stats(pair)->placed_packets, stats(pair)->out_of_order_packets);
        pair_close(pair);
    }
}

/* What is placed at once needs no room; a held SEND does. */
static void test_room(void **state)
{
    struct pair *pair = open_shared(2 * MTU);
    const bool at_once = params.memory == OCHE_SELECTIVE_MEMORY_AS_IT_COMES;
    const struct oche_packet write = write_packet(pair, 9, 0, 100, 0);
    const struct oche_packet send = send_packet(pair, OCHE_RC_SEND_ONLY_AT, 8, 0, 9, 0);

    (void)state;
    post(pair, 1, 1000, 10);
    pair_inject(pair, 0, &write);
    assert_int_equal(stats(pair)->placed_packets, at_once);
    assert_int_equal(pair->side[1].wishes, !at_once);
    pair_inject(pair, 0, &send);
    assert_int_equal(stats(pair)->placed_packets, at_once);
    assert_int_equal(pair->side[1].wishes, 1);
    pair_close(pair);
}

static void test_nowhere_to_hold_it(void **state)
{
    struct pair *pair = open_shared(0);
    const struct oche_packet packet = send_packet(pair, OCHE_RC_SEND_ONLY_AT, 1, 0, 9, 0);

    (void)state;
    post(pair, 1, 0, 10);
    pair_inject(pair, 0, &packet);
    assert_int_equal(stats(pair)->out_of_order_packets, 1);
    assert_int_equal(stats(pair)->placed_packets, 0);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),          cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_between_writes),     cmocka_unit_test(test_room),
        cmocka_unit_test(test_nowhere_to_hold_it),
    };
    int failed = cmocka_run_group_tests_name("in order", tests, NULL, NULL);

    params.memory = OCHE_SELECTIVE_MEMORY_AS_IT_COMES;
    return failed + cmocka_run_group_tests_name("as it comes", tests, NULL, NULL);
}
