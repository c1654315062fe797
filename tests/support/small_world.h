/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world for tests. Every parameter has its default until the test sets it. Flows are listed by
 * hand.
 */
#ifndef OCHE_TESTS_SUPPORT_SMALL_WORLD_H
#define OCHE_TESTS_SUPPORT_SMALL_WORLD_H

#include "params/error.h"
#include "sim/world/world.h"

#define SMALL_WORLD_LOSSES 4

/* The packets that one port loses; see fabric/loss.h. */
struct small_world_loss {
    const char *port, *pattern;
};

/* Senders that start together. */
struct small_world_group {
    const uint32_t *members;
    uint32_t count;
};

struct small_world {
    struct oche_world_config config;
    void *topology_params, *cc_params, *recovery_params;
    /*
     * The mechanism that the congestion control requires in switches, with its parameters; NULL:
     * none.
     */
    const struct oche_switch_mechanism *mechanism;
    void *mechanism_params;
    struct oche_workload_config workload;
    const struct oche_flow_plan *flows; /* owned by the test */
    uint32_t flow_count;
    const struct small_world_group *groups; /* named by flows, counted from 1 */
    uint32_t group_count;
    struct small_world_loss
        losses[SMALL_WORLD_LOSSES]; /* in addition to config.loss; port NULL: none */
    void *loss_memory[SMALL_WORLD_LOSSES];
    oche_trace_sink *sink; /* called for every node, with one thread; or NULL */
    void *sink_context;
    struct oche_world *world;
    struct oche_world_totals totals; /* after small_world_run */
};

/* Takes names from the registries: "star", "dcqcn" or "dctcp", "go_back_n". */
void small_world_init(struct small_world *small, const char *topology, const char *cc,
                      const char *recovery);
/* Set a parameter of the topology, of congestion control or of recovery. */
void small_world_topology(struct small_world *small, const char *name, uint64_t value);
void small_world_recovery(struct small_world *small, const char *name, uint64_t value);
void small_world_topology_file(struct small_world *small, const char *path); /* of from_file */
void small_world_cc(struct small_world *small, const char *name, uint64_t value);
void small_world_cc_real(struct small_world *small, const char *name, double value);
/*
 * Builds the world, runs it to the end, reads the totals. Fails the test if the world cannot be
 * built.
 */
void small_world_run(struct small_world *small, const struct oche_flow_plan *flows, uint32_t count);
/* True if a world can be built for small->flows; if not, `error` has the reason. */
bool small_world_can(struct small_world *small, struct oche_error *error);
/* Frees the world but keeps the rest, so that it can run again with other settings. */
void small_world_end(struct small_world *small);
void small_world_free(struct small_world *small);

/* Returns a flow that starts at `start`; no flow follows it. */
struct oche_flow_plan small_flow(uint32_t src, uint32_t dst, uint64_t bytes, oche_time start);

/*
 * In place of small_world_init: draws a leaf_spine, a clos or a fat_tree; with `chain` also a
 * parking_lot. Returns the number of hosts.
 */
uint32_t small_world_random_network(struct small_world *small, struct oche_random *random,
                                    const char *cc, const char *recovery, bool chain);
/*
 * Fills `flows` with a permutation, an incast and some flows that follow others. Returns how many
 * there are, fewer than 3 * hosts.
 */
uint32_t small_world_busy_flows(struct oche_flow_plan *flows, uint32_t hosts);

#endif
