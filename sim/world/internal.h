/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a world, for the files of this folder. */
#ifndef OCHE_SIM_WORLD_INTERNAL_H
#define OCHE_SIM_WORLD_INTERNAL_H

#include "params/error.h"
#include "sim/app/app.h"
#include "sim/network/slow_host.h"
#include "sim/topology/routes.h"
#include "sim/topology/static_routes.h"
#include "sim/world/world.h"

#define OCHE_WORLD_MOST_RATE_SERIES 128
/*
 * The least time that a PAUSE must last to be part of a deadlock; also the interval between checks
 * for deadlock.
 */
#define OCHE_DEADLOCK_PATIENCE (100 * OCHE_US)

/* A watched port: its name and its histogram. */
struct oche_world_watched {
    uint32_t node, local;
    char name[OCHE_PORT_NAME_BYTES];
    struct oche_queue_watch watch;
};

/* run/longest_queues.c: a port, and the most bytes that it had queued in each span of the run. */
struct oche_world_long_queue {
    uint32_t port; /* global number */
    uint32_t most; /* bytes: the largest of `spans` */
    const uint32_t *spans;
};
struct oche_world_longest {
    oche_time span; /* length of one; 0: nothing is kept */
    uint32_t spans, most_spans;
    uint32_t *most;     /* by port */
    uint32_t *spans_of; /* by port, most_spans for each */
    /* At the end of the run: the ports with the longest queues, the longest first. */
    struct oche_world_long_queue queues[OCHE_WORLD_LONGEST_QUEUES];
    uint32_t count;
};

/* How two consecutive values become one. */
enum oche_world_join { OCHE_JOIN_MEAN, OCHE_JOIN_SUM, OCHE_JOIN_LAST };

struct oche_world_column {
    const char *name, *unit;
    enum oche_world_join join;
    char *entity;
    double *values;
};

/*
 * run/unreachable.c: time of the next check. The check is true if no remaining flow has a path any
 * more.
 */
struct oche_world_unreachable {
    oche_time quiet;    /* nothing must have arrived for so long */
    oche_time next;     /* OCHE_NEVER: not at all */
    oche_time since;    /* nothing has arrived since then; 0: not checked yet */
    uint64_t delivered; /* at the last check */
    bool ended;         /* the run has ended because all its flows are completed */
};

/* run/load.c: the window in which load is measured, and what was counted until its end. */
struct oche_world_arrivals {
    bool *open;           /* by workload: it has a load of its own */
    bool any;             /* some workload is open, and the window is not empty */
    bool go_on;           /* some open workload stops with the run */
    oche_time stop;       /* when the last open workload stops; OCHE_NEVER: with the run */
    oche_time first_stop; /* when the first open workload that goes on after warm-up stops */
    bool taken;           /* the counts are taken, at `until` */
    oche_time until;
    uint64_t delivered_bytes; /* since the end of warm-up, of open workloads */
    uint64_t *line;           /* by port: bytes since the end of warm-up; NULL: not measured */
};

/* scripted_events.c: the events of one port. */
struct oche_world_scripted {
    struct oche_packet_event *list; /* malloc'd; NULL: there are none */
    uint32_t count, port;
    struct oche_packet_event_counts counts; /* after the run */
};

struct oche_world {
    const struct oche_world_config *config;
    struct oche_topology topology;
    /* rates that workloads know; the next two members are its memory */
    struct oche_host_rates host_rates;
    struct oche_host_rate *rate_kinds;
    uint32_t *rate_kind_of;
    struct oche_topology_routes routes; /* the shortest paths */
    struct oche_recovery_network recovery_network;
    struct oche_static_routes static_routes;
    struct oche_topology_routes used_routes; /* the routes in use: oche_world_used_routes */
    struct oche_network network;
    struct oche_world_gathered
        *gathered; /* results/readings.h; NULL: there are no other processes */
    struct oche_world_thread_split thread_split;
    uint8_t lanes;       /* number of lanes for data, which are the classes 0 … lanes - 1 */
    uint8_t class_count; /* number of classes: lanes, priority flows (if there are any), control */
    uint64_t *onward;    /* the result of oche_world_onward; NULL: no mechanism misroutes */
    struct oche_flows flows;
    /* The configuration's, with what it leaves to the network filled in. */
    struct oche_host_params host_params;
    /* NULL: there are none, or none to fill in */
    void *recovery_params, *endpoint_params, *cc_params;
    struct oche_host_shared shared;
    struct oche_host **hosts;
    struct oche_host_nic *nics;           /* host.nic, and one for each entry of the list `nics` */
    const struct oche_host_nic **nics_of; /* by host, NULL where it is nics[0]; or NULL */
    struct oche_slow_host_config *slow_hosts; /* by host; NULL: none is slow */
    struct oche_switch **switches;
    uint32_t *failed; /* links that fail as a workload's file says, from the beginning on */
    uint32_t failed_count;
    struct oche_world_failures *failures; /* link failures; NULL: none */
    char *losses; /* struct oche_loss, one for each port whose packets may be lost */
    struct oche_world_scripted scripted;
    struct oche_timeout_causes *causes;
    struct oche_world_ends *ends; /* run/timeout_causes.c: while ranks judge; else NULL */
    uint64_t timeout_causes[OCHE_TIMEOUT_CAUSES]; /* since the end of warm-up */
    struct oche_pause_tree *pause_tree;
    struct oche_pause_note *notes; /* notes not yet given to the tree, in order of time */
    size_t note_count;
    /* PAUSEs are examined at the end of the first window at or after this */
    oche_time pauses_check_at;
    struct oche_deadlock deadlock;
    struct oche_world_watched *watched;
    uint32_t watched_count;

    /* The end of the run. */
    oche_time until; /* no flow starts, no link changes then or later */
    struct oche_jobs jobs;
    uint64_t awaited;  /* flows, and ranks of jobs, for which the run waits */
    oche_time over_at; /* these are over, and the run ends or goes on for run_on; or OCHE_NEVER */
    char flow_remark[OCHE_FLOW_REMARK_BYTES];
    enum oche_world_end end;
    const volatile sig_atomic_t *interrupt; /* ends the run when it is not 0; may be NULL */
    struct oche_world_stall *stall;         /* run/stall.c; NULL: the run has a duration */
    struct oche_world_unreachable unreachable;
    oche_world_visit *visit; /* called during the run; NULL: no visits */
    void *visit_context;
    oche_time visit_at; /* the end of a window; OCHE_NEVER: not again, or not yet */

    struct oche_world_arrivals arrivals;

    /* State at the end of warm-up. */
    oche_time measured_from;
    struct oche_nic_stats *nic_before;
    uint64_t *counted_before; /* OCHE_MOST_COUNTERS per host: the scheme's own counters */
    uint64_t *line_before, *lost_before, *cut_before, *grey_before, *late_before;
    uint64_t *flow_before; /* bytes received of each flow; NULL: there was no warm-up */
    struct oche_flow_path *paths_before; /* NULL: paths are not recorded */

    /* Time series: columns of values, one row per interval. */
    struct oche_world_column *columns;
    uint32_t column_count, rows, row_capacity;
    oche_time interval;     /* between two rows; 0: there are no series */
    oche_time planned_end;  /* what oche_world_plan_end found; 0: it was not asked */
    uint32_t most_rows;     /* the interval doubles when there are as many; 0: it is fixed */
    uint64_t *column_last;  /* by column: the counter's value at the last sample */
    double *totals_last;    /* by column: the gauge's value at the last sample */
    oche_time *paused_last; /* by port and class: time held until the last sample */
    struct oche_world_paused_port *paused_ports;
    size_t paused_count, paused_capacity;
    uint64_t paused_of_all; /* ranks, at the last sample */
    struct oche_world_longest longest;
    struct oche_world_slowest *slowest; /* run/slowest_flows.c; NULL: no flow is followed */
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

/* True if the flow's data packets, or the answers to them, may travel in the class. */
static inline bool oche_world_travels_in(const struct oche_world *world, uint32_t flow,
                                         unsigned cls)
{
    if (cls + 1U == world->class_count)
        return true;
    return (cls >= world->lanes) == (world->flows.plan[flow].priority != 0);
}

/* world.c: returns what the world's workloads may know about it. */
struct oche_workload_facts oche_world_workload_facts(const struct oche_world *world);
/* host_rates.c: finds the rates of all hosts. To be called when there is a topology. */
void oche_world_rate_hosts(struct oche_world *world);
void oche_world_free_rates(struct oche_world *world);

/* plan.c */
/*
 * Makes the flows of the scenario's workloads, and sets how long the run may last and how many
 * flows it waits for. Which flows there are follows from `facts` and from the scenario's duration.
 */
bool oche_world_build_flows(struct oche_world *world, struct oche_workload_facts facts,
                            struct oche_error *error);

/* thread_split.c */
/*
 * Sets part[n] for each node n: the thread that runs it. Returns the number of threads. To be
 * called when there are topology, routes and flows.
 */
uint32_t oche_world_split_nodes(struct oche_world *world, uint16_t *part);

/* pinned_flows.c */
/* Gives flows the paths of the file of static routes. To be called when flows are made. */
bool oche_world_pin_flows(struct oche_world *world, struct oche_error *error);

/* run/stall.c */
void oche_world_stall_start(struct oche_world *world);
/* Returns when oche_world_stall_check is to be called next; OCHE_NEVER: not at all. */
oche_time oche_world_stall_next(const struct oche_world *world);
/* To be called between windows. True if nothing has been delivered for so long that it never will
 * be. */
bool oche_world_stall_check(struct oche_world *world);
void oche_world_stall_free(struct oche_world *world);
bool oche_world_is_under_way(const struct oche_world *world, uint32_t flow);
/*
 * True if a link or a route changes, a storm ends or, if `flows`, a flow starts by the clock, at
 * some time to come.
 */
bool oche_world_something_is_to_come(const struct oche_world *world, bool flows);

/* run/unreachable.c */
/* To be called when the network knows its changes. `timeout` is the longest one. */
void oche_world_unreachable_start(struct oche_world *world, oche_time timeout);
/* True if a check is due, and links that stay down leave no path to any flow that is left. */
bool oche_world_unreachable_check(struct oche_world *world);

/* run/pauses.c */
/* Like oche_world_walk, for a flow that may not be made yet. */
void oche_world_walk_plan(const struct oche_world *world, const struct oche_flow_plan *plan,
                          bool back, struct oche_walk *walk);
void oche_world_pauses_start(struct oche_world *world);
/* To be called at the end of a window. Returns true if the network is deadlocked. */
bool oche_world_pauses_check(struct oche_world *world);
void oche_world_pauses_finish(struct oche_world *world);
void oche_world_pauses_free(struct oche_world *world);

/*
 * run/deadlock.c: looks for a deadlock in the current state of the switches; fills world->deadlock
 * if there is one.
 */
void oche_world_deadlock_check(struct oche_world *world);

/* run/watched_queues.c */
/* Finds the ports of measure.queues and makes their histograms. */
bool oche_world_build_watches(struct oche_world *world, struct oche_error *error);

/* run/series.c */
void oche_world_series_start(struct oche_world *world);
/* Returns how many series the run keeps, if it keeps any. */
uint32_t oche_world_series_planned(const struct oche_world *world);
void oche_world_series_sample(struct oche_world *world);
void oche_world_series_free(struct oche_world *world);

/* run/longest_queues.c */
/* To be called after oche_world_series_start, and after each oche_world_series_sample. */
void oche_world_longest_queues_start(struct oche_world *world);
void oche_world_longest_sample(struct oche_world *world);
/* Finds the longest queues of this process' switches. To be called when the run is over. */
void oche_world_longest_finish(struct oche_world *world);
/* Adds a queue to the longest ones. Returns false if as many are longer. */
bool oche_world_longest_add(struct oche_world *world, const struct oche_world_long_queue *queue);
void oche_world_longest_free(struct oche_world *world);

/* run/slowest_flows.c */
/* To be called after oche_world_longest_queues_start, whose spans are used. */
void oche_world_slowest_start(struct oche_world *world);
/* To be called at the end of span number `span`, and each time that pairs of spans are merged. */
void oche_world_slowest_sample(struct oche_world *world, uint32_t span);
void oche_world_slowest_join(struct oche_world *world);
/* To be called when the run is over. */
void oche_world_slowest_finish(struct oche_world *world);
void oche_world_slowest_free(struct oche_world *world);

/* run/auto_interval.c */
/* True if measure.interval is auto and the run keeps series nevertheless. */
bool oche_world_samples_by_itself(const struct oche_world *world);
/* Returns how many rows such series may have. */
uint32_t oche_world_auto_rows(const struct oche_world *world, uint32_t columns);
/*
 * Notes a time before which a run that may end early cannot end. To be called before the first
 * event: later a rank knows of the flows of its own hosts alone.
 */
void oche_world_plan_end(struct oche_world *world);
/* Returns the interval with which they begin. */
oche_time oche_world_auto_interval(const struct oche_world *world, uint32_t rows);
/* After a sample: if there are too many rows, makes one of each two and doubles the interval. */
void oche_world_series_join(struct oche_world *world);

/* run/failures.c */
/*
 * Reads the scenario's list `failures`: which links fail, and when. Returns false, with an error,
 * if the list is wrong. To be called before the switches are built.
 */
bool oche_world_failures_find(struct oche_world *world, struct oche_error *error);
/*
 * Tells the network when which links and routes change. To be called when everything else is built.
 */
bool oche_world_failures_build(struct oche_world *world, struct oche_error *error);
void oche_world_failures_free(struct oche_world *world);
/* True if from `from` to `until` no switch used routes around a failure. */
bool oche_world_routes_whole(const struct oche_world *world, oche_time from, oche_time until);

/* run/load.c */
/* Finds the window. To be called when there are flows and a network. */
void oche_world_load_plan(struct oche_world *world);
/* Returns the end of the window if it is to come; else OCHE_NEVER. */
oche_time oche_world_load_next(const struct oche_world *world);
/* Takes the counts of now, the first time that it is called. */
void oche_world_load_take(struct oche_world *world);
void oche_world_load_free(struct oche_world *world);

/* scripted_events.c */
/* To be called when losses are built. Returns false, with an error, if the section is wrong. */
bool oche_world_build_events(struct oche_world *world, struct oche_error *error);
/* Counts what has happened, at all ranks together. To be called once, after the run. */
void oche_world_count_events(struct oche_world *world);

/* nics.c */
/* Reads `host.nic` and the list `nics`. Returns false, with an error, if they are wrong. */
bool oche_world_build_nics(struct oche_world *world, struct oche_error *error);
/*
 * Makes the congestion control's parameters for adapters that replace some. To be called once its
 * own are known, oche_world_fitted_cc. Returns false, with an error, if they contradict each other.
 */
bool oche_world_fit_nics(struct oche_world *world, struct oche_error *error);
void oche_world_free_nics(struct oche_world *world);
/* Returns the habits of a host's adapter. */
const struct oche_nic_habits *oche_world_nic_of(const struct oche_world *world, uint32_t host);
/* True if some adapter has a receive buffer of its own. */
bool oche_world_nics_buffer(const struct oche_world *world);
/* True if the ACK timeouts of hosts in general do not depend on ack_timeout. */
bool oche_world_has_own_timeouts(const struct oche_world *world);

/* slow_hosts.c */
/*
 * Reads the lists `slow_receivers` and `pause_storms`. `lossless` is the mask of classes that PFC
 * applies to where it is on. Returns false, with an error, if they are wrong.
 */
bool oche_world_build_slow_hosts(struct oche_world *world, uint8_t lossless,
                                 struct oche_error *error);
void oche_world_free_slow_hosts(struct oche_world *world);

/*
 * checks/symmetry.c: if the congestion control requires symmetric routing, checks that every flow's
 * packets take the same path there and back.
 */
bool oche_world_check_symmetry(const struct oche_world *world, struct oche_error *error);

/*
 * checks/reordering.c: checks that at most one mechanism chooses ports, and that the hosts can live
 * with packets that overtake each other.
 */
bool oche_world_check_order(const struct oche_world *world, struct oche_error *error);

/* results/deflections.c */
void oche_world_add_mechanisms(const struct oche_world *world, struct oche_world_totals *totals);

/* run/timeout_causes.c */
void oche_world_causes_start(struct oche_world *world);
/* To be called between windows: finds the causes of the timeouts in the window that has ended. */
void oche_world_causes_judge(struct oche_world *world);
void oche_world_causes_free(struct oche_world *world);

/* world.c */
/* Returns the parameters of the hosts' endpoint. For RNICs these are the congestion control's. */
const void *oche_world_endpoint_params(const struct oche_world_config *config);
/* Returns the properties of the packets that the hosts send. */
struct oche_endpoint_packets oche_world_packets(const struct oche_world_config *config);
/* Returns the bits of oche_topology_onward for all switches, one after the other (malloc'd). */
uint64_t *oche_world_onward(const struct oche_world *world,
                            const struct oche_topology_routes *routes);

void *oche_world_make(size_t count, size_t bytes);
/* Memory for arrays with an entry for each flow; see sim/engine/sparse_memory.h. */
void *oche_world_make_sparse(size_t count, size_t bytes);

/* ack_timeout.c */
/* Finds oche_world_recovery_network. To be called when there are routes. */
void oche_world_measure_network(struct oche_world *world);
/* Returns the longest round trip between two hosts. */
oche_time oche_world_longest_round_trip(const struct oche_world *world);
/* Returns the hosts' ACK timeout: the configuration's or, if that is 0, one for the network. */
oche_time oche_world_ack_timeout(const struct oche_world *world);
/* Returns the recovery scheme's parameters with what they leave to the network (malloc'd). */
void *oche_world_recovery_params(const struct oche_world *world);
/*
 * Like oche_world_recovery_params, for an endpoint. NULL: no parameter of the endpoint depends on
 * the network.
 */
void *oche_world_fit_endpoint(const struct oche_world *world);
void *oche_world_fit_cc(const struct oche_world *world);

#endif
