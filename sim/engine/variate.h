/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random variates that come out the same on every machine: they use only IEEE additions,
 * multiplications and divisions of doubles, in a fixed order (the build forbids contraction), and
 * never libm.
 */
#ifndef OCHE_SIM_ENGINE_VARIATE_H
#define OCHE_SIM_ENGINE_VARIATE_H

#include "core/base.h"
#include "core/random.h"

/*
 * Returns the natural logarithm of a positive, finite, normal double: within 2 units in the last
 * place of the true value (relative error below 4.5e-16), and exactly zero at 1.
 */
double oche_ln(double x);

/*
 * Returns an exponential variate with mean 1: at least 0, at most 53 ln 2 = 36.7. Takes one draw
 * from `random`.
 */
double oche_random_exponential(struct oche_random *random);

/*
 * Returns an exponentially distributed time with mean `mean` (below 2^56 ps), rounded to whole
 * picoseconds. Takes one draw from `random`.
 */
oche_time oche_random_exponential_time(struct oche_random *random, oche_time mean);

#endif
