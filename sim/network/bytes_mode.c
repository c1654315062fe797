/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes mode: struct to bytes and back. */
#include "sim/network/bytes_mode.h"

#include <string.h>

#include <zlib.h>

#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "core/wire/extension.h"
#include "core/wire/pfc_frame.h"
#include "core/wire/telemetry.h"
#include "sim/network/endpoint.h"
#include "sim/network/address.h"

static uint32_t crc(uint32_t before, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32(before, bytes, (uInt)count);
}

static void cross_as_pfc(uint8_t *bytes, struct oche_packet *packet)
{
    static const uint8_t mac[6] = {2};
    struct oche_packet out = *packet;

    oche_pfc_encode(packet, mac, bytes);
    memset(&out.pfc, 0, sizeof(out.pfc));
    out.ext = 0;
    bool decoded = oche_pfc_decode(bytes, OCHE_PFC_BYTES, &out, NULL);
    OCHE_MUST(decoded);
    packet->pfc = out.pfc;
    packet->ext = out.ext;
}

/*
 * Converts InfiniBand's flow control packets, one for each class, to bytes and back. The fields are
 * op (0: normal), FCTBS, VL and FCCL, of 4, 12, 4 and 12 bits. The CRC is left out, because no link
 * here corrupts packets.
 */
static void cross_as_fcp(uint8_t *bytes, struct oche_packet *packet)
{
    size_t count = 0;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        if (!oche_fcp_has(packet, cls))
            continue;
        oche_put32(bytes + 4 * count++, (uint32_t)packet->fcp.lane[cls].fctbs << 16 | cls << 12 |
                                            packet->fcp.lane[cls].fccl);
    }
    memset(&packet->fcp, 0, sizeof(packet->fcp));
    packet->ext = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t word = oche_get32(bytes + 4 * i);

        OCHE_MUST(word >> 28 == 0);
        oche_fcp_set(packet, word >> 12 & 7, word >> 16 & 0xfff, word & 0xfff);
    }
}

/* Fields that are not on the wire are left unchanged by the endpoint's decoder. */
static void cross_as_other(uint8_t *bytes, const struct oche_endpoint *endpoint, bool ipv6,
                           struct oche_packet *packet)
{
    struct oche_packet out = *packet;
    struct oche_frame frame;

    OCHE_MUST(endpoint != NULL && endpoint->encode != NULL);
    oche_address_frame(packet, ipv6, &frame);
    size_t count = endpoint->encode(packet, &frame, bytes, OCHE_BYTES_MODE_FRAME);
    OCHE_MUST(count > 0);
    if (packet->kind == OCHE_PACKET_TCP)
        out.tcp = (struct oche_tcp_fields){0};
    else
        out.xpass = (struct oche_xpass_fields){0};
    out.dest_qpn = 0;
    out.payload_bytes = out.frame_bytes = 0;
    out.ecn = out.ext = 0;
    bool decoded = endpoint->decode(bytes, count, &out, &frame);
    OCHE_MUST(decoded);
    oche_address_packet(&frame, &out);
    out.ext = (uint8_t)((out.ext & ~OCHE_EXT_PAYLOAD) | (packet->ext & OCHE_EXT_PAYLOAD));
    *packet = out;
}

/*
 * A trimmed packet: what the cut has left becomes bytes. The reader takes zeros for the rest, whose
 * length the IP header tells, and believes what it reads up to the transport header.
 */
static void cross_as_trimmed(uint8_t *bytes, bool ipv6, struct oche_packet *packet)
{
    struct oche_packet whole = *packet, out;
    struct oche_frame frame, out_frame;

    whole.kind = OCHE_PACKET_ROCE;
    whole.aeth = 0;
    oche_address_frame(&whole, ipv6, &frame);
    const size_t count = oche_encode_frame(&whole, &frame, crc, bytes, OCHE_BYTES_MODE_FRAME);
    const size_t kept = packet->frame_bytes - (size_t)OCHE_FCS_BYTES;

    OCHE_MUST(count > kept);
    memset(bytes + kept, 0, count - kept);
    const enum oche_wire_error error = oche_decode_ethernet(bytes, count, NULL, &out, &out_frame);
    OCHE_MUST(error == OCHE_WIRE_OK);
    oche_address_packet(&out_frame, &out);
    packet->src = out.src;
    packet->dst = out.dst;
    packet->dest_qpn = out.dest_qpn;
    packet->psn = out.psn;
    packet->pkey = out.pkey;
    packet->opcode = out.opcode;
    packet->bth = out.bth;
    packet->payload_bytes = out.payload_bytes;
    packet->udp_source_port = out.udp_source_port;
    packet->traffic_class = out.traffic_class;
    packet->ecn = out.ecn;
}

void oche_bytes_mode(uint8_t *scratch, const struct oche_endpoint *endpoint, bool ipv6,
                     struct oche_packet *packet)
{
    struct oche_frame frame, out_frame;
    struct oche_packet out;

    if (packet->kind == OCHE_PACKET_PFC) {
        cross_as_pfc(scratch, packet);
        return;
    }
    if (packet->kind == OCHE_PACKET_FCP) {
        cross_as_fcp(scratch, packet);
        return;
    }
    if (packet->kind == OCHE_PACKET_TRIMMED) {
        cross_as_trimmed(scratch, ipv6, packet);
        return;
    }
    if (packet->kind != OCHE_PACKET_ROCE) {
        cross_as_other(scratch, endpoint, ipv6, packet);
        return;
    }
    oche_address_frame(packet, ipv6, &frame);
    if (oche_has_telemetry(packet))
        frame.telemetry = *oche_telemetry_of(packet);
    size_t count = oche_encode_frame(packet, &frame, crc, scratch, OCHE_BYTES_MODE_FRAME);
    OCHE_MUST(count > 0);
    enum oche_wire_error error = oche_decode_ethernet(scratch, count, crc, &out, &out_frame);
    OCHE_MUST(error == OCHE_WIRE_OK);
    /* Fields that are not on the wire are copied; all others come from the bytes. */
    out.next = packet->next;
    out.when = packet->when;
    out.flow_hash = packet->flow_hash;
    out.tag = packet->tag;
    out.ingress_port = packet->ingress_port;
    out.hops = packet->hops;
    out.bth_reserved |= packet->bth_reserved & OCHE_BTH_HAD_TOKENS;
    oche_address_packet(&out_frame, &out);
    if (packet->payload != NULL && (packet->ext & OCHE_EXT_PAYLOAD))
        memcpy(packet->payload, out.payload, out.payload_bytes);
    else
        out.ext = (uint8_t)(out.ext & ~OCHE_EXT_PAYLOAD);
    out.payload = packet->payload;
    if (oche_has_telemetry(packet)) {
        *oche_telemetry_of(packet) = out_frame.telemetry;
        out.ext |= OCHE_EXT_TRAILER; /* the decoder knows no memory behind the packet */
    }
    if (packet->ext & OCHE_EXT_LIST) {
        OCHE_MUST(memcmp(out.members, packet->members, 2 * (size_t)oche_group_get(packet).count) ==
                  0);
        /* The decoded list lies in `scratch`, which the next packet overwrites. */
        out.members = packet->members;
    }
    *packet = out;
}
