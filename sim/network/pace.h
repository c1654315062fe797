/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether several threads run windows together, or one of them runs all shards one after
 * the other. Running together costs time: threads wait for each other, and data written by one
 * thread is slow to read for another. The gain depends on the number of events to share and on the
 * number of free processors. So where there are neither many events nor few, both ways are tried,
 * and tried again from time to time. The choice is one of time alone: results are the same.
 */
#ifndef OCHE_SIM_NETWORK_PACE_H
#define OCHE_SIM_NETWORK_PACE_H

#include "core/base.h"

/* With more events a window threads run together, with fewer one runs alone; between both try. */
#define OCHE_PACE_MANY 4096
#define OCHE_PACE_FEW  16

enum oche_pace_state {
    OCHE_PACE_MEASURED, /* the way in use is measured, before a trial of the other way */
    OCHE_PACE_ON_TRIAL, /* the other one is in use */
    OCHE_PACE_SETTLED,  /* the better one is in use */
};

/* All 0: one thread, to begin with. */
struct oche_pace {
    bool always;   /* run together whatever it costs, as in tests */
    bool together; /* what is chosen */
    bool met;      /* they have met since then, so that they are waited for */
    enum oche_pace_state state;
    uint64_t events, windows; /* since then: */
    uint64_t since_ns;        /* when this state began; 0: not yet */
    double before;            /* events a nanosecond of the way that was measured */
    uint64_t settled_ns;      /* until the next trial */
};

/*
 * To be called after each window, with its events, whether it was run by all threads, and a clock,
 * which is read from time to time. Decides pace->together.
 */
void oche_pace_count(struct oche_pace *pace, uint64_t events, bool together,
                     uint64_t (*clock_ns)(void));

#endif
