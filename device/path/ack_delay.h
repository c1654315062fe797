/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether ACKs wait a moment for data of our own, so that both leave in one datagram.
 *
 * An application that answers what it receives (a ping-pong, a remote procedure call) posts its
 * answer within microseconds. If the ACK is sent before the answer, the application pays for one
 * more system call and the peer for one more arrival. It can be worse: a peer that waits for the
 * ACK of its WRITE and then watches its memory (ib_write_lat) does not poll when the answer
 * arrives, so a thread must be woken to receive the answer. Therefore ACKs are held for
 * OCHE_ACK_DELAY if that is likely to help: if data of ours has left since the last ACK. Each time
 * no data comes while ACKs are held, the next 2, 4 … 64 occasions to hold ACKs are skipped; data
 * that comes in time resets this number.
 *
 * RNICs coalesce ACKs too (IBTA: local CA ACK delay).
 */
#ifndef OCHE_DEVICE_PATH_ACK_DELAY_H
#define OCHE_DEVICE_PATH_ACK_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

#define OCHE_ACK_DELAY        (64 * OCHE_US)
#define OCHE_ACK_DELAY_MISSES 6 /* at most 2^6 occasions are skipped */

struct oche_ack_delay {
    oche_time longest; /* how long ACKs are held at most; OCHE_ACK_DELAY, except in tests */
    oche_time until;   /* ACKs are held until this time; 0: none are held */
    uint32_t to_skip;
    uint32_t misses; /* how many times in a row no data came */
    uint64_t useful, in_vain;
    bool data_has_left; /* data has left since an ACK last left without data */
    bool off;           /* no ACKs are held: the process ends */
};

static inline void oche_ack_delay_missed(struct oche_ack_delay *delay)
{
    delay->until = 0;
    delay->misses += delay->misses < OCHE_ACK_DELAY_MISSES;
    delay->to_skip = UINT32_C(1) << delay->misses;
    delay->in_vain++;
}

/*
 * Returns false only if oche_ack_delay_waits would surely return false. Cheap enough to be called
 * before each send.
 */
static inline bool oche_ack_delay_may_wait(const struct oche_ack_delay *delay)
{
    return delay->until != 0 || delay->data_has_left;
}

/* Releases the held ACKs. With `off` none are held from now on, until it is called without. */
static inline void oche_ack_delay_end(struct oche_ack_delay *delay, bool off)
{
    delay->until = 0;
    delay->data_has_left = false;
    delay->off = off;
}

/* To be called when only ACKs or CNPs can be sent. Returns true if they should wait. */
static inline bool oche_ack_delay_waits(struct oche_ack_delay *delay, oche_time now)
{
    if (delay->until != 0) {
        if (now < delay->until)
            return true;
        oche_ack_delay_missed(delay);
        delay->data_has_left = false;
        return false;
    }
    if (!delay->data_has_left)
        return false;
    delay->data_has_left = false;
    if (delay->off)
        return false;
    if (delay->to_skip > 0) {
        delay->to_skip--;
        return false;
    }
    delay->until = now + delay->longest;
    return true;
}

/*
 * To be called when data is sent. If the held ACKs were due before now, because nobody polled in
 * time, holding them counts as in vain.
 */
static inline void oche_ack_delay_data_sent(struct oche_ack_delay *delay, oche_time now)
{
    delay->data_has_left = true;
    if (delay->until == 0)
        return;
    if (now >= delay->until) {
        oche_ack_delay_missed(delay);
        return;
    }
    delay->until = 0;
    delay->misses = 0;
    delay->useful++;
}

#endif
