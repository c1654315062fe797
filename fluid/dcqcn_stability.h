/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed point of DCQCN's fluid model, and whether it is stable (dcqcn.md#fixed-point,
 * #stability; Zhu et al., "ECN or Delay", CoNEXT 2016, sec 3). At the fixed point all flows are
 * equal: R_C = C / N.
 */
#ifndef OCHE_FLUID_DCQCN_STABILITY_H
#define OCHE_FLUID_DCQCN_STABILITY_H

#include "fluid/control.h"
#include "fluid/dcqcn_fluid.h"

struct oche_dcqcn_point {
    double mark;     /* p*: solves equations 7 to 9 at rest; found by bisection */
    double estimate; /* p* to first order: a cube root */
    double alpha, rate_bps, target_bps;
    bool on_ramp; /* p* is at most pmax, so some queue length has this marking probability */
    double queue; /* queue length in bytes; if not on_ramp, kmax, around which it oscillates */
};
/* R_AI must be above 0: if it is 0, rates do not change as long as no packet is marked. */
struct oche_dcqcn_point oche_dcqcn_fixed_point(const struct oche_dcqcn_model *model, double flows);

/* The stability of a fixed point on the ramp, for the model's delay. */
struct oche_dcqcn_stability {
    struct oche_margin margin; /* margin of the loop that the queue closes */
    /* roots of all flows together; 0: stable; -1: at the limit of stability */
    int unstable_roots;
    int unstable_differences; /* for the differences between flows, which the queue does not see */
};
struct oche_dcqcn_stability oche_dcqcn_stability(const struct oche_dcqcn_model *model,
                                                 const struct oche_dcqcn_point *point,
                                                 double flows);

#endif
