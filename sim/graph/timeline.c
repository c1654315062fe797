/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of ranks; see timeline.h. */
#include "sim/graph/timeline.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_LENGTH (10 * OCHE_NS)

void oche_timeline_make(struct oche_timeline *timeline, uint32_t ranks, oche_time start)
{
    uint32_t spans = OCHE_TIMELINE_SPANS;
    const uint32_t every = (ranks + OCHE_TIMELINE_RANKS - 1) / OCHE_TIMELINE_RANKS;
    const uint32_t rows = (ranks + every - 1) / every;

    while ((uint64_t)rows * spans > OCHE_TIMELINE_CELLS)
        spans /= 2;
    *timeline =
        (struct oche_timeline){.rows = rows, .every = every, .spans = spans, .start = start};
    timeline->lengths = malloc(rows * sizeof(*timeline->lengths));
    timeline->times = calloc((size_t)rows * spans, sizeof(*timeline->times));
    OCHE_GOT(timeline->lengths != NULL && timeline->times != NULL);
    for (uint32_t i = 0; i < rows; i++)
        timeline->lengths[i] = FIRST_LENGTH;
}

void oche_timeline_free(struct oche_timeline *timeline)
{
    free(timeline->lengths);
    free(timeline->times);
    *timeline = (struct oche_timeline){.rows = 0};
}

/* Makes one span of each two. */
static void join(struct oche_timeline *timeline, uint32_t row)
{
    oche_time(*times)[OCHE_ACTIVITIES] = oche_timeline_spans(timeline, row);
    const uint32_t half = timeline->spans / 2;

    for (uint32_t i = 0; i < half; i++)
        for (unsigned k = 0; k < OCHE_ACTIVITIES; k++)
            times[i][k] = times[2 * i][k] + times[2 * i + 1][k];
    memset(&times[half], 0, half * sizeof(*times));
    timeline->lengths[row] *= 2;
}

void oche_timeline_add(struct oche_timeline *timeline, uint32_t rank, enum oche_activity activity,
                       oche_time from, oche_time to)
{
    const uint32_t row = rank / timeline->every;
    oche_time(*times)[OCHE_ACTIVITIES] = oche_timeline_spans(timeline, row);

    if (from >= to)
        return;
    OCHE_MUST(from >= timeline->start);
    from -= timeline->start;
    to -= timeline->start;
    while ((to - 1) / timeline->lengths[row] >= timeline->spans)
        join(timeline, row);

    const oche_time length = timeline->lengths[row];

    for (oche_time span = from / length; from < to; span++) {
        const oche_time end = oche_time_min((span + 1) * length, to);

        times[span][activity] += end - from;
        from = end;
    }
}
