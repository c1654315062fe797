/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariant CRC of RoCEv2 (rocev2.md#icrc): CRC-32 over eight bytes of ones, the IP and UDP
 * headers, BTH and all that follows, with the fields that a router may change masked to ones.
 *
 * The CRC itself is the driver's: any function with the meaning of zlib's crc32 (isa-l's
 * crc32_gzip_refl is one). Packets need not be contiguous.
 */
#ifndef OCHE_CORE_WIRE_ICRC_H
#define OCHE_CORE_WIRE_ICRC_H

#include "core/wire/packet.h"

OCHE_C_BEGIN

/*
 * CRC-32 with the Ethernet polynomial, reflected, as zlib defines it: `crc` is the result for the
 * bytes before (0 if there are none); the function inverts the value on entry and on return.
 * `count` is never 0.
 */
typedef uint32_t oche_crc32(uint32_t crc, const uint8_t *bytes, size_t count);

/* A piece of contiguous bytes; the bytes belong to the caller. */
struct oche_span {
    const uint8_t *bytes;
    size_t count;
};

/*
 * IP and UDP headers as the ICRC sees them, already masked. A driver keeps one for each peer and
 * changes what differs from packet to packet.
 */
struct oche_pseudo {
    uint8_t bytes[OCHE_IPV6_BYTES + OCHE_UDP_BYTES];
    uint8_t count; /* bytes in use: 28 (IPv4) or 48 (IPv6) */
};

/*
 * Makes an oche_pseudo from an IP header (version 4 or 6, without options) and the UDP header
 * behind it, 28 or 48 bytes, which the caller has checked.
 */
void oche_pseudo_from_bytes(struct oche_pseudo *pseudo, const uint8_t *ip);

/* Sets the lengths. `transport_bytes` counts from BTH to ICRC, both included, and the trailer. */
void oche_pseudo_set_bytes(struct oche_pseudo *pseudo, uint32_t transport_bytes);
/* Sets the identification of an IPv4 header; does nothing for IPv6. */
void oche_pseudo_set_id(struct oche_pseudo *pseudo, uint16_t ip_id);
void oche_pseudo_set_source_port(struct oche_pseudo *pseudo, uint16_t port);

/*
 * Returns the ICRC of a packet given in `count` pieces, which together go from BTH to pad. The
 * first piece holds at least the 12 bytes of the BTH, whose byte 4 counts as ones (rocev2.md#icrc).
 */
uint32_t oche_icrc(oche_crc32 *crc32, const struct oche_pseudo *pseudo,
                   const struct oche_span *pieces, size_t count);

/* Writes the ICRC. It is the only field on the wire whose least significant byte comes first. */
static inline void oche_icrc_put(uint8_t *at, uint32_t icrc)
{
    for (unsigned i = 0; i < OCHE_ICRC_BYTES; i++)
        at[i] = (uint8_t)(icrc >> (8 * i));
}

static inline uint32_t oche_icrc_get(const uint8_t *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/*
 * True if the last four of `count` contiguous bytes (BTH to ICRC) are the ICRC of the others. False
 * for fewer than 16 bytes.
 */
bool oche_icrc_check(oche_crc32 *crc32, const struct oche_pseudo *pseudo, const uint8_t *bytes,
                     size_t count);

OCHE_C_END

#endif
