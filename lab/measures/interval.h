/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 95 % intervals: of a mean by Student's t, of any other number by bootstrap. The bootstrap draws
 * repeats with replacement, many times; the interval is the middle 95 % of the resulting numbers
 * (percentile method; with fewer than about ten repeats the interval is too narrow).
 */
#ifndef OCHE_LAB_MEASURES_INTERVAL_H
#define OCHE_LAB_MEASURES_INTERVAL_H

#include "core/base.h"
#include "core/random.h"

#define OCHE_BOOTSTRAP_DRAWS 2000

/* Returns the 97.5th percentile of Student's t with `freedom` (1 or more) degrees of freedom. */
double oche_student_t(uint32_t freedom);

double oche_mean(const double *values, size_t count);

/* Returns half the width of the interval of the mean of `count` (2 or more) values. */
double oche_mean_spread(const double *values, size_t count);

/*
 * Sets low and high to the limits of the middle 95 % of `values`. Sorts `values`; `count` is 1 or
 * more.
 */
void oche_middle(double *values, size_t count, double *low, double *high);

/* Fills `draw` with `count` independent random numbers below `count`. */
void oche_draw(struct oche_random *random, uint32_t *draw, uint32_t count);

#endif
