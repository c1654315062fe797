/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame facts: fields of a RoCEv2 frame that the transport never looks at, kept beside struct
 * oche_packet. With them, a decoded packet can be encoded again byte for byte.
 */
#ifndef OCHE_CORE_WIRE_FRAME_H
#define OCHE_CORE_WIRE_FRAME_H

#include "core/wire/packet.h"

OCHE_C_BEGIN

#define OCHE_ROCE_UDP_PORT  4791
#define OCHE_ETHERTYPE_IPV4 0x0800
#define OCHE_ETHERTYPE_IPV6 0x86dd
#define OCHE_IP_UDP         17

#define OCHE_IP_DF UINT8_C(0x40) /* in ip_flags: do not fragment */

struct oche_frame {
    bool ethernet; /* true: an Ethernet header comes first; false: the MACs are not valid */
    bool ipv6;
    uint8_t dst_mac[6], src_mac[6];
    /* in network order; an IPv4 address as ::ffff:a.b.c.d, as in GIDs */
    uint8_t src_ip[16], dst_ip[16];
    uint8_t dscp;          /* 6 bits; the ECN field is in struct oche_packet */
    uint8_t ttl;           /* IPv6: hop limit */
    uint8_t ip_flags;      /* IPv4: OCHE_IP_DF, and the reserved bit 0x80 */
    uint16_t ip_id;        /* IPv4; the ICRC covers it */
    uint32_t flow_label;   /* IPv6: 20 bits */
    uint16_t udp_checksum; /* as sent; 0: no checksum */
    uint8_t bth_reserved5; /* BTH byte 8, bits 4-0 */
    uint8_t deth_reserved;
    uint8_t pad[3];                  /* pad bytes as sent, normally 0 */
    struct oche_telemetry telemetry; /* of a data packet with OCHE_BTH_TELEMETRY */
    /* set by decode: bytes from the first one to the end of the IP packet; encode ignores it */
    uint32_t frame_bytes;
};

/* Writes a.b.c.d (network order) as ::ffff:a.b.c.d. */
static inline void oche_ip_map_ipv4(uint8_t ip[16], const uint8_t ipv4[4])
{
    for (unsigned i = 0; i < 10; i++)
        ip[i] = 0;
    ip[10] = ip[11] = 0xff;
    for (unsigned i = 0; i < 4; i++)
        ip[12 + i] = ipv4[i];
}

OCHE_C_END

#endif
