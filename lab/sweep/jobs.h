/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs points of a grid in processes, so many at a time. A process that crashes, is killed or runs
 * out of memory costs its own point and no other. Results reach the parent in the order in which
 * points end; nothing but the parent writes anything.
 */
#ifndef OCHE_LAB_SWEEP_JOBS_H
#define OCHE_LAB_SWEEP_JOBS_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"

/*
 * A point has ended. The result is the callee's to read until it returns. False: stop (what runs
 * is ended, what has not begun stays undone).
 */
typedef bool oche_job_done(void *context, size_t point, const struct oche_point_result *result);

/* Called several times a second while points run: for progress. */
typedef void oche_job_tick(void *context, unsigned running);

/*
 * Runs `points` (numbers; `count` of them) with `jobs` processes (0: one for each core that this
 * process may use), as oche_point_run of each point's overrides. SIGINT, SIGTERM and SIGHUP end it
 * in order: children are killed, `done` is not called for them. A child does not outlive the
 * parent, however that ends. Returns false when it was stopped or interrupted.
 */
bool oche_jobs_run(const struct oche_grid *grid, const size_t *points, size_t count, unsigned jobs,
                   oche_job_done *done, void *context);

/* The same with `tick` (may be NULL), which gets the same context. */
bool oche_jobs_run_watched(const struct oche_grid *grid, const size_t *points, size_t count,
                           unsigned jobs, oche_job_done *done, oche_job_tick *tick, void *context);

/* How many cores this process may use; 1 or more. */
unsigned oche_jobs_cores(void);

#endif
