/* SPDX-License-Identifier: Apache-2.0 */
/* The growing list of flows that workloads fill. */
#include <stdlib.h>
#include <string.h>

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
                                                      .initial_rate_bps = list->initial_rate_bps,
                                                      .tenant = list->tenant};
    return list->count++;
}

/* Makes room for `count` numbers in all. Returns false without memory. */
static bool make_room(uint32_t **numbers, uint32_t *capacity, uint64_t count)
{
    uint64_t more = count < 1024 ? 1024 : count / 2 * 3;
    uint32_t *moved;

    if (count <= *capacity)
        return true;
    if (more > UINT32_MAX)
        return false;
    moved = realloc(*numbers, more * sizeof(*moved));
    if (moved == NULL)
        return false;
    *numbers = moved;
    *capacity = (uint32_t)more;
    return true;
}

uint32_t oche_flow_list_add_group(struct oche_flow_list *list, const uint32_t *members,
                                  uint32_t count)
{
    struct oche_flow_groups *groups = &list->groups;

    OCHE_MUST(count > 0);
    if (!make_room(&groups->first, &list->first_capacity, (uint64_t)groups->count + 2) ||
        !make_room(&groups->members, &list->member_capacity,
                   (uint64_t)groups->member_count + count))
        return 0;
    memcpy(groups->members + groups->member_count, members, count * sizeof(*members));
    groups->first[groups->count++] = groups->member_count;
    groups->member_count += count;
    groups->first[groups->count] = groups->member_count;
    return groups->count;
}

void oche_flow_list_free(struct oche_flow_list *list)
{
    free(list->plan);
    oche_flow_groups_free(&list->groups);
    *list = (struct oche_flow_list){.count = 0};
}
