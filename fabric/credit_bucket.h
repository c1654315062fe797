/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token bucket that limits the credits of ExpressPass at a port (expresspass.md#credits), for
 * switches and hosts alike: over any time, credits take at most the share credit/(credit + data) of
 * the link, so that the data they ask for fits into the other direction. The bucket stores a time
 * instead of tokens: `full_at` is when it would be full again. It keeps the remainder of each
 * division, so that rounding errors never add up. A full bucket holds `burst` credits.
 */
#ifndef OCHE_FABRIC_CREDIT_BUCKET_H
#define OCHE_FABRIC_CREDIT_BUCKET_H

#include "core/base.h"

struct oche_credit_bucket {
    oche_time full_at;
    uint64_t remainder;             /* to be added to full_at, in units of 1 / divisor ps */
    uint64_t ps_of_a_byte, divisor; /* a byte costs ps_of_a_byte / divisor picoseconds */
    oche_time slack;                /* a credit may leave at full_at - slack or later */
};

/*
 * Makes a full bucket. `credit_bytes` is the size of a credit, `data_bytes` that of the largest
 * data packet that a credit asks for: both are bytes on the line, gap included.
 */
static inline void oche_credit_bucket_init(struct oche_credit_bucket *bucket, uint64_t rate_bps,
                                           uint32_t credit_bytes, uint32_t data_bytes,
                                           uint32_t burst)
{
    unsigned __int128 slack;

    *bucket = (struct oche_credit_bucket){.ps_of_a_byte =
                                              8 * OCHE_SEC * ((uint64_t)credit_bytes + data_bytes),
                                          .divisor = credit_bytes * rate_bps};
    slack = (unsigned __int128)bucket->ps_of_a_byte * credit_bytes * (burst - 1);
    bucket->slack = (oche_time)(slack / bucket->divisor);
}

/* Returns when the next credit may leave. */
static inline oche_time oche_credit_bucket_next(const struct oche_credit_bucket *bucket)
{
    return bucket->full_at > bucket->slack ? bucket->full_at - bucket->slack : 0;
}

/* Takes a credit of `line_bytes` bytes on the line, which leaves now, out of the bucket. */
static inline void oche_credit_bucket_take(struct oche_credit_bucket *bucket, uint32_t line_bytes,
                                           oche_time now)
{
    unsigned __int128 cost = (unsigned __int128)bucket->ps_of_a_byte * line_bytes;

    if (bucket->full_at < now) {
        bucket->full_at = now;
        bucket->remainder = 0;
    }
    cost += bucket->remainder;
    bucket->full_at += (oche_time)(cost / bucket->divisor);
    bucket->remainder = (uint64_t)(cost % bucket->divisor);
}

#endif
