/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's parameters for a device that knows its line's rate and its round trip. The paper's values
 * are made for lines of 40 Gbit/s; on a slower line everything takes longer. All times keep their
 * proportions, and steps of the rate are the same parts of the line. The time to which the others
 * are in proportion, the paper's 50us, is that of 64 KB on the line, as a device in software hands
 * so much to the kernel at once, or of two round trips if that is longer.
 */
#include "core/cc/dcqcn.h"

#define UNIT_BYTES    UINT64_C(65536)
#define UNIT_TRIPS    2
#define UNKNOWN_TRIP  OCHE_MS        /* two kernels, and two threads that have to wake up */
#define SHORTEST_UNIT (50 * OCHE_US) /* a program's timers are not finer */
#define IDLE_UNITS    200            /* 10 ms of 50 us */
#define LINE_TO_RAI   1000           /* 40 Mbit/s of 40 Gbit/s */
#define LINE_TO_RHAI  200

oche_time dcqcn_fit_unit(const struct oche_cc_network *network)
{
    const oche_time trip = network->round_trip != 0 ? network->round_trip : UNKNOWN_TRIP;
    oche_time unit = oche_time_of_bytes(UNIT_BYTES, network->line_rate_bps);

    unit = oche_time_max(unit, UNIT_TRIPS * trip);
    return oche_time_max(unit, SHORTEST_UNIT);
}

/*
 * alpha_interval has to be above cnp_interval, by a tenth in the paper; if one of them is given the
 * other one follows.
 */
static void fit_intervals(const struct oche_param_table *table, struct dcqcn_params *p,
                          uint64_t free, oche_time unit)
{
    const oche_time alpha = unit + unit / 10;

    if (!oche_param_is_free(table, free, "cnp_interval")) {
        const oche_time above = p->cnp_interval + p->cnp_interval / 10;
        oche_param_fit(table, p, free, "alpha_interval", oche_time_max(alpha, above));
        return;
    }
    oche_param_fit(table, p, free, "alpha_interval", alpha);
    oche_param_fit(table, p, free, "cnp_interval",
                   oche_time_min(unit, p->alpha_interval - p->alpha_interval / 11));
}

void dcqcn_fit_rows(const struct oche_param_table *table, void *params, uint64_t free,
                    const struct oche_cc_network *network)
{
    const oche_time unit = dcqcn_fit_unit(network);

    fit_intervals(table, params, free, unit);
    oche_param_fit(table, params, free, "timer", unit + unit / 10);
    oche_param_fit(table, params, free, "idle_timeout", IDLE_UNITS * unit);
    oche_param_fit(table, params, free, "rai", network->line_rate_bps / LINE_TO_RAI);
    oche_param_fit(table, params, free, "rhai", network->line_rate_bps / LINE_TO_RHAI);
}
