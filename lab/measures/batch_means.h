/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 95 % interval of a steady state's mean from one run, by nonoverlapping batch means. The run
 * is divided into batches of equal length, and Student's t is applied to the batches' means. That
 * is valid if batches are independent, which von Neumann's ratio tests (Fishman, "Grouping
 * observations in digital simulation", 1978). In batches that are too short, or with a trend,
 * neighbours are similar. If the test finds dependence, the interval is widened for batches that
 * each depend on the one before (an autoregressive process of the first order, as in Skart,
 * Tafazzoli and others, 2011). Above a bound of the correlation no wider interval is valid.
 */
#ifndef OCHE_LAB_MEASURES_BATCH_MEANS_H
#define OCHE_LAB_MEASURES_BATCH_MEANS_H

#include <stdbool.h>
#include <stdint.h>

struct oche_batch_means {
    uint32_t batches;
    double mean;
    /* half width of the 95 % interval, widened if the correlation exceeds the bound */
    double half_width;
    /*
     * 1 less half of von Neumann's ratio: about the correlation of neighbouring batches.
     * Independent batches exceed the bound in one of twenty cases.
     */
    double correlation, bound;
};

/* Computes the interval from the means of `count` (3 or more) batches, in order of time. */
struct oche_batch_means oche_batch_means(const double *means, uint32_t count);

#define OCHE_BATCH_MOST_CORRELATION 0.8

/* True if the interval is valid: the batches depend little enough on each other. */
static inline bool oche_batch_means_hold(const struct oche_batch_means *result)
{
    return result->correlation <= OCHE_BATCH_MOST_CORRELATION;
}

#endif
