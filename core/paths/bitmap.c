/* SPDX-License-Identifier: Apache-2.0 */
/* Bitmap: all paths in turn, but for those of which there was bad news (penalties.h). */
#include "core/paths/penalties.h"

#define MOST_PENALTY 15

static const uint8_t costs[] = {
    [OCHE_PATH_GOOD] = 0,
    [OCHE_PATH_MARKED] = 1,
    [OCHE_PATH_LOST] = 4,
    [OCHE_PATH_TIMEOUT] = MOST_PENALTY,
};

size_t path_penalties_bytes(uint32_t count)
{
    return sizeof(struct path_penalties) + count;
}

void path_penalties_start(struct path_penalties *penalties, uint32_t count,
                          struct oche_random random)
{
    path_walk_start(&penalties->walk, count, random);
    for (uint32_t path = 0; path < count; path++)
        penalties->of[path] = 0;
}

uint32_t path_penalties_choose(struct path_penalties *penalties)
{
    struct path_walk *walk = &penalties->walk;
    uint32_t path = path_walk_at(walk);

    for (uint32_t passed = 0; penalties->of[path] > 0 && passed < walk->count; passed++) {
        if (passed == 0)
            penalties->of[path]--;
        path_walk_on(walk);
        path = path_walk_at(walk);
    }
    path_walk_on(walk);
    return path;
}

void path_penalties_hear(struct path_penalties *penalties, uint32_t path, enum oche_path_news news)
{
    const unsigned penalty = penalties->of[path] + costs[news];

    penalties->of[path] = (uint8_t)(penalty < MOST_PENALTY ? penalty : MOST_PENALTY);
}

static void start(void *state, uint32_t count, struct oche_random random)
{
    path_penalties_start(state, count, random);
}

static uint32_t choose(void *state, oche_time now)
{
    (void)now;
    return path_penalties_choose(state);
}

static void hear(void *state, uint32_t path, enum oche_path_news news, oche_time now)
{
    (void)now;
    path_penalties_hear(state, path, news);
}

const struct oche_path_scheme oche_paths_bitmap = {
    .help = "all paths in turn, but those that had marks, losses or timeouts are passed over",
    .hears = true,
    .state_bytes = path_penalties_bytes,
    .start = start,
    .choose = choose,
    .hear = hear,
};
