/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules: for each rank operations (send, receive, calculate) and which of them wait for which.
 * The format is GOAL's (Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, ICPP 2009),
 * as LogGOPSim reads it: text, or binary. Text is translated to binary, in a temporary file, and
 * binary is mapped: memory holds what is near, however long the schedule is.
 *
 * All dependencies are within a rank; ranks meet by messages alone.
 */
#ifndef OCHE_SIM_GRAPH_GOAL_H
#define OCHE_SIM_GRAPH_GOAL_H

#include "core/base.h"
#include "params/error.h"

enum oche_goal_type { OCHE_GOAL_SEND = 1, OCHE_GOAL_RECV = 2, OCHE_GOAL_CALC = 3 };

#define OCHE_GOAL_ANY UINT32_MAX /* any source; any tag */

/* An operation. */
struct oche_goal_op {
    uint8_t type;          /* enum oche_goal_type */
    uint8_t cpu, nic;      /* streams: operations of one stream do not overlap */
    uint32_t dependencies; /* operations that this one waits for */
    uint32_t peer, tag;    /* SEND, RECV; OCHE_GOAL_ANY: RECV of any */
    uint64_t size;         /* SEND, RECV: bytes; CALC: time in ns */
    /* what waits for its end, and for its start: ranges of the rank's list of successors */
    uint32_t end_count, end_first, start_count, start_first;
};

/* The operations of a rank, in the mapped file. */
struct oche_goal_rank {
    uint32_t count, roots; /* operations; those of them that wait for nothing */
    uint32_t successors;
    const uint8_t *root_list, *ops, *successor_list;
};

struct oche_goal {
    uint32_t ranks;
    uint32_t cpus, nics;         /* streams of each rank: all numbers of streams are below */
    uint64_t operations;         /* of all ranks */
    struct oche_goal_rank *rank; /* by number */
    const uint8_t *bytes;        /* mapped */
    size_t length;
    bool to_self; /* ranks may send to themselves */
};

/*
 * Opens a schedule, text or binary, and checks it: numbers are in their ranges, and no operations
 * of a rank wait for each other. Returns false, with one line in `error`, if it is wrong; then
 * there is nothing to close.
 */
bool oche_goal_open(struct oche_goal *goal, const char *path, struct oche_error *error);
/* True if the file begins as a schedule does, text or binary. */
bool oche_goal_is_schedule(const char *path);
/*
 * The same of a binary schedule that we have written, in an open file, which is closed, such as
 * oche_goal_write_end returns; `name` is for errors. Its ranks may send to themselves.
 */
bool oche_goal_adopt(struct oche_goal *goal, int file, const char *name, struct oche_error *error);
void oche_goal_close(struct oche_goal *goal);

/* Returns operation `number` of the rank. */
struct oche_goal_op oche_goal_op(const struct oche_goal_rank *rank, uint32_t number);
/* Returns the number of a root, or of a successor. */
uint32_t oche_goal_root(const struct oche_goal_rank *rank, uint32_t at);
uint32_t oche_goal_successor(const struct oche_goal_rank *rank, uint32_t at);

/* Returns "send" and the like. */
const char *oche_goal_type_name(unsigned type);

/* ---- goal_text.c ---- */

/*
 * Translates a schedule that is text to a binary one in a temporary file, which has no name any
 * more. Returns its descriptor, or -1, with an error that names file and line.
 */
int oche_goal_translate(const char *path, struct oche_error *error);

/* ---- the binary form, little-endian and without padding ---- */

#define OCHE_GOAL_COOKIE UINT64_C(4223)
#define OCHE_GOAL_HEADER                                                                           \
    14 /* bytes before the table of ranks: cookie, ranks, highest cpu and nic */
#define OCHE_GOAL_RANK_BYTES                                                                       \
    16                         /* of a row of the table: where the rank's block begins and ends    \
                                */
#define OCHE_GOAL_OFFSET     8 /* such places count from behind the cookie */
#define OCHE_GOAL_OP_BYTES   39
#define OCHE_GOAL_MOST_RANKS (1U << 20)

#endif
