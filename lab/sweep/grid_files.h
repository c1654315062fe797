/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a grid's scenario names (lists of flows, distributions, topologies, routes), with
 * digests of their contents. A sweep that is continued later compares them, so that results from
 * different files are never mixed.
 */
#ifndef OCHE_LAB_SWEEP_GRID_FILES_H
#define OCHE_LAB_SWEEP_GRID_FILES_H

#include "lab/sweep/grid.h"

/*
 * Returns one line with name and digest of each file, sorted (malloc'd); "" if there are no files.
 * Must be called after oche_grid_open. Looks at every value of every axis. Leaves out files that
 * cannot be read: the points that need them will report that.
 */
char *oche_grid_files(const struct oche_grid *grid);

#endif
