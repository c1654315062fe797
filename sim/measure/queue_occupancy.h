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
    uint64_t mean_bytes; /* mean of the occupancies, each rounded down to a step of the histogram */
    double deviation;    /* standard deviation of the rounded occupancies, bytes */
    uint64_t max_bytes;  /* exact */
    uint64_t percentile[OCHE_PERCENTILES]; /* max_bytes if it lies in the histogram's last step */
};

/*
 * Returns the occupancy of a queue until `now`. The time since the queue last changed counts for
 * its current occupancy.
 */
struct oche_queue_occupancy oche_queue_occupancy(const struct oche_queue_watch *watch,
                                                 oche_time now);

/*
 * Returns the time spent at a step of the histogram until `now`, including the time since the queue
 * last changed.
 */
oche_time oche_queue_time_at(const struct oche_queue_watch *watch, oche_time now, uint32_t step);

#endif
