/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers made from rates by window (sim/measure/rate_gap.h): how far the flows' rates are apart,
 * when they become equal, and how far they are from the rates of the fluid model. A number that a
 * run does not have is NAN.
 */
#ifndef OCHE_LAB_MEASURES_BY_RATE_H
#define OCHE_LAB_MEASURES_BY_RATE_H

#include "sim/measure/rate_gap.h"

#define OCHE_BY_RATE_LISTED 16

struct oche_by_rate {
    /*
     * In bits per second. flow_rate: each flow's mean rate. flow_model_distance: the mean distance
     * between each flow's rate and its rate in the fluid model. Both have one element for each of
     * the first OCHE_BY_RATE_LISTED flows. model_distance: the mean distance over all flows.
     */
    double flow_rate[OCHE_BY_RATE_LISTED], flow_model_distance[OCHE_BY_RATE_LISTED];
    double model_distance;
    /*
     * For two flows or more (struct oche_rate_gap has the meanings). Gaps are in bits per second,
     * times in seconds.
     */
    double gap_mean, gap_of_means, gap_late;
    double equal_first, equal_since, settled;
    double reached;     /* 1 if the flows' rates are equal at the end, else 0 */
    double equal_share; /* share of windows in which the flows' rates are equal */
    double paced_settled, paced_close;
    double paced_reached; /* 1 if the paced rates are settled at the end, else 0 */
    /* From the start of the last flow to `settled` and `paced_settled`, in empty round trips. */
    double settled_trips, paced_trips;
};

/*
 * Fills `by` from three tables. `rates`: measured rates of the flows; `model`: the flows' rates in
 * the fluid model; `paced`: the rates to which senders pace their connections.
 */
void oche_by_rate_take(struct oche_by_rate *by, const struct oche_rates *rates,
                       const struct oche_rates *model, const struct oche_rates *paced);

#endif
