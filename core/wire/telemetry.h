/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-network telemetry (INT), as HPCC needs it (hpcc.md#int): each switch on the way adds a record
 * of the port by which the packet leaves; the receiver echoes the records in its ACK. A record has
 * 64 bits:
 *
 *   63-53  the link's rate: 3 bits e and 8 bits m stand for m * 2^e * 100 Mbit/s
 *   52-31  time in ns, modulo 2^22
 *   30-14  bytes that the port has sent, in units of 128 bytes, modulo 2^17
 *   13-0   bytes in the port's queue, in units of 80 bytes; the largest value stands for all above
 *
 * Units of bytes are multiplied by the link's rate over 25 Gbit/s, if that is more than 1. On the
 * wire the records are followed by their number and by three bytes that are 0.
 *
 * An ACK has its telemetry in its extension line. The extension line of a data packet has no room
 * for it: the packet's telemetry lies behind the packet, in memory that only drivers whose scheme
 * declares telemetry provide (oche_cc_headers.telemetry).
 */
#ifndef OCHE_CORE_WIRE_TELEMETRY_H
#define OCHE_CORE_WIRE_TELEMETRY_H

#include "core/wire/opcode.h"

OCHE_C_BEGIN

/* Memory behind each packet: a cache line, so that packets stay aligned. */
#define OCHE_TELEMETRY_ROOM OCHE_CACHE_LINE

#define OCHE_HOP_TIME_BITS  22
#define OCHE_HOP_SENT_BITS  17
#define OCHE_HOP_QUEUE_BITS 14
#define OCHE_HOP_RATE_BITS  11

/* One record, unpacked. */
struct oche_hop {
    uint64_t rate_bps;
    uint64_t sent_bytes;  /* modulo 2^17 units */
    uint64_t queue_bytes; /* rounded down to a unit */
    uint32_t time_ns;     /* modulo 2^22 */
    uint32_t unit_bytes;  /* of sent_bytes */
};

/* True if the packet is a data packet with telemetry behind it. */
static inline bool oche_has_telemetry(const struct oche_packet *packet)
{
    return packet->kind == OCHE_PACKET_ROCE && (packet->ext & OCHE_EXT_TRAILER) != 0 &&
           (packet->bth & OCHE_BTH_TELEMETRY) != 0;
}

/* Returns the telemetry behind a data packet; only if oche_has_telemetry. */
static inline struct oche_telemetry *oche_telemetry_of(struct oche_packet *packet)
{
    return (struct oche_telemetry *)(packet + 1);
}

static inline const struct oche_telemetry *oche_telemetry_at(const struct oche_packet *packet)
{
    return (const struct oche_telemetry *)(packet + 1);
}

/* Returns the number of records; 0 if there are more than can be, as only a broken peer sends. */
static inline unsigned oche_telemetry_count(const struct oche_telemetry *telemetry)
{
    return telemetry->hops <= OCHE_TELEMETRY_HOPS ? telemetry->hops : 0;
}

/*
 * Adds a record. Values of `hop` may be larger than the fields; a rate that the field cannot say
 * exactly is rounded down. Returns false if there are OCHE_TELEMETRY_HOPS records already.
 */
bool oche_telemetry_add(struct oche_telemetry *telemetry, const struct oche_hop *hop);
/* Unpacks record `i`. A record of zeros, as only a broken peer sends, has rate_bps 0. */
struct oche_hop oche_telemetry_hop(const struct oche_telemetry *telemetry, unsigned i);

/* Return how much later, or how many bytes more, a field of `now` is than that of `before`. */
uint32_t oche_hop_time_since(const struct oche_hop *now, const struct oche_hop *before);
uint64_t oche_hop_sent_since(const struct oche_hop *now, const struct oche_hop *before);

/* Write and read OCHE_INT_BYTES. What a peer sent is read as it is. */
void oche_telemetry_put(const struct oche_telemetry *telemetry, uint8_t *out);
void oche_telemetry_get(struct oche_telemetry *telemetry, const uint8_t *in);

OCHE_C_END

#endif
