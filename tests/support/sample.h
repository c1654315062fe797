/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets with a value in every field of their opcode, for tests of the codec and of capture
 * writers. Values come from a random stream.
 */
#ifndef OCHE_TESTS_SUPPORT_SAMPLE_H
#define OCHE_TESTS_SUPPORT_SAMPLE_H

#include "core/random.h"
#include "core/wire/codec.h"
#include "core/wire/extension.h"

static inline uint32_t sample_bits(struct oche_random *random, unsigned bits)
{
    return (uint32_t)(oche_random_u64(random) >> (64 - bits));
}

static inline void sample_bytes(struct oche_random *random, uint8_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)sample_bits(random, 8);
}

/* Returns a payload size that the opcode can have; `most` is a multiple of 4. */
static inline uint16_t sample_payload(struct oche_random *random, uint8_t opcode, uint32_t most)
{
    const uint32_t flags = oche_opcode(opcode)->flags;

    if ((flags & OCHE_OP_PAYLOAD) == 0)
        return 0;
    if ((flags & OCHE_OP_LAST) == 0)
        return (uint16_t)(4 * (1 + oche_random_below(random, most / 4)));
    return (uint16_t)oche_random_below(random, most + 1);
}

/* Fills in RCP's trailer, and the telemetry of an ACK. */
static inline void sample_trailer(struct oche_random *random, struct oche_packet *packet)
{
    if (oche_opcode_has(packet->opcode, OCHE_OP_HAS(INT))) {
        packet->ext |= OCHE_EXT_TRAILER;
        sample_bytes(random, (uint8_t *)&packet->telemetry, OCHE_INT_BYTES);
    }
    if (oche_packet_trailer_bytes(packet) == OCHE_TRAILER_BYTES) {
        packet->ext |= OCHE_EXT_TRAILER;
        packet->trailer.rate_10kbps = sample_bits(random, 32);
        packet->trailer.rtt_ns = sample_bits(random, 32);
        packet->trailer.stamp_ns = sample_bits(random, 32);
    }
}

/* Fills `payload`, which has room for `most` bytes. */
static inline struct oche_packet sample_packet(struct oche_random *random, uint8_t opcode,
                                               uint8_t *payload, uint32_t most)
{
    const uint32_t flags = oche_opcode(opcode)->flags;
    struct oche_packet packet = {
        .opcode = opcode,
        .dest_qpn = sample_bits(random, 24),
        .psn = sample_bits(random, 24),
        .udp_source_port = (uint16_t)(0xc000 | sample_bits(random, 14)),
        .pkey = (uint16_t)sample_bits(random, 16),
        .bth = (uint8_t)sample_bits(random, 8) & (uint8_t)~OCHE_BTH_PAD_MASK,
        .bth_reserved = (uint8_t)(sample_bits(random, 6) | sample_bits(random, 1) << 7),
        .ecn = (uint8_t)sample_bits(random, 2),
        .payload_bytes = sample_payload(random, opcode, most),
    };

    packet.bth |= (uint8_t)(oche_pad_bytes(packet.payload_bytes) << OCHE_BTH_PAD_SHIFT);
    if ((flags & OCHE_OP_HAS(AETH)) != 0)
        packet.aeth = sample_bits(random, 32);
    if ((flags & (OCHE_OP_HAS(RETH) | OCHE_OP_HAS(ATOMIC))) != 0) {
        packet.ext |= OCHE_EXT_RETH;
        packet.reth.va = oche_random_u64(random);
        packet.reth.rkey = sample_bits(random, 32);
    }
    if ((flags & OCHE_OP_HAS(RETH)) != 0)
        packet.reth.dma_length = sample_bits(random, 32);
    if ((flags & (OCHE_OP_HAS(ATOMIC) | OCHE_OP_HAS(ATOMIC_ACK))) != 0) {
        packet.ext |= OCHE_EXT_ATOMIC;
        packet.atomic.swap_add = oche_random_u64(random);
    }
    if ((flags & OCHE_OP_HAS(ATOMIC)) != 0)
        packet.atomic.compare = oche_random_u64(random);
    if ((flags & (OCHE_OP_HAS(IMM) | OCHE_OP_HAS(IETH))) != 0) {
        packet.ext |= OCHE_EXT_IMM;
        packet.imm = sample_bits(random, 32);
    }
    if ((flags & OCHE_OP_HAS(DETH)) != 0) {
        packet.ext |= OCHE_EXT_DETH;
        packet.deth.qkey = sample_bits(random, 32);
        packet.deth.src_qpn = sample_bits(random, 24);
    }
    if ((flags & OCHE_OP_HAS(PLACE)) != 0) {
        packet.ext |= OCHE_EXT_SCHEME;
        sample_bytes(random, packet.scheme_header, OCHE_PLACE_BYTES);
    }
    if ((flags & OCHE_OP_HAS(SACK)) != 0) {
        packet.ext |= OCHE_EXT_SCHEME;
        sample_bytes(random, packet.scheme_header, OCHE_SACK_BYTES);
    }
    if ((flags & OCHE_OP_HAS(SHARE)) != 0) {
        packet.ext |= OCHE_EXT_SCHEME;
        sample_bytes(random, packet.scheme_header, OCHE_SHARE_BYTES);
    }
    if ((flags & OCHE_OP_HAS(TRIM)) != 0) {
        packet.ext |= OCHE_EXT_SCHEME;
        sample_bytes(random, packet.scheme_header, OCHE_TRIM_BYTES);
    }
    if ((flags & OCHE_OP_HAS(RATE)) != 0) {
        packet.ext |= OCHE_EXT_SCHEME;
        sample_bytes(random, packet.scheme_header, OCHE_RATE_BYTES);
    }
    if ((flags & OCHE_OP_HAS(GROUP)) != 0) {
        static uint8_t list[2 * OCHE_GROUP_MOST];
        const struct oche_group group = {
            .id = sample_bits(random, 24),
            .count = (uint16_t)(1 + oche_random_below(random, OCHE_GROUP_MOST)),
            .members = list};

        sample_bytes(random, list, sizeof list);
        oche_group_put(&packet, &group, (uint8_t)sample_bits(random, 8));
        sample_bytes(random, packet.scheme_header + 6, 2);
    }
    sample_trailer(random, &packet);
    if (packet.payload_bytes > 0) {
        packet.ext |= OCHE_EXT_PAYLOAD;
        packet.payload = payload;
        sample_bytes(random, payload, packet.payload_bytes);
    }
    return packet;
}

/* Returns frame fields of every kind, including pad bytes and reserved bits. */
static inline struct oche_frame sample_frame(struct oche_random *random, bool ethernet, bool ipv6,
                                             const struct oche_packet *packet)
{
    struct oche_frame frame = {
        .ethernet = ethernet,
        .ipv6 = ipv6,
        .dscp = (uint8_t)sample_bits(random, 6),
        .ttl = (uint8_t)sample_bits(random, 8),
        .udp_checksum = (uint16_t)sample_bits(random, 16),
        .bth_reserved5 = (uint8_t)sample_bits(random, 5),
    };

    if (oche_packet_trailer_bytes(packet) == OCHE_INT_BYTES)
        sample_bytes(random, (uint8_t *)&frame.telemetry, OCHE_INT_BYTES);
    if (ethernet) {
        sample_bytes(random, frame.dst_mac, 6);
        sample_bytes(random, frame.src_mac, 6);
    }
    if (ipv6) {
        sample_bytes(random, frame.src_ip, 16);
        sample_bytes(random, frame.dst_ip, 16);
        frame.flow_label = sample_bits(random, 20);
    } else {
        uint8_t address[4];

        sample_bytes(random, address, 4);
        oche_ip_map_ipv4(frame.src_ip, address);
        sample_bytes(random, address, 4);
        oche_ip_map_ipv4(frame.dst_ip, address);
        frame.ip_id = (uint16_t)sample_bits(random, 16);
        frame.ip_flags = sample_bits(random, 1) != 0 ? OCHE_IP_DF : 0;
    }
    if (oche_opcode_has(packet->opcode, OCHE_OP_HAS(DETH)))
        frame.deth_reserved = (uint8_t)sample_bits(random, 8);
    sample_bytes(random, frame.pad, oche_pad_bytes(packet->payload_bytes));
    return frame;
}

#endif
