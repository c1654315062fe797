/* SPDX-License-Identifier: Apache-2.0 */
/* Tables over numbers of flows and delays: fixed points, and their stability. */
#ifndef OCHE_CLI_FLUID_TABLES_H
#define OCHE_CLI_FLUID_TABLES_H

#include "lab/fluid/model.h"
#include "params/error.h"

struct oche_fluid_grid {
    /* a model that oche_fluid_model_check has accepted; its delay is changed for each column */
    struct oche_fluid_model *model;
    const uint32_t *counts;
    size_t count_count;
    const double *delays_s; /* delays in seconds, one per column of the table of stability */
    size_t delay_count;
    /* duration of each run; the queue is measured in its second half */
    double duration_s, tolerance;
    const char *csv; /* path of the CSV file; NULL: none */
};

/* Each prints a table and writes the CSV. Returns false, with one line in `error`, on failure. */
bool oche_fluid_print_points(const struct oche_fluid_grid *grid, struct oche_error *error);
bool oche_fluid_print_stability(const struct oche_fluid_grid *grid, struct oche_error *error);

#endif
