/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Property: for any packet, encoding then decoding gives the same struct and the same frame facts.
 * For every opcode, IPv4 and IPv6, with and without Ethernet. The transport functions give the same
 * bytes as the whole-frame ones.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/crc.h"
#include "tests/support/sample.h"
#include "tests/support/test.h"

#define SEEDS   40
#define PAYLOAD 1024
#define ROOM    2048

static void check_equal(const struct oche_packet *a, const struct oche_packet *b)
{
    struct oche_packet left = *a, right = *b;

    assert_int_equal(left.payload_bytes, right.payload_bytes);
    if (left.payload_bytes > 0)
        assert_memory_equal(left.payload, right.payload, left.payload_bytes);
    left.payload = right.payload = NULL;
    if ((left.ext & OCHE_EXT_LIST) != 0) {
        const struct oche_group list = oche_group_get(&left);

        assert_memory_equal(list.members, right.members, 2 * (size_t)list.count);
        left.members = right.members = NULL;
    }
    left.frame_bytes = right.frame_bytes = 0; /* decode's own; checked apart */
    assert_memory_equal(&left, &right, sizeof left);
}

static void check_facts(const struct oche_frame *a, const struct oche_frame *b)
{
    assert_int_equal(a->ethernet, b->ethernet);
    assert_int_equal(a->ipv6, b->ipv6);
    assert_memory_equal(a->dst_mac, b->dst_mac, 6);
    assert_memory_equal(a->src_mac, b->src_mac, 6);
    assert_memory_equal(a->src_ip, b->src_ip, 16);
    assert_memory_equal(a->dst_ip, b->dst_ip, 16);
    assert_int_equal(a->dscp, b->dscp);
    assert_int_equal(a->ttl, b->ttl);
    assert_int_equal(a->ip_flags, b->ip_flags);
    assert_int_equal(a->ip_id, b->ip_id);
    assert_int_equal(a->flow_label, b->flow_label);
    assert_int_equal(a->udp_checksum, b->udp_checksum);
    assert_int_equal(a->bth_reserved5, b->bth_reserved5);
    assert_int_equal(a->deth_reserved, b->deth_reserved);
    assert_memory_equal(a->pad, b->pad, 3);
    assert_memory_equal(&a->telemetry, &b->telemetry, sizeof(a->telemetry));
}

static void check_one(struct oche_random *random, uint8_t opcode, bool ethernet, bool ipv6)
{
    uint8_t payload[PAYLOAD], bytes[ROOM], again[ROOM], *exact;
    struct oche_packet packet = sample_packet(random, opcode, payload, PAYLOAD), back;
    struct oche_frame frame = sample_frame(random, ethernet, ipv6, &packet), facts;
    oche_crc32 *write = sample_bits(random, 1) != 0 ? crc_zlib : crc_isal;
    oche_crc32 *read = write == crc_zlib ? crc_isal : crc_zlib;
    const size_t count = oche_encode_frame(&packet, &frame, write, bytes, sizeof bytes);
    const uint32_t trailer = oche_packet_trailer_bytes(&packet);
    const uint32_t more = trailer + oche_list_bytes(&packet);
    const size_t transport = oche_transport_bytes(opcode, packet.payload_bytes) + more;
    const size_t before = count - transport;
    struct oche_pseudo pseudo;

    assert_int_equal(before, (ethernet ? 14 : 0) + (ipv6 ? 40 : 20) + 8);
    exact = malloc(count);
    assert_non_null(exact);
    memcpy(exact, bytes, count);
    assert_int_equal(ethernet ? oche_decode_ethernet(exact, count, read, &back, &facts)
                              : oche_decode_ip(exact, count, read, &back, &facts),
                     OCHE_WIRE_OK);
    check_equal(&packet, &back);
    assert_int_equal(back.frame_bytes,
                     oche_frame_bytes_with(opcode, packet.payload_bytes, more, ipv6));
    assert_int_equal(facts.frame_bytes, count);
    assert_int_equal(oche_encode_frame(&back, &facts, read, again, sizeof again), count);
    assert_memory_equal(again, exact, count);
    check_facts(&facts, &frame);

    /* As in a device: without frame facts, so reserved bits and pad are zeros. */
    frame.bth_reserved5 = frame.deth_reserved = 0;
    memset(frame.pad, 0, sizeof frame.pad);
    memset(&frame.telemetry, 0, sizeof frame.telemetry);
    assert_int_equal(oche_encode_frame(&packet, &frame, write, bytes, sizeof bytes), count);
    oche_pseudo_from_frame(&pseudo, &frame, packet.udp_source_port, 0);
    assert_int_equal(oche_encode_transport(&packet, &pseudo, read, again, sizeof again), transport);
    assert_memory_equal(again, bytes + before, transport);
    assert_true(oche_icrc_check(read, &pseudo, again, transport - trailer));
    assert_int_equal(oche_decode_transport(again, transport, &back, NULL), OCHE_WIRE_OK);
    back.ecn = packet.ecn;
    back.udp_source_port = packet.udp_source_port;
    check_equal(&packet, &back);
    free(exact);
}

static void round_trips(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct oche_random random = oche_random_stream(seed, "wire property", 0);

        for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++)
            for (unsigned how = 0; how < 4 && oche_opcode((uint8_t)opcode)->name != NULL; how++)
                check_one(&random, (uint8_t)opcode, (how & 1) != 0, (how & 2) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trips)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
