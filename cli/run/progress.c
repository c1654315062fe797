/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line. */
#include "cli/run/progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/ranks.h"
#include "params/figures.h"

#define FIRST_AFTER_S  1.0 /* a run that ends before shows no line */
#define DRAW_EVERY_S   0.2
#define FLOWS_TO_GO_BY 1000 /* fewer do not predict the end of the last one */

static double monotonic_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void oche_progress_begin(struct oche_progress_line *line, const char *label, bool may_end_early,
                         bool quiet)
{
    *line = (struct oche_progress_line){
        .shown = !quiet && (isatty(STDERR_FILENO) == 1 || oche_run_ranks_have_terminal()),
        .may_end_early = may_end_early,
        .label = label,
        .begun = monotonic_s()};
    line->draw_at = line->begun + FIRST_AFTER_S;
}

/* Prints how close the metric of --until-stable is to its bound, once it has an interval. */
static void draw_steady(const struct oche_steady *steady)
{
    const struct oche_steady_result *result = steady == NULL ? NULL : oche_steady_last(steady);

    if (result == NULL || result->interval.bound <= 0 || result->interval.mean == 0)
        return;
    fprintf(stderr, ", %s ± %.2g %% of %.2g %%%s", result->metric,
            100 * result->interval.half_width / fabs(result->interval.mean), 100 * result->within,
            result->state == OCHE_STEADY_CORRELATED ? ", not steady"
            : result->state == OCHE_STEADY_BRIEF    ? ", flows take longer"
                                                    : "");
}

void oche_progress_draw(void *context, const struct oche_progress *progress)
{
    struct oche_progress_line *line = context;

    if (!line->shown)
        return;
    double now = monotonic_s(), spent = now - line->begun;

    if (now < line->draw_at || progress->now == 0)
        return;
    bool timed = progress->duration > 0;
    double part = timed ? (double)progress->now / (double)progress->duration
                        : (double)progress->awaited_done / (double)(progress->awaited + 1);

    line->draw_at = now + DRAW_EVERY_S;
    line->drawn = true;
    fprintf(stderr, "\r\033[K%s%s%.0f %%, %s", line->label, line->label[0] != '\0' ? ": " : "",
            floor(100 * part), oche_figure_time(progress->now).text);
    if (timed)
        fprintf(stderr, " of %s, %u flows done", oche_figure_time(progress->duration).text,
                progress->flows_done);
    else
        fprintf(stderr, ", %llu of %llu flows done", (unsigned long long)progress->awaited_done,
                (unsigned long long)progress->awaited);
    fprintf(stderr, ", %.1f M packet-hops/s", (double)progress->hops / spent / 1e6);
    if (part > 0 && (timed || progress->awaited >= FLOWS_TO_GO_BY))
        fprintf(stderr, ", %s%s left", line->may_end_early && timed ? "at most " : "about ",
                oche_figure_wait(spent * (1 - part) / part).text);
    draw_steady(line->steady);
    fflush(stderr);
}

double oche_progress_end(struct oche_progress_line *line)
{
    if (line->drawn)
        fputs("\r\033[K", stderr);
    line->drawn = false;
    return monotonic_s() - line->begun;
}
