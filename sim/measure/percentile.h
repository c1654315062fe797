/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact percentiles, by nearest rank: of n values in ascending order, percentile p is value number
 * ceil(p * n), at least 1. A percentile is always one of the values, never an interpolation.
 */
#ifndef OCHE_SIM_MEASURE_PERCENTILE_H
#define OCHE_SIM_MEASURE_PERCENTILE_H

#include "core/base.h"

/* The percentiles that tables show, in thousandths: p50, p90, p99, p99.9. */
enum oche_percentile { OCHE_P50, OCHE_P90, OCHE_P99, OCHE_P999, OCHE_PERCENTILES };
extern const uint32_t oche_percentile_thousandths[OCHE_PERCENTILES];
extern const char *const oche_percentile_names[OCHE_PERCENTILES]; /* "p50", … "p99.9" */

/*
 * Returns the rank (from 1) of the percentile `thousandths` (0 … 1000) among `count` (above 0)
 * values.
 */
static inline uint64_t oche_percentile_rank(uint64_t count, uint32_t thousandths)
{
    uint64_t rank = (uint64_t)(((unsigned __int128)count * thousandths + 999) / 1000);

    return rank == 0 ? 1 : rank;
}

void oche_sort_u64(uint64_t *values, size_t count);
void oche_sort_real(double *values, size_t count);

/* These return a percentile of `count` (above 0) values in ascending order. */
static inline uint64_t oche_percentile_u64(const uint64_t *sorted, size_t count,
                                           uint32_t thousandths)
{
    return sorted[oche_percentile_rank(count, thousandths) - 1];
}

static inline double oche_percentile_real(const double *sorted, size_t count, uint32_t thousandths)
{
    return sorted[oche_percentile_rank(count, thousandths) - 1];
}

#endif
