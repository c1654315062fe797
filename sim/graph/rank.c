/* SPDX-License-Identifier: Apache-2.0 */
/* A rank on its way through its schedule; see rank.h. */
#include "sim/graph/rank.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct oche_rank {
    const struct oche_goal_rank *operations;
    uint32_t *met; /* by operation: of its dependencies, those that are met; mapped */
    size_t met_bytes;
    uint32_t next_root; /* in the list of roots */
    uint32_t *ready;    /* a ring of `room` entries, a power of two */
    uint32_t room, head, tail;
    uint32_t ended;
    struct oche_match *match;
};

#define FIRST_ROOM 16

struct oche_rank *oche_rank_create(const struct oche_goal_rank *operations)
{
    struct oche_rank *rank = calloc(1, sizeof(*rank));

    OCHE_GOT(rank != NULL);
    rank->operations = operations;
    rank->met_bytes = ((size_t)operations->count + 1) * sizeof(*rank->met);
    /* Pages that were never written cost nothing. */
    rank->met = mmap(NULL, rank->met_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    OCHE_GOT(rank->met != MAP_FAILED);
    rank->room = FIRST_ROOM;
    rank->ready = malloc(rank->room * sizeof(*rank->ready));
    OCHE_GOT(rank->ready != NULL);
    rank->match = oche_match_create();
    return rank;
}

void oche_rank_free(struct oche_rank *rank)
{
    munmap(rank->met, rank->met_bytes);
    free(rank->ready);
    oche_match_free(rank->match);
    free(rank);
}

static void add_ready(struct oche_rank *rank, uint32_t operation)
{
    if (rank->tail - rank->head == rank->room) {
        uint32_t *more = malloc(2 * (size_t)rank->room * sizeof(*more));

        OCHE_GOT(more != NULL);
        for (uint32_t i = 0; i < rank->room; i++)
            more[i] = rank->ready[(rank->head + i) & (rank->room - 1)];
        free(rank->ready);
        rank->ready = more;
        rank->head = 0;
        rank->tail = rank->room;
        rank->room *= 2;
    }
    rank->ready[rank->tail++ & (rank->room - 1)] = operation;
}

uint32_t oche_rank_next(struct oche_rank *rank)
{
    if (rank->next_root < rank->operations->roots)
        return oche_goal_root(rank->operations, rank->next_root++);
    return rank->head == rank->tail ? OCHE_NO_MATCH : rank->ready[rank->head++ & (rank->room - 1)];
}

/* Meets one dependency of each operation in a range of the list of successors. */
static void meet(struct oche_rank *rank, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = oche_goal_successor(rank->operations, first + i);

        if (++rank->met[number] == oche_goal_op(rank->operations, number).dependencies)
            add_ready(rank, number);
    }
}

void oche_rank_started(struct oche_rank *rank, uint32_t operation)
{
    const struct oche_goal_op op = oche_goal_op(rank->operations, operation);

    meet(rank, op.start_first, op.start_count);
}

void oche_rank_ended(struct oche_rank *rank, uint32_t operation)
{
    const struct oche_goal_op op = oche_goal_op(rank->operations, operation);

    OCHE_MUST(rank->ended < rank->operations->count);
    rank->ended++;
    meet(rank, op.end_first, op.end_count);
}

bool oche_rank_is_done(const struct oche_rank *rank)
{
    return rank->ended == rank->operations->count;
}

uint64_t oche_rank_left(const struct oche_rank *rank)
{
    return rank->operations->count - rank->ended;
}

struct oche_match *oche_rank_match(struct oche_rank *rank)
{
    return rank->match;
}
