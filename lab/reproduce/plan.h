/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The points of a study: one grid (lab/sweep/grid.h) that contains all of the study's grids, and
 * which of its points are run. Fixed overrides that differ between the study's grids become axes of
 * that grid.
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
    size_t *points; /* numbers in the grid, by combination, then by repeat */
    size_t count;
};

/*
 * Opens every combination that is run. Returns false, with one line in `error`, if one of them is
 * impossible, or if the grid would have too many points. `opened` (or NULL) remembers combinations
 * that other plans have opened, which are not opened again: opening one takes as long as generating
 * the flows of a thousand hosts.
 */
bool oche_plan_make(struct oche_plan *plan, const struct oche_study *study,
                    struct oche_pool *opened, struct oche_error *error);
void oche_plan_free(struct oche_plan *plan);

/* Returns the point of a combination's repeat. */
size_t oche_plan_point(const struct oche_plan *plan, const struct oche_combination *combination,
                       uint32_t repeat);

#endif
