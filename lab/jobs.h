/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs points of a grid in processes, so many at a time. A process that crashes, is killed or runs
 * out of memory costs its own point and no other. Results reach the parent in the order in which
 * points end; nothing but the parent writes anything.
 */
#ifndef OCHE_LAB_JOBS_H
#define OCHE_LAB_JOBS_H

#include "lab/grid.h"
#include "lab/point.h"

/* A point has ended. False: stop (what runs is ended, what has not begun stays undone). */
typedef bool oche_job_done(void *context, size_t point, const struct oche_point_result *result);

/*
 * Runs `points` (numbers; `count` of them) with `jobs` processes (0: one a core). SIGINT and
 * SIGTERM end it in order: children are ended, `done` is not called for them. Returns false when
 * it was stopped or interrupted.
 */
bool oche_jobs_run(const struct oche_grid *grid, const size_t *points, size_t count, unsigned jobs,
                   oche_job_done *done, void *context);

#endif
