/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point: one run of a scenario with its overrides; its result is a set of named numbers. A point
 * runs in a process of its own (lab/sweep/jobs.h), so its result travels through a file as text:
 * oche_point_write and oche_point_read.
 *
 * Metrics are named as tables and claims name them: lower case, parts joined by dots, first the
 * thing, then of what, then the statistic ("goodput", "timeouts.nak_lost", "fct.below_10KB.p99",
 * "queue.tor0:host0.p99", "pauses.tor"). Units are s, bps, bytes, count or ratio. The list, with a
 * line of help each, is lab/measures/metrics.h.
 */
#ifndef OCHE_LAB_SWEEP_POINT_H
#define OCHE_LAB_SWEEP_POINT_H

#include <stdio.h>

#include "core/base.h"

/* A distribution is kept as its exact percentiles, 0 … 1000 thousandths, in steps. */
#define OCHE_DISTRIBUTION_STEP  5   /* thousandths; the first is the minimum */
#define OCHE_DISTRIBUTION_STEPS 201 /* the last is the maximum */

enum oche_point_status {
    OCHE_POINT_DONE,
    OCHE_POINT_FAILED,  /* refused, or stopped by a deadlock: `error` has the line that oche run
                           would print */
    OCHE_POINT_CRASHED, /* the process died: `error` tells how (signal, exit status) */
};

struct oche_metric {
    char *name;
    const char *unit; /* one of the five; not owned */
    double value;
};

struct oche_distribution {
    char *name;       /* "fct", "slowdown", "goodput" (of flows) */
    const char *unit; /* not owned */
    uint64_t count;   /* of samples */
    double value[OCHE_DISTRIBUTION_STEPS];
};

struct oche_point_result {
    enum oche_point_status status;
    char *error;   /* NULL when DONE */
    uint64_t seed; /* the seed that was used */
    uint64_t hash; /* of the trace */
    double wall_s; /* of the run, without building the world */
    struct oche_metric *metrics;
    size_t metric_count;
    struct oche_distribution *distributions;
    size_t distribution_count;
};

/*
 * Opens the scenario with `sets` ("key=value", later ones win), runs it and fills `result`. An
 * error in the input becomes OCHE_POINT_FAILED, and so does a run that ends in deadlock.
 */
void oche_point_run(const char *scenario, const char *const *sets, size_t set_count,
                    struct oche_point_result *result);
void oche_point_free(struct oche_point_result *result);

/* "done", "failed", "crashed". */
const char *oche_point_status_name(enum oche_point_status status);

/*
 * Writes lines of text that preserve numbers exactly. Returns false if the file cannot be written.
 */
bool oche_point_write(const struct oche_point_result *result, FILE *out);
/* Returns false if the text is incomplete, because the process that wrote it died. */
bool oche_point_read(struct oche_point_result *result, FILE *in);

/* Returns the metric's value; NAN if the point has none of that name. */
double oche_point_metric(const struct oche_point_result *result, const char *name);

#endif
