/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of metrics: for each its name, its unit, its subject, where to find its value in an
 * outcome, and its meaning. Only lab/measures/metrics.c, which makes names, values and texts from
 * it, and its test use it.
 *
 * A new metric is a member of struct oche_outcome and a row of the table.
 */
#ifndef OCHE_LAB_MEASURES_METRIC_TABLE_H
#define OCHE_LAB_MEASURES_METRIC_TABLE_H

#include "lab/measures/outcome.h"
#include "params/figures.h"

/* A unit has a name for results files, and determines how tables show a value. */
enum unit {
    SECONDS,
    BPS,
    BYTES,
    COUNT,
    RATIO, /* quotient of two values of the same kind: 1.05 */
    SHARE, /* a part of something; a ratio in results files: 12.3 % */
    INDEX, /* from 0 to 1; a ratio in results files: 0.987 */
    UNITS
};

struct unit_row {
    const char *name;
    struct oche_figure (*figure)(double value); /* formats a value that is not NAN */
};
extern const struct unit_row oche_metric_units[UNITS];

/* The subject of a metric: how many of it there are, and which of them a run has. */
enum subject {
    OF_RUN,
    OF_SIZE,           /* ranges of flow sizes in which flows started; "all" always */
    OF_DELIVERED,      /* those in which flows were delivered */
    OF_PLACE,          /* places that have ports */
    OF_WHERE,          /* sim/measure/congestion.h */
    OF_SWITCH_WHERE,   /* the same, without hosts' NICs */
    OF_TIER,           /* kinds of nodes */
    OF_PORT,           /* watched queues, by name */
    OF_FLOW,           /* flows, if they are listed one by one */
    OF_PAIR,           /* pairs of hosts, if there are few */
    OF_WORKLOAD,       /* entries of the scenario's list of workloads */
    OF_RATED,          /* flows, if there are few and measure.interval is set */
    OF_MECHANISM,      /* counters of mechanisms that switches have */
    OF_SCHEME,         /* congestion control's own counters */
    OF_SCHEME_PACKETS, /* those of them that count packets */
    SUBJECTS
};

/*
 * What the outcome has, and how the value is computed from it. A metric whose value is NAN is left
 * out.
 */
enum kind {
    COUNTER,          /* a uint64_t */
    PICOSECONDS,      /* an oche_time, in seconds */
    REAL,             /* a double */
    REAL_PICOSECONDS, /* the same, in seconds */
    NOT_NEGATIVE,     /* a double; if negative, NAN */
    RATIO_OF,         /* a uint64_t divided by another; NAN if divided by 0 */
    PICOSECONDS_EACH, /* the same, where the first is an oche_time, in seconds */
    SUM,              /* sum of `count` uint64_t */
    LONGEST,          /* largest of `count` oche_time, in seconds */
    MEAN,             /* mean of a struct oche_sorted_values; NAN if empty */
    PERCENTILE,       /* likewise, the percentile `thousandths` */
    COMPUTED,         /* by a function of the run */
    COMPUTED_EACH     /* by a function of the run and the subject's number */
};

struct source {
    enum kind kind;
    size_t at, stride; /* offset of the first one in the outcome (OF_PORT, OF_WORKLOAD: in the array
                          it points to), and distance from one to the next */
    size_t over, over_stride; /* likewise for the divisor */
    unsigned count, thousandths;
    double (*compute)(const struct oche_outcome *outcome);
    double (*compute_each)(const struct oche_outcome *outcome, unsigned which);
};

struct metric {
    const char *name;
    enum unit unit;
    enum subject of;
    struct source source;
    const char *help;
    bool by_fluid; /* available with a fluid model too */
    /* A run has the metric only if these bytes of the outcome are not all 0; bytes 0: always. */
    struct {
        size_t at, bytes;
    } only_if;
};

extern const struct metric oche_metric_table[];
extern const size_t oche_metric_count;

#endif
