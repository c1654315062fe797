/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the points of a figure. Its results file keeps them. */
#include "cli/reproduce/reproduction.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/refuse.h"
#include "lab/sweep/grid_text.h"
#include "lab/sweep/jobs.h"
#include "lab/sweep/record.h"
#include "store/store.h"

bool oche_reproduce_open_store(struct oche_reproduction *session, struct oche_reproduce_work *work)
{
    struct oche_record_options options = {.kind = "figure",
                                          .program = "oche " OCHE_VERSION,
                                          .command = session->command,
                                          .restart = session->options.restart};
    char *path = NULL;

    if (!oche_results_folder(work->folder, &session->error))
        return false;
    OCHE_GOT(asprintf(&path, "%s/%s.sqlite", work->folder, work->study->name) >= 0);
    options.path = path;
    work->store = oche_record_open(&work->plan.grid, &options, &session->error);
    free(path);
    return work->store != NULL;
}

static void complain(struct oche_reproduction *session, size_t point,
                     const struct oche_point_result *result)
{
    const struct oche_grid *grid = &session->now->plan.grid;
    char *label = oche_grid_label(grid, point), *command = oche_grid_command(grid, point);

    oche_points_bar_clear(&session->bar);
    oche_print_error("%s: point %zu (%s) %s: %s", session->now->study->name, point, label,
                     oche_point_status_name(result->status), result->error);
    oche_print_error("  to repeat it: %s", command);
    session->bad++;
    free(label);
    free(command);
}

static bool point_ended(void *context, size_t point, const struct oche_point_result *result)
{
    struct oche_reproduction *session = context;
    struct oche_reproduce_work *work = session->now;

    if (!oche_record_point(work->store, &work->plan.grid, point, result, &session->error)) {
        session->broken = true;
        return false;
    }
    if (result->status == OCHE_POINT_DONE)
        oche_pool_put(session->pool, &work->plan.grid, point, result);
    else
        complain(session, point, result);
    oche_points_bar_count(&session->bar, result->status == OCHE_POINT_DONE);
    return true;
}

static void draw(void *context, unsigned running)
{
    struct oche_reproduction *session = context;

    oche_points_bar_draw(&session->bar, running);
}

/*
 * Stores the pool's result for a point that another figure has run. Returns false if it cannot be
 * stored.
 */
static bool take_from_pool(struct oche_reproduction *session, struct oche_reproduce_work *work,
                           size_t point)
{
    struct oche_point_result result;

    OCHE_MUST(oche_pool_get(session->pool, &work->plan.grid, point, &result));
    bool ok = oche_record_point(work->store, &work->plan.grid, point, &result, &session->error);

    oche_point_free(&result);
    return ok;
}

/* Puts a point that the figure's file has into the pool, for the figures that follow. */
static void put_stored(struct oche_reproduction *session, struct oche_reproduce_work *work,
                       size_t point)
{
    struct oche_point_result result;

    if (oche_pool_has(session->pool, &work->plan.grid, point) ||
        !oche_record_read(work->store, point, &result))
        return; /* then they run it again */
    oche_pool_put(session->pool, &work->plan.grid, point, &result);
    oche_point_free(&result);
}

/*
 * Returns the points that are neither in the figure's file nor in the pool (malloc'd). Returns NULL
 * on failure.
 */
static size_t *points_to_run(struct oche_reproduction *session, struct oche_reproduce_work *work,
                             size_t *count)
{
    const size_t total = oche_grid_points(&work->plan.grid);
    bool *done = calloc(total, sizeof(*done));
    size_t *points = calloc(work->plan.count + 1, sizeof(*points));
    bool ok = true;

    OCHE_GOT(done != NULL && points != NULL);
    oche_sweep_store_done(work->store, done, total);
    *count = 0;
    for (size_t i = 0; ok && i < work->plan.count; i++) {
        size_t point = work->plan.points[i];

        if (done[point])
            put_stored(session, work, point);
        else if (oche_pool_has(session->pool, &work->plan.grid, point))
            ok = take_from_pool(session, work, point);
        else
            points[(*count)++] = point;
    }
    free(done);
    if (ok)
        return points;
    free(points);
    return NULL;
}

enum oche_reproduce_status oche_reproduce_run_points(struct oche_reproduction *session,
                                                     struct oche_reproduce_work *work)
{
    size_t count, bad = session->bad;
    size_t *points = points_to_run(session, work, &count);

    if (points == NULL)
        return OCHE_REPRODUCE_REFUSED;
    session->now = work;
    oche_points_bar_begin(&session->bar, work->plan.count, work->plan.count - count,
                          session->options.quiet);
    bool over = oche_jobs_run_watched(&work->plan.grid, points, count, session->options.jobs,
                                      point_ended, draw, session);

    oche_points_bar_clear(&session->bar);
    free(points);
    if (session->broken)
        return OCHE_REPRODUCE_REFUSED;
    if (over)
        return session->bad > bad ? OCHE_REPRODUCE_NOT_ALL : OCHE_REPRODUCE_DONE;
    fprintf(stderr, "interrupted: %zu of %zu points of %s are done; the same command goes on\n",
            session->bar.done, session->bar.total, work->study->name);
    return OCHE_REPRODUCE_INTERRUPTED;
}
