/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of time series; see the header. */
#include "sim/measure/time_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct oche_series_summary oche_series_summary(const double *values, uint32_t first, uint32_t count)
{
    struct oche_series_summary summary = {.samples = count};
    double *sorted, sum = 0, squares = 0;

    if (count == 0)
        return summary;
    sorted = malloc(count * sizeof(*sorted));
    if (sorted == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for a time series");
    memcpy(sorted, values + first, count * sizeof(*sorted));
    oche_sort_real(sorted, count);
    for (uint32_t i = 0; i < count; i++)
        sum += sorted[i];
    summary.mean = sum / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (sorted[i] - summary.mean) * (sorted[i] - summary.mean);
    summary.deviation = sqrt(squares / count);
    summary.smallest = sorted[0];
    summary.largest = sorted[count - 1];
    for (unsigned p = 0; p < OCHE_PERCENTILES; p++)
        summary.percentile[p] = oche_percentile_real(sorted, count, oche_percentile_thousandths[p]);
    free(sorted);
    return summary;
}

uint32_t oche_series_means(const double *values, uint32_t count, uint32_t group, double *out)
{
    OCHE_MUST(group > 0);
    for (uint32_t g = 0; g < count / group; g++) {
        double sum = 0;

        for (uint32_t i = 0; i < group; i++)
            sum += values[g * group + i];
        out[g] = sum / group;
    }
    return count / group;
}

uint32_t oche_series_converged(const double *const *series, uint32_t count, uint32_t samples,
                               double tolerance)
{
    uint32_t since = samples;

    OCHE_MUST(count > 0);
    for (uint32_t i = samples; i-- > 0;) {
        double sum = 0, most = 0;

        for (uint32_t s = 0; s < count; s++)
            sum += series[s][i];
        for (uint32_t s = 0; s < count; s++) {
            double apart = fabs(series[s][i] - sum / count);

            most = apart > most ? apart : most;
        }
        if (most > tolerance * sum / count)
            break;
        since = i;
    }
    return since;
}
