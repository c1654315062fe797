/* SPDX-License-Identifier: Apache-2.0 */
/* Records of switches; see telemetry.h for the layout. */
#include "core/wire/telemetry.h"

#include <string.h>

#include "core/wire/bytes.h"

#define RATE_UNIT_BPS   (100 * OCHE_MBPS)
#define RATE_MOST       255 /* of 8 bits */
#define RATE_SHIFT_MOST 7
#define RATE_SHIFT_AT   8 /* within the field */
#define UNIT_RATE_BPS   (25 * OCHE_GBPS)
#define SENT_UNIT       128
#define QUEUE_UNIT      80

#define TIME_AT (OCHE_HOP_QUEUE_BITS + OCHE_HOP_SENT_BITS)
#define SENT_AT OCHE_HOP_QUEUE_BITS
#define RATE_AT (TIME_AT + OCHE_HOP_TIME_BITS)

OCHE_STATIC_ASSERT(RATE_AT + OCHE_HOP_RATE_BITS == 64, "a record has 64 bits");

static uint64_t mask(unsigned bits)
{
    return (UINT64_C(1) << bits) - 1;
}

static uint64_t rate_field(uint64_t bps)
{
    uint64_t m = bps / RATE_UNIT_BPS, e = 0;

    while (m > RATE_MOST && e < RATE_SHIFT_MOST) {
        m >>= 1;
        e++;
    }
    return e << RATE_SHIFT_AT | (m < RATE_MOST ? m : RATE_MOST);
}

static uint64_t rate_of(uint64_t field)
{
    return ((field & RATE_MOST) << (field >> RATE_SHIFT_AT)) * RATE_UNIT_BPS;
}

/* Returns the factor of units on a link of this rate, which is a value of the field. */
static uint64_t multiple(uint64_t rate_bps)
{
    return rate_bps > UNIT_RATE_BPS ? rate_bps / UNIT_RATE_BPS : 1;
}

bool oche_telemetry_add(struct oche_telemetry *telemetry, const struct oche_hop *hop)
{
    const uint64_t rate = rate_field(hop->rate_bps), times = multiple(rate_of(rate));
    const uint64_t sent = hop->sent_bytes / (SENT_UNIT * times);
    uint64_t queue = hop->queue_bytes / (QUEUE_UNIT * times), record;

    if (telemetry->hops >= OCHE_TELEMETRY_HOPS)
        return false;
    if (queue > mask(OCHE_HOP_QUEUE_BITS))
        queue = mask(OCHE_HOP_QUEUE_BITS);
    record = rate << RATE_AT | (hop->time_ns & mask(OCHE_HOP_TIME_BITS)) << TIME_AT |
             (sent & mask(OCHE_HOP_SENT_BITS)) << SENT_AT | queue;
    telemetry->hop[telemetry->hops][0] = (uint32_t)(record >> 32);
    telemetry->hop[telemetry->hops][1] = (uint32_t)record;
    telemetry->hops++;
    return true;
}

struct oche_hop oche_telemetry_hop(const struct oche_telemetry *telemetry, unsigned i)
{
    const uint64_t record = (uint64_t)telemetry->hop[i][0] << 32 | telemetry->hop[i][1];
    const uint64_t rate = rate_of(record >> RATE_AT), times = multiple(rate);

    return (struct oche_hop){
        .rate_bps = rate,
        .sent_bytes = (record >> SENT_AT & mask(OCHE_HOP_SENT_BITS)) * SENT_UNIT * times,
        .queue_bytes = (record & mask(OCHE_HOP_QUEUE_BITS)) * QUEUE_UNIT * times,
        .time_ns = (uint32_t)(record >> TIME_AT & mask(OCHE_HOP_TIME_BITS)),
        .unit_bytes = (uint32_t)(SENT_UNIT * times),
    };
}

uint32_t oche_hop_time_since(const struct oche_hop *now, const struct oche_hop *before)
{
    return (now->time_ns - before->time_ns) & (uint32_t)mask(OCHE_HOP_TIME_BITS);
}

uint64_t oche_hop_sent_since(const struct oche_hop *now, const struct oche_hop *before)
{
    const uint64_t unit = now->unit_bytes;
    const uint64_t units = now->sent_bytes / unit - before->sent_bytes / unit;

    return (units & mask(OCHE_HOP_SENT_BITS)) * unit;
}

void oche_telemetry_put(const struct oche_telemetry *telemetry, uint8_t *out)
{
    for (unsigned i = 0; i < OCHE_TELEMETRY_HOPS; i++, out += 8) {
        oche_put32(out, telemetry->hop[i][0]);
        oche_put32(out + 4, telemetry->hop[i][1]);
    }
    out[0] = telemetry->hops;
    memcpy(out + 1, telemetry->reserved, sizeof(telemetry->reserved));
}

void oche_telemetry_get(struct oche_telemetry *telemetry, const uint8_t *in)
{
    for (unsigned i = 0; i < OCHE_TELEMETRY_HOPS; i++, in += 8) {
        telemetry->hop[i][0] = oche_get32(in);
        telemetry->hop[i][1] = oche_get32(in + 4);
    }
    telemetry->hops = in[0];
    memcpy(telemetry->reserved, in + 1, sizeof(telemetry->reserved));
}
