/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a world, for the files of this folder. */
#ifndef OCHE_SIM_WORLD_INTERNAL_H
#define OCHE_SIM_WORLD_INTERNAL_H

#include "params/error.h"
#include "sim/topology/routes.h"
#include "sim/topology/static_routes.h"
#include "sim/world/world.h"

#define OCHE_WORLD_MOST_RATE_SERIES 128
/*
 * How long a PAUSE must last before it can be part of a deadlock, and how often deadlock is checked
 * for.
 */
#define OCHE_DEADLOCK_PATIENCE (100 * OCHE_US)

/* A watched port: its name and its histogram. */
struct oche_world_watched {
    uint32_t node, local;
    char name[2 * OCHE_TOPOLOGY_NAME_BYTES];
    struct oche_queue_watch watch;
};

struct oche_world_column {
    const char *name, *unit;
    char *entity;
    double *values;
};

struct oche_world {
    const struct oche_world_config *config;
    struct oche_topology topology;
    struct oche_topology_routes routes; /* the shortest paths */
    struct oche_static_routes static_routes;
    struct oche_topology_routes used_routes; /* of these two, what switches use: see world.h */
    struct oche_network network;
    uint8_t lanes;       /* lanes of data, which are the classes 0 … lanes - 1 */
    uint8_t class_count; /* data or its lanes; flows with priority, if there are any; control */
    uint64_t *onward;    /* bits for all switches, one after the other; NULL: nothing misroutes */
    struct oche_flows flows;
    struct oche_host_shared shared;
    struct oche_host **hosts;
    struct oche_switch **switches;
    struct oche_world_failures *failures; /* link failures; NULL: none */
    char *losses; /* struct oche_loss, one for each port whose packets may be lost */
    struct oche_timeout_causes *causes;
    uint64_t timeout_causes[OCHE_TIMEOUT_CAUSES]; /* since the end of warm-up */
    struct oche_pause_tree *pause_tree;
    struct oche_pause_note *notes; /* notes that the tree has not got yet, by time */
    size_t note_count;
    oche_time pauses_look_at; /* pauses are examined at the first end of a window from then on */
    struct oche_deadlock deadlock;
    struct oche_world_watched *watched;
    uint32_t watched_count;

    /* State at the end of warm-up. */
    oche_time measured_from;
    struct oche_nic_stats *nic_before;
    uint64_t *counted_before; /* OCHE_MOST_COUNTERS per host: its scheme's own counters */
    uint64_t *line_before, *lost_before, *cut_before, *late_before;
    uint64_t *flow_before;             /* bytes received of each flow; NULL: there was no warm-up */
    struct oche_flow_way *ways_before; /* NULL: paths are not recorded */

    /* Time series: columns of values, one row per interval. */
    struct oche_world_column *columns;
    uint32_t column_count, rows, row_capacity;
    uint64_t *column_last;  /* the value of a column's counter at the last sample */
    oche_time *paused_last; /* likewise, by port and class */
    struct oche_world_hold *holds;
    size_t hold_count, hold_capacity;
};

static inline bool oche_world_has_static_routes(const struct oche_world_config *config)
{
    return config->routes.file != NULL && *config->routes.file != '\0';
}

/* True if the topology's type guarantees that paths go up and then down. */
static inline bool oche_world_is_up_down(const struct oche_world *world)
{
    return world->config->topology->up_down && !oche_world_has_static_routes(world->config);
}

/* True if packets of the flow, or their answers, may travel in the class. */
static inline bool oche_world_travels_in(const struct oche_world *world, uint32_t flow,
                                         unsigned cls)
{
    if (cls + 1U == world->class_count)
        return true;
    return (cls >= world->lanes) == (world->flows.plan[flow].priority != 0);
}

/* pauses.c */
void oche_world_pauses_start(struct oche_world *world);
/* To be called at the end of a window. Returns true if the network is deadlocked. */
bool oche_world_pauses_look(struct oche_world *world);
void oche_world_pauses_finish(struct oche_world *world);
void oche_world_pauses_free(struct oche_world *world);

/*
 * deadlock.c: checks the current state of the switches; fills world->deadlock if there is a
 * deadlock.
 */
void oche_world_deadlock_check(struct oche_world *world);

/* series.c */
void oche_world_series_start(struct oche_world *world);
void oche_world_series_sample(struct oche_world *world);
void oche_world_series_free(struct oche_world *world);

/* failures.c */
/*
 * Finds which links fail when. Returns false, with an error, if the list is wrong. To be called
 * before the switches are built.
 */
bool oche_world_failures_find(struct oche_world *world, struct oche_error *error);
/* Gives the changes to the network, when everything else is built. */
bool oche_world_failures_build(struct oche_world *world, struct oche_error *error);
void oche_world_failures_free(struct oche_world *world);
/*
 * True if switches use the world's routes, with all links up, during the whole time from `from` to
 * `until`.
 */
bool oche_world_routes_whole(const struct oche_world *world, oche_time from, oche_time until);

/*
 * symmetry.c: checks, if it is required, that every flow's packets take the same path there and
 * back.
 */
bool oche_world_check_symmetry(const struct oche_world *world, struct oche_error *error);

/* deflections.c */
void oche_world_add_mechanisms(const struct oche_world *world, struct oche_world_totals *totals);

/* causes.c */
void oche_world_causes_start(struct oche_world *world);
/* Between windows: judges the timeouts of the one that has ended. */
void oche_world_causes_judge(struct oche_world *world);
void oche_world_causes_free(struct oche_world *world);

/* world.c */
/* Returns the parameters of its endpoint; with RNICs, those of the congestion-control scheme. */
const void *oche_world_endpoint_params(const struct oche_world_config *config);
/* Returns the properties of its hosts' packets. */
struct oche_endpoint_packets oche_world_packets(const struct oche_world_config *config);
/* Returns the bits of sim/topology/onward.h for all switches, one after the other. */
uint64_t *oche_world_onward(const struct oche_world *world,
                            const struct oche_topology_routes *routes);

void *oche_world_make(size_t count, size_t bytes);

#endif
