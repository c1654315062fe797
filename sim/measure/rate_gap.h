/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of flows, window by window, and how far apart they are: DCQCN sec 5 judges parameters by
 * the difference of two greedy flows. Flows are equal in a window if the fastest and the slowest
 * are less than OCHE_EQUAL_SHARE of their fair share apart, which is the mean of all; in a window
 * in which nothing was moved they are not.
 */
#ifndef OCHE_SIM_MEASURE_RATE_GAP_H
#define OCHE_SIM_MEASURE_RATE_GAP_H

#include <stdint.h>

#define OCHE_EQUAL_SHARE 0.1
#define OCHE_CLOSE_SHARE 0.05

/* Bits per second, one row a flow. Whoever makes it frees `rates`. */
struct oche_rates {
    uint32_t flows, windows;
    double from_s, window_s; /* when the first window begins; how long each is */
    double *rates;           /* rates[flow * windows + window] */
};

struct oche_rate_gap {
    double mean;           /* of the gap between fastest and slowest, over windows */
    double of_means;       /* the gap between the largest and the smallest mean rate */
    double late;           /* the same, of the second half of the windows */
    uint32_t equal;        /* windows in which flows are equal */
    uint32_t first, since; /* the first of them; the first from which on all are; `windows`: none */
    /*
     * The first window from which on each flow is less than OCHE_EQUAL_SHARE from its part of what
     * all move in the second half of the windows. Flows may be equal long before they are there.
     */
    uint32_t settled;
    uint32_t settled_close; /* the same, less than OCHE_CLOSE_SHARE */
};
/* All zeros if there are no flows or no windows. */
struct oche_rate_gap oche_rate_gap(const struct oche_rates *rates);

/* A flow's mean rate over all windows; there is at least one. */
double oche_rates_mean(const struct oche_rates *rates, uint32_t flow);

/*
 * How far one flow is from the same flow in another table of as many windows: the mean over
 * windows of the absolute difference.
 */
double oche_rates_apart(const struct oche_rates *a, const struct oche_rates *b, uint32_t flow);

#endif
