/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results by pair of hosts, if there are few: the goodputs of each pair's transfers, from sender to
 * receiver. Pairs are in the order in which the scenario's flows first name them. A transfer lasts
 * from its start to its delivery. If it was posted behind another transfer on its queue pair, its
 * time begins with the delivery of that one, so waiting does not make it slow. An unfinished
 * transfer at the end of the run also has a goodput if it has lasted longer than every finished
 * transfer of its pair, because it is known to be slow. An unfinished transfer with a shorter time
 * is left out, because nothing is known about it. Without this rule, a pair with slower slowest
 * transfers would look better.
 */
#ifndef OCHE_LAB_MEASURES_PAIRS_H
#define OCHE_LAB_MEASURES_PAIRS_H

#include "sim/world/world.h"

#define OCHE_MOST_PAIRS 16

/* The transfers of one pair whose turn came after warm-up. */
struct oche_pair_row {
    uint32_t src, dst; /* hosts */
    uint64_t started, delivered, failed;
    uint64_t counted; /* number of transfers that have a goodput */
    /*
     * Goodput in bits per second: payload divided by the transfer's time; NAN: no transfer has one.
     */
    double least, p10, median, p90, most, mean;
};

/*
 * Fills up to OCHE_MOST_PAIRS rows from a world that has run. Returns the number of rows; 0 if
 * there are more pairs.
 */
uint32_t oche_pairs_take(const struct oche_world *world, struct oche_pair_row *rows);

#endif
