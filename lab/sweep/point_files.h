/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points as files: DIR/points/N.point, for grids whose points run on many machines. Each file is
 * written beside its place and moved there when it is whole; its first line says which grid it is
 * of, so that what another grid left behind is never taken for a result.
 */
#ifndef OCHE_LAB_SWEEP_POINT_FILES_H
#define OCHE_LAB_SWEEP_POINT_FILES_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"
#include "params/error.h"

enum oche_point_file {
    OCHE_POINT_FILE_READ,   /* `result` is filled */
    OCHE_POINT_FILE_NONE,   /* there is none */
    OCHE_POINT_FILE_BROKEN, /* not whole, or of another point */
    OCHE_POINT_FILE_FOREIGN /* of another grid: somebody's results */
};

struct oche_point_files {
    const struct oche_grid *grid;
    char *folder;      /* DIR/points */
    uint64_t identity; /* of program, scenario text, its files, grid, seed */
};

/*
 * For a grid that oche_grid_open has taken; `program` as in lab/sweep/record.h. False and one line
 * in `error` if the scenario cannot be read.
 */
bool oche_point_files_open(struct oche_point_files *files, const struct oche_grid *grid,
                           const char *program, const char *folder, struct oche_error *error);
void oche_point_files_close(struct oche_point_files *files);

/* Makes the folder if need be. False and an error if the file cannot be written. */
bool oche_point_files_write(const struct oche_point_files *files, size_t point,
                            const struct oche_point_result *result, struct oche_error *error);
/* What is there of a point; `result` is filled if it is READ. */
enum oche_point_file oche_point_files_read(const struct oche_point_files *files, size_t point,
                                           struct oche_point_result *result);

/* False and one line in `error` if the point's file is another grid's, which nobody overwrites. */
bool oche_point_files_free(const struct oche_point_files *files, size_t point,
                           struct oche_error *error);

#endif
