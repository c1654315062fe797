/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points as files DIR/points/N.point, for grids whose points run on many machines. Each file is
 * written under a temporary name and renamed when it is complete. Its first line identifies the
 * grid, so that another grid's files are never taken for results.
 */
#ifndef OCHE_LAB_SWEEP_POINT_FILES_H
#define OCHE_LAB_SWEEP_POINT_FILES_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"
#include "params/error.h"

enum oche_point_file {
    OCHE_POINT_FILE_READ,   /* the file was read, and `result` is filled */
    OCHE_POINT_FILE_NONE,   /* the point has no file */
    OCHE_POINT_FILE_BROKEN, /* the file is incomplete, or belongs to another point */
    OCHE_POINT_FILE_FOREIGN /* the file belongs to another grid */
};

struct oche_point_files {
    const struct oche_grid *grid;
    char *folder;      /* path of DIR/points */
    uint64_t identity; /* digest of program, scenario text, the scenario's files, grid and seed */
};

/*
 * Prepares `files` for a grid after oche_grid_open; creates nothing. `program` is as in
 * lab/sweep/record.h. Returns false, with one line in `error`, if the scenario cannot be read.
 */
bool oche_point_files_open(struct oche_point_files *files, const struct oche_grid *grid,
                           const char *program, const char *folder, struct oche_error *error);
void oche_point_files_close(struct oche_point_files *files);

/*
 * Writes a point's file; makes the folder if necessary. Returns false, with an error, if the file
 * cannot be written.
 */
bool oche_point_files_write(const struct oche_point_files *files, size_t point,
                            const struct oche_point_result *result, struct oche_error *error);
/* Reads a point's file, if there is one. Fills `result` only if it returns OCHE_POINT_FILE_READ. */
enum oche_point_file oche_point_files_read(const struct oche_point_files *files, size_t point,
                                           struct oche_point_result *result);

/*
 * Returns true if the point's file may be written. Returns false, with one line in `error`, if
 * there is a file of another grid: such files are never overwritten.
 */
bool oche_point_files_free(const struct oche_point_files *files, size_t point,
                           struct oche_error *error);

#endif
