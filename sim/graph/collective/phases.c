/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of collective operations, which the tags of messages tell; see collective.h. */
#include <stdio.h>

#include "sim/graph/collective/steps.h"

/* Returns the steps of halving, or of doubling. */
static uint32_t steps_of(const struct oche_collective *of)
{
    uint32_t steps = 0;

    while (of->ranks >> (steps + 1) > 0)
        steps++;
    return steps;
}

/* True if some ranks are beyond the power of two: they give all first, and take the result last. */
static bool has_beyond(const struct oche_collective *of)
{
    return (of->ranks & (of->ranks - 1)) != 0;
}

static uint32_t halvings(const struct oche_collective *of)
{
    return of->operation == OCHE_ALL_GATHER ? 0 : steps_of(of);
}

static uint32_t doublings(const struct oche_collective *of)
{
    return of->operation == OCHE_REDUCE_SCATTER ? 0 : steps_of(of);
}

uint32_t oche_collective_phases(const struct oche_collective *of)
{
    if (of->ranks < 2)
        return 0;
    switch (of->algorithm) {
    case OCHE_RING:
        return of->operation == OCHE_ALL_REDUCE ? 2 : 0;
    case OCHE_TREE:
        return 2;
    case OCHE_HALVING_DOUBLING:
        return halvings(of) + doublings(of) + (has_beyond(of) ? 2 : 0);
    case OCHE_DIRECT:
        return 0;
    }
    return 0;
}

static void name_of_step(const struct oche_collective *of, uint32_t step, char *text,
                         size_t text_bytes)
{
    const uint32_t halving = halvings(of);

    if (step < halving)
        snprintf(text, text_bytes, "halving, distance %u", 1U << (halving - 1 - step));
    else
        snprintf(text, text_bytes, "doubling, distance %u", 1U << (step - halving));
}

void oche_collective_phase_name(const struct oche_collective *of, uint32_t phase, char *text,
                                size_t text_bytes)
{
    const bool beyond = has_beyond(of);

    if (of->algorithm == OCHE_RING)
        snprintf(text, text_bytes, "%s", phase == 0 ? "reduce_scatter" : "all_gather");
    else if (of->algorithm == OCHE_TREE && of->operation == OCHE_BROADCAST)
        snprintf(text, text_bytes, "%s", phase == 0 ? "to the roots" : "down");
    else if (of->algorithm == OCHE_TREE)
        snprintf(text, text_bytes, "%s", phase == 0 ? "up" : "down");
    else if (beyond && phase == 0)
        snprintf(text, text_bytes, "from ranks beyond");
    else if (beyond && phase + 1 == oche_collective_phases(of))
        snprintf(text, text_bytes, "to ranks beyond");
    else
        name_of_step(of, phase - beyond, text, text_bytes);
}

/*
 * Returns the phase of a message. The tags of a step begin at step * chunks, and the first step has
 * number 1.
 */
static uint32_t phase_of_step(const struct oche_collective *of, uint32_t tag)
{
    const uint32_t phases = oche_collective_phases(of);
    const bool beyond = has_beyond(of);

    if (tag == OCHE_LAST_STEP * of->chunks)
        return phases - 1;
    if (tag / of->chunks == 0)
        return 0;
    return tag / of->chunks - !beyond;
}

uint32_t oche_collective_phase(const struct oche_collective *of, uint32_t tag)
{
    if (tag == OCHE_ANSWER_TAG || oche_collective_phases(of) == 0)
        return OCHE_NO_PHASE;
    switch (of->algorithm) {
    case OCHE_RING:
        return tag / of->chunks >= of->ranks - 1;
    case OCHE_TREE:
        return tag % 2;
    case OCHE_HALVING_DOUBLING:
        return phase_of_step(of, tag);
    case OCHE_DIRECT:
        return OCHE_NO_PHASE;
    }
    return OCHE_NO_PHASE;
}
