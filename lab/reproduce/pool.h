/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of results, so that a run which several figures of a paper need is made only once. The key
 * of a result is its run: the scenario, the overrides, and the seed.
 */
#ifndef OCHE_LAB_REPRODUCE_POOL_H
#define OCHE_LAB_REPRODUCE_POOL_H

#include "lab/sweep/grid.h"
#include "lab/sweep/point.h"

struct oche_pool;

struct oche_pool *oche_pool_create(void);
void oche_pool_free(struct oche_pool *pool);

/*
 * Returns true if this is the first call for the run of this point; used to count the runs to be
 * made.
 */
bool oche_pool_expect(struct oche_pool *pool, const struct oche_grid *grid, size_t point);

void oche_pool_put(struct oche_pool *pool, const struct oche_grid *grid, size_t point,
                   const struct oche_point_result *result);

/*
 * Copies the result of the point's run into `result`, which the caller must free. Returns false if
 * the pool has no such result.
 */
bool oche_pool_get(const struct oche_pool *pool, const struct oche_grid *grid, size_t point,
                   struct oche_point_result *result);
bool oche_pool_has(const struct oche_pool *pool, const struct oche_grid *grid, size_t point);

#endif
