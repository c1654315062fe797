/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What failures of links did to flows. A flow is hit if a packet of its connection, there or back,
 * was lost because of one while the flow was under way; where a connection carries one flow, that
 * is exact.
 */
#ifndef OCHE_LAB_MEASURES_FAILURES_H
#define OCHE_LAB_MEASURES_FAILURES_H

#include "sim/measure/flow_completion.h"
#include "sim/world/world.h"

#define OCHE_MOST_FAILURES_NAMED 16 /* in one text */

/* One group of flows that started after warm-up. */
struct oche_failure_row {
    struct oche_completion_row times; /* of all sizes */
    uint64_t timeouts, retransmitted; /* of flows that are completed */
};

struct oche_failures_outcome {
    uint32_t count; /* of the scenario's list; 0: nothing fails, and all else is 0 */
    char *text;     /* a line for each, with its end; malloc'd */
    uint64_t lost;  /* packets: at ports that were down, without a way, on the line */
    struct oche_failure_row hit, others;
};

/* `records` by flow. */
void oche_failures_take(struct oche_failures_outcome *failures, const struct oche_world *world,
                        const struct oche_world_totals *totals,
                        const struct oche_flow_record *records);
void oche_failures_free(struct oche_failures_outcome *failures);

#endif
