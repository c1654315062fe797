/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a pair as bytes; see pair_bytes.h. */
#include "tests/support/pair_bytes.h"

#include <string.h>

#include <zlib.h>

#include "core/wire/codec.h"

#define CLASS_DSCP 8 /* traffic class c travels as DSCP 8 c */

static uint32_t crc(uint32_t before, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(before, bytes, count);
}

static void put_ip(uint32_t address, bool ipv6, uint8_t ip[16])
{
    const uint8_t ipv4[4] = {10, (uint8_t)(address >> 16), (uint8_t)(address >> 8),
                             (uint8_t)address};

    if (!ipv6) {
        oche_ip_map_ipv4(ip, ipv4);
        return;
    }
    memset(ip, 0, 16);
    ip[0] = 0xfd;
    memcpy(ip + 12, ipv4, sizeof(ipv4));
}

static uint32_t get_ip(const uint8_t ip[16])
{
    return (uint32_t)ip[13] << 16 | (uint32_t)ip[14] << 8 | ip[15];
}

size_t pair_bytes_encode(const struct oche_packet *packet, bool ipv6, uint8_t *wire)
{
    struct oche_frame frame = {
        .ipv6 = ipv6,
        .dscp = (uint8_t)(CLASS_DSCP * packet->traffic_class),
        .ttl = 64,
        .ip_flags = OCHE_IP_DF,
    };

    put_ip(packet->src, ipv6, frame.src_ip);
    put_ip(packet->dst, ipv6, frame.dst_ip);
    size_t bytes = oche_encode_frame(packet, &frame, crc, wire, PAIR_WIRE_BYTES);
    OCHE_MUST(bytes > 0);
    return bytes;
}

static void flip(uint8_t *wire, size_t bit)
{
    wire[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

void pair_bytes_damage(struct oche_random *random, bool ipv6, bool spare, uint8_t *wire,
                       size_t bytes)
{
    const size_t open = (ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) + OCHE_UDP_BYTES + 4;
    const uint8_t kept = wire[open];
    const size_t bits = bytes * 8, first = oche_random_below(random, bits);
    const uint64_t how = oche_random_below(random, 4);

    flip(wire, first);
    if (how == 0) { /* another bit, anywhere else */
        flip(wire, (first + 1 + oche_random_below(random, bits - 1)) % bits);
    } else if (how == 1) { /* any of the next 31 */
        const uint64_t which = oche_random_u64(random);
        for (size_t i = 1; i < 32 && first + i < bits; i++)
            if (which >> i & 1)
                flip(wire, first + i);
    }
    if (spare)
        wire[open] = kept;
}

bool pair_bytes_decode(struct oche_packet *packet, uint8_t *wire, size_t bytes)
{
    struct oche_packet out;
    struct oche_frame frame;

    if (oche_decode_ip(wire, bytes, crc, &out, &frame) != OCHE_WIRE_OK)
        return false;
    out.src = get_ip(frame.src_ip);
    out.dst = get_ip(frame.dst_ip);
    out.traffic_class = (uint8_t)(frame.dscp / CLASS_DSCP);
    /* Fields that are not on the wire stay. */
    out.flow_hash = packet->flow_hash;
    out.tag = packet->tag;
    out.next = packet->next;
    out.when = packet->when;
    *packet = out;
    return true;
}

bool pair_bytes_same(const struct oche_packet *sent, const struct oche_packet *arrived)
{
    const uint8_t open = OCHE_BTH_FECN | OCHE_BTH_BECN;
    const bool payload = sent->payload_bytes > 0 && (sent->ext & OCHE_EXT_PAYLOAD) != 0;

    return sent->src == arrived->src && sent->dst == arrived->dst &&
           sent->opcode == arrived->opcode && sent->psn == arrived->psn &&
           sent->dest_qpn == arrived->dest_qpn && sent->pkey == arrived->pkey &&
           sent->aeth == arrived->aeth && ((sent->bth ^ arrived->bth) & (uint8_t)~open) == 0 &&
           sent->payload_bytes == arrived->payload_bytes &&
           ((sent->ext & OCHE_EXT_RETH) == 0 ||
            (sent->reth.va == arrived->reth.va && sent->reth.rkey == arrived->reth.rkey)) &&
           ((sent->ext & OCHE_EXT_IMM) == 0 || sent->imm == arrived->imm) &&
           (!payload || memcmp(sent->payload, arrived->payload, sent->payload_bytes) == 0);
}

bool pair_bytes_trim(struct oche_packet *packet, uint8_t cls)
{
    const uint32_t data = OCHE_OP_REQUEST | OCHE_OP_PAYLOAD;
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if ((row->flags & data) != data || packet->payload_bytes == 0 ||
        (row->service != OCHE_SERVICE_RC && row->service != OCHE_SERVICE_RC_EXTENDED))
        return false;
    packet->kind = OCHE_PACKET_TRIMMED;
    packet->aeth = OCHE_TRIMMED_ON_THE_WAY;
    packet->ext = 0;
    packet->frame_bytes = OCHE_MIN_FRAME_BYTES;
    packet->traffic_class = cls;
    return true;
}
