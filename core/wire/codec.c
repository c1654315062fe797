/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts RoCEv2 packets from struct to bytes and back (rocev2.md#encapsulation, #headers). The
 * opcode table says which headers an opcode has; this file says what each header looks like.
 */
#include "core/wire/codec.h"

#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/extension.h"
#include "core/wire/telemetry.h"

#define ETH_TYPE_OFFSET   12
#define IPV4_MORE         0x20 /* in byte 6: more fragments follow */
#define IPV4_FLAGS_MASK   0xe0
#define IPV4_OFFSET_MASK  0x1fff
#define IP_MAX_BYTES      65535u
#define BTH_TVER_MASK     0x0f
#define BTH_RESERVED_MASK 0x3f /* in byte 4, below FECN and BECN */
#define WIRE_FECN         0x80
#define WIRE_BECN         0x40
#define WIRE_ACKREQ       0x80 /* in byte 8 */
#define WIRE_FOLLOWS      0x40 /* in byte 8 */
#define WIRE_RELEASE      0x20 /* in byte 8 */

const char *oche_wire_error_text(enum oche_wire_error error)
{
    static const char *const texts[OCHE_WIRE_ERROR_COUNT] = {
#define OCHE_WIRE_TEXT(name, text) [OCHE_WIRE_##name] = (text),
        OCHE_WIRE_ERRORS(OCHE_WIRE_TEXT)
#undef OCHE_WIRE_TEXT
    };

    return error < OCHE_WIRE_ERROR_COUNT ? texts[error] : "?";
}

/* ---- transport: BTH, extension headers, payload ---- */

static bool payload_possible(const struct oche_opcode_row *row, uint32_t payload_bytes)
{
    if ((row->flags & OCHE_OP_PAYLOAD) == 0)
        return payload_bytes == 0;
    return payload_bytes > 0 || (row->flags & OCHE_OP_LAST) != 0;
}

/* Writes a header of a scheme, which the packet stores as it is on the wire. */
static size_t put_scheme(const struct oche_packet *packet, size_t bytes, uint8_t *out)
{
    memset(out, 0, bytes);
    if ((packet->ext & OCHE_EXT_SCHEME) != 0)
        memcpy(out, packet->scheme_header, bytes);
    return bytes;
}

static size_t take_scheme(struct oche_packet *packet, size_t bytes, const uint8_t *in)
{
    memcpy(packet->scheme_header, in, bytes);
    packet->ext |= OCHE_EXT_SCHEME;
    return bytes;
}

_Static_assert(OCHE_CNP_RESERVED_BYTES == OCHE_CNP_BYTES, "a CNP's reserved bytes are all kept");

static size_t put_cnp(const struct oche_packet *packet, uint8_t *out)
{
    if ((packet->ext & OCHE_EXT_CNP) != 0)
        memcpy(out, packet->cnp_reserved, OCHE_CNP_BYTES);
    else
        memset(out, 0, OCHE_CNP_BYTES);
    return OCHE_CNP_BYTES;
}

/*
 * Reads a CNP's reserved bytes, which have no meaning in plain RoCEv2 (see cnp.h). Marks them as
 * present only if one of them is not 0.
 */
static size_t take_cnp(struct oche_packet *packet, const uint8_t *in)
{
    memcpy(packet->cnp_reserved, in, OCHE_CNP_BYTES);
    if ((oche_get64(in) | oche_get64(in + 8)) != 0)
        packet->ext |= OCHE_EXT_CNP;
    return OCHE_CNP_BYTES;
}

static size_t put_telemetry(const struct oche_packet *packet, uint8_t *out)
{
    if ((packet->ext & OCHE_EXT_TRAILER) != 0)
        oche_telemetry_put(&packet->telemetry, out);
    else
        memset(out, 0, OCHE_INT_BYTES);
    return OCHE_INT_BYTES;
}

/* Writes the header of a group, and its list of senders if the packet carries the list. */
static size_t put_group(const struct oche_packet *packet, uint8_t *out)
{
    size_t at = put_scheme(packet, OCHE_GROUP_BYTES, out), bytes = oche_list_bytes(packet);
    const struct oche_group group = oche_group_get(packet);

    oche_put16(out + 4, group.count);
    if (bytes == 0)
        return at;
    memset(out + at + bytes - 2, 0, 2); /* the pad, if there is one */
    memcpy(out + at, group.members, 2 * (size_t)group.count);
    return at + bytes;
}

/*
 * Writes one extension header, or zeros if packet->ext does not have it. Returns the header's
 * length.
 */
static size_t put_header(enum oche_header header, const struct oche_opcode_row *row,
                         const struct oche_packet *packet, uint8_t *out)
{
    const bool reth = (packet->ext & OCHE_EXT_RETH) != 0;
    const bool atomic = (packet->ext & OCHE_EXT_ATOMIC) != 0;
    const bool deth = (packet->ext & OCHE_EXT_DETH) != 0;

    switch (header) {
    case OCHE_HEADER_RETH:
        oche_put64(out, reth ? packet->reth.va : 0);
        oche_put32(out + 8, reth ? packet->reth.rkey : 0);
        oche_put32(out + 12, reth ? packet->reth.dma_length : 0);
        return OCHE_RETH_BYTES;
    case OCHE_HEADER_ATOMIC:
        oche_put64(out, reth ? packet->reth.va : 0);
        oche_put32(out + 8, reth ? packet->reth.rkey : 0);
        oche_put64(out + 12, atomic ? packet->atomic.swap_add : 0);
        oche_put64(out + 20, atomic ? packet->atomic.compare : 0);
        return OCHE_ATOMIC_BYTES;
    case OCHE_HEADER_AETH:
        oche_put32(out, packet->aeth);
        return OCHE_AETH_BYTES;
    case OCHE_HEADER_ATOMIC_ACK:
        oche_put64(out, atomic ? packet->original : 0);
        return OCHE_ATOMIC_ACK_BYTES;
    case OCHE_HEADER_IMM:
    case OCHE_HEADER_IETH:
        oche_put32(out, (packet->ext & OCHE_EXT_IMM) != 0 ? packet->imm : 0);
        return OCHE_IMM_BYTES;
    case OCHE_HEADER_DETH:
        oche_put32(out, deth ? packet->deth.qkey : 0);
        out[4] = 0;
        oche_put24(out + 5, deth ? packet->deth.src_qpn & OCHE_PSN_MASK : 0);
        return OCHE_DETH_BYTES;
    case OCHE_HEADER_CNP: /* reserved bytes: those that a peer sent (see take_cnp), or zeros */
        return put_cnp(packet, out);
    case OCHE_HEADER_SCHEME:
        return put_scheme(packet, row->scheme_bytes, out);
    case OCHE_HEADER_PLACE:
        return put_scheme(packet, OCHE_PLACE_BYTES, out);
    case OCHE_HEADER_SACK:
        return put_scheme(packet, OCHE_SACK_BYTES, out);
    case OCHE_HEADER_SHARE:
        return put_scheme(packet, OCHE_SHARE_BYTES, out);
    case OCHE_HEADER_RATE:
        return put_scheme(packet, OCHE_RATE_BYTES, out);
    case OCHE_HEADER_TRIM:
        return put_scheme(packet, OCHE_TRIM_BYTES, out);
    case OCHE_HEADER_INT:
        return put_telemetry(packet, out);
    case OCHE_HEADER_GROUP:
        return put_group(packet, out);
    case OCHE_HEADER_NONE:
    case OCHE_HEADERS:
        break;
    }
    return 0;
}

/* Reads one extension header; the caller has checked that its bytes are there. */
static size_t take_header(enum oche_header header, const struct oche_opcode_row *row,
                          const uint8_t *in, struct oche_packet *packet)
{
    switch (header) {
    case OCHE_HEADER_RETH:
        packet->reth.va = oche_get64(in);
        packet->reth.rkey = oche_get32(in + 8);
        packet->reth.dma_length = oche_get32(in + 12);
        packet->ext |= OCHE_EXT_RETH;
        return OCHE_RETH_BYTES;
    case OCHE_HEADER_ATOMIC:
        packet->reth.va = oche_get64(in);
        packet->reth.rkey = oche_get32(in + 8);
        packet->atomic.swap_add = oche_get64(in + 12);
        packet->atomic.compare = oche_get64(in + 20);
        packet->ext |= OCHE_EXT_RETH | OCHE_EXT_ATOMIC;
        return OCHE_ATOMIC_BYTES;
    case OCHE_HEADER_AETH:
        packet->aeth = oche_get32(in);
        return OCHE_AETH_BYTES;
    case OCHE_HEADER_ATOMIC_ACK:
        packet->original = oche_get64(in);
        packet->ext |= OCHE_EXT_ATOMIC;
        return OCHE_ATOMIC_ACK_BYTES;
    case OCHE_HEADER_IMM:
    case OCHE_HEADER_IETH:
        packet->imm = oche_get32(in);
        packet->ext |= OCHE_EXT_IMM;
        return OCHE_IMM_BYTES;
    case OCHE_HEADER_DETH:
        packet->deth.qkey = oche_get32(in);
        packet->deth.src_qpn = oche_get24(in + 5);
        packet->ext |= OCHE_EXT_DETH;
        return OCHE_DETH_BYTES;
    case OCHE_HEADER_CNP:
        return take_cnp(packet, in);
    case OCHE_HEADER_SCHEME:
        return take_scheme(packet, row->scheme_bytes, in);
    case OCHE_HEADER_PLACE:
        return take_scheme(packet, OCHE_PLACE_BYTES, in);
    case OCHE_HEADER_SACK:
        return take_scheme(packet, OCHE_SACK_BYTES, in);
    case OCHE_HEADER_SHARE:
        return take_scheme(packet, OCHE_SHARE_BYTES, in);
    case OCHE_HEADER_RATE:
        return take_scheme(packet, OCHE_RATE_BYTES, in);
    case OCHE_HEADER_TRIM:
        return take_scheme(packet, OCHE_TRIM_BYTES, in);
    case OCHE_HEADER_INT:
        oche_telemetry_get(&packet->telemetry, in);
        packet->ext |= OCHE_EXT_TRAILER;
        return OCHE_INT_BYTES;
    case OCHE_HEADER_GROUP: /* take_list reads the list of senders */
        return take_scheme(packet, OCHE_GROUP_BYTES, in);
    case OCHE_HEADER_NONE:
    case OCHE_HEADERS:
        break;
    }
    return 0;
}

size_t oche_encode_extension(const struct oche_opcode_row *row, const struct oche_packet *packet,
                             uint8_t *out)
{
    size_t at = 0;

    for (unsigned i = 0; i < OCHE_MAX_HEADERS; i++)
        at += put_header((enum oche_header)row->headers[i], row, packet, out + at);
    return at;
}

size_t oche_decode_extension(const struct oche_opcode_row *row, const uint8_t *bytes,
                             struct oche_packet *packet)
{
    size_t at = 0;

    for (unsigned i = 0; i < OCHE_MAX_HEADERS; i++)
        at += take_header((enum oche_header)row->headers[i], row, bytes + at, packet);
    return at;
}

/* True if a list may have `count` senders. */
static bool list_possible(uint32_t count)
{
    return count <= OCHE_GROUP_MOST;
}

/*
 * Reads the list of senders that follows the headers, at most `count` bytes, and sets `bytes` to
 * its length. Returns false if it is cut off or too long, or if its pad is not 0.
 */
static bool take_list(const struct oche_opcode_row *row, const uint8_t *in, size_t count,
                      struct oche_packet *packet, uint32_t *bytes)
{
    uint32_t senders = oche_get16(packet->scheme_header + 4);

    *bytes = 0;
    if (OCHE_LIKELY(!(row->flags & OCHE_OP_HAS(GROUP))) || senders == 0)
        return true;
    if (!list_possible(senders) || oche_list_bytes_of(senders) > count)
        return false;
    if (senders % 2 != 0 && oche_get16(in + 2 * (size_t)senders) != 0)
        return false;
    packet->members = in;
    packet->ext |= OCHE_EXT_LIST;
    *bytes = oche_list_bytes_of(senders);
    return true;
}

size_t oche_encode_headers(const struct oche_packet *packet, const struct oche_frame *frame,
                           uint8_t *out)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    const uint32_t pad = oche_pad_bytes(packet->payload_bytes);
    const uint8_t bth = packet->bth;
    size_t bytes;

    OCHE_MUST(row->name != NULL);
    out[0] = packet->opcode;
    out[1] = (uint8_t)((bth & (OCHE_BTH_SOLICITED | OCHE_BTH_MIGREQ)) | pad << OCHE_BTH_PAD_SHIFT);
    oche_put16(out + 2, packet->pkey);
    out[4] = (uint8_t)(packet->bth_reserved & BTH_RESERVED_MASK);
    if ((bth & OCHE_BTH_FECN) != 0)
        out[4] |= WIRE_FECN;
    if ((bth & OCHE_BTH_BECN) != 0)
        out[4] |= WIRE_BECN;
    oche_put24(out + 5, packet->dest_qpn & OCHE_PSN_MASK);
    out[8] = (bth & OCHE_BTH_ACKREQ) != 0 ? WIRE_ACKREQ : 0;
    if ((bth & OCHE_BTH_FOLLOWS) != 0)
        out[8] |= WIRE_FOLLOWS;
    if ((packet->bth_reserved & OCHE_BTH_RELEASE) != 0)
        out[8] |= WIRE_RELEASE;
    oche_put24(out + 9, packet->psn & OCHE_PSN_MASK);
    bytes = OCHE_BTH_BYTES + oche_encode_extension(row, packet, out + OCHE_BTH_BYTES);
    if (frame != NULL) {
        out[8] |= frame->bth_reserved5 & 0x1f;
        if ((row->flags & OCHE_OP_HAS(DETH)) != 0)
            out[OCHE_BTH_BYTES + 4] = frame->deth_reserved;
    }
    return bytes;
}

/*
 * Writes headers, payload and pad; the caller has checked the capacity. Returns the number of bytes
 * before the ICRC.
 */
static size_t put_transport(const struct oche_packet *packet, const struct oche_frame *frame,
                            uint8_t *out)
{
    const uint32_t pad = oche_pad_bytes(packet->payload_bytes);
    size_t at = oche_encode_headers(packet, frame, out);

    if (packet->payload_bytes > 0) {
        if ((packet->ext & OCHE_EXT_PAYLOAD) != 0 && packet->payload != NULL)
            memcpy(out + at, packet->payload, packet->payload_bytes);
        else
            memset(out + at, 0, packet->payload_bytes);
    }
    at += packet->payload_bytes;
    for (uint32_t i = 0; i < pad; i++)
        out[at++] = frame != NULL ? frame->pad[i] : 0;
    return at;
}

/*
 * If the packet has a trailer behind the ICRC, writes the trailer; zeros if its value was not set.
 * Telemetry is a fact of the frame.
 */
static void put_trailer(const struct oche_packet *packet, const struct oche_frame *frame,
                        uint8_t *out)
{
    static const struct oche_telemetry none;
    const bool have = (packet->ext & OCHE_EXT_TRAILER) != 0;

    if (oche_packet_trailer_bytes(packet) == 0)
        return;
    if (packet->bth & OCHE_BTH_TELEMETRY) {
        oche_telemetry_put(frame != NULL ? &frame->telemetry : &none, out);
        return;
    }
    oche_put32(out, have ? packet->trailer.rate_10kbps : 0);
    oche_put32(out + 4, have ? packet->trailer.rtt_ns : 0);
    oche_put32(out + 8, have ? packet->trailer.stamp_ns : 0);
}

/* Telemetry goes into the frame's facts, as there may be no memory behind the packet. */
static void take_trailer(struct oche_packet *packet, struct oche_frame *frame, const uint8_t *in)
{
    if (packet->bth & OCHE_BTH_TELEMETRY) {
        if (frame != NULL)
            oche_telemetry_get(&frame->telemetry, in);
        return;
    }
    packet->trailer = (struct oche_rate_trailer){.rate_10kbps = oche_get32(in),
                                                 .rtt_ns = oche_get32(in + 4),
                                                 .stamp_ns = oche_get32(in + 8)};
    packet->ext |= OCHE_EXT_TRAILER;
}

/* Returns the size of the whole UDP payload, or 0 if the packet cannot be encoded. */
static uint32_t encodable_bytes(const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if (packet->kind != OCHE_PACKET_ROCE || row->name == NULL)
        return 0;
    if (!payload_possible(row, packet->payload_bytes))
        return 0;
    if ((packet->ext & OCHE_EXT_LIST) &&
        (!(row->flags & OCHE_OP_HAS(GROUP)) || !list_possible(oche_group_get(packet).count)))
        return 0;
    return oche_transport_bytes(packet->opcode, packet->payload_bytes) + oche_list_bytes(packet) +
           oche_packet_trailer_bytes(packet);
}

size_t oche_encode_transport(const struct oche_packet *packet, struct oche_pseudo *pseudo,
                             oche_crc32 *crc32, uint8_t *out, size_t capacity)
{
    const uint32_t bytes = encodable_bytes(packet);
    struct oche_span all = {.bytes = out};

    if (bytes == 0 || bytes > capacity)
        return 0;
    if (bytes + pseudo->count > IP_MAX_BYTES)
        return 0;
    oche_pseudo_set_bytes(pseudo, bytes);
    all.count = put_transport(packet, NULL, out);
    oche_icrc_put(out + all.count, oche_icrc(crc32, pseudo, &all, 1));
    put_trailer(packet, NULL, out + all.count + OCHE_ICRC_BYTES);
    return bytes;
}

enum oche_wire_error oche_decode_transport(const uint8_t *bytes, size_t count,
                                           struct oche_packet *packet, struct oche_frame *frame)
{
    const struct oche_opcode_row *row;
    size_t at, rest;
    uint32_t pad, trailer, list_bytes;

    *packet = (struct oche_packet){.kind = OCHE_PACKET_ROCE};
    if (count < OCHE_BTH_BYTES + OCHE_ICRC_BYTES)
        return OCHE_WIRE_TRUNCATED;
    if (count % 4 != 0 || count > IP_MAX_BYTES)
        return OCHE_WIRE_ALIGNMENT;
    if ((bytes[1] & BTH_TVER_MASK) != 0)
        return OCHE_WIRE_TVER;
    packet->opcode = bytes[0];
    row = oche_opcode(packet->opcode);
    if (row->name == NULL)
        return OCHE_WIRE_OPCODE;
    trailer = oche_bth_trailer_bytes(bytes);
    if (count < (size_t)OCHE_BTH_BYTES + row->header_bytes + OCHE_ICRC_BYTES + trailer)
        return OCHE_WIRE_HEADER;

    packet->bth = bytes[1];
    packet->pkey = oche_get16(bytes + 2);
    packet->bth |= (bytes[4] & WIRE_FECN) != 0 ? OCHE_BTH_FECN : 0;
    packet->bth |= (bytes[4] & WIRE_BECN) != 0 ? OCHE_BTH_BECN : 0;
    packet->bth_reserved = bytes[4] & BTH_RESERVED_MASK;
    packet->dest_qpn = oche_get24(bytes + 5);
    packet->bth |= (bytes[8] & WIRE_ACKREQ) != 0 ? OCHE_BTH_ACKREQ : 0;
    packet->bth |= (bytes[8] & WIRE_FOLLOWS) != 0 ? OCHE_BTH_FOLLOWS : 0;
    packet->bth_reserved |= (bytes[8] & WIRE_RELEASE) != 0 ? OCHE_BTH_RELEASE : 0;
    packet->psn = oche_get24(bytes + 9);
    at = OCHE_BTH_BYTES + oche_decode_extension(row, bytes + OCHE_BTH_BYTES, packet);
    if (!take_list(row, bytes + at, count - OCHE_ICRC_BYTES - trailer - at, packet, &list_bytes))
        return OCHE_WIRE_LIST;
    at += list_bytes;

    if (trailer > 0)
        take_trailer(packet, frame, bytes + count - trailer);
    rest = count - OCHE_ICRC_BYTES - trailer - at;
    pad = (uint32_t)(bytes[1] & OCHE_BTH_PAD_MASK) >> OCHE_BTH_PAD_SHIFT;
    if (pad > rest)
        return OCHE_WIRE_PAD;
    packet->payload_bytes = (uint16_t)(rest - pad);
    if (!payload_possible(row, packet->payload_bytes))
        return OCHE_WIRE_PAYLOAD;
    if (packet->payload_bytes > 0) {
        /* casts const away; nobody writes through this pointer */
        packet->payload = (uint8_t *)(uintptr_t)(bytes + at);
        packet->ext |= OCHE_EXT_PAYLOAD;
    }
    packet->frame_bytes = oche_packet_frame_bytes(packet, false);
    if (frame != NULL) {
        frame->bth_reserved5 = bytes[8] & 0x1f;
        frame->deth_reserved =
            (row->flags & OCHE_OP_HAS(DETH)) != 0 ? bytes[OCHE_BTH_BYTES + 4] : 0;
        memset(frame->pad, 0, sizeof frame->pad);
        memcpy(frame->pad, bytes + at + packet->payload_bytes, pad);
    }
    return OCHE_WIRE_OK;
}

/* ---- IP and UDP ---- */

/* Adds 16-bit words to a one's complement sum (RFC 1071) that is not yet inverted. */
static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t count)
{
    for (; count > 1; bytes += 2, count -= 2)
        sum += oche_get16(bytes);
    if (count == 1)
        sum += (uint32_t)bytes[0] << 8;
    return sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

uint16_t oche_udp_checksum(const uint8_t *ip)
{
    const bool ipv4 = ip[0] >> 4 == 4;
    const size_t header_bytes = ipv4 ? OCHE_IPV4_BYTES : OCHE_IPV6_BYTES;
    const uint8_t *udp = ip + header_bytes;
    const uint16_t udp_bytes = oche_get16(udp + 4);
    uint32_t sum = (uint32_t)OCHE_IP_UDP + udp_bytes;
    uint16_t folded;

    sum = ipv4 ? add_words(sum, ip + 12, 8) : add_words(sum, ip + 8, 32);
    sum = add_words(sum, udp, 6); /* the checksum field, left out here, counts as 0 */
    folded = fold(add_words(sum, udp + OCHE_UDP_BYTES, (size_t)udp_bytes - OCHE_UDP_BYTES));
    return folded == 0xffff ? folded : (uint16_t)~folded;
}

/* Writes the IP and UDP headers of a packet. Returns their length together. */
static size_t put_ip_udp(const struct oche_frame *frame, uint8_t ecn, uint16_t source_port,
                         uint32_t transport_bytes, uint8_t *out)
{
    const uint16_t udp_bytes = (uint16_t)(OCHE_UDP_BYTES + transport_bytes);
    const uint8_t tos = (uint8_t)((frame->dscp & 0x3f) << 2 | (ecn & 3));
    size_t at;

    if (frame->ipv6) {
        oche_put32(out, UINT32_C(6) << 28 | (uint32_t)tos << 20 | (frame->flow_label & 0xfffff));
        oche_put16(out + 4, udp_bytes);
        out[6] = OCHE_IP_UDP;
        out[7] = frame->ttl;
        memcpy(out + 8, frame->src_ip, 16);
        memcpy(out + 24, frame->dst_ip, 16);
        at = OCHE_IPV6_BYTES;
    } else {
        out[0] = 0x45;
        out[1] = tos;
        oche_put16(out + 2, (uint16_t)(OCHE_IPV4_BYTES + udp_bytes));
        oche_put16(out + 4, frame->ip_id);
        out[6] = frame->ip_flags & (IPV4_FLAGS_MASK & ~IPV4_MORE);
        out[7] = 0;
        out[8] = frame->ttl;
        out[9] = OCHE_IP_UDP;
        oche_put16(out + 10, 0);
        memcpy(out + 12, frame->src_ip + 12, 4);
        memcpy(out + 16, frame->dst_ip + 12, 4);
        oche_put16(out + 10, (uint16_t)~fold(add_words(0, out, OCHE_IPV4_BYTES)));
        at = OCHE_IPV4_BYTES;
    }
    oche_put16(out + at, source_port);
    oche_put16(out + at + 2, OCHE_ROCE_UDP_PORT);
    oche_put16(out + at + 4, udp_bytes);
    oche_put16(out + at + 6, frame->udp_checksum);
    return at + OCHE_UDP_BYTES;
}

void oche_pseudo_from_frame(struct oche_pseudo *pseudo, const struct oche_frame *frame,
                            uint16_t udp_source_port, uint32_t transport_bytes)
{
    uint8_t head[OCHE_IPV6_BYTES + OCHE_UDP_BYTES];

    put_ip_udp(frame, 0, udp_source_port, transport_bytes, head);
    oche_pseudo_from_bytes(pseudo, head);
}

size_t oche_encode_frame(const struct oche_packet *packet, const struct oche_frame *frame,
                         oche_crc32 *crc32, uint8_t *out, size_t capacity)
{
    const uint32_t transport_bytes = encodable_bytes(packet);
    const size_t eth_bytes = frame->ethernet ? OCHE_ETH_BYTES : 0;
    const size_t ip_bytes = OCHE_UDP_BYTES + (frame->ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES);
    struct oche_pseudo pseudo;
    struct oche_span all;
    uint8_t *ip = out + eth_bytes;

    if (transport_bytes == 0 || ip_bytes + transport_bytes > IP_MAX_BYTES)
        return 0;
    if (eth_bytes + ip_bytes + transport_bytes > capacity)
        return 0;
    if (frame->ethernet) {
        memcpy(out, frame->dst_mac, 6);
        memcpy(out + 6, frame->src_mac, 6);
        oche_put16(out + ETH_TYPE_OFFSET, frame->ipv6 ? OCHE_ETHERTYPE_IPV6 : OCHE_ETHERTYPE_IPV4);
    }
    put_ip_udp(frame, packet->ecn, packet->udp_source_port, transport_bytes, ip);
    oche_pseudo_from_bytes(&pseudo, ip);
    all.bytes = ip + ip_bytes;
    all.count = put_transport(packet, frame, ip + ip_bytes);
    oche_icrc_put(ip + ip_bytes + all.count, oche_icrc(crc32, &pseudo, &all, 1));
    put_trailer(packet, frame, ip + ip_bytes + all.count + OCHE_ICRC_BYTES);
    return eth_bytes + ip_bytes + transport_bytes;
}

/*
 * Reads the IPv4 header. First it decides whether the packet is RoCE at all, so that other traffic
 * is reported as "not RoCE" and not as a malformed RoCE packet.
 */
static enum oche_wire_error take_ipv4(const uint8_t *ip, size_t count, struct oche_frame *frame,
                                      uint8_t *ecn, size_t *ip_bytes)
{
    const size_t header_bytes = (size_t)(ip[0] & 0x0f) * 4;
    uint16_t fragment;

    if (count < OCHE_IPV4_BYTES)
        return OCHE_WIRE_TRUNCATED;
    if (ip[9] != OCHE_IP_UDP)
        return OCHE_WIRE_NOT_UDP;
    fragment = oche_get16(ip + 6);
    if ((fragment & IPV4_OFFSET_MASK) != 0)
        return OCHE_WIRE_NOT_ROCE; /* a fragment that is not the first has no UDP header */
    if (header_bytes < OCHE_IPV4_BYTES || count < header_bytes + OCHE_UDP_BYTES)
        return OCHE_WIRE_TRUNCATED;
    if (oche_get16(ip + header_bytes + 2) != OCHE_ROCE_UDP_PORT)
        return OCHE_WIRE_NOT_ROCE;
    if (header_bytes != OCHE_IPV4_BYTES)
        return OCHE_WIRE_IP_OPTIONS;
    if (fold(add_words(0, ip, OCHE_IPV4_BYTES)) != 0xffff)
        return OCHE_WIRE_IP_CHECKSUM;
    if ((ip[6] & IPV4_MORE) != 0)
        return OCHE_WIRE_FRAGMENT;
    frame->dscp = ip[1] >> 2;
    *ecn = ip[1] & 3;
    frame->ip_id = oche_get16(ip + 4);
    frame->ip_flags = ip[6] & IPV4_FLAGS_MASK;
    frame->ttl = ip[8];
    oche_ip_map_ipv4(frame->src_ip, ip + 12);
    oche_ip_map_ipv4(frame->dst_ip, ip + 16);
    *ip_bytes = oche_get16(ip + 2);
    return OCHE_WIRE_OK;
}

static enum oche_wire_error take_ipv6(const uint8_t *ip, size_t count, struct oche_frame *frame,
                                      uint8_t *ecn, size_t *ip_bytes)
{
    if (count < OCHE_IPV6_BYTES)
        return OCHE_WIRE_TRUNCATED;
    if (ip[6] != OCHE_IP_UDP)
        return OCHE_WIRE_NOT_UDP;
    if (count < OCHE_IPV6_BYTES + OCHE_UDP_BYTES)
        return OCHE_WIRE_TRUNCATED;
    if (oche_get16(ip + OCHE_IPV6_BYTES + 2) != OCHE_ROCE_UDP_PORT)
        return OCHE_WIRE_NOT_ROCE;
    frame->ipv6 = true;
    frame->dscp = (uint8_t)(oche_get16(ip) >> 6 & 0x3f);
    *ecn = ip[1] >> 4 & 3;
    frame->flow_label = oche_get24(ip + 1) & 0xfffff;
    frame->ttl = ip[7];
    memcpy(frame->src_ip, ip + 8, 16);
    memcpy(frame->dst_ip, ip + 24, 16);
    *ip_bytes = (size_t)OCHE_IPV6_BYTES + oche_get16(ip + 4);
    return OCHE_WIRE_OK;
}

/*
 * Decodes from the IP header on. `version` is the IP version that the EtherType says; 0: both are
 * allowed.
 */
static enum oche_wire_error decode_ip(const uint8_t *ip, size_t count, unsigned version,
                                      oche_crc32 *crc32, struct oche_packet *packet,
                                      struct oche_frame *frame)
{
    enum oche_wire_error error;
    struct oche_pseudo pseudo;
    size_t ip_bytes, header_bytes, udp_bytes;
    uint8_t ecn;

    if (count == 0)
        return OCHE_WIRE_TRUNCATED;
    if (ip[0] >> 4 != 4 && ip[0] >> 4 != 6)
        return version == 0 ? OCHE_WIRE_NOT_IP : OCHE_WIRE_IP_VERSION;
    if (version != 0 && ip[0] >> 4 != version)
        return OCHE_WIRE_IP_VERSION;
    error = ip[0] >> 4 == 4 ? take_ipv4(ip, count, frame, &ecn, &ip_bytes)
                            : take_ipv6(ip, count, frame, &ecn, &ip_bytes);
    if (error != OCHE_WIRE_OK)
        return error;
    header_bytes = frame->ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES;
    udp_bytes = oche_get16(ip + header_bytes + 4);
    if (udp_bytes < OCHE_UDP_BYTES)
        return OCHE_WIRE_UDP_LENGTH;
    if (ip_bytes != header_bytes + udp_bytes)
        return OCHE_WIRE_IP_LENGTH;
    if (ip_bytes > count)
        return OCHE_WIRE_TRUNCATED;

    header_bytes += OCHE_UDP_BYTES;
    error = oche_decode_transport(ip + header_bytes, ip_bytes - header_bytes, packet, frame);
    packet->ecn = ecn;
    packet->udp_source_port = oche_get16(ip + header_bytes - OCHE_UDP_BYTES);
    frame->udp_checksum = oche_get16(ip + header_bytes - 2);
    frame->frame_bytes += (uint32_t)ip_bytes;
    if (error != OCHE_WIRE_OK)
        return error;
    packet->frame_bytes = oche_packet_frame_bytes(packet, frame->ipv6);
    if (crc32 == NULL)
        return OCHE_WIRE_OK;
    oche_pseudo_from_bytes(&pseudo, ip);
    if (!oche_icrc_check(crc32, &pseudo, ip + header_bytes,
                         ip_bytes - header_bytes - oche_packet_trailer_bytes(packet)))
        return OCHE_WIRE_ICRC;
    return OCHE_WIRE_OK;
}

enum oche_wire_error oche_decode_ip(const uint8_t *bytes, size_t count, oche_crc32 *crc32,
                                    struct oche_packet *packet, struct oche_frame *frame)
{
    *packet = (struct oche_packet){.kind = OCHE_PACKET_ROCE};
    *frame = (struct oche_frame){0};
    return decode_ip(bytes, count, 0, crc32, packet, frame);
}

enum oche_wire_error oche_decode_ethernet(const uint8_t *bytes, size_t count, oche_crc32 *crc32,
                                          struct oche_packet *packet, struct oche_frame *frame)
{
    unsigned version;

    *packet = (struct oche_packet){.kind = OCHE_PACKET_ROCE};
    *frame = (struct oche_frame){.ethernet = true, .frame_bytes = OCHE_ETH_BYTES};
    if (count < OCHE_ETH_BYTES)
        return OCHE_WIRE_TRUNCATED;
    memcpy(frame->dst_mac, bytes, 6);
    memcpy(frame->src_mac, bytes + 6, 6);
    switch (oche_get16(bytes + ETH_TYPE_OFFSET)) {
    case OCHE_ETHERTYPE_IPV4:
        version = 4;
        break;
    case OCHE_ETHERTYPE_IPV6:
        version = 6;
        break;
    default:
        return OCHE_WIRE_NOT_IP;
    }
    return decode_ip(bytes + OCHE_ETH_BYTES, count - OCHE_ETH_BYTES, version, crc32, packet, frame);
}

uint16_t oche_udp_source_port(uint32_t local_qpn, uint32_t remote_qpn)
{
    uint64_t v = (uint64_t)local_qpn * remote_qpn;
    uint32_t label;

    v ^= v >> 20;
    v ^= v >> 40;
    label = (uint32_t)v & 0xfffff;
    return (uint16_t)(((label & 0x3fff) ^ (label & 0xfc000) >> 14) | 0xc000);
}
