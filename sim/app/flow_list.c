/* SPDX-License-Identifier: Apache-2.0 */
/* The growing list of flows that workloads fill. */
#include <stdlib.h>
#include <string.h>

#include "sim/app/generate.h"
#include "sim/engine/sparse_memory.h"

/* Makes room for `count` plans in all. Returns false without memory. */
static bool make_plans(struct oche_flow_list *list, uint32_t count)
{
    uint32_t capacity = list->capacity < 1024 ? 1024 : list->capacity;
    struct oche_flow_plan *plan;

    if (count <= list->capacity)
        return true;
    while (capacity < count) {
        if (capacity > UINT32_MAX / 2)
            return false;
        capacity = capacity / 2 * 3;
    }
    plan = oche_sparse_grow(list->plan, capacity * sizeof(*plan));
    if (plan == NULL)
        return false;
    list->plan = plan;
    list->capacity = capacity;
    return true;
}

static struct oche_flow_plan plan_of(const struct oche_flow_list *list, uint32_t workload,
                                     uint32_t src, uint32_t dst, uint64_t bytes, oche_time start)
{
    OCHE_MUST(src != dst && bytes >= 1 && bytes <= OCHE_MAX_FLOW_BYTES);
    return (struct oche_flow_plan){.src = src,
                                   .dst = dst,
                                   .bytes = bytes,
                                   .start = start,
                                   .then_same_source = OCHE_NO_FLOW,
                                   .workload = workload,
                                   .initial_rate_bps = list->initial_rate_bps,
                                   .supply_bps = list->supply_bps,
                                   .priority = bytes <= list->priority_bytes,
                                   .tenant = list->tenant,
                                   .verb = list->verb,
                                   .beside = list->beside};
}

uint32_t oche_flow_list_add(struct oche_flow_list *list, uint32_t workload, uint32_t src,
                            uint32_t dst, uint64_t bytes, oche_time start)
{
    if (list->count == OCHE_NO_FLOW || !make_plans(list, list->count + 1))
        return OCHE_NO_FLOW;
    list->plan[list->count] = plan_of(list, workload, src, dst, bytes, start);
    return list->count++;
}

struct oche_flow_source oche_flow_list_source(const struct oche_flow_list *list, uint32_t workload,
                                              uint32_t src, uint32_t dst, oche_time start)
{
    return (struct oche_flow_source){.flow = plan_of(list, workload, src, dst, 1, start),
                                     .priority_bytes = list->priority_bytes};
}

/* Draws all flows of the source at once. */
static void draw_all(struct oche_flow_list *list, struct oche_flow_source source)
{
    while (oche_flow_source_draw(&source))
        list->plan[list->count++] = source.flow;
}

bool oche_flow_list_add_source(struct oche_flow_list *list, const struct oche_flow_source *source)
{
    struct oche_flow_sources *sources = &list->sources;
    struct oche_flow_source added = *source;

    added.first = list->count;
    added.count = oche_flow_source_count(source);
    if (added.count == 0)
        return true;
    if (added.count >= OCHE_NO_FLOW - list->count || !make_plans(list, list->count + added.count))
        return false;
    if (!list->as_needed || (source->draws_dst && list->verb == OCHE_VERB_READ)) {
        draw_all(list, added);
        return true;
    }
    if (sources->count == sources->capacity) {
        uint32_t capacity = sources->capacity < 64 ? 64 : sources->capacity * 2;
        struct oche_flow_source *moved = realloc(sources->list, capacity * sizeof(*moved));

        if (moved == NULL)
            return false;
        sources->list = moved;
        sources->capacity = capacity;
    }
    sources->list[sources->count++] = added;
    list->count += added.count;
    return true;
}

bool oche_flow_list_keep(struct oche_flow_list *list, void *context, void (*release)(void *context))
{
    struct oche_flow_sources *sources = &list->sources;
    struct oche_flow_context *moved = NULL;

    if (list->as_needed)
        moved = realloc(sources->contexts, (sources->context_count + 1) * sizeof(*moved));
    if (moved == NULL) {
        release(context);
        return !list->as_needed;
    }
    sources->contexts = moved;
    moved[sources->context_count++] = (struct oche_flow_context){context, release};
    return true;
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

bool oche_flow_list_add_job(struct oche_flow_list *list, struct oche_job *job)
{
    struct oche_jobs *jobs = &list->jobs;
    struct oche_job **moved = realloc(jobs->list, (jobs->count + 1) * sizeof(struct oche_job *));

    if (moved == NULL) {
        oche_job_free(job);
        return false;
    }
    jobs->list = moved;
    jobs->list[jobs->count++] = job;
    return true;
}

void oche_flow_list_free(struct oche_flow_list *list)
{
    oche_sparse_free(list->plan);
    oche_flow_sources_free(&list->sources);
    oche_flow_groups_free(&list->groups);
    oche_jobs_free(&list->jobs);
    free(list->failed);
    *list = (struct oche_flow_list){.count = 0};
}
