/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations as schedules (sim/graph/goal.h). Sizes are as NCCL's tests count them
 * (NCCL tests, doc/PERFORMANCE.md): of n ranks,
 *
 *   all_reduce                  each rank has `bytes`, and gets their sum
 *   all_gather, reduce_scatter  each rank has, or gets, a block of bytes / n
 *   broadcast                   rank 0 has `bytes`
 *   all_to_all                  each rank has a block of bytes / n for each rank
 *
 * Reductions themselves take no time.
 */
#ifndef OCHE_SIM_GRAPH_COLLECTIVE_H
#define OCHE_SIM_GRAPH_COLLECTIVE_H

#include "sim/graph/goal_write.h"

#define OCHE_NO_PHASE         UINT32_MAX
#define OCHE_PHASE_NAME_BYTES 40

enum oche_collective_operation {
    OCHE_ALL_REDUCE,
    OCHE_ALL_GATHER,
    OCHE_REDUCE_SCATTER,
    OCHE_BROADCAST,
    OCHE_ALL_TO_ALL
};
extern const char *const oche_collective_names[];

enum oche_collective_algorithm {
    OCHE_RING,             /* blocks go from rank to rank; a broadcast is a chain */
    OCHE_TREE,             /* two binary trees, each for half of the bytes */
    OCHE_HALVING_DOUBLING, /* halves are exchanged with ranks ever nearer, then further away */
    OCHE_DIRECT            /* each block goes to its rank at once */
};
extern const char *const oche_algorithm_names[];

struct oche_collective {
    enum oche_collective_operation operation;
    enum oche_collective_algorithm algorithm;
    uint32_t ranks;
    uint64_t bytes;
    uint32_t chunks;     /* a block (tree: half of the bytes) is as many messages, in a pipeline */
    uint32_t window;     /* direct: blocks that a rank sends before it has got one; 0: all */
    uint32_t repeat;     /* the operation, so many times one after the other */
    uint64_t compute_ns; /* each rank calculates for so long before each of them */
};

/*
 * Returns the end of a sentence that says why the operation cannot be done so ("needs …"), or NULL
 * if it can.
 */
const char *oche_collective_unfit(const struct oche_collective *collective);

/*
 * Makes the schedule. *begins and *ends (malloc'd) get, for each rank and repetition, the
 * operations whose ends are the repetition's begin (UINT32_MAX: the rank has none that counts) and
 * end: ends[rank * repeat + repetition]. Returns false, with an error, if there is no room for a
 * temporary file.
 */
bool oche_collective_make(const struct oche_collective *collective, struct oche_goal *goal,
                          uint32_t **begins, uint32_t **ends, struct oche_error *error);

/* ---- among other operations, for readers of programs that have collective operations ---- */

/* Where a rank does its part of a collective operation. */
struct oche_collective_place {
    struct oche_goal_writer *writer; /* within the rank's block */
    /* The ranks of the operation by index; NULL: first_rank + index * stride. */
    const uint32_t *members;
    uint32_t first_rank, stride;
    uint32_t index;     /* of this rank among them */
    uint32_t first_tag; /* the operation has this one and those behind it for its messages */
    uint8_t cpu;        /* stream that its messages take */
};

/*
 * Replaces an algorithm that cannot do the operation by one that can: direct for all_to_all, else
 * ring. Lowers `chunks` if a block has fewer bytes.
 */
void oche_collective_adjust(struct oche_collective *collective);
/* Returns how many tags the operation needs. */
uint64_t oche_collective_tags(const struct oche_collective *collective);
/* Returns how many operations a rank has for it at most. */
uint64_t oche_collective_most(const struct oche_collective *collective);
/*
 * Adds the rank's part, once; `repeat` and `compute_ns` have no meaning. *begin waits for nothing
 * yet, and *end ends when the rank has all that it gets and has sent all that it sends.
 */
void oche_collective_add(const struct oche_collective *collective,
                         const struct oche_collective_place *place, uint32_t *begin, uint32_t *end);

/*
 * Returns the bytes that a rank sends at least over the bytes of the operation: the factor by which
 * bus bandwidth is larger than algorithm bandwidth (bytes over time).
 */
double oche_collective_bus_factor(const struct oche_collective *collective);

/* ---- phases.c ---- */

/*
 * The phases of an algorithm, in their order: the two halves of an all_reduce on a ring, up and
 * down the trees, each step of halving and doubling. Returns how many it has; 0: it has no parts.
 */
uint32_t oche_collective_phases(const struct oche_collective *collective);
/* Writes the name of a phase, such as "halving, distance 4". */
void oche_collective_phase_name(const struct oche_collective *collective, uint32_t phase,
                                char *text, size_t text_bytes);
/* Returns the phase of a message with this tag, or OCHE_NO_PHASE. */
uint32_t oche_collective_phase(const struct oche_collective *collective, uint32_t tag);

#endif
