/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a run: the measures that tables show, copied from a world that has run, so that
 * several runs can be shown side by side.
 */
#ifndef OCHE_LAB_MEASURES_OUTCOME_H
#define OCHE_LAB_MEASURES_OUTCOME_H

#include "lab/measures/by_rate.h"
#include "lab/measures/by_workload.h"
#include "lab/measures/deflected.h"
#include "lab/measures/failures.h"
#include "lab/measures/load.h"
#include "lab/measures/pairs.h"
#include "lab/measures/pathologies.h"
#include "lab/measures/pausing_hosts.h"
#include "lab/measures/round_trips.h"
#include "lab/measures/steady_result.h"
#include "lab/measures/unfit.h"
#include "sim/measure/congestion.h"
#include "sim/measure/flow_completion.h"
#include "sim/measure/imbalance.h"
#include "sim/measure/marks.h"
#include "sim/measure/pauses.h"
#include "sim/measure/queue_occupancy.h"
#include "sim/measure/rate_gap.h"
#include "sim/measure/thresholds.h"
#include "sim/measure/utilisation.h"
#include "sim/scenario/idle_keys.h"
#include "sim/world/world.h"

/* number of ranges of flow sizes; the row after them is for all flows */
#define OCHE_OUTCOME_SIZES      5
#define OCHE_OUTCOME_SHORT      (OCHE_OUTCOME_SIZES + 1) /* the row for short flows */
#define OCHE_OUTCOME_EXACT      (OCHE_OUTCOME_SHORT + 1) /* the first row for a single flow size */
#define OCHE_OUTCOME_MOST_EXACT 8
#define OCHE_SHORT_BYTES        100000 /* a flow of fewer bytes is short (pFabric's definition) */
#define OCHE_OUTCOME_ROWS       (OCHE_OUTCOME_EXACT + OCHE_OUTCOME_MOST_EXACT)
#define OCHE_OUTCOME_LISTED     OCHE_BY_RATE_LISTED
#define OCHE_OUTCOME_RATED      64  /* most flows for which rates are kept */
#define OCHE_OUTCOME_PACED      128 /* most connections for which their senders' rates are kept */
#define OCHE_OUTCOME_NAME_BYTES OCHE_PORT_NAME_BYTES

struct oche_outcome_queue {
    char name[OCHE_OUTCOME_NAME_BYTES]; /* "tor0:host3" */
    struct oche_queue_occupancy occupancy;
};

/* Values by flow, kept one by one for exact distributions. */
enum oche_outcome_sample {
    OCHE_SAMPLES_FCT,      /* seconds; of delivered flows */
    OCHE_SAMPLES_SLOWDOWN, /* slowdowns of delivered flows */
    OCHE_SAMPLES_GOODPUT,  /* bits per second; of all measured flows, finished or not */
    OCHE_OUTCOME_SAMPLES
};

/* One flow. The outcome lists flows only if there are few. */
struct oche_outcome_flow {
    char name[2 * OCHE_OUTCOME_NAME_BYTES]; /* "host0 to host4, 20MB" */
    /* from the flow's start to its end, or to the end of the run */
    uint64_t goodput_bps;
    bool delivered;
    /* share of the flow's duration lost to congestion to which it does not contribute */
    double lost_share;
};

/* Data packets that arrived, counted over the flows in one row of sizes. */
struct oche_size_packets {
    uint64_t packets;
    uint64_t marked;       /* with CE */
    uint64_t unsuppressed; /* with CE, and the receiver did not suppress the mark */
    uint64_t answered;     /* with CE, and the receiver answered the mark */
};

struct oche_outcome {
    /* from a fluid model, which fills only some members (lab/fluid/outcome.h) */
    bool by_fluid;
    char label[64];     /* distinguishes this run from others in the same table: "dcqcn" */
    char topology[256]; /* description in one line */
    char scheme[64], recovery[64];
    char adapter[96]; /* host.nic; "": an ideal RNIC */
    bool adapters;    /* some hosts have others */
    /* Remarks for the user, without a full stop; "" if there is no remark. */
    char remark[256];          /* remark about the scheme's parameters in this network */
    char ignored[320];         /* keys of the scenario that have no effect */
    char topology_remark[200]; /* remark about a topology that was read */
    char flow_remark[480];     /* remark about lists of flows that were read */
    char headroom_remark[256]; /* remark about PFC headroom that is less than a link needs */
    struct oche_unfit unfit;   /* settings that do not fit the network */
    /* given keys without effect; empty until the caller, who has the scenario, fills it */
    struct oche_idle_keys idle;
    bool pfc;
    uint64_t seed;
    uint32_t threads; /* threads of each process */
    uint32_t processes;
    /* size for which that number was chosen; 0: the number was given */
    uint32_t processors;
    enum oche_preset defaults;      /* the scenario's */
    enum oche_preset scheme_preset; /* the scheme's own, or `defaults` */
    enum oche_world_end end;        /* why the run ended */
    bool cut_short; /* flows of workloads that end by themselves were under way then */
    oche_time simulated;
    double wall_s; /* wall-clock time of the run, without building the world */
    struct oche_world_totals totals;
    struct oche_world_path_lengths ways;

    /* Flows. Of these members only `warmup_flows` counts flows that started during warm-up. */
    uint64_t warmup_flows, flows, delivered, failed;
    uint64_t unfinished; /* flows that were neither delivered nor failed when the run ended */
    struct oche_completion_row sizes[OCHE_OUTCOME_ROWS];
    /* zeros if packets were not recorded by flow (measure.ways) */
    struct oche_size_packets size_packets[OCHE_OUTCOME_ROWS];
    /* Jain's index of the flows' goodputs; -1: no flows */
    double jain;
    /*
     * True if these flows compete: one size and class, all under way at the same time, and each
     * shares its two hosts with as many others. Otherwise their goodputs differ for reasons other
     * than unfairness.
     */
    bool compete;
    /* all flows; empty if there are too many */
    struct oche_outcome_flow listed[OCHE_OUTCOME_LISTED];
    uint32_t listed_count;
    struct oche_sorted_values samples[OCHE_OUTCOME_SAMPLES];
    /* one row per pair of hosts; none if there are too many */
    struct oche_pair_row pairs[OCHE_MOST_PAIRS];
    uint32_t pair_count;

    /*
     * Goodput after warm-up of the hosts to which a flow has started: the least and the most in
     * bits per second, and Jain's index. -1 if there are no such hosts.
     */
    double host_goodput_least, host_goodput_most, host_jain;

    /*
     * Payload rates in each window of measure.interval: measured, and in the fluid model. `rates`
     * has no flows if there is no interval, or if there are more than OCHE_OUTCOME_RATED flows;
     * `model` has none either if the fluid model was not requested.
     */
    struct oche_rates rates, model;
    /*
     * connections' sending rates at the end of each window; empty if there are more than
     * OCHE_OUTCOME_PACED connections
     */
    struct oche_rates paced;
    struct oche_by_rate by_rate; /* numbers made from `rates`, `model` and `paced` */
    struct oche_round_trips round_trips;

    /* Thresholds of the switch with the most ports; if several have as many, of the first. */
    struct oche_thresholds thresholds;
    bool has_thresholds;

    struct oche_load load; /* load of workloads whose flows a clock starts */

    /* Links and switches. */
    struct oche_utilisation_row utilisation[OCHE_PLACES];
    /* the port with the largest utilisation, of `load` if that is known */
    char busiest[OCHE_PLACES][OCHE_OUTCOME_NAME_BYTES];
    /* bytes that all hosts put on their links, with gaps between packets */
    uint64_t host_line_bytes;
    bool has_adapters; /* hosts' transport is the RNIC, which has counters of adapters */
    bool has_profiles; /* the scenario names an adapter, other than the ideal one */
    bool ipv6;
    struct oche_mark_row marks[OCHE_PLACES];
    struct oche_congestion_row congestion[OCHE_WHERES];
    /* the port at which queueing_worst was measured */
    char worst[OCHE_WHERES][OCHE_OUTCOME_NAME_BYTES];
    struct oche_imbalance_row imbalance[OCHE_WHERES]; /* of uplinks */
    uint64_t lost[OCHE_PLACES]; /* packets that links lost, by the place of the sending port */
    struct oche_pause_sum pauses[OCHE_NODE_KINDS];
    struct oche_pausing_hosts pausing_hosts;
    struct oche_pathologies pathologies;
    struct oche_deflected deflected;
    struct oche_by_workload by_workload;
    struct oche_failures_outcome failures;
    /* scripted events, of the whole run; `events_port` is "" if there are none */
    struct oche_world_events events;
    char events_port[OCHE_OUTCOME_NAME_BYTES];
    /* result of --until-stable; metric[0] is 0: option not given */
    struct oche_steady_result steady;
    struct oche_outcome_queue *queues;
    uint32_t queue_count;
};

/*
 * Fills `outcome` from a world that has run. The caller frees its contents with oche_outcome_free.
 */
void oche_outcome_take(struct oche_outcome *outcome, struct oche_world *world, const char *label,
                       double wall_s);
void oche_outcome_free(struct oche_outcome *outcome);

/* True if no packet was dropped, lost, rejected or sent again in the measured time. */
bool oche_outcome_is_lossless(const struct oche_outcome *outcome);

/* Returns, for each run, the number of the first one with the same trace (malloc'd). */
size_t *oche_outcomes_same(const struct oche_outcome *outcomes, size_t count);

/* Returns the row's sizes in words: "below 10KB", "10KB to 100KB", "10MB and more", "all sizes". */
const char *oche_outcome_size_name(const struct oche_completion_row *row, char *text,
                                   size_t text_bytes);

/* Returns the kind in words: "host", "ToR", "aggregation", "core". */
const char *oche_node_kind_name(enum oche_node_kind kind);

/* The order in which tables list places: from senders up through the network. */
extern const enum oche_port_place oche_places_up[OCHE_PLACES];

#endif
