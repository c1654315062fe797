/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: what applications send, fixed before the run, and the results. A flow starts at a given
 * time, or when another flow is completed (acknowledged at its sender) or delivered (its last byte
 * has arrived at its receiver). In the latter two cases the next flow starts at the node where that
 * happens, so no node reads another node's state.
 */
#ifndef OCHE_SIM_NETWORK_FLOW_H
#define OCHE_SIM_NETWORK_FLOW_H

#include "core/base.h"
#include "core/wire/extension.h"
#include "params/error.h"

#define OCHE_NO_FLOW UINT32_MAX

/*
 * Which flows share a queue pair. A chain is a sequence of flows between the same two hosts in
 * which each flow starts when the previous flow is completed at the sender.
 */
enum oche_connections {
    OCHE_CONNECTION_PER_FLOW,
    OCHE_CONNECTION_PER_PAIR,
    OCHE_CONNECTION_PER_CHAIN
};

struct oche_flow_plan {
    uint32_t src, dst;         /* host numbers */
    uint64_t bytes;            /* 1 … 2^31 */
    oche_time start;           /* OCHE_NEVER: starts only after another flow */
    uint32_t then_same_source; /* the flow that starts at src when this one is acknowledged, or
                                  OCHE_NO_FLOW */
    uint32_t then_at_receiver; /* the flow that starts at dst when this one is delivered, or
                                  OCHE_NO_FLOW */
    uint32_t connection;       /* set by oche_flows_prepare */
    uint32_t workload;         /* the workload that made the flow: index in the scenario's list */
    /*
     * Initial rate of the queue pair (DCQCN sec 3.1, note 2); 0: line rate. Only the rate of a
     * queue pair's first flow is used.
     */
    uint64_t initial_rate_bps;
    /*
     * The application produces the flow's bytes at this rate from the flow's start on; bytes wait
     * at the sender until they are sent. Such a flow has its connection to itself. 0: all bytes are
     * there at the start.
     */
    uint64_t supply_bps;
    uint32_t group;    /* number of the flow's group (struct oche_flow_groups), from 1; 0: none */
    uint16_t priority; /* 1: the flow has priority over flows with 0; set by the world */
    uint16_t tenant;   /* number of the tenant that owns the flow and its queue pair; below 256 */
};

/* Groups: flows that an application starts together to one receiver, as lists of their senders. */
struct oche_flow_groups {
    uint32_t *members; /* host numbers */
    uint32_t *first;   /* group g has members[first[g - 1]] to members[first[g] - 1] */
    uint32_t count, member_count;
};

/* Results of a flow that its sender's node writes. */
struct oche_flow_sent {
    oche_time started, completed; /* OCHE_NEVER: has not happened */
    /* Counted on the flow's connection since the connection's previous flow completed. */
    uint64_t retransmitted_packets;
    uint32_t timeouts;
    uint32_t failed; /* enum oche_status of the completion, 0: success */
};

/* Results of a flow that its destination's node writes. */
struct oche_flow_received {
    oche_time delivered; /* when the last byte arrived; OCHE_NEVER: it has not arrived */
    bool passed_over;    /* its end was lost for good, and later bytes have arrived */
};

/*
 * The path that a flow's packets took, counted over the packets that arrived. Written by the
 * destination's node.
 */
struct oche_flow_way {
    uint64_t links;      /* links crossed, summed over packets */
    uint32_t packets;    /* packets with data, including retransmissions */
    uint32_t marked;     /* packets with data that had the CE mark */
    uint8_t deflections; /* the most deflections that one packet had */
};

/* A connection: one queue pair at each end, both with the same number. */
struct oche_connection {
    uint32_t src, dst;
    bool priority;  /* all flows of the connection have priority; false: none has */
    uint8_t tenant; /* tenant of all flows of the connection */
    uint32_t first; /* the connection's flows are order[first … first + count) */
    uint32_t count;
    uint64_t bytes;  /* of all of them */
    uint32_t queued; /* flows started; only order[first … first + queued) is valid; written by the
                        source */
    uint32_t posted; /* flows given to the queue pair; written by the source */
    uint32_t timeouts;          /* timeouts of the completed flows; written by the source */
    uint64_t retransmitted;     /* packets resent for the completed flows; written by the source */
    uint32_t delivered;         /* flows delivered or passed over; written by the destination */
    uint64_t packets_delivered; /* packets of the delivered flows; written by the destination */
};

struct oche_flows {
    const struct oche_flow_plan *plan;
    struct oche_flow_plan *owned_plan;
    struct oche_flow_sent *sent;
    struct oche_flow_received *received;
    struct oche_flow_way *ways; /* one per flow; NULL: not recorded */
    uint32_t count;
    struct oche_connection *connections;
    uint32_t connection_count;
    uint32_t *order;                /* flows of each connection, in the order they were posted */
    uint32_t *by_start;             /* flows with a start time, by (source, time, number) */
    uint32_t *host_first;           /* host h has by_start[host_first[h] … host_first[h + 1]) */
    uint32_t *host_connections;     /* per host: number of connections that begin or end there */
    struct oche_flow_groups groups; /* set by oche_flows_set_groups */
    /* the groups in the form that packets carry: group g is incasts[g - 1] */
    struct oche_group *incasts;
    uint8_t *incast_members;
};

/* Returns the senders of a group (numbered from 1), and their number in `count`. */
static inline const uint32_t *oche_flow_group(const struct oche_flow_groups *groups, uint32_t group,
                                              uint32_t *count)
{
    OCHE_MUST(group >= 1 && group <= groups->count);
    *count = groups->first[group] - groups->first[group - 1];
    return groups->members + groups->first[group - 1];
}

/*
 * Takes over `plan` (malloc'd, `count` flows) and prepares it: assigns connections (one per flow,
 * per ordered pair of hosts, or per chain) and the start order. Returns false, with one line in
 * `error`, if the plan cannot be run.
 */
bool oche_flows_prepare(struct oche_flows *flows, struct oche_flow_plan *plan, uint32_t count,
                        uint32_t host_count, enum oche_connections per, struct oche_error *error);
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

/* Returns connection `number` if it goes from `src` to `dst`; else NULL. */
const struct oche_connection *oche_flows_connection(const struct oche_flows *flows, uint32_t number,
                                                    uint32_t src, uint32_t dst);
/* Returns the total bytes of the connection's flows that are completely delivered. */
uint64_t oche_flows_delivered(const struct oche_flows *flows,
                              const struct oche_connection *connection);

void oche_flows_free(struct oche_flows *flows);
void oche_flow_groups_free(struct oche_flow_groups *groups);

/*
 * Returns the number of the flow's bytes that the application has produced `age` after the flow's
 * start.
 */
uint64_t oche_flow_supplied(const struct oche_flow_plan *plan, oche_time age);

#endif
