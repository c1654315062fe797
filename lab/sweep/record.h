/* SPDX-License-Identifier: Apache-2.0 */
/* Grids and points in the file of store/sweep_store.h. */
#ifndef OCHE_LAB_SWEEP_RECORD_H
#define OCHE_LAB_SWEEP_RECORD_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"
#include "params/error.h"
#include "store/sweep_store.h"

/* How the file is opened. */
struct oche_record_options {
    const char *path;    /* of the file; its folder exists */
    const char *kind;    /* "sweep" or "figure" */
    const char *program; /* "oche 0.1.0" */
    const char *command; /* as typed */
    bool restart;        /* replace an existing file */
};

/*
 * Opens the file for the grid (after oche_grid_open), to continue or to begin it, and notes the
 * parameters of its first point. Returns NULL, with one line in `error`, on failure.
 */
struct oche_sweep_store *oche_record_open(const struct oche_grid *grid,
                                          const struct oche_record_options *options,
                                          struct oche_error *error);

/* Writes a point, in one transaction. Returns false, with an error, if that fails. */
bool oche_record_point(struct oche_sweep_store *store, const struct oche_grid *grid, size_t point,
                       const struct oche_point_result *result, struct oche_error *error);

#endif
