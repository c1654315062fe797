/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixed: the paths of good ACKs in the order in which these came, each once; if there is none, as
 * bitmap. uet-htsim's list of good paths has no end; here it has as many places as there are paths,
 * and what comes when they are full is not added.
 */
#include "core/paths/penalties.h"

struct mixed {
    uint32_t count;
    uint32_t head, tail;             /* of `good`, not reduced to its size */
    uint16_t *good;                  /* `count` paths, behind the penalties */
    struct path_penalties penalties; /* last: it has an array at its end */
};

/* Returns the offset of the list of good paths. */
static size_t good_at(uint32_t count)
{
    return (offsetof(struct mixed, penalties) + path_penalties_bytes(count) + 1) & ~(size_t)1;
}

static size_t state_bytes(uint32_t count)
{
    const size_t bytes = good_at(count) + count * sizeof(uint16_t);

    return bytes > sizeof(struct mixed) ? bytes : sizeof(struct mixed);
}

static void start(void *state, uint32_t count, struct oche_random random)
{
    struct mixed *mixed = state;

    mixed->count = count;
    mixed->head = mixed->tail = 0;
    mixed->good = (void *)((char *)state + good_at(count));
    path_penalties_start(&mixed->penalties, count, random);
}

static uint32_t choose(void *state, oche_time now)
{
    struct mixed *mixed = state;

    (void)now;
    if (mixed->head == mixed->tail)
        return path_penalties_choose(&mixed->penalties);
    return mixed->good[mixed->head++ & (mixed->count - 1)];
}

static void hear(void *state, uint32_t path, enum oche_path_news news, oche_time now)
{
    struct mixed *mixed = state;

    (void)now;
    path_penalties_hear(&mixed->penalties, path, news);
    if (news == OCHE_PATH_GOOD && mixed->tail - mixed->head < mixed->count)
        mixed->good[mixed->tail++ & (mixed->count - 1)] = (uint16_t)path;
}

const struct oche_path_scheme oche_paths_mixed = {
    .help = "the paths of unmarked ACKs once more, as reps; if there are none, as bitmap",
    .hears = true,
    .state_bytes = state_bytes,
    .start = start,
    .choose = choose,
    .hear = hear,
};
