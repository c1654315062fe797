/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether ACKs wait a moment for data of our own, so that both leave in one datagram.
 *
 * An application that answers what it receives (a ping-pong, a remote procedure call) posts its
 * answer within microseconds. If the ACK is sent before the answer, the application pays for one
 * more system call and the peer for one more arrival. It can be worse: a peer that waits for the
 * ACK of its WRITE and then watches its memory (ib_write_lat) does not poll when the answer
 * arrives, so a thread must be woken to receive the answer. Therefore ACKs are held for OCHE_HOLD
 * if that is likely to help: if data of ours has left since the last ACK. Each time no data comes
 * while ACKs are held, the next 2, 4 … 64 occasions to hold ACKs are skipped; data that comes in
 * time resets this number.
 *
 * RNICs coalesce ACKs too (IBTA: local CA ACK delay).
 */
#ifndef OCHE_DEVICE_HOLD_H
#define OCHE_DEVICE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

#define OCHE_HOLD        (64 * OCHE_US)
#define OCHE_HOLD_MISSES 6 /* at most 2^6 occasions are skipped */

struct oche_hold {
    oche_time longest; /* how long ACKs are held at most; OCHE_HOLD, except in tests */
    oche_time until;   /* ACKs are held until this time; 0: none are held */
    uint32_t leave_out;
    uint32_t misses; /* how many times in a row no data came */
    uint64_t useful, in_vain;
    bool answers; /* data has left since an ACK last left without data */
    bool off;     /* no ACKs are held: the process ends */
};

static inline void oche_hold_was_in_vain(struct oche_hold *hold)
{
    hold->until = 0;
    hold->misses += hold->misses < OCHE_HOLD_MISSES;
    hold->leave_out = UINT32_C(1) << hold->misses;
    hold->in_vain++;
}

/*
 * Returns false only if oche_hold_on would surely return false. Cheap enough to be called before
 * each send.
 */
static inline bool oche_hold_could(const struct oche_hold *hold)
{
    return hold->until != 0 || hold->answers;
}

/* Releases the held ACKs. With `off` none are held from now on, until it is called without. */
static inline void oche_hold_release(struct oche_hold *hold, bool off)
{
    hold->until = 0;
    hold->answers = false;
    hold->off = off;
}

/* To be called when only ACKs or CNPs can be sent. Returns true if they should wait. */
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
    if (hold->off)
        return false;
    if (hold->leave_out > 0) {
        hold->leave_out--;
        return false;
    }
    hold->until = now + hold->longest;
    return true;
}

/*
 * To be called when data is sent. If the held ACKs were due before now, because nobody polled in
 * time, holding them counts as in vain.
 */
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
