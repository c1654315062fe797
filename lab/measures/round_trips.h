/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What senders measured and believed, one by one for exact percentiles: the round trips that
 * changed a window, and window over round trip, which is the rate that the sender thinks it has
 * (RoGUE sec 5.5, Fig 10 compares it with what arrives). And what arrived: the rate of each flow in
 * each window of measure.interval.
 */
#ifndef OCHE_LAB_MEASURES_ROUND_TRIPS_H
#define OCHE_LAB_MEASURES_ROUND_TRIPS_H

#include "lab/measures/by_workload.h"
#include "sim/measure/rate_gap.h"

struct oche_round_trips {
    /* Of samples after warm-up, where the endpoint keeps any; seconds, and bits per second. */
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
