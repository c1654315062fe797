/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confidence intervals of percentiles (see the header), as in Hahn and Meeker, Statistical
 * Intervals, section 5.2. Each tail has at most 2.5 %, so intervals are a little too wide rather
 * than too narrow.
 */
#include "report/interval.h"

#include <math.h>

#include "report/json.h"

#define TAIL  0.025
#define WHOLE 100000 /* 100 % */
#define FAR   12     /* standard deviations; values farther from the mean have no weight */

/* Returns P(B = k) for a binomial B of `count` trials. */
static double weight(double count, double share, double k)
{
    return exp(lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) + k * log(share) +
               (count - k) * log1p(-share));
}

void oche_interval_ranks(size_t count, uint32_t p, size_t *low, size_t *high)
{
    const double n = (double)count, share = (double)p / WHOLE;
    const double reach = FAR * sqrt(n * share * (1 - share)) + FAR;
    size_t k = n * share > reach ? (size_t)(n * share - reach) : 0;
    double below = 0; /* P(B < k) */

    OCHE_MUST(p > 0 && p < WHOLE);
    *low = 0;
    *high = count + 1;
    for (; k <= count; k++) {
        if (below <= TAIL)
            *low = k;
        if (1 - below <= TAIL) {
            *high = k;
            return;
        }
        below += weight(n, share, (double)k);
    }
}

struct json_object *oche_interval_json(const struct oche_sample *sample, uint32_t p)
{
    struct json_object *ends = oche_json_array(2);
    size_t low, high;

    oche_interval_ranks(sample->count, p, &low, &high);
    oche_json_push(ends, low > 0 ? oche_json_exact(sample->values[low - 1]) : NULL);
    oche_json_push(ends, high <= sample->count ? oche_json_exact(sample->values[high - 1]) : NULL);
    return ends;
}
