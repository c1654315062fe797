/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether the completion of an unreliable connection's message waits a moment for the
 * peer's answer.
 *
 * A reliable message completes when its ACK comes, and the peer's answer comes with the ACK
 * (hold.h): so an application that polls for its completion and then watches its memory has what
 * it watches for at once. An unreliable message completes as soon as it has left. The application
 * would then watch its memory without polling, and a thread would have to be woken to receive the
 * answer: tens of microseconds. Therefore polling does not report such a completion for
 * OCHE_ANSWERS_WAIT if that is likely to help: if data of the peer has come since the last message
 * left, so that this one is probably an answer, and none since this one left. The application polls
 * on meanwhile, and so receives. If no data comes in time several times in a row, the next 4, 8 …
 * 64 occasions are skipped.
 *
 * One-way traffic never waits, as nothing comes back.
 */
#ifndef OCHE_DEVICE_ANSWERS_H
#define OCHE_DEVICE_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

#define OCHE_ANSWERS_WAIT (64 * OCHE_US)
/*
 * Misses in a row after which no occasion is skipped: a peer that was away once should find us
 * polling when it answers, or it would be our turn to be away, and so on.
 */
#define OCHE_ANSWERS_PARDON 4
#define OCHE_ANSWERS_MISSES 9 /* at most 2^6 occasions are skipped */

/*
 * Two counts of the packets with data that have come on unreliable connections: now, and when data
 * last left on one.
 */
struct oche_answer_counts {
    uint32_t now, at_send;
};

struct oche_answers {
    uint32_t at_send;   /* the count when the last message left */
    uint32_t leave_out; /* occasions to skip */
    uint32_t misses;    /* how many times in a row no data came */
    oche_time until;    /* a completion waits until this time; 0: none does */
};

/* A completion has waited; `came`: for data that came in time. */
static inline void oche_answers_end(struct oche_answers *answers, bool came)
{
    answers->until = 0;
    answers->misses = came ? 0 : answers->misses + (answers->misses < OCHE_ANSWERS_MISSES);
    answers->leave_out = answers->misses > OCHE_ANSWERS_PARDON
                             ? UINT32_C(2) << (answers->misses - OCHE_ANSWERS_PARDON)
                             : 0;
}

/* To be called before a completion is reported. Returns true if it should wait. */
static inline bool oche_answers_wait(struct oche_answers *answers,
                                     const struct oche_answer_counts *counts, oche_time now)
{
    const bool came = counts->now != counts->at_send;
    const bool is_answer = counts->at_send != answers->at_send;

    if (answers->until != 0) {
        if (!came && now < answers->until)
            return true;
        oche_answers_end(answers, came);
        return false;
    }
    answers->at_send = counts->at_send;
    if (came || !is_answer)
        return false;
    if (answers->leave_out > 0) {
        answers->leave_out--;
        return false;
    }
    answers->until = now + OCHE_ANSWERS_WAIT;
    return true;
}

#endif
