/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PFC did to a network: where PAUSEs began and how they spread, which flows were victims, and
 * whether there was a deadlock; and what was wrong with the routes from the start. Copied from a
 * world that has run.
 */
#ifndef OCHE_LAB_MEASURES_PATHOLOGIES_H
#define OCHE_LAB_MEASURES_PATHOLOGIES_H

#include "sim/world/world.h"

#define OCHE_PATHOLOGY_NAME_BYTES (2 * OCHE_TOPOLOGY_NAME_BYTES)

/* A node of the forest of PAUSEs (sim/measure/pause_tree.h) that deserves a line. */
struct oche_pause_line {
    char port[OCHE_PATHOLOGY_NAME_BYTES]; /* "" if unknown */
    unsigned depth;                       /* 0: a hot spot; else a held port, below its cause */
    uint32_t senders;                     /* for a hot spot: hosts that sent by it in that time */
    uint32_t hidden;                      /* branches directly below it without a line */
    bool returns;                         /* it waits for itself */
    uint64_t pauses;
    oche_time held, first, last;
};

struct oche_pathologies {
    struct oche_pause_line *lines; /* the worst hot spots, each with its worst branches */
    uint32_t line_count;
    uint64_t hot_spots, hot_spots_shown;
    uint64_t unnoted; /* PAUSEs and RESUMEs that are missing in the forest */

    /* About flows that started after warm-up. */
    double share_limit; /* share of its life that a flow must lose to be a victim */
    uint64_t victims;
    double victim_share; /* share of victims among all of them */
    double worst_share;  /* largest share of its life that a flow lost to hot spots elsewhere */
    oche_time worst_lost, worst_life;
    char worst_flow[2 * OCHE_PATHOLOGY_NAME_BYTES]; /* "host4 to host5"; "" if no flow lost any */
    char worst_root[OCHE_PATHOLOGY_NAME_BYTES];     /* where that hot spot is */

    /* Texts; NULL if there is nothing to report. */
    char *deadlock; /* the cycle of ports */
    oche_time deadlock_since, deadlock_noticed;
    uint32_t stuck_ports;
    uint64_t stuck_bytes;
    char *circle;     /* a cycle that the routes make possible */
    char *lost_flows; /* flows that can never arrive */
};

/* Fills it; to be released with oche_pathologies_free. */
void oche_pathologies_take(struct oche_pathologies *pathologies, struct oche_world *world);
void oche_pathologies_free(struct oche_pathologies *pathologies);

/*
 * Returns "deadlock since 1.20ms: a:b → b:a → a:b, class 0; …" as one line (malloc'd); NULL if
 * there is none.
 */
char *oche_pathologies_deadlock_line(const struct oche_pathologies *pathologies);

#endif
