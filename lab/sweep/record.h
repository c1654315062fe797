/* SPDX-License-Identifier: Apache-2.0 */
/* Records grids and points in a sweep's file (store/sweep_store.h). */
#ifndef OCHE_LAB_SWEEP_RECORD_H
#define OCHE_LAB_SWEEP_RECORD_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"
#include "params/error.h"
#include "store/sweep_store.h"

/* The description of a sweep's file, and how it is opened. */
struct oche_record_options {
    const char *path;    /* path of the file; its folder must exist */
    const char *kind;    /* "sweep" or "figure" */
    const char *program; /* name and version: "oche 0.1.0" */
    const char *command; /* command line as typed */
    bool restart;        /* true: an existing file is replaced */
};

/*
 * Opens the file for a grid (after oche_grid_open): continues it if it exists, else creates it.
 * Stores the parameters of the grid's first point that can be run. Returns NULL, with one line in
 * `error`, on failure.
 */
struct oche_sweep_store *oche_record_open(const struct oche_grid *grid,
                                          const struct oche_record_options *options,
                                          struct oche_error *error);

/*
 * Stores which combinations cannot be run, and why: one line each, with a tab between the two.
 * Returns false, with an error, on failure.
 */
bool oche_record_left_out(struct oche_sweep_store *store, const struct oche_grid *grid,
                          struct oche_error *error);

/* Stores a point and its result in one transaction. Returns false, with an error, on failure. */
bool oche_record_point(struct oche_sweep_store *store, const struct oche_grid *grid, size_t point,
                       const struct oche_point_result *result, struct oche_error *error);

/*
 * Reads back a point that is done, into a result that oche_point_free frees. Returns false, with
 * nothing to free, if the file does not have it completely.
 */
bool oche_record_read(struct oche_sweep_store *store, size_t point,
                      struct oche_point_result *result);

#endif
