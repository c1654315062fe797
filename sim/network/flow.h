/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: what applications send, fixed before the run, and the results. Flows of a source
 * (flow_source.h) are made during the run: the plans, results and connections of flows that are
 * not made yet cost no memory, as long as nobody reads them; those of many flows that are over are
 * in a file (flow_rest.c). A flow starts at a given time, or when another flow is completed
 * (acknowledged at its sender) or delivered (its last byte has arrived at its receiver). In the
 * latter two cases the next flow starts at the node where that happens, so no node reads another
 * node's state.
 *
 * Data goes from a flow's source to its destination, whoever asks for it. The host that posts the
 * work is the source or, for a READ, the destination (oche_flow_poster).
 */
#ifndef OCHE_SIM_NETWORK_FLOW_H
#define OCHE_SIM_NETWORK_FLOW_H

#include "core/base.h"
#include "core/wire/extension.h"
#include "params/error.h"
#include "sim/network/flow_plan.h"
#include "sim/network/flow_source.h"

/*
 * Which flows share a queue pair. A chain is a sequence of flows between the same two hosts in
 * which each flow starts when the previous flow is completed at the sender.
 */
enum oche_connections {
    OCHE_CONNECTION_PER_FLOW,
    OCHE_CONNECTION_PER_PAIR,
    OCHE_CONNECTION_PER_CHAIN
};

/* Groups: flows that an application starts together to one receiver, as lists of their senders. */
struct oche_flow_groups {
    uint32_t *members; /* host numbers */
    uint32_t *first;   /* group g has members[first[g - 1]] to members[first[g] - 1] */
    uint32_t count, member_count;
};

/* Results of a flow that the node of the host that posts it writes. */
struct oche_flow_sent {
    oche_time started, completed; /* OCHE_NEVER: has not happened */
    /*
     * Counted on the flow's connection since the connection's previous flow completed; until the
     * flow completes, or the run is over, 0.
     */
    uint64_t retransmitted_packets;
    uint32_t timeouts;
    uint32_t failed; /* enum oche_status of the completion, 0: success */
};

/* Results of a flow that its destination's node writes. */
struct oche_flow_received {
    /* when the last byte arrived and, with host.dma_latency, was in memory; OCHE_NEVER: not yet */
    oche_time delivered;
    bool arrived; /* with host.dma_latency: the last byte has arrived */
    /* its end was lost for good, although later bytes of the connection have arrived */
    bool passed_over;
};

/*
 * The path that a flow's packets took, counted over the packets that arrived. Written by the
 * destination's node.
 */
struct oche_flow_path {
    uint64_t links;   /* links crossed, summed over packets */
    uint64_t packets; /* packets with data, including retransmissions */
    uint64_t marked;  /* packets with data that had the CE mark */
    /* of these, packets whose mark the receiver did not answer: enum oche_cc_marks has why */
    uint64_t suppressed, undecided;
    uint8_t deflections; /* the most deflections that one packet had */
    uint32_t last_psn;   /* the highest PSN of these packets; valid if there are any */
};

/*
 * A connection: one queue pair at each end, both with the same number. Each member that changes has
 * one writer: the host that posts (the poster), the destination, or the source.
 */
struct oche_connection {
    uint32_t src, dst;
    bool priority;  /* true: all flows of the connection have priority; false: no flow has */
    bool reads;     /* true: all flows of the connection are READs; false: no flow is */
    uint8_t tenant; /* tenant of all flows of the connection */
    bool answered;  /* a READ: the source has given up its queue pair; written by the source */
    uint32_t first; /* the connection's flows are order[first … first + count) */
    uint32_t count;
    uint32_t released; /* flows that the NIC may have by now, host_latency.h; by the poster */
    uint64_t bytes;    /* bytes of all its flows */
    uint32_t queued; /* flows started; only order[first … first + queued) is valid; written by the
                        poster */
    uint32_t posted; /* flows given to the queue pair completely; written by the poster */
    uint32_t timeouts;          /* timeouts of the completed flows; written by the poster */
    uint32_t completed;         /* flows completed; written by the poster */
    uint64_t retransmitted;     /* packets resent for the completed flows; written by the poster */
    uint32_t delivered;         /* flows delivered or passed over; written by the destination */
    uint16_t parts_posted;      /* messages posted of flow order[first + posted]; by the poster */
    uint16_t parts_delivered;   /* messages delivered of the flow that is being received; written by
                                   the destination */
    uint64_t packets_delivered; /* packets of the delivered messages; written by the destination */
};
_Static_assert(sizeof(struct oche_connection) <= 72, "there may be one for each flow");

/* Returns the host that posts the connection's flows, and the host at its other end. */
static inline uint32_t oche_connection_poster(const struct oche_connection *connection)
{
    return connection->reads ? connection->dst : connection->src;
}

static inline uint32_t oche_connection_peer(const struct oche_connection *connection)
{
    return connection->reads ? connection->src : connection->dst;
}

/* The flows with a start time that one host has yet to start. */
struct oche_flow_starts {
    uint32_t next, end; /* flows->by_start[next … end) */
    uint32_t *sources;  /* sources whose next flow is made, as a heap by start and number */
    uint32_t source_count;
};

/* Arrays with an entry for each flow are of oche_sparse_take. */
struct oche_flows {
    const struct oche_flow_plan *plan;
    struct oche_flow_plan *owned_plan;
    struct oche_flow_sent *sent;
    struct oche_flow_received *received;
    struct oche_flow_path *paths; /* one per flow; NULL: not recorded */
    uint32_t count;               /* all flows, also those that are not made yet */
    struct oche_flow_sources sources;
    struct oche_connection *connections;
    uint32_t connection_count;
    uint64_t most_bytes;           /* bytes of the largest flow */
    bool writes, sends, reads;     /* there are flows of this verb */
    struct oche_flow_pairs *pairs; /* connections by pair of hosts; NULL: no source asks */
    /* sources that give each flow a connection of its own, in order */
    uint32_t *each;
    uint32_t each_count;
    uint32_t *order;                 /* flows of each connection, in the order they were posted */
    uint32_t *by_start;              /* listed flows with a start, by (source, time, number) */
    struct oche_flow_starts *starts; /* one per host */
    uint32_t *start_sources;         /* memory of starts[…].sources */
    uint32_t *host_connections;      /* per host: number of connections that begin or end there */
    struct oche_flow_groups groups;  /* set by oche_flows_set_groups */
    /* the groups in the form that packets carry: group g is incasts[g - 1] */
    struct oche_group *incasts;
    uint8_t *incast_members;
    struct oche_flow_rest *rest; /* flows that have been moved to a file; NULL: none */
};

/*
 * True if the flow is made: its plan and results can be read. A flow that started is made. Does not
 * read the flow's own memory: reading memory that was never written may cost as much as writing it.
 */
static inline bool oche_flow_is_made(const struct oche_flows *flows, uint32_t flow)
{
    const struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, flow);

    return source == NULL || oche_flow_source_has_made(source, flow - source->first);
}

/* True if the flow has started. */
static inline bool oche_flow_has_started(const struct oche_flows *flows, uint32_t flow)
{
    return oche_flow_is_made(flows, flow) && flows->sent[flow].started != OCHE_NEVER;
}

/* Returns the senders of a group (numbered from 1), and their number in `count`. */
static inline const uint32_t *oche_flow_group(const struct oche_flow_groups *groups, uint32_t group,
                                              uint32_t *count)
{
    OCHE_MUST(group >= 1 && group <= groups->count);
    *count = groups->first[group] - groups->first[group - 1];
    return groups->members + groups->first[group - 1];
}

/*
 * Takes over `plan` (of oche_sparse_take, `count` flows) and the sources of those flows that are
 * not in it, and prepares them: assigns connections (one per flow, per ordered pair of hosts, or
 * per chain) and the start order. Returns false, with one line in `error`, if the plan cannot be
 * run.
 */
bool oche_flows_prepare(struct oche_flows *flows, struct oche_flow_plan *plan, uint32_t count,
                        const struct oche_flow_sources *sources, uint32_t host_count,
                        enum oche_connections per, struct oche_error *error);
/* Takes over the groups (malloc'd). To be called after oche_flows_prepare. */
void oche_flows_set_groups(struct oche_flows *flows, const struct oche_flow_groups *groups);

/*
 * Returns the flow's group in the form that packets carry, with the senders in rising order.
 * Returns NULL if the flow has no group or is alone in its group, or if packets cannot name the
 * group because it has more than OCHE_GROUP_MOST senders or a host number above 65535.
 */
static inline const struct oche_group *oche_flow_incast(const struct oche_flows *flows,
                                                        uint32_t flow)
{
    uint32_t group = flows->plan[flow].group;

    return group == 0 || flows->incasts == NULL || flows->incasts[group - 1].count < 2
               ? NULL
               : &flows->incasts[group - 1];
}

/*
 * If connection `number` belongs to a source that gives each flow a connection of its own, returns
 * this source; else NULL.
 */
const struct oche_flow_source *oche_flows_source_of_connection(const struct oche_flows *flows,
                                                               uint32_t number);
/*
 * Returns the first connection that is made with a number of at least `from`; connection_count:
 * none. One that a flow of a source has for itself is made with the flow, others before the run.
 */
uint32_t oche_flows_next_connection(const struct oche_flows *flows, uint32_t from);
/* for (OCHE_EACH_MADE_CONNECTION(i, flows)) …, in order of their numbers */
#define OCHE_EACH_MADE_CONNECTION(i, flows)                                                        \
    uint32_t i = oche_flows_next_connection(flows, 0);                                             \
    i < (flows)->connection_count;                                                                 \
    i = oche_flows_next_connection(flows, i + 1)

/* Returns connection `number` if it goes from `src` to `dst`; else NULL. */
const struct oche_connection *oche_flows_connection(const struct oche_flows *flows, uint32_t number,
                                                    uint32_t src, uint32_t dst);
/* Returns the total bytes of the connection's flows that are completely delivered. */
uint64_t oche_flows_delivered(const struct oche_flows *flows,
                              const struct oche_connection *connection);

/* Returns how many flows are made. */
uint32_t oche_flows_made(const struct oche_flows *flows);
/* Returns the first flow that is made with a number of at least `from`; flows->count: none. */
uint32_t oche_flows_next_made(const struct oche_flows *flows, uint32_t from);
/* for (OCHE_EACH_MADE_FLOW(i, flows)) …, in order of their numbers */
#define OCHE_EACH_MADE_FLOW(i, flows)                                                              \
    uint32_t i = oche_flows_next_made(flows, 0);                                                   \
    i < (flows)->count;                                                                            \
    i = oche_flows_next_made(flows, i + 1)

/*
 * Goes through the plans of all flows in order of their numbers. Flows that are not made yet are
 * drawn for this alone.
 */
struct oche_flow_walk {
    const struct oche_flows *flows;
    uint32_t number; /* number of the flow that was returned last */
    uint32_t next;
    uint32_t source;                 /* index of the one that has flow `number`, or is next */
    struct oche_flow_source drawing; /* a copy of a source, at the flow before `next` */
    struct oche_flow_plan plan;
};
struct oche_flow_walk oche_flow_walk(const struct oche_flows *flows);
/* Returns the next plan, valid until the next call; NULL after the last one. */
const struct oche_flow_plan *oche_flow_walk_next(struct oche_flow_walk *walk);
/* Returns the plan of any flow, whether it is made or not. */
struct oche_flow_plan oche_flows_plan(const struct oche_flows *flows, uint32_t number);

/* ---- flow_rest.c: flows that are over ---- */

/*
 * Moves plans, results and connections of flows that are over to a file, from where they are read
 * as before. `over`: how many flows are completed. To be called while no host is at work.
 */
void oche_flows_move_over(struct oche_flows *flows, uint64_t over);
/* Returns how many flows must be completed before that does anything. */
uint64_t oche_flows_next_move(const struct oche_flows *flows);
/*
 * To be called by who reads flows, or connections, in order, before each: gives back the memory
 * that reading those before it has taken.
 */
void oche_flows_read_flow(const struct oche_flows *flows, uint32_t flow);
void oche_flows_read_connection(const struct oche_flows *flows, uint32_t connection);
void oche_flows_free_rest(struct oche_flows *flows);

/* ---- for hosts ---- */

/*
 * Makes flow `number`, the next flow of a chain, if it is not made. To be called by the host that
 * posts it.
 */
void oche_flows_make_follower(struct oche_flows *flows, uint32_t number);
/* Makes flow `number` of a source with `at`, if it is not made. To be called by its sender's host.
 */
void oche_flows_make_at(struct oche_flows *flows, uint32_t number);
/* Returns when the host has a flow to start; OCHE_NEVER: it has none. */
oche_time oche_flows_next_start(const struct oche_flows *flows, uint32_t host);
/* Takes out the host's next flow to start; there must be one. */
uint32_t oche_flows_take_start(struct oche_flows *flows, uint32_t host);

void oche_flows_free(struct oche_flows *flows);
void oche_flow_groups_free(struct oche_flow_groups *groups);

/*
 * Returns the number of the flow's bytes that the application has produced `age` after the flow's
 * start.
 */
uint64_t oche_flow_supplied(const struct oche_flow_plan *plan, oche_time age);

#endif
