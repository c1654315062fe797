/* SPDX-License-Identifier: Apache-2.0 */
/* Tables over numbers of flows and delays: fixed points, and their stability. */
#ifndef OCHE_CLI_FLUID_TABLES_H
#define OCHE_CLI_FLUID_TABLES_H

#include "lab/fluid/model.h"
#include "params/error.h"

struct oche_fluid_grid {
    struct oche_fluid_model *model; /* checked; its delay is changed for each column */
    const uint32_t *counts;
    size_t count_count;
    const double *delays_s; /* for stability */
    size_t delay_count;
    double duration_s, tolerance; /* of each run; only its second half counts for the queue */
    const char *csv;              /* or NULL */
};

/* Print the table, and write the CSV. Return false, with one line in `error`, on failure. */
bool oche_fluid_print_points(const struct oche_fluid_grid *grid, struct oche_error *error);
bool oche_fluid_print_stability(const struct oche_fluid_grid *grid, struct oche_error *error);

#endif
