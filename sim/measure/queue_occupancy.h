/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue occupancy from the counts of fabric/switch.h (struct oche_queue_watch), weighted by time:
 * the 99th percentile is the occupancy that the queue did not exceed during 99 % of the watched
 * time. Mean, standard deviation and maximum are exact. Percentiles are rounded down to the
 * histogram's step, so that an empty queue stays 0; with steps of one byte they are exact.
 */
#ifndef OCHE_SIM_MEASURE_QUEUE_OCCUPANCY_H
#define OCHE_SIM_MEASURE_QUEUE_OCCUPANCY_H

#include "fabric/switch.h"
#include "sim/measure/percentile.h"

struct oche_queue_occupancy {
    oche_time watched; /* total time */
    double mean_bytes;
    double deviation; /* standard deviation, bytes */
    uint64_t max_bytes;
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

/*
 * Returns the integral of the occupancy until `now`, in bytes * ps, including the time since the
 * queue last changed.
 */
unsigned __int128 oche_queue_byte_time_at(const struct oche_queue_watch *watch, oche_time now);

/* Returns the mean of an integral over `time` (above 0). A whole number comes out exactly. */
double oche_queue_mean(unsigned __int128 byte_time, oche_time time);

#endif
