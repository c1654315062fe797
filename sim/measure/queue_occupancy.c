/* SPDX-License-Identifier: Apache-2.0 */
/* Time-weighted queue occupancy; see the header. */
#include "sim/measure/queue_occupancy.h"

#include <math.h>

oche_time oche_queue_time_at(const struct oche_queue_watch *watch, oche_time now, uint32_t step)
{
    uint64_t present = watch->bytes / watch->step_bytes;
    oche_time time = watch->time[step];

    if (present >= watch->steps)
        present = watch->steps - 1;
    return step == present && now > watch->since ? time + (now - watch->since) : time;
}

/* Returns how many steps there are up to the highest at which the queue has been. */
static uint32_t steps_of(const struct oche_queue_watch *watch)
{
    uint64_t most = watch->bytes > watch->max_bytes ? watch->bytes : watch->max_bytes;
    uint64_t steps = most / watch->step_bytes + 1;

    return steps < watch->steps ? (uint32_t)steps : watch->steps;
}

static oche_time total_time(const struct oche_queue_watch *watch, oche_time now)
{
    oche_time total = 0;

    OCHE_MUST(watch->steps > 0 && watch->step_bytes > 0);
    for (uint32_t step = 0, steps = steps_of(watch); step < steps; step++)
        total += oche_queue_time_at(watch, now, step);
    return total;
}

/*
 * Returns the standard deviation. A second pass over the histogram computes it from differences to
 * the mean, so that precision is not lost if a queue is long and steady.
 */
static double deviation(const struct oche_queue_watch *watch, oche_time now, double mean)
{
    double sum = 0, total = 0;

    for (uint32_t step = 0, steps = steps_of(watch); step < steps; step++) {
        double time = (double)oche_queue_time_at(watch, now, step);
        double apart = (double)(step * watch->step_bytes) - mean;

        sum += time * apart * apart;
        total += time;
    }
    return sqrt(sum / total);
}

struct oche_queue_occupancy oche_queue_occupancy(const struct oche_queue_watch *watch,
                                                 oche_time now)
{
    struct oche_queue_occupancy occupancy = {.watched = total_time(watch, now),
                                             .max_bytes = watch->max_bytes};
    unsigned __int128 weighted = 0;
    oche_time below = 0;
    unsigned p = 0;

    if (occupancy.watched == 0)
        return occupancy;
    for (uint32_t step = 0, steps = steps_of(watch); step < steps; step++) {
        oche_time time = oche_queue_time_at(watch, now, step);
        uint64_t bytes = step * watch->step_bytes;

        weighted += (unsigned __int128)time * bytes;
        below += time;
        for (; p < OCHE_PERCENTILES &&
               below >= oche_percentile_rank(occupancy.watched, oche_percentile_thousandths[p]);
             p++)
            occupancy.percentile[p] = step + 1 == watch->steps ? watch->max_bytes : bytes;
    }
    occupancy.mean_bytes = (uint64_t)(weighted / occupancy.watched);
    occupancy.deviation = deviation(watch, now, (double)weighted / (double)occupancy.watched);
    return occupancy;
}
