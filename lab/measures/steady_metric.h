/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that have a mean in steady state, and their values in a batch of a run. These are
 * goodput, the mean use of links, watched queues, and completion times and slowdowns of flows. All
 * others are maxima, counts that grow with the run, or values of all flows together.
 */
#ifndef OCHE_LAB_MEASURES_STEADY_METRIC_H
#define OCHE_LAB_MEASURES_STEADY_METRIC_H

#include "params/error.h"
#include "sim/world/world.h"

/* The metrics that --until-stable accepts, for messages and help. */
#define OCHE_STEADY_METRICS                                                                        \
    "goodput, utilisation.PLACE.mean, and the mean, p50, p90, p99 or p99.9 of queue.PORT, "        \
    "fct.SIZE and slowdown.SIZE"

enum oche_steady_kind {
    OCHE_STEADY_GOODPUT,
    OCHE_STEADY_UTILISATION,
    OCHE_STEADY_QUEUE,
    OCHE_STEADY_FCT,
    OCHE_STEADY_SLOWDOWN,
};

struct oche_steady_metric {
    enum oche_steady_kind kind;
    unsigned place;         /* enum oche_port_place */
    uint32_t watch;         /* number of the watched queue */
    uint32_t thousandths;   /* the percentile in thousandths; 0: the mean */
    uint64_t from, to;      /* flows of at least `from` and below `to` bytes */
    uint32_t least_samples; /* flows that a batch must have for a meaningful value */
};

/*
 * Finds the metric `name` in this world. Returns false, with the error "NAME: what is wrong; what
 * would be right", if it does not exist or is none of those above.
 */
bool oche_steady_metric_find(struct oche_steady_metric *metric, const char *name,
                             const struct oche_world *world, struct oche_error *error);

/* True if the metric's samples are flows that were delivered, not time. */
static inline bool oche_steady_metric_of_flows(const struct oche_steady_metric *metric)
{
    return metric->kind == OCHE_STEADY_FCT || metric->kind == OCHE_STEADY_SLOWDOWN;
}

/*
 * Returns the mean completion time of the flows that were delivered so far, each weighted by its
 * bytes; 0 if there are none. Load, queues and rates stay similar for about this time.
 */
oche_time oche_steady_flow_life(const struct oche_world *world);

/* The counts from the end of warm-up until a time. */
struct oche_steady_mark {
    oche_time at;
    double sum;      /* goodput: bytes; utilisation: mean time for which links carried, in ps */
    oche_time *time; /* a queue's histogram; NULL: the metric is not of a queue */
    unsigned __int128 byte_time; /* integral of a queue's occupancy, in bytes * ps */
};
/* Sets a mark at the present time. The caller frees `time`. */
struct oche_steady_mark oche_steady_mark(const struct oche_steady_metric *metric,
                                         const struct oche_world *world);

/*
 * Computes the values of the `count` batches between the marks [0 … count], in the metric's unit.
 * Returns the minimum number of flows in a batch; UINT32_MAX if the metric is not of flows. The
 * value of a batch without flows is 0.
 */
uint32_t oche_steady_values(const struct oche_steady_metric *metric, struct oche_world *world,
                            const struct oche_steady_mark *marks, uint32_t count, double *values);

#endif
