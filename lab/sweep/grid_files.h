/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a grid's scenario names (lists of flows, distributions, topologies, routes) and
 * their contents, so that a sweep that is continued later does not mix results of different ones.
 */
#ifndef OCHE_LAB_SWEEP_GRID_FILES_H
#define OCHE_LAB_SWEEP_GRID_FILES_H

#include "lab/sweep/grid.h"

/*
 * Returns one line with name and digest of each, sorted, "" if there are none (malloc'd). To be
 * called after oche_grid_open. Examines every value of every axis; files that cannot be read are
 * left out, as the points that need them will report it.
 */
char *oche_grid_files(const struct oche_grid *grid);

#endif
