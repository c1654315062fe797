/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick of verdicts. A measured number is compared with the paper's by the factor between
 * them. So a band is as wide downwards as upwards and never reaches zero: a tolerance of 25 %, or
 * of 5 points beside 20 %, is a factor of 1.25. A measured zero, or a number of the other sign, is
 * infinitely far from a number that is not zero. A published zero has no factors, so the distance
 * decides.
 */
#ifndef OCHE_LAB_REPRODUCE_YARDSTICK_H
#define OCHE_LAB_REPRODUCE_YARDSTICK_H

#include "lab/reproduce/claim.h"

/*
 * Returns the verdict on a distance `off` (0 or more, NAN: no data) from the paper's number:
 * reproduced up to the first limit, in shape up to the second one. Ignores rounding errors.
 */
enum oche_finding oche_verdict(double off, double reproduced, double in_shape);

/* Returns the factor, above 1, of a tolerance of this width in the claim; `number` is not 0. */
double oche_tolerance_factor(const struct oche_claim *claim, double number, double width);

/* Returns the verdict on a measured number. `number` is the paper's. */
enum oche_finding oche_verdict_about(const struct oche_claim *claim, double number, double shown);

#endif
