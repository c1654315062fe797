/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps between rates; see the header. */
#include "sim/measure/rate_gap.h"

#include <math.h>

#include "core/base.h"

static double at(const struct oche_rates *rates, uint32_t flow, uint32_t window)
{
    return rates->rates[(size_t)flow * rates->windows + window];
}

/* Returns a flow's mean rate from window `first` on. */
static double mean_since(const struct oche_rates *rates, uint32_t flow, uint32_t first)
{
    double sum = 0;

    OCHE_MUST(flow < rates->flows && rates->windows > first);
    for (uint32_t w = first; w < rates->windows; w++)
        sum += at(rates, flow, w);
    return sum / (rates->windows - first);
}

double oche_rates_mean(const struct oche_rates *rates, uint32_t flow)
{
    return mean_since(rates, flow, 0);
}

static double gap_of_means(const struct oche_rates *rates, uint32_t first)
{
    double least = INFINITY, most = 0;

    for (uint32_t f = 0; f < rates->flows; f++) {
        double mean = mean_since(rates, f, first);

        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    return most - least;
}

/* Returns the fastest rate minus the slowest in a window; sets *mean to the mean rate. */
static double gap_in(const struct oche_rates *rates, uint32_t window, double *mean)
{
    double least = INFINITY, most = 0, sum = 0;

    for (uint32_t f = 0; f < rates->flows; f++) {
        double rate = at(rates, f, window);

        least = fmin(least, rate);
        most = fmax(most, rate);
        sum += rate;
    }
    *mean = sum / rates->flows;
    return most - least;
}

/* Returns the window from which on flows have settled; see struct oche_rate_gap. */
static uint32_t settled_at(const struct oche_rates *rates, double share)
{
    double part = 0;
    uint32_t w;

    for (uint32_t f = 0; f < rates->flows; f++)
        part += mean_since(rates, f, rates->windows / 2) / rates->flows;
    for (w = rates->windows; w > 0; w--)
        for (uint32_t f = 0; f < rates->flows; f++)
            if (!(fabs(at(rates, f, w - 1) - part) < share * part))
                return w;
    return w;
}

struct oche_rate_gap oche_rate_gap(const struct oche_rates *rates)
{
    struct oche_rate_gap gap = {
        .first = rates->windows,
        .since = rates->windows,
        .settled = rates->windows,
        .settled_close = rates->windows,
    };

    if (rates->flows == 0 || rates->windows == 0)
        return gap;
    for (uint32_t w = rates->windows; w-- > 0;) {
        double mean, here = gap_in(rates, w, &mean);

        gap.mean += here / rates->windows;
        if (!(here < OCHE_EQUAL_SHARE * mean))
            continue;
        gap.equal++;
        gap.first = w;
        if (gap.since == w + 1)
            gap.since = w;
    }
    gap.of_means = gap_of_means(rates, 0);
    gap.late = gap_of_means(rates, rates->windows / 2);
    gap.settled = settled_at(rates, OCHE_EQUAL_SHARE);
    gap.settled_close = settled_at(rates, OCHE_CLOSE_SHARE);
    return gap;
}

double oche_rates_apart(const struct oche_rates *a, const struct oche_rates *b, uint32_t flow)
{
    double sum = 0;

    OCHE_MUST(a->windows == b->windows && a->windows > 0 && flow < a->flows && flow < b->flows);
    for (uint32_t w = 0; w < a->windows; w++)
        sum += fabs(at(a, flow, w) - at(b, flow, w));
    return sum / a->windows;
}
