/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jain's fairness index (Jain, Chiu and Hawe, 1984): (sum x)^2 / (n * sum x^2) of shares x. 1 when
 * all are equal, 1/n when one has all.
 */
#ifndef OCHE_SIM_MEASURE_FAIRNESS_H
#define OCHE_SIM_MEASURE_FAIRNESS_H

#include "core/base.h"

/* Of `count` shares, none negative. -1 where it means nothing: no shares, or all of them 0. */
double oche_jain_index(const double *shares, size_t count);

#endif
