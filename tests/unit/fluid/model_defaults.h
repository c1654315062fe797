/* SPDX-License-Identifier: Apache-2.0 */
/* The models that several tests start from, and a complete run of one. */
#ifndef OCHE_TESTS_UNIT_MODEL_DEFAULTS_H
#define OCHE_TESTS_UNIT_MODEL_DEFAULTS_H

#include "fluid/dcqcn_fluid.h"
#include "fluid/fluid_summary.h"

/* |value - right| <= tolerance, in doubles; the failing line prints all three. */
#define assert_near(value, right, tolerance)                                                       \
    check_near(value, right, tolerance, #value, __FILE__, __LINE__)
void check_near(double value, double right, double tolerance, const char *what, const char *file,
                int line);

/*
 * DCQCN as deployed (dcqcn.md#parameters): the defaults of core/cc's dcqcn and of fabric's switch.
 */
struct oche_dcqcn_model deployed(void);
/* QCN's and DCTCP's values, but R_AI 40 Mbit/s, as dcqcn.md#sweeps has it. */
struct oche_dcqcn_model strawman(void);

/* Results of a run: only the first two rates (with one flow, its rate twice). */
struct came_to {
    double queue_mean, queue_sd, queue_min, queue_max, utilisation, converged_s;
    double rates[2];
    struct oche_ode_counts counts;
};
/* Runs `fluid` to `until`, averages from `from` on, and frees it. */
struct came_to run_to(struct oche_fluid *fluid, double from, double until);

#endif
