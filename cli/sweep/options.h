/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `oche sweep`. */
#ifndef OCHE_CLI_SWEEP_OPTIONS_H
#define OCHE_CLI_SWEEP_OPTIONS_H

#include "lab/sweep/grid.h"
#include "params/error.h"

#define OCHE_SWEEP_MOST_METRICS 64

enum oche_sweep_mode {
    OCHE_SWEEP_RUN,
    OCHE_SWEEP_SLURM,   /* print the script for Slurm */
    OCHE_SWEEP_POINTS,  /* run points `first`, `first + stride`, …, each into a file */
    OCHE_SWEEP_MERGE,   /* read these files into the results */
    OCHE_SWEEP_METRICS, /* list the metrics */
};

struct oche_sweep_options {
    enum oche_sweep_mode mode;
    struct oche_grid grid; /* the grid as typed, not opened */
    const char *out;       /* folder for results; NULL: not given */
    const char *metrics[OCHE_SWEEP_MOST_METRICS];
    size_t metric_count;
    unsigned jobs;        /* number of processes; 0: one per core */
    size_t tasks;         /* tasks in the Slurm array; 0: one per point, up to the usual limit */
    size_t first, stride; /* points for OCHE_SWEEP_POINTS; stride 0: only point `first` */
    bool csv, json, quiet, restart;
};

/*
 * Parses the arguments. Returns false if they are wrong; the exit status is then 2. The reason is
 * in `error`, or has been printed if `error` is empty.
 */
bool oche_sweep_options_read(struct oche_sweep_options *options, int argc, char **argv,
                             struct oche_error *error);
void oche_sweep_options_free(struct oche_sweep_options *options);

#endif
