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

unsigned __int128 oche_queue_byte_time_at(const struct oche_queue_watch *watch, oche_time now)
{
    const oche_time open = now > watch->since ? now - watch->since : 0;

    return watch->byte_time + (unsigned __int128)watch->bytes * open;
}

double oche_queue_mean(unsigned __int128 byte_time, oche_time time)
{
    return (double)(byte_time / time) + (double)(byte_time % time) / (double)time;
}

/*
 * Returns the standard deviation. The squares are taken about the mean's whole bytes, in integers,
 * so that precision is not lost if a queue is long and steady. Terms may wrap around, but their sum
 * is an integral of squares, which fits.
 */
static double deviation(const struct oche_queue_watch *watch, oche_time now, oche_time watched)
{
    const oche_time open = now > watch->since ? now - watch->since : 0;
    const unsigned __int128 byte_time = oche_queue_byte_time_at(watch, now);
    const unsigned __int128 square_time =
        watch->square_time + (unsigned __int128)watch->bytes * watch->bytes * open;
    const unsigned __int128 whole = byte_time / watched;
    const unsigned __int128 about = square_time - 2 * whole * byte_time + whole * whole * watched;
    const double rest = (double)(byte_time % watched) / (double)watched;

    return sqrt(fmax(0, oche_queue_mean(about, watched) - rest * rest));
}

struct oche_queue_occupancy oche_queue_occupancy(const struct oche_queue_watch *watch,
                                                 oche_time now)
{
    struct oche_queue_occupancy occupancy = {.watched = total_time(watch, now),
                                             .max_bytes = watch->max_bytes};
    oche_time below = 0;
    unsigned p = 0;

    if (occupancy.watched == 0)
        return occupancy;
    for (uint32_t step = 0, steps = steps_of(watch); step < steps; step++) {
        uint64_t bytes = step * watch->step_bytes;

        below += oche_queue_time_at(watch, now, step);
        for (; p < OCHE_PERCENTILES &&
               below >= oche_percentile_rank(occupancy.watched, oche_percentile_thousandths[p]);
             p++)
            occupancy.percentile[p] = step + 1 == watch->steps ? watch->max_bytes : bytes;
    }
    occupancy.mean_bytes = oche_queue_mean(oche_queue_byte_time_at(watch, now), occupancy.watched);
    occupancy.deviation = deviation(watch, now, occupancy.watched);
    return occupancy;
}
