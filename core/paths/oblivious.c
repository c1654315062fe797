/* SPDX-License-Identifier: Apache-2.0 */
/* Oblivious spraying: packets go through all paths, each once in a round, whatever happens. */
#include "core/paths/walk.h"

static size_t state_bytes(uint32_t count)
{
    (void)count;
    return sizeof(struct path_walk);
}

static void start(void *state, uint32_t count, struct oche_random random)
{
    path_walk_start(state, count, random);
}

static uint32_t choose(void *state, oche_time now)
{
    const uint32_t path = path_walk_at(state);

    (void)now;
    path_walk_on(state);
    return path;
}

const struct oche_path_scheme oche_paths_oblivious = {
    .help = "all paths in turn, each once in a round, in an order drawn for each round",
    .state_bytes = state_bytes,
    .start = start,
    .choose = choose,
};
