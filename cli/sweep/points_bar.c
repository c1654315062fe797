/* SPDX-License-Identifier: Apache-2.0 */
/* The progress bar of a grid. */
#include "cli/sweep/points_bar.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "params/figures.h"

#define BAR_CELLS    24
#define DRAW_EVERY_S 0.2
#define LINE_EVERY_S 30

static double monotonic_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void oche_points_bar_begin(struct oche_points_bar *bar, size_t total, size_t done, bool quiet)
{
    *bar = (struct oche_points_bar){.quiet = quiet,
                                    .terminal = isatty(STDERR_FILENO) == 1,
                                    .total = total,
                                    .done = done,
                                    .begun = monotonic_s()};
    bar->ended_at = bar->shown_at = bar->begun;
}

void oche_points_bar_count(struct oche_points_bar *bar, bool well)
{
    bar->ended++;
    bar->done += well;
    bar->bad += !well;
    bar->ended_at = monotonic_s();
}

/*
 * Returns the seconds until all points have ended, at the current pace; negative if still unknown.
 */
static double time_left(const struct oche_points_bar *bar, double now)
{
    const size_t open = bar->total - bar->done - bar->bad;
    double left;

    if (bar->ended == 0)
        return -1;
    left = (bar->ended_at - bar->begun) / (double)bar->ended * (double)open;
    left -= now - bar->ended_at;
    return left > 0 ? left : 0;
}

static void write_state(const struct oche_points_bar *bar, double now)
{
    const double left = time_left(bar, now);

    fprintf(stderr, "%zu of %zu points", bar->done, bar->total);
    if (bar->bad > 0)
        fprintf(stderr, ", %zu failed", bar->bad);
    if (left >= 0)
        fprintf(stderr, ", %s left", oche_figure_wait(left).text);
}

void oche_points_bar_draw(struct oche_points_bar *bar, unsigned running)
{
    const double now = monotonic_s();
    const size_t cells = bar->total > 0 ? BAR_CELLS * (bar->done + bar->bad) / bar->total : 0;

    if (bar->quiet || now - bar->shown_at < (bar->terminal ? DRAW_EVERY_S : LINE_EVERY_S))
        return;
    bar->shown_at = now;
    if (!bar->terminal) {
        write_state(bar, now);
        fputc('\n', stderr);
        return;
    }
    fputs("\r\033[K[", stderr);
    for (size_t i = 0; i < BAR_CELLS; i++)
        fputc(i < cells ? '#' : '.', stderr);
    fputs("] ", stderr);
    write_state(bar, now);
    fprintf(stderr, ", %u running", running);
    fflush(stderr);
    bar->drawn = true;
}

void oche_points_bar_clear(struct oche_points_bar *bar)
{
    if (bar->drawn)
        fputs("\r\033[K", stderr);
    bar->drawn = false;
}
