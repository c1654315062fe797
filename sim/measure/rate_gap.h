/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of flows, window by window, and how far apart they are: DCQCN sec 5 judges parameters by
 * the difference between two greedy flows. Flows are equal in a window if the fastest and the
 * slowest differ by less than OCHE_EQUAL_SHARE of the fair share, which is the mean of all rates in
 * the window; in a window without any traffic they are not equal.
 */
#ifndef OCHE_SIM_MEASURE_RATE_GAP_H
#define OCHE_SIM_MEASURE_RATE_GAP_H

#include <stdint.h>

#define OCHE_EQUAL_SHARE 0.1
#define OCHE_CLOSE_SHARE 0.05

/* Rates in bits per second, one row per flow. Whoever makes the table frees `rates`. */
struct oche_rates {
    uint32_t flows, windows;
    double from_s, window_s; /* when the first window begins; length of a window; seconds */
    double *rates;           /* rates[flow * windows + window] */
};

struct oche_rate_gap {
    double mean;     /* gap between the fastest and slowest flow, mean over the windows */
    double of_means; /* gap between the largest and the smallest mean rate */
    double late;     /* as of_means, but for the second half of the windows */
    uint32_t equal;  /* number of windows in which flows are equal */
    /*
     * `first`: the first window in which flows are equal. `since`: the first window from which on
     * they are equal in all windows. Both are `windows` if there is no such window.
     */
    uint32_t first, since;
    /*
     * The first window from which on each flow's rate differs by less than OCHE_EQUAL_SHARE from an
     * equal share of the mean total rate in the second half of the windows. `windows`: there is no
     * such window. Flows may be equal long before they settle.
     */
    uint32_t settled;
    uint32_t settled_close; /* as `settled`, with OCHE_CLOSE_SHARE in place of OCHE_EQUAL_SHARE */
};
/* Returns all zeros if there are no flows or no windows. */
struct oche_rate_gap oche_rate_gap(const struct oche_rates *rates);

/* Returns a flow's mean rate over all windows; there must be at least one. */
double oche_rates_mean(const struct oche_rates *rates, uint32_t flow);

/*
 * Returns the distance between a flow's rates in two tables with the same number of windows: the
 * mean over windows of the absolute difference.
 */
double oche_rates_apart(const struct oche_rates *a, const struct oche_rates *b, uint32_t flow);

#endif
