/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells all processes the results of jobs' ranks, and which of their flows are made. One process
 * knows a value, that of the host; the others add 0 to it.
 */
#include <stdlib.h>

#include "sim/network/flow_notes.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

static void sum(const struct oche_world *world, uint64_t *values, size_t count)
{
    oche_ranks_sum(world->network.ranks, values, count);
}

/* Tells phases and timelines, in the form of the arrays that have them. */
static void tell_details(struct oche_world *world, struct oche_job *job)
{
    const struct oche_timeline *timeline = &job->timeline;
    const size_t each = (size_t)job->repeats.count * job->phases;
    const size_t cells = (size_t)timeline->rows * timeline->spans;

    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        if (oche_world_has(world, job->host_of[i]))
            continue;
        for (size_t k = i * each; k < (i + 1) * each; k++)
            job->phase_begun[k] = job->phase_ended[k] = 0;
        if (oche_timeline_has(timeline, i))
            timeline->lengths[i / timeline->every] = 0;
    }
    sum(world, job->phase_begun, job->goal.ranks * each);
    sum(world, job->phase_ended, job->goal.ranks * each);
    sum(world, timeline->lengths, timeline->rows);
    sum(world, (uint64_t *)timeline->times, cells * OCHE_ACTIVITIES);
}

static void tell_job(struct oche_world *world, struct oche_job *job)
{
    const size_t each = sizeof(struct oche_job_rank) / sizeof(uint64_t);
    const uint32_t repeats = job->repeats.count;

    _Static_assert(sizeof(struct oche_job_rank) % sizeof(uint64_t) == 0, "all are 64 bits long");
    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        if (oche_world_has(world, job->host_of[i]))
            continue;
        job->results[i] = (struct oche_job_rank){.ended = 0};
        for (uint32_t k = 0; k < repeats; k++)
            job->begun[(size_t)i * repeats + k] = job->ended[(size_t)i * repeats + k] = 0;
    }
    sum(world, (uint64_t *)(void *)job->results, job->goal.ranks * each);
    sum(world, job->begun, (size_t)job->goal.ranks * repeats);
    sum(world, job->ended, (size_t)job->goal.ranks * repeats);
    tell_details(world, job);
}

void oche_world_tell_jobs(struct oche_world *world)
{
    for (uint32_t i = 0; i < world->jobs.count; i++)
        tell_job(world, world->jobs.list[i]);
}

void oche_world_tell_made_places(struct oche_world *world, uint32_t number)
{
    struct oche_flow_source *source = &world->flows.sources.list[number];
    const size_t words = source->count / 64 + 1;
    uint64_t *made = oche_world_make(words, sizeof(*made));

    /* A flow that is made is known at both ends; its sender tells. */
    for (uint32_t place = oche_flow_source_next_made(source, 0); place < source->count;
         place = oche_flow_source_next_made(source, place + 1))
        if (oche_world_has(world, world->flows.plan[source->first + place].src))
            made[place / 64] |= UINT64_C(1) << place % 64;
    sum(world, made, words);
    for (uint32_t place = 0; world->network.ranks->rank == 0 && place < source->count; place++)
        if ((made[place / 64] >> place % 64 & 1) != 0)
            oche_flows_make(&world->flows, &world->network, source->first + place);
    free(made);
}
