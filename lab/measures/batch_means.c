/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/batch_means.h"

#include <math.h>

#include "lab/measures/interval.h"

#define NORMAL_95 1.644854 /* the 95th percentile of the normal distribution */

struct oche_batch_means oche_batch_means(const double *means, uint32_t count)
{
    const double n = count;
    double squares = 0, steps = 0;

    OCHE_MUST(count > 2);
    struct oche_batch_means result = {.batches = count, .mean = oche_mean(means, count)};

    for (uint32_t i = 0; i < count; i++)
        squares += (means[i] - result.mean) * (means[i] - result.mean);
    for (uint32_t i = 1; i < count; i++)
        steps += (means[i] - means[i - 1]) * (means[i] - means[i - 1]);
    result.correlation = squares > 0 ? 1 - steps / (2 * squares) : 0;
    result.bound = NORMAL_95 * sqrt((n - 2) / (n * n - 1));
    result.half_width = oche_mean_spread(means, count);
    if (result.correlation > result.bound && result.correlation < 1)
        result.half_width *= sqrt((1 + result.correlation) / (1 - result.correlation));
    return result;
}
