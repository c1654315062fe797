/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of one flow: what an application sends, from where to where, and when. */
#ifndef OCHE_SIM_NETWORK_FLOW_PLAN_H
#define OCHE_SIM_NETWORK_FLOW_PLAN_H

#include "core/base.h"

#define OCHE_NO_FLOW UINT32_MAX

#define OCHE_FLOW_CHANNELS (UINT32_C(1) << 12)

/* The most bytes of a flow. One that is longer than a message may be is several messages. */
#define OCHE_MAX_FLOW_BYTES (UINT64_C(1) << 40)

/* The operation that moves the bytes of a flow from `src` to `dst`. */
enum oche_verb {
    OCHE_VERB_WRITE, /* src posts an RDMA WRITE */
    OCHE_VERB_SEND,  /* src posts a SEND, for which dst has posted receives */
    OCHE_VERB_READ,  /* dst posts an RDMA READ, which src's RNIC answers */
};

/* "write", "send", "read", NULL */
extern const char *const oche_verb_names[];

struct oche_flow_plan {
    uint32_t src, dst;         /* host numbers: the data goes from src to dst */
    uint64_t bytes;            /* 1 … OCHE_MAX_FLOW_BYTES */
    oche_time start;           /* OCHE_NEVER: starts only after another flow */
    uint32_t then_same_source; /* the flow that the same host posts when this one is completed, or
                                  OCHE_NO_FLOW */
    uint32_t connection;       /* set by oche_flows_prepare */
    uint32_t workload;         /* the workload that made the flow: index in the scenario's list */
    uint32_t group; /* number of the flow's group (struct oche_flow_groups), from 1; 0: none */
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
    uint8_t priority; /* 1: the flow has priority over flows with 0; set by the world */
    uint8_t verb;     /* enum oche_verb */
    uint8_t tenant;   /* number of the tenant that owns the flow and its queue pair */
    bool beside;      /* the run does not wait for this flow: its workload has no end of its own */
    /* tells apart connections between the same two hosts; below OCHE_FLOW_CHANNELS, usually 0 */
    uint32_t channel;
};

_Static_assert(sizeof(struct oche_flow_plan) == 64, "without holes");

/* Returns the host that posts the flow's work; the flow starts and is completed at this host. */
static inline uint32_t oche_flow_poster(const struct oche_flow_plan *plan)
{
    return plan->verb == OCHE_VERB_READ ? plan->dst : plan->src;
}

#endif
