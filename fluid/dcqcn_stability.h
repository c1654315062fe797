/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed point of DCQCN's fluid model, and whether it is stable (dcqcn.md#fixed-point,
 * #stability; Zhu et al., "ECN or Delay", CoNEXT 2016, sec 3). There all flows are alike: R_C = C /
 * N.
 */
#ifndef OCHE_FLUID_DCQCN_STABILITY_H
#define OCHE_FLUID_DCQCN_STABILITY_H

#include "fluid/control.h"
#include "fluid/dcqcn_fluid.h"

struct oche_dcqcn_point {
    double mark;     /* p*: the equations 7 to 9 at rest, by bisection */
    double estimate; /* p* to first order: the cube root */
    double alpha, rate_bps, target_bps;
    bool on_ramp; /* p* is at most pmax: there is a queue that gives it */
    double queue; /* bytes; if not on the ramp: kmax, around which the queue then swings */
};
/* With an R_AI above 0; without, rates rest wherever no mark is made. */
struct oche_dcqcn_point oche_dcqcn_fixed_point(const struct oche_dcqcn_model *model, double flows);

/* Of a fixed point on the ramp, for the model's delay. */
struct oche_dcqcn_stability {
    struct oche_margin margin; /* of the loop that the queue closes */
    int unstable_roots;        /* of all flows together; 0: stable; -1: on the edge */
    int unstable_differences; /* of the differences between flows, in which the queue has no part */
};
struct oche_dcqcn_stability oche_dcqcn_stability(const struct oche_dcqcn_model *model,
                                                 const struct oche_dcqcn_point *point,
                                                 double flows);

#endif
