/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk that passes over paths with a penalty. A mark costs a path 1, a loss 4, a timeout all 15.
 * A choice may pass over several paths; the first of them loses 1. If all paths have a penalty, the
 * one at which the walk began is taken.
 */
#ifndef OCHE_CORE_PATHS_PENALTIES_H
#define OCHE_CORE_PATHS_PENALTIES_H

#include "core/paths/walk.h"

struct path_penalties {
    struct path_walk walk;
    uint8_t of[]; /* by path */
};

size_t path_penalties_bytes(uint32_t count);
void path_penalties_start(struct path_penalties *penalties, uint32_t count,
                          struct oche_random random);
uint32_t path_penalties_choose(struct path_penalties *penalties);
void path_penalties_hear(struct path_penalties *penalties, uint32_t path, enum oche_path_news news);

#endif
