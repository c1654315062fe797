/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips of batches on RC (RoGUE sec 3.3; rogue.md#rtt). The paper has
 *
 *     start_i = max(posted_i, completed_(i-1) - RTT_(i-1))
 *     RTT_i   = completed_i - start_i - S_i       S_i: the batch's time at the limiter's rate
 *
 * By the second line completed_(i-1) - RTT_(i-1) is start_(i-1) + S_(i-1): when the batch before
 * has left the NIC, if the NIC sends at the limiter's rate. So RTT_i = completed_i - left_i, with
 *
 *     left_i = max(posted_i, left_(i-1)) + S_i
 *
 * which also holds for a batch that is posted piece by piece. When the limiter's rate changes, what
 * has not left yet leaves earlier or later than computed (rogue.md#r5).
 *
 * But a limiter waits after a packet, not before it. So the last packet is gone before the time S_i
 * is over: by the packet's time at the limiter's rate, less its time on the line. If this gap is
 * counted, round trips at a low rate are too short, and the least of them, which becomes the base
 * RTT, is below that of an empty path (rogue.md#r24).
 */
#ifndef OCHE_ROGUE_RTT_H
#define OCHE_ROGUE_RTT_H

#include "core/base.h"

/*
 * The library's model of the sender's NIC: the time at which the limiter sends the next piece, if
 * it is posted before.
 */
struct rogue_rtt {
    oche_time free;
};

/*
 * To be called when a piece is posted that takes `serial` at the limiter's rate. Returns when the
 * limiter is free again.
 */
static inline oche_time rogue_rtt_posted(struct rogue_rtt *rtt, oche_time now, oche_time serial)
{
    rtt->free = oche_time_add(rtt->free > now ? rtt->free : now, serial);
    return rtt->free;
}

/*
 * The limiter would be free at `free`, but its rate changes at `now`. Returns when it is free then.
 */
static inline oche_time rogue_rtt_rescaled(oche_time free, oche_time now, uint64_t old_bps,
                                           uint64_t new_bps)
{
    if (free <= now)
        return free;
    return oche_time_add(now, (oche_time)((unsigned __int128)(free - now) * old_bps / new_bps));
}

/*
 * Returns when the last byte before `free` has left, if the last packet has `packet_bytes` on the
 * line.
 */
static inline oche_time rogue_rtt_left(oche_time free, uint64_t packet_bytes, uint64_t rate_bps,
                                       uint64_t line_rate_bps)
{
    oche_time paced = oche_time_of_bytes(packet_bytes, rate_bps);
    oche_time line = oche_time_of_bytes(packet_bytes, line_rate_bps);
    oche_time gap = paced > line ? paced - line : 0;

    return free > gap ? free - gap : 0;
}

/* Returns the round trip of a batch that left at `left`. */
static inline oche_time rogue_rtt_completed(oche_time left, oche_time completed)
{
    return completed > left ? completed - left : 0;
}

#endif
