/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the ranks of a job spent their time: for each rank, spans of equal length, with the time of
 * each activity in them. When a rank needs more spans than there is room for, each two of its spans
 * become one. So memory is bounded, however long the run is; nothing is allocated while it runs.
 */
#ifndef OCHE_SIM_GRAPH_TIMELINE_H
#define OCHE_SIM_GRAPH_TIMELINE_H

#include "core/base.h"

/* A rank does one of these at a time; of several the first one counts. */
enum oche_activity {
    OCHE_CALCULATES, /* a cpu is busy: with a calculation, or the overhead of a message */
    OCHE_SENDS,      /* a message of the rank is posted and not acknowledged */
    OCHE_RECEIVES,   /* the time that a delivered message takes at the receiver's line rate */
    OCHE_WAITS,      /* none of these */
    OCHE_ACTIVITIES
};

struct oche_timeline {
    uint32_t rows;  /* ranks that are recorded; 0: there is no timeline */
    uint32_t every; /* rank every * row is recorded */
    uint32_t spans; /* most spans of a row */
    oche_time start;
    oche_time *lengths;                  /* by row: length of its spans */
    oche_time (*times)[OCHE_ACTIVITIES]; /* by row and span */
};

#define OCHE_TIMELINE_RANKS 16384               /* with more ranks not all are recorded */
#define OCHE_TIMELINE_SPANS 512                 /* most spans of a rank; fewer with many ranks */
#define OCHE_TIMELINE_CELLS (UINT32_C(1) << 20) /* spans of all ranks: 32 MiB */

/* Makes a timeline of `ranks` ranks, from `start` on, with empty spans. */
void oche_timeline_make(struct oche_timeline *timeline, uint32_t ranks, oche_time start);
void oche_timeline_free(struct oche_timeline *timeline);

/* True if the rank is recorded. */
static inline bool oche_timeline_has(const struct oche_timeline *timeline, uint32_t rank)
{
    return timeline->rows > 0 && rank % timeline->every == 0;
}

/*
 * Adds the time [from, to) of a recorded rank to an activity. The times of one rank are added by
 * one thread; they do not overlap, and `from` is not before `start`.
 */
void oche_timeline_add(struct oche_timeline *timeline, uint32_t rank, enum oche_activity activity,
                       oche_time from, oche_time to);

/* Returns the spans of a recorded rank; those behind its end are zero. */
static inline oche_time (*oche_timeline_spans(const struct oche_timeline *timeline,
                                              uint32_t row))[OCHE_ACTIVITIES]
{
    return &timeline->times[(size_t)row * timeline->spans];
}

#endif
