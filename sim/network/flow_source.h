/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow sources: flows of one sender that are drawn one after the other, each only when the flow
 * before it starts, so that flows which a run never reaches cost no memory. A source's flows have
 * consecutive numbers. What it draws depends on nothing but its own state; a copy of the source
 * draws the same flows again.
 *
 * A source with `at` is asked for its flows by their places, and in any order: programs on hosts
 * start them (host_jobs.h). They may have different senders, and hosts in different threads may
 * make them. Drawn, as by a copy, they come in the order of places.
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

/* Describes the flow at a place, from 0: all that `plan` does not have of source->flow. */
typedef void oche_flow_at(const struct oche_flow_source *source, uint32_t place,
                          struct oche_flow_plan *plan);

struct oche_flow_source {
    oche_flow_draw *draw;  /* NULL: all flows are equal, or there is `at`; there are `count` */
    oche_flow_at *at;      /* NULL: flows are made one after the other */
    uint64_t *made_places; /* with `at`: a bit for each place, set by oche_flows_prepare */
    const void *context;   /* the context of `draw`, which does not change it */
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

/* True if the flow at the place is made. */
static inline bool oche_flow_source_has_made(const struct oche_flow_source *source, uint32_t place)
{
    return source->at == NULL
               ? place < source->made
               : (__atomic_load_n(&source->made_places[place / 64], __ATOMIC_RELAXED) >>
                      place % 64 &
                  1) != 0;
}
/* Returns the first place from `from` on whose flow is made; source->count: none. */
uint32_t oche_flow_source_next_made(const struct oche_flow_source *source, uint32_t from);

/*
 * Returns a copy of a source, whose own first flow is drawn already, that is at its first flow:
 * a source with `at` has none drawn.
 */
struct oche_flow_source oche_flow_source_copy(const struct oche_flow_source *source);
/* Draws the source's next flow into source->flow. Returns false if there is none. */
bool oche_flow_source_draw(struct oche_flow_source *source);
/* Returns how many flows a new source will draw. */
uint32_t oche_flow_source_count(const struct oche_flow_source *source);

/* Returns the source to which flow `number` belongs, or NULL. */
struct oche_flow_source *oche_flow_sources_find(const struct oche_flow_sources *sources,
                                                uint32_t number);
void oche_flow_sources_free(struct oche_flow_sources *sources);

#endif
