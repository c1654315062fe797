/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments as bytes: Ethernet, IPv4 or IPv6, TCP with its checksum (RFC 9293 sec 3.1), for captures
 * and bytes mode. Connection n has the sender's port 2^15 + n mod 2^15 and the receiver's port 5001
 * + n / 2^15, so that the bytes tell the connection. A SYN's options (MSS, window scale) are in the
 * packet's tcp_options, unchanged.
 */
#include <string.h>

#include "core/wire/bytes.h"
#include "sim/endpoint/ip_frame.h"
#include "sim/endpoint/tcp_dctcp/tcp.h"

#define SENDER_PORT   0x8000
#define RECEIVER_PORT 5001
#define IP_TCP        6
#define HEADER        20
#define OPTIONS       8 /* bytes of a SYN's options */

static bool from_sender(const struct oche_packet *packet)
{
    return packet->payload_bytes > 0 ||
           (packet->tcp.flags & (OCHE_TCP_SYN | OCHE_TCP_ACK)) == OCHE_TCP_SYN;
}

/*
 * Computes the checksum over an IP header without options and the TCP segment after it. A correct
 * segment gives 0.
 */
static uint16_t tcp_checksum(const uint8_t *ip, bool ipv6, size_t bytes)
{
    uint32_t sum = IP_TCP + (uint32_t)bytes;

    sum = ipv6 ? oche_ip_sum16(sum, ip + 8, 32) : oche_ip_sum16(sum, ip + 12, 8);
    return oche_ip_fold(oche_ip_sum16(sum, ip + (ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES), bytes));
}

static void put_tcp(const struct oche_packet *packet, uint8_t *tcp)
{
    uint32_t number = packet->dest_qpn - OCHE_FIRST_QPN;
    uint16_t sender = (uint16_t)(SENDER_PORT | (number & (SENDER_PORT - 1)));
    uint16_t receiver = (uint16_t)(RECEIVER_PORT + number / SENDER_PORT);
    bool syn = (packet->tcp.flags & OCHE_TCP_SYN) != 0;

    oche_put16(tcp, from_sender(packet) ? sender : receiver);
    oche_put16(tcp + 2, from_sender(packet) ? receiver : sender);
    oche_put32(tcp + 4, packet->tcp.sequence);
    oche_put32(tcp + 8, packet->tcp.acknowledgement);
    tcp[12] = (uint8_t)((HEADER + (syn ? OPTIONS : 0)) / 4 << 4);
    tcp[13] = packet->tcp.flags;
    oche_put16(tcp + 14, packet->tcp.window);
    oche_put32(tcp + 16, 0); /* clears checksum and urgent pointer */
    if (syn)
        memcpy(tcp + HEADER, packet->tcp_options, OPTIONS);
}

size_t oche_tcp_encode(const struct oche_packet *packet, const struct oche_frame *frame,
                       uint8_t *bytes, size_t size)
{
    size_t ip_bytes = frame->ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES;
    size_t header = HEADER + (packet->tcp.flags & OCHE_TCP_SYN ? OPTIONS : 0);
    size_t segment = header + packet->payload_bytes;
    uint8_t *ip = bytes + OCHE_ETH_BYTES, *tcp = ip + ip_bytes;

    if (size < OCHE_ETH_BYTES + ip_bytes + segment)
        return 0;
    memcpy(bytes, frame->dst_mac, 6);
    memcpy(bytes + 6, frame->src_mac, 6);
    oche_put16(bytes + 12, frame->ipv6 ? OCHE_ETHERTYPE_IPV6 : OCHE_ETHERTYPE_IPV4);
    oche_ip_put(packet, frame, IP_TCP, segment, ip);
    put_tcp(packet, tcp);
    if ((packet->ext & OCHE_EXT_PAYLOAD) && packet->payload != NULL)
        memcpy(tcp + header, packet->payload, packet->payload_bytes);
    else
        memset(tcp + header, 0, packet->payload_bytes);
    oche_put16(tcp + 16, tcp_checksum(ip, frame->ipv6, segment));
    return OCHE_ETH_BYTES + ip_bytes + segment;
}

static bool take_tcp(const uint8_t *tcp, size_t segment, struct oche_packet *packet)
{
    uint16_t from, to;

    if (segment < HEADER)
        return false;
    size_t header = (size_t)(tcp[12] >> 4) * 4;
    bool syn = (tcp[13] & OCHE_TCP_SYN) != 0;
    if (header != HEADER + (syn ? OPTIONS : 0U) || segment < header)
        return false;
    packet->tcp.sequence = oche_get32(tcp + 4);
    packet->tcp.acknowledgement = oche_get32(tcp + 8);
    packet->tcp.flags = tcp[13];
    packet->tcp.window = oche_get16(tcp + 14);
    packet->payload_bytes = (uint16_t)(segment - header);
    packet->ext = 0;
    if (syn) {
        memcpy(packet->tcp_options, tcp + HEADER, OPTIONS);
        packet->ext = OCHE_EXT_SCHEME;
    }
    from = oche_get16(tcp + (from_sender(packet) ? 0 : 2));
    to = oche_get16(tcp + (from_sender(packet) ? 2 : 0));
    if (from < SENDER_PORT || to < RECEIVER_PORT || to >= RECEIVER_PORT + 512)
        return false;
    packet->dest_qpn =
        OCHE_FIRST_QPN + (from & (SENDER_PORT - 1)) + (uint32_t)(to - RECEIVER_PORT) * SENDER_PORT;
    return true;
}

bool oche_tcp_decode(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                     struct oche_frame *frame)
{
    size_t segment;
    const uint8_t *tcp = oche_ip_take_frame(bytes, count, IP_TCP, packet, frame, &segment);

    if (tcp == NULL || tcp_checksum(bytes + OCHE_ETH_BYTES, frame->ipv6, segment) != 0 ||
        !take_tcp(tcp, segment, packet))
        return false;
    packet->kind = OCHE_PACKET_TCP;
    packet->frame_bytes = (uint16_t)oche_tcp_frame_bytes(
        packet->payload_bytes, (packet->tcp.flags & OCHE_TCP_SYN) != 0, frame->ipv6);
    if (packet->payload_bytes > 0 && packet->payload != NULL) {
        memcpy(packet->payload, tcp + segment - packet->payload_bytes, packet->payload_bytes);
        packet->ext |= OCHE_EXT_PAYLOAD;
    }
    return true;
}
