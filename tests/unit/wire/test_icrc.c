/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ICRC: the bits that it covers (rocev2.md#icrc), one by one; pieces of any division; the seed
 * against eight real bytes of ones.
 */
#include <string.h>

#include "tests/support/crc.h"
#include "tests/support/sample.h"
#include "tests/support/test.h"

/* Which bits of an IPv4 + UDP + BTH head the ICRC must ignore: offset, mask. */
static const struct {
    unsigned offset;
    uint8_t mask;
} ignored4[] = {{1, 0xff}, {8, 0xff}, {10, 0xff}, {11, 0xff}, {26, 0xff}, {27, 0xff}, {32, 0xff}};

static const struct {
    unsigned offset;
    uint8_t mask;
} ignored6[] = {{0, 0x0f}, {1, 0xff},  {2, 0xff},  {3, 0xff},
                {7, 0xff}, {46, 0xff}, {47, 0xff}, {52, 0xff}};

static uint32_t icrc_of(const uint8_t *bytes, size_t count, bool ipv6)
{
    const size_t head = ipv6 ? 48 : 28;
    struct oche_pseudo pseudo;
    struct oche_span all = {bytes + head, count - head - OCHE_ICRC_BYTES};

    oche_pseudo_from_bytes(&pseudo, bytes);
    return oche_icrc(crc_zlib, &pseudo, &all, 1);
}

static bool is_ignored(unsigned offset, uint8_t bit, bool ipv6)
{
    if (ipv6) {
        for (size_t i = 0; i < sizeof ignored6 / sizeof ignored6[0]; i++)
            if (ignored6[i].offset == offset)
                return (ignored6[i].mask & bit) != 0;
        return false;
    }
    for (size_t i = 0; i < sizeof ignored4 / sizeof ignored4[0]; i++)
        if (ignored4[i].offset == offset)
            return (ignored4[i].mask & bit) != 0;
    return false;
}

static size_t one_packet(uint8_t *bytes, size_t room, bool ipv6)
{
    struct oche_random random = oche_random_stream(7, "icrc", ipv6);
    uint8_t payload[16];
    struct oche_packet packet = sample_packet(&random, OCHE_UD_SEND_ONLY_IMM, payload, 16);
    struct oche_frame frame;

    frame = sample_frame(&random, false, ipv6, &packet);
    return oche_encode_frame(&packet, &frame, crc_zlib, bytes, room);
}

static void every_bit(void **state)
{
    (void)state;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        uint8_t bytes[256];
        const size_t count = one_packet(bytes, sizeof bytes, ipv6 != 0);
        const uint32_t right = icrc_of(bytes, count, ipv6 != 0);

        assert_int_equal(right, oche_icrc_get(bytes + count - 4));
        for (unsigned at = 0; at < count - 4; at++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                const uint8_t mask = (uint8_t)(1 << bit);

                if (at == 0 && mask >= 0x10)
                    continue; /* the version: another kind of packet */
                bytes[at] ^= mask;
                if (is_ignored(at, mask, ipv6 != 0))
                    assert_int_equal(icrc_of(bytes, count, ipv6 != 0), right);
                else
                    assert_int_not_equal(icrc_of(bytes, count, ipv6 != 0), right);
                bytes[at] ^= mask;
            }
        }
    }
}

/* The same sum from its definition: eight bytes of ones, then the masked packet. */
static void eight_ones(void **state)
{
    uint8_t bytes[256], plain[264];
    const size_t count = one_packet(bytes, sizeof bytes, false);

    (void)state;
    memset(plain, 0xff, 8);
    memcpy(plain + 8, bytes, count);
    for (size_t i = 0; i < sizeof ignored4 / sizeof ignored4[0]; i++)
        plain[8 + ignored4[i].offset] |= ignored4[i].mask;
    assert_int_equal(crc_zlib(0, plain, 8 + count - 4), oche_icrc_get(bytes + count - 4));
    assert_int_equal(crc_isal(0, plain, 8 + count - 4), oche_icrc_get(bytes + count - 4));
}

static void pieces(void **state)
{
    struct oche_random random = oche_random_stream(3, "icrc pieces", 0);
    uint8_t bytes[1200];
    struct oche_pseudo pseudo;

    (void)state;
    sample_bytes(&random, bytes, sizeof bytes);
    bytes[0] = 0x45;
    oche_pseudo_from_bytes(&pseudo, bytes);
    for (unsigned i = 0; i < 2000; i++) {
        const size_t count = 12 + oche_random_below(&random, 1000);
        const size_t first = 12 + oche_random_below(&random, count - 11);
        const size_t second = oche_random_below(&random, count - first + 1);
        struct oche_span whole = {bytes + 28, count};
        struct oche_span parts[] = {{bytes + 28, first},
                                    {bytes + 28 + first, second},
                                    {NULL, 0},
                                    {bytes + 28 + first + second, count - first - second}};

        assert_int_equal(oche_icrc(crc_isal, &pseudo, &whole, 1),
                         oche_icrc(crc_zlib, &pseudo, parts, 4));
    }
}

/* A pseudo header that is kept for a peer and patched equals a new one. */
static void patches(void **state)
{
    (void)state;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct oche_frame frame = {.ipv6 = ipv6 != 0, .ttl = 3, .dscp = 5, .ip_flags = OCHE_IP_DF};
        struct oche_pseudo kept, fresh;

        oche_pseudo_from_frame(&kept, &frame, 0xc000, 16);
        oche_pseudo_set_bytes(&kept, 1040);
        oche_pseudo_set_id(&kept, 0x1234);
        oche_pseudo_set_source_port(&kept, 0xd00d);
        frame.ip_id = 0x1234;
        oche_pseudo_from_frame(&fresh, &frame, 0xd00d, 1040);
        assert_int_equal(kept.count, ipv6 != 0 ? 48 : 28);
        assert_int_equal(fresh.count, kept.count);
        assert_memory_equal(kept.bytes, fresh.bytes, kept.count);
    }
}

static void check(void **state)
{
    uint8_t bytes[256];
    const size_t count = one_packet(bytes, sizeof bytes, true);
    struct oche_pseudo pseudo;

    (void)state;
    oche_pseudo_from_bytes(&pseudo, bytes);
    assert_true(oche_icrc_check(crc_zlib, &pseudo, bytes + 48, count - 48));
    assert_true(oche_icrc_check(crc_isal, &pseudo, bytes + 48, count - 48));
    assert_false(oche_icrc_check(crc_isal, &pseudo, bytes + 48, count - 52));
    for (size_t shorter = 0; shorter < 16; shorter++)
        assert_false(oche_icrc_check(crc_isal, &pseudo, bytes + 48, shorter));
    bytes[count - 1] ^= 1;
    assert_false(oche_icrc_check(crc_zlib, &pseudo, bytes + 48, count - 48));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit), cmocka_unit_test(eight_ones), cmocka_unit_test(pieces),
        cmocka_unit_test(patches),   cmocka_unit_test(check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
