/* SPDX-License-Identifier: Apache-2.0 */
/* Computes single numbers from tables of rates. */
#include "lab/measures/by_rate.h"

#include <math.h>

/* Returns when the window begins, in seconds; NAN if there is no such window. */
static double begin_of(const struct oche_rates *rates, uint32_t window)
{
    return window >= rates->windows ? NAN : rates->from_s + window * rates->window_s;
}

static void take_flows(struct oche_by_rate *by, const struct oche_rates *rates,
                       const struct oche_rates *model)
{
    double sum = 0;

    for (uint32_t i = 0; i < OCHE_BY_RATE_LISTED; i++) {
        by->flow_rate[i] = i < rates->flows ? oche_rates_mean(rates, i) : NAN;
        by->flow_model_distance[i] = i < model->flows ? oche_rates_apart(rates, model, i) : NAN;
    }
    for (uint32_t i = 0; i < model->flows; i++)
        sum += oche_rates_apart(rates, model, i);
    by->model_distance = model->flows == 0 ? NAN : sum / model->flows;
}

static void take_gap(struct oche_by_rate *by, const struct oche_rates *rates)
{
    const struct oche_rate_gap gap = oche_rate_gap(rates);

    by->gap_mean = gap.mean;
    by->gap_of_means = gap.of_means;
    by->gap_late = gap.late;
    by->equal_first = begin_of(rates, gap.first);
    by->equal_since = begin_of(rates, gap.since);
    by->settled = begin_of(rates, gap.settled);
    by->reached = gap.since < rates->windows;
    by->equal_share = (double)gap.equal / rates->windows;
}

void oche_by_rate_take(struct oche_by_rate *by, const struct oche_rates *rates,
                       const struct oche_rates *model, const struct oche_rates *paced)
{
    *by = (struct oche_by_rate){.gap_mean = NAN,
                                .gap_of_means = NAN,
                                .gap_late = NAN,
                                .equal_first = NAN,
                                .equal_since = NAN,
                                .settled = NAN,
                                .reached = NAN,
                                .equal_share = NAN,
                                .paced_settled = NAN,
                                .paced_close = NAN,
                                .paced_reached = NAN,
                                .settled_trips = NAN,
                                .paced_trips = NAN};
    take_flows(by, rates, model);
    if (rates->flows >= 2) /* a single flow has no other flow to compare with */
        take_gap(by, rates);
    if (paced->flows >= 2) {
        const struct oche_rate_gap gap = oche_rate_gap(paced);

        by->paced_settled = begin_of(paced, gap.settled);
        by->paced_close = begin_of(paced, gap.settled_close);
        by->paced_reached = gap.settled < paced->windows;
    }
}
