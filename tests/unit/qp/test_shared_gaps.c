/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs that will use a shared receive and arrive behind a gap. Before their turn it is unknown
 * which receive they will use. They are kept where their payload can be held until then; otherwise
 * they are sent again.
 */
#include "tests/support/test.h"

#include "core/recovery/selective_repeat.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define MTU     256
#define FROM    (64 * 1024)  /* in side 0's memory: where payload is taken from */
#define TARGET  (128 * 1024) /* in side 1's: the payload's destination */
#define PACKETS 4

static const struct oche_selective_repeat_params params = {
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
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_nowhere_to_hold_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
