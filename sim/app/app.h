/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads. Each type (incast, permutation, …) is one file with a parameter table, and one line in
 * the registry. Before the run a workload lists its flows, drawn from named random streams, or the
 * sources (sim/network/flow_source.h) that draw them as the run needs them; a flow may also start
 * when another flow ends (struct oche_flow_plan), so closed loops need no code in the run.
 */
#ifndef OCHE_SIM_APP_APP_H
#define OCHE_SIM_APP_APP_H

#include "core/base.h"
#include "core/param.h"
#include "core/random.h"
#include "params/error.h"
#include "sim/graph/job.h"
#include "sim/network/flow.h"

struct oche_topology;

/* The rates that a number of hosts have in common. */
struct oche_host_rate {
    uint64_t link_bps;
    /* Part of the rate of the ToR's uplinks, by the rates of its hosts; 0: there are no uplinks. */
    uint64_t uplink_bps;
    uint32_t hosts; /* number of hosts with these rates */
};

/* The rates of all hosts. */
struct oche_host_rates {
    const struct oche_host_rate *kinds; /* no two the same; in ascending order */
    uint32_t count;
    const uint32_t *kind_of; /* by host; NULL: there is one kind */
};

/* Facts about the world that a workload can use. */
struct oche_workload_facts {
    uint32_t host_count;
    const struct oche_topology *topology; /* for names of hosts; NULL: they have numbers only */
    struct oche_host_rates rates;         /* to which load is relative */
    uint32_t mtu_bytes;                   /* payload of a full packet */
    uint32_t header_bytes; /* bytes of a full packet on the line without its payload */
    oche_time duration;    /* no flow starts then or later: the run's duration, or its bound */
    bool until_done;       /* the run has no duration of its own */
    const char *no_verbs;  /* the congestion control, if its endpoint has no verbs; else NULL */
    uint64_t seed;
    uint32_t number; /* index of the workload in the scenario's list: part of stream names */
};

#define OCHE_FLOW_REMARK_BYTES 400

/* A growing list of flows, and of sources that make some of these flows. */
struct oche_flow_list {
    struct oche_flow_plan *plan; /* of oche_sparse_take; a source's flows are not in it yet */
    uint32_t count, capacity;
    struct oche_flow_sources sources;
    bool as_needed;            /* false: sources draw all their flows at once, into `plan` */
    uint64_t priority_bytes;   /* flows of at most this have priority */
    uint64_t initial_rate_bps; /* initial rate of flows added from now on; 0: line rate */
    uint64_t supply_bps;       /* supply of flows added from now on (struct oche_flow_plan) */
    uint8_t tenant;            /* tenant of flows added from now on */
    uint8_t verb;              /* enum oche_verb: of flows added from now on */
    bool beside;               /* property of flows added from now on (struct oche_flow_plan) */
    char remark[OCHE_FLOW_REMARK_BYTES]; /* what to tell the user about the lists, or "" */
    struct oche_jobs jobs;               /* programs that start flows of sources */
    struct oche_flow_groups groups;
    uint32_t first_capacity, member_capacity; /* allocated entries of `groups` */
    uint32_t *failed; /* links that are down from the beginning to the end; malloc'd */
    uint32_t failed_count;
};

/*
 * Adds a flow that starts at `start`, with no flow to follow it. Returns the flow's number, or
 * OCHE_NO_FLOW without memory. `initial_rate_bps` and `supply_bps` are 0 when a workload begins.
 */
uint32_t oche_flow_list_add(struct oche_flow_list *list, uint32_t workload, uint32_t src,
                            uint32_t dst, uint64_t bytes, oche_time start);

/*
 * Returns a source whose flows have the same settings as flows that are added now; the caller fills
 * in the rest. If `draw` chooses receivers, `dst` is any host but `src`.
 */
struct oche_flow_source oche_flow_list_source(const struct oche_flow_list *list, uint32_t workload,
                                              uint32_t src, uint32_t dst, oche_time start);
/*
 * Adds the flows of a copy of `source`. They are drawn at once if READs go to receivers that the
 * source draws, as each is posted by its receiver. Returns false without memory.
 */
bool oche_flow_list_add_source(struct oche_flow_list *list, const struct oche_flow_source *source);
/*
 * Takes over what sources that have been added point to: `release` is called when no flow will be
 * drawn any more. Returns false, after `release`, without memory.
 */
bool oche_flow_list_keep(struct oche_flow_list *list, void *context,
                         void (*release)(void *context));

/* Takes over a job. Returns false, after the job's end, without memory. */
bool oche_flow_list_add_job(struct oche_flow_list *list, struct oche_job *job);

/*
 * Adds a group (struct oche_flow_plan.group) with the given senders, in this order. Returns the
 * group's number, or 0 without memory.
 */
uint32_t oche_flow_list_add_group(struct oche_flow_list *list, const uint32_t *members,
                                  uint32_t count);

void oche_flow_list_free(struct oche_flow_list *list);

/*
 * The load that a host offers to hosts drawn at random, whatever the network delivers. It is the
 * same for hosts with the same rates.
 */
struct oche_workload_offer {
    double bps;       /* in the mean, if the host sends, in bits of payload per second */
    uint32_t senders; /* N: hosts 0 … N-1 send, to the others; 0: every host to every other one */
};

/*
 * The cause that starts the flows of a workload. If it is a clock, the workload has a load of its
 * own: how much it offers does not depend on what the network delivers (sim/world/run/load.c).
 */
struct oche_workload_arrivals {
    enum {
        OCHE_ARRIVALS_NONE,   /* flows start at the beginning, or when others end */
        OCHE_ARRIVALS_CLOCK,  /* flows start by a clock, until `stop` */
        OCHE_ARRIVALS_LISTED, /* flows start when a list says; the list may be one burst */
    } kind;
    /* for OCHE_ARRIVALS_CLOCK: when arrivals stop; OCHE_NEVER: at the end of the run */
    oche_time stop;
};

struct oche_workload_type {
    const char *name;
    const char *help;
    const struct oche_param_table *table;
    const char *ends; /* whether the workload ends by itself, and what makes it do so */
    /*
     * If the workload goes on for as long as the run, returns what would give it an end: "set its
     * stop", or "" if there is no such parameter. Returns NULL if it ends by itself, as a type
     * without this function always does.
     */
    const char *(*endless)(const void *params);
    /*
     * Adds this workload's flows to `list`. On failure returns false, with one line in `error`
     * ("name: what is wrong; what would be right", or FILE:LINE: … for an error in a file).
     */
    bool (*generate)(const void *params, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error);
    /* Returns how many senders a group has; NULL: this workload has no groups. */
    uint32_t (*group_senders)(const void *params);
    /*
     * Optional, for workloads with a load of their own. `generate` has accepted the parameters. A
     * rate of 0: what is sent depends on what is delivered.
     */
    struct oche_workload_offer (*offered)(const void *params,
                                          const struct oche_workload_facts *facts,
                                          const struct oche_host_rate *host);
    /* Returns what makes its flows start. NULL: OCHE_ARRIVALS_NONE. */
    struct oche_workload_arrivals (*arrivals)(const void *params);
};

static inline const char *oche_workload_endless(const struct oche_workload_type *type,
                                                const void *params)
{
    return type->endless == NULL ? NULL : type->endless(params);
}

static inline struct oche_workload_arrivals
oche_workload_arrivals(const struct oche_workload_type *type, const void *params)
{
    return type->arrivals == NULL ? (struct oche_workload_arrivals){.kind = OCHE_ARRIVALS_NONE}
                                  : type->arrivals(params);
}

extern const struct oche_workload_type *const oche_workload_types[]; /* ends with NULL */
/* Returns the type that a scenario calls `name`, or NULL. */
const struct oche_workload_type *oche_workload_type_find(const char *name);

#endif
