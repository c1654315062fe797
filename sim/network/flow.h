/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: what applications want moved, fixed before the run, and what became of it. A flow starts
 * at a time, or when another one ended: at its sender (completed: acknowledged) or at its receiver
 * (delivered: the last byte is there). Both are events of the node that then starts the next flow,
 * so no node looks into another.
 */
#ifndef OCHE_SIM_NETWORK_FLOW_H
#define OCHE_SIM_NETWORK_FLOW_H

#include "core/base.h"
#include "core/wire/extension.h"
#include "params/error.h"

#define OCHE_NO_FLOW UINT32_MAX

/* Which flows share a queue pair. A chain: flows of a pair that follow each other at the sender. */
enum oche_connections {
    OCHE_CONNECTION_PER_FLOW,
    OCHE_CONNECTION_PER_PAIR,
    OCHE_CONNECTION_PER_CHAIN
};

struct oche_flow_plan {
    uint32_t src, dst;         /* host numbers */
    uint64_t bytes;            /* 1 … 2^31 */
    oche_time start;           /* OCHE_NEVER: only after another flow */
    uint32_t then_same_source; /* starts here when this one is acknowledged, or OCHE_NO_FLOW */
    uint32_t then_at_receiver; /* starts at dst when this one is delivered, or OCHE_NO_FLOW */
    uint32_t connection;       /* set by oche_flows_prepare */
    uint32_t workload;         /* which entry of the scenario's list it came from */
    /* The queue pair's, if this flow is its first (DCQCN sec 3.1, note 2); 0: line rate. */
    uint64_t initial_rate_bps;
    /*
     * The application makes the flow's bytes at this rate from its start on, and what has to wait
     * stays; such a flow has its connection to itself. 0: all are there at the start.
     */
    uint64_t supply_bps;
    uint32_t group;    /* that it is a part of, from 1 on (struct oche_flow_groups); 0: of none */
    uint16_t priority; /* 1: over flows that have 0; set by the world */
    uint16_t tenant;   /* whose it is: of its queue pairs; below 256 */
};

/* Flows that an application starts together, for one receiver: who sends them. */
struct oche_flow_groups {
    uint32_t *members; /* hosts */
    uint32_t *first;   /* group g has members[first[g - 1] … first[g]) */
    uint32_t count, member_count;
};

/* Written by the source's node. */
struct oche_flow_sent {
    oche_time started, completed; /* OCHE_NEVER: not (yet) */
    /* Of its connection, since the flow before it there completed. */
    uint64_t retransmitted_packets;
    uint32_t timeouts;
    uint32_t failed; /* enum oche_status of the completion, 0: success */
};

/* Written by the destination's node. */
struct oche_flow_received {
    oche_time delivered; /* its last byte; OCHE_NEVER: not (yet) */
};

/* The way that a flow's packets took, by those that arrived. Written by the destination's node. */
struct oche_flow_way {
    uint64_t links;      /* crossed, summed over packets */
    uint32_t packets;    /* with data, retransmissions too */
    uint32_t marked;     /* of these, with CE */
    uint8_t deflections; /* of the packet that was deflected most often */
};

/* A connection: one queue pair at each end, with the same number. */
struct oche_connection {
    uint32_t src, dst;
    bool priority;  /* all of its flows are alike in that */
    uint8_t tenant; /* and in that */
    uint32_t first; /* its flows are order[first … first + count) */
    uint32_t count;
    uint32_t queued;        /* written by the source: order[first … first + queued) is valid */
    uint32_t posted;        /* by the source: of these, given to the queue pair */
    uint32_t timeouts;      /* by the source: of the flows that completed */
    uint64_t retransmitted; /* the same, packets */
    uint32_t delivered;     /* written by the destination */
    uint64_t packets_delivered; /* by the destination: of the flows that were delivered */
};

struct oche_flows {
    const struct oche_flow_plan *plan;
    struct oche_flow_plan *owned_plan;
    struct oche_flow_sent *sent;
    struct oche_flow_received *received;
    struct oche_flow_way *ways; /* by flow; NULL: nobody wants them */
    uint32_t count;
    struct oche_connection *connections;
    uint32_t connection_count;
    uint32_t *order;      /* flows of each connection, in the order they were posted */
    uint32_t *by_start;   /* flows with a start time, by (source, time, number) */
    uint32_t *host_first; /* by host: its part of by_start begins here; host_count + 1 entries */
    uint32_t *host_connections;     /* by host: connections that begin or end there */
    struct oche_flow_groups groups; /* set by oche_flows_set_groups */
    struct oche_group *incasts;     /* of groups, group g at g - 1: for packets */
    uint8_t *incast_members;
};

/* The senders of a group, from 1 on; how many there are goes to `count`. */
static inline const uint32_t *oche_flow_group(const struct oche_flow_groups *groups, uint32_t group,
                                              uint32_t *count)
{
    OCHE_MUST(group >= 1 && group <= groups->count);
    *count = groups->first[group] - groups->first[group - 1];
    return groups->members + groups->first[group - 1];
}

/*
 * Takes over `plan` (malloc'd, `count` flows) and prepares it: connections (one a flow, one an
 * ordered pair of hosts, or one a chain), start order. False, and a line in `error`, when it cannot
 * be run.
 */
bool oche_flows_prepare(struct oche_flows *flows, struct oche_flow_plan *plan, uint32_t count,
                        uint32_t host_count, enum oche_connections per, struct oche_error *error);
/* After oche_flows_prepare: takes over the groups (malloc'd). */
void oche_flows_set_groups(struct oche_flows *flows, const struct oche_flow_groups *groups);

/*
 * The group of a flow as packets name it, its senders in rising order. NULL: it has none, is the
 * only one of it, or packets cannot name it: more than OCHE_GROUP_MOST senders, or hosts above
 * 65535.
 */
static inline const struct oche_group *oche_flow_incast(const struct oche_flows *flows,
                                                        uint32_t flow)
{
    uint32_t group = flows->plan[flow].group;

    return group == 0 || flows->incasts == NULL || flows->incasts[group - 1].count < 2
               ? NULL
               : &flows->incasts[group - 1];
}

void oche_flows_free(struct oche_flows *flows);
void oche_flow_groups_free(struct oche_flow_groups *groups);

/* Bytes of a flow that its application has made `age` after its start. */
uint64_t oche_flow_supplied(const struct oche_flow_plan *plan, oche_time age);

#endif
