/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the algorithms: the operations of one rank in one repetition. */
#ifndef OCHE_SIM_GRAPH_COLLECTIVE_STEPS_H
#define OCHE_SIM_GRAPH_COLLECTIVE_STEPS_H

#include "sim/graph/collective/collective.h"
#include "sim/graph/goal_write.h"

#define OCHE_NO_STEP UINT32_MAX /* no operation to wait for */
#define OCHE_LAST_STEP                                                                             \
    64 /* halving and doubling: number of the last step; there are at most 42 before it */

/* Tag of the message that a rank has all of a broadcast; phases.c reads the others. */
#define OCHE_ANSWER_TAG (UINT32_MAX - 2)

struct oche_steps {
    const struct oche_collective *of;
    struct oche_goal_writer *writer;
    uint32_t rank;
    uint32_t begin; /* the repetition's first operation */
    /* NULL, unless the operation stands among others of its ranks (oche_collective_add) */
    const struct oche_collective_place *place;
    /* by operation of the rank from `first` on: another one of it waits for it; malloc'd */
    bool *awaited;
    uint32_t first, room;
};

/*
 * Add a send or a receive that waits for the end of operation `after`, or OCHE_NO_STEP. Return its
 * number. `tag` tells messages between the same two ranks apart.
 */
uint32_t oche_steps_send(struct oche_steps *steps, uint32_t to, uint64_t bytes, uint32_t tag,
                         uint32_t after);
uint32_t oche_steps_receive(struct oche_steps *steps, uint32_t from, uint64_t bytes, uint32_t tag,
                            uint32_t after);
/* The operation also waits for the end of `before`; OCHE_NO_STEP: it does not. */
void oche_steps_wait(struct oche_steps *steps, uint32_t operation, uint32_t before);

/* Returns the bytes of part `number` of `count` equal parts; they differ by 1 at most. */
static inline uint64_t oche_part_bytes(uint64_t bytes, uint32_t number, uint32_t count)
{
    return (uint64_t)((unsigned __int128)bytes * (number + 1ULL) / count) -
           (uint64_t)((unsigned __int128)bytes * number / count);
}

/* The algorithms. Each adds the operations of steps->rank. */
void oche_ring_steps(struct oche_steps *steps);
void oche_tree_steps(struct oche_steps *steps);
void oche_halving_doubling_steps(struct oche_steps *steps);
void oche_direct_steps(struct oche_steps *steps);

#endif
