/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of time series: values at equal intervals (sim/world/series.c samples them). A window
 * is a range of samples, so that a transient can be left out or examined alone.
 */
#ifndef OCHE_SIM_MEASURE_TIME_SERIES_H
#define OCHE_SIM_MEASURE_TIME_SERIES_H

#include "sim/measure/percentile.h"

struct oche_series_summary {
    uint32_t samples;
    double mean, smallest, largest;
    double deviation; /* standard deviation, of the population */
    double percentile[OCHE_PERCENTILES];
};

/* Summarises samples first … first+count-1; all zeros if count is 0. */
struct oche_series_summary oche_series_summary(const double *values, uint32_t first,
                                               uint32_t count);

/*
 * Writes means of `group` consecutive samples to `out` (count / group entries); samples that do not
 * fill a group are left out. Returns the number of entries. For series of rates over longer
 * windows.
 */
uint32_t oche_series_means(const double *values, uint32_t count, uint32_t group, double *out);

/*
 * Returns when rates converge: the first sample from which on all of `count` series stay within
 * `tolerance` (0.1: 10 %) of their common mean at that sample, until the end; `samples` if there is
 * none.
 */
uint32_t oche_series_converged(const double *const *series, uint32_t count, uint32_t samples,
                               double tolerance);

#endif
