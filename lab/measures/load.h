/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load of open-loop workloads: bytes offered and bytes delivered between the end of warm-up and the
 * stop of arrivals (sim/world/run/load.c).
 */
#ifndef OCHE_LAB_MEASURES_LOAD_H
#define OCHE_LAB_MEASURES_LOAD_H

#include "sim/measure/utilisation.h"
#include "sim/world/world.h"

struct oche_load {
    bool known;            /* false: the run has no such load, and all else is 0 */
    bool alone;            /* the run has no other workloads */
    bool stopped;          /* arrivals stopped before the run ended */
    oche_time from, until; /* the window, in simulated time */
    oche_time window;      /* its length */
    uint64_t flows;        /* number of flows that started in the window */
    double offered_bps, delivered_bps;
    double share;   /* delivered over offered; above 1 if more was in flight before the window */
    double drain_s; /* from the window's end until the last flow was over; NAN: some are not over */
    struct oche_utilisation_row utilisation[OCHE_PLACES]; /* in the window */
};

void oche_load_take(struct oche_load *load, const struct oche_world *world);

#endif
