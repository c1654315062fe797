/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values for exact percentiles: the round trips that changed a window; window over round
 * trip, which is the sender's estimate of its rate (RoGUE sec 5.5; Fig 10 compares it with the
 * throughput); and the throughput of each flow in each window of measure.interval.
 */
#ifndef OCHE_LAB_MEASURES_ROUND_TRIPS_H
#define OCHE_LAB_MEASURES_ROUND_TRIPS_H

#include "lab/measures/by_workload.h"
#include "sim/measure/rate_gap.h"

struct oche_round_trips {
    /* The samples after warm-up, if the endpoint keeps any. rtt: seconds; estimate: bits/s. */
    struct oche_sorted_values rtt, estimate;
    /*
     * Bits per second, of all flows and those windows of measure.interval for the whole of which
     * the flow was in progress.
     */
    struct oche_sorted_values interval_goodput;
};

/*
 * Fills `trips` from a world that has run; `rates`: the flows' rates by window, or a table without
 * flows. The caller releases it with oche_round_trips_free.
 */
void oche_round_trips_take(struct oche_round_trips *trips, const struct oche_world *world,
                           const struct oche_rates *rates);
void oche_round_trips_free(struct oche_round_trips *trips);

#endif
