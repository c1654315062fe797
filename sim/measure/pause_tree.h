/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where PAUSEs begin and how far they spread (DCQCN sec 2.2: "cascading"), as a forest. A root is
 * an egress port whose queue filled although nothing held it: the hot spot. Below it are the ports
 * that were held because of that queue, below each of them the ports that were held because it was,
 * and so on, up to hosts.
 *
 * Each PAUSE has one cause: the egress queue that holds most bytes of the paused ingress class. If
 * that queue is long because its own peer held it (fabric/holds.c tells when), the PAUSE is placed
 * below the one that held the queue; else that queue is its root. So a node stands for a path
 * through the tree: a port that is held for several reasons appears at several places.
 *
 * Times are those in which the held port could not send: from when a PAUSE takes effect until the
 * RESUME does. Memory is bounded; what exceeds a bound is still counted, at the nearest existing
 * node.
 */
#ifndef OCHE_SIM_MEASURE_PAUSE_TREE_H
#define OCHE_SIM_MEASURE_PAUSE_TREE_H

#include "sim/network/pause_notes.h"
#include "sim/topology/walk.h"

#define OCHE_NO_PAUSE_NODE UINT32_MAX

struct oche_pause_node {
    uint32_t parent; /* an earlier node, or OCHE_NO_PAUSE_NODE: a root */
    uint32_t root;   /* for a root: itself */
    uint32_t port;   /* global; a root: the hot spot, else the held port; OCHE_NO_PORT: causes that
                        are unknown, or too many */
    uint8_t cls;
    uint8_t depth; /* 0: a root */
    bool returns;  /* its own PAUSEs lead back to it: it waits for itself */
    /* Since the end of warm-up, for this cause. For a root: of all nodes below it. */
    uint64_t pauses;
    oche_time held; /* for a root: summed over ports */
    oche_time first,
        last;        /* when it was held for the first time, and until when for the last time */
    uint32_t ports;  /* for a root: number of nodes below it */
    uint64_t deeper; /* how many of `pauses` belong to nodes for which there was no room */
};

/*
 * A time in which a port was held for one cause. Holds that follow each other closely may be
 * merged.
 */
struct oche_pause_episode {
    oche_time from, until;
    oche_time held; /* how much of this time it was held */
    uint32_t node;
};

struct oche_pause_tree_config {
    const struct oche_topology *topology; /* must outlive the tree */
    oche_time switch_response, host_response;
    oche_time from;                     /* end of warm-up */
    uint32_t most_nodes, most_episodes; /* 0: a sensible default */
};

struct oche_pause_tree;

struct oche_pause_tree *oche_pause_tree_create(const struct oche_pause_tree_config *config);
void oche_pause_tree_free(struct oche_pause_tree *tree);

/*
 * Adds a note; notes must come in order of time. During the run only notes that have taken effect
 * may be added, which takes at most oche_pause_tree_delay; the rest are added after
 * oche_pause_tree_end.
 */
void oche_pause_tree_note(struct oche_pause_tree *tree, const struct oche_pause_note *note);
oche_time oche_pause_tree_delay(const struct oche_pause_tree *tree);
/* The run has ended at `now`: nothing is held after that. */
void oche_pause_tree_end(struct oche_pause_tree *tree, oche_time now);
/* All notes have been added. To be called before any of the following. */
void oche_pause_tree_finish(struct oche_pause_tree *tree);

/* Returns the nodes; parents come before their children. */
const struct oche_pause_node *oche_pause_tree_nodes(const struct oche_pause_tree *tree,
                                                    uint32_t *count);
/* Returns a port's episodes in order of time; they do not overlap. */
const struct oche_pause_episode *oche_pause_tree_episodes(const struct oche_pause_tree *tree,
                                                          uint32_t port, unsigned cls,
                                                          uint32_t *count);
/*
 * Returns the number of holds that are in no episode because there were too many. The nodes still
 * count them.
 */
uint64_t oche_pause_tree_lost_episodes(const struct oche_pause_tree *tree);

/*
 * Orders the nodes that matter (held, or with PAUSEs, in the measured time) for a reader: roots
 * with the longest held time first, each followed by its branches, in the same order. Fills
 * `order`, which has room for all nodes; returns how many there are.
 */
uint32_t oche_pause_tree_order(const struct oche_pause_tree *tree, uint32_t *order);

#endif
