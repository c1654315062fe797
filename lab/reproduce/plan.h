/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The points of a study, in one grid (lab/sweep/grid.h) that contains all grids of the study. The
 * plan lists which points of that grid are run. Fixed overrides that differ between the study's
 * grids become axes of that grid.
 */
#ifndef OCHE_LAB_REPRODUCE_PLAN_H
#define OCHE_LAB_REPRODUCE_PLAN_H

#include "lab/sweep/grid.h"
#include "lab/reproduce/pool.h"
#include "lab/reproduce/study.h"
#include "params/error.h"

struct oche_plan {
    const struct oche_study *study;
    struct oche_grid grid;
    size_t *points; /* numbers of points in the grid: for each combination, one per repeat */
    size_t count;
};

/*
 * Opens every combination that is run. Returns false, with one line in `error`, if a combination is
 * impossible, or if the grid would have too many points. If `opened` is not NULL, it remembers
 * combinations across plans, so that each is opened only once: opening a combination may take as
 * long as generating the flows of a thousand hosts. If `watch` is not NULL, it may end the check;
 * the error is then "".
 */
bool oche_plan_make(struct oche_plan *plan, const struct oche_study *study,
                    struct oche_pool *opened, const struct oche_grid_watch *watch,
                    struct oche_error *error);
/* Makes a plan like oche_plan_make, but opens only the first combination: nothing is checked. */
bool oche_plan_outline(struct oche_plan *plan, const struct oche_study *study,
                       struct oche_error *error);
void oche_plan_free(struct oche_plan *plan);

/* Returns the number, in the grid, of the point for a combination and repeat. */
size_t oche_plan_point(const struct oche_plan *plan, const struct oche_combination *combination,
                       uint32_t repeat);

#endif
