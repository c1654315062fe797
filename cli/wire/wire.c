/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche wire FILE: reads a capture of any program, and prints each RoCEv2 packet on one line with
 * two verdicts: the ICRC is right or wrong, and the fields, encoded again, give the same or other
 * bytes. Prints a summary at the end. The exit status is 1 if any packet is wrong or too short to
 * be judged.
 */
#include <argp.h>
#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/refuse.h"
#include "cli/commands.h"
#include "cli/interrupted.h"
#include "cli/wire/cm_words.h"
#include "cli/wire/judged.h"
#include "cli/wire/packet_json.h"
#include "cli/wire/tunnel.h"
#include "core/wire/aeth.h"
#include "core/wire/cnp.h"
#include "core/wire/codec.h"
#include "core/wire/extension.h"
#include "core/wire/pfc_frame.h"
#include "core/wire/telemetry.h"
#include "params/input_file.h"

enum key { KEY_JSON = 256 };
enum { INTERRUPTED = 130 };

#define ROOM (65536 + 64) /* bytes of the largest IP packet with its link header */

static uint32_t crc(uint32_t before, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(before, bytes, count);
}

/* Returns the nearest number whose negative also exists. */
static int64_t limited(__int128 ns)
{
    return (int64_t)(ns > INT64_MAX ? INT64_MAX : ns < -INT64_MAX ? -INT64_MAX : ns);
}

/*
 * libpcap puts nanoseconds into tv_usec on request (read_capture). A capture may contain any time.
 * Times that do not fit nanoseconds since 1970 become the last one that fits.
 */
static int64_t time_ns(const struct pcap_pkthdr *header)
{
    return limited((__int128)header->ts.tv_sec * 1000000000 + header->ts.tv_usec);
}

int64_t oche_wire_time_ns(const struct oche_wire_report *report, const struct oche_wire_one *one)
{
    return limited((__int128)time_ns(one->header) - report->first_ns);
}

/* ---- one line per packet ---- */

static void print_start(const struct oche_wire_report *report, const struct oche_wire_one *one)
{
    const int64_t ns = oche_wire_time_ns(report, one);
    const uint64_t size = (uint64_t)(ns < 0 ? -ns : ns);

    printf("%6" PRIu64 " %s%" PRIu64 ".%09" PRIu64 "  ", report->frames, ns < 0 ? "-" : "",
           size / 1000000000, size % 1000000000);
}

void oche_wire_addresses(const struct oche_frame *facts, char *src, char *dst)
{
    if (facts->ipv6) {
        inet_ntop(AF_INET6, facts->src_ip, src, INET6_ADDRSTRLEN);
        inet_ntop(AF_INET6, facts->dst_ip, dst, INET6_ADDRSTRLEN);
    } else {
        inet_ntop(AF_INET, facts->src_ip + 12, src, INET6_ADDRSTRLEN);
        inet_ntop(AF_INET, facts->dst_ip + 12, dst, INET6_ADDRSTRLEN);
    }
}

static void print_addresses(const struct oche_frame *facts)
{
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

    oche_wire_addresses(facts, src, dst);
    printf("%s → %s", src, dst);
}

unsigned oche_wire_flags(const struct oche_packet *packet, const char **names)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } bits[] = {
        {OCHE_BTH_SOLICITED, "SE"}, {OCHE_BTH_MIGREQ, "MigReq"}, {OCHE_BTH_ACKREQ, "AckReq"},
        {OCHE_BTH_FECN, "FECN"},    {OCHE_BTH_BECN, "BECN"},     {OCHE_BTH_FOLLOWS, "follows"},
    };
    unsigned count = 0;

    for (size_t i = 0; i < OCHE_COUNT_OF(bits); i++)
        if ((packet->bth & bits[i].bit) != 0)
            names[count++] = bits[i].name;
    if ((packet->bth_reserved & OCHE_BTH_RELEASE) != 0)
        names[count++] = "release";
    if (packet->ecn == OCHE_ECN_CE)
        names[count++] = "CE";
    return count;
}

static void print_flags(const struct oche_packet *packet)
{
    const char *names[OCHE_WIRE_FLAGS];
    const unsigned count = oche_wire_flags(packet, names);
    const uint8_t reserved = packet->bth_reserved;
    const bool extensions = (reserved & OCHE_BTH_EXTENSIONS) != 0;
    /* with `extensions` the same bit announces a trailer, or in an ACK reports a duplicate */
    const bool cnp_psn = !extensions && (reserved & OCHE_BTH_CNP_PSN) != 0;
    const bool trailer = oche_packet_trailer_bytes(packet) > 0;
    const bool aeth = oche_opcode(packet->opcode)->operation == OCHE_OPERATION_ACK;
    const bool duplicate = extensions && aeth && (reserved & OCHE_BTH_DUPLICATE) != 0;
    const uint8_t known = OCHE_BTH_EXTENSIONS | OCHE_BTH_RESTARTS | OCHE_BTH_TOKENS |
                          OCHE_BTH_RELEASE |
                          (cnp_psn || trailer || duplicate ? OCHE_BTH_CNP_PSN : 0);

    for (unsigned i = 0; i < count; i++)
        printf(" %s", names[i]);
    if (extensions)
        printf(" extensions");
    if (cnp_psn)
        printf(" CNP-PSN");
    if (duplicate)
        printf(" duplicate");
    if ((reserved & OCHE_BTH_RESTARTS) != 0)
        printf(" restarts");
    if ((reserved & OCHE_BTH_TOKENS) != 0)
        printf(" tokens %u", reserved & OCHE_BTH_TOKENS);
    if ((reserved & ~known) != 0)
        printf(" reserved 0x%02x", reserved & ~known);
}

static void print_aeth(const struct oche_packet *packet)
{
    const uint8_t syndrome = oche_aeth_syndrome(packet);
    const uint8_t code = oche_aeth_code(syndrome);

    printf(", %s", oche_syndrome_name(syndrome));
    if (oche_aeth_kind(syndrome) == OCHE_AETH_RNR)
        printf(" wait %.2f ms", (double)oche_rnr_wait(code) / (double)OCHE_MS);
    else if (oche_aeth_kind(syndrome) == OCHE_AETH_ACK && code != OCHE_SYNDROME_ACK)
        printf(" credits %" PRIu32, oche_credits(code));
    printf(" msn %" PRIu32, oche_aeth_msn(packet));
}

static void print_place(const struct oche_packet *packet)
{
    const struct oche_place place = oche_place_get(packet);

    printf(", receive %" PRIu32 " offset %" PRIu32, place.receive, place.offset);
}

/* Prints the PSNs that arrived after the gap, as ranges. */
static void print_sack(const struct oche_packet *packet)
{
    const struct oche_sack sack = oche_sack_get(packet);
    const char *between = ", has";

    for (unsigned i = 0; i < 64; i++) {
        const unsigned start = i;

        while (i < 64 && (sack.bits >> i & 1) != 0)
            i++;
        if (i == start)
            continue;
        printf("%s %" PRIu32, between, oche_psn_add(sack.first, start));
        if (i > start + 1)
            printf("-%" PRIu32, oche_psn_add(sack.first, i - 1));
        between = ",";
    }
}

static void print_share(const struct oche_packet *packet)
{
    const struct oche_share share = oche_share_get(packet);

    printf(", share 1/%u of tenant %u sequence %u", share.senders, share.tenant, share.sequence);
}

static void print_rate(uint32_t rate_10kbps)
{
    printf(", rate %.2f Mbit/s", rate_10kbps / 100.0);
}

static void print_rate_echo(const struct oche_packet *packet)
{
    const struct oche_rate_echo echo = oche_rate_echo_get(packet);

    print_rate(echo.rate_10kbps);
    printf(" stamp %" PRIu32 " ns", echo.stamp_ns);
}

/* Prints the records of switches. */
static void print_telemetry(const struct oche_telemetry *telemetry)
{
    const unsigned hops = oche_telemetry_count(telemetry);

    printf(", INT of %u hop%s", hops, hops == 1 ? "" : "s");
    for (unsigned i = 0; i < hops; i++) {
        const struct oche_hop hop = oche_telemetry_hop(telemetry, i);

        printf("%s %.1f Gbit/s at %" PRIu32 " ns sent %" PRIu64 " queue %" PRIu64,
               i == 0 ? ":" : ";", (double)hop.rate_bps / (double)OCHE_GBPS, hop.time_ns,
               hop.sent_bytes, hop.queue_bytes);
    }
}

/* Prints RCP's bytes after the ICRC. */
static void print_trailer(const struct oche_packet *packet)
{
    const struct oche_rate_trailer trailer = packet->trailer;

    print_rate(trailer.rate_10kbps);
    printf(" rtt %" PRIu32 " ns stamp %" PRIu32 " ns", trailer.rtt_ns, trailer.stamp_ns);
}

static void print_group(const struct oche_packet *packet)
{
    const struct oche_group group = oche_group_get(packet);

    printf(", group %" PRIu32 " of tenant %u, %u senders:", group.id, oche_group_tenant(packet),
           group.count);
    for (uint32_t i = 0; i < group.count; i++)
        printf(" %u", oche_group_member(&group, i));
}

static void print_cnp(const struct oche_packet *packet)
{
    uint32_t psn;

    if (oche_cnp_get_psn(packet, &psn))
        printf(", expects psn %" PRIu32, psn);
}

static const char *trim_text(const struct oche_packet *packet)
{
    return oche_trim_get(packet) == OCHE_TRIMMED_LAST_HOP ? "at its host's port" : "on the way";
}

static void print_headers(const struct oche_packet *packet, const struct oche_frame *facts)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if (packet->opcode == OCHE_CNP)
        print_cnp(packet);
    if ((row->flags & (OCHE_OP_HAS(RETH) | OCHE_OP_HAS(ATOMIC))) != 0)
        printf(", va 0x%" PRIx64 " rkey 0x%" PRIx32, packet->reth.va, packet->reth.rkey);
    if ((row->flags & OCHE_OP_HAS(RETH)) != 0)
        printf(" length %" PRIu32, packet->reth.dma_length);
    if (row->operation == OCHE_OPERATION_COMPARE_SWAP)
        printf(" compare 0x%" PRIx64 " swap 0x%" PRIx64, packet->atomic.compare,
               packet->atomic.swap_add);
    if (row->operation == OCHE_OPERATION_FETCH_ADD)
        printf(" add 0x%" PRIx64, packet->atomic.swap_add);
    if ((row->flags & OCHE_OP_HAS(AETH)) != 0)
        print_aeth(packet);
    if ((row->flags & OCHE_OP_HAS(PLACE)) != 0)
        print_place(packet);
    if ((row->flags & OCHE_OP_HAS(SACK)) != 0)
        print_sack(packet);
    if ((row->flags & OCHE_OP_HAS(SHARE)) != 0)
        print_share(packet);
    if ((row->flags & OCHE_OP_HAS(TRIM)) != 0)
        printf(", trimmed %s", trim_text(packet));
    if ((row->flags & OCHE_OP_HAS(RATE)) != 0)
        print_rate_echo(packet);
    if ((row->flags & OCHE_OP_HAS(INT)) != 0)
        print_telemetry(&packet->telemetry);
    if ((row->flags & OCHE_OP_HAS(GROUP)) != 0)
        print_group(packet);
    if ((row->flags & OCHE_OP_HAS(ATOMIC_ACK)) != 0)
        printf(" was 0x%" PRIx64, packet->original);
    if ((row->flags & OCHE_OP_HAS(IMM)) != 0)
        printf(", imm 0x%08" PRIx32, packet->imm);
    if ((row->flags & OCHE_OP_HAS(IETH)) != 0)
        printf(", invalidate 0x%" PRIx32, packet->imm);
    if ((row->flags & OCHE_OP_HAS(DETH)) != 0)
        printf(", from qp 0x%06" PRIx32 " qkey 0x%" PRIx32, packet->deth.src_qpn,
               packet->deth.qkey);
    if (oche_wire_is_cm(packet))
        oche_wire_print_cm(packet);
    switch (oche_packet_trailer_bytes(packet)) {
    case OCHE_INT_BYTES:
        print_telemetry(&facts->telemetry);
        break;
    case OCHE_TRAILER_BYTES:
        print_trailer(packet);
        break;
    }
}

static void print_verdict(const struct oche_wire_one *one, enum oche_wire_verdict verdict)
{
    if (verdict == OCHE_VERDICT_CUT) {
        printf(", cut to %u of %u bytes: not judged\n", one->header->caplen, one->header->len);
        return;
    }
    if (one->error == OCHE_WIRE_ICRC)
        printf(", ICRC WRONG: 0x%08" PRIx32 ", should be 0x%08" PRIx32, one->icrc,
               one->icrc_should);
    else
        printf(", ICRC ok");
    if (one->differs_at >= 0)
        printf(", encoded again DIFFERS at byte %ld of IP\n", one->differs_at);
    else
        printf(", encoded again the same\n");
}

static void print_tunnel(const struct oche_link_view *link)
{
    if (link->tunnels == 0)
        return;
    printf(", in %s", link->tunnel.kind);
    if (link->tunnel.has_id)
        printf(" %" PRIu32, link->tunnel.id);
}

static void print_packet(struct oche_wire_report *report, const struct oche_wire_one *one,
                         enum oche_wire_verdict verdict)
{
    const struct oche_packet *packet = &one->packet;

    if (report->options.quiet && verdict == OCHE_VERDICT_RIGHT)
        return;
    if (report->options.json) {
        oche_wire_json_packet(report, one, verdict);
        return;
    }
    print_start(report, one);
    print_addresses(&one->facts);
    printf("  %s qp 0x%06" PRIx32 " psn %" PRIu32, oche_opcode_name(packet->opcode),
           packet->dest_qpn, packet->psn);
    print_flags(packet);
    printf(", %u bytes payload, %u frame", packet->payload_bytes, one->header->len);
    if (one->link.vlans > 0)
        printf(", VLAN");
    print_tunnel(&one->link);
    print_headers(packet, &one->facts);
    if (one->again)
        printf(", RETRANSMISSION");
    print_verdict(one, verdict);
}

static void print_pfc(struct oche_wire_report *report, const struct oche_wire_one *one)
{
    if (report->options.json) {
        oche_wire_json_pfc(report, one);
        return;
    }
    print_start(report, one);
    printf("PFC pause");
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_pfc_has(&one->packet, cls))
            printf(" class %u: %u", cls, one->packet.pfc.quanta[cls]);
    putchar('\n');
}

/* ---- judging ---- */

/* Encodes the decoded packet again and compares the result with the captured bytes. */
static void encode_again(struct oche_wire_one *one)
{
    static uint8_t again[ROOM];
    const uint8_t *ip = one->bytes + one->link.ip_at;
    const size_t count = one->facts.frame_bytes;
    const size_t body = count - OCHE_ICRC_BYTES - oche_packet_trailer_bytes(&one->packet);

    one->differs_at = -1;
    if (oche_encode_frame(&one->packet, &one->facts, crc, again, sizeof(again)) != count) {
        one->differs_at = 0;
        return;
    }
    for (size_t i = 0; i < body; i++) {
        if (ip[i] != again[i]) {
            one->differs_at = (long)i;
            break;
        }
    }
    one->icrc = oche_icrc_get(ip + body);
    one->icrc_should = oche_icrc_get(again + body);
}

/* True if a cut frame still contains its IP, UDP and transport headers. */
static bool headers_are_there(const struct oche_wire_one *one)
{
    const size_t ip_bytes = one->facts.ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES;

    return one->header->caplen >= one->link.ip_at + ip_bytes + OCHE_UDP_BYTES + OCHE_BTH_BYTES +
                                      oche_opcode(one->packet.opcode)->header_bytes;
}

/* True if enough of a cut frame was captured to tell that it is not RoCE. */
static bool is_surely_foreign(const struct oche_wire_one *one)
{
    const size_t count = one->header->caplen - one->link.ip_at;
    const uint8_t *ip = one->bytes + one->link.ip_at;

    if (count < 10) /* IPv4's protocol is the tenth byte */
        return false;
    if (one->error != OCHE_WIRE_NOT_ROCE)
        return true;
    return count >= (ip[0] >> 4 == 6 ? OCHE_IPV6_BYTES : (size_t)(ip[0] & 0x0f) * 4) + 4;
}

static bool note_psn(struct oche_wire_report *report, struct oche_wire_one *one)
{
    const struct oche_opcode_row *row = oche_opcode(one->packet.opcode);
    struct oche_psn_stream stream = {.place = one->link.place, .dest_qpn = one->packet.dest_qpn};

    if (row->service != OCHE_SERVICE_RC && row->service != OCHE_SERVICE_RC_EXTENDED &&
        row->service != OCHE_SERVICE_UC)
        return true; /* packets of other services are never retransmitted */
    if (row->operation == OCHE_OPERATION_ACK)
        return true; /* an ACK has the PSN that it acknowledges, so this is no retransmission */
    memcpy(stream.src_ip, one->facts.src_ip, 16);
    memcpy(stream.dst_ip, one->facts.dst_ip, 16);
    stream.response = (row->flags & OCHE_OP_RESPONSE) != 0;
    return oche_psn_seen_note(report->seen, &stream, one->packet.psn, &one->again);
}

/* Counts a packet whose fields could be read, with a right or wrong ICRC. */
static bool count_packet(struct oche_wire_report *report, struct oche_wire_one *one)
{
    const struct oche_packet *packet = &one->packet;
    const uint8_t syndrome = oche_aeth_syndrome(packet);
    const uint8_t code = oche_aeth_code(syndrome);

    report->packets[packet->opcode]++;
    report->bytes[packet->opcode] += packet->payload_bytes;
    report->ce += packet->ecn == OCHE_ECN_CE;
    if (oche_opcode_has(packet->opcode, OCHE_OP_HAS(AETH))) {
        report->rnr_naks += oche_aeth_kind(syndrome) == OCHE_AETH_RNR;
        if (oche_aeth_kind(syndrome) == OCHE_AETH_NAK)
            report->naks[code < OCHE_WIRE_NAK_KINDS ? code : OCHE_WIRE_NAK_KINDS]++;
    }
    if (!note_psn(report, one))
        return false;
    report->retransmissions += one->again;
    return true;
}

static void wrong_bytes(struct oche_wire_report *report, const struct oche_wire_one *one)
{
    report->wrong++;
    report->wrong_by[one->error]++;
    if (report->options.json) {
        oche_wire_json_unread(report, one, OCHE_VERDICT_WRONG);
        return;
    }
    print_start(report, one);
    /* such an error is found after IP and UDP were read, so their fields are known */
    if (one->error >= OCHE_WIRE_ALIGNMENT) {
        print_addresses(&one->facts);
        printf("  ");
    }
    printf("WRONG: %s", oche_wire_error_text(one->error));
    if (one->error == OCHE_WIRE_OPCODE)
        printf(" 0x%02x", one->packet.opcode);
    putchar('\n');
}

static void cut_bytes(struct oche_wire_report *report, const struct oche_wire_one *one)
{
    report->cut++;
    if (report->options.json) {
        oche_wire_json_unread(report, one, OCHE_VERDICT_CUT);
        return;
    }
    print_start(report, one);
    printf("cut to %u of %u bytes: not judged\n", one->header->caplen, one->header->len);
}

/* Judges one IP packet. Returns false if there is no memory. */
static bool judge_ip(struct oche_wire_report *report, struct oche_wire_one *one)
{
    static uint8_t whole[ROOM];
    const bool cut = one->header->caplen < one->header->len;
    const uint8_t *ip = one->bytes + one->link.ip_at;
    size_t count = one->header->caplen;

    if (cut && one->header->len <= ROOM) { /* the missing bytes are treated as zeros */
        memset(whole, 0, one->header->len);
        memcpy(whole, one->bytes, one->header->caplen);
        ip = whole + one->link.ip_at;
        count = one->header->len;
    }
    if (count > one->link.end) /* end of the packet in the tunnel */
        count = one->link.end;
    count -= one->link.ip_at;
    one->error = oche_decode_ip(ip, count, cut ? NULL : crc, &one->packet, &one->facts);
    if (oche_wire_is_foreign(one->error)) {
        if (!cut || is_surely_foreign(one))
            report->other++;
        else
            cut_bytes(report, one);
        return true;
    }
    report->roce++;
    if (cut && (one->error != OCHE_WIRE_OK || !headers_are_there(one))) {
        cut_bytes(report, one);
        return true;
    }
    if (one->error != OCHE_WIRE_OK && one->error != OCHE_WIRE_ICRC) {
        wrong_bytes(report, one);
        return true;
    }
    if (!count_packet(report, one))
        return false;
    if (cut) {
        report->cut++;
        print_packet(report, one, OCHE_VERDICT_CUT);
        return true;
    }
    encode_again(one);
    if (one->error == OCHE_WIRE_OK && one->differs_at < 0) {
        print_packet(report, one, OCHE_VERDICT_RIGHT);
        return true;
    }
    report->wrong++;
    report->wrong_by[OCHE_WIRE_ICRC] += one->error == OCHE_WIRE_ICRC;
    report->differ += one->error == OCHE_WIRE_OK;
    print_packet(report, one, OCHE_VERDICT_WRONG);
    return true;
}

static bool judge(struct oche_wire_report *report, const struct pcap_pkthdr *header,
                  const uint8_t *bytes)
{
    struct oche_wire_one one = {.header = header, .bytes = bytes, .differs_at = -1};

    if (report->frames++ == 0)
        report->first_ns = time_ns(header);
    if (report->datalink == DLT_EN10MB &&
        oche_pfc_decode(bytes, header->caplen, &one.packet, NULL)) {
        report->pfc++;
        if (!report->options.quiet)
            print_pfc(report, &one);
        return true;
    }
    if (!oche_link_view(report->datalink, bytes, header->caplen, &one.link) || !one.link.ip) {
        report->other++;
        return true;
    }
    while (oche_tunnel_enter(bytes, header->caplen, &one.link))
        continue;
    if (!one.link.ip) {
        report->other++;
        return true;
    }
    return judge_ip(report, &one);
}

/* ---- the summary ---- */

const char *oche_wire_nak_name(unsigned code)
{
    static const char *const names[OCHE_WIRE_NAK_KINDS + 1] = {
        "PSN sequence",       "invalid request", "remote access",
        "remote operational", "invalid RD",      "with reserved code",
    };

    return names[code];
}

static void print_summary(const struct oche_wire_report *report)
{
    uint64_t naks = 0;
    const char *between = " (";

    printf("\n%-24s %10s %16s\n", "opcode", "packets", "payload bytes");
    for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++)
        if (report->packets[opcode] > 0)
            printf("%-24s %10" PRIu64 " %16" PRIu64 "\n", oche_opcode_name((uint8_t)opcode),
                   report->packets[opcode], report->bytes[opcode]);
    for (unsigned code = 0; code <= OCHE_WIRE_NAK_KINDS; code++)
        naks += report->naks[code];
    printf("\n%-16s %10" PRIu64 "\n", "frames", report->frames);
    printf("%-16s %10" PRIu64 "\n", "RoCEv2", report->roce);
    printf("%-16s %10" PRIu64 "\n", "PFC", report->pfc);
    printf("%-16s %10" PRIu64 "\n", "neither", report->other);
    printf("%-16s %10" PRIu64 "\n", "retransmissions", report->retransmissions);
    printf("%-16s %10" PRIu64, "NAKs", naks);
    for (unsigned code = 0; code <= OCHE_WIRE_NAK_KINDS; code++) {
        if (report->naks[code] == 0)
            continue;
        printf("%s%" PRIu64 " %s", between, report->naks[code], oche_wire_nak_name(code));
        between = ", ";
    }
    printf("%s\n%-16s %10" PRIu64 "\n", naks > 0 ? ")" : "", "RNR NAKs", report->rnr_naks);
    printf("%-16s %10" PRIu64 "\n", "CNPs", report->packets[OCHE_CNP]);
    printf("%-16s %10" PRIu64 "\n", "CE marks", report->ce);
    printf("%-16s %10" PRIu64 "\n", "cut short", report->cut);
    printf("%-16s %10" PRIu64, "wrong", report->wrong);
    between = " (";
    for (int error = 0; error < OCHE_WIRE_ERROR_COUNT; error++) {
        if (report->wrong_by[error] == 0)
            continue;
        printf("%s%" PRIu64 " %s", between, report->wrong_by[error],
               oche_wire_error_text((enum oche_wire_error)error));
        between = ", ";
    }
    if (report->differ > 0)
        printf("%s%" PRIu64 " encoded again differ", between, report->differ);
    printf("%s\n", report->wrong > 0 ? ")" : "");
}

/* ---- the command ---- */

/* Reads to the end, or until a signal asks for it. Returns PCAP_ERROR if the capture is broken. */
static int read_frames(struct oche_wire_report *report, pcap_t *pcap)
{
    const volatile sig_atomic_t *asked = oche_interrupt_gently(true);
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int status = 0;

    while (!*asked && (status = pcap_next_ex(pcap, &header, &bytes)) == 1) {
        if (!judge(report, header, bytes)) {
            status = PCAP_ERROR;
            break;
        }
    }
    report->interrupted = *asked != 0;
    report->whole = !report->interrupted && status != PCAP_ERROR;
    oche_interrupt_gently(false);
    return status;
}

/* Opens the capture; - is standard input. Returns NULL with a message of libpcap's or ours. */
static pcap_t *open_capture(const char *path, char message[PCAP_ERRBUF_SIZE])
{
    struct oche_error reason;

    if (strcmp(path, "-") == 0)
        return pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, message);
    FILE *in = oche_input_stream(path, &reason);

    if (in == NULL) {
        snprintf(message, PCAP_ERRBUF_SIZE, "%.200s", reason.text);
        return NULL;
    }
    pcap_t *pcap =
        pcap_fopen_offline_with_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO, message);

    if (pcap == NULL)
        fclose(in);
    return pcap;
}

static int read_capture(struct oche_wire_report *report)
{
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *pcap;
    int status;

    pcap = open_capture(report->options.path, message);
    if (pcap == NULL) {
        const char *path = report->options.path;
        const bool named = strncmp(message, path, strlen(path)) == 0;

        oche_print_error("oche wire: %s%s%s; a pcap or pcapng file is needed", named ? "" : path,
                         named ? "" : ": ", message);
        return 2;
    }
    report->datalink = pcap_datalink(pcap);
    if (!oche_link_supported(report->datalink)) {
        const char *name = pcap_datalink_val_to_name(report->datalink);

        oche_print_error("oche wire: %s: link type %s is not known here; Ethernet, raw IP, Linux "
                         "cooked and loopback are",
                         report->options.path, name != NULL ? name : "?");
        pcap_close(pcap);
        return 2;
    }
    status = read_frames(report, pcap);
    if (report->options.json)
        oche_wire_json_summary(report);
    else
        print_summary(report);
    fflush(stdout);
    if (report->interrupted)
        fprintf(stderr, "interrupted after frame %" PRIu64 "; the summary is of what was read\n",
                report->frames);
    else if (status == PCAP_ERROR)
        oche_print_error("oche wire: %s: after frame %" PRIu64 ": %s", report->options.path,
                         report->frames,
                         *pcap_geterr(pcap) != '\0' ? pcap_geterr(pcap) : "out of memory");
    pcap_close(pcap);
    if (report->interrupted)
        return INTERRUPTED;
    if (status == PCAP_ERROR)
        return 2;
    return report->wrong + report->cut > 0 ? 1 : 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct oche_wire_options *options = state->input;

    switch (key) {
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            argp_error(state, "%s: one capture at a time", argument);
        options->path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which capture? give a pcap or pcapng file, or - for standard input");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int oche_cmd_wire(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"quiet", 'q', NULL, 0, "list only packets that are wrong or cut short", 0},
        {"json", KEY_JSON, NULL, 0,
         "print JSON instead: packets, each with its fields and verdict, and the summary's counts",
         0},
        {0},
    };
    static const struct argp argp = {
        .options = known,
        .parser = parse,
        .args_doc = "FILE",
        .doc =
            "Lists the RoCEv2 packets of a capture (pcap or pcapng; Ethernet, raw IP, Linux "
            "cooked or loopback; also in VXLAN, GENEVE, GRE and IP tunnels), each with two "
            "verdicts: whether its ICRC is right, and "
            "whether its fields, encoded again, give the same bytes. Then a summary."
            "\vA retransmission is a PSN seen again in the same direction of a queue pair, at "
            "the same link addresses. Exit status: 0 all packets are right; 1 one is wrong, or "
            "was cut short so that it cannot be judged; 2 bad arguments or an unreadable file; 130 "
            "interrupted by a first SIGINT: the summary is of what was read until then.",
    };
    struct oche_wire_report report = {0};
    int status;

    if (!oche_parse_arguments(&argp, argc, argv, 0, &report.options))
        return 2;
    report.seen = oche_psn_seen_create();
    if (report.seen == NULL) {
        fprintf(stderr, "oche wire: out of memory\n");
        return 2;
    }
    status = read_capture(&report);
    oche_psn_seen_free(report.seen);
    return status;
}
