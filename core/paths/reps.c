/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REPS: a path from which a good ACK came is taken once more, the oldest first. If there is none,
 * the packet takes a path at random. Only the last RING good paths are kept.
 *
 * A timeout may mean that a path is dead. Then for FREEZE only paths of the ring are taken, around
 * it, also those that were taken already; afterwards the ring is empty, and the next EXPLORE paths
 * are drawn. uet-htsim does this only with trimming, where a timeout is no sign of congestion; here
 * always (load-balancing.md#reps).
 */
#include "core/paths/paths.h"

#define RING    8
#define FREEZE  (10 * OCHE_MS)
#define EXPLORE 16

struct reps {
    struct oche_random random;
    uint32_t count;
    uint16_t ring[RING];
    uint32_t added;         /* paths ever added; the last one is at (added - 1) % RING */
    uint32_t fresh;         /* of the last ones, how many were not taken yet */
    uint32_t frozen_next;   /* where the ring goes on while it is frozen */
    uint32_t explore;       /* choices that are still to be drawn */
    oche_time frozen_until; /* 0: not frozen */
};

static size_t state_bytes(uint32_t count)
{
    (void)count;
    return sizeof(struct reps);
}

static void start(void *state, uint32_t count, struct oche_random random)
{
    *(struct reps *)state = (struct reps){.random = random, .count = count};
}

/* Ends the freeze if its time has come. */
static void thaw(struct reps *reps, oche_time now)
{
    if (OCHE_LIKELY(reps->frozen_until == 0) || now < reps->frozen_until)
        return;
    reps->frozen_until = 0;
    reps->added = reps->fresh = 0;
    reps->explore = EXPLORE;
}

static uint32_t choose(void *state, oche_time now)
{
    struct reps *reps = state;

    thaw(reps, now);
    if (reps->explore > 0) {
        reps->explore--;
    } else if (reps->frozen_until > 0 && reps->added > 0) {
        const uint32_t kept = reps->added < RING ? reps->added : RING;

        return reps->ring[reps->frozen_next++ % kept];
    } else if (reps->frozen_until == 0 && reps->fresh > 0) {
        return reps->ring[(reps->added - reps->fresh--) % RING];
    }
    return (uint32_t)oche_random_below(&reps->random, reps->count);
}

static void hear(void *state, uint32_t path, enum oche_path_news news, oche_time now)
{
    struct reps *reps = state;

    thaw(reps, now);
    if (news == OCHE_PATH_TIMEOUT && reps->frozen_until == 0 && reps->explore == 0) {
        reps->frozen_until = oche_time_add(now, FREEZE);
        reps->frozen_next = 0;
    }
    if (news != OCHE_PATH_GOOD)
        return;
    if (reps->added == UINT32_MAX) /* keeps the place in the ring when the count would wrap */
        reps->added = 2 * RING - 1;
    reps->ring[reps->added++ % RING] = (uint16_t)path;
    reps->fresh += reps->fresh < RING;
}

const struct oche_path_scheme oche_paths_reps = {
    .help = "a path from which an unmarked ACK came is taken once more; else any, at random",
    .hears = true,
    .state_bytes = state_bytes,
    .start = start,
    .choose = choose,
    .hear = hear,
};
