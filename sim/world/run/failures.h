/* SPDX-License-Identifier: Apache-2.0 */
/* Private to failures.c and degraded.c: what fails, and when. */
#ifndef OCHE_SIM_WORLD_RUN_FAILURES_H
#define OCHE_SIM_WORLD_RUN_FAILURES_H

#include "fabric/loss.h"
#include "sim/network/link_failure.h"
#include "sim/world/internal.h"

/* A link is down at from <= t < until. */
struct oche_failure_span {
    uint32_t link;
    oche_time from, until;
    oche_time reroute; /* until routes follow */
};

/* Routes that switches use from `time` until the next epoch. */
struct oche_failure_epoch {
    oche_time time;
    bool whole; /* true: all links are up, and switches use the world's own routes */
    struct oche_topology_routes routes;
    uint64_t *onward;
};

struct oche_world_failures {
    struct oche_world_failure *entries; /* one for each entry of the scenario's list */
    uint32_t entry_count;
    struct oche_failure_span
        *spans; /* by link and time; spans of one link do not touch each other */
    size_t span_count;
    struct oche_failure_epoch *epochs; /* by time */
    size_t epoch_count;
    struct oche_loss **losses; /* of ports that lose packets; each malloc'd */
    size_t loss_count;
    struct oche_change *changes;
    size_t change_count;
};

/* Adds a change, unless the run is over by then; the list has room. */
struct oche_change *oche_world_add_change(struct oche_world *world, uint32_t node, uint32_t port,
                                          oche_time time, enum oche_change_kind kind);

/* Returns the most changes of links that become slow or lose packets. */
size_t oche_world_degraded_most(const struct oche_world *world);
/* Adds these changes. */
void oche_world_degraded_build(struct oche_world *world);

#endif
