/* SPDX-License-Identifier: Apache-2.0 */
/* The script that runs a grid on a Slurm cluster: a job array, and a job that merges. */
#ifndef OCHE_CLI_SWEEP_SLURM_SCRIPT_H
#define OCHE_CLI_SWEEP_SLURM_SCRIPT_H

#include <stdio.h>

#include "lab/sweep/grid.h"
#include "params/error.h"

#define OCHE_SLURM_MOST_TASKS 1000 /* Slurm's MaxArraySize is 1001 unless a site changes it */

/*
 * Prints the script for a grid that has been checked. The array has `tasks` tasks (0: one per
 * point, up to the limit) with `jobs` cores each (0: one core); results go to `folder`. Returns
 * false, with one line in `error`, if the current folder is unknown.
 */
bool oche_slurm_script_print(const struct oche_grid *grid, const char *folder, size_t tasks,
                             unsigned jobs, FILE *out, struct oche_error *error);

#endif
