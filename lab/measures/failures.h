/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effects of link failures on flows. A flow is hit if a failure lost a packet of its
 * connection, in either direction, while the flow was in progress. This is exact if each connection
 * carries only one flow.
 */
#ifndef OCHE_LAB_MEASURES_FAILURES_H
#define OCHE_LAB_MEASURES_FAILURES_H

#include "sim/measure/flow_completion.h"
#include "sim/world/world.h"

#define OCHE_MOST_FAILURES_NAMED 16 /* most links that a text names */

/* The flows that started after warm-up: those that failures hit, or the others. */
struct oche_failure_row {
    struct oche_completion_row times; /* completion times of flows of all sizes */
    uint64_t timeouts, retransmitted; /* sums, up to the end of the run */
};

struct oche_failures_outcome {
    /* number of failures in the scenario; 0: nothing fails, and the other members are 0 */
    uint32_t count;
    char *text; /* one line per failure, each with its newline; malloc'd */
    /* packets lost at ports that were down, for lack of a route, or on a link when it failed */
    uint64_t lost;
    struct oche_failure_row hit, others;
};

/* `records` has a record for each flow that is made. */
void oche_failures_take(struct oche_failures_outcome *failures, const struct oche_world *world,
                        const struct oche_world_totals *totals,
                        const struct oche_flow_record *records, uint32_t record_count);
void oche_failures_free(struct oche_failures_outcome *failures);

#endif
