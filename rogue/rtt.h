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
 */
#ifndef OCHE_ROGUE_RTT_H
#define OCHE_ROGUE_RTT_H

#include "core/base.h"

/* The library's model of the sender's NIC: when all that was posted will have left. */
struct rogue_rtt {
    oche_time left;
};

/*
 * To be called when a piece is posted that takes `serial` at the limiter's rate. Returns when its
 * last byte leaves.
 */
static inline oche_time rogue_rtt_posted(struct rogue_rtt *rtt, oche_time now, oche_time serial)
{
    rtt->left = oche_time_add(rtt->left > now ? rtt->left : now, serial);
    return rtt->left;
}

/*
 * Something would leave at `left`, but the rate changes at `now`. Returns when it leaves instead.
 */
static inline oche_time rogue_rtt_rescaled(oche_time left, oche_time now, uint64_t old_bps,
                                           uint64_t new_bps)
{
    if (left <= now)
        return left;
    return oche_time_add(now, (oche_time)((unsigned __int128)(left - now) * old_bps / new_bps));
}

/* Returns the round trip of a batch that left at `left`. */
static inline oche_time rogue_rtt_completed(oche_time left, oche_time completed)
{
    return completed > left ? completed - left : 0;
}

#endif
