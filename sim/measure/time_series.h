/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of time series: values at equal intervals (sim/world/run/series.c samples them). A
 * window is a range of samples; with windows, a transient can be left out or examined alone.
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
 * Turns a series of rates into one over longer windows: writes means of `group` consecutive samples
 * to `out` (count / group entries), without the last samples if they do not fill a group. Returns
 * the number of entries.
 */
uint32_t oche_series_means(const double *values, uint32_t count, uint32_t group, double *out);

/*
 * Returns when rates converge: the first sample from which on each of `count` series is within
 * `tolerance` (0.1: 10 %) of the mean of all series at the same sample. Returns `samples` if they
 * do not converge.
 */
uint32_t oche_series_converged(const double *const *series, uint32_t count, uint32_t samples,
                               double tolerance);

#endif
