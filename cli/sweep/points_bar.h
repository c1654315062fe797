/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a grid of points is, on standard error: on a terminal a bar that rewrites itself and is
 * gone at the end, elsewhere a line every half minute.
 */
#ifndef OCHE_CLI_SWEEP_POINTS_BAR_H
#define OCHE_CLI_SWEEP_POINTS_BAR_H

#include <stdbool.h>
#include <stddef.h>

struct oche_points_bar {
    bool quiet, terminal, drawn;
    size_t total, done;               /* done: with those of earlier runs */
    size_t ended;                     /* in this run, well or not */
    size_t bad;                       /* of these: not well */
    double begun, ended_at, shown_at; /* seconds of the monotonic clock */
};

/* `total` points, of which `done` need not run. */
void oche_points_bar_begin(struct oche_points_bar *bar, size_t total, size_t done, bool quiet);
/* A point has ended. */
void oche_points_bar_count(struct oche_points_bar *bar, bool well);
/* Draws, if it is time. */
void oche_points_bar_draw(struct oche_points_bar *bar, unsigned running);
/* Clears the bar, so that something else can be written; it comes back by itself. */
void oche_points_bar_clear(struct oche_points_bar *bar);

#endif
