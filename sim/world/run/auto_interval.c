/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling interval where measure.interval is auto: as many points as a picture needs, without
 * knowing when the run will end. It begins with an interval that suits the shortest time that the
 * run can take; when there are too many points, each two become one and the interval doubles. All
 * of it follows from the scenario and the simulated time alone.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/world/internal.h"

#define MOST_ROWS      512
#define LEAST_ROWS     64
#define MOST_VALUES    65536 /* of all series together, unless that leaves LEAST_ROWS */
#define MOST_VISITS    (UINT64_C(1) << 23) /* to ports, to sample MOST_ROWS of them */
#define SHORTEST       (100 * OCHE_NS)
#define MOST_NEW_HOLDS 65536
#define MANY_PORTS     4096 /* with more a sample within a window costs */

bool oche_world_samples_by_itself(const struct oche_world *world)
{
    const struct oche_world_config *config = world->config;

    return config->measure.interval == OCHE_NEVER && config->auto_series;
}

uint32_t oche_world_auto_rows(const struct oche_world *world, uint32_t columns)
{
    uint32_t rows = MOST_ROWS;

    while (rows > LEAST_ROWS && ((uint64_t)rows * columns > MOST_VALUES ||
                                 (uint64_t)rows * world->network.port_count > MOST_VISITS))
        rows /= 2;
    return rows;
}

static oche_time time_on_host_link(const struct oche_world *world, uint32_t host, uint64_t bytes)
{
    return oche_time_of_bytes(bytes, oche_topology_port_link(&world->topology, host, 0)->rate_bps);
}

/* Returns a time before which the listed flows that the run waits for cannot all be over. */
static oche_time earliest_end(const struct oche_world *world)
{
    uint32_t hosts = world->topology.host_count;
    uint64_t *sent = oche_world_make(hosts, sizeof(*sent));
    uint64_t *received = oche_world_make(hosts, sizeof(*received));
    oche_time end = 0;

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        const struct oche_flow_plan *plan = &world->flows.plan[i];

        if (plan->beside)
            continue;
        sent[plan->src] += plan->bytes;
        received[plan->dst] += plan->bytes;
        if (plan->start != OCHE_NEVER)
            end = oche_time_max(
                end, oche_time_add(plan->start, time_on_host_link(world, plan->src, plan->bytes)));
    }
    for (uint32_t host = 0; host < hosts; host++) {
        end = oche_time_max(end, time_on_host_link(world, host, sent[host]));
        end = oche_time_max(end, time_on_host_link(world, host, received[host]));
    }
    free(sent);
    free(received);
    return end;
}

/* Returns the first of 1, 2, 5, 10, 20, … nanoseconds that is at least `time`. */
static oche_time round_up(oche_time time)
{
    static const oche_time steps[] = {1, 2, 5};

    for (oche_time unit = OCHE_NS;; unit *= 10)
        for (size_t i = 0; i < OCHE_COUNT_OF(steps); i++)
            if (steps[i] * unit >= time)
                return steps[i] * unit;
}

/*
 * A sample ends a window, and the state of a large network is fetched into the cache once a window.
 * So its samples are at ends of windows; smaller networks can be looked at more closely.
 */
static oche_time at_ends_of_windows(const struct oche_world *world, oche_time interval)
{
    const oche_time window = world->network.window;

    if (world->network.port_count <= MANY_PORTS || window >= OCHE_SEC)
        return interval;
    return (interval + window - 1) / window * window;
}

/* Returns when a run is over at the earliest, by what is planned. */
static oche_time end_by_plan(const struct oche_world *world)
{
    const struct oche_run_params *run = &world->config->run;

    if (run->duration > 0 && !run->stop_when_done)
        return run->duration;
    oche_time end = world->awaited > 0 ? earliest_end(world) : OCHE_NEVER;

    return run->duration == 0 ? end : oche_time_min(run->duration, end);
}

void oche_world_plan_end(struct oche_world *world)
{
    if (oche_world_samples_by_itself(world))
        world->planned_end = end_by_plan(world);
}

oche_time oche_world_auto_interval(const struct oche_world *world, uint32_t rows)
{
    const struct oche_run_params *run = &world->config->run;
    oche_time end = world->planned_end != 0 ? world->planned_end : end_by_plan(world);

    if (end == OCHE_NEVER || end <= run->warmup)
        return at_ends_of_windows(world, SHORTEST);
    return at_ends_of_windows(
        world, oche_time_max(SHORTEST, round_up((end - run->warmup + rows - 1) / rows)));
}

/* Makes one value of two that follow one another. */
static double joined(enum oche_world_join how, double before, double after)
{
    switch (how) {
    case OCHE_JOIN_MEAN:
        return (before + after) / 2;
    case OCHE_JOIN_SUM:
        return before + after;
    case OCHE_JOIN_LAST:
        break;
    }
    return after;
}

/* Joins the holds of a port in two rows that become one; they are in order of row, node, port. */
static void join_holds(struct oche_world *world)
{
    struct oche_world_paused_port *holds = world->paused_ports, *joint;
    size_t count = world->paused_count, made = 0, at = 0;

    joint = malloc((count + 1) * sizeof(*joint));
    OCHE_GOT(joint != NULL);
    while (at < count) {
        uint32_t row = holds[at].row / 2;
        size_t second = at, end;

        while (second < count && holds[second].row == 2 * row)
            second++;
        for (end = second; end < count && holds[end].row == 2 * row + 1;)
            end++;
        for (size_t a = at, b = second; a < second || b < end;) {
            bool of_a =
                a < second && (b == end || holds[a].node < holds[b].node ||
                               (holds[a].node == holds[b].node && holds[a].port <= holds[b].port));
            struct oche_world_paused_port hold = of_a ? holds[a++] : holds[b++];

            if (of_a && b < end && holds[b].node == hold.node && holds[b].port == hold.port)
                hold.held += holds[b++].held;
            hold.row = row;
            joint[made++] = hold;
        }
        at = end;
    }
    if (made > 0)
        memcpy(holds, joint, made * sizeof(*holds));
    world->paused_count = made;
    free(joint);
}

void oche_world_series_join(struct oche_world *world)
{
    bool many_holds = world->paused_of_all > MOST_NEW_HOLDS && world->rows > LEAST_ROWS;

    if (world->rows % 2 != 0 || (world->rows < world->most_rows && !many_holds))
        return;
    for (uint32_t i = 0; i < world->column_count; i++) {
        struct oche_world_column *column = &world->columns[i];

        for (uint32_t row = 0; row < world->rows / 2; row++)
            column->values[row] =
                joined(column->join, column->values[2 * row], column->values[2 * row + 1]);
    }
    join_holds(world);
    world->rows /= 2;
    world->interval *= 2;
}
