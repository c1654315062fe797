/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow completion times and slowdowns by size. A flow's completion time lasts from its start to the
 * delivery of its last byte. The slowdown, at least 1, is the completion time divided by the time
 * that the flow would take alone in the network (oche_path_ideal in sim/topology/routes.h).
 */
#ifndef OCHE_SIM_MEASURE_FLOW_COMPLETION_H
#define OCHE_SIM_MEASURE_FLOW_COMPLETION_H

#include "sim/measure/percentile.h"

/* What is known about one flow at the end of a run. */
struct oche_flow_record {
    uint64_t bytes;
    oche_time start; /* OCHE_NEVER: the flow never started */
    oche_time end;   /* delivery of the last byte; OCHE_NEVER: not delivered within the run */
    oche_time ideal; /* duration if the flow were alone in the network; above 0 */
    bool failed;     /* the flow's work request completed with an error */
    uint32_t flow;   /* the flow's number */
};

/*
 * Flows in one range of sizes. Times and slowdowns cover only delivered flows. A scheme that does
 * not deliver its slow flows therefore looks better than it is; so `flows` counts all flows.
 */
struct oche_completion_row {
    uint64_t from_bytes, to_bytes; /* from_bytes <= size < to_bytes; last range: UINT64_MAX */
    uint64_t flows;                /* number of flows that started after warm-up */
    uint64_t delivered, failed;
    uint64_t bytes; /* total size of the delivered flows */
    oche_time time_mean, time_max, time[OCHE_PERCENTILES];
    double slowdown_mean, slowdown_max, slowdown[OCHE_PERCENTILES];
};

/* Sizes at which a range begins, ascending; the first is 0. */
extern const uint64_t oche_completion_sizes[];
extern const uint32_t oche_completion_size_count;

/*
 * Fills size_count + 1 rows: one for each of the `size_count` ranges that begin at `sizes`, and a
 * last row for all flows together. Flows that started before `warmup`, or never, are in no row.
 * Returns how many flows started before `warmup`.
 */
uint64_t oche_flow_completion(const struct oche_flow_record *flows, size_t count, oche_time warmup,
                              const uint64_t *sizes, uint32_t size_count,
                              struct oche_completion_row *rows);

#endif
