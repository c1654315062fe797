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
    double phase_deg; /* the smallest margin, over all frequencies with gain 1; INFINITY: there are
                         no such frequencies */
    double frequency; /* the frequency of the smallest margin, in 1/s */
};

/*
 * Returns the phase margin of an open loop that is closed by negative feedback: 1 + loop(s) = 0.
 * The loop's phase is followed from the low end of the band, where it must be between -180 and 180
 * degrees.
 */
struct oche_margin oche_phase_margin(oche_transfer *loop, void *context, struct oche_band band);

/*
 * Returns how many roots with a positive real part the characteristic function has; -1: a root is
 * too close to the imaginary axis to tell. The function is s^degree plus terms of lower degree,
 * which may contain delays e^(-s d). The result follows from the change of the function's argument
 * from 0 to the high end of the band (Mikhailov).
 */
int oche_unstable_roots(oche_transfer *characteristic, void *context, unsigned degree,
                        struct oche_band band);

#endif
