/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: topology, switches, hosts and flows, built from a bound scenario, run, and then read.
 *
 *     world = oche_world_create(&config, &error);   NULL: `error` has one line
 *     oche_world_run(world, progress, context);
 *     … read it through the functions below, or sim/measure …
 *     oche_world_free(world);
 */
#ifndef OCHE_SIM_WORLD_WORLD_H
#define OCHE_SIM_WORLD_WORLD_H

#include <signal.h>

#include "fabric/packet_events.h"
#include "fabric/registry.h"
#include "params/error.h"
#include "sim/measure/timeout_causes.h"
#include "sim/measure/victims.h"
#include "sim/network/slow_host.h"
#include "sim/topology/dependency.h"
#include "sim/topology/routes.h"
#include "sim/world/config.h"

struct oche_world;

/* Returns the parameters of a mechanism, or NULL if the switches do not have the mechanism. */
const void *oche_world_mechanism(const struct oche_world_config *config,
                                 const struct oche_switch_mechanism *mechanism);

/* Returns a new world; NULL, with an error, on failure. All of `config` must outlive the world. */
struct oche_world *oche_world_create(const struct oche_world_config *config,
                                     struct oche_error *error);
void oche_world_free(struct oche_world *world);
/*
 * Returns a number by which worlds that were made alike are alike: of nodes, links, the nodes of
 * each thread or rank, and flows that are made before the run.
 */
uint64_t oche_world_digest(const struct oche_world *world);

/* A progress report. */
struct oche_progress {
    oche_time now;
    oche_time duration; /* 0: the run ends when all flows are done that it waits for */
    uint64_t hops;      /* packet-hops so far */
    uint32_t flows_done, flows;
    uint64_t awaited_done, awaited; /* flows that the run waits for */
};
typedef void oche_progress_report(void *context, const struct oche_progress *progress);

/* Why a run ended. */
enum oche_world_end {
    OCHE_END_DURATION,    /* the time was over */
    OCHE_END_DELIVERED,   /* every flow was over that the run waits for */
    OCHE_END_DEADLOCK,    /* oche_world_deadlock */
    OCHE_END_STALLED,     /* without duration: nothing was delivered for too long */
    OCHE_END_BOUND,       /* without duration: at the most that such a run may last */
    OCHE_END_INTERRUPTED, /* oche_world_interrupt_by */
    OCHE_END_STABLE,      /* oche_world_visit_by */
};

/*
 * Runs until the end of the scenario, or until PFC has deadlocked the network (see
 * oche_world_deadlock). A scenario without duration ends when every flow is over of the workloads
 * that end by themselves, or when nothing has been delivered for 1,000 times the longest timeout,
 * the scenario's or an adapter's own.
 * `report` (which may be NULL) is called every few hundred windows.
 */
void oche_world_run(struct oche_world *world, oche_progress_report *report, void *context);

/* After the run. */
enum oche_world_end oche_world_ended(const struct oche_world *world);
/*
 * Returns when the run could have ended because every flow was over, before run_on of the
 * configuration; OCHE_NEVER: it could not.
 */
oche_time oche_world_over_at(const struct oche_world *world);
/*
 * Returns one line (malloc'd) that says who waits for what, if the run stalled or came to its
 * bound; else NULL.
 */
char *oche_world_waiting_text(const struct oche_world *world);
/* To be called before the run. The run ends after the window in which `flag` becomes nonzero. */
void oche_world_interrupt_by(struct oche_world *world, const volatile sig_atomic_t *flag);
/*
 * Called between windows, first at the end of warm-up. Returns when to be called next: at the end
 * of the first window at or after that; or `now`, which ends the run. Reads the world, changes
 * nothing.
 */
typedef oche_time oche_world_visit(void *context, oche_time now);
/* To be called before the run: `visit` will be called with the state of the run. */
void oche_world_visit_by(struct oche_world *world, oche_world_visit *visit, void *context);
/* Returns when the run ends at the latest. */
oche_time oche_world_until(const struct oche_world *world);

/* Sums over all hosts and switches since the end of warm-up, unless stated otherwise. */
struct oche_world_totals {
    oche_time measured;                            /* simulated time after warm-up */
    uint64_t hops, events;                         /* whole run */
    uint64_t hash;                                 /* hash of the trace of the whole run */
    uint64_t flows, flows_completed, flows_failed; /* whole run */
    /* the shortest and longest time from a flow's start to its last ACK; whole run */
    oche_time acked_first, acked_last;
    struct oche_nic_stats nic;            /* sums over hosts */
    const struct oche_counters *counters; /* the scheme's own counters; NULL: it has none */
    uint64_t counted[OCHE_MOST_COUNTERS]; /* sums over hosts, by row of `counters` */
    uint64_t marks[OCHE_PLACES];          /* CE set, by place */
    uint64_t departures[OCHE_PLACES];     /* packets that left, by place */
    uint64_t drops[OCHE_DROP_CAUSES];
    uint64_t timeout_causes[OCHE_TIMEOUT_CAUSES]; /* timeouts (nic.timeouts) by cause */
    bool timeout_causes_known; /* false: the endpoint does not report what finding causes needs */
    uint64_t lost_packets;     /* packets lost on links because of `loss` and `events`, and cut */
    uint64_t cut_packets;      /* lost because a link went down */
    uint64_t grey_packets;     /* lost by links that failures made lossy */
    uint64_t pauses_sent, pauses_received_by_hosts; /* sent: by switches and hosts */
    uint64_t pauses_sent_by_hosts;                  /* slow receivers, and storms */
    uint64_t slow_receivers;                        /* entries of the scenario's list */
    uint64_t dropped_by_hosts;    /* packets that found a slow receiver's buffer full */
    uint64_t receive_buffer_most; /* bytes: the most in a slow receiver's buffer */
    oche_time pause_time;         /* time held by PAUSE, summed over ports and classes */
    uint64_t rejected_packets;    /* packets that NICs refused as invalid */
    uint64_t late_packets;        /* CNPs and ACKs whose queue pair was already gone */
    uint64_t corrupt_bytes;       /* wrong payload bytes; counted only with `payload: true` */
    uint64_t live_packets;        /* packets in queues and on links at the end */
    uint64_t queued_bytes;        /* bytes in switches at the end */
    /*
     * Counters of mechanisms: [the mechanism's number in the registry][row of its own table of
     * counters]; 0 if switches do not have the mechanism.
     */
    uint64_t mechanisms[OCHE_MOST_MECHANISMS][OCHE_MOST_MECHANISM_COUNTERS];
    bool has_mechanism[OCHE_MOST_MECHANISMS];
    bool any_port_paused; /* at the end */
};
void oche_world_totals(const struct oche_world *world, struct oche_world_totals *totals);

/*
 * The load of the workloads whose flows a clock starts (load.c): in a window from the end of
 * warm-up until their arrivals stop, or until the run ends if that is earlier.
 */
struct oche_world_load {
    bool known;             /* false: there are no such flows in a window, and all else is unset */
    bool alone;             /* the run has no other workloads */
    bool stopped;           /* arrivals stopped at `until`; false: the run ended at `until` first */
    oche_time from, until;  /* the window */
    uint64_t flows;         /* number of flows that started in the window */
    uint64_t offered_bytes; /* their payload */
    /*
     * Payload that hosts received in order in the window, including that of flows that started
     * during warm-up.
     */
    uint64_t delivered_bytes;
    oche_time
        drained; /* when the last flow that a clock had started was over; OCHE_NEVER: not yet */
};
void oche_world_load(const struct oche_world *world, struct oche_world_load *load);
/* Returns the bytes that each port has put on its link in that window, by number of the port. */
const uint64_t *oche_world_load_line_bytes(const struct oche_world *world);
/* Returns the jobs, and what has become of their ranks. */
const struct oche_jobs *oche_world_jobs(const struct oche_world *world);
/* True if a clock starts the workload's flows: it has a load of its own. */
bool oche_world_is_open(const struct oche_world *world, uint32_t workload);
/* Returns when the arrivals of such a workload stop first; OCHE_NEVER: with the run. */
oche_time oche_world_first_stop(const struct oche_world *world);

/*
 * How deflection changes paths: the links that data packets arriving after warm-up crossed, and the
 * links that they would have crossed on shortest paths; summed over flows.
 */
struct oche_path_length_sum {
    uint64_t flows, packets, links, shortest;
    uint64_t added; /* links beyond the shortest */
};
struct oche_world_path_lengths {
    bool known; /* some mechanism deflects; if false, all else is 0 */
    /*
     * all: sum over all flows. short_ones: sum over the flows that started after warm-up and are a
     * single short message. deflected: sum over those short flows that were deflected.
     */
    struct oche_path_length_sum all, short_ones, deflected;
    uint64_t unnoted; /* deflected messages that are missing in oche_world_deflections */
};
void oche_world_path_lengths(const struct oche_world *world, struct oche_world_path_lengths *ways);

/* A deflection: one message that one switch sent by another port than its routes say. */
struct oche_world_deflection {
    oche_time time;
    uint32_t flow;
    uint32_t node, in_port, port; /* the switch; the ports by which the message came and left */
    uint8_t lane, tokens;         /* the lane in which the message left; the tokens that remained */
};
/* Calls `each` for all deflections, switch by switch, in order of time. */
void oche_world_deflections(const struct oche_world *world,
                            void (*each)(void *context,
                                         const struct oche_world_deflection *deflection),
                            void *context);

/* A port that sent a message. */
struct oche_world_hop {
    uint32_t port;        /* global number: topology->nodes[node].first_port + port */
    bool deflected;       /* true: `port` is not the port given by the routes */
    uint8_t lane, tokens; /* the lane in which the message left; the tokens that remained */
    oche_time time;       /* time of the deflection at this hop; OCHE_NEVER: not deflected */
};
/* The path that a deflected message took when it was sent for the first time. */
struct oche_world_deflected_path {
    uint32_t flow;
    bool arrives; /* false: the rest of the path is unknown, as too many messages were deflected */
    /* deflections of first transmissions; others: of retransmissions */
    uint32_t deflections, others;
    uint32_t count;
    struct oche_world_hop hops[OCHE_HOP_LIMIT + 1]; /* the sender's own port comes first */
};
/*
 * Calls `each` for the paths of all deflected messages, in order of their flows, except messages
 * that were sent while switches routed around failures, whose paths are unknown.
 */
void oche_world_deflected_paths(const struct oche_world *world,
                                void (*each)(void *context,
                                             const struct oche_world_deflected_path *way),
                                void *context);

/* Which thread has how much of a world. */
struct oche_world_part {
    uint32_t hosts, switches;
    uint64_t work; /* expected work, without a unit */
};
struct oche_world_thread_split {
    uint32_t threads;
    double events_a_window;        /* expected events per window; 0: unknown, as with one thread */
    struct oche_world_part *parts; /* one for each thread; NULL: one thread */
    uint32_t cut_links;            /* between parts */
};
const struct oche_world_thread_split *oche_world_thread_split(const struct oche_world *world);

/* The parts of a world. */
const struct oche_world_config *oche_world_config(const struct oche_world *world);
const struct oche_network *oche_world_network(const struct oche_world *world);
const struct oche_topology *oche_world_topology(const struct oche_world *world);
const struct oche_flows *oche_world_flows(const struct oche_world *world);
/* Returns a remark on the lists of flows that were read, in one line; "": there is none. */
const char *oche_world_flow_remark(const struct oche_world *world);
const struct oche_host *oche_world_host(const struct oche_world *world, uint32_t host);
/* True if PFC applies to any class of the packets that the scenario's hosts send. */
bool oche_world_lossless(const struct oche_world_config *config);
/* Returns the shortest-path routes, which give hop counts and ideal times. */
const struct oche_topology_routes *oche_world_routes(const struct oche_world *world);
/*
 * Returns the routes that switches use: the shortest paths, or the static routes if the scenario
 * names a file. For static routes only the members topology, group_count and of are valid.
 */
const struct oche_topology_routes *oche_world_used_routes(const struct oche_world *world);
/* The switch port whose PFC headroom is furthest below what its link needs. */
struct oche_headroom_lack {
    uint32_t node, port; /* port: number within the node */
    uint64_t has, needs; /* bytes, for one class */
};
/* Finds the port of struct oche_headroom_lack. Returns false if all ports have enough headroom. */
bool oche_world_headroom_lack(const struct oche_world *world, struct oche_headroom_lack *lack);
/* Returns the rates of all hosts. */
const struct oche_host_rates *oche_world_host_rates(const struct oche_world *world);
/* Returns what timeouts and windows of hosts are to suit. */
struct oche_recovery_network oche_world_recovery_network(const struct oche_world *world);
/*
 * Return the parameters of the hosts, of their recovery and of their endpoint, if it is not an
 * RNIC, with no value that is automatic; and those of their congestion control, in which values
 * that are automatic know the network's round trip.
 */
const struct oche_host_params *oche_world_host_params(const struct oche_world *world);
const void *oche_world_fitted_recovery(const struct oche_world *world);
const void *oche_world_fitted_endpoint(const struct oche_world *world);
const void *oche_world_fitted_cc(const struct oche_world *world);

/* A ToR, or a pod, that is offered more than the links that lead out of it carry. */
struct oche_overload {
    uint32_t number; /* number of the pod, or of the ToR among the switches */
    bool is_pod;
    double offered_bps;    /* mean rate, with headers, of the packets that must leave it */
    uint64_t capacity_bps; /* in one direction */
};
/*
 * Finds where the workloads' mean load exceeds the links most, as seen from the ToRs or pods that
 * send it. Returns false if the links carry it everywhere.
 */
bool oche_world_overload(const struct oche_world *world, struct oche_overload *overload);

/* An estimate of how much a run has to simulate, from its flows. */
struct oche_work_estimate {
    double hops;            /* packets times links, ACKs included, if nothing is lost */
    uint64_t most_bytes;    /* bytes of the largest flow */
    uint32_t payload_bytes; /* payload of a full packet */
};
/* To be called before the run. Goes through the flows, up to a million. */
struct oche_work_estimate oche_world_estimate_work(const struct oche_world *world);
/* How far the queues of a switch can grow, and from where on it marks and pauses, in bytes. */
struct oche_buffer_limits {
    bool lossless; /* PFC applies to data */
    uint64_t memory, headroom;
    uint64_t shared; /* by all ports, without headroom and the reserve for crossing packets */
    uint64_t queue;  /* no queue of data can be longer */
    uint64_t frame;  /* bytes of the largest packet */
    uint64_t xoff;   /* static t_PFC; 0: it is dynamic */
    /* The thresholds of the port that marks last, and its largest probability of a mark. */
    uint64_t kmin, kmax;
    double most_marked;
};
struct oche_buffer_limits oche_world_buffer_limits(const struct oche_world *world, uint32_t number);
/* From where on the hosts of an entry of `slow_receivers` pause and resume, in bytes. */
struct oche_receiver_thresholds {
    uint64_t least_xoff, most_xoff, least_xon, most_xon;
    /* bytes that may still arrive at a port after it has decided to pause */
    uint64_t most_headroom;
};
/* Returns false if there is no such entry, or its hosts do not pause. */
bool oche_world_receiver_thresholds(const struct oche_world *world, uint32_t number,
                                    struct oche_receiver_thresholds *thresholds);
/* A host that is offered more than its link carries. */
struct oche_host_overload {
    uint32_t host;
    bool receives;      /* it receives more than its link carries; false: it must send more */
    double offered_bps; /* mean, with headers */
    uint64_t capacity_bps;
};
/*
 * Finds the host whose link is overloaded most by the workloads' mean load. Returns false if none
 * is overloaded.
 */
bool oche_world_host_overload(const struct oche_world *world, struct oche_host_overload *worst);
/*
 * Returns the bytes that a port's queue of lossy classes may hold while all other queues of its
 * switch, `number` from 0 on, are empty.
 */
uint64_t oche_world_lossy_room(const struct oche_world *world, uint32_t number);
/*
 * Gets the configuration with which switch `number` (0 … switch_count - 1) was built. Writes its
 * ports to `ports`, which has room for OCHE_MAX_PORTS; config->ports points there.
 */
void oche_world_switch_config(const struct oche_world *world, uint32_t number,
                              struct oche_switch_config *config,
                              struct oche_switch_port_config *ports);
/* Returns the last chunk of the round trips that the host has measured; NULL: none. */
const struct oche_rtt_chunk *oche_world_rtts(const struct oche_world *world, uint32_t host);
/* Copies the counters of one port of switch `number` since the end of warm-up. */
void oche_world_switch_port(const struct oche_world *world, uint32_t number, uint32_t port,
                            struct oche_switch_port_stats *stats);
/* Returns switch `number`, 0 … switch_count - 1. */
const struct oche_switch *oche_world_switch(const struct oche_world *world, uint32_t number);
/*
 * Returns the bytes (frames and gaps) that a port sent between the end of warm-up and now. Of a
 * packet in transmission at either time, only the part sent in between counts.
 */
uint64_t oche_world_line_bytes(const struct oche_world *world, uint32_t port);

/*
 * An entry of the scenario's `failures`: links that fail together. After these, there may be one of
 * links that a workload's file takes away, and that routes never have.
 */
struct oche_world_failure {
    uint32_t *links; /* numbers of links in the topology; owned by the world */
    bool *from_b;    /* for each: out is from its end b to a; owned by the world */
    uint32_t count;
    oche_time from, until; /* when the links fail and come back; OCHE_NEVER: not in this run */
    oche_time reroute;     /* from then on until routes follow; OCHE_NEVER: they do not */
};
uint32_t oche_world_failure_count(const struct oche_world *world);
struct oche_world_failure oche_world_failure(const struct oche_world *world, uint32_t number);
/* Returns how many packets of a connection failures lost, in both directions, and when. */
struct oche_hit oche_world_hit(const struct oche_world *world, uint32_t connection);

/* What scripted events have done in the whole run. */
struct oche_world_events {
    uint32_t port; /* index into the network's ports */
    struct oche_packet_event_counts counts;
    struct oche_packet_event first_left; /* with counts.never > 0 */
};
/* Returns false if the scenario has none. */
bool oche_world_event_counts(const struct oche_world *world, struct oche_world_events *events);

/*
 * Returns how many packets that this port sent since the end of warm-up were lost on the port's
 * link, by the sections `loss` and `events`, or because the link went down.
 */
uint64_t oche_world_lost_packets(const struct oche_world *world, uint32_t port);
/*
 * Copies the counters of all ports since the end of warm-up, indexed by
 * topology->nodes[node].first_port + port. A host's port has only these: packets (with data), marks
 * (by the host's NIC), queueing_time and received PAUSEs.
 */
void oche_world_port_stats(const struct oche_world *world, struct oche_switch_port_stats *stats);
/* Returns what a slow receiver's buffer has had and dropped since then; all 0 for others. */
struct oche_slow_host_stats oche_world_slow_host(const struct oche_world *world, uint32_t host);
/* Copies the counters of one host's NIC since the end of warm-up. */
void oche_world_host_stats(const struct oche_world *world, uint32_t host,
                           struct oche_nic_stats *stats);
/*
 * Copies the counters of a host's scheme since the end of warm-up, by row of the returned table.
 * Returns NULL if the scheme has no counters.
 */
const struct oche_counters *oche_world_host_counters(const struct oche_world *world, uint32_t host,
                                                     uint64_t values[OCHE_MOST_COUNTERS]);
/*
 * Returns the payload bytes of a flow that its receiver has received in order; the flow's size
 * once it is delivered.
 */
uint64_t oche_world_flow_bytes(const struct oche_world *world, uint32_t flow);
/* Returns how many payload bytes of a flow were received in order since the end of warm-up. */
uint64_t oche_world_flow_bytes_measured(const struct oche_world *world, uint32_t flow);

/* Returns the time between two values of the time series; 0: there are none. */
oche_time oche_world_interval(const struct oche_world *world);

/* A time series: one value per interval since the end of warm-up; NAN: not known yet. */
struct oche_world_series {
    const char *name;   /* "goodput", "queue", "rate", "pauses", a gauge's such as "window" */
    const char *entity; /* "all", "host3", "flow 7", "tor0:host3", "connection 12" */
    const char *unit;   /* "bps", "bytes", "count", "s" */
    const double *values;
    uint32_t count;
};
uint32_t oche_world_series_count(const struct oche_world *world);
struct oche_world_series oche_world_series(const struct oche_world *world, uint32_t number);

/*
 * A port that PAUSE held during an interval of the time series. Ports that were not held have no
 * entry.
 */
struct oche_world_paused_port {
    uint32_t node, port; /* port: number within the node */
    uint32_t row;        /* number of the interval, from 0 */
    oche_time held;      /* time held, of the class that was held longest */
};
/* Returns the holds in order of interval, node, port (owned by the world); sets *count. */
const struct oche_world_paused_port *oche_world_paused_ports(const struct oche_world *world,
                                                             size_t *count);

/*
 * The ports of switches that had the longest queues, the longest first; ports of measure.queues are
 * left out. Of two equal ports the one with the lower number comes first. Known if there are series
 * and config.auto_series.
 */
#define OCHE_WORLD_LONGEST_QUEUES 3
uint32_t oche_world_longest_count(const struct oche_world *world);
struct oche_world_longest_series {
    uint32_t port;         /* global number */
    const uint32_t *bytes; /* the longest queue in each span since the end of warm-up */
    uint32_t count;
    oche_time span;
};
struct oche_world_longest_series oche_world_longest_series(const struct oche_world *world,
                                                           uint32_t number);

/*
 * The flows of at least 100 KB that lost the most time, compared with the same flow alone in the
 * network. The slowest comes first; of two equal flows, the one with the lower number. A flow that
 * is not over counts until the end of the run. Known as the longest queues are, but not over ranks,
 * nor where very many flows are under way at a time.
 */
#define OCHE_WORLD_SLOWEST_FLOWS 3
uint32_t oche_world_slowest_count(const struct oche_world *world);
struct oche_world_slowest_series {
    uint32_t flow;
    oche_time lost;
    double slowdown;
    uint32_t first, count; /* the first span since the end of warm-up, from 0, and how many */
    const uint64_t *bytes; /* payload bytes that arrived in order, for each span */
    oche_time span;
};
struct oche_world_slowest_series oche_world_slowest_series(const struct oche_world *world,
                                                           uint32_t number);

/* Watched queues (measure.queues). */
uint32_t oche_world_watch_count(const struct oche_world *world);
const struct oche_queue_watch *oche_world_watch(const struct oche_world *world, uint32_t number,
                                                const char **name);

/* Finds the path of a flow's data packets; with `back`, the path of its receiver's answers. */
void oche_world_walk(const struct oche_world *world, uint32_t flow, bool back,
                     struct oche_walk *walk);

/*
 * Faults of the routes for the flows of this scenario, found before the scenario runs. Nothing is
 * checked if shortest paths go up and then down.
 */
struct oche_route_faults {
    uint32_t lost_flows;       /* flows that never arrive, or are never acknowledged */
    uint32_t lost_flow;        /* the first of the lost flows */
    bool lost_back;            /* the lost flow's data arrives, but the answers to it do not */
    struct oche_walk lost;     /* the path of the flow's data or, if lost_back, of the answers */
    struct oche_circle circle; /* a cyclic buffer dependency; empty: none, or no PFC */
    unsigned circle_cls;       /* the class of `circle` */
};
/* Returns true if there is a fault; false: all flows arrive and PFC cannot deadlock. */
bool oche_world_find_route_faults(const struct oche_world *world, struct oche_route_faults *faults);
void oche_route_faults_free(struct oche_route_faults *faults);
/*
 * These describe the lost flow, or the cycle's ports and class, in words (malloc'd). They return
 * NULL if there is no such fault.
 */
char *oche_route_faults_lost_text(const struct oche_world *world,
                                  const struct oche_route_faults *faults);
char *oche_route_faults_circle_text(const struct oche_world *world,
                                    const struct oche_route_faults *faults);

/* ---- PAUSEs, after the run ---- */

/* Returns the forest of PAUSEs: where they began and how they spread. */
const struct oche_pause_tree *oche_world_pause_tree(const struct oche_world *world);
/* Returns how many PAUSEs and RESUMEs are missing in the forest because too many came at a time. */
uint64_t oche_world_pauses_unnoted(const struct oche_world *world);
/*
 * Sets count_of[n], for each root n of the forest, to the number of hosts that sent through the
 * root's port while its PAUSEs held other ports.
 */
void oche_world_pause_senders(const struct oche_world *world, uint32_t *count_of);
/* Computes the time that a flow lost to PAUSEs; all 0 if the flow never started. */
void oche_world_flow_pause_loss(struct oche_world *world, uint32_t flow,
                                struct oche_flow_pause_loss *holds);

/* A deadlock: ports that hold each other for ever. */
struct oche_deadlock {
    bool found;
    oche_time since;   /* when the last PAUSE of the cycle began */
    oche_time noticed; /* when the deadlock was found and the run ended */
    struct oche_circle circle;
    uint8_t cls;
    uint32_t stuck_ports; /* ports and classes that can never send again */
    uint64_t stuck_bytes; /* bytes that wait at these ports */
};
/* Returns the deadlock that ended the run, or NULL. */
const struct oche_deadlock *oche_world_deadlock(const struct oche_world *world);
/* Returns a description (malloc'd): "leaf0:spine1 → spine1:leaf2 → … → leaf0:spine1, class 0". */
char *oche_deadlock_text(const struct oche_world *world, const struct oche_deadlock *deadlock);

/*
 * Returns the longest round trip of any flow in an empty network, on shortest paths: the time of a
 * full packet and its ACK, without the packet's serialisation at its sender. 0 without flows.
 */
oche_time oche_world_empty_rtt(const struct oche_world *world);

/* Returns the completion time that a flow would have alone in the network; slowdowns use it. */
oche_time oche_world_ideal_time(struct oche_world *world, uint32_t flow);

#endif
