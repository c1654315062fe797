/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a grid's scenario names (lists of flows, distributions, topologies, routes) and
 * what is in them, so that a sweep that goes on later does not mix results of other ones.
 */
#ifndef OCHE_LAB_SWEEP_GRID_FILES_H
#define OCHE_LAB_SWEEP_GRID_FILES_H

#include "lab/sweep/grid.h"

/*
 * One line: name and digest of each, sorted, "" if there is none; malloc'd. Of a grid that
 * oche_grid_open took. Looks at every value of every axis; what cannot be read is left out, as
 * the points that need it say so themselves.
 */
char *oche_grid_files(const struct oche_grid *grid);

#endif
