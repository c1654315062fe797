/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet as a struct: 64 hot bytes, and one 64-byte extension line that is touched only when
 * `ext` says so. The simulator moves these; the device and the capture writer convert them to and
 * from bytes (core/wire/codec.h). Frame facts that the transport never looks at (MAC addresses,
 * IP identification, TTL) live beside the packet, in struct oche_frame (codec.h).
 */
#ifndef OCHE_CORE_WIRE_PACKET_H
#define OCHE_CORE_WIRE_PACKET_H

#include "core/base.h"

#define OCHE_CLASSES 8 /* traffic classes of a link: PFC priorities, egress queues */

enum oche_packet_kind {
    OCHE_PACKET_ROCE = 0,  /* RoCEv2: BTH and what follows */
    OCHE_PACKET_PFC = 1,   /* IEEE 802.1Qbb PAUSE frame: never leaves its link */
    OCHE_PACKET_OTHER = 2, /* an endpoint that is not an RNIC; opaque to switches */
    OCHE_PACKET_FCP = 3,   /* InfiniBand's flow control packets: never leave their link */
};

/* Of oche_packet.kind: of the link, for the node at its other end, and never in a queue. */
static inline bool oche_packet_is_of_link(uint8_t kind)
{
    return kind & 1;
}

/* Bits of oche_packet.bth: BTH byte 1 and the flags of bytes 4 and 8, by name. */
#define OCHE_BTH_SOLICITED UINT8_C(0x80)
#define OCHE_BTH_MIGREQ    UINT8_C(0x40)
#define OCHE_BTH_PAD_SHIFT 4 /* bits 5-4: pad count */
#define OCHE_BTH_PAD_MASK  UINT8_C(0x30)
#define OCHE_BTH_FECN      UINT8_C(0x08)
#define OCHE_BTH_BECN      UINT8_C(0x04)
#define OCHE_BTH_ACKREQ    UINT8_C(0x02)

/*
 * Of oche_packet.bth_reserved, which plain RoCEv2 sends as 0 and ignores: "I understand the
 * extended opcodes" (opcode.h). Whoever has seen it in a packet of its peer may use them towards
 * it; the answers to the first packet that has it show it back.
 */
#define OCHE_BTH_EXTENSIONS UINT8_C(0x20)
/* Of the same: how often switches may still send the packet another way (Dart sec IV-A). */
#define OCHE_BTH_TOKENS UINT8_C(0x07)
/*
 * Of the same, with OCHE_BTH_EXTENSIONS: behind the ICRC follow bytes that switches rewrite
 * (core/wire/extension.h). On packets that may carry payload; on others it means nothing.
 */
#define OCHE_BTH_TRAILER UINT8_C(0x10)

/* IP ECN field (RFC 3168). */
enum oche_ecn { OCHE_ECN_NOT_ECT = 0, OCHE_ECN_ECT1 = 1, OCHE_ECN_ECT0 = 2, OCHE_ECN_CE = 3 };

/* Bits of oche_packet.ext: which members of the extension line hold something. */
#define OCHE_EXT_PAYLOAD UINT8_C(0x01) /* payload points at payload_bytes bytes */
#define OCHE_EXT_RETH    UINT8_C(0x02) /* also AtomicETH's address and key */
#define OCHE_EXT_ATOMIC  UINT8_C(0x04) /* AtomicETH operands, or AtomicAckETH's original value */
#define OCHE_EXT_IMM     UINT8_C(0x08) /* immediate data, or IETH's key */
#define OCHE_EXT_DETH    UINT8_C(0x10)
#define OCHE_EXT_PFC     UINT8_C(0x20) /* of a PFC frame, of flow control packets */
#define OCHE_EXT_LIST    UINT8_C(0x20) /* of RoCEv2: members, as many as scheme_header says */
#define OCHE_EXT_SCHEME  UINT8_C(0x40) /* a header that is not standard, scheme_header */
#define OCHE_EXT_TRAILER UINT8_C(0x80) /* behind the ICRC: in swap_add and compare */

struct oche_packet {
    struct oche_packet *next; /* the list that holds the packet now */
    oche_time when;           /* on a link: arrival; in a queue: time of enqueue */
    uint32_t src, dst;        /* address indices; the driver maps them to IP addresses */
    uint32_t flow_hash;       /* hash of the five-tuple, made by the sender, for ECMP */
    uint32_t dest_qpn;        /* 24 bits */
    uint32_t psn;             /* 24 bits */
    uint32_t aeth;            /* syndrome << 24 | MSN, for opcodes that carry an AETH */
    uint32_t tag;             /* the driver's: not on the wire, never read by core or fabric */
    uint16_t frame_bytes;     /* Ethernet header to FCS, for queues and links */
    uint16_t payload_bytes;   /* after the headers, without pad and ICRC */
    uint16_t ingress_port;    /* the switch that holds the packet: where it came in */
    uint16_t udp_source_port;
    uint16_t pkey;
    uint8_t kind; /* enum oche_packet_kind */
    uint8_t opcode;
    uint8_t bth;           /* OCHE_BTH_… */
    uint8_t bth_reserved;  /* BTH byte 4 bits 5-0: capability, trailer, IOFD tokens */
    uint8_t traffic_class; /* 0 … OCHE_CLASSES-1; the driver maps it to DSCP */
    uint8_t ecn;           /* enum oche_ecn */
    uint8_t ext;           /* OCHE_EXT_… */
    uint8_t hops;          /* links crossed so far */
    /* The fabric's. On a link: egress port + 1 if it was looked up ahead, else 0. In a queue of a
     * switch with lanes: by which class it came in, xor the class of the queue. */
    uint16_t route_hint;

    /* ---- second line: look only at what `ext` names ---- */
    uint8_t *payload;    /* not owned; a buffer of the driver's, or NULL: no bytes wanted */
    uint64_t va;         /* RETH and AtomicETH */
    uint32_t rkey;       /* RETH and AtomicETH */
    uint32_t dma_length; /* RETH */
    uint64_t swap_add;   /* AtomicETH; AtomicAckETH's original value */
    uint64_t compare;    /* AtomicETH */
    union {
        struct {
            uint32_t qkey;    /* DETH */
            uint32_t src_qpn; /* DETH */
        };
        const uint8_t *members; /* of a group (extension.h): 2 bytes each, in network order; not
                                   owned, and as long-lived as the work request's */
    };
    uint32_t imm; /* ImmDt, or the IETH's rkey, in host order */
    uint8_t scheme_header[12];
} __attribute__((aligned(OCHE_CACHE_LINE)));

_Static_assert(offsetof(struct oche_packet, payload) == OCHE_CACHE_LINE, "hot line is 64 bytes");
_Static_assert(sizeof(struct oche_packet) == 2 * OCHE_CACHE_LINE, "extension line is 64 bytes");

/*
 * A PFC frame keeps its facts in the extension line: the class-enable vector in `rkey` (low 8
 * bits) and the eight pause times, in quanta of 512 bit times, in va (classes 0-3, 16 bits each,
 * class 0 lowest) and swap_add (classes 4-7).
 */
static inline uint16_t oche_pfc_quanta(const struct oche_packet *frame, unsigned cls)
{
    uint64_t word = cls < 4 ? frame->va : frame->swap_add;
    return (uint16_t)(word >> (16 * (cls & 3)));
}

static inline void oche_pfc_set(struct oche_packet *frame, unsigned cls, uint16_t quanta)
{
    uint64_t *word = cls < 4 ? &frame->va : &frame->swap_add;
    unsigned shift = 16 * (cls & 3);

    *word = (*word & ~(UINT64_C(0xffff) << shift)) | (uint64_t)quanta << shift;
    frame->rkey |= UINT32_C(1) << cls;
    frame->ext |= OCHE_EXT_PFC;
}

/*
 * Flow control packets, one for each class in `rkey`: FCTBS and FCCL, 16 bits each, FCTBS lowest;
 * classes 0 and 1 are in va (class 0 lowest), then two each in swap_add, in compare, and in qkey
 * and src_qpn.
 */
static inline uint32_t oche_fcp_word(const struct oche_packet *frame, unsigned cls)
{
    const uint64_t words[] = {frame->va, frame->swap_add, frame->compare,
                              frame->qkey | (uint64_t)frame->src_qpn << 32};

    return (uint32_t)(words[cls / 2] >> (32 * (cls & 1)));
}

static inline uint16_t oche_fcp_fctbs(const struct oche_packet *frame, unsigned cls)
{
    return (uint16_t)oche_fcp_word(frame, cls);
}

static inline uint16_t oche_fcp_fccl(const struct oche_packet *frame, unsigned cls)
{
    return (uint16_t)(oche_fcp_word(frame, cls) >> 16);
}

/* Adds a class to a frame that does not have it yet. */
static inline void oche_fcp_set(struct oche_packet *frame, unsigned cls, uint16_t fctbs,
                                uint16_t fccl)
{
    uint64_t word = (uint64_t)((uint32_t)fccl << 16 | fctbs) << (32 * (cls & 1));

    frame->va |= cls / 2 == 0 ? word : 0;
    frame->swap_add |= cls / 2 == 1 ? word : 0;
    frame->compare |= cls / 2 == 2 ? word : 0;
    frame->qkey |= cls == 6 ? (uint32_t)word : 0;
    frame->src_qpn |= cls == 7 ? (uint32_t)(word >> 32) : 0;
    frame->rkey |= UINT32_C(1) << cls;
    frame->ext |= OCHE_EXT_PFC;
}

/* Frame sizes. A RoCEv2/IPv4 frame is 62 + headers after BTH + payload + pad, with its FCS. */
#define OCHE_ETH_BYTES       14
#define OCHE_FCS_BYTES       4
#define OCHE_IPV4_BYTES      20
#define OCHE_IPV6_BYTES      40
#define OCHE_UDP_BYTES       8
#define OCHE_BTH_BYTES       12
#define OCHE_ICRC_BYTES      4
#define OCHE_MIN_FRAME_BYTES 64
#define OCHE_GAP_BYTES       20 /* preamble 8 and inter-frame gap 12: on the line, in no buffer */

static inline uint8_t oche_aeth_syndrome(const struct oche_packet *packet)
{
    return (uint8_t)(packet->aeth >> 24);
}

static inline uint32_t oche_aeth_msn(const struct oche_packet *packet)
{
    return packet->aeth & OCHE_PSN_MASK;
}

#endif
