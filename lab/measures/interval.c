/* SPDX-License-Identifier: Apache-2.0 */
/* Computes intervals by Student's t and by bootstrap. */
#include "lab/measures/interval.h"

#include <math.h>
#include <stdlib.h>

double oche_student_t(uint32_t freedom)
{
    static const double table[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, /* 1 … 10 */
        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, /* 11 … 20 */
        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042, /* 21 … 30 */
    };
    const uint32_t rows = OCHE_COUNT_OF(table);

    OCHE_MUST(freedom > 0);
    if (freedom <= rows)
        return table[freedom - 1];
    /*
     * The first terms of the expansion around the normal distribution. The error is below 0.0003 if
     * `freedom` is 30 or more.
     */
    return 1.95996 + 2.37227 / freedom + 2.8225 / ((double)freedom * freedom);
}

double oche_mean(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

double oche_mean_spread(const double *values, size_t count)
{
    double mean = oche_mean(values, count), squares = 0;

    OCHE_MUST(count > 1);
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return oche_student_t((uint32_t)count - 1) *
           sqrt(squares / (double)(count - 1) / (double)count);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void oche_middle(double *values, size_t count, double *low, double *high)
{
    size_t cut = count * 25 / 1000;

    qsort(values, count, sizeof(*values), compare);
    *low = values[cut];
    *high = values[count - 1 - cut];
}

void oche_draw(struct oche_random *random, uint32_t *draw, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        draw[i] = (uint32_t)oche_random_below(random, count);
}
