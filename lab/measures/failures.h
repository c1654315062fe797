/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What link failures did to flows. A flow is hit if a failure lost a packet of its connection, in
 * either direction, while the flow was in progress. This is exact if a connection carries one flow.
 */
#ifndef OCHE_LAB_MEASURES_FAILURES_H
#define OCHE_LAB_MEASURES_FAILURES_H

#include "sim/measure/flow_completion.h"
#include "sim/world/world.h"

#define OCHE_MOST_FAILURES_NAMED 16 /* in one text */

/* One group of flows that started after warm-up. */
struct oche_failure_row {
    struct oche_completion_row times; /* for all sizes */
    uint64_t timeouts, retransmitted; /* of completed flows */
};

struct oche_failures_outcome {
    uint32_t count; /* entries in the scenario's list; 0: nothing fails, and all else is 0 */
    char *text;     /* one line for each, with its newline; malloc'd */
    uint64_t lost;  /* packets: at ports that were down, without a route, on the line */
    struct oche_failure_row hit, others;
};

/* `records` is indexed by flow. */
void oche_failures_take(struct oche_failures_outcome *failures, const struct oche_world *world,
                        const struct oche_world_totals *totals,
                        const struct oche_flow_record *records);
void oche_failures_free(struct oche_failures_outcome *failures);

#endif
