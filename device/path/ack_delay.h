/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays ACKs until there is data to send, so that both leave in one datagram.
 *
 * An application that answers each message (a ping-pong, a remote procedure call) posts its answer
 * within microseconds. An ACK before the answer costs us one more system call and the peer one more
 * arrival. It may cost more: a peer that waits for the ACK of its WRITE and then watches its memory
 * (ib_write_lat) does not poll when the answer arrives, so a thread must wake to receive it.
 * Therefore ACKs wait for OCHE_ACK_DELAY if data has left since the last ACK. After a delay without
 * data the next 2, 4 … 64 occasions are skipped; data in time resets this number.
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
    oche_time longest; /* longest delay: OCHE_ACK_DELAY, except in tests */
    oche_time until;   /* ACKs wait until this time; 0: none wait */
    uint32_t to_skip;
    uint32_t misses; /* delays in a row without data */
    uint64_t useful, in_vain;
    bool data_has_left; /* data has left since an ACK last left without data */
    bool off;           /* ACKs do not wait: the process ends */
};

static inline void oche_ack_delay_missed(struct oche_ack_delay *delay)
{
    delay->until = 0;
    delay->misses += delay->misses < OCHE_ACK_DELAY_MISSES;
    delay->to_skip = UINT32_C(1) << delay->misses;
    delay->in_vain++;
}

/*
 * Returns false only if oche_ack_delay_waits would return false. Cheap enough to be called before
 * each send.
 */
static inline bool oche_ack_delay_may_wait(const struct oche_ack_delay *delay)
{
    return delay->until != 0 || delay->data_has_left;
}

/* Ends the delay of ACKs. With `off` they do not wait from now on, until it is called without. */
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
 * To be called when data is sent. If the delay was over before, because no thread polled in time,
 * it counts as one without data.
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
