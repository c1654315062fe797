/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IP identification found from the ICRC: of every IPv4 packet that Linux kernels sent (which
 * count it up), of sizes and values of all kinds; none found where a packet is corrupted; and which
 * ones are expected.
 */
#include <string.h>

#include "core/random.h"
#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "device/path/ip_id.h"
#include "tests/support/capture.h"
#include "tests/support/crc.h"
#include "tests/support/sample.h"
#include "tests/support/test.h"

static const char *golden;

/* The bytes that the ICRC covers behind the identification, of `transport` bytes. */
static uint32_t bytes_after(uint32_t transport)
{
    return OCHE_IPV4_BYTES - 6 + OCHE_UDP_BYTES + transport - OCHE_ICRC_BYTES;
}

/* XOR of the ICRC computed with `guess` and the packet's own. */
static uint32_t difference(const uint8_t *ip, uint32_t transport, uint16_t guess)
{
    const uint8_t *bth = ip + OCHE_IPV4_BYTES + OCHE_UDP_BYTES;
    const struct oche_span body = {.bytes = bth, .count = transport - OCHE_ICRC_BYTES};
    struct oche_pseudo pseudo;

    oche_pseudo_from_bytes(&pseudo, ip);
    oche_pseudo_set_id(&pseudo, guess);
    return oche_icrc(crc_zlib, &pseudo, &body, 1) ^ oche_icrc_get(bth + body.count);
}

struct kernels {
    struct oche_ip_ids ids[2]; /* of the two directions */
    unsigned packets, surprises;
};

static void one_of_a_kernel(void *context, unsigned number, uint8_t *bytes, size_t count)
{
    struct kernels *kernels = context;
    const uint8_t *ip = bytes + OCHE_ETH_BYTES;
    struct oche_packet packet;
    struct oche_frame frame;
    struct oche_ip_ids *ids;
    uint32_t transport;
    uint16_t change;

    (void)number;
    if (oche_decode_ethernet(bytes, count, crc_zlib, &packet, &frame) != OCHE_WIRE_OK || frame.ipv6)
        return;
    kernels->packets++;
    transport = oche_get16(ip + 2) - OCHE_IPV4_BYTES - OCHE_UDP_BYTES;
    for (uint32_t guess = 0; guess < 0x10000; guess += 0x5555) {
        assert_true(oche_ip_id_solve(difference(ip, transport, (uint16_t)guess),
                                     bytes_after(transport), &change));
        assert_int_equal(guess ^ change, frame.ip_id);
    }
    bytes[count - 5] ^= 0x10; /* payload or pad or header: not the identification */
    assert_false(oche_ip_id_solve(difference(ip, transport, 0), bytes_after(transport), &change) &&
                 change == frame.ip_id);
    ids = &kernels->ids[memcmp(frame.src_ip, frame.dst_ip, 16) < 0];
    kernels->surprises += oche_ip_id_judge(ids, frame.ip_id, OCHE_SEC) != OCHE_IP_ID_EXPECTED;
}

static void kernels_packets(void **state)
{
    unsigned packets = 0;

    (void)state;
    for (size_t i = 0; i < golden_file_count; i++) {
        struct kernels kernels = {0};

        capture_each(golden, golden_files[i].name, one_of_a_kernel, &kernels);
        assert_in_range(kernels.surprises, 1, 2); /* the first of each direction */
        packets += kernels.packets;
    }
    assert_true(packets > 700);
}

static void any_size_any_id(void **state)
{
    struct oche_random random = oche_random_stream(1, "ip ids", 0);
    static uint8_t bytes[5000];

    (void)state;
    sample_bytes(&random, bytes, sizeof(bytes));
    bytes[0] = 0x45;
    for (uint32_t transport = 16; transport < 4200; transport += 4) {
        const uint16_t id = (uint16_t)sample_bits(&random, 16);
        uint32_t wrong;
        uint16_t change = 0;

        /* The ICRC that the packet would have with the identification `id`. */
        oche_icrc_put(bytes + OCHE_IPV4_BYTES + OCHE_UDP_BYTES + transport - OCHE_ICRC_BYTES, 0);
        wrong = difference(bytes, transport, 0) ^ difference(bytes, transport, id);
        assert_true(oche_ip_id_solve(wrong, bytes_after(transport), &change));
        assert_int_equal(change, id);
    }
    assert_true(oche_ip_id_solve(0, 1000, &(uint16_t){0})); /* nothing to explain: no change */
}

/* Random differences pass once in 2^16: what is left of the check. */
static void strength(void **state)
{
    struct oche_random random = oche_random_stream(2, "ip ids", 0);
    unsigned solved = 0;
    uint16_t change;

    (void)state;
    for (unsigned i = 0; i < (1u << 20); i++)
        solved += oche_ip_id_solve((uint32_t)oche_random_u64(&random), 64, &change);
    assert_in_range(solved, 2, 50); /* 16 are to be expected */
}

static bool is_expected(const struct oche_ip_ids *ids, uint16_t id, oche_time now)
{
    struct oche_ip_ids copy = *ids;

    return oche_ip_id_judge(&copy, id, now) == OCHE_IP_ID_EXPECTED;
}

static void expected(void **state)
{
    struct oche_ip_ids ids = {0};
    const oche_time now = OCHE_SEC;

    (void)state;
    assert_true(is_expected(&ids, 0, now));
    assert_true(is_expected(&ids, 127, now));
    assert_false(is_expected(&ids, 128, now));
    oche_ip_id_judge(&ids, 0xfff0, now);
    assert_true(is_expected(&ids, 0xfff1, now));
    assert_true(is_expected(&ids, 0, now));
    assert_true(is_expected(&ids, 0xfff0 - 64, now)); /* reordered */
    assert_false(is_expected(&ids, 0xfff0 - 65, now));
    oche_ip_id_judge(&ids, 0xfff0 - 20, now); /* which does not turn the count back */
    assert_true(is_expected(&ids, 0xfff0 - 64, now));
    assert_false(is_expected(&ids, 0xfff0 - 65, now));
    oche_ip_id_judge(&ids, 1000, now);
    assert_true(is_expected(&ids, 1064, now)); /* lost in between */
    assert_false(is_expected(&ids, 1065, now));
    assert_true(is_expected(&ids, 0xfff1, now));               /* the other count */
    assert_true(is_expected(&ids, 1564, now + 500 * OCHE_MS)); /* silence: ticks */
    assert_false(is_expected(&ids, 1565, now + 500 * OCHE_MS));
    assert_true(is_expected(&ids, 900, now + 70 * OCHE_SEC)); /* anything */
    for (uint16_t id = 40000; id < 40010; id++)               /* and the count goes on from there */
        assert_int_equal(oche_ip_id_judge(&ids, id, now + 80 * OCHE_SEC), OCHE_IP_ID_EXPECTED);
}

/* An unexpected packet of a predictable peer is dropped, and those that follow it are taken. */
static void proof(void **state)
{
    struct oche_ip_ids ids = {0};
    unsigned needed = 64;

    (void)state;
    for (unsigned round = 0; round < 4; round++, needed *= 2) {
        uint16_t id = (uint16_t)(5000 + 20000 * round);
        if (round == 0)
            assert_int_equal(oche_ip_id_judge(&ids, id, 1), OCHE_IP_ID_SURPRISE);
        else /* the second of two in a row */
            assert_int_equal(oche_ip_id_judge(&ids, id, 1), OCHE_IP_ID_SURPRISE);
        for (unsigned i = 0; i < needed - 1; i++)
            assert_int_equal(oche_ip_id_judge(&ids, ++id, 1), OCHE_IP_ID_EXPECTED);
        struct oche_ip_ids before = ids; /* one is missing */
        assert_int_equal(oche_ip_id_judge(&before, id + 500, 1), OCHE_IP_ID_SURPRISE);
        assert_int_equal(oche_ip_id_judge(&ids, ++id, 1), OCHE_IP_ID_EXPECTED);
        for (uint16_t i = 0; i < 3; i++) { /* damage, of a packet each */
            assert_int_equal(oche_ip_id_judge(&ids, (uint16_t)(id + 500 + 500 * i), 1),
                             OCHE_IP_ID_DOUBTFUL);
            assert_int_equal(oche_ip_id_judge(&ids, ++id, 1), OCHE_IP_ID_EXPECTED);
        }
        id = (uint16_t)(id + 10000);
        assert_int_equal(oche_ip_id_judge(&ids, id, 1), OCHE_IP_ID_DOUBTFUL);
        if (round % 2 == 0) { /* a jump: it goes on from there */
            assert_int_equal(oche_ip_id_judge(&ids, ++id, 1), OCHE_IP_ID_EXPECTED);
            assert_int_equal(oche_ip_id_judge(&ids, (uint16_t)(id + 500), 1), OCHE_IP_ID_SURPRISE);
        }
    }
}

/* Senders of all kinds: how many of their packets are doubted, and of damaged ones believed. */
static void senders(void **state)
{
    enum { ZERO, SEGMENTED, COUNTING, JUMPING, FOUR_COUNTS, MANY_COUNTS, BY_CHANCE, KINDS };
    static const struct {
        unsigned most_doubted, most_believed; /* of a million, of ten thousand */
    } limits[KINDS] = {
        [ZERO] = {0, 120},       [SEGMENTED] = {0, 120},        [COUNTING] = {0, 120},
        [JUMPING] = {20, 10000}, [FOUR_COUNTS] = {1000, 10000}, [MANY_COUNTS] = {8, 10000},
        [BY_CHANCE] = {8, 10000}};
    struct oche_random random = oche_random_stream(3, "ip ids", 0);

    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct oche_ip_ids ids = {0};
        uint16_t counts[32], id = 0;
        unsigned doubted = 0, believed = 0;
        for (unsigned i = 0; i < 32; i++)
            counts[i] = (uint16_t)oche_random_u64(&random);
        for (unsigned i = 0; i < 1000000; i++) {
            const oche_time now = (i + 1) * OCHE_US;
            switch (kind) {
            case ZERO:
                break;
            case SEGMENTED:
                id = (uint16_t)(i % 64);
                break;
            case COUNTING: /* some are lost */
                counts[0] = (uint16_t)(counts[0] + 1 + oche_random_below(&random, 3));
                id = counts[0];
                break;
            case JUMPING:
                counts[0] = (uint16_t)(counts[0] + (i % 1000 == 550 ? 12345 : 1));
                id = counts[0];
                break;
            case FOUR_COUNTS:
                id = ++counts[oche_random_below(&random, 4)];
                break;
            case MANY_COUNTS:
                id = ++counts[oche_random_below(&random, 32)];
                break;
            default:
                id = (uint16_t)oche_random_u64(&random);
            }
            doubted += oche_ip_id_judge(&ids, id, now) == OCHE_IP_ID_DOUBTFUL;
            if (i % 100 == 99) /* and a damaged one */
                believed += oche_ip_id_judge(&ids, (uint16_t)oche_random_u64(&random), now) !=
                            OCHE_IP_ID_DOUBTFUL;
        }
        if (doubted > limits[kind].most_doubted || believed > limits[kind].most_believed)
            fail_msg("%u: %u doubted, %u believed", kind, doubted, believed);
        print_message("kind %u: %u doubted, %u believed\n", kind, doubted, believed);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_packets), cmocka_unit_test(any_size_any_id),
        cmocka_unit_test(strength),        cmocka_unit_test(expected),
        cmocka_unit_test(proof),           cmocka_unit_test(senders),
    };

    if (argc != 2)
        return 2;
    golden = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
