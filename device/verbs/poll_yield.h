/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides after how many unsuccessful polls a thread yields its processor.
 *
 * A thread with a processor of its own learns of packets soonest by polling. If the peer is a
 * process on the same processor, nothing can arrive before the thread yields: 64 polls cost 20 to
 * 40 us a message, and half a millisecond on an emulated processor. So the result of a yield
 * decides. If it was short, another process ran, and packets had arrived afterwards, that was the
 * peer: the thread then yields after half as many polls. Otherwise it yields after twice as many. A
 * long yield proves nothing: another program had the processor.
 */
#ifndef OCHE_DEVICE_VERBS_POLL_YIELD_H
#define OCHE_DEVICE_VERBS_POLL_YIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

#define OCHE_POLL_YIELD_POLLS    64 /* most polls before a yield */
#define OCHE_POLL_YIELD_HALVINGS 6  /* halvings, to a single poll */
/* A yield is shorter than this if no other thread wants the processor. */
#define OCHE_POLL_YIELD_SHORT (2 * OCHE_US)
#define OCHE_POLL_YIELD_LONG  (500 * OCHE_US)

struct oche_poll_yield {
    uint32_t polls;    /* unsuccessful polls since the last packet or yield */
    uint32_t halvings; /* the thread yields after OCHE_POLL_YIELD_POLLS >> shorter polls */
    bool after_yield;  /* the next poll shows if the last yield helped */
};

/* To be called after each poll; `packets`: some arrived or left. Returns true if a yield is due. */
static inline bool oche_poll_yield_due(struct oche_poll_yield *state, bool packets)
{
    if (state->after_yield) {
        state->after_yield = false;
        if (packets)
            state->halvings += state->halvings < OCHE_POLL_YIELD_HALVINGS;
        else
            state->halvings -= state->halvings > 0;
    }
    if (packets) {
        state->polls = 0;
        return false;
    }
    if (++state->polls < (uint32_t)OCHE_POLL_YIELD_POLLS >> state->halvings)
        return false;
    state->polls = 0;
    return true;
}

/* To be called after a yield. `took`: how long it was. */
static inline void oche_poll_yield_done(struct oche_poll_yield *state, oche_time took)
{
    state->after_yield = took >= OCHE_POLL_YIELD_SHORT && took < OCHE_POLL_YIELD_LONG;
    if (!state->after_yield)
        state->halvings -= state->halvings > 0;
}

#endif
