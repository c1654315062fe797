/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of in-network telemetry: their bits, units and bounds; differences that wrap; telemetry
 * as bytes, behind the ICRC of a data packet and in an ACK.
 */
#include "core/wire/telemetry.h"

#include <string.h>

#include "core/wire/codec.h"
#include "tests/support/crc.h"
#include "tests/support/test.h"

static struct oche_hop pass(struct oche_hop hop)
{
    struct oche_telemetry telemetry = {.hops = 0};

    assert_true(oche_telemetry_add(&telemetry, &hop));
    return oche_telemetry_hop(&telemetry, 0);
}

static void test_bits(void **state)
{
    /* 100 Gbit/s is 250 * 2^2 units of 100 Mbit/s; units of bytes are four times 128 and 80 */
    const struct oche_hop hop = {.rate_bps = 100 * OCHE_GBPS,
                                 .sent_bytes = 512 * 3 + 511,
                                 .queue_bytes = 320 * 5 + 319,
                                 .time_ns = 7};
    struct oche_telemetry telemetry = {.hops = 0};
    const uint64_t want = UINT64_C(2) << 61 | UINT64_C(250) << 53 | UINT64_C(7) << 31 | 3 << 14 | 5;
    struct oche_hop back;

    (void)state;
    assert_true(oche_telemetry_add(&telemetry, &hop));
    assert_int_equal(telemetry.hop[0][0], want >> 32);
    assert_int_equal(telemetry.hop[0][1], (uint32_t)want);
    back = oche_telemetry_hop(&telemetry, 0);
    assert_int_equal(back.rate_bps, 100 * OCHE_GBPS);
    assert_int_equal(back.sent_bytes, 512 * 3);
    assert_int_equal(back.queue_bytes, 320 * 5);
    assert_int_equal(back.time_ns, 7);
    assert_int_equal(back.unit_bytes, 512);
}

static void test_rates(void **state)
{
    static const uint64_t exact[] = {1, 10, 25, 40, 50, 56, 100, 200, 400, 800, 1600, 3200};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(exact); i++)
        assert_int_equal(pass((struct oche_hop){.rate_bps = exact[i] * OCHE_GBPS}).rate_bps,
                         exact[i] * OCHE_GBPS);
    /* 51.1 Gbit/s is 511 units: rounded down to 510 */
    assert_int_equal(pass((struct oche_hop){.rate_bps = 51100 * OCHE_MBPS}).rate_bps,
                     51 * OCHE_GBPS);
    assert_int_equal(pass((struct oche_hop){.rate_bps = 10 * OCHE_GBPS}).unit_bytes, 128);
    assert_int_equal(pass((struct oche_hop){.rate_bps = UINT64_MAX}).rate_bps,
                     255 * 128 * 100 * OCHE_MBPS);
}

static void test_bounds(void **state)
{
    const struct oche_hop hop = {.rate_bps = 25 * OCHE_GBPS,
                                 .sent_bytes = 128 * ((1 << 17) + 2),
                                 .queue_bytes = UINT64_C(1) << 40,
                                 .time_ns = (1 << 22) + 9};
    const struct oche_hop back = pass(hop);
    struct oche_telemetry telemetry = {.hops = 0};

    (void)state;
    assert_int_equal(back.sent_bytes, 256);                   /* modulo */
    assert_int_equal(back.queue_bytes, ((1 << 14) - 1) * 80); /* the largest */
    assert_int_equal(back.time_ns, 9);
    for (unsigned i = 0; i < OCHE_TELEMETRY_HOPS; i++)
        assert_true(oche_telemetry_add(&telemetry, &hop));
    assert_false(oche_telemetry_add(&telemetry, &hop));
    assert_int_equal(oche_telemetry_count(&telemetry), OCHE_TELEMETRY_HOPS);
    telemetry.hops = OCHE_TELEMETRY_HOPS + 1; /* of a broken peer */
    assert_int_equal(oche_telemetry_count(&telemetry), 0);
}

static void test_differences(void **state)
{
    const struct oche_hop before = pass((struct oche_hop){
        .rate_bps = 25 * OCHE_GBPS, .sent_bytes = 128 * ((1 << 17) - 1), .time_ns = (1 << 22) - 3});
    const struct oche_hop now = pass((struct oche_hop){
        .rate_bps = 25 * OCHE_GBPS, .sent_bytes = 128 * ((1 << 17) + 4), .time_ns = (1 << 22) + 7});

    (void)state;
    assert_int_equal(oche_hop_time_since(&now, &before), 10);
    assert_int_equal(oche_hop_sent_since(&now, &before), 128 * 5);
}

/* Behind the ICRC, which does not cover it; the decoder puts it beside the packet. */
static void test_trailer(void **state)
{
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY,
                                 .payload_bytes = 4,
                                 .bth = OCHE_BTH_TELEMETRY,
                                 .ext = OCHE_EXT_TRAILER,
                                 .bth_reserved = OCHE_BTH_EXTENSIONS | OCHE_BTH_TRAILER};
    struct oche_frame frame = {.ethernet = true, .ttl = 64}, facts = {.ttl = 0};
    const struct oche_hop hop = {.rate_bps = 100 * OCHE_GBPS, .time_ns = 1};
    struct oche_packet back;
    uint8_t bytes[200];
    size_t count;

    (void)state;
    assert_true(oche_has_telemetry(&packet));
    oche_telemetry_add(&frame.telemetry, &hop);
    count = oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof(bytes));
    assert_int_equal(count, 42 + 12 + 4 + 4 + 44);
    bytes[count - 44] ^= 1; /* a switch */
    assert_int_equal(oche_decode_ethernet(bytes, count, crc_zlib, &back, &facts), OCHE_WIRE_OK);
    assert_int_equal(back.payload_bytes, 4);
    assert_int_equal(back.frame_bytes, count + OCHE_FCS_BYTES);
    assert_int_equal(facts.telemetry.hops, 1);
    assert_int_equal(facts.telemetry.hop[0][0], frame.telemetry.hop[0][0] ^ UINT32_C(1) << 24);
    /* there may be no memory behind `back` */
    assert_false(oche_has_telemetry(&back));
    assert_int_equal(oche_decode_transport(bytes + 42, count - 42, &back, NULL), OCHE_WIRE_OK);
    /* without the bit it is RCP's, of 12 bytes */
    packet.bth = 0;
    assert_false(oche_has_telemetry(&packet));
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof(bytes)),
                     count - 32);
}

static void test_ack(void **state)
{
    struct oche_packet packet = {
        .opcode = OCHE_RC_ACK_INT, .aeth = 0x1f000007, .ext = OCHE_EXT_TRAILER};
    const struct oche_hop hop = {.rate_bps = 100 * OCHE_GBPS, .time_ns = 77};
    struct oche_packet back;
    uint8_t bytes[12 + 4 + 44 + 4] = {0};

    (void)state;
    oche_telemetry_add(&packet.telemetry, &hop);
    oche_telemetry_add(&packet.telemetry, &hop);
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 60);
    assert_int_equal(oche_decode_transport(bytes, sizeof(bytes), &back, NULL), OCHE_WIRE_OK);
    assert_true(back.ext & OCHE_EXT_TRAILER);
    assert_false(oche_has_telemetry(&back)); /* it is in the packet, not behind it */
    assert_memory_equal(&back.telemetry, &packet.telemetry, sizeof(packet.telemetry));
    assert_int_equal(oche_telemetry_hop(&back.telemetry, 1).time_ns, 77);
    assert_int_equal(oche_frame_bytes(OCHE_RC_ACK_INT, 0, false), 62 + 48);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_rates),
        cmocka_unit_test(test_bounds),  cmocka_unit_test(test_differences),
        cmocka_unit_test(test_trailer), cmocka_unit_test(test_ack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
