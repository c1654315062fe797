/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays the completion of an unreliable connection's message until the peer's answer.
 *
 * A reliable message completes when its ACK comes, and the peer's answer comes with the ACK
 * (ack_delay.h). So an application that polls for the completion and then watches its memory finds
 * the answer at once. An unreliable message completes as soon as it has left. The application would
 * then watch its memory without polling, and a thread would have to wake to receive the answer:
 * tens of microseconds. Therefore polling holds back such a completion for OCHE_UC_DELAY if the
 * message is probably an answer: data of the peer has come since the last message left, and none
 * since this one. The application polls on, and so receives. After several delays in a row without
 * data, the next 4, 8 … 64 occasions are skipped.
 *
 * One-way traffic never waits, as its peer sends no data.
 */
#ifndef OCHE_DEVICE_VERBS_UC_DELAY_H
#define OCHE_DEVICE_VERBS_UC_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

#define OCHE_UC_DELAY (64 * OCHE_US)
/*
 * Misses in a row without a consequence. A peer that was away once should find us polling when it
 * answers; otherwise we would be away in turn, and so on.
 */
#define OCHE_UC_DELAY_FREE_MISSES 4
#define OCHE_UC_DELAY_MISSES      9 /* at most 2^6 occasions are skipped */

struct oche_uc_delay {
    uint32_t at_send; /* the count when the last message left */
    uint32_t to_skip; /* occasions to skip */
    uint32_t misses;  /* delays in a row without data */
    oche_time until;  /* a completion waits until this time; 0: none waits */
};

/* Ends a completion's delay; `came`: data came in time. */
static inline void oche_uc_delay_end(struct oche_uc_delay *delay, bool came)
{
    delay->until = 0;
    delay->misses = came ? 0 : delay->misses + (delay->misses < OCHE_UC_DELAY_MISSES);
    delay->to_skip = delay->misses > OCHE_UC_DELAY_FREE_MISSES
                         ? UINT32_C(2) << (delay->misses - OCHE_UC_DELAY_FREE_MISSES)
                         : 0;
}

/* To be called before a completion is reported. Returns true if it should wait. */
static inline bool oche_uc_delay_waits(struct oche_uc_delay *delay,
                                       const struct oche_uc_counts *counts, oche_time now)
{
    const bool came = counts->now != counts->at_send;
    const bool is_answer = counts->at_send != delay->at_send;

    if (delay->until != 0) {
        if (!came && now < delay->until)
            return true;
        oche_uc_delay_end(delay, came);
        return false;
    }
    delay->at_send = counts->at_send;
    if (came || !is_answer)
        return false;
    if (delay->to_skip > 0) {
        delay->to_skip--;
        return false;
    }
    delay->until = now + OCHE_UC_DELAY;
    return true;
}

#endif
