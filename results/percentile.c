/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles by nearest rank, from samples and from integer histograms. */
#include "results/percentile.h"

#include <stdlib.h>

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int compare_real(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void oche_sort_u64(uint64_t *samples, size_t count)
{
    if (count > 1)
        qsort(samples, count, sizeof(*samples), compare_u64);
}

void oche_sort_real(double *samples, size_t count)
{
    if (count > 1)
        qsort(samples, count, sizeof(*samples), compare_real);
}

/* ceil(p n), at least 1. */
static size_t rank_of(size_t count, struct oche_fraction p)
{
    unsigned __int128 scaled = (unsigned __int128)count * p.part;
    size_t rank = (size_t)((scaled + p.of - 1) / p.of);

    return rank == 0 ? 1 : rank;
}

uint64_t oche_percentile_u64(const uint64_t *sorted, size_t count, struct oche_fraction p)
{
    OCHE_MUST(count > 0 && p.of > 0 && p.part <= p.of);
    return sorted[rank_of(count, p) - 1];
}

double oche_percentile_real(const double *sorted, size_t count, struct oche_fraction p)
{
    OCHE_MUST(count > 0 && p.of > 0 && p.part <= p.of);
    return sorted[rank_of(count, p) - 1];
}

size_t oche_percentile_bucket(const uint64_t *weights, size_t count, struct oche_fraction p)
{
    unsigned __int128 total = 0, running = 0;

    OCHE_MUST(p.of > 0 && p.part <= p.of);
    for (size_t i = 0; i < count; i++)
        total += weights[i];
    if (total == 0)
        return count;
    unsigned __int128 wanted = (total * p.part + p.of - 1) / p.of;

    for (size_t i = 0; i < count; i++) {
        running += weights[i];
        if (running >= wanted && running > 0)
            return i;
    }
    return count;
}
