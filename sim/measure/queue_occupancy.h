/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue occupancy from the histograms of fabric/switch.h (struct oche_queue_watch), weighted by
 * time: the 99th percentile is the occupancy that the queue did not exceed during 99 % of the
 * watched time. Occupancies are rounded down to the histogram's step; with steps of one byte they
 * are exact.
 */
#ifndef OCHE_SIM_MEASURE_QUEUE_OCCUPANCY_H
#define OCHE_SIM_MEASURE_QUEUE_OCCUPANCY_H

#include "fabric/switch.h"
#include "sim/measure/percentile.h"

struct oche_queue_occupancy {
    oche_time watched;   /* total time */
    uint64_t mean_bytes; /* of the rounded occupancies; the last step counts as its beginning */
    double deviation;    /* standard deviation of the same */
    uint64_t max_bytes;  /* exact */
    uint64_t percentile[OCHE_PERCENTILES]; /* max_bytes if it lies in the histogram's last step */
};

/*
 * Returns the occupancy at `now`; the time since the watch's last change counts at the current
 * occupancy.
 */
struct oche_queue_occupancy oche_queue_occupancy(const struct oche_queue_watch *watch,
                                                 oche_time now);

/* The time-weighted distribution as points (bytes, share of time at or below), ascending. */
struct oche_queue_point {
    uint64_t bytes;
    double share;
};
/*
 * Writes only steps at which time was spent. `points` has room for watch->steps; returns how many
 * there are.
 */
uint32_t oche_queue_distribution(const struct oche_queue_watch *watch, oche_time now,
                                 struct oche_queue_point *points);

#endif
