/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Received PFC: which classes of a port its peer has paused (IEEE 802.1Qbb; rocev2.md#pfc). A frame
 * takes effect after the port's response time. A pause ends with an XON (quanta 0), or by itself
 * when its quanta (512 bit times each) have expired, counted from the time when the pause took
 * effect. Each port of a switch or a host has one struct oche_pause.
 *
 * Frames that have arrived but have no effect yet are stored exactly, as future pauses, as long as
 * no more than OCHE_PAUSE_SPANS of them are pending at the port. If there are more, the shortest
 * gap between two pauses becomes part of a pause (and is counted in `merged`): the port then sends
 * less than it may, never more. This happens only if the peer stops and starts us a dozen times
 * within one response time.
 */
#ifndef OCHE_FABRIC_PAUSE_H
#define OCHE_FABRIC_PAUSE_H

#include "core/base.h"
#include "core/wire/packet.h"

#define OCHE_PAUSE_SPANS   16
#define OCHE_PAUSE_QUANTUM 512 /* duration of one quantum, in bit times */

/* Returns how long `quanta` last on a line of `rate_bps`. */
static inline oche_time oche_pause_duration(uint16_t quanta, uint64_t rate_bps)
{
    return oche_time_of_bytes((uint64_t)quanta * (OCHE_PAUSE_QUANTUM / 8), rate_bps);
}

/*
 * There are more spans than classes, so when all are in use, two are of the same class and can be
 * merged.
 */
_Static_assert(OCHE_PAUSE_SPANS > OCHE_CLASSES, "more spans than classes");

struct oche_pause_span {
    oche_time from, until; /* paused at from <= t < until */
};

struct oche_pause {
    oche_time next; /* when oche_pause_update has work to do, or OCHE_NEVER */
    uint8_t mask;   /* mask of the classes that were paused at the last update */
    uint8_t count;  /* number of spans in use */
    uint8_t class_of[OCHE_PAUSE_SPANS];
    /*
     * Sorted by `from`. Spans of one class do not overlap; the first of them may be in effect
     * already.
     */
    struct oche_pause_span spans[OCHE_PAUSE_SPANS];
    uint64_t rate_bps;
    oche_time response;
    oche_time counted_from; /* last reset of the counters */
    uint64_t merged;        /* gaps turned into pauses because no span was free, since creation */
    uint64_t received[OCHE_CLASSES];
    oche_time total[OCHE_CLASSES];  /* duration of the pauses that have ended, since counted_from */
    oche_time before[OCHE_CLASSES]; /* duration of all pauses before counted_from */
};

void oche_pause_init(struct oche_pause *pause, uint64_t rate_bps, oche_time response);

/* Handles a PFC frame that has arrived. With a response time of 0 it takes effect at once. */
void oche_pause_receive(struct oche_pause *pause, const struct oche_packet *frame, oche_time now);

/* Begins and ends pauses up to `now`. Returns the mask of the classes that are paused at `now`. */
uint8_t oche_pause_update(struct oche_pause *pause, oche_time now);

/* Ends all pauses, because the link has gone down. The counters stay. */
void oche_pause_clear(struct oche_pause *pause, oche_time now);

/*
 * Returns for how long `cls` has been paused since the last reset; a current pause counts up to
 * `now`.
 */
oche_time oche_pause_time(const struct oche_pause *pause, unsigned cls, oche_time now);
/* Returns for how long `cls` has been paused in all, whatever the resets. */
static inline oche_time oche_pause_time_ever(const struct oche_pause *pause, unsigned cls,
                                             oche_time now)
{
    return pause->before[cls] + oche_pause_time(pause, cls, now);
}
/*
 * Returns the number of PFC frames with a pause for `cls` since the last reset, including
 * refreshes.
 */
static inline uint64_t oche_pause_received(const struct oche_pause *pause, unsigned cls)
{
    return pause->received[cls];
}
void oche_pause_reset(struct oche_pause *pause, oche_time now);

#endif
