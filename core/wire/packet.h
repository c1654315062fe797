/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet as a struct: 64 hot bytes, and one 64-byte extension line that is touched only when
 * `ext` says so. The simulator moves these; the device and the capture writer convert them to and
 * from bytes (core/wire/codec.h). Frame facts that the transport never looks at (MAC addresses,
 * IP identification, TTL) live beside the packet, in struct oche_frame (frame.h).
 *
 * Each line has a union. In the hot line `kind` tells which member is valid; in the extension line
 * `kind`, `opcode` and `ext` together tell which members are valid:
 *
 *   kind    hot line                          extension line, if `ext` has the flag
 *   ROCE    psn aeth pkey opcode bth          RETH     reth (also the address and key of AtomicETH)
 *                                             ATOMIC   atomic, or original in an atomic ACK
 *                                             TRAILER  trailer (never together with ATOMIC)
 *                                             CNP      cnp_reserved, in a CNP
 *                                             DETH     deth
 *                                             LIST     members (never together with DETH)
 *                                             IMM      imm
 *                                             SCHEME   scheme_header (read with extension.h)
 *                                             TRAILER  telemetry, in an RC ACK INT; in a data
 *                                                      packet with OCHE_BTH_TELEMETRY it lies
 *                                                      behind the packet (telemetry.h)
 *   PFC     -                                 LINK     pfc
 *   FCP     -                                 LINK     fcp
 *   TCP     tcp                               SCHEME   tcp_options, in a SYN
 *   XPASS   xpass                             SCHEME   xpass_offset
 *   TRIMMED as ROCE; aeth: enum oche_trimmed  -
 *
 * With PAYLOAD, `payload` points at the payload's bytes, whatever the kind.
 */
#ifndef OCHE_CORE_WIRE_PACKET_H
#define OCHE_CORE_WIRE_PACKET_H

#include "core/base.h"

OCHE_C_BEGIN

/* number of a link's traffic classes, that is of PFC priorities and egress queues */
#define OCHE_CLASSES 8

enum oche_packet_kind {
    OCHE_PACKET_ROCE = 0,  /* RoCEv2: BTH and what follows */
    OCHE_PACKET_PFC = 1,   /* IEEE 802.1Qbb PAUSE frame: never leaves its link */
    OCHE_PACKET_TCP = 2,   /* a TCP segment; opaque to switches */
    OCHE_PACKET_FCP = 3,   /* InfiniBand's flow control packets: never leave their link */
    OCHE_PACKET_XPASS = 4, /* a packet of ExpressPass, such as a credit; opaque to switches */
    /*
     * RoCEv2 data whose payload a switch has cut off (fabric/trimming.c). payload_bytes is what it
     * had. It has no ICRC, and is told apart by its DSCP.
     */
    OCHE_PACKET_TRIMMED = 6,
};

/* Where a switch has trimmed a packet; in `aeth`. On real networks two DSCP values. */
enum oche_trimmed {
    OCHE_TRIMMED_ON_THE_WAY = 1,
    OCHE_TRIMMED_LAST_HOP = 2, /* at the port of the host that it was sent to */
};

/*
 * True if packets of this kind are for the node at the other end of the link; such packets are
 * never queued.
 */
static inline bool oche_packet_is_of_link(uint8_t kind)
{
    return kind & 1;
}

/* The bits of oche_packet.bth: those of BTH byte 1, and the flags of BTH bytes 4 and 8. */
#define OCHE_BTH_SOLICITED UINT8_C(0x80)
#define OCHE_BTH_MIGREQ    UINT8_C(0x40)
#define OCHE_BTH_PAD_SHIFT 4 /* bits 5-4: pad count */
#define OCHE_BTH_PAD_MASK  UINT8_C(0x30)
#define OCHE_BTH_FECN      UINT8_C(0x08)
#define OCHE_BTH_BECN      UINT8_C(0x04)
#define OCHE_BTH_ACKREQ    UINT8_C(0x02)
/*
 * Bit 6 of BTH byte 8, which plain RoCEv2 sends as 0 and ignores: packets of the queue pair may be
 * ahead of this one, so switches that deflect send it the same way (dart.md#d18).
 */
#define OCHE_BTH_FOLLOWS UINT8_C(0x01)

/*
 * Bits of oche_packet.bth_reserved, which plain RoCEv2 sends as 0 and ignores. The first three tell
 * what the sender can do; a device that has one of them sets it in all its packets.
 *
 * OCHE_BTH_EXTENSIONS: it understands the extended opcodes (opcode.h).
 */
#define OCHE_BTH_EXTENSIONS UINT8_C(0x20)
/* Without OCHE_BTH_EXTENSIONS, which implies it: its CNPs name a PSN (cnp.h). */
#define OCHE_BTH_CNP_PSN UINT8_C(0x10)
/* Its loss recovery sends a whole message again, and so expects it of its peer (Go-Back-0). */
#define OCHE_BTH_RESTARTS UINT8_C(0x08)
#define OCHE_BTH_SHOWN    (OCHE_BTH_EXTENSIONS | OCHE_BTH_CNP_PSN | OCHE_BTH_RESTARTS)
/* The number of times that switches may still deflect the packet (Dart sec IV-A). */
#define OCHE_BTH_TOKENS UINT8_C(0x07)
/* In memory only, for measuring: the packet had tokens when it was sent. */
#define OCHE_BTH_HAD_TOKENS UINT8_C(0x40)
/*
 * Bit 5 of BTH byte 8, which plain RoCEv2 sends as 0 and ignores: no packet with tokens follows
 * this one before it is acknowledged, so switches that deflect forget its way (dart.md#d18).
 */
#define OCHE_BTH_RELEASE UINT8_C(0x80)
/*
 * With OCHE_BTH_EXTENSIONS, on packets that may carry payload: a trailer that switches rewrite
 * (struct oche_rate_trailer) follows the ICRC.
 */
#define OCHE_BTH_TRAILER UINT8_C(0x10)
/*
 * Bit of oche_packet.bth, with OCHE_BTH_TRAILER: the trailer is not RCP's but telemetry
 * (telemetry.h). Only InfiniBand's switches set the bit for other reasons, and they know no
 * trailer.
 */
#define OCHE_BTH_TELEMETRY OCHE_BTH_FECN
/*
 * With OCHE_BTH_EXTENSIONS, on ACKs and NAKs: one more packet has arrived that had arrived before
 * (D-SACK in TCP).
 */
#define OCHE_BTH_DUPLICATE UINT8_C(0x10)

/*
 * On ACKs and NAKs, which have no tokens: the UDP source port is that of the data packet that this
 * one answers (core/qp/spread.h); the second: that packet had CE.
 */
#define OCHE_BTH_PATH        UINT8_C(0x01)
#define OCHE_BTH_PATH_MARKED UINT8_C(0x02)

/* IP ECN field (RFC 3168). */
enum oche_ecn { OCHE_ECN_NOT_ECT = 0, OCHE_ECN_ECT1 = 1, OCHE_ECN_ECT0 = 2, OCHE_ECN_CE = 3 };

/* Bits of oche_packet.ext: which members of the extension line are valid (table above). */
#define OCHE_EXT_PAYLOAD UINT8_C(0x01)
#define OCHE_EXT_RETH    UINT8_C(0x02)
#define OCHE_EXT_ATOMIC  UINT8_C(0x04)
#define OCHE_EXT_CNP     UINT8_C(0x04) /* in CNPs only */
#define OCHE_EXT_IMM     UINT8_C(0x08)
#define OCHE_EXT_DETH    UINT8_C(0x10)
#define OCHE_EXT_LIST    UINT8_C(0x20)
#define OCHE_EXT_LINK    UINT8_C(0x20) /* in PFC frames and flow control packets */
#define OCHE_EXT_SCHEME  UINT8_C(0x40)
#define OCHE_EXT_TRAILER UINT8_C(0x80)

#define OCHE_CNP_RESERVED_BYTES 16
#define OCHE_TCP_OPTION_BYTES   8

/* Fields of a TCP header (RFC 9293 sec 3.1). */
struct oche_tcp_fields {
    uint32_t sequence;
    uint32_t acknowledgement;
    uint16_t window; /* as in the header, without the window scale */
    uint8_t flags;   /* byte 13 of the header */
};

/* Fields of ExpressPass's header (sim/endpoint/expresspass/wire.c). */
struct oche_xpass_fields {
    uint32_t credit;  /* number of the credit, or of the STOP */
    uint32_t sent_ns; /* when the credit left its receiver, modulo 2^32 ns */
    uint8_t type;     /* enum oche_xpass_kind */
};

/* RDMA extended transport header. */
struct oche_reth {
    uint64_t va;
    uint32_t rkey;
    uint32_t dma_length; /* not valid with an AtomicETH, which has no such field */
};

/* Operands of AtomicETH. */
struct oche_atomic {
    uint64_t swap_add;
    uint64_t compare;
};

/* Datagram extended transport header. */
struct oche_deth {
    uint32_t qkey;
    uint32_t src_qpn; /* 24 bits */
};

/*
 * Trailer of RCP's data packets (core/cc/rcp.c), behind the ICRC, which does not cover it. Each
 * switch lowers the rate to its own and averages the round-trip times (fabric/rcp_rate.c).
 */
struct oche_rate_trailer {
    uint32_t rate_10kbps; /* rate, counted in bytes on the line; unit: 10 kbit/s */
    uint32_t rtt_ns;      /* the sender's round-trip time; 0: not known yet */
    uint32_t stamp_ns;    /* the sender's clock in ns, which the receiver sends back */
};

#define OCHE_TELEMETRY_HOPS 5

/* Records that switches have added to a packet (telemetry.h). */
struct oche_telemetry {
    uint32_t hop[OCHE_TELEMETRY_HOPS][2]; /* upper and lower half of each record */
    uint8_t hops;                         /* number of records */
    uint8_t reserved[3];                  /* 0 */
};

/* The contents of a PFC frame: bit c of `classes` is set if quanta[c] applies to class c. */
struct oche_pfc_fields {
    uint16_t quanta[OCHE_CLASSES]; /* pause time in units of 512 bit times; 0: resume */
    uint8_t classes;
};

/*
 * The contents of flow control packets: bit v of `lanes` is set if there is one for virtual lane v.
 */
struct oche_fcp_fields {
    struct {
        uint16_t fctbs; /* blocks sent in total, modulo 4096 */
        uint16_t fccl;  /* credit limit in blocks, modulo 4096 */
    } lane[OCHE_CLASSES];
    uint8_t lanes;
};

struct oche_packet {
    struct oche_packet *next; /* the next packet in the list that holds this one */
    oche_time when;           /* on a link: time of arrival; in a queue: time of enqueue */
    uint32_t src, dst;        /* address indices; the driver maps them to IP addresses */
    uint32_t flow_hash;       /* hash of the five-tuple, made by the sender, for ECMP */
    uint32_t dest_qpn;        /* 24 bits; TCP and ExpressPass: connection + OCHE_FIRST_QPN */
    /*
     * Members by kind. Whatever the kind, the first word numbers the packet in traces and loss
     * patterns.
     */
    union {
        struct {
            uint32_t psn;  /* 24 bits */
            uint32_t aeth; /* syndrome << 24 | MSN, for opcodes that carry an AETH */
            uint16_t pkey;
            uint8_t opcode;
            uint8_t bth; /* OCHE_BTH_... */
        };
        struct oche_tcp_fields tcp;
        struct oche_xpass_fields xpass;
    };
    /* belongs to the driver: is not on the wire, and core and fabric never read it */
    uint32_t tag;
    uint16_t frame_bytes;     /* Ethernet header to FCS, for queues and links */
    uint16_t payload_bytes;   /* after the headers, without pad and ICRC */
    uint16_t ingress_port;    /* the port by which the packet came into the switch that holds it */
    uint16_t udp_source_port; /* RoCEv2 */
    uint16_t in_class;        /* in a queue of a switch with lanes: the class by which it came in */
    uint8_t kind;             /* enum oche_packet_kind */
    uint8_t bth_reserved;     /* RoCEv2: bits 5-0 of BTH byte 4, OCHE_BTH_RELEASE, _HAD_TOKENS */
    uint8_t traffic_class;    /* 0 to OCHE_CLASSES-1; the driver maps it to DSCP */
    uint8_t ecn;              /* enum oche_ecn */
    uint8_t ext;              /* OCHE_EXT_... */
    uint8_t hops;             /* links crossed so far */

    /* ---- second line: look only at what `ext` names ---- */
    uint8_t *payload; /* a buffer that belongs to the driver; NULL: no bytes are wanted */
    /*
     * Members by kind. RoCEv2's are first and without padding, so that {0} clears the whole line.
     */
    union {
        struct {
            struct oche_reth reth;
            union {
                struct oche_atomic atomic;
                uint64_t original; /* AtomicAckETH: the value before the operation */
                struct oche_rate_trailer trailer;
                uint8_t cnp_reserved[OCHE_CNP_RESERVED_BYTES];
            };
            union {
                struct oche_deth deth;
                const uint8_t *members; /* of a group (extension.h): 2 bytes each, in network order;
                                           not owned, and as long-lived as the work request's */
            };
            uint32_t imm; /* ImmDt, or the IETH's rkey, in host order */
            uint8_t scheme_header[12];
        };
        struct oche_telemetry telemetry; /* of an RC ACK INT */
        struct oche_pfc_fields pfc;
        struct oche_fcp_fields fcp;
        uint8_t tcp_options[OCHE_TCP_OPTION_BYTES]; /* options of a SYN, as in the header */
        uint64_t xpass_offset;                      /* byte offset in the connection's stream */
    };
} __attribute__((aligned(OCHE_CACHE_LINE)));

OCHE_STATIC_ASSERT(offsetof(struct oche_packet, payload) == OCHE_CACHE_LINE,
                   "hot line is 64 bytes");
OCHE_STATIC_ASSERT(sizeof(struct oche_packet) == 2 * OCHE_CACHE_LINE, "extension line is 64 bytes");
OCHE_STATIC_ASSERT(offsetof(struct oche_packet, scheme_header) + 12 == sizeof(struct oche_packet),
                   "RoCEv2's members fill the extension line");
OCHE_STATIC_ASSERT(sizeof(struct oche_telemetry) + offsetof(struct oche_packet, reth) <=
                       offsetof(struct oche_packet, scheme_header),
                   "telemetry leaves a scheme's header alone");
OCHE_STATIC_ASSERT(offsetof(struct oche_packet, psn) ==
                           offsetof(struct oche_packet, tcp.sequence) &&
                       offsetof(struct oche_packet, psn) ==
                           offsetof(struct oche_packet, xpass.credit),
                   "one word numbers a packet of any kind");

/* True if the PFC frame has quanta for the class. */
static inline bool oche_pfc_has(const struct oche_packet *frame, unsigned cls)
{
    return frame->pfc.classes >> cls & 1;
}

static inline void oche_pfc_set(struct oche_packet *frame, unsigned cls, uint16_t quanta)
{
    frame->pfc.quanta[cls] = quanta;
    frame->pfc.classes |= (uint8_t)(1U << cls);
    frame->ext |= OCHE_EXT_LINK;
}

/* True if there is a flow control packet for the virtual lane. */
static inline bool oche_fcp_has(const struct oche_packet *frame, unsigned lane)
{
    return frame->fcp.lanes >> lane & 1;
}

static inline void oche_fcp_set(struct oche_packet *frame, unsigned lane, uint16_t fctbs,
                                uint16_t fccl)
{
    frame->fcp.lane[lane].fctbs = fctbs;
    frame->fcp.lane[lane].fccl = fccl;
    frame->fcp.lanes |= (uint8_t)(1U << lane);
    frame->ext |= OCHE_EXT_LINK;
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
/* preamble 8, inter-frame gap 12: bytes on the line but in no buffer */
#define OCHE_GAP_BYTES 20

static inline uint8_t oche_aeth_syndrome(const struct oche_packet *packet)
{
    return (uint8_t)(packet->aeth >> 24);
}

static inline uint32_t oche_aeth_msn(const struct oche_packet *packet)
{
    return packet->aeth & OCHE_PSN_MASK;
}

OCHE_C_END

#endif
