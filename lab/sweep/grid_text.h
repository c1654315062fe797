/* SPDX-License-Identifier: Apache-2.0 */
/* A grid and its points as people and shells read them. */
#ifndef OCHE_LAB_SWEEP_GRID_TEXT_H
#define OCHE_LAB_SWEEP_GRID_TEXT_H

#include <stdio.h>

#include "lab/sweep/grid.h"

/* `text` as one word of a shell: as it is, or in single quotes. */
void oche_shell_word(const char *text, FILE *out);

/*
 * The grid on one line, as options: "--set duration=1ms --vary loss.probability=0,1% --repeat 3".
 * Equal texts mean equal grids. malloc'd.
 */
char *oche_grid_text(const struct oche_grid *grid);

/* "oche run SCENARIO --set …": the command that repeats a point. malloc'd. */
char *oche_grid_command(const struct oche_grid *grid, size_t point);

/* "loss.probability=1%, workload.pairs=4, seed 3": which point it is. malloc'd. */
char *oche_grid_label(const struct oche_grid *grid, size_t point);

#endif
