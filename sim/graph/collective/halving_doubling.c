/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive halving and doubling (Thakur, Rabenseifner, Gropp: Optimization of collective
 * communication operations in MPICH, 2005). In each step of halving a rank exchanges half of what
 * it still sums up with the rank half as far away as before, the furthest first; doubling goes the
 * same way back. If the ranks are no power of two, those beyond the last one give all they have to
 * a partner first, and get the sum from it at the end.
 */
#include "sim/graph/collective/steps.h"

/* Bytes from `first` on, `count` blocks of the `all` that the operation's bytes are. */
static uint64_t bytes_of(const struct oche_steps *steps, uint32_t first, uint32_t count,
                         uint32_t all)
{
    const unsigned __int128 bytes = steps->of->bytes;

    return (uint64_t)(bytes * (first + count) / all) - (uint64_t)(bytes * first / all);
}

/* Exchanges with a partner, chunk by chunk. Returns the last operation, for which the next waits.
 */
static uint32_t exchange(struct oche_steps *steps, uint32_t partner, uint64_t leaves,
                         uint64_t arrives, uint32_t step, uint32_t after)
{
    const uint32_t chunks = steps->of->chunks;
    uint32_t before = OCHE_NO_STEP, got = OCHE_NO_STEP;

    for (uint32_t c = 0; c < chunks; c++) {
        const uint32_t tag = step * chunks + c;

        oche_steps_send(steps, partner, oche_part_bytes(leaves, c, chunks), tag, after);
        got = oche_steps_receive(steps, partner, oche_part_bytes(arrives, c, chunks), tag, after);
        oche_steps_wait(steps, got, before);
        before = got;
    }
    return got;
}

static uint32_t add_halving(struct oche_steps *steps, uint32_t all, uint32_t *step, uint32_t after)
{
    const uint32_t rank = steps->rank;
    uint32_t first = 0;

    for (uint32_t half = all / 2; half > 0; half /= 2) {
        const uint32_t partner = rank ^ half;
        const uint32_t kept = rank & half ? first + half : first;
        const uint32_t given = rank & half ? first : first + half;

        after = exchange(steps, partner, bytes_of(steps, given, half, all),
                         bytes_of(steps, kept, half, all), (*step)++, after);
        first = kept;
    }
    return after;
}

static uint32_t add_doubling(struct oche_steps *steps, uint32_t all, uint32_t *step, uint32_t after)
{
    const uint32_t rank = steps->rank;

    for (uint32_t half = 1; half < all; half *= 2) {
        const uint32_t partner = rank ^ half;

        after = exchange(steps, partner, bytes_of(steps, rank & ~(half - 1), half, all),
                         bytes_of(steps, partner & ~(half - 1), half, all), (*step)++, after);
    }
    return after;
}

void oche_halving_doubling_steps(struct oche_steps *steps)
{
    const uint32_t ranks = steps->of->ranks;
    const uint64_t bytes = steps->of->bytes;
    const uint32_t last_tag = OCHE_LAST_STEP * steps->of->chunks;
    uint32_t all = 1, step = 1, after = OCHE_NO_STEP; /* step 0 and the last: those beyond */
    uint32_t partner;

    while (all <= ranks / 2)
        all *= 2;
    partner = steps->rank ^ all;
    if (steps->rank >= all) {
        after = oche_steps_send(steps, partner, bytes, 0, OCHE_NO_STEP);
        oche_steps_receive(steps, partner, bytes, last_tag, after);
        return;
    }
    if (partner < ranks)
        after = oche_steps_receive(steps, partner, bytes, 0, OCHE_NO_STEP);
    if (steps->of->operation != OCHE_ALL_GATHER)
        after = add_halving(steps, all, &step, after);
    if (steps->of->operation != OCHE_REDUCE_SCATTER)
        after = add_doubling(steps, all, &step, after);
    if (partner < ranks)
        oche_steps_send(steps, partner, bytes, last_tag, after);
}
