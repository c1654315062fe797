/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact percentiles, by nearest rank: the p-th percentile of n samples is the smallest sample that
 * at least p of all samples do not exceed, the one of rank ceil(p n). No interpolation, so every
 * answer is a sample, and the same everywhere. p is a fraction of integers (99.9 % is 999/1000),
 * because 0.999 n in floating point may round past a rank.
 */
#ifndef OCHE_RESULTS_PERCENTILE_H
#define OCHE_RESULTS_PERCENTILE_H

#include "core/base.h"

struct oche_fraction {
    uint32_t part, of; /* part <= of, of > 0 */
};

#define OCHE_P50  ((struct oche_fraction){1, 2})
#define OCHE_P90  ((struct oche_fraction){9, 10})
#define OCHE_P99  ((struct oche_fraction){99, 100})
#define OCHE_P999 ((struct oche_fraction){999, 1000})

/* Sorts in place, smallest first. The reals must not be NaN. */
void oche_sort_u64(uint64_t *samples, size_t count);
void oche_sort_real(double *samples, size_t count);

/* Of sorted samples; `count` must not be 0. */
uint64_t oche_percentile_u64(const uint64_t *sorted, size_t count, struct oche_fraction p);
double oche_percentile_real(const double *sorted, size_t count, struct oche_fraction p);

/*
 * Of a histogram: the index of the first bucket at which the running sum of `weights` reaches p of
 * their total (time at each occupancy, for a queue). `count` if the total is 0.
 */
size_t oche_percentile_bucket(const uint64_t *weights, size_t count, struct oche_fraction p);

#endif
