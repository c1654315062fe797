/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMELY's parameters for a device that knows its line's rate and its round trip. The paper's
 * thresholds are of whole round trips, propagation included, so that they go with the network
 * (timely.md#t2): its values are made for lines of 10 Gbit/s and round trips of 20us. All times
 * keep their proportions, and a step of the rate is the same part of the line. What they are in
 * proportion to, the paper's 20us, is the time of 25 KB on the line, as 20us are on its own, or the
 * round trip if that is longer. Of the paper's segments, 16 KB or 64 KB (timely.md#parameters), it
 * is the shorter one, as the other takes longer than the unit to leave.
 */
#include "core/cc/timely/timely_engine.h"

#define UNIT_BYTES    UINT64_C(25000)
#define UNKNOWN_TRIP  OCHE_MS        /* two kernels, and two threads that have to wake up */
#define SHORTEST_UNIT (50 * OCHE_US) /* a program's timers are not finer */
#define SEGMENT_BYTES 16000
#define LOW_TO_HIGH   10   /* 50us, 500us */
#define LINE_TO_DELTA 1000 /* 10 Mbit/s of 10 Gbit/s */

/*
 * The thresholds are a tenth of each other, as the paper's; one that is given takes the other one
 * along where that would be on its wrong side.
 */
static void fit_thresholds(const struct oche_param_table *table, struct timely_params *p,
                           uint64_t free, oche_time low, uint64_t line_bps)
{
    if (!oche_param_is_free(table, free, "t_high"))
        low = oche_time_min(low, oche_time_max(p->t_high / LOW_TO_HIGH, OCHE_NS));
    oche_param_fit(table, p, free, "t_low", low);
    oche_param_fit(table, p, free, "t_high", LOW_TO_HIGH * timely_low(p, line_bps));
}

void timely_fit_rows(const struct oche_param_table *table, void *params, uint64_t free,
                     const struct oche_cc_network *network)
{
    const oche_time trip = network->round_trip != 0 ? network->round_trip : UNKNOWN_TRIP;
    oche_time unit = oche_time_of_bytes(UNIT_BYTES, network->line_rate_bps);
    struct timely_params *p = params;

    p->round_trip = network->round_trip;
    unit = oche_time_max(oche_time_max(unit, trip), SHORTEST_UNIT);
    oche_param_fit(table, params, free, "min_rtt", unit);
    fit_thresholds(table, p, free, unit * 5 / 2, network->line_rate_bps); /* 50us of 20us */
    oche_param_fit(table, params, free, "segment", SEGMENT_BYTES);
    oche_param_fit(table, params, free, "delta", network->line_rate_bps / LINE_TO_DELTA);
}
