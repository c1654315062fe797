/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of a fluid model came to: averages over a while, and whether the flows became equal.
 */
#ifndef OCHE_FLUID_FLUID_SUMMARY_H
#define OCHE_FLUID_FLUID_SUMMARY_H

#include "fluid/fluid.h"

#define OCHE_FLUID_CONVERGED 0.1 /* of the fair share: rates that are nearer count as equal */

struct oche_fluid_summary {
    double from_s, until_s;                            /* of the averages */
    double queue_mean, queue_sd, queue_min, queue_max; /* bytes, over time */
    double utilisation;                                /* of the capacity, by what left the queue */
    /* From here to the end, no two rates were further apart than OCHE_FLUID_CONVERGED of the fair
     * share, and all flows had started. INFINITY: not at the end. */
    double converged_s;
    double *rate_mean; /* by entry of the flow list: of one flow */

    size_t flows; /* the rest is for the sums */
    double queue_before, sent;
    double *rates;
};

/* Begins to take a summary: averages from `from_s` on. Ended by oche_fluid_summary_free. */
void oche_fluid_summary_begin(struct oche_fluid_summary *summary, const struct oche_fluid *fluid,
                              double from_s);
void oche_fluid_summary_free(struct oche_fluid_summary *summary);

/* An oche_fluid_observer: `context` is the summary. */
void oche_fluid_summary_step(void *context, const struct oche_fluid *fluid, double begin,
                             double end);

/* After the last step: makes averages of the sums. */
void oche_fluid_summary_end(struct oche_fluid_summary *summary, const struct oche_fluid *fluid);

#endif
