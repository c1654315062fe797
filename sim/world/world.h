/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: topology, switches, hosts and flows, built from a bound scenario, run, and looked at.
 *
 *     world = oche_world_create(&config, error, sizeof(error));   NULL: error has one line
 *     oche_world_run(world, progress, context);
 *     … read it through the functions below, or sim/measure …
 *     oche_world_free(world);
 */
#ifndef OCHE_SIM_WORLD_WORLD_H
#define OCHE_SIM_WORLD_WORLD_H

#include "fabric/registry.h"
#include "params/error.h"
#include "sim/measure/timeout_causes.h"
#include "sim/measure/victims.h"
#include "sim/topology/dependency.h"
#include "sim/topology/routes.h"
#include "sim/world/config.h"

struct oche_world;

/* The parameters of a mechanism that the switches have; NULL: they do not have it. */
const void *oche_world_mechanism(const struct oche_world_config *config,
                                 const struct oche_switch_mechanism *mechanism);

/* `config` and what it points to must outlive the world. */
struct oche_world *oche_world_create(const struct oche_world_config *config,
                                     struct oche_error *error);
void oche_world_free(struct oche_world *world);

/* What a progress report says. */
struct oche_progress {
    oche_time now, duration; /* simulated */
    uint64_t hops;           /* packet-hops so far */
    uint32_t flows_done, flows;
};
typedef void oche_progress_report(void *context, const struct oche_progress *progress);

/*
 * Runs to the end of the scenario, or until PFC has brought the network to a stop (see
 * oche_world_deadlock). `report` (may be NULL) is called every few thousand
 * windows.
 */
void oche_world_run(struct oche_world *world, oche_progress_report *report, void *context);

/* Sums over all hosts and switches since the end of warm-up, unless said otherwise. */
struct oche_world_totals {
    oche_time measured;                            /* simulated time after warm-up */
    uint64_t hops, events;                         /* whole run */
    uint64_t hash;                                 /* of the trace, whole run */
    uint64_t flows, flows_completed, flows_failed; /* whole run */
    struct oche_nic_stats nic;                     /* sums */
    const struct oche_counters *counters; /* what the scheme counts itself; NULL: nothing */
    uint64_t counted[OCHE_MOST_COUNTERS]; /* by row of that table: sums */
    uint64_t marks[OCHE_PLACES];          /* CE set, by place */
    uint64_t departures[OCHE_PLACES];     /* packets that left, by place */
    uint64_t drops[OCHE_DROP_CAUSES];
    uint64_t timeout_causes[OCHE_TIMEOUT_CAUSES]; /* of nic.timeouts, */
    bool timeout_causes_known; /* where the endpoint tells what it knows of losses */
    uint64_t lost_packets;     /* on links, as the scenario says, */
    uint64_t cut_packets;      /* and of these as the link went down */
    uint64_t pauses_sent, pauses_received_by_hosts;
    oche_time pause_time;      /* sum over ports and classes that were held */
    uint64_t rejected_packets; /* by NICs, for what is wrong with them */
    uint64_t late_packets;     /* CNPs and ACKs whose queue pair was done and gone */
    uint64_t corrupt_bytes;    /* with payload: true */
    uint64_t live_packets;     /* in queues and on links at the end */
    uint64_t queued_bytes;     /* in switches at the end */
    /* By number in the registry and in the mechanism's table; 0 where switches do not have it. */
    uint64_t mechanisms[OCHE_MOST_MECHANISMS][OCHE_MOST_MECHANISM_COUNTERS];
    bool has_mechanism[OCHE_MOST_MECHANISMS];
    bool any_port_paused; /* at the end */
};
void oche_world_totals(const struct oche_world *world, struct oche_world_totals *totals);

/*
 * What deflection does to ways: links that data packets crossed which arrived after warm-up, and
 * what they would have crossed on shortest ways. Of all flows, and of those that started after
 * warm-up and are a short message each.
 */
struct oche_way_sum {
    uint64_t flows, packets, links, shortest;
};
struct oche_world_ways {
    bool known;                                     /* some mechanism deflects; else all is 0 */
    struct oche_way_sum all, short_ones, deflected; /* deflected: of the short ones */
    uint64_t unnoted; /* deflected messages that oche_world_deflections does not have */
};
void oche_world_ways(const struct oche_world *world, struct oche_world_ways *ways);

/* One message that one switch sent another way. */
struct oche_world_deflection {
    oche_time time;
    uint32_t flow;
    uint32_t node, in_port, port; /* port: by which it left */
    uint8_t lane, tokens;         /* in which it left, and with how many */
};
/* Calls `each` for all of them, switch by switch, by time. */
void oche_world_deflections(const struct oche_world *world,
                            void (*each)(void *context,
                                         const struct oche_world_deflection *deflection),
                            void *context);

/* A port that sent a message. */
struct oche_world_hop {
    uint32_t port;        /* of all: topology->nodes[node].first_port + port */
    bool deflected;       /* not the one that the routes say */
    uint8_t lane, tokens; /* in which it left, and with how many */
    oche_time time;       /* when, where it was deflected; else OCHE_NEVER */
};
/* The way of a message that was deflected, the first time that it was sent. */
struct oche_world_taken_way {
    uint32_t flow;
    bool arrives; /* false: it is not known how it goes on, as too many were deflected */
    uint32_t deflections, others; /* others: when it was sent again */
    uint32_t count;
    struct oche_world_hop hops[OCHE_HOP_LIMIT + 1]; /* the sender's own port first */
};
/*
 * Calls `each` for all of them, in order of their flows, but for those that were sent while
 * switches routed around failures: what they did then is not noted.
 */
void oche_world_taken_ways(const struct oche_world *world,
                           void (*each)(void *context, const struct oche_world_taken_way *way),
                           void *context);

/* The parts. */
const struct oche_world_config *oche_world_config(const struct oche_world *world);
const struct oche_network *oche_world_network(const struct oche_world *world);
const struct oche_topology *oche_world_topology(const struct oche_world *world);
const struct oche_flows *oche_world_flows(const struct oche_world *world);
const struct oche_host *oche_world_host(const struct oche_world *world, uint32_t host);
/* Whether PFC applies to any class of what the scenario's hosts send. */
bool oche_world_lossless(const struct oche_world_config *config);
/* The shortest: for paths and what follows from them. */
const struct oche_topology_routes *oche_world_routes(const struct oche_world *world);
/* What switches route by: the same, unless the scenario names a file of routes. Of these only
 * topology, group_count and of are there. */
const struct oche_topology_routes *oche_world_used_routes(const struct oche_world *world);
/* The switch's port, of all, whose PFC headroom is furthest below what its link needs. */
struct oche_headroom_lack {
    uint32_t node, port; /* port: of the node */
    uint64_t has, needs; /* bytes, of a class */
};
/* False if all have enough. */
bool oche_world_headroom_lack(const struct oche_world *world, struct oche_headroom_lack *lack);
/*
 * How switch number 0 … switch_count - 1 was made. Its ports are written to `ports`, room for
 * OCHE_MAX_PORTS, to which `config` then points.
 */
void oche_world_switch_config(const struct oche_world *world, uint32_t number,
                              struct oche_switch_config *config,
                              struct oche_switch_port_config *ports);
/* Switch number 0 … switch_count - 1. */
const struct oche_switch *oche_world_switch(const struct oche_world *world, uint32_t number);
/*
 * Bytes that a port sent since the end of warm-up, frames and gaps; of a packet that it was sending
 * then, or is sending now, the part that left in between.
 */
uint64_t oche_world_line_bytes(const struct oche_world *world, uint32_t port);

/* An entry of the scenario's `failures`: links that fail together. */
struct oche_world_failure {
    uint32_t *links; /* numbers in the topology; the world's */
    uint32_t count;
    oche_time from, until; /* OCHE_NEVER: not in this run */
};
uint32_t oche_world_failure_count(const struct oche_world *world);
struct oche_world_failure oche_world_failure(const struct oche_world *world, uint32_t number);
/* What failures took of a connection's packets, in both directions; none: all 0. */
struct oche_hit oche_world_hit(const struct oche_world *world, uint32_t connection);

/* Packets that links lost of what this port sent since the end of warm-up, as the scenario says, or
 * because they went down. */
uint64_t oche_world_lost_packets(const struct oche_world *world, uint32_t port);
/*
 * Counters of every port since the end of warm-up, by topology->nodes[node].first_port + port. Of
 * a host's port: packets (those with data), marks (its NIC's own), queueing_time and received
 * PAUSEs.
 */
void oche_world_port_stats(const struct oche_world *world, struct oche_switch_port_stats *stats);
/* Counters of one host's NIC since the end of warm-up. */
void oche_world_host_stats(const struct oche_world *world, uint32_t host,
                           struct oche_nic_stats *stats);
/* What its scheme has counted itself since the end of warm-up, by row of the table; NULL: nothing.
 */
const struct oche_counters *oche_world_host_counters(const struct oche_world *world, uint32_t host,
                                                     uint64_t values[OCHE_MOST_COUNTERS]);
/* Payload of a flow that its receiver has, in order; all of it once it is delivered. */
uint64_t oche_world_flow_bytes(const struct oche_world *world, uint32_t flow);
/* Of these, what it got since the end of warm-up. */
uint64_t oche_world_flow_bytes_measured(const struct oche_world *world, uint32_t flow);

/* Time series, one value an interval since the end of warm-up. */
struct oche_world_series {
    const char *name;   /* "goodput", "queue", "rate", "pauses" */
    const char *entity; /* "all", "host3", "flow 7", "tor0:host3", "connection 12" */
    const char *unit;   /* "bps", "bytes", "count" */
    const double *values;
    uint32_t count;
};
uint32_t oche_world_series_count(const struct oche_world *world);
struct oche_world_series oche_world_series(const struct oche_world *world, uint32_t number);

/*
 * A port that was held by PAUSE during an interval, with the same times as the series. Only what is
 * above 0: most ports are never held.
 */
struct oche_world_hold {
    uint32_t node, port; /* port: of the node */
    uint32_t row;        /* number of the interval, from 0 */
    oche_time held;      /* of the class that was held longest */
};
/* In order of interval, node, port; *count of them, owned by the world. */
const struct oche_world_hold *oche_world_holds(const struct oche_world *world, size_t *count);

/* Watched queues (measure.queues). */
uint32_t oche_world_watch_count(const struct oche_world *world);
const struct oche_queue_watch *oche_world_watch(const struct oche_world *world, uint32_t number,
                                                const char **name);

/* The ports that send a flow's packets; `back`: those that send what its receiver answers. */
void oche_world_walk(const struct oche_world *world, uint32_t flow, bool back,
                     struct oche_walk *walk);

/*
 * What is wrong with the routes for the flows of this scenario, known before it runs. False: all
 * flows arrive, and PFC cannot deadlock. Nothing is looked at where shortest paths go up and down.
 */
struct oche_route_faults {
    uint32_t lost_flows;       /* that never arrive, or are never acknowledged */
    uint32_t lost_flow;        /* the first of them, */
    bool lost_back;            /* its answers only, */
    struct oche_walk lost;     /* and their way */
    struct oche_circle circle; /* a cyclic buffer dependency, with PFC */
    unsigned circle_cls;
};
bool oche_world_find_route_faults(const struct oche_world *world, struct oche_route_faults *faults);
void oche_route_faults_free(struct oche_route_faults *faults);
/* In words, malloc'd; NULL if there is nothing to say. The text on a circle is its ports and class.
 */
char *oche_route_faults_lost_text(const struct oche_world *world,
                                  const struct oche_route_faults *faults);
char *oche_route_faults_circle_text(const struct oche_world *world,
                                    const struct oche_route_faults *faults);

/* ---- PAUSEs, after the run ---- */

/* Where they began and how they spread. */
const struct oche_pause_tree *oche_world_pause_tree(const struct oche_world *world);
/* PAUSEs and RESUMEs that are not in it, because there were too many at a time. */
uint64_t oche_world_pauses_unnoted(const struct oche_world *world);
/* By node of the tree, for roots: how many hosts sent by that port while it made others wait. */
void oche_world_pause_senders(const struct oche_world *world, uint32_t *count_of);
/* What PAUSEs cost a flow; all 0 if it never started. */
void oche_world_flow_holds(struct oche_world *world, uint32_t flow, struct oche_flow_holds *holds);

/* The network has come to a stop for ever: ports that are held by one another. */
struct oche_deadlock {
    bool found;
    oche_time since;   /* the last of the circle's PAUSEs */
    oche_time noticed; /* the run ended then */
    struct oche_circle circle;
    uint8_t cls;
    uint32_t stuck_ports; /* ports and classes that can never send again */
    uint64_t stuck_bytes; /* that wait at them */
};
/* NULL if there is none. */
const struct oche_deadlock *oche_world_deadlock(const struct oche_world *world);
/* "leaf0:spine1 → spine1:leaf2 → … → leaf0:spine1, class 0"; malloc'd. */
char *oche_deadlock_text(const struct oche_world *world, const struct oche_deadlock *deadlock);

/*
 * A full packet and its ACK, there and back where nothing waits, without the packet's own time on
 * its sender's line: of the flow for which that is longest; 0 without flows. By shortest paths.
 */
oche_time oche_world_empty_rtt(const struct oche_world *world);

/* Completion time of a flow that is alone in the network: for slowdowns. */
oche_time oche_world_ideal_time(struct oche_world *world, uint32_t flow);

#endif
