/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow sources: flows of one sender that are drawn one after the other, each only when the flow
 * before it starts, so that flows which a run never reaches cost no memory. A source's flows have
 * consecutive numbers. What it draws depends on nothing but its own state; a copy of the source
 * draws the same flows again.
 */
#ifndef OCHE_SIM_NETWORK_FLOW_SOURCE_H
#define OCHE_SIM_NETWORK_FLOW_SOURCE_H

#include "core/base.h"
#include "core/random.h"
#include "sim/network/flow_plan.h"

struct oche_flow_source;

/*
 * Draws the next flow: sets start and bytes of source->flow, and dst if the source has draws_dst.
 * Returns false if there is none.
 */
typedef bool oche_flow_draw(struct oche_flow_source *source);

struct oche_flow_source {
    oche_flow_draw *draw; /* NULL: all flows are equal, and there are `count` */
    const void *context;  /* the context of `draw`, which does not change it */
    struct oche_random random;
    uint64_t left; /* for `draw` */
    /*
     * The flow that was drawn last. At first: what all flows have in common, and the time from
     * which `draw` counts or, in a chain, at which the first flow starts.
     */
    struct oche_flow_plan flow;
    bool chain;              /* each flow follows the one before it, between the same two hosts */
    bool draws_dst;          /* `draw` chooses receivers */
    uint64_t priority_bytes; /* flows of at most this have priority */
    uint32_t first, count;   /* the flows' numbers: first … first + count - 1 */
    uint32_t made;           /* flows drawn so far */
    /* Set by oche_flows_prepare. */
    bool each;           /* each flow has a connection of its own: `connection` and following */
    bool by_pair;        /* the connection is looked up by pair of hosts */
    uint32_t connection; /* connection of the first flow, or of all flows */
    uint32_t order;      /* place of the first connection's first flow in flows->order */
};

/* Sources, and what their `context` points to. */
struct oche_flow_sources {
    struct oche_flow_source *list; /* malloc'd, in order of their flows */
    uint32_t count, capacity;
    struct oche_flow_context {
        void *context;
        void (*release)(void *context);
    } * contexts; /* malloc'd */
    uint32_t context_count;
    /*
     * The order of hosts by which connections of pairs are numbered. place_of: a host's place;
     * at_place: the host at a place. Not owned. NULL: hosts are in the order of their numbers.
     */
    const uint32_t *place_of, *at_place;
};

/* Draws the source's next flow into source->flow. Returns false if there is none. */
bool oche_flow_source_draw(struct oche_flow_source *source);
/* Returns how many flows a new source will draw. */
uint32_t oche_flow_source_count(const struct oche_flow_source *source);

/* Returns the source to which flow `number` belongs, or NULL. */
struct oche_flow_source *oche_flow_sources_find(const struct oche_flow_sources *sources,
                                                uint32_t number);
void oche_flow_sources_free(struct oche_flow_sources *sources);

#endif
