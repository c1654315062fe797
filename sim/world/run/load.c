/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load of a run: what flows that a clock starts offer, and how much of it the network delivers.
 *
 * Such flows go on arriving whatever the network does. So a rate over the whole run says little:
 * the run lasts until the last straggler is delivered, and two networks that carry the same load
 * differ in how long that takes. Load is therefore measured in a window, from the end of warm-up
 * until the arrivals stop, and the time that the rest takes is a number of its own.
 *
 * This file alone decides which workloads have a load of their own (are open). It asks the
 * workload's type (struct oche_workload_arrivals). A list of flows is open, too, unless it is a
 * burst or has fewer than LEAST_FLOWS, of which each is looked at. It is a burst if, from the first
 * start until the last, it asks its senders for more than MOST_OF_LINKS times what their links
 * carry. If several workloads are open, the window lasts until the last of them stops. Where no
 * such workload starts a flow in a window, the run has no load.
 *
 * All counts are taken between windows of the engine, at the window's end: none is made by packet.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

#define MOST_OF_LINKS 2
#define LEAST_FLOWS   17 /* tables list fewer flows one by one */

/* ---- before the run ---- */

/* The flows of a list that a clock starts after warm-up. */
struct listed {
    uint32_t flows;
    oche_time first, last; /* start of a flow; first > last: there is none */
    uint64_t bytes;        /* bytes of the flows that start before `last` */
    uint64_t links_bps;    /* sum of the link rates of all hosts that send these flows */
};

static struct listed find_starts(const struct oche_world *world, uint32_t workload)
{
    struct listed listed = {.first = OCHE_NEVER};

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        const struct oche_flow_plan *plan = &world->flows.plan[i];

        if (plan->workload != workload || plan->start == OCHE_NEVER ||
            plan->start < world->config->run.warmup)
            continue;
        listed.flows++;
        listed.first = oche_time_min(listed.first, plan->start);
        listed.last = oche_time_max(listed.last, plan->start);
    }
    return listed;
}

static void add_bytes(const struct oche_world *world, uint32_t workload, struct listed *listed)
{
    bool *sends = oche_world_make(world->topology.host_count, sizeof(*sends));

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        const struct oche_flow_plan *plan = &world->flows.plan[i];

        if (plan->workload != workload || plan->start == OCHE_NEVER ||
            plan->start < listed->first || plan->start >= listed->last)
            continue;
        listed->bytes += plan->bytes;
        if (!sends[plan->src])
            listed->links_bps += oche_topology_port_link(&world->topology, plan->src, 0)->rate_bps;
        sends[plan->src] = true;
    }
    free(sends);
}

/* Returns when the list's arrivals stop: at its last start; 0: it is one burst. */
static oche_time stop_of_list(const struct oche_world *world, uint32_t workload)
{
    struct listed listed = find_starts(world, workload);

    if (listed.flows < LEAST_FLOWS || listed.first >= listed.last)
        return 0;
    add_bytes(world, workload, &listed);
    const double asked = (double)listed.bytes * 8 * (double)OCHE_SEC;
    const double links = (double)listed.links_bps * (double)(listed.last - listed.first);

    return asked > MOST_OF_LINKS * links ? 0 : listed.last;
}

/* Returns when the workload's arrivals stop; OCHE_NEVER: with the run; 0: it has none. */
static oche_time stop_of(const struct oche_world *world, uint32_t workload)
{
    const struct oche_workload_config *config = &world->config->workloads[workload];
    const struct oche_workload_arrivals arrivals =
        oche_workload_arrivals(config->type, config->params);

    switch (arrivals.kind) {
    case OCHE_ARRIVALS_NONE:
        return 0;
    case OCHE_ARRIVALS_CLOCK:
        return arrivals.stop < oche_world_until(world) ? arrivals.stop : OCHE_NEVER;
    case OCHE_ARRIVALS_LISTED:
        return stop_of_list(world, workload);
    }
    return 0;
}

void oche_world_load_plan(struct oche_world *world)
{
    struct oche_world_arrivals *arrivals = &world->arrivals;
    const uint32_t count = world->config->workload_count;
    oche_time last = 0;

    arrivals->open = oche_world_make(count, sizeof(*arrivals->open));
    arrivals->first_stop = OCHE_NEVER;
    for (uint32_t w = 0; w < count; w++) {
        const oche_time stop = stop_of(world, w);

        arrivals->open[w] = stop > 0;
        arrivals->any |= stop > 0;
        arrivals->go_on |= stop == OCHE_NEVER;
        if (stop == 0 || stop == OCHE_NEVER)
            continue;
        last = oche_time_max(last, stop);
        if (stop > world->config->run.warmup)
            arrivals->first_stop = oche_time_min(arrivals->first_stop, stop);
    }
    arrivals->stop = last == 0 ? OCHE_NEVER : last;
    if (arrivals->stop <= world->config->run.warmup)
        arrivals->any = false;
    if (arrivals->any)
        arrivals->line = oche_world_make(world->network.port_count, sizeof(*arrivals->line));
}

void oche_world_load_free(struct oche_world *world)
{
    free(world->arrivals.open);
    free(world->arrivals.line);
}

/* ---- during the run ---- */

oche_time oche_world_load_next(const struct oche_world *world)
{
    const struct oche_world_arrivals *arrivals = &world->arrivals;

    return arrivals->any && !arrivals->taken && arrivals->stop > world->network.now ? arrivals->stop
                                                                                    : OCHE_NEVER;
}

/*
 * Returns the end of the window: now. But if no flow is left to start, and so the run has ended
 * before its time, the window is as long as was planned: nothing would have come in the rest.
 */
static oche_time until_of(const struct oche_world *world)
{
    const struct oche_world_arrivals *arrivals = &world->arrivals;
    const oche_time duration = world->config->run.duration, now = world->network.now;
    const oche_time planned = duration > 0      ? oche_time_min(arrivals->stop, duration)
                              : arrivals->go_on ? now
                                                : arrivals->stop;

    return world->end == OCHE_END_DELIVERED && planned > now ? planned : now;
}

void oche_world_load_take(struct oche_world *world)
{
    struct oche_world_arrivals *arrivals = &world->arrivals;

    if (!arrivals->any || arrivals->taken)
        return;
    arrivals->taken = true;
    arrivals->until = until_of(world);
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        if (world->flows.sent[i].started != OCHE_NEVER &&
            arrivals->open[world->flows.plan[i].workload] &&
            oche_world_has(world, world->flows.plan[i].dst))
            arrivals->delivered_bytes += oche_world_flow_bytes_measured(world, i);
    for (uint32_t i = 0; i < world->network.port_count; i++)
        arrivals->line[i] = oche_world_line_bytes(world, i);
}

/* ---- after the run ---- */

bool oche_world_is_open(const struct oche_world *world, uint32_t workload)
{
    return world->arrivals.open[workload];
}

oche_time oche_world_first_stop(const struct oche_world *world)
{
    return world->arrivals.first_stop;
}

/* Returns when the flow was over; OCHE_NEVER: it is not. */
static oche_time over_at(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_sent *sent = &world->flows.sent[flow];

    return sent->failed != 0 ? sent->completed : world->flows.received[flow].delivered;
}

void oche_world_load(const struct oche_world *world, struct oche_world_load *load)
{
    const struct oche_world_arrivals *arrivals = &world->arrivals;

    *load = (struct oche_world_load){.from = world->measured_from,
                                     .until = arrivals->until,
                                     .stopped = arrivals->until == arrivals->stop,
                                     .delivered_bytes = arrivals->delivered_bytes,
                                     .alone = true};
    for (uint32_t w = 0; w < world->config->workload_count; w++)
        load->alone &= arrivals->open[w];
    if (!arrivals->any || arrivals->until <= load->from)
        return;
    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        const oche_time started = world->flows.sent[i].started;

        if (started == OCHE_NEVER || !arrivals->open[world->flows.plan[i].workload])
            continue;
        load->drained = oche_time_max(load->drained, over_at(world, i));
        if (started < load->from || started >= load->until)
            continue;
        load->offered_bytes += world->flows.plan[i].bytes;
        load->flows++;
    }
    load->known = load->flows > 0;
}

const uint64_t *oche_world_load_line_bytes(const struct oche_world *world)
{
    return world->arrivals.line;
}
