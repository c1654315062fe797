/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of runs, by what was run: the scenario, its overrides, the seed. Figures of a paper share
 * runs; each run is made only once.
 */
#ifndef OCHE_LAB_REPRODUCE_POOL_H
#define OCHE_LAB_REPRODUCE_POOL_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"

struct oche_pool;

struct oche_pool *oche_pool_create(void);
void oche_pool_free(struct oche_pool *pool);

/* True if this run was not named before; used to count the runs to be made. */
bool oche_pool_expect(struct oche_pool *pool, const struct oche_grid *grid, size_t point);

void oche_pool_put(struct oche_pool *pool, const struct oche_grid *grid, size_t point,
                   const struct oche_point_result *result);

/* Fills `result`, which the caller must then free; false if there is none. */
bool oche_pool_get(const struct oche_pool *pool, const struct oche_grid *grid, size_t point,
                   struct oche_point_result *result);
bool oche_pool_has(const struct oche_pool *pool, const struct oche_grid *grid, size_t point);

#endif
