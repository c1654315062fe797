/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a run of a fluid model: averages over a period, and whether the flows became
 * equal.
 */
#ifndef OCHE_FLUID_FLUID_SUMMARY_H
#define OCHE_FLUID_FLUID_SUMMARY_H

#include "fluid/fluid.h"

#define OCHE_FLUID_CONVERGED 0.1 /* rates closer than this share of the fair share are equal */

struct oche_fluid_summary {
    double from_s, until_s;                            /* the period of the averages */
    double queue_mean, queue_sd, queue_min, queue_max; /* bytes, over time */
    double utilisation; /* share of the capacity that the bytes leaving the queue used */
    /*
     * From this time to the end, all flows had started and no two rates differed by more than
     * OCHE_FLUID_CONVERGED of the fair share. INFINITY: rates differed by more at the end.
     */
    double converged_s;
    double *rate_mean; /* by entry of the flow list: mean rate of one flow */

    size_t flows; /* number of flows; from here on: for computing the sums */
    double queue_before, sent;
    double *rates;
};

/* Begins a summary with averages from `from_s` on. To be released with oche_fluid_summary_free. */
void oche_fluid_summary_begin(struct oche_fluid_summary *summary, const struct oche_fluid *fluid,
                              double from_s);
void oche_fluid_summary_free(struct oche_fluid_summary *summary);

/* An oche_fluid_observer: `context` is the summary. */
void oche_fluid_summary_step(void *context, const struct oche_fluid *fluid, double begin,
                             double end);

/* To be called after the last step: turns the sums into averages. */
void oche_fluid_summary_end(struct oche_fluid_summary *summary, const struct oche_fluid *fluid);

#endif
