/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes points of a sweep that are the same run, packet for packet: keys that made no
 * difference, and combinations that are the same.
 */
#ifndef OCHE_LAB_SWEEP_SAME_POINTS_H
#define OCHE_LAB_SWEEP_SAME_POINTS_H

#include "lab/sweep/grid.h"

/*
 * Returns sentences (malloc'd), each on a line; "" if no two combinations are the same. `hashes`:
 * the trace hash of each point; 0: it has none. A key is said to make no difference only if all
 * combinations that differ in this key alone are the same with every seed. A few groups of other
 * combinations are named, and the rest is counted.
 */
char *oche_same_points_text(const struct oche_grid *grid, const uint64_t *hashes);

#endif
