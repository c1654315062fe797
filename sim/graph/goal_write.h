/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a schedule in its binary form (goal.h), rank by rank, into a temporary file that has no
 * name any more: for readers of other formats, and for schedules that are made. Memory holds the
 * rank that is being written.
 */
#ifndef OCHE_SIM_GRAPH_GOAL_WRITE_H
#define OCHE_SIM_GRAPH_GOAL_WRITE_H

#include "sim/graph/goal.h"

struct oche_goal_writer;

/* Begins a schedule. Returns NULL, with an error, if no temporary file can be made. */
struct oche_goal_writer *oche_goal_write_begin(uint32_t ranks, struct oche_error *error);

/*
 * Adds an operation to the rank that is being written: its type, cpu, nic, peer, tag and size.
 * Returns its number. Ranks and tags must be in their ranges.
 */
uint32_t oche_goal_write_op(struct oche_goal_writer *writer, const struct oche_goal_op *op);
/* Operation `after` of this rank waits for `before`: for its end or, if `start`, for its start. */
void oche_goal_write_edge(struct oche_goal_writer *writer, uint32_t after, uint32_t before,
                          bool start);
/* Returns how many operations the rank has so far. */
uint32_t oche_goal_write_count(const struct oche_goal_writer *writer);
/* Ends the block of a rank, which must be written once. A rank that is not has no operations. */
void oche_goal_write_rank(struct oche_goal_writer *writer, uint32_t rank);

/*
 * Ends the schedule and releases the writer. Returns the file's descriptor, or -1, with an error,
 * if it could not be written.
 */
int oche_goal_write_end(struct oche_goal_writer *writer, struct oche_error *error);
/* Gives the schedule up. */
void oche_goal_write_abort(struct oche_goal_writer *writer);

#endif
