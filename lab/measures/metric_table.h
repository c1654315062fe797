/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of metrics: for each its name, its unit, what it is of, where its value stands in an
 * outcome, and what it means. lab/measures/metrics.c makes names, values and texts from it; nobody
 * else but its test looks at it.
 *
 * A new metric is a member of struct oche_outcome and a row of the table.
 */
#ifndef OCHE_LAB_MEASURES_METRIC_TABLE_H
#define OCHE_LAB_MEASURES_METRIC_TABLE_H

#include "lab/measures/outcome.h"
#include "params/figures.h"

/* A unit is a name in results files, and how tables show a value. */
enum unit {
    SECONDS,
    BPS,
    BYTES,
    COUNT,
    RATIO, /* of two alike things: 1.05 */
    SHARE, /* a part of something, in results files a ratio: 12.3 % */
    INDEX, /* from 0 to 1, in results files a ratio: 0.987 */
    UNITS
};

struct unit_row {
    const char *name;
    struct oche_figure (*figure)(double value); /* of a value that is not NAN */
};
extern const struct unit_row oche_metric_units[UNITS];

/* What a metric is of: how many there are of it in a run, and which of them it has. */
enum subject {
    OF_RUN,
    OF_SIZE,           /* ranges of flow sizes in which flows started; all of them: always */
    OF_DELIVERED,      /* those in which flows were delivered */
    OF_PLACE,          /* places that have ports */
    OF_WHERE,          /* sim/measure/congestion.h */
    OF_SWITCH_WHERE,   /* the same without hosts' NICs */
    OF_TIER,           /* kinds of nodes */
    OF_PORT,           /* watched queues, by name */
    OF_FLOW,           /* flows, where they are listed one by one */
    OF_PAIR,           /* pairs of hosts, where there are few */
    OF_WORKLOAD,       /* entries of the scenario's list of workloads */
    OF_RATED,          /* flows, where there are few and measure.interval is set */
    OF_MECHANISM,      /* counters of mechanisms that switches have */
    OF_SCHEME,         /* counters of congestion control's own */
    OF_SCHEME_PACKETS, /* those of them that count packets */
    SUBJECTS
};

/* What stands in the outcome, and what is made of it. A metric whose value is NAN is left out. */
enum kind {
    COUNTER,          /* a uint64_t */
    PICOSECONDS,      /* an oche_time, in seconds */
    REAL,             /* a double */
    REAL_PICOSECONDS, /* the same, in seconds */
    NOT_NEGATIVE,     /* a double; a negative one is NAN */
    RATIO_OF,         /* a uint64_t over another; over 0 is NAN */
    PICOSECONDS_EACH, /* the same, the first one an oche_time, in seconds */
    SUM,              /* of `count` of uint64_t */
    LONGEST,          /* of `count` of oche_time, in seconds */
    MEAN,             /* of a struct oche_sorted_values; of none NAN */
    PERCENTILE,       /* likewise, `thousandths` of it */
    COMPUTED,         /* by a function of the run, */
    COMPUTED_EACH     /* and by one of each of what the metric is of */
};

struct source {
    enum kind kind;
    size_t at, stride; /* of the first one in the outcome (OF_PORT, OF_WORKLOAD: in the array that
                          it points to), and from one to the next */
    size_t over, over_stride; /* likewise, of what it is divided by */
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
    bool by_fluid; /* a fluid model has it too */
    /* A run has it only if not all these bytes of the outcome are 0; bytes 0: always. */
    struct {
        size_t at, bytes;
    } only_if;
};

extern const struct metric oche_metric_table[];
extern const size_t oche_metric_count;

#endif
