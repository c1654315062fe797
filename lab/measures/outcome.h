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
#include "lab/measures/pairs.h"
#include "lab/measures/pathologies.h"
#include "sim/measure/congestion.h"
#include "sim/measure/flow_completion.h"
#include "sim/measure/marks.h"
#include "sim/measure/pauses.h"
#include "sim/measure/queue_occupancy.h"
#include "sim/measure/rate_gap.h"
#include "sim/measure/thresholds.h"
#include "sim/measure/utilisation.h"
#include "sim/world/world.h"

#define OCHE_OUTCOME_SIZES      5 /* ranges of flow sizes; one more row is for all flows */
#define OCHE_OUTCOME_SHORT      (OCHE_OUTCOME_SIZES + 1) /* and one more for short flows */
#define OCHE_OUTCOME_EXACT      (OCHE_OUTCOME_SHORT + 1) /* from here on, rows of a single size */
#define OCHE_OUTCOME_MOST_EXACT 8
#define OCHE_OUTCOME_ROWS       (OCHE_OUTCOME_EXACT + OCHE_OUTCOME_MOST_EXACT)
#define OCHE_OUTCOME_LISTED     OCHE_BY_RATE_LISTED
#define OCHE_OUTCOME_RATED      64  /* most flows that have rates */
#define OCHE_OUTCOME_PACED      128 /* most connections that have their senders' rates */
#define OCHE_OUTCOME_NAME_BYTES (2 * OCHE_TOPOLOGY_NAME_BYTES)

struct oche_outcome_queue {
    char name[OCHE_OUTCOME_NAME_BYTES]; /* "tor0:host3" */
    struct oche_queue_occupancy occupancy;
};

/* What flows came to, one value a flow: exact distributions are made from these. */
enum oche_outcome_sample {
    OCHE_SAMPLES_FCT,      /* seconds; of delivered flows */
    OCHE_SAMPLES_SLOWDOWN, /* of delivered flows */
    OCHE_SAMPLES_GOODPUT,  /* bits per second; of all measured flows, as far as they came */
    OCHE_OUTCOME_SAMPLES
};

/* One flow, if there are few. */
struct oche_outcome_flow {
    char name[2 * OCHE_OUTCOME_NAME_BYTES]; /* "host0 to host4, 20MB" */
    uint64_t goodput_bps;                   /* from its start to its end or that of the run */
    bool delivered;
    double lost_share; /* share of its life lost to congestion that it has no part in */
};

/* Data packets that arrived, of the flows in a row of sizes. */
struct oche_size_packets {
    uint64_t packets, marked;
};

struct oche_outcome {
    bool by_fluid;      /* from a fluid model, which has only some of this (lab/fluid/outcome.h) */
    char label[64];     /* distinguishes several runs: "dcqcn" */
    char topology[256]; /* one line */
    char scheme[64], recovery[64];
    /* Remarks for the user; "": none; without a full stop. */
    char remark[256];          /* on the scheme's parameters in this network */
    char ignored[256];         /* what the scenario says without effect */
    char headroom_remark[256]; /* on PFC headroom that is less than a link needs */
    bool pfc;
    uint64_t seed;
    uint32_t threads;
    oche_time simulated;
    double wall_s; /* of the run, without building the world */
    struct oche_world_totals totals;
    struct oche_world_ways ways;

    /* Flows. Those that started during warm-up count only in `warmup_flows`. */
    uint64_t warmup_flows, flows, delivered, failed;
    uint64_t unfinished; /* started, neither delivered nor failed at the end */
    struct oche_completion_row sizes[OCHE_OUTCOME_ROWS];
    struct oche_size_packets size_packets[OCHE_OUTCOME_ROWS]; /* 0: not recorded (measure.ways) */
    double jain;                                              /* of the flows' goodputs; -1: none */
    struct oche_outcome_flow listed[OCHE_OUTCOME_LISTED];     /* the flows, unless there are more */
    uint32_t listed_count;
    struct oche_sorted_values samples[OCHE_OUTCOME_SAMPLES];
    struct oche_pair_row pairs[OCHE_MOST_PAIRS]; /* by pair of hosts, unless there are more */
    uint32_t pair_count;

    /*
     * What hosts received after warm-up, from any flow, over hosts to which a flow has started.
     * Bits per second; -1: there are none.
     */
    double host_goodput_least, host_goodput_most, host_jain;

    /*
     * Payload rates by window of measure.interval, for at most OCHE_OUTCOME_RATED flows; no flows
     * without the interval, or if there are more. `model` is the same according to the fluid model;
     * no flows: not requested.
     */
    struct oche_rates rates, model;
    struct oche_rates paced;     /* senders' rates at the end of each window, by connection; none if
                                    there are more than OCHE_OUTCOME_PACED */
    struct oche_by_rate by_rate; /* what follows from these */

    /* Of the switch with the most ports, the first of them. */
    struct oche_thresholds thresholds;
    bool has_thresholds;

    /* Links and switches. */
    struct oche_utilisation_row utilisation[OCHE_PLACES];
    char busiest[OCHE_PLACES][OCHE_OUTCOME_NAME_BYTES]; /* the port of the largest utilisation */
    uint64_t host_line_bytes; /* that all hosts put on their links, with gaps */
    bool ipv6;
    struct oche_mark_row marks[OCHE_PLACES];
    struct oche_congestion_row congestion[OCHE_WHERES];
    char worst[OCHE_WHERES][OCHE_OUTCOME_NAME_BYTES]; /* the port of queueing_worst */
    uint64_t lost[OCHE_PLACES]; /* by links, of what ports of the place sent */
    struct oche_pause_sum pauses[OCHE_NODE_KINDS];
    struct oche_pathologies pathologies;
    struct oche_deflected deflected;
    struct oche_by_workload by_workload;
    struct oche_failures_outcome failures;
    struct oche_outcome_queue *queues;
    uint32_t queue_count;
};

/* Fills `outcome` from a world that has run; oche_outcome_free frees what it holds. */
void oche_outcome_take(struct oche_outcome *outcome, struct oche_world *world, const char *label,
                       double wall_s);
void oche_outcome_free(struct oche_outcome *outcome);

/* "below 10KB", "10KB to 100KB", "10MB and more", "all sizes". */
const char *oche_outcome_size_name(const struct oche_completion_row *row, char *text,
                                   size_t text_bytes);

/* "host", "ToR", "aggregation", "core". */
const char *oche_node_kind_name(enum oche_node_kind kind);

/* The order in which tables list places: from a sender up. */
extern const enum oche_port_place oche_places_up[OCHE_PLACES];

#endif
