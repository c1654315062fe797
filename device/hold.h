/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether ACKs wait a moment for data of ours, to leave with it in one datagram.
 *
 * An application that answers what it receives (a ping-pong, a remote procedure call) posts its
 * answer within microseconds. An ACK that is sent before costs it a system call on the way to its
 * answer, and the peer one more arrival. Worse, a peer that waits for the ACK of its WRITE and then
 * looks at its memory (ib_write_lat) does not poll when the answer comes, and some thread has to be
 * woken to take it. So ACKs are held for OCHE_HOLD where that is likely to be useful: when data of
 * ours has gone since the last ACK. Each time that no data came, the next 2, 4 … 64 such occasions
 * are left out; a success clears that.
 *
 * RNICs coalesce ACKs, too (IBTA: local CA ACK delay).
 */
#ifndef OCHE_DEVICE_HOLD_H
#define OCHE_DEVICE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

#define OCHE_HOLD        (64 * OCHE_US)
#define OCHE_HOLD_MISSES 6 /* 2 to that power are left out at most */

struct oche_hold {
    oche_time longest; /* OCHE_HOLD, but in tests */
    oche_time until;   /* 0: nothing is held */
    uint32_t leave_out;
    uint32_t misses; /* in a row */
    uint64_t useful, in_vain;
    bool answers; /* data has gone since the last ACK that went alone */
};

static inline void oche_hold_was_in_vain(struct oche_hold *hold)
{
    hold->until = 0;
    hold->misses += hold->misses < OCHE_HOLD_MISSES;
    hold->leave_out = UINT32_C(1) << hold->misses;
    hold->in_vain++;
}

/* False: oche_hold_on would be, too, whatever could be sent. Cheap, for each packet's path. */
static inline bool oche_hold_could(const struct oche_hold *hold)
{
    return hold->until != 0 || hold->answers;
}

/* Nothing but ACKs, or CNPs, could be sent: whether they shall wait. */
static inline bool oche_hold_on(struct oche_hold *hold, oche_time now)
{
    if (hold->until != 0) {
        if (now < hold->until)
            return true;
        oche_hold_was_in_vain(hold);
        hold->answers = false;
        return false;
    }
    if (!hold->answers)
        return false;
    hold->answers = false;
    if (hold->leave_out > 0) {
        hold->leave_out--;
        return false;
    }
    hold->until = now + hold->longest;
    return true;
}

/* Data is being sent. If nobody has looked since the ACKs were due, it is too late. */
static inline void oche_hold_ends(struct oche_hold *hold, oche_time now)
{
    hold->answers = true;
    if (hold->until == 0)
        return;
    if (now >= hold->until) {
        oche_hold_was_in_vain(hold);
        return;
    }
    hold->until = 0;
    hold->misses = 0;
    hold->useful++;
}

#endif
