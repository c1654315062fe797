/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs points of a grid in processes, several at a time. A process that crashes, is killed or runs
 * out of memory loses only its own point. Results reach the parent in the order in which points
 * end; only the parent writes files.
 */
#ifndef OCHE_LAB_SWEEP_JOBS_H
#define OCHE_LAB_SWEEP_JOBS_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"

/*
 * Called when a point has ended. `result` is valid only until the callback returns. Returns false
 * to stop: running points are then killed, and others are not started.
 */
typedef bool oche_job_done(void *context, size_t point, const struct oche_point_result *result);

/* Called several times a second while points run, to report progress. */
typedef void oche_job_tick(void *context, unsigned running);

/*
 * Runs `count` points, whose numbers are in `points`, in up to `jobs` processes at a time (0: one
 * for each core that this process may use). Each process calls oche_point_run with its point's
 * overrides. On SIGINT, SIGTERM or SIGHUP the children are killed, and `done` is not called for
 * them. A child does not outlive the parent, however the parent ends. Returns false if `done` or a
 * signal stopped the runs.
 */
bool oche_jobs_run(const struct oche_grid *grid, const size_t *points, size_t count, unsigned jobs,
                   oche_job_done *done, void *context);

/* Like oche_jobs_run; also calls `tick` (NULL: none), with the same context. */
bool oche_jobs_run_watched(const struct oche_grid *grid, const size_t *points, size_t count,
                           unsigned jobs, oche_job_done *done, oche_job_tick *tick, void *context);

/* Returns the number of cores that this process may use, at least 1. */
unsigned oche_jobs_cores(void);

#endif
