/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opcode table: every fact about a BTH opcode, once (rocev2.md#opcodes). The codec, the queue
 * pairs, the capture tools and the tests read this table; none of them has a list of its own.
 *
 * Covered: RC (without the new FLUSH and ATOMIC WRITE), UC, UD, and the RoCEv2 CNP. Not covered:
 * RD, XRC, the InfiniBand CNP 0x80. Nonstandard packets have opcodes from 0xC0 up, with a row for
 * each: packets of extended RC, and packets of congestion control schemes with headers of their
 * own. They are used only between two peers that have both shown OCHE_BTH_EXTENSIONS
 * (core/wire/extension.h).
 */
#ifndef OCHE_CORE_WIRE_OPCODE_H
#define OCHE_CORE_WIRE_OPCODE_H

#include "core/wire/packet.h"

OCHE_C_BEGIN

enum oche_opcode {
    OCHE_RC_SEND_FIRST = 0x00,
    OCHE_RC_SEND_MIDDLE = 0x01,
    OCHE_RC_SEND_LAST = 0x02,
    OCHE_RC_SEND_LAST_IMM = 0x03,
    OCHE_RC_SEND_ONLY = 0x04,
    OCHE_RC_SEND_ONLY_IMM = 0x05,
    OCHE_RC_WRITE_FIRST = 0x06,
    OCHE_RC_WRITE_MIDDLE = 0x07,
    OCHE_RC_WRITE_LAST = 0x08,
    OCHE_RC_WRITE_LAST_IMM = 0x09,
    OCHE_RC_WRITE_ONLY = 0x0a,
    OCHE_RC_WRITE_ONLY_IMM = 0x0b,
    OCHE_RC_READ_REQUEST = 0x0c,
    OCHE_RC_READ_RESPONSE_FIRST = 0x0d,
    OCHE_RC_READ_RESPONSE_MIDDLE = 0x0e,
    OCHE_RC_READ_RESPONSE_LAST = 0x0f,
    OCHE_RC_READ_RESPONSE_ONLY = 0x10,
    OCHE_RC_ACK = 0x11,
    OCHE_RC_ATOMIC_ACK = 0x12,
    OCHE_RC_COMPARE_SWAP = 0x13,
    OCHE_RC_FETCH_ADD = 0x14,
    OCHE_RC_SEND_LAST_INV = 0x16,
    OCHE_RC_SEND_ONLY_INV = 0x17,

    OCHE_UC_SEND_FIRST = 0x20,
    OCHE_UC_SEND_MIDDLE = 0x21,
    OCHE_UC_SEND_LAST = 0x22,
    OCHE_UC_SEND_LAST_IMM = 0x23,
    OCHE_UC_SEND_ONLY = 0x24,
    OCHE_UC_SEND_ONLY_IMM = 0x25,
    OCHE_UC_WRITE_FIRST = 0x26,
    OCHE_UC_WRITE_MIDDLE = 0x27,
    OCHE_UC_WRITE_LAST = 0x28,
    OCHE_UC_WRITE_LAST_IMM = 0x29,
    OCHE_UC_WRITE_ONLY = 0x2a,
    OCHE_UC_WRITE_ONLY_IMM = 0x2b,

    OCHE_UD_SEND_ONLY = 0x64,
    OCHE_UD_SEND_ONLY_IMM = 0x65,

    OCHE_CNP = 0x81,

    OCHE_SCHEME_OPCODES = 0xc0, /* first nonstandard opcode */
    /* Extended RC: each packet of a message says where its payload goes. */
    OCHE_RC_WRITE_MIDDLE_AT = 0xc0,
    OCHE_RC_WRITE_LAST_AT = 0xc1,
    OCHE_RC_WRITE_LAST_IMM_AT = 0xc2,
    OCHE_RC_SEND_FIRST_AT = 0xc3,
    OCHE_RC_SEND_MIDDLE_AT = 0xc4,
    OCHE_RC_SEND_LAST_AT = 0xc5,
    OCHE_RC_SEND_LAST_IMM_AT = 0xc6,
    OCHE_RC_SEND_ONLY_AT = 0xc7,
    OCHE_RC_SEND_ONLY_IMM_AT = 0xc8,
    OCHE_RC_SACK = 0xc9, /* a NAK that also says which packets behind the gap have arrived */
    /* Dart: the share that the receiver grants; together with an ACK or a NAK, or alone. */
    OCHE_RC_ACK_SHARE = 0xca,
    OCHE_SHARE = 0xcb, /* any transport */
    /*
     * RCP: the echo of the rate that the switches grant; together with an ACK or a NAK, or alone.
     */
    OCHE_RC_ACK_RATE = 0xcc,
    OCHE_RATE = 0xcd, /* any transport */
    /* HPCC: the telemetry of a data packet, together with an ACK or a NAK. */
    OCHE_RC_ACK_INT = 0xce,
    /* Extended RC: a switch has trimmed the packet of this PSN, which must leave again. */
    OCHE_RC_TRIM_NACK = 0xcf,
    /* Extended RC, as above. */
    OCHE_RC_SEND_LAST_INV_AT = 0xd0,
    OCHE_RC_SEND_ONLY_INV_AT = 0xd1,
    /* Dart's look-ahead: the first packet of a message also names an incast's senders. */
    OCHE_RC_SEND_FIRST_GROUP = 0xd8,
    OCHE_RC_SEND_ONLY_GROUP = 0xd9,
    OCHE_RC_SEND_ONLY_IMM_GROUP = 0xda,
    OCHE_RC_WRITE_FIRST_GROUP = 0xdb,
    OCHE_RC_WRITE_ONLY_GROUP = 0xdc,
    OCHE_RC_WRITE_ONLY_IMM_GROUP = 0xdd,
    OCHE_OPCODES = 0x100
};

/*
 * Added to the opcode of an RC SEND or WRITE, OCHE_UC_OF_RC gives the UC opcode. Added to that of
 * an RC SEND ONLY, OCHE_UD_OF_RC gives the UD opcode.
 */
#define OCHE_UC_OF_RC 0x20
#define OCHE_UD_OF_RC 0x60

/*
 * The service that a packet belongs to. RC and UC have the values of enum oche_transport
 * (core/qp/work.h). UD has another value than there, because the NIC handles datagrams in another
 * place.
 */
enum oche_service {
    OCHE_SERVICE_RC,
    OCHE_SERVICE_UC,
    OCHE_SERVICE_CNP = 3,     /* any transport */
    OCHE_SERVICE_SCHEME,      /* a congestion control scheme's own packet */
    OCHE_SERVICE_RC_EXTENDED, /* RC, between peers that have both shown OCHE_BTH_EXTENSIONS */
    OCHE_SERVICE_UD,
};

enum oche_operation {
    OCHE_OPERATION_NONE, /* CNP and schemes */
    OCHE_OPERATION_SEND,
    OCHE_OPERATION_WRITE,
    OCHE_OPERATION_READ, /* request and responses */
    OCHE_OPERATION_COMPARE_SWAP,
    OCHE_OPERATION_FETCH_ADD,
    OCHE_OPERATION_ACK, /* acknowledges everything but READs and atomics */
    OCHE_OPERATION_ATOMIC_ACK,
};

/* Headers that may follow the BTH. */
enum oche_header {
    OCHE_HEADER_NONE, /* ends a row's list */
    OCHE_HEADER_RETH,
    OCHE_HEADER_ATOMIC,
    OCHE_HEADER_AETH,
    OCHE_HEADER_ATOMIC_ACK,
    OCHE_HEADER_IMM,
    OCHE_HEADER_IETH,
    OCHE_HEADER_DETH,
    OCHE_HEADER_CNP,    /* 16 reserved bytes */
    OCHE_HEADER_SCHEME, /* a scheme's own header, of the row's scheme_bytes */
    OCHE_HEADER_PLACE,  /* core/wire/extension.h */
    OCHE_HEADER_SACK,   /* the same */
    OCHE_HEADER_SHARE,  /* the same */
    OCHE_HEADER_RATE,   /* the same */
    OCHE_HEADER_INT,    /* core/wire/telemetry.h */
    OCHE_HEADER_TRIM,   /* core/wire/extension.h */
    /* core/wire/extension.h; always the last header of a row; a list of senders follows it */
    OCHE_HEADER_GROUP,
    OCHE_HEADERS
};

#define OCHE_RETH_BYTES       16
#define OCHE_ATOMIC_BYTES     28
#define OCHE_AETH_BYTES       4
#define OCHE_ATOMIC_ACK_BYTES 8
#define OCHE_IMM_BYTES        4
#define OCHE_IETH_BYTES       4
#define OCHE_DETH_BYTES       8
#define OCHE_CNP_BYTES        16
#define OCHE_NONE_BYTES       0
#define OCHE_PLACE_BYTES      8
#define OCHE_SACK_BYTES       12
#define OCHE_SHARE_BYTES      4
#define OCHE_RATE_BYTES       8
#define OCHE_INT_BYTES        44 /* telemetry, as a header and as a trailer */
#define OCHE_TRIM_BYTES       4
#define OCHE_TRAILER_BYTES    12 /* length of RCP's trailer behind the ICRC */
#define OCHE_GROUP_BYTES      8  /* without the list of senders */
/* most senders in a list: with it and 1024 bytes of payload, a packet has at most 1500 bytes */
#define OCHE_GROUP_MOST 200
/* BTH and the longest headers: WRITE ONLY with immediate data and a list. */
#define OCHE_MAX_HEADER_BYTES                                                                      \
    (OCHE_BTH_BYTES + OCHE_RETH_BYTES + OCHE_IMM_BYTES + OCHE_GROUP_BYTES + 2 * OCHE_GROUP_MOST)

enum oche_opcode_flags {
    OCHE_OP_FIRST = 1 << 0,  /* begins a message: FIRST and ONLY */
    OCHE_OP_MIDDLE = 1 << 1, /* neither begins nor ends a message */
    OCHE_OP_LAST = 1 << 2,   /* ends a message: LAST and ONLY */
    OCHE_OP_ONLY = OCHE_OP_FIRST | OCHE_OP_LAST,
    OCHE_OP_REQUEST = 1 << 3,
    OCHE_OP_RESPONSE = 1 << 4,
    OCHE_OP_PAYLOAD = 1 << 5,   /* may carry payload; without LAST it must carry exactly one MTU */
    OCHE_OP_TAKES_PSN = 1 << 6, /* a request that takes a PSN; a READ takes one for each response */
    OCHE_OP_TAKES_RECV = 1 << 7, /* takes a receive off the queue */
    OCHE_OP_ENDS_RECV = 1 << 8,  /* completes the receive of its message */
    /* from this bit on there is one bit for each header: see OCHE_OP_HAS */
    OCHE_OP_HEADER_SHIFT = 12,
};

/* The flag of rows that have the header OCHE_HEADER_<name>. */
#define OCHE_OP_HAS(name) (UINT32_C(1) << (OCHE_OP_HEADER_SHIFT + OCHE_HEADER_##name))

#define OCHE_MAX_HEADERS 3 /* most extension headers in a row */

/* One row of the table. A row of zeros (name NULL) means that the opcode does not exist. */
struct oche_opcode_row {
    const char *name;                  /* "RC SEND FIRST" */
    uint32_t flags;                    /* enum oche_opcode_flags, OCHE_OP_HAS */
    uint8_t service;                   /* enum oche_service */
    uint8_t operation;                 /* enum oche_operation */
    uint8_t headers[OCHE_MAX_HEADERS]; /* enum oche_header, in wire order */
    uint8_t header_bytes;              /* bytes of all extension headers, without BTH */
    uint8_t scheme_bytes;              /* bytes of OCHE_HEADER_SCHEME: 0 … 12, a multiple of 4 */
};

extern const struct oche_opcode_row oche_opcodes[OCHE_OPCODES];

/* Returns the row of an opcode. */
static inline const struct oche_opcode_row *oche_opcode(uint8_t opcode)
{
    return &oche_opcodes[opcode];
}

/* Returns "RC SEND FIRST" and the like; "opcode ?" if the opcode is not in the table. */
const char *oche_opcode_name(uint8_t opcode);
/* Returns the header's name: "RETH", "ImmDt", … */
const char *oche_header_name(enum oche_header header);

static inline bool oche_opcode_has(uint8_t opcode, uint32_t flags)
{
    return (oche_opcodes[opcode].flags & flags) == flags;
}

/* Returns how many pad bytes bring a payload to a multiple of four bytes. */
static inline uint32_t oche_pad_bytes(uint32_t payload_bytes)
{
    return -payload_bytes & 3;
}

/*
 * Returns the length of the trailer behind the ICRC; 0 if the opcode and the reserved BTH bits do
 * not imply a trailer. `telemetry`: the BTH has OCHE_BTH_TELEMETRY.
 */
static inline uint32_t oche_trailer_bytes(uint8_t opcode, uint8_t bth_reserved, bool telemetry)
{
    const uint8_t says = OCHE_BTH_EXTENSIONS | OCHE_BTH_TRAILER;

    if ((bth_reserved & says) != says || (oche_opcodes[opcode].flags & OCHE_OP_PAYLOAD) == 0)
        return 0;
    return telemetry ? OCHE_INT_BYTES : OCHE_TRAILER_BYTES;
}

/* The same, of a packet. */
static inline uint32_t oche_packet_trailer_bytes(const struct oche_packet *packet)
{
    return oche_trailer_bytes(packet->opcode, packet->bth_reserved,
                              (packet->bth & OCHE_BTH_TELEMETRY) != 0);
}

/* The same, of the bytes of a BTH; looks at bytes 0 and 4. */
static inline uint32_t oche_bth_trailer_bytes(const uint8_t *bth)
{
    return oche_trailer_bytes(bth[0], bth[4] & 0x3f, (bth[4] & 0x80) != 0);
}

/*
 * Returns the bytes from BTH to ICRC, both included: the UDP payload without a trailer and without
 * a list of senders (oche_list_bytes).
 */
static inline uint32_t oche_transport_bytes(uint8_t opcode, uint32_t payload_bytes)
{
    return OCHE_BTH_BYTES + oche_opcodes[opcode].header_bytes + ((payload_bytes + 3) & ~3u) +
           OCHE_ICRC_BYTES;
}

/* Returns the bytes of a list of `count` senders behind OCHE_HEADER_GROUP, pad included. */
static inline uint32_t oche_list_bytes_of(uint32_t count)
{
    return (2 * count + 3) & ~3u;
}

/*
 * Returns the bytes of the untagged Ethernet frame, from MAC addresses to FCS, at least 64. Queues
 * and links count these. A list of senders (oche_list_bytes) is not included.
 */
static inline uint32_t oche_frame_bytes_with(uint8_t opcode, uint32_t payload_bytes,
                                             uint32_t trailer_bytes, bool ipv6)
{
    uint32_t bytes = OCHE_ETH_BYTES + (ipv6 ? (uint32_t)OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) +
                     OCHE_UDP_BYTES + oche_transport_bytes(opcode, payload_bytes) + trailer_bytes +
                     OCHE_FCS_BYTES;

    return bytes < OCHE_MIN_FRAME_BYTES ? OCHE_MIN_FRAME_BYTES : bytes;
}

/*
 * Like oche_frame_bytes_with, for a frame without a trailer. Only data packets of RCP and HPCC have
 * a trailer.
 */
static inline uint32_t oche_frame_bytes(uint8_t opcode, uint32_t payload_bytes, bool ipv6)
{
    return oche_frame_bytes_with(opcode, payload_bytes, 0, ipv6);
}

OCHE_C_END

#endif
