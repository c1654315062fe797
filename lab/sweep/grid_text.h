/* SPDX-License-Identifier: Apache-2.0 */
/* A grid and its points as text for people and shells. */
#ifndef OCHE_LAB_SWEEP_GRID_TEXT_H
#define OCHE_LAB_SWEEP_GRID_TEXT_H

#include <stdio.h>

#include "lab/sweep/grid.h"

/* Writes `text` as one word of a shell: unchanged, or in single quotes. */
void oche_shell_word(const char *text, FILE *out);

/*
 * Returns the grid on one line, as options: "--set duration=1ms --vary loss.probability=0,1%
 * --repeat 3" (malloc'd). Equal texts mean equal grids.
 */
char *oche_grid_text(const struct oche_grid *grid);

/* Returns the command that repeats a point: "oche run SCENARIO --set …" (malloc'd). */
char *oche_grid_command(const struct oche_grid *grid, size_t point);

/* Returns the values of the point's combination: "loss.probability=1%, workload.pairs=4"
 * (malloc'd).
 */
char *oche_grid_values(const struct oche_grid *grid, size_t point);

/*
 * Returns a text that names the point: "loss.probability=1%, workload.pairs=4, seed 3" (malloc'd).
 */
char *oche_grid_label(const struct oche_grid *grid, size_t point);

#endif
