/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of each field on the wire, written by hand from rocev2.md#bth and #headers, and the
 * encoder's edge cases.
 */
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/cnp.h"
#include "core/wire/extension.h"
#include "tests/support/crc.h"
#include "tests/support/sample.h"
#include "tests/support/test.h"

#define B(...) ((const uint8_t[]){__VA_ARGS__})

static const struct oche_packet full = {
    .dest_qpn = 0x0a0b0c,
    .psn = 0x010203,
    .pkey = 0x8765,
    .bth = OCHE_BTH_SOLICITED | OCHE_BTH_ACKREQ,
    .aeth = 0x62abcdef,
    .ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC | OCHE_EXT_IMM | OCHE_EXT_DETH,
    .reth.va = 0x1122334455667788,
    .reth.rkey = 0xa1a2a3a4,
    .reth.dma_length = 0x0badcafe,
    .atomic.swap_add = 0x2122232425262728,
    .atomic.compare = 0x3132333435363738,
    .imm = 0xdeadbeef,
    .deth.qkey = 0x80010000,
    .deth.src_qpn = 0xc1c2c3,
};

#define RETH       0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xa1, 0xa2, 0xa3, 0xa4
#define DMA_LENGTH 0x0b, 0xad, 0xca, 0xfe
#define SWAP_ADD   0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28
#define COMPARE    0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38
#define AETH       0x62, 0xab, 0xcd, 0xef
#define IMM        0xde, 0xad, 0xbe, 0xef
#define DETH       0x80, 0x01, 0x00, 0x00, 0x00, 0xc1, 0xc2, 0xc3

static void check_headers(uint8_t opcode, const uint8_t *extension, size_t count)
{
    const uint8_t bth[12] = {opcode, 0x80, 0x87, 0x65, 0, 0x0a, 0x0b, 0x0c, 0x80, 1, 2, 3};
    struct oche_packet packet = full;
    uint8_t bytes[OCHE_MAX_HEADER_BYTES];

    packet.opcode = opcode;
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 12 + count);
    assert_memory_equal(bytes, bth, 12);
    assert_memory_equal(bytes + 12, extension, count);
}

static void header_layouts(void **state)
{
    (void)state;
    check_headers(0x00, B(0), 0);
    check_headers(0x05, B(IMM), 4);
    check_headers(0x06, B(RETH, DMA_LENGTH), 16);
    check_headers(0x0b, B(RETH, DMA_LENGTH, IMM), 20);
    check_headers(0x0c, B(RETH, DMA_LENGTH), 16);
    check_headers(0x0d, B(AETH), 4);
    check_headers(0x11, B(AETH), 4);
    check_headers(0x12, B(AETH, SWAP_ADD), 12);
    check_headers(0x13, B(RETH, SWAP_ADD, COMPARE), 28);
    check_headers(0x14, B(RETH, SWAP_ADD, COMPARE), 28);
    check_headers(0x17, B(IMM), 4);
    check_headers(0x2b, B(RETH, DMA_LENGTH, IMM), 20);
    check_headers(0x64, B(DETH), 8);
    check_headers(0x65, B(DETH, IMM), 12);
}

static void bth_bits(void **state)
{
    static const struct {
        uint8_t bth, byte, value;
    } bits[] = {
        {OCHE_BTH_SOLICITED, 1, 0x80}, {OCHE_BTH_MIGREQ, 1, 0x40}, {OCHE_BTH_FECN, 4, 0x80},
        {OCHE_BTH_BECN, 4, 0x40},      {OCHE_BTH_ACKREQ, 8, 0x80}, {OCHE_BTH_FOLLOWS, 8, 0x40},
    };
    struct oche_frame frame = {.bth_reserved5 = 0xd5};
    uint8_t bytes[OCHE_MAX_HEADER_BYTES], want[OCHE_BTH_BYTES] = {OCHE_UC_SEND_ONLY};
    struct oche_packet packet = {.opcode = OCHE_UC_SEND_ONLY};

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        packet.bth = bits[i].bth;
        want[bits[i].byte] = bits[i].value;
        oche_encode_headers(&packet, NULL, bytes);
        assert_memory_equal(bytes, want, OCHE_BTH_BYTES);
        want[bits[i].byte] = 0;
    }
    packet.bth = 0;
    packet.bth_reserved = OCHE_BTH_RELEASE;
    want[8] = 0x20;
    oche_encode_headers(&packet, NULL, bytes);
    assert_memory_equal(bytes, want, OCHE_BTH_BYTES);
    packet.bth = OCHE_BTH_PAD_MASK; /* not used here; the length decides */
    packet.bth_reserved = 0xff;
    packet.payload_bytes = 5;
    want[1] = 0x30;
    want[4] = 0x3f;
    want[8] = 0x35;
    oche_encode_headers(&packet, &frame, bytes);
    assert_memory_equal(bytes, want, OCHE_BTH_BYTES);
}

/* An extension line that `ext` does not name was never written, so it must not reach the wire. */
static void nothing_without_ext(void **state)
{
    const uint8_t zeros[OCHE_MAX_HEADER_BYTES] = {0};
    uint8_t bytes[OCHE_MAX_HEADER_BYTES];
    struct oche_packet packet = full;

    (void)state;
    packet.ext = 0;
    packet.aeth = 0; /* on the hot line: always valid */
    for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++) {
        const struct oche_opcode_row *row = oche_opcode((uint8_t)opcode);

        packet.opcode = (uint8_t)opcode;
        if (row->name == NULL)
            continue;
        oche_encode_headers(&packet, NULL, bytes);
        assert_memory_equal(bytes + OCHE_BTH_BYTES, zeros, row->header_bytes);
    }
}

static void cnp_layout(void **state)
{
    struct oche_packet cnp = full, back;
    struct oche_frame frame = {.ttl = 64, .ip_flags = OCHE_IP_DF};
    uint8_t bytes[128], again[128];
    size_t count;

    (void)state;
    oche_cnp_fill(&cnp, 0xff000011, 0x1234, false);
    count = oche_encode_headers(&cnp, NULL, bytes);
    assert_int_equal(count, 28);
    assert_memory_equal(bytes, B(0x81, 0, 0x12, 0x34, 0x40, 0, 0, 0x11, 0, 0, 0, 0), 12);
    for (size_t i = 12; i < count; i++)
        assert_int_equal(bytes[i], 0);
    assert_int_equal(cnp.frame_bytes, 78);
    oche_cnp_fill(&cnp, 0x11, 0x1234, true);
    assert_int_equal(cnp.frame_bytes, 98);

    /*
     * A peer that writes into the reserved bytes: they are kept, so encoding returns the same
     * bytes.
     */
    cnp.ext = OCHE_EXT_CNP;
    memset(cnp.cnp_reserved + 3, 0x5a, 9);
    count = oche_encode_frame(&cnp, &frame, crc_zlib, bytes, sizeof bytes);
    assert_int_equal(count, 60);
    assert_int_equal(oche_decode_ip(bytes, count, crc_zlib, &back, &frame), OCHE_WIRE_OK);
    assert_memory_equal(back.cnp_reserved, cnp.cnp_reserved, OCHE_CNP_RESERVED_BYTES);
    assert_int_equal(back.ext, OCHE_EXT_CNP);
    assert_int_equal(oche_encode_frame(&back, &frame, crc_zlib, again, sizeof again), count);
    assert_memory_equal(again, bytes, count);
}

/* Extended RC: the place of each field, and decoding returns the encoded values. */
static void extensions(void **state)
{
    const struct oche_place place = {.receive = 0x01020304, .offset = 0x0a0b0c0d};
    const struct oche_sack sack = {
        .first = 0xfffffe, .count = 64, .bits = UINT64_C(0x8000000000000106)};
    struct oche_packet packet = full, back;
    uint8_t bytes[64];

    (void)state;
    packet.ext = OCHE_EXT_IMM;
    packet.opcode = OCHE_RC_SEND_LAST_IMM_AT;
    oche_place_put(&packet, &place);
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 24);
    assert_memory_equal(bytes + 12, B(1, 2, 3, 4, 0x0a, 0x0b, 0x0c, 0x0d, IMM), 12);
    memset(bytes + 24, 0, 4);
    assert_int_equal(oche_decode_transport(bytes, 28, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(oche_place_get(&back).receive, place.receive);
    assert_int_equal(oche_place_get(&back).offset, place.offset);

    packet.ext = 0;
    packet.opcode = OCHE_RC_SACK;
    packet.aeth = 0x60000007;
    oche_sack_put(&packet, &sack);
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 28);
    assert_memory_equal(bytes + 12,
                        B(0x60, 0, 0, 7, 64, 0xff, 0xff, 0xfe, 0x80, 0, 0, 0, 0, 0, 1, 6), 16);
    memset(bytes + 28, 0, 4);
    assert_int_equal(oche_decode_transport(bytes, 32, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(oche_sack_get(&back).first, sack.first);
    assert_int_equal(oche_sack_get(&back).count, sack.count);
    assert_int_equal(oche_sack_get(&back).bits, sack.bits);
}

/* Dart's header, after an AETH and alone. */
static void share(void **state)
{
    const struct oche_share share = {.senders = 0x1234, .tenant = 0x56, .sequence = 0x78};
    struct oche_packet packet = {.opcode = OCHE_RC_ACK_SHARE, .aeth = 0x1f000007}, back;
    uint8_t bytes[32] = {0};

    (void)state;
    oche_share_put(&packet, &share);
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 20);
    assert_memory_equal(bytes + 12, B(0x1f, 0, 0, 7, 0x12, 0x34, 0x56, 0x78), 8);
    assert_int_equal(oche_decode_transport(bytes, 24, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(back.aeth, packet.aeth);
    assert_int_equal(oche_share_get(&back).senders, share.senders);
    assert_int_equal(oche_share_get(&back).tenant, share.tenant);
    assert_int_equal(oche_share_get(&back).sequence, share.sequence);

    packet.opcode = OCHE_SHARE;
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 16);
    assert_memory_equal(bytes + 12, B(0x12, 0x34, 0x56, 0x78), 4);
    assert_int_equal(oche_decode_transport(bytes, 20, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(oche_share_get(&back).senders, share.senders);
    assert_int_equal(oche_frame_bytes(OCHE_RC_ACK_SHARE, 0, false), 70);
}

/* RCP's echo, after an AETH and alone. */
static void rate_echo(void **state)
{
    const struct oche_rate_echo echo = {.rate_10kbps = 0x12345678, .stamp_ns = 0x9abcdef0};
    struct oche_packet packet = {.opcode = OCHE_RC_ACK_RATE, .aeth = 0x1f000007}, back;
    uint8_t bytes[32] = {0};

    (void)state;
    oche_rate_echo_put(&packet, &echo);
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 24);
    assert_memory_equal(bytes + 12,
                        B(0x1f, 0, 0, 7, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0), 12);
    assert_int_equal(oche_decode_transport(bytes, 28, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(oche_rate_echo_get(&back).rate_10kbps, echo.rate_10kbps);
    assert_int_equal(oche_rate_echo_get(&back).stamp_ns, echo.stamp_ns);

    packet.opcode = OCHE_RATE;
    assert_int_equal(oche_encode_headers(&packet, NULL, bytes), 20);
    assert_int_equal(oche_decode_transport(bytes, 24, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(oche_rate_echo_get(&back).stamp_ns, echo.stamp_ns);
}

/*
 * The trailer after the ICRC: a switch may rewrite it and the ICRC stays right. It exists if both
 * bits are set and the packet may carry payload. Otherwise the bytes belong to the payload.
 */
static void trailer(void **state)
{
    const struct oche_rate_trailer asked = {.rate_10kbps = 1000000, .rtt_ns = 21000, .stamp_ns = 7};
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY,
                                 .payload_bytes = 5,
                                 .bth = 3 << OCHE_BTH_PAD_SHIFT,
                                 .bth_reserved = OCHE_BTH_EXTENSIONS | OCHE_BTH_TRAILER | 2};
    struct oche_frame frame = {.ethernet = true, .ttl = 64, .ip_flags = OCHE_IP_DF}, facts;
    struct oche_packet back;
    uint8_t bytes[200];

    (void)state;
    oche_rate_trailer_put(&packet, &asked);
    size_t count = oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof(bytes));
    assert_int_equal(count, 42 + 12 + 8 + 4 + 12);
    assert_int_equal(oche_get16(bytes + 38), 8 + 12 + 8 + 4 + 12); /* UDP length */
    assert_memory_equal(bytes + count - 12, B(0x00, 0x0f, 0x42, 0x40, 0, 0, 0x52, 0x08, 0, 0, 0, 7),
                        12);
    oche_put32(bytes + count - 12, 500000); /* a switch */
    assert_int_equal(oche_decode_ethernet(bytes, count, crc_zlib, &back, &facts), OCHE_WIRE_OK);
    assert_int_equal(back.payload_bytes, 5);
    assert_int_equal(back.frame_bytes, count + OCHE_FCS_BYTES);
    assert_true(back.ext & OCHE_EXT_TRAILER);
    assert_int_equal(back.trailer.rate_10kbps, 500000);
    assert_int_equal(back.trailer.rtt_ns, 21000);
    assert_int_equal(back.trailer.stamp_ns, 7);
    bytes[count - 13] ^= 1; /* the ICRC */
    assert_int_equal(oche_decode_ethernet(bytes, count, crc_zlib, &back, &facts), OCHE_WIRE_ICRC);
    bytes[count - 13] ^= 1;
    assert_int_equal(oche_decode_transport(bytes + 42, count - 42, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(oche_decode_transport(bytes + 42, 24, &back, NULL), OCHE_WIRE_HEADER);
    assert_int_equal(oche_decode_transport(bytes + 42, 28, &back, NULL), OCHE_WIRE_PAD);

    bytes[42 + 4] = OCHE_BTH_TRAILER;
    assert_int_equal(oche_decode_transport(bytes + 42, count - 42, &back, NULL), OCHE_WIRE_OK);
    assert_int_equal(back.payload_bytes, 5 + 12 + 4 - 4);
    assert_false(back.ext & OCHE_EXT_TRAILER);
    /* Nobody filled it in: zeros. */
    packet.ext = 0;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof(bytes)), count);
    assert_memory_equal(bytes + count - 12, B(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 12);
    assert_int_equal(oche_trailer_bytes(OCHE_RC_ACK, packet.bth_reserved, false), 0);
    assert_int_equal(oche_trailer_bytes(OCHE_RC_FETCH_ADD, packet.bth_reserved, true), 0);
    assert_int_equal(oche_trailer_bytes(OCHE_RC_READ_RESPONSE_LAST, packet.bth_reserved, false),
                     12);
    assert_int_equal(oche_trailer_bytes(OCHE_UC_WRITE_MIDDLE, OCHE_BTH_EXTENSIONS, true), 0);
}

static void scheme_rows(void **state)
{
    const struct oche_opcode_row row = {
        .name = "SCHEME",
        .flags = OCHE_OP_ONLY,
        .service = OCHE_SERVICE_SCHEME,
        .headers = {OCHE_HEADER_SCHEME, OCHE_HEADER_IMM},
        .header_bytes = 12,
        .scheme_bytes = 8,
    };
    struct oche_packet packet = {
        .ext = OCHE_EXT_SCHEME | OCHE_EXT_IMM,
        .imm = 0xdeadbeef,
        .scheme_header = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
    };
    struct oche_packet back = {0};
    uint8_t bytes[OCHE_MAX_HEADER_BYTES];

    (void)state;
    assert_int_equal(oche_encode_extension(&row, &packet, bytes), 12);
    assert_memory_equal(bytes, B(1, 2, 3, 4, 5, 6, 7, 8, IMM), 12);
    assert_int_equal(oche_decode_extension(&row, bytes, &back), 12);
    assert_memory_equal(back.scheme_header, B(1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0), 12);
    assert_int_equal(back.ext, packet.ext);
    packet.ext = 0;
    oche_encode_extension(&row, &packet, bytes);
    assert_memory_equal(bytes, B(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 12);
}

static void ip_headers(void **state)
{
    struct oche_packet packet = {
        .opcode = OCHE_RC_SEND_ONLY, .ecn = OCHE_ECN_CE, .udp_source_port = 0xd123};
    struct oche_frame frame = {.ethernet = true,
                               .ipv6 = true,
                               .dst_mac = {1, 2, 3, 4, 5, 6},
                               .src_mac = {7, 8, 9, 10, 11, 12},
                               .dscp = 0x2d,
                               .ttl = 63,
                               .flow_label = 0xabcde,
                               .udp_checksum = 0x7788};
    uint8_t bytes[128];

    (void)state;
    for (uint8_t i = 0; i < 16; i++) {
        frame.src_ip[i] = (uint8_t)(0x10 + i);
        frame.dst_ip[i] = (uint8_t)(0x20 + i);
    }
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof bytes), 78);
    assert_memory_equal(bytes, B(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x86, 0xdd), 14);
    assert_memory_equal(bytes + 14, B(0x6b, 0x7a, 0xbc, 0xde, 0, 24, 17, 63), 8);
    assert_memory_equal(bytes + 22, frame.src_ip, 16);
    assert_memory_equal(bytes + 38, frame.dst_ip, 16);
    assert_memory_equal(bytes + 54, B(0xd1, 0x23, 0x12, 0xb7, 0, 24, 0x77, 0x88), 8);

    frame = (struct oche_frame){.dscp = 0x2d, .ttl = 63, .ip_id = 0x4321, .ip_flags = 0xff};
    oche_ip_map_ipv4(frame.src_ip, B(10, 1, 2, 3));
    oche_ip_map_ipv4(frame.dst_ip, B(10, 4, 5, 6));
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof bytes), 44);
    assert_memory_equal(bytes, B(0x45, 0xb7, 0, 44, 0x43, 0x21, 0xc0, 0, 63, 17, 0x5c, 0xdb), 12);
    assert_memory_equal(bytes + 12, B(10, 1, 2, 3, 10, 4, 5, 6), 8);
}

static void refusals(void **state)
{
    uint8_t *payload = (uint8_t[65536]){0};
    static uint8_t room[70000];
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY};
    struct oche_frame frame = {.ttl = 1};

    (void)state;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, 44), 44);
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, 43), 0);
    frame.ethernet = true;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, 57), 0);
    frame.ethernet = false;
    packet.opcode = OCHE_RC_SEND_FIRST; /* must have payload */
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, sizeof room), 0);
    packet.opcode = OCHE_RC_ACK; /* must have none */
    packet.payload_bytes = 4;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, sizeof room), 0);
    packet.opcode = 0x1f; /* unknown */
    packet.payload_bytes = 0;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, sizeof room), 0);
    packet.opcode = OCHE_RC_SEND_ONLY;
    packet.kind = OCHE_PACKET_PFC;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, sizeof room), 0);
    packet.kind = OCHE_PACKET_ROCE;

    /* The largest IP packet, and one that is too large. */
    packet.payload = payload;
    packet.ext = OCHE_EXT_PAYLOAD;
    packet.payload_bytes = 65535 - 20 - 8 - 12 - 4 - 3;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, sizeof room), 65532);
    packet.payload_bytes = 65492;
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, room, sizeof room), 0);
}

static void payload_of_nothing(void **state)
{
    const uint8_t zeros[104] = {0};
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY, .payload_bytes = 101};
    struct oche_frame frame = {.ttl = 1};
    uint8_t bytes[256];

    (void)state;
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, bytes, sizeof bytes), 148);
    assert_memory_equal(bytes + 40, zeros, 104);
}

/* rocev2.md#source-port. */
static void source_ports(void **state)
{
    (void)state;
    assert_int_equal(oche_udp_source_port(0x11, 0x12), 0xc132);
    assert_int_equal(oche_udp_source_port(0x12, 0x11), 0xc132);
    assert_int_equal(oche_udp_source_port(0x1234, 0x5678), 0xc01a);
    for (uint32_t i = 0; i < 1000; i++)
        assert_in_range(oche_udp_source_port(i * 16411 & 0xffffff, 0xffffff - i), 0xc000, 0xffff);
}

/* Against UDP checksums computed by hand: RFC 768 with a pseudo header. */
static void udp_checksums(void **state)
{
    uint8_t ipv4[32] = {0x45, 0, 0, 31, 0,    0,    0,    0,    64, 17, 0,    0,    10,  0,   0,  1,
                        10,   0, 0, 2,  0x12, 0x34, 0x12, 0xb7, 0,  11, 0xaa, 0xaa, 'a', 'b', 'c'};
    uint8_t ipv6[51] = {0x60, 0, 0, 0, 0, 11, 17, 64};
    uint32_t sum;

    (void)state;
    /* 0a00+0001+0a00+0002 + 0011+000b + 1234+12b7+000b + 6162+6300 */
    sum = 0x0a00 + 1 + 0x0a00 + 2 + 17 + 11 + 0x1234 + 0x12b7 + 11 + 0x6162 + 0x6300;
    assert_int_equal(oche_udp_checksum(ipv4), 0xffff - sum);

    ipv6[23] = 1;
    ipv6[39] = 2;
    memcpy(ipv6 + 40, ipv4 + 20, 11);
    sum = 1 + 2 + 17 + 11 + 0x1234 + 0x12b7 + 11 + 0x6162 + 0x6300;
    assert_int_equal(oche_udp_checksum(ipv6), 0xffff - sum);
    /* A sum of ffff is sent as ffff, because 0 means "none". */
    ipv6[48] = (uint8_t)((0xffff - sum + 0x6162) >> 8);
    ipv6[49] = (uint8_t)(0xffff - sum + 0x6162);
    assert_int_equal(oche_udp_checksum(ipv6), 0xffff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_layouts),
        cmocka_unit_test(bth_bits),
        cmocka_unit_test(nothing_without_ext),
        cmocka_unit_test(cnp_layout),
        cmocka_unit_test(extensions),
        cmocka_unit_test(scheme_rows),
        cmocka_unit_test(share),
        cmocka_unit_test(rate_echo),
        cmocka_unit_test(trailer),
        cmocka_unit_test(ip_headers),
        cmocka_unit_test(refusals),
        cmocka_unit_test(payload_of_nothing),
        cmocka_unit_test(source_ports),
        cmocka_unit_test(udp_checksums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
