/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting for percentiles. */
#include "sim/measure/percentile.h"

#include <stdlib.h>

const uint32_t oche_percentile_thousandths[OCHE_PERCENTILES] = {500, 900, 990, 999};
const char *const oche_percentile_names[OCHE_PERCENTILES] = {"p50", "p90", "p99", "p99.9"};

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static int compare_real(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

void oche_sort_u64(uint64_t *values, size_t count)
{
    if (count > 1) /* without values there may be no array */
        qsort(values, count, sizeof(*values), compare_u64);
}

void oche_sort_real(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof(*values), compare_real);
}
