/* SPDX-License-Identifier: Apache-2.0 */
/* Compares measured numbers with published ones, by factors. */
#include "lab/reproduce/yardstick.h"

#include <math.h>

enum oche_finding oche_verdict(double off, double reproduced, double in_shape)
{
    const double slack = 1e-9; /* because in floating point 0.75 - 0.7 is slightly more than 0.05 */

    if (isnan(off))
        return OCHE_FINDING_NO_DATA;
    if (off <= reproduced + slack)
        return OCHE_FINDING_REPRODUCED;
    return off <= in_shape + slack ? OCHE_FINDING_IN_SHAPE : OCHE_FINDING_NOT_REPRODUCED;
}

double oche_tolerance_factor(const struct oche_claim *claim, double number, double width)
{
    return 1 + (claim->tolerance.relative ? width : width / fabs(number));
}

/* Returns how many times a number is larger or smaller than another; INFINITY: the signs differ. */
static double factor_between(double shown, double number)
{
    const double quotient = shown / number;

    if (isnan(quotient))
        return NAN;
    return quotient > 0 ? fmax(quotient, 1 / quotient) : INFINITY;
}

enum oche_finding oche_verdict_about(const struct oche_claim *claim, double number, double shown)
{
    const struct oche_tolerance *tolerance = &claim->tolerance;

    if (number == 0)
        return oche_verdict(fabs(shown), tolerance->reproduced, tolerance->in_shape);
    return oche_verdict(factor_between(shown, number),
                        oche_tolerance_factor(claim, number, tolerance->reproduced),
                        oche_tolerance_factor(claim, number, tolerance->in_shape));
}
