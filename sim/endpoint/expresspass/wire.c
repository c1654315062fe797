/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as bytes, for captures and bytes mode: Ethernet, then IPv4 or IPv6 with protocol 253 (for
 * experiments, RFC 3692), then 20 bytes. ExpressPass's paper defines no format, so this one is
 * ours:
 *
 *     0  kind           1  connection + 16, 24 bits     4  number of the credit or of the STOP
 *     8  place in the stream, 64 bits                   16 when the credit left, in nanoseconds
 */
#include <string.h>

#include "core/wire/bytes.h"
#include "sim/endpoint/expresspass/xpass.h"
#include "sim/endpoint/ip_frame.h"

#define IP_EXPERIMENT 253
#define HEADER        OCHE_XPASS_HEADER_BYTES

size_t oche_xpass_encode(const struct oche_packet *packet, const struct oche_frame *frame,
                         uint8_t *bytes, size_t size)
{
    size_t ip_bytes = frame->ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES;
    size_t used = OCHE_ETH_BYTES + ip_bytes + HEADER + packet->payload_bytes;
    size_t count = packet->frame_bytes - (size_t)OCHE_FCS_BYTES;
    uint8_t *ip = bytes + OCHE_ETH_BYTES, *header = ip + ip_bytes;

    if (size < count || count < used)
        return 0;
    memcpy(bytes, frame->dst_mac, 6);
    memcpy(bytes + 6, frame->src_mac, 6);
    oche_put16(bytes + 12, frame->ipv6 ? OCHE_ETHERTYPE_IPV6 : OCHE_ETHERTYPE_IPV4);
    oche_ip_put(packet, frame, IP_EXPERIMENT, HEADER + (size_t)packet->payload_bytes, ip);
    oche_put32(header, (uint32_t)packet->xpass.type << 24 | (packet->dest_qpn & 0xffffff));
    oche_put32(header + 4, packet->xpass.credit);
    oche_put32(header + 8, (uint32_t)(packet->xpass_offset >> 32));
    oche_put32(header + 12, (uint32_t)packet->xpass_offset);
    oche_put32(header + 16, packet->xpass.sent_ns);
    if ((packet->ext & OCHE_EXT_PAYLOAD) && packet->payload != NULL)
        memcpy(header + HEADER, packet->payload, packet->payload_bytes);
    else
        memset(header + HEADER, 0, packet->payload_bytes);
    /* Pads up to the smallest frame size, or to the size of a longer credit. */
    memset(bytes + used, 0, count - used);
    return count;
}

static bool take_header(const uint8_t *header, size_t bytes, struct oche_packet *packet)
{
    if (bytes < HEADER || header[0] == 0 || header[0] >= OCHE_XPASS_KINDS)
        return false;
    packet->xpass.type = header[0];
    packet->dest_qpn = oche_get32(header) & 0xffffff;
    packet->xpass.credit = oche_get32(header + 4);
    packet->xpass_offset = (uint64_t)oche_get32(header + 8) << 32 | oche_get32(header + 12);
    packet->xpass.sent_ns = oche_get32(header + 16);
    packet->payload_bytes = (uint16_t)(bytes - HEADER);
    packet->ext = OCHE_EXT_SCHEME;
    return (packet->payload_bytes > 0) == (packet->xpass.type == OCHE_XPASS_DATA);
}

bool oche_xpass_decode(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                       struct oche_frame *frame)
{
    size_t behind;
    const uint8_t *header = oche_ip_take_frame(bytes, count, IP_EXPERIMENT, packet, frame, &behind);

    if (header == NULL || count > UINT16_MAX - OCHE_FCS_BYTES ||
        !take_header(header, behind, packet))
        return false;
    packet->kind = OCHE_PACKET_XPASS;
    packet->frame_bytes = (uint16_t)(count + OCHE_FCS_BYTES);
    if (packet->payload_bytes > 0 && packet->payload != NULL) {
        memcpy(packet->payload, header + HEADER, packet->payload_bytes);
        packet->ext |= OCHE_EXT_PAYLOAD;
    }
    return true;
}
