/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line of a long run, on standard error and only if that is a terminal: simulated
 * time, speed, time left. It rewrites itself and is gone when the run is over.
 */
#ifndef OCHE_CLI_RUN_PROGRESS_H
#define OCHE_CLI_RUN_PROGRESS_H

#include <stdbool.h>

#include "sim/world/world.h"

struct oche_progress_line {
    bool shown;             /* there is a terminal, and --quiet was not given */
    bool may_end_early;     /* so the remaining time is an upper bound */
    bool drawn;             /* there is text on the line */
    const char *label;      /* which of several runs, or "" */
    double begun, drawn_at; /* seconds on the monotonic clock */
};

/* Starts the clock; `label` must outlive the line. */
void oche_progress_begin(struct oche_progress_line *line, const char *label, bool may_end_early,
                         bool quiet);
/* For oche_world_run; `context` is the line. */
oche_progress_report oche_progress_draw;
/* Clears the line; returns the seconds since it began. */
double oche_progress_end(struct oche_progress_line *line);

#endif
