/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where PAUSEs begin and how far they spread (DCQCN sec 2.2: "cascading"), as a forest. A root is a
 * hot spot: an egress port whose queue filled although no PAUSE held the port. The children of a
 * root are the ports that were held because of the root's queue. The children of a held port are
 * the ports that were held because this port could not send; and so on, up to hosts.
 *
 * Each PAUSE has one cause: the egress queue that holds most bytes of the paused ingress class. If
 * the queue is long because an earlier PAUSE held its port (fabric/holds.c tells when), the new
 * PAUSE is placed below the node of the earlier one. Otherwise the queue's port is the root for the
 * new PAUSE. A port that is held for several reasons has several nodes.
 *
 * A hold begins when a PAUSE takes effect at the port and ends when the RESUME takes effect. Memory
 * is bounded: PAUSEs for which there is no room count at the nearest existing node.
 */
#ifndef OCHE_SIM_MEASURE_PAUSE_TREE_H
#define OCHE_SIM_MEASURE_PAUSE_TREE_H

#include "sim/network/pause_notes.h"
#include "sim/topology/walk.h"

#define OCHE_NO_PAUSE_NODE UINT32_MAX

struct oche_pause_node {
    uint32_t parent; /* an earlier node, or OCHE_NO_PAUSE_NODE: a root */
    uint32_t root;   /* the node's root; for a root, its own number */
    uint32_t port;   /* global; a root: the hot spot, else the held port; OCHE_NO_PORT: causes that
                        are unknown, or too many */
    uint8_t cls;
    uint8_t depth; /* 0: a root */
    bool returns;  /* the port is held because of PAUSEs that it caused itself: a cycle */
    /*
     * The following count from the end of warm-up. A root has the combined values of all nodes
     * below it.
     */
    uint64_t pauses;
    oche_time held;        /* for a root: the sum over the nodes below it */
    oche_time first, last; /* begin of the first hold, end of the last hold */
    uint32_t ports;        /* for a root: number of nodes below it */
    uint64_t deeper;       /* PAUSEs in `pauses` that belong to nodes further below */
};

/*
 * A time in which a port was held for one cause. Holds with short gaps between them may be merged
 * into one episode.
 */
struct oche_pause_episode {
    oche_time from, until;
    oche_time held; /* without the gaps between merged holds */
    uint32_t node;
};

struct oche_pause_tree_config {
    const struct oche_topology *topology; /* must outlive the tree */
    oche_time switch_response, host_response;
    oche_time from;                     /* end of warm-up */
    uint32_t most_nodes, most_episodes; /* 0: the default */
};

struct oche_pause_tree;

struct oche_pause_tree *oche_pause_tree_create(const struct oche_pause_tree_config *config);
void oche_pause_tree_free(struct oche_pause_tree *tree);

/*
 * Adds a note; notes must come in order of time. During the run, a note may be added only after its
 * PAUSE or RESUME has taken effect, at most oche_pause_tree_delay later; the rest are added after
 * oche_pause_tree_end.
 */
void oche_pause_tree_note(struct oche_pause_tree *tree, const struct oche_pause_note *note);
oche_time oche_pause_tree_delay(const struct oche_pause_tree *tree);
/* To be called when the run ends, at `now`: all holds end then. */
void oche_pause_tree_end(struct oche_pause_tree *tree, oche_time now);
/* To be called after the last note, and before the functions below. */
void oche_pause_tree_finish(struct oche_pause_tree *tree);

/* Returns the nodes; parents come before their children. */
const struct oche_pause_node *oche_pause_tree_nodes(const struct oche_pause_tree *tree,
                                                    uint32_t *count);
/* Returns a port's episodes in order of time; they do not overlap. */
const struct oche_pause_episode *oche_pause_tree_episodes(const struct oche_pause_tree *tree,
                                                          uint32_t port, unsigned cls,
                                                          uint32_t *count);
/*
 * Returns the number of holds that no episode includes because there was no room. The nodes do
 * include these holds.
 */
uint64_t oche_pause_tree_lost_episodes(const struct oche_pause_tree *tree);

/*
 * Sorts the nodes for a reader: roots by held time, longest first, each followed by its branches,
 * sorted likewise. Leaves out nodes with no hold and no PAUSE in the measured time, at themselves
 * or below. Fills `order`, which has room for all nodes, with node numbers; returns how many.
 */
uint32_t oche_pause_tree_order(const struct oche_pause_tree *tree, uint32_t *order);

#endif
