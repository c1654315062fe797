/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicator groups of execution traces: lists of ranks with a name, and the collective
 * operations that each has done. The n-th operation of a group is the same on all its ranks.
 */
#ifndef OCHE_SIM_GRAPH_CHAKRA_GROUPS_H
#define OCHE_SIM_GRAPH_CHAKRA_GROUPS_H

#include "sim/graph/chakra/node.h"
#include "sim/graph/schedule_file.h"

struct oche_chakra_groups;

/* Begins with the group of all ranks, whose name is "". */
struct oche_chakra_groups *oche_chakra_groups_create(uint32_t ranks);
void oche_chakra_groups_free(struct oche_chakra_groups *groups);

/*
 * Adds the groups of a file, a JSON object: {"0": [0, 1], "1": [2, 3]}. Returns false, with an
 * error, if it is wrong.
 */
bool oche_chakra_groups_read(struct oche_chakra_groups *groups, const char *path,
                             struct oche_error *error);

/* The next calls are for nodes of this rank. Forgets the groups that only a trace had. */
void oche_chakra_groups_rank(struct oche_chakra_groups *groups, uint32_t rank);
/*
 * Adds the groups of a metadata node, a JSON list in two characters at each end:
 * ['[{"pg_name": "0", "ranks": [0, 1]}]']. They replace others of the same names. Returns false,
 * with a reason, if it is wrong.
 */
bool oche_chakra_groups_define(struct oche_chakra_groups *groups, const char *text,
                               struct oche_error *reason);

/* Part of the current rank in a collective operation. */
struct oche_chakra_part {
    struct oche_collective of;
    const uint32_t *members;
    uint32_t index; /* of the rank in the group */
    uint32_t tag;   /* the first one */
};

/*
 * Takes the next operation of the rank in the group of a collective node. Returns false, with a
 * reason, if the rank is not in the group, or another one of the group does something else there.
 */
bool oche_chakra_groups_take(struct oche_chakra_groups *groups, const struct oche_chakra_node *node,
                             const struct oche_schedule_reading *reading, unsigned *others,
                             struct oche_chakra_part *part, struct oche_error *reason);
/* Returns false, with a reason, if the ranks of a group have done different numbers of operations.
 */
bool oche_chakra_groups_end(const struct oche_chakra_groups *groups, struct oche_error *reason);

#endif
