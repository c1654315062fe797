/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ExpressPass's packets as bytes: encoding and decoding, the fields, and bytes that are not ours.
 */
#include <string.h>

#include "core/wire/bytes.h"
#include "sim/endpoint/expresspass/xpass.h"
#include "sim/network/address.h"
#include "tests/support/test.h"

static uint8_t payload[1460];

static struct oche_packet make(enum oche_xpass_kind kind, uint16_t bytes, bool ipv6)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_XPASS,
                                 .src = 3,
                                 .dst = 4,
                                 .dest_qpn = OCHE_FIRST_QPN + 70000,
                                 .xpass.credit = 0xfedcba98,
                                 .xpass.sent_ns = 0x01020304,
                                 .xpass_offset = UINT64_C(0x1122334455667788),
                                 .xpass.type = (uint8_t)kind,
                                 .ecn = OCHE_ECN_CE,
                                 .payload_bytes = bytes,
                                 .traffic_class = kind == OCHE_XPASS_CREDIT,
                                 .ext = OCHE_EXT_SCHEME,
                                 .payload = payload};

    packet.frame_bytes = (uint16_t)oche_xpass_frame_bytes(bytes, ipv6);
    if (bytes > 0)
        packet.ext |= OCHE_EXT_PAYLOAD;
    return packet;
}

static void round_trip(const struct oche_packet *packet, bool ipv6)
{
    uint8_t bytes[2000], into[2000] = {0};
    struct oche_frame frame;
    struct oche_packet back = {.payload = into};

    oche_address_frame(packet, ipv6, &frame);
    size_t count = oche_xpass_encode(packet, &frame, bytes, sizeof(bytes));
    assert_int_equal(count, packet->frame_bytes - OCHE_FCS_BYTES);
    assert_true(oche_xpass_decode(bytes, count, &back, &frame));
    oche_address_packet(&frame, &back);
    assert_int_equal(back.kind, OCHE_PACKET_XPASS);
    assert_int_equal(back.src, packet->src);
    assert_int_equal(back.dst, packet->dst);
    assert_int_equal(back.dest_qpn, packet->dest_qpn);
    assert_int_equal(back.xpass.credit, packet->xpass.credit);
    assert_int_equal(back.xpass.sent_ns, packet->xpass.sent_ns);
    assert_true(back.xpass_offset == packet->xpass_offset);
    assert_int_equal(back.xpass.type, packet->xpass.type);
    assert_int_equal(back.ecn, packet->ecn);
    assert_int_equal(back.traffic_class, packet->traffic_class);
    assert_int_equal(back.payload_bytes, packet->payload_bytes);
    assert_int_equal(back.frame_bytes, packet->frame_bytes);
    assert_int_equal(back.ext, packet->ext);
    assert_memory_equal(into, payload, packet->payload_bytes);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i * 7 + (i >> 8));
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++)
        for (unsigned kind = OCHE_XPASS_REQUEST; kind < OCHE_XPASS_KINDS; kind++) {
            bool data = kind == OCHE_XPASS_DATA;
            struct oche_packet packet = make((enum oche_xpass_kind)kind, data ? 1460 : 0, ipv6);
            round_trip(&packet, ipv6);
            packet = make((enum oche_xpass_kind)kind, data ? 1 : 0, ipv6);
            if (kind == OCHE_XPASS_CREDIT) /* its size is jittered */
                packet.frame_bytes = (uint16_t)(packet.frame_bytes + 8);
            round_trip(&packet, ipv6);
        }
}

/* XP's 84 and 1538 bytes on the line, as counted here. */
static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(oche_xpass_frame_bytes(0, false) + OCHE_GAP_BYTES, 84);
    assert_int_equal(oche_xpass_frame_bytes(1460, false) + OCHE_GAP_BYTES, 1538);
}

static void test_bytes(void **state)
{
    struct oche_packet packet = make(OCHE_XPASS_CREDIT, 0, false);
    struct oche_frame frame;
    uint8_t bytes[2000];

    (void)state;
    oche_address_frame(&packet, false, &frame);
    assert_int_equal(oche_xpass_encode(&packet, &frame, bytes, sizeof(bytes)), 60);
    const uint8_t *ip = bytes + 14, *header = ip + 20;
    assert_int_equal(oche_get16(bytes + 12), 0x0800);
    assert_int_equal(oche_get16(ip + 2), 40);
    assert_int_equal(ip[9], 253);
    assert_int_equal(oche_get32(header), 2 << 24 | 70016);
    assert_int_equal(oche_get32(header + 4), 0xfedcba98);
    assert_int_equal(oche_get32(header + 8), 0x11223344);
    assert_int_equal(oche_get32(header + 12), 0x55667788);
    assert_int_equal(oche_get32(header + 16), 0x01020304);
    for (unsigned i = 54; i < 60; i++)
        assert_int_equal(bytes[i], 0);
}

static void test_hostile(void **state)
{
    uint8_t bytes[2000], into[2000];
    struct oche_frame frame;

    (void)state;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct oche_packet packet = make(OCHE_XPASS_DATA, 100, ipv6);
        struct oche_packet back = {.payload = into};

        oche_address_frame(&packet, ipv6, &frame);
        size_t count = oche_xpass_encode(&packet, &frame, bytes, sizeof(bytes));
        size_t header = 14U + (ipv6 ? 40 : 20);
        assert_int_equal(oche_xpass_encode(&packet, &frame, into, count - 1), 0);
        for (size_t cut = 0; cut < count; cut++) {
            uint8_t *exact = test_malloc(cut + 1);
            memcpy(exact, bytes, cut);
            assert_false(oche_xpass_decode(exact, cut, &back, &frame));
            test_free(exact);
        }
        for (unsigned kind = 0; kind < 256; kind++) { /* with a payload only one kind is possible */
            bytes[header] = (uint8_t)kind;
            assert_int_equal(oche_xpass_decode(bytes, count, &back, &frame),
                             kind == OCHE_XPASS_DATA);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
