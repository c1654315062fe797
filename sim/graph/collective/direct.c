/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct exchange: each rank sends a block to each other one, to its neighbour first and so on
 * around, so that no two ranks send to the same one in the same step. A rank has `window` blocks
 * under way: it sends the next when it has got one.
 */
#include <stdlib.h>

#include "sim/graph/collective/steps.h"

/* Returns the bytes that go from one rank to another. */
static uint64_t block_of(const struct oche_collective *of, uint32_t from, uint32_t to)
{
    return oche_part_bytes(of->bytes, of->operation == OCHE_ALL_GATHER ? from : to, of->ranks);
}

/* Adds the messages of a step. Returns the last receive. */
static uint32_t add_step(struct oche_steps *steps, uint32_t step, uint32_t after)
{
    const struct oche_collective *of = steps->of;
    const uint32_t to = (steps->rank + step) % of->ranks;
    const uint32_t from = (steps->rank + of->ranks - step) % of->ranks;
    const uint64_t leaves = block_of(of, steps->rank, to),
                   arrives = block_of(of, from, steps->rank);
    uint32_t got = OCHE_NO_STEP, before = OCHE_NO_STEP;

    for (uint32_t c = 0; c < of->chunks; c++) {
        oche_steps_send(steps, to, oche_part_bytes(leaves, c, of->chunks), c, after);
        got = oche_steps_receive(steps, from, oche_part_bytes(arrives, c, of->chunks), c,
                                 OCHE_NO_STEP);
        oche_steps_wait(steps, got, before);
        before = got;
    }
    return got;
}

void oche_direct_steps(struct oche_steps *steps)
{
    const uint32_t ranks = steps->of->ranks, window = steps->of->window;
    uint32_t *got = malloc(ranks * sizeof(*got));

    OCHE_GOT(got != NULL);
    for (uint32_t step = 1; step < ranks; step++)
        got[step] =
            add_step(steps, step, window > 0 && step > window ? got[step - window] : OCHE_NO_STEP);
    free(got);
}
