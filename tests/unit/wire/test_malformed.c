/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Malformed packets by cause. Each case takes a good packet, makes one error, and expects one
 * result. Buffers have exactly the packet's size, so a sanitizer detects any read beyond.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/extension.h"
#include "tests/support/crc.h"
#include "tests/support/sample.h"
#include "tests/support/test.h"

#define IP  14
#define UDP (IP + 20)
#define BTH (UDP + 8)

struct work {
    uint8_t bytes[256];
    size_t count;
};

static struct work good(uint8_t opcode, uint16_t payload_bytes, bool ipv6)
{
    struct work work;
    struct oche_packet packet = {
        .opcode = opcode, .payload_bytes = payload_bytes, .udp_source_port = 0xc123, .psn = 77};
    struct oche_frame frame = {.ethernet = true, .ipv6 = ipv6, .ttl = 64, .ip_flags = OCHE_IP_DF};

    work.count = oche_encode_frame(&packet, &frame, crc_zlib, work.bytes, sizeof work.bytes);
    assert_true(work.count > 0);
    return work;
}

/* Recomputes the IPv4 header checksum, so the error behind it is the cause. */
static void seal(struct work *work)
{
    uint32_t sum = 0;

    oche_put16(work->bytes + IP + 10, 0);
    for (unsigned i = 0; i < 20; i += 2)
        sum += oche_get16(work->bytes + IP + i);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    oche_put16(work->bytes + IP + 10, (uint16_t)~sum);
}

/* Sets IPv4 and UDP lengths for `transport_bytes` and cuts or extends the frame to fit. */
static void resize(struct work *work, size_t transport_bytes)
{
    oche_put16(work->bytes + IP + 2, (uint16_t)(28 + transport_bytes));
    oche_put16(work->bytes + UDP + 4, (uint16_t)(8 + transport_bytes));
    seal(work);
    if (BTH + transport_bytes > work->count)
        memset(work->bytes + work->count, 0, BTH + transport_bytes - work->count);
    work->count = BTH + transport_bytes;
}

static enum oche_wire_error decode(const struct work *work)
{
    uint8_t *exact = malloc(work->count + (work->count == 0));
    struct oche_packet packet;
    struct oche_frame frame;
    enum oche_wire_error error;

    assert_non_null(exact);
    memcpy(exact, work->bytes, work->count);
    error = oche_decode_ethernet(exact, work->count, crc_isal, &packet, &frame);
    free(exact);
    return error;
}

#define EXPECT(work, error)                                                                        \
    assert_string_equal(oche_wire_error_text(decode(&(work))),                                     \
                        oche_wire_error_text(OCHE_WIRE_##error))

static void not_roce(void **state)
{
    struct work work = good(OCHE_RC_ACK, 0, false);

    (void)state;
    EXPECT(work, OK);
    oche_put16(work.bytes + 12, 0x0806); /* ARP */
    EXPECT(work, NOT_IP);
    work = good(OCHE_RC_ACK, 0, false);
    work.bytes[IP + 9] = 6; /* TCP: other errors have no effect */
    EXPECT(work, NOT_UDP);
    work = good(OCHE_RC_ACK, 0, true);
    work.bytes[IP + 6] = 58;
    EXPECT(work, NOT_UDP);
    work = good(OCHE_RC_ACK, 0, false);
    work.bytes[UDP + 3]++;
    EXPECT(work, NOT_ROCE);
    work.bytes[IP + 10]++; /* nor a checksum */
    EXPECT(work, NOT_ROCE);
    work = good(OCHE_RC_ACK, 0, true);
    work.bytes[IP + 40 + 2]++;
    EXPECT(work, NOT_ROCE);
    work = good(OCHE_RC_ACK, 0, false);
    oche_put16(work.bytes + IP + 6, 185); /* a later fragment has no port */
    seal(&work);
    EXPECT(work, NOT_ROCE);
    assert_true(oche_wire_is_foreign(OCHE_WIRE_NOT_IP));
    assert_true(oche_wire_is_foreign(OCHE_WIRE_NOT_UDP));
    assert_true(oche_wire_is_foreign(OCHE_WIRE_NOT_ROCE));
    assert_false(oche_wire_is_foreign(OCHE_WIRE_OK));
    assert_false(oche_wire_is_foreign(OCHE_WIRE_TRUNCATED));
}

static void ip_header(void **state)
{
    struct work work = good(OCHE_RC_ACK, 0, false);
    struct work with_options = work;

    (void)state;
    work.bytes[IP] = 0x55;
    EXPECT(work, IP_VERSION);
    work.bytes[IP] = 0x65;
    EXPECT(work, IP_VERSION);
    work = good(OCHE_RC_ACK, 0, true);
    work.bytes[IP] = 0x45;
    EXPECT(work, IP_VERSION);

    with_options.bytes[IP] = 0x46;
    memmove(with_options.bytes + UDP + 4, with_options.bytes + UDP, with_options.count - UDP);
    with_options.count += 4;
    EXPECT(with_options, IP_OPTIONS);

    work = good(OCHE_RC_ACK, 0, false);
    work.bytes[IP + 11] ^= 1;
    EXPECT(work, IP_CHECKSUM);
    work = good(OCHE_RC_ACK, 0, false);
    work.bytes[IP + 6] |= 0x20;
    seal(&work);
    EXPECT(work, FRAGMENT);
}

static void lengths(void **state)
{
    struct work work = good(OCHE_RC_ACK, 0, false);

    (void)state;
    work.bytes[IP + 3]--; /* IP shorter than UDP */
    seal(&work);
    EXPECT(work, IP_LENGTH);
    work = good(OCHE_RC_ACK, 0, false);
    work.bytes[UDP + 5]--; /* UDP shorter than IP */
    EXPECT(work, IP_LENGTH);
    work = good(OCHE_RC_ACK, 0, true);
    work.bytes[IP + 5]++;
    EXPECT(work, IP_LENGTH);
    work = good(OCHE_RC_ACK, 0, true);
    oche_put16(work.bytes + IP + 4, 0); /* a jumbogram's, or nobody's */
    EXPECT(work, IP_LENGTH);
    work = good(OCHE_RC_ACK, 0, false);
    oche_put16(work.bytes + UDP + 4, 7);
    EXPECT(work, UDP_LENGTH);
    work = good(OCHE_RC_SEND_ONLY, 8, false);
    resize(&work, 22);
    EXPECT(work, ALIGNMENT);
    work = good(OCHE_RC_ACK, 0, false);
    resize(&work, 12); /* BTH without ICRC */
    EXPECT(work, TRUNCATED);
    resize(&work, 0);
    EXPECT(work, TRUNCATED);
}

/* Every prefix of a good frame is an error, and no read goes beyond it. */
static void prefixes(void **state)
{
    (void)state;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct work work = good(OCHE_RC_WRITE_ONLY_IMM, 13, ipv6 != 0);

        EXPECT(work, OK);
        while (work.count-- > 0)
            EXPECT(work, TRUNCATED);
    }
}

/* A frame longer than its IP packet is valid: Ethernet pads to 60 bytes. */
static void trailer(void **state)
{
    struct work work = good(OCHE_RC_SEND_ONLY, 0, false);
    struct oche_packet packet;
    struct oche_frame frame;

    (void)state;
    assert_int_equal(work.count, 58);
    work.bytes[58] = work.bytes[59] = 0xaa;
    assert_int_equal(oche_decode_ethernet(work.bytes, 60, crc_zlib, &packet, &frame), OCHE_WIRE_OK);
    assert_int_equal(frame.frame_bytes, 58);
    assert_int_equal(packet.payload_bytes, 0);
    assert_int_equal(packet.frame_bytes, 64);
}

/* A list of senders: too long, cut off, with nonzero bytes in its pad. */
static void lists(void **state)
{
    struct oche_packet packet = {
        .opcode = OCHE_RC_SEND_ONLY_GROUP, .payload_bytes = 8, .udp_source_port = 0xc123};
    struct oche_frame frame = {.ethernet = true, .ttl = 64, .ip_flags = OCHE_IP_DF};
    const uint8_t senders[] = {0, 1, 0, 2, 1, 0};
    struct oche_group group = {.id = 5, .count = 3, .members = senders};
    struct work work, none = good(OCHE_RC_SEND_ONLY_GROUP, 8, false);

    (void)state;
    EXPECT(none, OK); /* an empty list is well formed */
    oche_group_put(&packet, &group, 1);
    work.count = oche_encode_frame(&packet, &frame, crc_zlib, work.bytes, sizeof work.bytes);
    assert_int_equal(work.count, none.count + 8);
    EXPECT(work, OK);
    work.bytes[BTH + 12 + 8 + 7] = 1; /* the pad */
    EXPECT(work, LIST);
    work.bytes[BTH + 12 + 8 + 7] = 0;
    work.bytes[BTH + 12 + 5] = 9; /* more than there are, payload and ICRC included */
    EXPECT(work, LIST);
    work.bytes[BTH + 12 + 4] = 0xff;
    EXPECT(work, LIST);
    oche_put16(work.bytes + BTH + 12 + 4, OCHE_GROUP_MOST + 1);
    EXPECT(work, LIST);

    group.count = OCHE_GROUP_MOST + 1;
    oche_group_put(&packet, &group, 1);
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, work.bytes, sizeof work.bytes),
                     0);
    packet.opcode = OCHE_RC_SEND_ONLY; /* which has none */
    group.count = 3;
    oche_group_put(&packet, &group, 1);
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_zlib, work.bytes, sizeof work.bytes),
                     0);
}

static void transport(void **state)
{
    struct work work = good(OCHE_RC_ACK, 0, false);

    (void)state;
    for (uint8_t tver = 1; tver < 16; tver++) {
        work.bytes[BTH + 1] = tver;
        EXPECT(work, TVER);
    }
    for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++) {
        work = good(OCHE_RC_ACK, 0, false);
        work.bytes[BTH] = (uint8_t)opcode;
        if (oche_opcode((uint8_t)opcode)->name == NULL)
            EXPECT(work, OPCODE);
        else
            assert_int_not_equal(decode(&work), OCHE_WIRE_OPCODE);
    }
}

/* For every opcode: too short for its headers; a pad larger than the payload. */
static void each_opcode(void **state)
{
    (void)state;
    for (unsigned op = 0; op < OCHE_OPCODES; op++) {
        const struct oche_opcode_row *row = oche_opcode((uint8_t)op);
        const uint16_t payload = (uint16_t)((row->flags & OCHE_OP_PAYLOAD) != 0 ? 4 : 0);
        struct work work;

        if (row->name == NULL)
            continue;
        for (unsigned short_by = 4; short_by <= row->header_bytes; short_by += 4) {
            work = good((uint8_t)op, payload, false);
            resize(&work, (size_t)OCHE_BTH_BYTES + row->header_bytes - short_by + OCHE_ICRC_BYTES);
            EXPECT(work, HEADER);
        }
        work = good((uint8_t)op, payload, false);
        resize(&work, (size_t)OCHE_BTH_BYTES + row->header_bytes + OCHE_ICRC_BYTES);
        work.bytes[BTH + 1] |= 0x10;
        EXPECT(work, PAD);
        work.bytes[BTH + 1] &= 0xcf;
        if ((row->flags & OCHE_OP_PAYLOAD) != 0 && (row->flags & OCHE_OP_LAST) == 0)
            EXPECT(work, PAYLOAD);
        if ((row->flags & OCHE_OP_PAYLOAD) == 0) {
            resize(&work, (size_t)OCHE_BTH_BYTES + row->header_bytes + 4 + OCHE_ICRC_BYTES);
            EXPECT(work, PAYLOAD);
        }
        work = good((uint8_t)op, payload, true);
        work.bytes[work.count - 4] ^= 0x80;
        EXPECT(work, ICRC);
    }
}

static void icrc_optional(void **state)
{
    struct work work = good(OCHE_RC_ACK, 0, false);
    struct oche_packet packet;
    struct oche_frame frame;

    (void)state;
    work.bytes[work.count - 1] ^= 1;
    assert_int_equal(oche_decode_ethernet(work.bytes, work.count, NULL, &packet, &frame),
                     OCHE_WIRE_OK);
    assert_int_equal(oche_decode_ethernet(work.bytes, work.count, crc_zlib, &packet, &frame),
                     OCHE_WIRE_ICRC);
    assert_int_equal(packet.psn, 77); /* filled all the same */
}

/* From the IP header on: another version is another protocol. */
static void raw_ip(void **state)
{
    struct work work = good(OCHE_RC_ACK, 0, false);
    struct oche_packet packet;
    struct oche_frame frame;

    (void)state;
    assert_int_equal(oche_decode_ip(work.bytes + IP, work.count - IP, crc_zlib, &packet, &frame),
                     OCHE_WIRE_OK);
    assert_false(frame.ethernet);
    assert_int_equal(frame.frame_bytes, work.count - IP);
    work.bytes[IP] = 0x75;
    assert_int_equal(oche_decode_ip(work.bytes + IP, work.count - IP, crc_zlib, &packet, &frame),
                     OCHE_WIRE_NOT_IP);
    assert_int_equal(oche_decode_ip(work.bytes, 0, crc_zlib, &packet, &frame), OCHE_WIRE_TRUNCATED);
}

static void texts(void **state)
{
    (void)state;
    for (int error = 0; error < OCHE_WIRE_ERROR_COUNT; error++)
        assert_true(strlen(oche_wire_error_text((enum oche_wire_error)error)) > 1);
    assert_string_equal(oche_wire_error_text(OCHE_WIRE_ERROR_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_roce),  cmocka_unit_test(ip_header),   cmocka_unit_test(lengths),
        cmocka_unit_test(prefixes),  cmocka_unit_test(trailer),     cmocka_unit_test(lists),
        cmocka_unit_test(transport), cmocka_unit_test(each_opcode), cmocka_unit_test(icrc_optional),
        cmocka_unit_test(raw_ip),    cmocka_unit_test(texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
