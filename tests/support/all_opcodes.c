/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a capture with every opcode over IPv4 and IPv6, with and without payload bytes, and some
 * PFC frames; prints what each frame holds, as tshark -T fields would (see tshark.sh). So another
 * implementation's reading of our bytes is compared with what we meant.
 *     all_opcodes FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"
#include "core/wire/cnp.h"
#include "core/wire/codec.h"
#include "sim/capture/pcap_writer.h"

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static void print_bth(const struct oche_packet *packet)
{
    printf("%u\t0x%06" PRIx32 "\t%" PRIu32 "\t%u\t%u\t%u\t%" PRIu32 "\t%u", packet->opcode,
           packet->dest_qpn, packet->psn, packet->pkey, (packet->bth & OCHE_BTH_SOLICITED) != 0,
           (packet->bth & OCHE_BTH_MIGREQ) != 0, oche_pad_bytes(packet->payload_bytes),
           (packet->bth & OCHE_BTH_ACKREQ) != 0);
}

/* tshark shows only the BTH of non-standard opcodes. */
static void print_extension(const struct oche_packet *packet)
{
    const bool standard = packet->opcode < OCHE_SCHEME_OPCODES;
    const uint32_t flags = standard ? oche_opcode(packet->opcode)->flags : 0;
    const bool atomic = (flags & OCHE_OP_HAS(ATOMIC)) != 0;

    printf("\t");
    if (atomic || (flags & OCHE_OP_HAS(RETH)) != 0)
        printf("0x%016" PRIx64 "\t0x%08" PRIx32 "\t", packet->reth.va, packet->reth.rkey);
    else
        printf("\t\t");
    if ((flags & OCHE_OP_HAS(RETH)) != 0)
        printf("%" PRIu32, packet->reth.dma_length);
    printf("\t");
    if (atomic)
        printf("%" PRIu64 "\t%" PRIu64 "\t", packet->atomic.swap_add, packet->atomic.compare);
    else
        printf("\t\t");
    if ((flags & OCHE_OP_HAS(AETH)) != 0)
        printf("%u\t%" PRIu32 "\t", oche_aeth_syndrome(packet), oche_aeth_msn(packet));
    else
        printf("\t\t");
    if ((flags & OCHE_OP_HAS(ATOMIC_ACK)) != 0)
        printf("%" PRIu64, packet->original);
    printf("\t");
    if ((flags & OCHE_OP_HAS(IMM)) != 0)
        printf("%08" PRIx32, packet->imm);
    printf("\t");
    if ((flags & OCHE_OP_HAS(IETH)) != 0)
        printf("%08" PRIx32, packet->imm);
    printf("\t");
    if ((flags & OCHE_OP_HAS(DETH)) != 0)
        printf("0x%016" PRIx32 "\t0x%08" PRIx32, packet->deth.qkey, packet->deth.src_qpn);
    else
        printf("\t");
}

static struct oche_packet make(uint8_t opcode, struct oche_random *random, uint8_t *payload)
{
    static const uint8_t syndromes[] = {0x1f, 0x05, 0x2c, 0x60, 0x61, 0x62, 0x63};
    const uint32_t flags = oche_opcode(opcode)->flags;
    struct oche_packet packet = {
        .opcode = opcode,
        .pkey = 0xffff,
        .dest_qpn = 0x100 + opcode,
        .psn = (uint32_t)oche_random_u64(random) & OCHE_PSN_MASK,
        .udp_source_port = oche_udp_source_port(opcode + 1u, 0x100u + opcode),
        .ecn = OCHE_ECN_ECT0,
        .bth = (uint8_t)(oche_random_u64(random) & (OCHE_BTH_SOLICITED | OCHE_BTH_ACKREQ)),
        .aeth = (uint32_t)syndromes[oche_random_below(random, 7)] << 24 | 77,
        .ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC | OCHE_EXT_IMM | OCHE_EXT_DETH | OCHE_EXT_SCHEME,
        .scheme_header = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
        .bth_reserved = opcode >= OCHE_SCHEME_OPCODES ? OCHE_BTH_EXTENSIONS : 0,
        .reth.va = oche_random_u64(random),
        .reth.rkey = (uint32_t)oche_random_u64(random),
        .reth.dma_length = (uint32_t)oche_random_u64(random),
        .atomic.swap_add = oche_random_u64(random),
        .atomic.compare = oche_random_u64(random),
        .imm = (uint32_t)oche_random_u64(random),
        .deth.qkey = 0x11111111,
        .deth.src_qpn = 0x123456,
    };

    if ((flags & OCHE_OP_PAYLOAD) != 0) {
        packet.payload_bytes =
            (flags & OCHE_OP_LAST) != 0 ? (uint16_t)oche_random_below(random, 1025) : 1024;
        if ((oche_random_u64(random) & 1) != 0) {
            packet.payload = payload;
            packet.ext |= OCHE_EXT_PAYLOAD;
        }
    }
    if (opcode == OCHE_CNP)
        oche_cnp_fill(&packet, packet.dest_qpn, 0xffff, false);
    return packet;
}

static void write_roce(struct oche_pcap_writer *writer, bool ipv6)
{
    static const uint8_t a[] = {10, 0, 0, 1}, b[] = {10, 0, 0, 2};
    struct oche_random random = oche_random_stream(1, "all opcodes", ipv6);
    struct oche_frame frame = {.ipv6 = ipv6,
                               .ttl = 64,
                               .ip_flags = OCHE_IP_DF,
                               .src_mac = {2, 0, 10, 0, 0, 1},
                               .dst_mac = {2, 0, 10, 0, 0, 2},
                               .dscp = 26};
    uint8_t payload[1024];
    oche_time now = ipv6 ? OCHE_MS : 0;

    oche_ip_map_ipv4(frame.src_ip, a);
    oche_ip_map_ipv4(frame.dst_ip, b);
    if (ipv6) {
        frame.src_ip[0] = frame.dst_ip[0] = 0xfd;
        frame.src_ip[10] = frame.src_ip[11] = frame.dst_ip[10] = frame.dst_ip[11] = 0;
    }
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i * 7);
    for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++) {
        struct oche_packet packet;

        for (unsigned k = 0; k < 3 && oche_opcode((uint8_t)opcode)->name != NULL; k++) {
            packet = make((uint8_t)opcode, &random, payload);
            OCHE_MUST(oche_pcap_write(writer, &packet, &frame, now += OCHE_US));
            print_bth(&packet);
            print_extension(&packet);
            printf("\t\t\t\n");
        }
    }
}

static void write_pfc(struct oche_pcap_writer *writer)
{
    const struct oche_frame frame = {.src_mac = {2, 0, 10, 0, 0, 9}};
    oche_time now = 2 * OCHE_MS;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        struct oche_packet pfc = {.kind = OCHE_PACKET_PFC};

        oche_pfc_set(&pfc, cls, 0xffff);
        oche_pfc_set(&pfc, 7, (uint16_t)(cls * 100));
        OCHE_MUST(oche_pcap_write(writer, &pfc, &frame, now += OCHE_US));
        for (unsigned tabs = 0; tabs < 20; tabs++)
            putchar('\t');
        printf("0x%04x\t%u\t%u\n", 1u << cls | 0x80, pfc.pfc.quanta[3], pfc.pfc.quanta[7]);
    }
}

int main(int argc, char **argv)
{
    struct oche_error error;
    struct oche_pcap_writer *writer = argc == 2 ? oche_pcap_create(argv[1], 0, &error) : NULL;

    if (writer == NULL)
        return 2;
    write_roce(writer, false);
    write_roce(writer, true);
    write_pfc(writer);
    if (oche_pcap_close(writer, &error))
        return 0;
    fprintf(stderr, "%s\n", error.text);
    return 1;
}
