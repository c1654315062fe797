/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goodput: payload bytes delivered in order, divided by the measured time. Retransmissions, headers
 * and bytes delivered during warm-up do not count.
 */
#ifndef OCHE_SIM_MEASURE_GOODPUT_H
#define OCHE_SIM_MEASURE_GOODPUT_H

#include "core/base.h"

/* Goodput of some entities (hosts, flows, workloads) together. Rates are bits per second. */
struct oche_goodput {
    uint64_t bytes;
    uint64_t total_bps;
    uint64_t smallest_bps, median_bps, largest_bps; /* of one entity */
    double jain;                                    /* -1: nothing was delivered */
};

/*
 * Computes the goodput of `count` entities. `bytes` has the bytes delivered by each in the time
 * `measured`; if `measured` is 0, all rates are 0.
 */
struct oche_goodput oche_goodput(const uint64_t *bytes, size_t count, oche_time measured);

#endif
