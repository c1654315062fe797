/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks: processes that run one network together, on one machine or on several. Each rank makes the
 * whole network from the scenario, but only the devices of its own shard, whose number is the
 * rank's. The shards of the others hold no events here, only the counters that their ranks report.
 *
 * Ranks run the same windows as threads do (team.h), and the same function of all reports tells
 * each of them the next window. After a window each sends one message to each other rank: its
 * report, the packets that crossed to that rank, and what became of flows that end there. So all
 * know whether to check when the window has ended, and none runs past a window at which the run may
 * end. These are the checks, and how they see the other ranks' part:
 *
 *   causes of timeouts         a report counts losses and timeouts: all ranks get all of both, and
 *                              what the ends of the connections concerned tell (timeout_causes.c)
 *   PAUSEs, victims            rank 0 gets the notes at the time of checks.at (pauses.c)
 *   deadlock                   ranks exchange which ports are held, strike off ports of their own
 *                              switches, and exchange what is left, until none changes (deadlock.c)
 *   all is delivered           reports have the completed flows; whether bytes are still under way,
 *                              each says of the flows that begin there (run/run.c)
 *   flows out of memory        each for itself
 *   a stall, what is cut off   sums of what each says of its own flows, links and hosts (stall.c)
 *   samples                    sums of what each reads from its devices (series.c)
 *   progress, an interrupt     flags in a report: one rank asks, all check
 *   results                    after the run rank 0 gets what the other ranks counted (readings.h)
 *
 * Packets return to the pool of the rank that receives them, and none is given away.
 */
#ifndef OCHE_SIM_NETWORK_RANKS_H
#define OCHE_SIM_NETWORK_RANKS_H

#include "sim/network/flow_notes.h"
#include "sim/network/network.h"
#include "sim/network/rank_mail.h"

/* The report of a rank to all others after a window. */
struct oche_rank_report {
    oche_time end;  /* end of the window */
    oche_time next; /* time of the rank's own next event */
    /* arrival of the first packet that it sent to others; OCHE_NEVER: none */
    oche_time crosses_from;
    uint64_t flows, awaited, hops, events, windows; /* so far */
    int64_t taken;                                  /* packets */
    uint64_t mishaps;                               /* losses and timeouts not yet judged */
    uint32_t flags;
    uint32_t packets, notes; /* number of packets and notes that follow in this message */
    uint32_t unused;
};

/* Counts of this rank's exchanges with other ranks. */
struct oche_rank_counts {
    uint64_t windows; /* exchanges of reports */
    uint64_t packets; /* sent to other ranks */
    uint64_t bytes;   /* sent to other ranks after windows, reports included */
    uint64_t most;    /* most bytes in one message */
    uint64_t checks;  /* exchanges for checks and results */
    uint64_t check_bytes;
    uint64_t waited_ns; /* for others' messages */
};

/* The summary of all reports. Each rank computes it for itself, and all get the same. */
struct oche_rank_sum {
    /* end of the windows; time of the soonest event; of other ranks' soonest event */
    oche_time end, soonest, others;
    uint32_t first, flags; /* the rank with the soonest event; flags of all ranks */
    uint64_t flows, awaited;
};

struct oche_ranks {
    struct oche_rank_mail *mail;
    uint32_t rank, count;
    struct oche_network *network;
    struct oche_flows *flows;
    struct oche_rank_bytes *out, *in; /* by rank: messages of windows and checks */
    struct oche_rank_bytes *same;     /* by rank: the same message for all */
    struct oche_rank_report *reports; /* the last report of each rank */
    struct oche_rank_sum sum;         /* of these */
    bool told;                        /* there are reports */
    struct oche_flow_notes notes;     /* notes of this rank's hosts, in this window */
    struct oche_rank_counts counts;
    /* sums over all ranks, after the run; `windows` and `most`: the largest of a rank */
    struct oche_rank_counts of_all;
    uint64_t unchecked; /* windows since the run was looked at; kept by rank 0 */
    bool interrupted;   /* some rank is to end the run */
};

/*
 * Makes network->ranks. The network must have one shard per rank, and each node must have its
 * shard. `mail` must outlive the ranks.
 */
void oche_ranks_create(struct oche_network *network, struct oche_flows *flows,
                       struct oche_rank_mail *mail);
void oche_ranks_free(struct oche_ranks *ranks); /* NULL: does nothing */

/* True if this process has the devices of the node. */
static inline bool oche_network_has(const struct oche_network *network, uint32_t node)
{
    return network->ranks == NULL || network->nodes[node].shard == network->ranks->rank;
}

/* Sums up, in of_all, what all ranks have counted. */
void oche_ranks_sum_counts(struct oche_ranks *ranks);

/* Does the work of oche_network_run, which calls it. All ranks must call it. */
void oche_ranks_run(struct oche_ranks *ranks, oche_time until, oche_network_check *check,
                    void *context);

/* True if losses or timeouts of any rank are to be judged. */
bool oche_ranks_have_mishaps(const struct oche_ranks *ranks);

/* ---- exchanges for checks: all ranks call the same ones in the same order ---- */

/* Return a message to rank `to`, or to all, which is empty at first. */
struct oche_rank_bytes *oche_ranks_to(struct oche_ranks *ranks, uint32_t to);
/*
 * Sends each rank its message. Afterwards oche_ranks_from returns what rank `from` sent, and this
 * rank's own message to itself is what it put for itself.
 */
void oche_ranks_exchange(struct oche_ranks *ranks);
/* Like oche_ranks_exchange, but the message for rank 0 goes to all ranks. */
void oche_ranks_share(struct oche_ranks *ranks);
struct oche_rank_bytes *oche_ranks_from(struct oche_ranks *ranks, uint32_t from);

/*
 * Replace each value by its sum over all ranks. NULL: there is only one process, so nothing
 * changes.
 */
void oche_ranks_sum(struct oche_ranks *ranks, uint64_t *values, size_t count);
/* Like oche_ranks_sum, for reals. Each real may differ from 0 at one rank only. */
void oche_ranks_sum_reals(struct oche_ranks *ranks, double *values, size_t count);
/* Return whether it is true at any rank, or at all. */
bool oche_ranks_any(struct oche_ranks *ranks, bool here);
static inline bool oche_ranks_all(struct oche_ranks *ranks, bool here)
{
    return !oche_ranks_any(ranks, !here);
}

#endif
