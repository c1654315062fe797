/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flows of a world in a form that other simulators can read: a flow starts at a time, or when a
 * trigger goes off, which other flows fire when they end.
 */
#ifndef OCHE_CLI_EXPORT_TRAFFIC_H
#define OCHE_CLI_EXPORT_TRAFFIC_H

#include <stdio.h>

#include "params/error.h"
#include "sim/world/world.h"

#define OCHE_EXPORT_MOST_FLOWS 4000000
#define OCHE_NO_TRIGGER        UINT32_MAX

struct oche_export_flow {
    uint32_t src, dst; /* hosts */
    uint64_t bytes;
    oche_time start;                        /* OCHE_NEVER: `trigger` starts it */
    uint32_t trigger, send_done, recv_done; /* indices, or OCHE_NO_TRIGGER */
};

/* It goes off when it has been fired so often, and then starts all its flows. */
struct oche_export_trigger {
    uint32_t firings;
};

struct oche_export_traffic {
    struct oche_export_flow *flows; /* by number */
    struct oche_export_trigger *triggers;
    uint32_t flow_count, trigger_count, trigger_room;
    uint64_t reads, sends, first_rates; /* flows that are READs, SENDs, have a rate to begin with */
    bool jobs;
};

/*
 * Takes the flows of a world that has not run. Returns false, with one line in `error`, if a flow
 * has no such form; then there is nothing to free.
 */
bool oche_export_traffic_take(struct oche_export_traffic *traffic, const struct oche_world *world,
                              struct oche_error *error);
void oche_export_traffic_free(struct oche_export_traffic *traffic);

/* Adds a trigger. Returns its index. */
uint32_t oche_export_add_trigger(struct oche_export_traffic *traffic, uint32_t firings);

/* job.c: takes the flows of a job, whose dependencies become triggers. */
bool oche_export_take_job(struct oche_export_traffic *traffic, const struct oche_job *job,
                          struct oche_error *error);

#endif
