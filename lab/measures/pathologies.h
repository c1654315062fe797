/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effects of PFC on a network: where PAUSEs began and how they spread, which flows were
 * victims, and if there was a deadlock. Also, if the routes can lead to a deadlock or lose flows.
 * Copied from a world that has run.
 */
#ifndef OCHE_LAB_MEASURES_PATHOLOGIES_H
#define OCHE_LAB_MEASURES_PATHOLOGIES_H

#include "sim/world/world.h"

#define OCHE_PATHOLOGY_NAME_BYTES OCHE_PORT_NAME_BYTES

/* A node of the forest of PAUSEs (sim/measure/pause_tree.h), as one line of the report. */
struct oche_pause_line {
    char port[OCHE_PATHOLOGY_NAME_BYTES]; /* name of the port; "" if unknown */
    /* 0: a hot spot; n > 0: a held port, n steps from the hot spot */
    unsigned depth;
    uint8_t cls; /* the class that was paused */
    /* hot spot: number of hosts that sent through it between `first` and `last` */
    uint32_t senders;
    /* number of branches directly below this node that are not shown */
    uint32_t hidden;
    bool returns; /* the port waits for itself, in a cycle */
    uint64_t pauses;
    oche_time held, first, last;
};

struct oche_pathologies {
    struct oche_pause_line *lines; /* the worst hot spots, each with its worst branches */
    uint32_t line_count;
    uint64_t hot_spots, hot_spots_shown;
    uint64_t unnoted; /* number of PAUSEs and RESUMEs that are missing in the forest */

    /* Counts and shares of the flows that started after warm-up. */
    double share_limit; /* share of its duration that a flow must lose to count as a victim */
    uint64_t victims;
    double victim_share; /* victims / measured flows */
    double worst_share;  /* largest share of its duration that a flow lost to hot spots elsewhere */
    oche_time worst_lost, worst_life;
    /* the flow of worst_share: "host4 to host5"; "" if no flow lost time */
    char worst_flow[2 * OCHE_PATHOLOGY_NAME_BYTES];
    /* name of the hot spot to which this flow lost the most time */
    char worst_root[OCHE_PATHOLOGY_NAME_BYTES];

    /* Texts, malloc'd; NULL if there is nothing to report. */
    char *deadlock; /* the cycle of ports */
    oche_time deadlock_since, deadlock_noticed;
    uint32_t stuck_ports;
    uint64_t stuck_bytes;
    /* the waiting ports and flows, at the end of a run without duration that did not deliver all */
    char *waiting;
    bool at_bound;    /* the run reached its maximum length; false: deliveries had stopped */
    char *circle;     /* a cycle of ports that the routes make possible */
    char *lost_flows; /* flows that can never arrive by the routes */
};

/* Fills `pathologies` from a world that has run; oche_pathologies_free frees its contents. */
void oche_pathologies_take(struct oche_pathologies *pathologies, struct oche_world *world);
void oche_pathologies_free(struct oche_pathologies *pathologies);

/*
 * Returns one line (malloc'd) on a deadlock, such as "deadlock since 1.20ms: a:b → b:a → a:b, class
 * 0; …", or on a run that stalled or ended at its bound; NULL if it did none of these.
 */
char *oche_pathologies_stop_line(const struct oche_pathologies *pathologies);

#endif
