/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PFC did to a network: where PAUSEs began and how they spread, which flows were victims, and
 * whether all came to a stop; and what was wrong with the routes from the start. Taken from a world
 * that has run, and independent of it from then on.
 */
#ifndef OCHE_LAB_MEASURES_PATHOLOGIES_H
#define OCHE_LAB_MEASURES_PATHOLOGIES_H

#include "sim/world/world.h"

#define OCHE_PATHOLOGY_NAME_BYTES (2 * OCHE_TOPOLOGY_NAME_BYTES)

/* A node of the forest of PAUSEs (sim/measure/pause_tree.h) that is worth a line. */
struct oche_pause_line {
    char port[OCHE_PATHOLOGY_NAME_BYTES]; /* "" where it is not known */
    unsigned depth;                       /* 0: a hot spot; else what was held, below its reason */
    uint32_t senders;                     /* a hot spot: hosts that sent by it in that time */
    uint32_t hidden;                      /* branches right below it that have no line */
    bool returns;                         /* it waits for itself */
    uint64_t pauses;
    oche_time held, first, last;
};

struct oche_pathologies {
    struct oche_pause_line *lines; /* the worst hot spots, each with its worst branches */
    uint32_t line_count;
    uint64_t hot_spots, hot_spots_shown;
    uint64_t unnoted; /* PAUSEs and RESUMEs that the forest does not have */

    /* Flows that started after warm-up. */
    double share_limit; /* of its life that a victim has lost, at least */
    uint64_t victims;
    double victim_share; /* of all of them */
    double worst_share;  /* of its life that the worst off lost to hot spots elsewhere */
    oche_time worst_lost, worst_life;
    char worst_flow[2 * OCHE_PATHOLOGY_NAME_BYTES]; /* "host4 to host5"; "" if none lost any */
    char worst_root[OCHE_PATHOLOGY_NAME_BYTES];     /* where that hot spot is */

    /* Texts: NULL if there is nothing to say. */
    char *deadlock; /* the circle of ports */
    oche_time deadlock_since, deadlock_noticed;
    uint32_t stuck_ports;
    uint64_t stuck_bytes;
    char *circle;     /* a circle that routes allow */
    char *lost_flows; /* flows that can never arrive */
};

/* Fills it; oche_pathologies_free frees what it holds. */
void oche_pathologies_take(struct oche_pathologies *pathologies, struct oche_world *world);
void oche_pathologies_free(struct oche_pathologies *pathologies);

/* "deadlock since 1.20ms: a:b → b:a → a:b, class 0; …": one line, malloc'd; NULL without one. */
char *oche_pathologies_deadlock_line(const struct oche_pathologies *pathologies);

#endif
