/* SPDX-License-Identifier: Apache-2.0 */
/* A node of an execution trace, out of its message. */
#ifndef OCHE_SIM_GRAPH_CHAKRA_NODE_H
#define OCHE_SIM_GRAPH_CHAKRA_NODE_H

#include "core/base.h"
#include "params/error.h"
#include "sim/graph/collective/collective.h"

#define OCHE_CHAKRA_MOST_BYTES (UINT64_C(1) << 44)
#define OCHE_CHAKRA_MOST_TAG                                                                       \
    ((UINT32_C(1) << 31) - 1) /* tags above are for collective operations */

enum oche_chakra_type {
    OCHE_CHAKRA_NOTHING, /* takes no time */
    OCHE_CHAKRA_MEMORY,
    OCHE_CHAKRA_COMPUTE,
    OCHE_CHAKRA_SEND,
    OCHE_CHAKRA_RECEIVE,
    OCHE_CHAKRA_COLLECTIVE
};

struct oche_chakra_node {
    uint64_t id;
    enum oche_chakra_type type;
    enum oche_collective_operation operation; /* COLLECTIVE */
    bool barrier;                             /* COLLECTIVE: an all_reduce of nothing */
    bool on_cpu;                              /* COMPUTE */
    bool launch;                              /* COMPUTE: the CPU's part of a communication */
    bool untimed;                             /* COMPUTE: num_ops, and no duration */
    bool some_dims;                           /* COLLECTIVE: not all of involved_dim */
    uint64_t ns;                              /* MEMORY, COMPUTE */
    uint64_t bytes;                           /* SEND, RECEIVE, COLLECTIVE: comm_size */
    int64_t peer, tag;                        /* SEND, RECEIVE; peer -1: not given */
    char *group;                              /* COLLECTIVE: pg_name, malloc'd; NULL: all ranks */
    char *groups;   /* NOTHING: text that defines groups, malloc'd, or NULL */
    uint64_t *deps; /* ids, malloc'd: data_deps, then ctrl_deps */
    uint32_t data_count, count;
};

/*
 * Reads the first message of a file. Returns false, with a reason, if it is none, or of a schema
 * that is not read.
 */
bool oche_chakra_head(const uint8_t *bytes, size_t count, struct oche_error *reason);

/*
 * Reads a node of rank `rank`. Returns false, with a reason that names the node, if it is wrong;
 * then there is nothing to free.
 */
bool oche_chakra_node(const uint8_t *bytes, size_t count, uint32_t rank,
                      struct oche_chakra_node *node, struct oche_error *reason);
void oche_chakra_node_free(struct oche_chakra_node *node);

#endif
