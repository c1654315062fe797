/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from rates by window (sim/measure/rate_gap.h): how far flows are apart, from when on
 * they are equal, and how far they are from the fluid model's. Numbers that a run does not have are
 * NAN.
 */
#ifndef OCHE_LAB_MEASURES_BY_RATE_H
#define OCHE_LAB_MEASURES_BY_RATE_H

#include "sim/measure/rate_gap.h"

#define OCHE_BY_RATE_LISTED 16

struct oche_by_rate {
    /* Bits per second: the first flows one by one, and the mean over all. */
    double flow_rate[OCHE_BY_RATE_LISTED], flow_model_distance[OCHE_BY_RATE_LISTED];
    double model_distance;
    /* For two flows or more. Gaps are in bits per second, points in time in seconds. */
    double gap_mean, gap_of_means, gap_late;
    double equal_first, equal_since, settled;
    double reached;     /* 1 if flows are equal at the end, else 0 */
    double equal_share; /* share of windows in which they are equal */
    double paced_settled, paced_close;
};

/*
 * `rates`: the flows'; `model`: the same according to the fluid model; `paced`: those of
 * connections' senders.
 */
void oche_by_rate_take(struct oche_by_rate *by, const struct oche_rates *rates,
                       const struct oche_rates *model, const struct oche_rates *paced);

#endif
