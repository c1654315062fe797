/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a grid of points on standard error. On a terminal it is a bar that is redrawn and
 * removed at the end, elsewhere a line every half minute.
 */
#ifndef OCHE_CLI_SWEEP_POINTS_BAR_H
#define OCHE_CLI_SWEEP_POINTS_BAR_H

#include <stdbool.h>
#include <stddef.h>

struct oche_points_bar {
    bool quiet, terminal, drawn;
    size_t total, done; /* number of all points; of those done in this run or earlier */
    size_t ended;       /* points that ended in this run, successful or not */
    size_t bad;         /* of `ended`, the points that were not successful */
    double begun, ended_at, shown_at; /* seconds on the monotonic clock */
};

/* Begins with `total` points, of which `done` are done already. */
void oche_points_bar_begin(struct oche_points_bar *bar, size_t total, size_t done, bool quiet);
/* Counts a point that has ended; `well`: it was successful. */
void oche_points_bar_count(struct oche_points_bar *bar, bool well);
/* Draws the bar if enough time has passed since it was last drawn. */
void oche_points_bar_draw(struct oche_points_bar *bar, unsigned running);
/* Clears the bar, so that something else can be written; it is redrawn later. */
void oche_points_bar_clear(struct oche_points_bar *bar);

#endif
