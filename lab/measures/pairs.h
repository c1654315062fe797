/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pairs of hosts came to, where there are few: the goodputs of the transfers of each, sender
 * to receiver. Pairs are in the order in which the flows of the scenario first name them.
 *
 * A transfer takes from its start to its delivery; where it was posted behind another one of its
 * queue pair, from the delivery of that, so that it is not counted as slow for having waited.
 *
 * A transfer that has not finished at the end has a goodput too, if it has taken longer than any
 * of its pair that did: that it is slow is known. Of a shorter one nothing is known, and it is left
 * out. Without the rule a pair would look the better the slower its slowest transfers are.
 */
#ifndef OCHE_LAB_MEASURES_PAIRS_H
#define OCHE_LAB_MEASURES_PAIRS_H

#include "sim/world/world.h"

#define OCHE_MOST_PAIRS 16

/* Of the transfers whose turn came after warm-up. */
struct oche_pair_row {
    uint32_t src, dst; /* hosts */
    uint64_t started, delivered, failed;
    uint64_t counted; /* in the goodputs */
    /* Bits per second, payload over the time that a transfer takes; NAN: none is counted. */
    double least, p10, median, p90, most, mean;
};

/* Fills up to OCHE_MOST_PAIRS rows of a world that has run; 0 if there are more pairs than that. */
uint32_t oche_pairs_take(const struct oche_world *world, struct oche_pair_row *rows);

#endif
