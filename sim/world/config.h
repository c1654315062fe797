/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bound scenario: everything that a world is made from, as plain structs. The scenario reader
 * fills them from YAML; tests and benchmarks fill them by hand. The parameter tables of the
 * sections `run`, `routes`, `measure`, `loss`, `events` and `failures` are here; every other
 * section's table is where the section is implemented.
 */
#ifndef OCHE_SIM_WORLD_CONFIG_H
#define OCHE_SIM_WORLD_CONFIG_H

#include "core/cc/cc.h"
#include "core/param.h"
#include "core/recovery/recovery.h"
#include "fabric/mechanism.h"
#include "fabric/switch.h"
#include "sim/app/app.h"
#include "sim/capture/event_log.h"
#include "sim/network/endpoint.h"
#include "sim/network/host.h"
#include "sim/topology/topology.h"

/* Section `run`. */
struct oche_run_params {
    oche_time duration;  /* simulated time, including warm-up; 0: until all is delivered */
    oche_time warmup;    /* measurements begin here; flows that started earlier are left out */
    bool stop_when_done; /* end as soon as every flow has completed */
    bool bytes;          /* encode and decode every packet at every link */
    bool payload;        /* generate, move and check every byte */
};
extern const struct oche_param_table oche_run_params;

/* Section `routes`. */
struct oche_routes_params {
    const char *file; /* see sim/topology/static_routes.h; NULL: shortest paths */
    /* time from a link's failure until routes avoid the link; OCHE_NEVER: never */
    oche_time reroute;
};
extern const struct oche_param_table oche_routes_params;

#define OCHE_WORLD_MOST_SAMPLES 1000000  /* in a time series */
#define OCHE_WORLD_MOST_VALUES  16000000 /* in all series of a run that has no duration */

/* Section `measure`. */
struct oche_measure_params {
    /* sampling interval of time series; 0: no series; OCHE_NEVER: config.auto_series */
    oche_time interval;
    /* ports whose queues are watched: "tor0:host3, core*:up*", or NULL; sim/topology/port_list.h */
    const char *queues;
    uint64_t queue_step_bytes; /* step of the watched queues' histograms */
    bool rates;                /* series of each connection's rate and gauges (first 128) */
    bool ways; /* record how many links each flow's packets took, and how many were marked */
    double victim_share; /* a flow is a victim if it lost at least this share of its life */
};
extern const struct oche_param_table oche_measure_params;

/* Section `loss`. */
enum oche_loss_where {
    OCHE_LOSS_ALL_LINKS,
    OCHE_LOSS_HOST_LINKS,
    OCHE_LOSS_SWITCH_LINKS,
    OCHE_LOSS_LAST_HOP,  /* the links to hosts; each path has one */
    OCHE_LOSS_FIRST_HOP, /* the links from hosts, the same */
};
struct oche_loss_params {
    double probability;  /* for each packet, on each link and in each direction, independently */
    const char *pattern; /* which packets to lose, or NULL; see fabric/loss.h */
    uint32_t where;      /* enum oche_loss_where */
    const char *port;    /* if not NULL, only packets sent by this port ("tor0:host3") */
    double late;         /* probability that a packet that is not lost is late, as above */
    oche_time late_least, late_most; /* by how much */
};
extern const struct oche_param_table oche_loss_params;

/* Section `events`: both are given, or none. */
struct oche_events_params {
    const char *file; /* scripted events; see sim/scenario/events_file.h */
    const char *port; /* the port whose packets they are for */
};
extern const struct oche_param_table oche_events_params;

/*
 * An entry of the list `failures`: exactly one of link, switches and random is given. With speed or
 * loss the links do not go down: they are slow, or lose packets.
 */
enum oche_failure_where {
    OCHE_FAILURE_SWITCH_LINKS,
    OCHE_FAILURE_HOST_LINKS,
    OCHE_FAILURE_TOR_LINKS,  /* between ToRs and the switches above them */
    OCHE_FAILURE_CORE_LINKS, /* between the top tier and the switches below */
    OCHE_FAILURE_ALL_LINKS,
};
enum oche_failure_direction {
    OCHE_FAILURE_BOTH,
    OCHE_FAILURE_OUT, /* sent by the end that is named; of a switch, by it; else, away from hosts */
    OCHE_FAILURE_IN,
};
struct oche_failure_params {
    const char *link;     /* links that fail: "leaf0:spine1, leaf1:spine1"; or NULL */
    const char *switches; /* switches that fail with all their links: "spine1, spine2"; or NULL */
    uint64_t random;      /* number of links that fail, drawn at random; 0: not given */
    uint32_t where;       /* enum oche_failure_where: the links that `random` draws from */
    double speed;         /* share of its rate that a link keeps; 0: not given */
    double loss;          /* probability that a packet is lost; 0: not given */
    uint32_t direction;   /* enum oche_failure_direction: with speed or loss */
    oche_time at, until;  /* when they fail and come back; OCHE_NEVER: not in this run */
};
extern const struct oche_param_table oche_failure_params;
/* True if the links of the entry become slow or lose packets, and do not go down. */
static inline bool oche_failure_degrades(const struct oche_failure_params *params)
{
    return params->speed > 0 || params->loss > 0;
}

/* An entry of the list `slow_receivers`; see sim/network/slow_host.h. */
struct oche_receiver_params {
    const char *hosts; /* "host3, host5", or "all" */
    uint64_t drain_bps;
    uint64_t buffer_bytes, xoff_bytes, xon_bytes; /* the last two: OCHE_NEVER: by the link */
};
extern const struct oche_param_table oche_receiver_params;

/* An entry of the list `nics`: hosts whose adapter is another one than host.nic. */
struct oche_nics_params {
    const char *hosts; /* "host3, host5", or "all" */
    const char *nic;   /* as struct oche_host_params has it */
};
extern const struct oche_param_table oche_nics_params;

/* An entry of the list `pause_storms`. */
struct oche_storm_params {
    const char *hosts;
    oche_time at, until;
    const char *priorities; /* "0, 1", or "all"; NULL: all */
    uint64_t quanta;
};
extern const struct oche_param_table oche_storm_params;

struct oche_workload_config {
    const struct oche_workload_type *type;
    const void *params;
};

struct oche_world_config {
    uint64_t seed;
    enum oche_preset defaults; /* of the scenario; for the record, as parameters are bound */
    uint32_t threads;          /* 0: as many as gain time, see `processors` */
    uint32_t processors;       /* at most so many are chosen; 0 is as 1 */
    bool record_schedule;      /* one thread runs the parts of all: see sim/network/schedule.h */
    bool together;             /* these run every window together, however slow: for tests */
    /*
     * Reaches the other processes that run this world; `threads` is then not used. NULL: there are
     * no others.
     */
    struct oche_rank_mail *mail;
    bool in_order; /* a thread runs its events in order of time, for tests that watch many nodes */
    struct oche_run_params run;
    const struct oche_topology_type *topology;
    const void *topology_params;
    struct oche_routes_params routes;
    struct oche_switch_params switches;
    /*
     * By enum oche_node_kind: the parameters that switches of the tier have instead; NULL: they
     * have no others.
     */
    const struct oche_switch_params *tiers[OCHE_NODE_KINDS];
    /*
     * The mechanisms of every switch, in the order in which they act, and the parameters of each.
     * Usually empty.
     */
    const struct oche_switch_mechanism *const *mechanisms;
    const void *const *mechanism_params;
    uint32_t mechanism_count;
    struct oche_host_params hosts;
    const struct oche_endpoint *endpoint; /* NULL: the RNIC, with `cc` and `recovery` */
    const void *endpoint_params;
    const struct oche_cc_scheme *cc; /* NULL if `endpoint` is not NULL */
    const void *cc_params;
    const struct oche_recovery_scheme *recovery;
    const void *recovery_params;
    const struct oche_workload_config *workloads;
    uint32_t workload_count;
    struct oche_loss_params loss;
    struct oche_events_params scripted;
    const struct oche_failure_params *failures; /* link failures; NULL: none */
    uint32_t failure_count;
    const struct oche_receiver_params *receivers; /* slow ones */
    uint32_t receiver_count;
    const struct oche_nics_params *nics;
    uint32_t nic_count;
    const struct oche_storm_params *storms;
    uint32_t storm_count;
    struct oche_measure_params measure;
    bool auto_series; /* keep time series where measure.interval is auto; false: none then */
    /* Called for what `tap_ports` send and receive; NULL: no capture. Needs threads = 1. */
    oche_tap *tap;
    void *tap_context;
    const uint32_t *tap_ports; /* indices into the topology's ports */
    uint32_t tap_port_count;
    /* A run that ends when every flow is over goes on for so long, for ACKs and CNPs still due. */
    oche_time run_on;
    struct oche_event_log *events; /* hears all events of the run; NULL: none */
};

/* Returns the sampling interval that the scenario gives; 0: none, or it is automatic. */
static inline oche_time oche_measure_interval(const struct oche_world_config *config)
{
    return config->measure.interval == OCHE_NEVER ? 0 : config->measure.interval;
}

/* Returns the parameters of the switches of a tier (enum oche_node_kind). */
static inline const struct oche_switch_params *
oche_world_of_tier(const struct oche_world_config *config, unsigned kind)
{
    return config->tiers[kind] != NULL ? config->tiers[kind] : &config->switches;
}

/* Returns the name of the mechanism that the congestion control needs in switches, or NULL. */
static inline const char *oche_world_needed_mechanism(const struct oche_world_config *config)
{
    if (config->endpoint != NULL)
        return config->endpoint->switch_mechanism;
    return config->cc != NULL ? config->cc->switch_mechanism : NULL;
}

/*
 * True if switches choose among equal paths so that both directions of a flow take the same path.
 */
static inline bool oche_world_symmetric(const struct oche_world_config *config)
{
    return config->endpoint != NULL && config->endpoint->symmetric;
}

/* checks/reordering.c: returns the mechanism that lets packets overtake each other, or NULL. */
const struct oche_switch_mechanism *
oche_world_reordering_mechanism(const struct oche_world_config *config);
/* Likewise: returns the mechanism that trims packets, or NULL. */
const struct oche_switch_mechanism *
oche_world_trimming_mechanism(const struct oche_world_config *config);

/* True if queue pairs spread their packets over paths (host.entropy). */
bool oche_world_spreads(const struct oche_world_config *config);

/* Returns the value of `congestion_control`: the name of the scheme, or of the endpoint. */
static inline const char *oche_world_scheme_name(const struct oche_world_config *config)
{
    return config->endpoint != NULL ? config->endpoint->name : config->cc->name;
}

#endif
