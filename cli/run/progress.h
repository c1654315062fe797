/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line of a long run, on standard error, only if that is a terminal: part done,
 * simulated time, speed, time left, and the progress of the metric of --until-stable. The line
 * appears after a second, is redrawn, and is removed when the run is over.
 */
#ifndef OCHE_CLI_RUN_PROGRESS_H
#define OCHE_CLI_RUN_PROGRESS_H

#include <stdbool.h>

#include "lab/measures/steady.h"
#include "sim/world/world.h"

struct oche_progress_line {
    bool shown; /* standard error is a terminal, and --quiet was not given */
    /* the run can end before its duration, so the time left is an upper bound */
    bool may_end_early;
    bool drawn;                       /* the line has text at the moment */
    const char *label;                /* name of one of several runs; "" for a single run */
    double begun, draw_at;            /* seconds on the monotonic clock; draw_at: not before */
    const struct oche_steady *steady; /* NULL: the run does not wait for a metric */
};

/* Starts the clock. `label` must remain valid until oche_progress_end. */
void oche_progress_begin(struct oche_progress_line *line, const char *label, bool may_end_early,
                         bool quiet);
/* Draws the line: a callback for oche_world_run, whose `context` is the line. */
oche_progress_report oche_progress_draw;
/* Clears the line. Returns the seconds since oche_progress_begin. */
double oche_progress_end(struct oche_progress_line *line);

#endif
