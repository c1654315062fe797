/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether the completion of an unreliable connection's message waits a moment for the
 * peer's answer.
 *
 * A reliable message completes when its ACK comes, and the peer's answer comes with the ACK
 * (ack_delay.h): so an application that polls for its completion and then watches its memory has
 * what it watches for at once. An unreliable message completes as soon as it has left. The
 * application would then watch its memory without polling, and a thread would have to be woken to
 * receive the answer: tens of microseconds. Therefore polling does not report such a completion for
 * OCHE_UC_DELAY if that is likely to help: if data of the peer has come since the last message
 * left, so that this one is probably an answer, and none since this one left. The application polls
 * on meanwhile, and so receives. If no data comes in time several times in a row, the next 4, 8 …
 * 64 occasions are skipped.
 *
 * One-way traffic never waits, as nothing comes back.
 */
#ifndef OCHE_DEVICE_VERBS_UC_DELAY_H
#define OCHE_DEVICE_VERBS_UC_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

#define OCHE_UC_DELAY (64 * OCHE_US)
/*
 * Misses in a row after which no occasion is skipped: a peer that was away once should find us
 * polling when it answers, or it would be our turn to be away, and so on.
 */
#define OCHE_UC_DELAY_FREE_MISSES 4
#define OCHE_UC_DELAY_MISSES      9 /* at most 2^6 occasions are skipped */

struct oche_uc_delay {
    uint32_t at_send; /* the count when the last message left */
    uint32_t to_skip; /* occasions to skip */
    uint32_t misses;  /* how many times in a row no data came */
    oche_time until;  /* a completion waits until this time; 0: none does */
};

/* A completion has waited; `came`: for data that came in time. */
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
