/* SPDX-License-Identifier: Apache-2.0 */
/* Makes schedules of collective operations, rank by rank; see collective.h. */
#include "sim/graph/collective/collective.h"

#include <stdlib.h>

#include "params/error.h"
#include "sim/graph/collective/steps.h"

const char *const oche_collective_names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                             "broadcast",  "all_to_all", NULL};
const char *const oche_algorithm_names[] = {"ring", "tree", "halving_doubling", "direct", NULL};

static bool is_power_of_two(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

const char *oche_collective_unfit(const struct oche_collective *collective)
{
    const enum oche_collective_operation operation = collective->operation;

    switch (collective->algorithm) {
    case OCHE_RING:
        return operation == OCHE_ALL_TO_ALL ? "is not for all_to_all; direct is" : NULL;
    case OCHE_TREE:
        return operation != OCHE_ALL_REDUCE && operation != OCHE_BROADCAST
                   ? "is for all_reduce and broadcast"
                   : NULL;
    case OCHE_HALVING_DOUBLING:
        if (operation == OCHE_BROADCAST || operation == OCHE_ALL_TO_ALL)
            return "is for all_reduce, all_gather and reduce_scatter";
        return operation != OCHE_ALL_REDUCE && !is_power_of_two(collective->ranks)
                   ? "needs a power of two of ranks, unless the operation is all_reduce"
                   : NULL;
    case OCHE_DIRECT:
        return operation == OCHE_ALL_REDUCE || operation == OCHE_BROADCAST
                   ? "is for all_to_all, all_gather and reduce_scatter"
                   : NULL;
    }
    return NULL;
}

double oche_collective_bus_factor(const struct oche_collective *collective)
{
    const double part = (collective->ranks - 1.0) / collective->ranks;

    switch (collective->operation) {
    case OCHE_ALL_REDUCE:
        return 2 * part;
    case OCHE_BROADCAST:
        return 1;
    case OCHE_ALL_GATHER:
    case OCHE_REDUCE_SCATTER:
    case OCHE_ALL_TO_ALL:
        return part;
    }
    return part;
}

/* ---- operations ---- */

static uint32_t add(struct oche_steps *steps, const struct oche_goal_op *op)
{
    const uint32_t number = oche_goal_write_op(steps->writer, op), at = number - steps->first;

    if (at >= steps->room) {
        steps->room = steps->room == 0 ? 1024 : 2 * steps->room;
        steps->awaited = realloc(steps->awaited, steps->room * sizeof(*steps->awaited));
        OCHE_GOT(steps->awaited != NULL);
    }
    steps->awaited[at] = false;
    return number;
}

void oche_steps_wait(struct oche_steps *steps, uint32_t operation, uint32_t before)
{
    if (before == OCHE_NO_STEP)
        return;
    steps->awaited[before - steps->first] = true;
    oche_goal_write_edge(steps->writer, operation, before, false);
}

static uint32_t add_message(struct oche_steps *steps, enum oche_goal_type type, uint32_t peer,
                            uint64_t bytes, uint32_t tag, uint32_t after)
{
    const struct oche_collective_place *place = steps->place;
    struct oche_goal_op op = {.type = (uint8_t)type, .peer = peer, .size = bytes, .tag = tag};

    if (place != NULL) {
        op.peer = place->members != NULL ? place->members[peer]
                                         : place->first_rank + peer * place->stride;
        op.tag += place->first_tag;
        op.cpu = place->cpu;
    }
    const uint32_t number = add(steps, &op);

    oche_steps_wait(steps, number, after == OCHE_NO_STEP ? steps->begin : after);
    return number;
}

uint32_t oche_steps_send(struct oche_steps *steps, uint32_t to, uint64_t bytes, uint32_t tag,
                         uint32_t after)
{
    return add_message(steps, OCHE_GOAL_SEND, to, bytes, tag, after);
}

uint32_t oche_steps_receive(struct oche_steps *steps, uint32_t from, uint64_t bytes, uint32_t tag,
                            uint32_t after)
{
    return add_message(steps, OCHE_GOAL_RECV, from, bytes, tag, after);
}

/* ---- ranks ---- */

static void add_steps(struct oche_steps *steps)
{
    switch (steps->of->algorithm) {
    case OCHE_RING:
        oche_ring_steps(steps);
        return;
    case OCHE_TREE:
        oche_tree_steps(steps);
        return;
    case OCHE_HALVING_DOUBLING:
        oche_halving_doubling_steps(steps);
        return;
    case OCHE_DIRECT:
        oche_direct_steps(steps);
        return;
    }
}

/* Adds a repetition behind operation `before`. Returns the operation that ends it. */
static uint32_t add_repetition(struct oche_steps *steps, uint32_t before)
{
    const uint8_t cpu = steps->place == NULL ? 0 : steps->place->cpu;
    const struct oche_goal_op compute = {
        .type = OCHE_GOAL_CALC, .size = steps->of->compute_ns, .cpu = cpu};
    const struct oche_goal_op nothing = {.type = OCHE_GOAL_CALC, .cpu = cpu};
    uint32_t end;

    steps->begin = add(steps, &compute);
    oche_steps_wait(steps, steps->begin, before);
    if (steps->of->ranks > 1)
        add_steps(steps);
    end = add(steps, &nothing);
    for (uint32_t i = steps->begin; i < end; i++)
        if (!steps->awaited[i - steps->first])
            oche_steps_wait(steps, end, i);
    return end;
}

/*
 * Between repetitions of a broadcast each rank tells rank 0 that it has all, since rank 0 gets
 * nothing that it could wait for. Returns what the next repetition waits for.
 */
static uint32_t add_answers(struct oche_steps *steps, uint32_t end)
{
    const struct oche_goal_op nothing = {.type = OCHE_GOAL_CALC};
    uint32_t all;

    if (steps->rank != 0)
        return oche_steps_send(steps, 0, 1, OCHE_ANSWER_TAG, end);
    all = add(steps, &nothing);
    oche_steps_wait(steps, all, end);
    for (uint32_t i = 1; i < steps->of->ranks; i++)
        oche_steps_wait(steps, all, oche_steps_receive(steps, i, 1, OCHE_ANSWER_TAG, end));
    return all;
}

/* True if a rank's begin counts as the repetition's: those that only receive are there before. */
static bool counts_begin(const struct oche_collective *collective, uint32_t rank)
{
    return collective->operation != OCHE_BROADCAST || rank == 0;
}

bool oche_collective_make(const struct oche_collective *collective, struct oche_goal *goal,
                          uint32_t **begins, uint32_t **ends, struct oche_error *error)
{
    const uint32_t ranks = collective->ranks, repeat = collective->repeat;
    struct oche_steps steps = {.of = collective, .writer = oche_goal_write_begin(ranks, error)};

    if (steps.writer == NULL)
        return false;
    *begins = malloc((size_t)ranks * repeat * sizeof(**begins));
    *ends = malloc((size_t)ranks * repeat * sizeof(**ends));
    OCHE_GOT(*begins != NULL && *ends != NULL);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t before = OCHE_NO_STEP;

        steps.rank = rank;
        for (uint32_t i = 0; i < repeat; i++) {
            const size_t at = (size_t)rank * repeat + i;

            before = (*ends)[at] = add_repetition(&steps, before);
            (*begins)[at] = counts_begin(collective, rank) ? steps.begin : OCHE_NO_STEP;
            if (i + 1 < repeat && collective->operation == OCHE_BROADCAST)
                before = add_answers(&steps, before);
        }
        oche_goal_write_rank(steps.writer, rank);
    }
    free(steps.awaited);
    const int file = oche_goal_write_end(steps.writer, error);

    if (file >= 0 && oche_goal_adopt(goal, file, "the collective's schedule", error))
        return true;
    free(*begins);
    free(*ends);
    return false;
}

/* ---- among other operations ---- */

void oche_collective_adjust(struct oche_collective *collective)
{
    uint64_t bytes = collective->bytes / 2;

    if (oche_collective_unfit(collective) != NULL)
        collective->algorithm = collective->operation == OCHE_ALL_TO_ALL ? OCHE_DIRECT : OCHE_RING;
    if (collective->algorithm != OCHE_TREE && collective->operation != OCHE_BROADCAST)
        bytes = collective->bytes / collective->ranks;
    if (collective->chunks > bytes)
        collective->chunks = bytes > 0 ? (uint32_t)bytes : 1;
}

uint64_t oche_collective_tags(const struct oche_collective *collective)
{
    const uint64_t chunks = collective->chunks;

    switch (collective->algorithm) {
    case OCHE_RING:
        return 2 * collective->ranks * chunks;
    case OCHE_TREE:
        return 4 * chunks;
    case OCHE_HALVING_DOUBLING:
        return (OCHE_LAST_STEP + 1) * chunks;
    case OCHE_DIRECT:
        return chunks;
    }
    return 0;
}

uint64_t oche_collective_most(const struct oche_collective *collective)
{
    const uint64_t chunks = collective->chunks;

    switch (collective->algorithm) {
    case OCHE_RING:
    case OCHE_DIRECT:
        return 4 * collective->ranks * chunks + 2;
    case OCHE_TREE:
        return 16 * chunks + 2;
    case OCHE_HALVING_DOUBLING:
        return 2 * OCHE_LAST_STEP * chunks + 2;
    }
    return 0;
}

void oche_collective_add(const struct oche_collective *collective,
                         const struct oche_collective_place *place, uint32_t *begin, uint32_t *end)
{
    struct oche_collective once = *collective;
    struct oche_steps steps = {.of = &once,
                               .writer = place->writer,
                               .rank = place->index,
                               .place = place,
                               .first = oche_goal_write_count(place->writer)};

    once.compute_ns = 0;
    *end = add_repetition(&steps, OCHE_NO_STEP);
    *begin = steps.begin;
    free(steps.awaited);
}
