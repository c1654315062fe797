/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jain's fairness index (Jain, Chiu and Hawe, 1984): (sum x)^2 / (n * sum x^2) for n shares x. It
 * is 1 if all shares are equal, 1/n if all but one are 0.
 */
#ifndef OCHE_SIM_MEASURE_FAIRNESS_H
#define OCHE_SIM_MEASURE_FAIRNESS_H

#include "core/base.h"

/*
 * Returns the index of `count` shares, none of which may be negative; -1 if there are no shares or
 * all are 0.
 */
double oche_jain_index(const double *shares, size_t count);

#endif
