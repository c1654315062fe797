/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a schedule by the LogGOPS model (Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010): a
 * network without contention, as a formula. It says how long a schedule takes at least, and whether
 * it ends.
 *
 * A send takes its cpu for o + (bytes - 1) O and its nic for g + (bytes - 1) G; the first byte
 * arrives o + L after its start. An arriving message takes the receiver's cpu for o + (bytes - 1)
 * max(O, G), and its nic for g + (bytes - 1) G, whether a receive waits or not. A send of at most S
 * bytes ends when it starts; a longer one when its receive is posted and its message has come.
 */
#ifndef OCHE_LAB_LOGGOPS_LOGGOPS_H
#define OCHE_LAB_LOGGOPS_LOGGOPS_H

#include "core/param.h"
#include "sim/graph/goal.h"

/* Times in ns, and in ns a byte. */
struct oche_loggops {
    uint64_t L, o, g, G, O, S; /* S: bytes */
    /*
     * Operations end when their cpu is free again. Else they end for others when they start, as in
     * LogGOPSim: what waits for them waits for their cpu only if it uses the same one.
     */
    bool whole;
};
/* LogGOPSim's defaults. */
#define OCHE_LOGGOPS_DEFAULT                                                                       \
    {                                                                                              \
        .L = 2500, .o = 1500, .g = 1000, .G = 6, .O = 0, .S = 65535                                \
    }

struct oche_loggops_result {
    uint64_t end_ns;     /* when the last rank is done */
    uint64_t *rank_ns;   /* by rank: when it is done; malloc'd */
    uint64_t operations; /* that have ended */
    /* 0 if the schedule ends: operations that are left; receives and messages that wait */
    uint64_t left, receives, messages;
    uint32_t receiver;            /* the rank of the first receive that waits */
    uint32_t receive;             /* its number */
    uint32_t sender, target, tag; /* the first message that waits */
};

/* Runs the schedule to its end, or until nothing can happen any more. */
void oche_loggops_run(const struct oche_goal *goal, const struct oche_loggops *model,
                      struct oche_loggops_result *result);

#endif
