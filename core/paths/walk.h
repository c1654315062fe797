/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through all paths, each once in a round: i XOR x, where i counts and x is drawn for each
 * round. So queue pairs that start together soon go through the paths in different orders.
 */
#ifndef OCHE_CORE_PATHS_WALK_H
#define OCHE_CORE_PATHS_WALK_H

#include "core/paths/paths.h"

struct path_walk {
    struct oche_random random;
    uint32_t count, i, x;
};

static inline void path_walk_start(struct path_walk *walk, uint32_t count,
                                   struct oche_random random)
{
    *walk = (struct path_walk){.random = random, .count = count};
    walk->x = (uint32_t)oche_random_below(&walk->random, count);
}

/* Returns the path at which the walk is. */
static inline uint32_t path_walk_at(const struct path_walk *walk)
{
    return walk->i ^ walk->x;
}

static inline void path_walk_on(struct path_walk *walk)
{
    if (++walk->i < walk->count)
        return;
    walk->i = 0;
    walk->x = (uint32_t)oche_random_below(&walk->random, walk->count);
}

#endif
