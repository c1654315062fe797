/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank that goes through its schedule: which operations may run, and which receives have got
 * their messages. It has no clock: the driver says when an operation starts and ends. Its memory is
 * for the operations that wait for another one that has ended, and for ready ones; the rest of the
 * schedule stays in its file.
 */
#ifndef OCHE_SIM_GRAPH_RANK_H
#define OCHE_SIM_GRAPH_RANK_H

#include "sim/graph/goal.h"
#include "sim/graph/match.h"

struct oche_rank;

/* `operations` must outlive the rank. */
struct oche_rank *oche_rank_create(const struct oche_goal_rank *operations);
void oche_rank_free(struct oche_rank *rank);

/*
 * Returns the next operation that waits for nothing any more, in the order in which they became so,
 * and those that never waited first; OCHE_NO_MATCH: there is none now. Each is returned once.
 */
uint32_t oche_rank_next(struct oche_rank *rank);
/* The operation has started: what waits for its start waits no longer. Once for each operation. */
void oche_rank_started(struct oche_rank *rank, uint32_t operation);
/* The operation has ended, after it has started. */
void oche_rank_ended(struct oche_rank *rank, uint32_t operation);

/* True if all operations have ended. */
bool oche_rank_is_done(const struct oche_rank *rank);
uint64_t oche_rank_left(const struct oche_rank *rank);
/* The rank's receives and messages. */
struct oche_match *oche_rank_match(struct oche_rank *rank);

#endif
