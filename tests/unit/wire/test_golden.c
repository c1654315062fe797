/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden bytes: the vectors of rocev2.md#icrc-vectors, and every packet of captures made with
 * Linux's soft-RoCE. Decodes, verifies the ICRC with zlib and isa-l, encodes, compares. In captures
 * with a lost packet: the answers that were sent twice.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/cnp.h"
#include "core/wire/codec.h"
#include "tests/support/capture.h"
#include "tests/support/crc.h"
#include "tests/support/test.h"

static const char *directory;

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t count = strlen(hex) / 2;

    for (size_t i = 0; i < count; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return count;
}

#define VECTOR_CNP                                                                                 \
    "45c0003c00004000401125ef0a0000020a000001c00012b7002800008100ffff4000001100000000"             \
    "00000000000000000000000000000000"                                                             \
    "5b65ef9f"
#define VECTOR_SEND                                                                                \
    "45000034000040004011b965c0a80001c0a80002d12312b7002000000400ffff000000128000000168656c6c6f"   \
    "20776fb2bddcc1"
#define VECTOR_ACK                                                                                 \
    "45000030000040004011b969c0a80002c0a80001d12312b7001c00001100ffff00000013000000011f000001b8"   \
    "2a874a"

static struct oche_frame ipv4_frame(const char *src, const char *dst)
{
    struct oche_frame frame = {.ttl = 64, .ip_flags = OCHE_IP_DF};
    uint8_t address[4];

    unhex(src, address);
    oche_ip_map_ipv4(frame.src_ip, address);
    unhex(dst, address);
    oche_ip_map_ipv4(frame.dst_ip, address);
    return frame;
}

/* Encodes with both CRCs and compares. Then decodes, and compares the used fields. */
static void check_vector(const char *hex, const struct oche_packet *packet,
                         const struct oche_frame *frame)
{
    oche_crc32 *const crcs[] = {crc_zlib, crc_isal};
    uint8_t want[256], got[256];
    size_t count = unhex(hex, want);
    struct oche_packet back;
    struct oche_frame facts;

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(oche_encode_frame(packet, frame, crcs[i], got, sizeof got), count);
        assert_memory_equal(got, want, count);
        assert_int_equal(oche_decode_ip(want, count, crcs[i], &back, &facts), OCHE_WIRE_OK);
    }
    assert_int_equal(back.opcode, packet->opcode);
    assert_int_equal(back.psn, packet->psn);
    assert_int_equal(back.dest_qpn, packet->dest_qpn);
    assert_int_equal(back.aeth, packet->aeth);
    assert_int_equal(back.payload_bytes, packet->payload_bytes);
    assert_int_equal(back.frame_bytes, count + OCHE_ETH_BYTES + OCHE_FCS_BYTES);
    assert_int_equal(facts.frame_bytes, count);
    assert_memory_equal(facts.src_ip, frame->src_ip, 16);
    assert_memory_equal(facts.dst_ip, frame->dst_ip, 16);
    assert_int_equal(facts.dscp, frame->dscp);
}

static void vector_cnp(void **state)
{
    struct oche_packet cnp = {.udp_source_port = 0xc000};
    struct oche_frame frame = ipv4_frame("0a000002", "0a000001");

    (void)state;
    oche_cnp_fill(&cnp, 0x11, 0xffff, false);
    frame.dscp = 48;
    check_vector(VECTOR_CNP, &cnp, &frame);
    assert_int_equal(cnp.frame_bytes, 78);
}

static void vector_send(void **state)
{
    uint8_t hello[8] = {'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o'};
    struct oche_packet send = {
        .opcode = OCHE_RC_SEND_ONLY,
        .udp_source_port = 0xd123,
        .dest_qpn = 0x12,
        .psn = 1,
        .pkey = 0xffff,
        .bth = OCHE_BTH_ACKREQ,
        .payload = hello,
        .payload_bytes = sizeof hello,
        .ext = OCHE_EXT_PAYLOAD,
    };
    struct oche_frame frame = ipv4_frame("c0a80001", "c0a80002");

    (void)state;
    check_vector(VECTOR_SEND, &send, &frame);
}

static void vector_ack(void **state)
{
    struct oche_packet ack = {
        .opcode = OCHE_RC_ACK,
        .udp_source_port = 0xd123,
        .dest_qpn = 0x13,
        .psn = 1,
        .pkey = 0xffff,
        .aeth = 0x1f000001,
    };
    struct oche_frame frame = ipv4_frame("c0a80002", "c0a80001");

    (void)state;
    check_vector(VECTOR_ACK, &ack, &frame);
}

static void round_trip(void *context, unsigned number, uint8_t *bytes, size_t count)
{
    uint64_t *seen = context;
    struct oche_packet packet;
    struct oche_frame frame;
    uint8_t again[8192];
    enum oche_wire_error error;

    error = oche_decode_ethernet(bytes, count, crc_zlib, &packet, &frame);
    if (error != OCHE_WIRE_OK)
        fail_msg("packet %u: %s", number + 1, oche_wire_error_text(error));
    assert_int_equal(oche_decode_ethernet(bytes, count, crc_isal, &packet, &frame), OCHE_WIRE_OK);
    assert_int_equal(frame.frame_bytes, count);
    assert_int_equal(packet.frame_bytes, count + OCHE_FCS_BYTES);
    assert_int_equal(oche_encode_frame(&packet, &frame, crc_isal, again, sizeof again), count);
    assert_memory_equal(again, bytes, count);
    seen[packet.opcode]++;

    /* A change of any one bit that the ICRC covers must be noticed. */
    bytes[count - 5 - number % 8] ^= (uint8_t)(1 << number % 8);
    assert_int_equal(oche_decode_ethernet(bytes, count, crc_zlib, &packet, &frame), OCHE_WIRE_ICRC);
}

static void captures(void **state)
{
    static const uint8_t there[] = {
        OCHE_RC_SEND_FIRST,          OCHE_RC_SEND_MIDDLE,
        OCHE_RC_SEND_LAST,           OCHE_RC_SEND_ONLY,
        OCHE_RC_WRITE_FIRST,         OCHE_RC_WRITE_MIDDLE,
        OCHE_RC_WRITE_LAST,          OCHE_RC_READ_REQUEST,
        OCHE_RC_READ_RESPONSE_FIRST, OCHE_RC_READ_RESPONSE_MIDDLE,
        OCHE_RC_READ_RESPONSE_LAST,  OCHE_RC_ACK,
        OCHE_RC_ATOMIC_ACK,          OCHE_RC_COMPARE_SWAP,
        OCHE_RC_FETCH_ADD,           OCHE_UC_WRITE_FIRST,
        OCHE_UC_WRITE_MIDDLE,        OCHE_UC_WRITE_LAST,
        OCHE_UD_SEND_ONLY,
    };
    uint64_t seen[OCHE_OPCODES] = {0};

    (void)state;
    for (size_t i = 0; i < golden_file_count; i++)
        assert_int_equal(capture_each(directory, golden_files[i].name, round_trip, seen),
                         golden_files[i].packets);
    for (size_t i = 0; i < sizeof there; i++)
        assert_true(seen[there[i]] > 0);
}

/* The answers of one side to a READ or an atomic, by PSN. */
struct answers {
    struct {
        uint32_t psn, bytes;
        uint8_t payload[4096];
        uint64_t original;
        bool is_atomic;
    } first[64];
    unsigned count, again; /* those that came a second time */
    unsigned kinds[4];     /* of AETHs */
};

static void answered(void *context, unsigned number, uint8_t *bytes, size_t count)
{
    struct answers *answers = context;
    struct oche_packet packet;
    struct oche_frame frame;
    unsigned i = 0;

    assert_int_equal(oche_decode_ethernet(bytes, count, crc_zlib, &packet, &frame), OCHE_WIRE_OK);
    if (packet.opcode >= OCHE_RC_READ_RESPONSE_FIRST && packet.opcode <= OCHE_RC_ATOMIC_ACK &&
        packet.opcode != OCHE_RC_READ_RESPONSE_MIDDLE)
        answers->kinds[oche_aeth_kind((uint8_t)(packet.aeth >> 24))]++;
    if (packet.opcode < OCHE_RC_READ_RESPONSE_FIRST || packet.opcode > OCHE_RC_ATOMIC_ACK ||
        packet.opcode == OCHE_RC_ACK)
        return;
    while (i < answers->count && answers->first[i].psn != packet.psn)
        i++;
    assert_true(i < OCHE_COUNT_OF(answers->first));
    if (i == answers->count) {
        answers->count++;
        answers->first[i].psn = packet.psn;
        answers->first[i].bytes = packet.payload_bytes;
        answers->first[i].is_atomic = packet.opcode == OCHE_RC_ATOMIC_ACK;
        answers->first[i].original = packet.original;
        memcpy(answers->first[i].payload, packet.payload, packet.payload_bytes);
        return;
    }
    answers->again++;
    if (packet.payload_bytes != answers->first[i].bytes ||
        memcmp(packet.payload, answers->first[i].payload, packet.payload_bytes) != 0 ||
        (answers->first[i].is_atomic && packet.original != answers->first[i].original))
        fail_msg("packet %u: another answer to PSN %u", number + 1, packet.psn);
}

/*
 * The answer to a repeated READ or atomic equals the first answer, on either side. Both sides also
 * have NAKs and RNR NAKs.
 */
static void answers_again(void **state)
{
    static const struct {
        const char *name;
        unsigned again, rnr_naks, naks;
    } files[] = {
        {"oche-rxe-atomic-again.pcap", 2, 0, 0}, {"rxe-oche-atomic-again.pcap", 1, 0, 0},
        {"oche-rxe-read-again.pcap", 8, 0, 0},   {"rxe-oche-read-again.pcap", 7, 0, 0},
        {"oche-rxe-nak.pcap", 0, 0, 1},          {"rxe-oche-nak.pcap", 0, 0, 1},
        {"oche-rxe-rnr.pcap", 0, 2, 0},          {"rxe-oche-rnr.pcap", 0, 11, 7},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(files); i++) {
        static struct answers answers;

        answers = (struct answers){.count = 0};
        capture_each(directory, files[i].name, answered, &answers);
        assert_int_equal(answers.again, files[i].again);
        assert_int_equal(answers.kinds[OCHE_AETH_RNR], files[i].rnr_naks);
        assert_int_equal(answers.kinds[OCHE_AETH_NAK], files[i].naks);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_cnp), cmocka_unit_test(vector_send),   cmocka_unit_test(vector_ack),
        cmocka_unit_test(captures),   cmocka_unit_test(answers_again),
    };

    directory = argc > 1 ? argv[1] : "tests/golden";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
