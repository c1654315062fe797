/* SPDX-License-Identifier: Apache-2.0 */
/* The invariant CRC of RoCEv2 (rocev2.md#icrc). */
#include "core/wire/icrc.h"

#include <string.h>

#include "core/wire/bytes.h"

/* zlib's CRC of eight bytes 0xff: the bitwise inverse of the seed 0xDEBB20E3 in rocev2.md#icrc. */
#define AFTER_EIGHT_ONES UINT32_C(0x2144df1c)

#define SHORT_BYTES     128
#define BTH_MASKED_BYTE 4 /* FECN, BECN and six reserved bits */

static bool is_ipv4(const struct oche_pseudo *pseudo)
{
    return pseudo->count == OCHE_IPV4_BYTES + OCHE_UDP_BYTES;
}

void oche_pseudo_from_bytes(struct oche_pseudo *pseudo, const uint8_t *ip)
{
    uint8_t *to = pseudo->bytes;
    const bool ipv4 = ip[0] >> 4 == 4;
    const uint8_t header_bytes = ipv4 ? OCHE_IPV4_BYTES : OCHE_IPV6_BYTES;

    pseudo->count = (uint8_t)(header_bytes + OCHE_UDP_BYTES);
    memcpy(to, ip, pseudo->count);
    if (ipv4) {
        to[1] = 0xff;           /* type of service */
        to[8] = 0xff;           /* time to live */
        to[10] = to[11] = 0xff; /* header checksum */
    } else {
        to[0] |= 0x0f; /* traffic class and flow label */
        to[1] = to[2] = to[3] = 0xff;
        to[7] = 0xff; /* hop limit */
    }
    to[header_bytes + 6] = to[header_bytes + 7] = 0xff; /* UDP checksum */
}

void oche_pseudo_set_bytes(struct oche_pseudo *pseudo, uint32_t transport_bytes)
{
    const uint16_t udp_bytes = (uint16_t)(OCHE_UDP_BYTES + transport_bytes);

    if (is_ipv4(pseudo))
        oche_put16(pseudo->bytes + 2, (uint16_t)(OCHE_IPV4_BYTES + udp_bytes));
    else
        oche_put16(pseudo->bytes + 4, udp_bytes);
    oche_put16(pseudo->bytes + pseudo->count - 4, udp_bytes);
}

void oche_pseudo_set_id(struct oche_pseudo *pseudo, uint16_t ip_id)
{
    if (is_ipv4(pseudo))
        oche_put16(pseudo->bytes + 4, ip_id);
}

void oche_pseudo_set_source_port(struct oche_pseudo *pseudo, uint16_t port)
{
    oche_put16(pseudo->bytes + pseudo->count - OCHE_UDP_BYTES, port);
}

/* Copies a few bytes. Compilers turn memcpy into a string instruction here, which starts slowly. */
static void copy_short(uint8_t *to, const uint8_t *from, size_t count)
{
    size_t at = 0;

    for (; at + 8 <= count; at += 8)
        memcpy(to + at, from + at, 8);
    for (; at < count; at++)
        to[at] = from[at];
}

uint32_t oche_icrc(oche_crc32 *crc32, const struct oche_pseudo *pseudo,
                   const struct oche_span *pieces, size_t count)
{
    uint8_t head[sizeof pseudo->bytes + SHORT_BYTES];
    size_t headed = OCHE_BTH_BYTES; /* bytes of the first piece to copy to `head` */
    uint32_t crc;

    OCHE_MUST(count > 0 && pieces[0].count >= OCHE_BTH_BYTES);
    memcpy(head, pseudo->bytes, sizeof pseudo->bytes);
    /* short enough to copy whole: one call is faster than two */
    if (pieces[0].count <= SHORT_BYTES)
        headed = pieces[0].count;
    copy_short(head + pseudo->count, pieces[0].bytes, headed);
    head[pseudo->count + BTH_MASKED_BYTE] = 0xff;
    crc = crc32(AFTER_EIGHT_ONES, head, pseudo->count + headed);
    if (pieces[0].count > headed)
        crc = crc32(crc, pieces[0].bytes + headed, pieces[0].count - headed);
    for (size_t i = 1; i < count; i++)
        if (pieces[i].count > 0)
            crc = crc32(crc, pieces[i].bytes, pieces[i].count);
    return crc;
}

bool oche_icrc_check(oche_crc32 *crc32, const struct oche_pseudo *pseudo, const uint8_t *bytes,
                     size_t count)
{
    struct oche_span all = {.bytes = bytes};

    if (count < OCHE_BTH_BYTES + OCHE_ICRC_BYTES)
        return false;
    all.count = count - OCHE_ICRC_BYTES;
    return oche_icrc(crc32, pseudo, &all, 1) == oche_icrc_get(bytes + all.count);
}
