/* SPDX-License-Identifier: Apache-2.0 */
/* Segments as bytes: encoding and decoding, the fields, and bytes that are not ours. */
#include <string.h>

#include "core/wire/bytes.h"
#include "sim/endpoint/tcp_dctcp/tcp.h"
#include "sim/network/address.h"
#include "tests/support/test.h"

static uint8_t payload[1460];

static struct oche_packet data(uint32_t connection)
{
    return (struct oche_packet){.kind = OCHE_PACKET_TCP,
                                .src = 3,
                                .dst = 4,
                                .dest_qpn = OCHE_FIRST_QPN + connection,
                                .tcp.sequence = 0xfffffffe,
                                .tcp.acknowledgement = 1,
                                .tcp.window = 65535,
                                .tcp.flags = OCHE_TCP_ACK | OCHE_TCP_PSH,
                                .ecn = OCHE_ECN_CE,
                                .payload_bytes = sizeof(payload),
                                .frame_bytes = 1518,
                                .ext = OCHE_EXT_PAYLOAD,
                                .payload = payload};
}

static struct oche_packet syn(uint32_t connection)
{
    struct oche_packet packet = data(connection);

    packet.tcp.flags = OCHE_TCP_SYN | OCHE_TCP_ECE | OCHE_TCP_CWR;
    packet.payload_bytes = 0;
    packet.frame_bytes = 66;
    packet.ecn = OCHE_ECN_NOT_ECT;
    packet.ext = OCHE_EXT_SCHEME;
    memcpy(packet.tcp_options, "\2\4\5\264\3\3\6\1", 8);
    return packet;
}

static struct oche_packet bare_ack(uint32_t connection)
{
    struct oche_packet packet = data(connection);

    packet.src = 4;
    packet.dst = 3;
    packet.tcp.flags = OCHE_TCP_ACK | OCHE_TCP_ECE;
    packet.payload_bytes = 0;
    packet.frame_bytes = 64;
    packet.traffic_class = OCHE_CONTROL_CLASS;
    packet.ext = 0;
    return packet;
}

static void round_trip(const struct oche_packet *packet, bool ipv6)
{
    uint8_t bytes[2000], into[2000] = {0};
    struct oche_frame frame;
    struct oche_packet back = {.payload = into};

    oche_address_frame(packet, ipv6, &frame);
    size_t count = oche_tcp_encode(packet, &frame, bytes, sizeof(bytes));
    assert_true(count > 0);
    assert_true(oche_tcp_decode(bytes, count, &back, &frame));
    oche_address_packet(&frame, &back);
    assert_int_equal(back.kind, OCHE_PACKET_TCP);
    assert_int_equal(back.src, packet->src);
    assert_int_equal(back.dst, packet->dst);
    assert_int_equal(back.dest_qpn, packet->dest_qpn);
    assert_int_equal(back.tcp.sequence, packet->tcp.sequence);
    assert_int_equal(back.tcp.acknowledgement, packet->tcp.acknowledgement);
    assert_int_equal(back.tcp.window, packet->tcp.window);
    assert_int_equal(back.tcp.flags, packet->tcp.flags);
    assert_int_equal(back.ecn, packet->ecn);
    assert_int_equal(back.traffic_class, packet->traffic_class);
    assert_int_equal(back.payload_bytes, packet->payload_bytes);
    assert_int_equal(back.ext, packet->ext);
    if (packet->frame_bytes > OCHE_MIN_FRAME_BYTES)
        assert_int_equal(back.frame_bytes, packet->frame_bytes + (ipv6 ? 20 : 0));
    assert_memory_equal(into, payload, packet->payload_bytes);
    if (packet->ext & OCHE_EXT_SCHEME)
        assert_memory_equal(back.tcp_options, packet->tcp_options, OCHE_TCP_OPTION_BYTES);
}

static void test_round_trip(void **state)
{
    static const uint32_t connections[] = {0, 1, 32767, 32768, 100000, (1 << 24) - 65};

    (void)state;
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i * 7 + (i >> 8));
    for (size_t i = 0; i < OCHE_COUNT_OF(connections); i++) {
        for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
            struct oche_packet packets[] = {data(connections[i]), syn(connections[i]),
                                            bare_ack(connections[i])};
            for (unsigned k = 0; k < 3; k++)
                round_trip(&packets[k], ipv6);
            packets[0].payload_bytes = 1; /* odd */
            packets[0].frame_bytes = OCHE_MIN_FRAME_BYTES;
            round_trip(&packets[0], ipv6);
        }
    }
}

/* The header by hand (RFC 9293 sec 3.1), and the checksums as any receiver computes them. */
static void test_bytes(void **state)
{
    struct oche_packet packet = data(5);
    struct oche_frame frame;
    uint8_t bytes[2000];
    uint32_t sum = 0;

    (void)state;
    packet.payload_bytes = 3;
    oche_address_frame(&packet, false, &frame);
    size_t count = oche_tcp_encode(&packet, &frame, bytes, sizeof(bytes));
    assert_int_equal(count, 14 + 20 + 20 + 3);
    const uint8_t *ip = bytes + 14, *tcp = ip + 20;
    assert_int_equal(oche_get16(bytes + 12), 0x0800);
    assert_int_equal(ip[0], 0x45);
    assert_int_equal(ip[1] & 3, OCHE_ECN_CE);
    assert_int_equal(oche_get16(ip + 2), 43);
    assert_int_equal(ip[9], 6);
    assert_int_equal(oche_get16(tcp), 32768 + 5);
    assert_int_equal(oche_get16(tcp + 2), 5001);
    assert_int_equal(oche_get32(tcp + 4), 0xfffffffe);
    assert_int_equal(oche_get32(tcp + 8), 1);
    assert_int_equal(tcp[12], 0x50);
    assert_int_equal(tcp[13], 0x18);
    assert_int_equal(oche_get16(tcp + 14), 65535);
    for (unsigned i = 0; i < 20; i += 2)
        sum += oche_get16(ip + i);
    assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
    sum = 6 + 23;
    for (unsigned i = 12; i < 42; i += 2)
        sum += oche_get16(ip + i);
    sum += (uint32_t)ip[42] << 8;
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    assert_int_equal(sum, 0xffff);
}

/*
 * A frame that is cut, or has one changed byte: rejected, or another valid segment. No read goes
 * beyond it.
 */
static void test_hostile(void **state)
{
    struct oche_packet packets[] = {data(5), syn(5)};
    uint8_t bytes[2000], into[2000];
    struct oche_frame frame;

    (void)state;
    packets[0].payload_bytes = 9;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        for (unsigned k = 0; k < 2; k++) {
            oche_address_frame(&packets[k], ipv6, &frame);
            size_t count = oche_tcp_encode(&packets[k], &frame, bytes, sizeof(bytes));
            assert_int_equal(oche_tcp_encode(&packets[k], &frame, into, count - 1), 0);
            for (size_t cut = 0; cut < count; cut++) {
                struct oche_packet back = {.payload = into};
                uint8_t *exact = test_malloc(cut + 1);
                memcpy(exact, bytes, cut);
                assert_false(oche_tcp_decode(exact, cut, &back, &frame));
                test_free(exact);
            }
            for (size_t at = 12; at < count; at++) {
                for (unsigned flip = 1; flip < 256; flip <<= 1) {
                    struct oche_packet back = {.payload = into};
                    bytes[at] = (uint8_t)(bytes[at] ^ flip);
                    /* The flow label, traffic class and hop limit of IPv6 have no checksum. */
                    if (oche_tcp_decode(bytes, count, &back, &frame))
                        assert_true(ipv6 && (at < 14 + 4 || at == 14 + 7));
                    bytes[at] = (uint8_t)(bytes[at] ^ flip);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
