/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of metrics. Each row has a metric's name, unit, subject and meaning, and where its
 * value is in an outcome. Only lab/measures/metrics.c, which makes names, values and texts from the
 * table, and the test of metrics.c use it.
 *
 * To add a metric, add a member to struct oche_outcome and a row to the table.
 */
#ifndef OCHE_LAB_MEASURES_METRIC_TABLE_H
#define OCHE_LAB_MEASURES_METRIC_TABLE_H

#include "lab/measures/outcome.h"
#include "params/figures.h"

/* A metric's unit: gives the unit's name in results files and how tables show a value. */
enum unit {
    SECONDS,
    BPS,
    BYTES,
    COUNT,
    RATIO, /* quotient of two values of the same kind: 1.05 */
    SHARE, /* part of a whole, shown in per cent: 12.3 %; a ratio in results files */
    INDEX, /* number from 0 to 1, shown as it is: 0.987; a ratio in results files */
    UNITS
};

struct unit_row {
    const char *name;
    struct oche_figure (*figure)(double value); /* formats a value that is not NAN */
};
extern const struct unit_row oche_metric_units[UNITS];

/* The subjects of a metric: the run has one value for each of these. */
enum subject {
    OF_RUN,
    OF_SIZE,           /* ranges of flow sizes in which flows have started, and "all" */
    OF_DELIVERED,      /* ranges of flow sizes in which flows were delivered */
    OF_PLACE,          /* places that have ports */
    OF_WHERE,          /* kinds of links (enum oche_where) that the network has */
    OF_SWITCH_WHERE,   /* OF_WHERE without the links from hosts */
    OF_TIER,           /* kinds of nodes */
    OF_PORT,           /* watched queues, by name */
    OF_FLOW,           /* flows, if they are listed one by one */
    OF_PAIR,           /* pairs of hosts, if there are few */
    OF_WORKLOAD,       /* entries of the scenario's list of workloads */
    OF_RATED,          /* flows, if there are few and measure.interval is set */
    OF_MECHANISM,      /* counters of mechanisms that switches have */
    OF_SCHEME,         /* counters of the congestion-control schemes */
    OF_SCHEME_PACKETS, /* those counters of the schemes that count packets */
    OF_ADAPTER,        /* counters by the names that adapters have for them */
    SUBJECTS
};

/* How the value is computed from the outcome. A metric whose value is NAN is left out. */
enum kind {
    COUNTER,          /* a uint64_t */
    PICOSECONDS,      /* an oche_time, in seconds */
    REAL,             /* a double */
    REAL_PICOSECONDS, /* a double in picoseconds, turned into seconds */
    NOT_NEGATIVE,     /* a double; NAN if it is negative */
    RATIO_OF,         /* a uint64_t divided by another; NAN if divided by 0 */
    PICOSECONDS_EACH, /* an oche_time divided by a uint64_t, in seconds; NAN if divided by 0 */
    SUM,              /* sum of `count` uint64_t */
    LONGEST,          /* largest of `count` oche_time, in seconds */
    MEAN,             /* mean of a struct oche_sorted_values; NAN if empty */
    PERCENTILE,       /* percentile `thousandths` of a struct oche_sorted_values; NAN if empty */
    COMPUTED,         /* by a function of the run */
    COMPUTED_EACH     /* by a function of the run and the subject's number */
};

struct source {
    enum kind kind;
    /*
     * `at`: offset of the first value in the outcome (OF_PORT, OF_WORKLOAD: offset in the first
     * element of the outcome's array). `stride`: bytes from one value to the next.
     */
    size_t at, stride;
    size_t over, over_stride; /* offset and stride of the divisor */
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
    bool by_fluid; /* also available from a fluid model */
    /* The run has the metric only if these bytes of the outcome are not all 0; 0 bytes: always. */
    struct {
        size_t at, bytes;
    } only_if;
    /*
     * For the time of an event that may not happen: a metric that is 1 if it happened. If a run has
     * that metric but not this one, the event never happened. NULL: no such time.
     */
    const char *or_never;
};

extern const struct metric oche_metric_table[];
extern const size_t oche_metric_count;

#endif
