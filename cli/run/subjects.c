/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and names the subjects of rows. */
#include "cli/run/subjects.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MOST_QUEUES 16 /* queues of a run that have rows: the longest ones */

/* Returns the number of listed flows if every run lists the same flows; else 0. */
static unsigned same_flows(const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (outcomes[i].listed_count != outcomes[0].listed_count)
            return 0;
        for (unsigned f = 0; f < outcomes[0].listed_count; f++)
            if (strcmp(outcomes[i].listed[f].name, outcomes[0].listed[f].name) != 0)
                return 0;
    }
    return outcomes[0].listed_count;
}

/* Returns the number of workloads if every run has the same workloads, at least two; else 0. */
static unsigned same_workloads(const struct oche_outcome *outcomes, size_t count)
{
    const struct oche_by_workload *first = &outcomes[0].by_workload;

    for (size_t i = 0; i < count; i++) {
        if (outcomes[i].by_workload.count != first->count || first->count < 2)
            return 0;
        for (unsigned w = 0; w < first->count; w++)
            if (strcmp(outcomes[i].by_workload.workloads[w].type, first->workloads[w].type) != 0)
                return 0;
    }
    return first->count;
}

unsigned oche_subject_count(enum oche_each each, const struct oche_outcome *outcomes, size_t count)
{
    unsigned queues = 0;

    switch (each) {
    case OCHE_EACH_RUN:
    case OCHE_EACH_ALL_SIZES:
        return 1;
    case OCHE_EACH_SIZE:
        return OCHE_OUTCOME_SIZES + 1;
    case OCHE_EACH_PLACE:
        return OCHE_PLACES;
    case OCHE_EACH_LINK:
        return OCHE_WHERE_LINKS;
    case OCHE_EACH_TIER:
        return OCHE_NODE_KINDS;
    case OCHE_EACH_FLOW:
        return same_flows(outcomes, count);
    case OCHE_EACH_WORKLOAD:
        return same_workloads(outcomes, count);
    case OCHE_EACH_QUEUE:
        for (size_t i = 0; i < count; i++)
            queues += outcomes[i].queue_count;
        return queues;
    }
    return 0;
}

static unsigned find_queue(const struct oche_outcome *outcome, const char *name)
{
    for (uint32_t q = 0; q < outcome->queue_count; q++)
        if (strcmp(outcome->queues[q].name, name) == 0)
            return q;
    return UINT_MAX;
}

/* True if the queue is one of the longest of its run; of equal ones, the first are. */
static bool is_long(const struct oche_outcome *outcome, unsigned queue)
{
    uint64_t bytes = outcome->queues[queue].occupancy.max_bytes;
    unsigned longer = 0;

    for (uint32_t q = 0; q < outcome->queue_count; q++) {
        uint64_t other = outcome->queues[q].occupancy.max_bytes;

        longer += other > bytes || (other == bytes && q < queue);
    }
    return longer < MOST_QUEUES;
}

enum queue { QUEUE_AGAIN, QUEUE_SHORT, QUEUE_SHOWN };

/*
 * Returns queue `number`. True if it occurs for the first time and is long in any run. Numbers
 * count the queues of the first run, then those of the second, and so on.
 */
static enum queue take_queue(struct oche_subject *subject, unsigned number,
                             const struct oche_outcome *outcomes, size_t count)
{
    size_t run = 0;

    for (; number >= outcomes[run].queue_count; run++)
        number -= outcomes[run].queue_count;
    snprintf(subject->name, sizeof(subject->name), "%s", outcomes[run].queues[number].name);
    for (size_t i = 0; i < run; i++)
        if (find_queue(&outcomes[i], subject->name) != UINT_MAX)
            return QUEUE_AGAIN;
    for (size_t i = run; i < count; i++) {
        unsigned queue = find_queue(&outcomes[i], subject->name);

        if (queue != UINT_MAX && is_long(&outcomes[i], queue))
            return QUEUE_SHOWN;
    }
    return QUEUE_SHORT;
}

unsigned oche_subjects_left_out(enum oche_each each, const struct oche_outcome *outcomes,
                                size_t count)
{
    struct oche_subject subject;
    unsigned left = 0;

    if (each != OCHE_EACH_QUEUE)
        return 0;
    for (unsigned n = 0; n < oche_subject_count(each, outcomes, count); n++)
        left += take_queue(&subject, n, outcomes, count) == QUEUE_SHORT;
    return left;
}

/*
 * Where no tier is above the ToRs in any run, as in a ring or a dumbbell, their links to each other
 * have the name that they have among the waits.
 */
static const char *place_name(enum oche_port_place place, const struct oche_outcome *outcomes,
                              size_t count)
{
    bool level = place == OCHE_PLACE_TOR_UP;

    for (size_t i = 0; i < count; i++)
        level = level && outcomes[i].congestion[OCHE_WHERE_TOR_UP].ports == 0 &&
                outcomes[i].congestion[OCHE_WHERE_LEVEL].ports > 0;
    return level ? oche_where_name(OCHE_WHERE_LEVEL) : oche_port_place_name(place);
}

bool oche_subject_take(struct oche_subject *subject, enum oche_each each, unsigned number,
                       const struct oche_outcome *outcomes, size_t count)
{
    const struct oche_outcome *first = &outcomes[0];
    const char *name = "";

    OCHE_MUST(number < oche_subject_count(each, outcomes, count));
    subject->each = each;
    subject->which = each == OCHE_EACH_PLACE       ? oche_places_up[number]
                     : each == OCHE_EACH_ALL_SIZES ? OCHE_OUTCOME_SIZES
                                                   : number;
    switch (each) {
    case OCHE_EACH_QUEUE:
        return take_queue(subject, number, outcomes, count) == QUEUE_SHOWN;
    case OCHE_EACH_SIZE:
        oche_outcome_size_name(&first->sizes[number], subject->name, sizeof(subject->name));
        return true;
    case OCHE_EACH_WORKLOAD:
        snprintf(subject->name, sizeof(subject->name), "%u: %s", number,
                 first->by_workload.workloads[number].type);
        return true;
    case OCHE_EACH_PLACE:
        name = place_name(oche_places_up[number], outcomes, count);
        break;
    case OCHE_EACH_LINK:
        name = oche_where_name(number);
        break;
    case OCHE_EACH_TIER:
        name = oche_node_kind_name(number);
        break;
    case OCHE_EACH_FLOW:
        name = first->listed[number].name;
        break;
    case OCHE_EACH_RUN:
    case OCHE_EACH_ALL_SIZES:
        break;
    }
    snprintf(subject->name, sizeof(subject->name), "%s", name);
    return true;
}

unsigned oche_subject_in(const struct oche_subject *subject, const struct oche_outcome *outcome)
{
    return subject->each == OCHE_EACH_QUEUE ? find_queue(outcome, subject->name) : subject->which;
}
