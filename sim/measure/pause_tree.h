/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where PAUSEs begin, and how far they spread (DCQCN sec 2.2: "cascading"): a forest. A root is
 * the egress port whose queue filled though nothing held it: the hot spot. Below it are the ports
 * that were held because of that queue, below each of these the ports that were held because that
 * one was, and so on, up to hosts.
 *
 * Each PAUSE has one reason: the egress queue that holds most of the bytes of the paused ingress
 * class. If that queue is long because its own peer held it (fabric/holds.c says when), the PAUSE
 * hangs below the one that held it then; else that queue is its root. So a node is a way: the same
 * port may be held for several reasons, and is then at several places.
 *
 * Times are those in which the held port could not send: from when a PAUSE takes effect until the
 * RESUME does. Memory is bounded; what is beyond a bound is still counted, at the nearest node that
 * there is.
 */
#ifndef OCHE_SIM_MEASURE_PAUSE_TREE_H
#define OCHE_SIM_MEASURE_PAUSE_TREE_H

#include "sim/network/pause_notes.h"
#include "sim/topology/walk.h"

#define OCHE_NO_PAUSE_NODE UINT32_MAX

struct oche_pause_node {
    uint32_t parent; /* an earlier node, or OCHE_NO_PAUSE_NODE: a root */
    uint32_t root;   /* of a root: itself */
    uint32_t port;   /* global: of a root the hot spot, else what was held; OCHE_NO_PORT: places
                        that are not known, or too many */
    uint8_t cls;
    uint8_t depth; /* 0: a root */
    bool returns;  /* its own PAUSEs come round to it: it waits for itself */
    /* Since the end of warm-up, for this reason. Of a root: of all below it. */
    uint64_t pauses;
    oche_time held;        /* a root: summed over ports */
    oche_time first, last; /* held for the first time from, for the last time until */
    uint32_t ports;        /* a root: ways below it */
    uint64_t deeper;       /* of `pauses`: those whose own node was one too many */
};

/* A port was held, for one reason; closely following holds may be one. */
struct oche_pause_episode {
    oche_time from, until;
    oche_time held; /* of this time */
    uint32_t node;
};

struct oche_pause_tree_config {
    const struct oche_topology *topology; /* must outlive the tree */
    oche_time switch_response, host_response;
    oche_time from;                     /* end of warm-up */
    uint32_t most_nodes, most_episodes; /* 0: what should do */
};

struct oche_pause_tree;

struct oche_pause_tree *oche_pause_tree_create(const struct oche_pause_tree_config *config);
void oche_pause_tree_free(struct oche_pause_tree *tree);

/*
 * Takes a note; notes come in order of time. While the run goes on, only such that have taken
 * effect, which takes oche_pause_tree_delay at most; the others after oche_pause_tree_end.
 */
void oche_pause_tree_note(struct oche_pause_tree *tree, const struct oche_pause_note *note);
oche_time oche_pause_tree_delay(const struct oche_pause_tree *tree);
/* The run is over at `now`: nothing is held after that. */
void oche_pause_tree_end(struct oche_pause_tree *tree, oche_time now);
/* All notes have been taken. Before any of the following. */
void oche_pause_tree_finish(struct oche_pause_tree *tree);

/* Parents come before their children. */
const struct oche_pause_node *oche_pause_tree_nodes(const struct oche_pause_tree *tree,
                                                    uint32_t *count);
/* A port's episodes in order of time; they do not overlap. */
const struct oche_pause_episode *oche_pause_tree_episodes(const struct oche_pause_tree *tree,
                                                          uint32_t port, unsigned cls,
                                                          uint32_t *count);
/* Holds that are in no episode: there were too many. They are in the nodes all the same. */
uint64_t oche_pause_tree_lost_episodes(const struct oche_pause_tree *tree);

/*
 * The nodes that mean something (held, or with PAUSEs, in the measured time) as a reader wants
 * them: roots with most held time first, each followed by its branches, those likewise. Fills
 * `order`, which has room for all nodes; returns how many.
 */
uint32_t oche_pause_tree_order(const struct oche_pause_tree *tree, uint32_t *order);

#endif
