/* SPDX-License-Identifier: Apache-2.0 */
/* The growing list of flows that workloads fill. */
#include <stdlib.h>

#include "sim/app/generate.h"

uint32_t oche_flow_list_add(struct oche_flow_list *list, uint32_t workload, uint32_t src,
                            uint32_t dst, uint64_t bytes, oche_time start)
{
    OCHE_MUST(src != dst && bytes >= 1 && bytes <= OCHE_MAX_FLOW_BYTES);
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity < 1024 ? 1024 : list->capacity / 2 * 3;
        struct oche_flow_plan *plan;

        if (list->capacity > UINT32_MAX / 2)
            return OCHE_NO_FLOW;
        plan = realloc(list->plan, capacity * sizeof(*plan));
        if (plan == NULL)
            return OCHE_NO_FLOW;
        list->plan = plan;
        list->capacity = capacity;
    }
    list->plan[list->count] = (struct oche_flow_plan){.src = src,
                                                      .dst = dst,
                                                      .bytes = bytes,
                                                      .start = start,
                                                      .then_same_source = OCHE_NO_FLOW,
                                                      .then_at_receiver = OCHE_NO_FLOW,
                                                      .workload = workload,
                                                      .initial_rate_bps = list->initial_rate_bps};
    return list->count++;
}
