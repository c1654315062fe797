/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that an endpoint reports about its connections, besides their rate (measure.rates). From
 * gauges a world makes time series, and from measured round trips it makes metrics. An endpoint has
 * a table of gauges, and chunks of samples; the world knows neither a gauge's meaning nor its
 * endpoint.
 */
#ifndef OCHE_SIM_NETWORK_GAUGE_H
#define OCHE_SIM_NETWORK_GAUGE_H

#include "core/base.h"
#include "sim/engine/arena.h"

struct oche_gauge {
    const char *name, *unit; /* name and unit of the series: "window", "bytes" */
    /*
     * True: the value is a total that only grows. The series then shows the increase in each
     * interval.
     */
    bool total;
    /* Returns the value of a connection now; NAN: it is not known yet. */
    double (*value)(void *state, uint32_t connection);
};

struct oche_gauges {
    const struct oche_gauge *rows;
    unsigned count;
};

/* A round trip that changed a window: when that was, and how many bytes the window then had. */
struct oche_rtt_sample {
    oche_time when, rtt;
    uint64_t window_bytes;
};

#define OCHE_RTT_CHUNK 200
struct oche_rtt_chunk {
    struct oche_rtt_chunk *before; /* NULL: this is the first chunk */
    uint32_t count;
    struct oche_rtt_sample samples[OCHE_RTT_CHUNK];
};

/* Adds a sample to the list of chunks that ends with *last. */
static inline void oche_rtt_note(struct oche_rtt_chunk **last, struct oche_arena *arena,
                                 const struct oche_rtt_sample *sample)
{
    if (*last == NULL || (*last)->count == OCHE_RTT_CHUNK) {
        struct oche_rtt_chunk *chunk = oche_arena_take(arena, sizeof(*chunk));

        chunk->before = *last;
        chunk->count = 0;
        *last = chunk;
    }
    (*last)->samples[(*last)->count++] = *sample;
}

#endif
