/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings: each rank receives from the one before it, and sends to the one behind it. In a step all
 * ranks pass on a block, the one that they got in the step before. n - 1 steps sum all blocks up
 * (reduce_scatter) or bring them to everybody (all_gather); all_reduce is both. A broadcast is a
 * chain from rank 0 on, through which chunks follow one another.
 */
#include <stdlib.h>

#include "sim/graph/collective/steps.h"

/* Returns a number modulo the ranks; it is at least -2 * ranks. */
static uint32_t around(const struct oche_steps *steps, int64_t number)
{
    return (uint32_t)((number + 2LL * steps->of->ranks) % steps->of->ranks);
}

/*
 * Adds a step, in which block `sent` leaves and the block before it arrives. `got`: by chunk, what
 * the block waits for; it becomes the receives of this step.
 */
static void add_step(struct oche_steps *steps, uint32_t step, uint32_t sent, uint32_t *got)
{
    const uint32_t chunks = steps->of->chunks, ranks = steps->of->ranks;
    const uint64_t leaves = oche_part_bytes(steps->of->bytes, sent, ranks);
    const uint64_t arrives =
        oche_part_bytes(steps->of->bytes, around(steps, (int64_t)sent - 1), ranks);
    const uint32_t next = around(steps, steps->rank + 1LL);
    const uint32_t before = around(steps, steps->rank - 1LL);

    for (uint32_t c = 0; c < chunks; c++) {
        const uint32_t tag = step * chunks + c, after = got[c];

        oche_steps_send(steps, next, oche_part_bytes(leaves, c, chunks), tag, after);
        got[c] = oche_steps_receive(steps, before, oche_part_bytes(arrives, c, chunks), tag, after);
    }
}

static void add_ring(struct oche_steps *steps)
{
    const uint32_t rounds = steps->of->ranks - 1;
    const bool sums = steps->of->operation != OCHE_ALL_GATHER;
    const bool gathers = steps->of->operation != OCHE_REDUCE_SCATTER;
    uint32_t *got = malloc(steps->of->chunks * sizeof(*got)), step = 0;

    OCHE_GOT(got != NULL);
    for (uint32_t c = 0; c < steps->of->chunks; c++)
        got[c] = OCHE_NO_STEP;
    for (uint32_t i = 0; sums && i < rounds; i++)
        add_step(steps, step++, around(steps, (int64_t)steps->rank - i), got);
    for (uint32_t i = 0; gathers && i < rounds; i++)
        add_step(steps, step++, around(steps, (int64_t)steps->rank + sums - i), got);
    free(got);
}

static void add_chain(struct oche_steps *steps)
{
    const uint32_t chunks = steps->of->chunks, rank = steps->rank;

    for (uint32_t c = 0; c < chunks; c++) {
        const uint64_t bytes = oche_part_bytes(steps->of->bytes, c, chunks);
        uint32_t got = OCHE_NO_STEP;

        if (rank > 0)
            got = oche_steps_receive(steps, rank - 1, bytes, c, OCHE_NO_STEP);
        if (rank + 1 < steps->of->ranks)
            oche_steps_send(steps, rank + 1, bytes, c, got);
    }
}

void oche_ring_steps(struct oche_steps *steps)
{
    if (steps->of->operation == OCHE_BROADCAST)
        add_chain(steps);
    else
        add_ring(steps);
}
