/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMELY for lines of today (timely.md#deployed): the defaults, and what `auto` is. The paper's
 * values are made for 10 Gbit/s. Here thresholds are the network's round trip and a time in a
 * queue, the one at which switches in use mark (dcqcn.md#deployed), and steps of the rate are parts
 * of the line.
 */
#include "core/cc/timely/timely_engine.h"

#define MARK_TIME  (8 * OCHE_US)   /* kmin: 1 KB for each Gbit/s … */
#define MARK_BYTES UINT64_C(25000) /* … or, on lines below 25 Gbit/s, six of the segments */
/* on faster lines MARK_TIME is longer than the time for MARK_BYTES */
#define MARK_LINE_BPS (25 * OCHE_GBPS)
#define LOW_TO_HIGH   4                /* kmax is 4 KB for each Gbit/s */
#define LINE_TO_DELTA 200              /* of the line's rate, per completion */
#define SEGMENT_TIME  (1280 * OCHE_NS) /* 16 KB at 100 Gbit/s */
#define SEGMENT_LEAST UINT64_C(4000)
#define SEGMENT_MOST  UINT64_C(16000) /* TIMELY sec 5 */
#define UNKNOWN_TRIP  OCHE_MS         /* of a device that has measured none yet */

const struct oche_deployed timely_deployed[TIMELY_DEPLOYED_PATCHED] = {
    {"t_low", {.u = OCHE_NEVER}},
    {"t_high", {.u = OCHE_NEVER}},
    {"min_rtt", {.u = OCHE_NEVER}},
    {"delta", {.u = OCHE_NEVER}},
    {"segment", {.u = OCHE_NEVER}},
    {"min_rate_fraction", {.real = 0.01}},
    /* from here on timely_patched alone */
    {"beta", {.real = 0.04}},
    {"beta_high", {.real = 0.8}},
};

/* Returns the time in a queue that is too short to slow down. */
static oche_time mark_time(uint64_t line_bps)
{
    return line_bps >= MARK_LINE_BPS ? MARK_TIME : oche_time_of_bytes(MARK_BYTES, line_bps);
}

oche_time timely_low(const struct timely_params *p, uint64_t line_bps)
{
    const oche_time trip = p->round_trip != 0 ? p->round_trip : UNKNOWN_TRIP;

    if (p->t_low != OCHE_NEVER)
        return p->t_low;
    const oche_time low = (trip + mark_time(line_bps) + OCHE_US - 1) / OCHE_US * OCHE_US;

    /* below a t_high that is given */
    return p->t_high == OCHE_NEVER ? low : oche_time_min(low, p->t_high / 2);
}

oche_time timely_high(const struct timely_params *p, uint64_t line_bps)
{
    if (p->t_high != OCHE_NEVER)
        return p->t_high;
    return timely_low(p, line_bps) + LOW_TO_HIGH * mark_time(line_bps);
}

oche_time timely_unit(const struct timely_params *p, uint64_t line_bps)
{
    return p->min_rtt != OCHE_NEVER ? p->min_rtt : timely_low(p, line_bps);
}

uint64_t timely_delta(const struct timely_params *p, uint64_t line_bps)
{
    return p->delta != OCHE_NEVER ? p->delta : line_bps / LINE_TO_DELTA;
}

uint64_t timely_segment(const struct timely_params *p, uint64_t line_bps)
{
    if (p->segment != OCHE_NEVER)
        return p->segment;
    const uint64_t bytes = oche_bytes_in_time(SEGMENT_TIME, line_bps);

    return bytes < SEGMENT_LEAST ? SEGMENT_LEAST : bytes > SEGMENT_MOST ? SEGMENT_MOST : bytes;
}
