/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a sweep on the terminal: one row per combination, with means and spreads over its
 * seeds.
 */
#ifndef OCHE_CLI_SWEEP_TABLE_H
#define OCHE_CLI_SWEEP_TABLE_H

#include <stdio.h>

#include "lab/sweep/grid.h"
#include "store/sweep_store.h"

/* Prints the named metrics, or the default ones if `count` is 0. */
void oche_sweep_table_print(const struct oche_grid *grid, struct oche_sweep_store *store,
                            const char *const *metrics, size_t count, FILE *out);

#endif
