/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point: one run of a scenario with its overrides. Its result is a set of named numbers. Since a
 * point runs in a process of its own (lab/sweep/jobs.h), its result reaches the parent as text in a
 * file: see oche_point_write and oche_point_read.
 *
 * Metrics have the names that tables and claims use: in lower case, with parts joined by dots. The
 * first part is the thing that is measured, then comes its subject, then the statistic ("goodput",
 * "timeouts.nak_lost", "fct.below_10KB.p99", "queue.tor0:host0.p99", "pauses.tor"). Units are s,
 * bps, bytes, count or ratio. lab/measures/metrics.h has the list, with a line of help for each.
 */
#ifndef OCHE_LAB_SWEEP_POINT_H
#define OCHE_LAB_SWEEP_POINT_H

#include <stdio.h>

#include "core/base.h"

/* A distribution is kept as exact percentiles, from 0 to 1000 thousandths at equal distances. */
/* thousandths between two percentiles; the first one is the minimum */
#define OCHE_DISTRIBUTION_STEP  5
#define OCHE_DISTRIBUTION_STEPS 201 /* number of percentiles; the last one is the maximum */

enum oche_point_status {
    OCHE_POINT_DONE,
    /*
     * the scenario was rejected, or the run ended in a deadlock; `error` is the line that oche run
     * would print
     */
    OCHE_POINT_FAILED,
    OCHE_POINT_CRASHED, /* the process died; `error` says how (signal or exit status) */
};

struct oche_metric {
    char *name;
    const char *unit; /* one of the five units above; not owned */
    double value;
};

struct oche_distribution {
    char *name;       /* name of the sample: "fct", "slowdown" or "goodput" of flows */
    const char *unit; /* not owned */
    uint64_t count;   /* number of values in the sample */
    double value[OCHE_DISTRIBUTION_STEPS];
};

struct oche_point_result {
    enum oche_point_status status;
    char *error;   /* one line; NULL if the status is OCHE_POINT_DONE */
    uint64_t seed; /* the seed with which the point ran */
    uint64_t hash; /* hash of the run's trace */
    double wall_s; /* wall-clock time of the run, without building the world */
    struct oche_metric *metrics;
    size_t metric_count;
    struct oche_distribution *distributions;
    size_t distribution_count;
};

/*
 * Opens the scenario with `sets` ("key=value"; of equal keys the last one counts), runs it and
 * fills `result`. The status is OCHE_POINT_FAILED if the input has an error or the run ends in a
 * deadlock.
 */
void oche_point_run(const char *scenario, const char *const *sets, size_t set_count,
                    struct oche_point_result *result);
void oche_point_free(struct oche_point_result *result);

/* Returns "done", "failed" or "crashed". */
const char *oche_point_status_name(enum oche_point_status status);

/* Writes the result as lines of text that keep numbers exact. Returns false if writing fails. */
bool oche_point_write(const struct oche_point_result *result, FILE *out);
/*
 * Reads what oche_point_write wrote. Returns false if the text is incomplete, because the process
 * that wrote it died.
 */
bool oche_point_read(struct oche_point_result *result, FILE *in);

/* Returns the value of the metric called `name`; NAN if the point has no such metric. */
double oche_point_metric(const struct oche_point_result *result, const char *name);

#endif
