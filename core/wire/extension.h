/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers that are not standard RoCEv2, read from and written to oche_packet.scheme_header:
 *
 * - headers of the extended RC opcodes (core/wire/opcode.h). With them the receiver can write a
 *   packet that arrives behind a gap to its place at once, and report it to the sender. IRN
 *   ("Revisiting network support for RDMA", SIGCOMM 2018; irn.md#placement) says which facts they
 *   need; the format is ours (see below);
 * - headers of Dart: a receiver tells a sender its share (dart.md#d7), and a sender tells the
 *   receiver the other senders of an incast (sec III-D);
 * - headers of RCP (rcp.md#ends): a trailer that switches rewrite, and its echo to the sender.
 *
 * The extended RC opcodes:
 *   WRITE   each packet has a RETH: va is the address of the packet's own payload, the DMA length
 *           is the rest of the message from there on. FIRST and ONLY are as in plain RoCEv2.
 *   SEND    struct oche_place: the number of the receive, and the offset in it.
 *   SACK    an AETH "NAK PSN sequence error" for the missing PSN, then struct oche_sack.
 *   TRIM    no AETH: acknowledges nothing; the packet's PSN is the trimmed one. One byte: enum
 *           oche_trimmed; three bytes 0.
 */
#ifndef OCHE_CORE_WIRE_EXTENSION_H
#define OCHE_CORE_WIRE_EXTENSION_H

#include "core/wire/bytes.h"
#include "core/wire/opcode.h"
#include "core/wire/packet.h"

OCHE_C_BEGIN

/* Where the payload of a SEND packet goes. */
struct oche_place {
    uint32_t receive; /* number of earlier messages of the connection that took a receive */
    uint32_t offset;  /* number of the message's bytes that precede those of this packet */
};

static inline struct oche_place oche_place_get(const struct oche_packet *packet)
{
    return (struct oche_place){.receive = oche_get32(packet->scheme_header),
                               .offset = oche_get32(packet->scheme_header + 4)};
}

static inline void oche_place_put(struct oche_packet *packet, const struct oche_place *place)
{
    oche_put32(packet->scheme_header, place->receive);
    oche_put32(packet->scheme_header + 4, place->offset);
    packet->ext |= OCHE_EXT_SCHEME;
}

/*
 * Tells which packets of the window [first, first + count) the receiver has: bit i is set if PSN
 * first + i has arrived and is kept. The window ends with a packet that has arrived. So a packet
 * whose bit is 0 was lost, or has arrived but could not be kept; in both cases it must be sent
 * again.
 */
struct oche_sack {
    uint32_t first; /* first PSN of the window, 24 bits */
    uint8_t count;  /* PSNs in the window: 0 … 64 */
    uint64_t bits;  /* bits at and above `count` are 0 */
};

static inline struct oche_sack oche_sack_get(const struct oche_packet *packet)
{
    return (struct oche_sack){.first = oche_get24(packet->scheme_header + 1),
                              .count = packet->scheme_header[0],
                              .bits = oche_get64(packet->scheme_header + 4)};
}

static inline void oche_sack_put(struct oche_packet *packet, const struct oche_sack *sack)
{
    packet->scheme_header[0] = sack->count;
    oche_put24(packet->scheme_header + 1, sack->first & OCHE_PSN_MASK);
    oche_put64(packet->scheme_header + 4, sack->bits);
    packet->ext |= OCHE_EXT_SCHEME;
}

/* Where the packet of this PSN was trimmed. */
static inline enum oche_trimmed oche_trim_get(const struct oche_packet *packet)
{
    return packet->scheme_header[0] == OCHE_TRIMMED_LAST_HOP ? OCHE_TRIMMED_LAST_HOP
                                                             : OCHE_TRIMMED_ON_THE_WAY;
}

static inline void oche_trim_put(struct oche_packet *packet, enum oche_trimmed where)
{
    oche_put32(packet->scheme_header, (uint32_t)where << 24);
    packet->ext |= OCHE_EXT_SCHEME;
}

/*
 * Dart (core/cc/dart/dart.c): tells a sender its share of the line, which is the sender's weight
 * divided by `senders`. `senders` is the sum of the weights of all active senders, 1 or more; if
 * all weights are 1, it is the number of senders.
 */
struct oche_share {
    uint16_t senders;
    uint8_t tenant; /* the tenant whose senders are counted in `senders` */
    /*
     * numbers the shares sent to a peer; a share with an older number than the last one is ignored
     */
    uint8_t sequence;
};

static inline struct oche_share oche_share_get(const struct oche_packet *packet)
{
    return (struct oche_share){.senders = oche_get16(packet->scheme_header),
                               .tenant = packet->scheme_header[2],
                               .sequence = packet->scheme_header[3]};
}

static inline void oche_share_put(struct oche_packet *packet, const struct oche_share *share)
{
    oche_put16(packet->scheme_header, share->senders);
    packet->scheme_header[2] = share->tenant;
    packet->scheme_header[3] = share->sequence;
    packet->ext |= OCHE_EXT_SCHEME;
}

#define OCHE_RATE_UNIT_BPS 10000 /* unit of the rates in RCP's trailer and in its echo */

/* Writes RCP's trailer into a data packet. */
static inline void oche_rate_trailer_put(struct oche_packet *packet,
                                         const struct oche_rate_trailer *trailer)
{
    packet->trailer = *trailer;
    packet->ext |= OCHE_EXT_TRAILER;
}

/* RCP: the trailer of a data packet, as it arrived, sent back to the packet's sender. */
struct oche_rate_echo {
    uint32_t rate_10kbps; /* 0: no trailer has arrived */
    uint32_t stamp_ns;
};

static inline struct oche_rate_echo oche_rate_echo_get(const struct oche_packet *packet)
{
    return (struct oche_rate_echo){.rate_10kbps = oche_get32(packet->scheme_header),
                                   .stamp_ns = oche_get32(packet->scheme_header + 4)};
}

static inline void oche_rate_echo_put(struct oche_packet *packet, const struct oche_rate_echo *echo)
{
    oche_put32(packet->scheme_header, echo->rate_10kbps);
    oche_put32(packet->scheme_header + 4, echo->stamp_ns);
    packet->ext |= OCHE_EXT_SCHEME;
}

/*
 * Dart's look-ahead: all senders of the incast that a message belongs to, including the message's
 * own sender. The program gives the list to the sender; packets carry it to the receiver.
 */
struct oche_group {
    uint32_t id;            /* 24 bits: distinguishes the incasts of one tenant */
    uint16_t count;         /* number of senders: 1 to OCHE_GROUP_MOST */
    const uint8_t *members; /* their addresses, 2 bytes each, in network order; not owned */
};

static inline struct oche_group oche_group_get(const struct oche_packet *packet)
{
    struct oche_group group;

    group.id = oche_get24(packet->scheme_header);
    group.count =
        (uint16_t)(packet->ext & OCHE_EXT_LIST ? oche_get16(packet->scheme_header + 4) : 0);
    group.members = packet->members;
    return group;
}

static inline uint8_t oche_group_tenant(const struct oche_packet *packet)
{
    return packet->scheme_header[3];
}

static inline uint16_t oche_group_member(const struct oche_group *group, uint32_t i)
{
    return oche_get16(group->members + 2 * (size_t)i);
}

static inline void oche_group_put(struct oche_packet *packet, const struct oche_group *group,
                                  uint8_t tenant)
{
    oche_put24(packet->scheme_header, group->id & OCHE_PSN_MASK);
    packet->scheme_header[3] = tenant;
    oche_put16(packet->scheme_header + 4, group->count);
    oche_put16(packet->scheme_header + 6, 0);
    packet->members = group->members;
    packet->ext |= OCHE_EXT_SCHEME | OCHE_EXT_LIST;
}

/* Removes the list of senders from a packet, which still names the group. */
static inline void oche_group_clear(struct oche_packet *packet)
{
    oche_put16(packet->scheme_header + 4, 0);
    packet->members = NULL;
}

/* Returns the bytes of a packet's list of senders on the wire, pad included; 0 without a list. */
static inline uint32_t oche_list_bytes(const struct oche_packet *packet)
{
    if (OCHE_LIKELY(!(packet->ext & OCHE_EXT_LIST)))
        return 0;
    return oche_list_bytes_of(oche_get16(packet->scheme_header + 4));
}

/* Returns the bytes of a packet's frame, with its trailer and its list of senders. */
static inline uint16_t oche_packet_frame_bytes(const struct oche_packet *packet, bool ipv6)
{
    uint32_t trailer = oche_packet_trailer_bytes(packet);

    return (uint16_t)oche_frame_bytes_with(packet->opcode, packet->payload_bytes,
                                           trailer + oche_list_bytes(packet), ipv6);
}

OCHE_C_END

#endif
