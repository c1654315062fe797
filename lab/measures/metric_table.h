/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of metrics: for each its name, unit, what it is of, where its value stands in an
 * outcome. lab/measures/metrics.c makes names and values from it; nobody else looks at it.
 */
#ifndef OCHE_LAB_MEASURES_METRIC_TABLE_H
#define OCHE_LAB_MEASURES_METRIC_TABLE_H

#include "lab/measures/outcome.h"

/* What a metric is of: how many there are of it in a run, and which of them it has. */
enum subject {
    OF_RUN,
    OF_SIZE,           /* ranges of flow sizes in which flows started; all of them: always */
    OF_DELIVERED,      /* those in which flows were delivered */
    OF_PLACE,          /* places that have ports */
    OF_WHERE,          /* sim/measure/congestion.h */
    OF_TIER,           /* kinds of nodes */
    OF_PORT,           /* watched queues, by name */
    OF_FLOW,           /* flows, where they are listed one by one */
    OF_PAIR,           /* pairs of hosts, where there are few */
    OF_WORKLOAD,       /* entries of the scenario's list of workloads */
    OF_RATED,          /* flows, where there are few and measure.interval is set */
    OF_THRESHOLDS,     /* of the largest switch: 1 or none */
    OF_MECHANISM,      /* counters of mechanisms that switches have */
    OF_SCHEME,         /* counters of congestion control's own */
    OF_SCHEME_PACKETS, /* those of them that count packets */
    SUBJECTS
};

/* How the value is found. */
enum source {
    COUNTER,         /* a uint64_t */
    PICOSECONDS,     /* an oche_time */
    REAL,            /* a double */
    PERCENTILE,      /* `at` thousandths of the flows' goodputs */
    FLOW_PERCENTILE, /* the same, of one workload */
    PAIR_PERCENTILE, /* `at` thousandths of the goodputs of a workload's pairs of hosts */
    COMPUTED         /* by a function */
};

struct metric {
    const char *name, *unit;
    enum subject of;
    enum source source;
    size_t at, stride; /* of the first one in the outcome (queues: in the array), to the next */
    double (*compute)(const struct oche_outcome *outcome, unsigned which);
    const char *help;
    bool by_fluid; /* a fluid model has it too */
};

extern const struct metric oche_metric_table[];
extern const size_t oche_metric_count;
/* The units that a metric may have. */
extern const char *const oche_metric_units[];
extern const size_t oche_metric_unit_count;

#endif
