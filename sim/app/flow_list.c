/* SPDX-License-Identifier: Apache-2.0 */
/* The growing list of flows that workloads fill. */
#include <stdlib.h>

#include "sim/app/app.h"

uint32_t oche_flow_list_add(struct oche_flow_list *list, uint32_t workload, uint32_t src,
                            uint32_t dst, uint64_t bytes, oche_time start)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 1024 : list->capacity * 2;
        list->plan = realloc(list->plan, capacity * sizeof(*list->plan));
        if (list->plan == NULL || capacity < list->capacity)
            oche_panic(__FILE__, __LINE__, "out of memory for flows");
        list->capacity = capacity;
    }
    list->plan[list->count] = (struct oche_flow_plan){
        .src = src,
        .dst = dst,
        .bytes = bytes,
        .start = start,
        .then_same_source = OCHE_NO_FLOW,
        .then_at_receiver = OCHE_NO_FLOW,
        .workload = workload,
    };
    return list->count++;
}
