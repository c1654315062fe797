/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear stability of systems with delays, from their transfer functions in the Laplace domain:
 * Bode's phase margin of an open loop, and how many roots a characteristic function has in the
 * right half plane.
 */
#ifndef OCHE_FLUID_CONTROL_H
#define OCHE_FLUID_CONTROL_H

#include <complex.h>
#include <stdbool.h>

typedef double complex oche_transfer(void *context, double complex s);

/* The relevant range of angular frequencies, in 1/s. */
struct oche_band {
    double low, high;
};

struct oche_margin {
    double phase_deg; /* the smallest, over all frequencies with gain 1; INFINITY: there are none */
    double frequency; /* where it occurs, in 1/s */
};

/*
 * Returns the margin of a loop closed by negative feedback: 1 + loop(s) = 0. Its phase is followed
 * from the low end of the band, where it must be between -180 and 180 degrees.
 */
struct oche_margin oche_phase_margin(oche_transfer *loop, void *context, struct oche_band band);

/*
 * Returns the number of roots with a positive real part of a function s^degree + … whose other
 * terms have a lower degree and may contain delays e^(-s d): by the change of its argument from 0
 * to the high end of the band (Mikhailov). -1: a root is too close to the imaginary axis to tell.
 */
int oche_unstable_roots(oche_transfer *characteristic, void *context, unsigned degree,
                        struct oche_band band);

#endif
