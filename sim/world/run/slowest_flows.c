/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slowest flows over time: what their receivers got in each span of longest_queues.c. They are
 * those that lost the most time; the largest slowdowns are of flows so short that there is nothing
 * to see. Which flows they are is known only when they end. So all flows of a certain size that are
 * under way are followed, and of those that are over only the slowest are kept. The work is a look
 * at each flow under way, at the end of each span. It is bounded: where too many flows are under
 * way or wait for their start, none is followed any more. Ranks do not know each other's flows, and
 * follow none.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/world/internal.h"

#define LEAST_BYTES 100000 /* of a flow; shorter ones are over within a few spans */
#define MOST_FLOWS  16384  /* under way, or that wait for their start */

struct flow {
    uint32_t number;
    uint32_t first;           /* the span in which it started */
    uint32_t count, capacity; /* spans in `bytes` */
    uint64_t *bytes;          /* bytes that arrived in each span */
    uint64_t arrived;         /* until now */
    /* When it is over, or the run is: by how much longer it took than alone, and how many times. */
    oche_time lost;
    double slowdown;
};

/* The flows of a source that have been looked at. */
struct seen {
    uint32_t made; /* the first flows of a source that makes them one after the other */
    /*
     * If the source makes flows in any order: a bit for each place, as in made_places. All bits of
     * the words before `whole` are set.
     */
    uint64_t *places;
    uint32_t whole;
};

struct oche_world_slowest {
    struct seen *seen; /* by source */
    uint32_t source_count;
    struct flow *flows;
    uint32_t count, capacity;
    struct flow slowest[OCHE_WORLD_SLOWEST_FLOWS];
    uint32_t slowest_count;
};

/* ---- the flows that are followed ---- */

static void give_up(struct oche_world *world)
{
    oche_world_slowest_free(world);
    world->slowest = NULL;
}

/* Follows a flow that is made, if it is large enough. Returns false if there are too many. */
static bool follow(struct oche_world *world, uint32_t number)
{
    struct oche_world_slowest *slowest = world->slowest;

    if (world->flows.plan[number].bytes < LEAST_BYTES)
        return true;
    if (slowest->count == MOST_FLOWS)
        return false;
    if (slowest->count == slowest->capacity) {
        slowest->capacity = slowest->capacity == 0 ? 64 : slowest->capacity * 2;
        slowest->flows = realloc(slowest->flows, slowest->capacity * sizeof(*slowest->flows));
        OCHE_GOT(slowest->flows != NULL);
    }
    slowest->flows[slowest->count++] = (struct flow){.number = number};
    return true;
}

/* Follows those of 64 places whose flows are new. */
static bool follow_places(struct oche_world *world, const struct oche_flow_source *source,
                          struct seen *seen, uint32_t word)
{
    uint64_t new = source->made_places[word] & ~seen->places[word];

    seen->places[word] |= new;
    for (; new != 0; new &= new - 1)
        if (!follow(world, source->first + word * 64 + (uint32_t)__builtin_ctzll(new)))
            return false;
    return true;
}

static bool follow_new_places(struct oche_world *world, const struct oche_flow_source *source,
                              struct seen *seen)
{
    const uint32_t words = source->count / 64 + 1;

    for (uint32_t i = seen->whole; i < words; i++) {
        if (!follow_places(world, source, seen, i))
            return false;
        seen->whole += i == seen->whole && seen->places[i] == UINT64_MAX;
    }
    return true;
}

/* Follows flows that sources have made since the last time. Returns false if there are too many. */
static bool follow_new(struct oche_world *world)
{
    const struct oche_flow_sources *sources = &world->flows.sources;

    for (uint32_t i = 0; i < sources->count; i++) {
        const struct oche_flow_source *source = &sources->list[i];
        struct seen *seen = &world->slowest->seen[i];

        if (source->at != NULL && !follow_new_places(world, source, seen))
            return false;
        for (; source->at == NULL && seen->made < source->made; seen->made++)
            if (!follow(world, source->first + seen->made))
                return false;
    }
    return true;
}

void oche_world_slowest_start(struct oche_world *world)
{
    const struct oche_flow_sources *sources = &world->flows.sources;

    if (world->longest.span == 0 || world->network.ranks != NULL)
        return;
    world->slowest = calloc(1, sizeof(*world->slowest));
    OCHE_GOT(world->slowest != NULL);
    world->slowest->seen = oche_world_make(sources->count, sizeof(struct seen));
    world->slowest->source_count = sources->count;
    for (uint32_t i = 0; i < sources->count; i++)
        if (sources->list[i].at != NULL)
            world->slowest->seen[i].places =
                oche_world_make(sources->list[i].count / 64 + 1, sizeof(uint64_t));
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        /*
         * Flows of sources are added later. Flows that began in warm-up are left out, as in other
         * measures.
         */
        if (oche_flow_sources_find(sources, i) == NULL &&
            (world->flows.sent[i].started == OCHE_NEVER ||
             world->flows.sent[i].started >= world->measured_from) &&
            !follow(world, i)) {
            give_up(world);
            return;
        }
}

/* ---- spans ---- */

static void add_span(struct flow *flow, uint64_t bytes)
{
    if (flow->count == flow->capacity) {
        flow->capacity = flow->capacity == 0 ? 4 : flow->capacity * 2;
        flow->bytes = realloc(flow->bytes, flow->capacity * sizeof(*flow->bytes));
        OCHE_GOT(flow->bytes != NULL);
    }
    flow->bytes[flow->count++] = bytes;
}

/* True if `one` has lost more time or, of two alike, has the lower number. */
static bool comes_before(const struct flow *one, const struct flow *other)
{
    return one->lost != other->lost ? one->lost > other->lost : one->number < other->number;
}

/* Takes over a flow if it is among the slowest; frees the one that is not, or is not any more. */
static void add_slowest(struct oche_world_slowest *slowest, const struct flow *flow)
{
    uint32_t at = slowest->slowest_count;

    while (at > 0 && comes_before(flow, &slowest->slowest[at - 1]))
        at--;
    if (at == OCHE_WORLD_SLOWEST_FLOWS) {
        free(flow->bytes);
        return;
    }
    if (slowest->slowest_count == OCHE_WORLD_SLOWEST_FLOWS)
        free(slowest->slowest[--slowest->slowest_count].bytes);
    memmove(&slowest->slowest[at + 1], &slowest->slowest[at],
            (slowest->slowest_count - at) * sizeof(*flow));
    slowest->slowest[at] = *flow;
    slowest->slowest_count++;
}

/* Ends a flow at `end`: OCHE_NEVER, it is not among those that have a slowdown. */
static void end_flow(struct oche_world *world, struct flow *flow, oche_time end)
{
    const oche_time started = world->flows.sent[flow->number].started;

    if (end == OCHE_NEVER || flow->count == 0) {
        free(flow->bytes);
        return;
    }
    const oche_time alone = oche_world_ideal_time(world, flow->number), took = end - started;

    flow->lost = took > alone ? took - alone : 0;
    flow->slowdown = (double)took / (double)alone;
    add_slowest(world->slowest, flow);
}

/* Adds what arrived in the span that has ended. Returns false if the flow is over. */
static bool look(struct oche_world *world, struct flow *flow, uint32_t span)
{
    const struct oche_flow_sent *sent = &world->flows.sent[flow->number];
    const struct oche_flow_received *received = &world->flows.received[flow->number];

    if (sent->started == OCHE_NEVER)
        return true;
    if (sent->started < world->measured_from) {
        end_flow(world, flow, OCHE_NEVER);
        return false;
    }
    const uint64_t arrived = oche_world_flow_bytes(world, flow->number);

    if (flow->count == 0)
        flow->first = span;
    add_span(flow, arrived > flow->arrived ? arrived - flow->arrived : 0);
    if (arrived > flow->arrived) /* a receiver may go back to the start of a message */
        flow->arrived = arrived;
    if (received->delivered == OCHE_NEVER && !received->passed_over && sent->failed == 0)
        return true;
    end_flow(world, flow, received->delivered);
    return false;
}

void oche_world_slowest_sample(struct oche_world *world, uint32_t span)
{
    struct oche_world_slowest *slowest = world->slowest;
    uint32_t left = 0;

    if (slowest == NULL)
        return;
    if (!follow_new(world)) {
        give_up(world);
        return;
    }
    for (uint32_t i = 0; i < slowest->count; i++) {
        struct flow flow = slowest->flows[i];

        if (look(world, &flow, span))
            slowest->flows[left++] = flow;
    }
    slowest->count = left;
}

/* Makes one span of each two, which lie at an even number and the next. */
static void join(struct flow *flow)
{
    const uint32_t first = flow->first / 2;
    uint32_t count = 0;

    for (uint32_t i = 0; i < flow->count; i++) {
        const uint32_t at = (flow->first + i) / 2 - first;

        flow->bytes[at] = at == count ? flow->bytes[i] : flow->bytes[at] + flow->bytes[i];
        count = at + 1;
    }
    flow->first = first;
    flow->count = count;
}

void oche_world_slowest_join(struct oche_world *world)
{
    struct oche_world_slowest *slowest = world->slowest;

    if (slowest == NULL)
        return;
    for (uint32_t i = 0; i < slowest->count; i++)
        join(&slowest->flows[i]);
    for (uint32_t i = 0; i < slowest->slowest_count; i++)
        join(&slowest->slowest[i]);
}

/* ---- the end ---- */

void oche_world_slowest_finish(struct oche_world *world)
{
    struct oche_world_slowest *slowest = world->slowest;

    if (slowest == NULL)
        return;
    for (uint32_t i = 0; i < slowest->count; i++) {
        const oche_time delivered = world->flows.received[slowest->flows[i].number].delivered;

        end_flow(world, &slowest->flows[i],
                 delivered != OCHE_NEVER ? delivered : world->network.now);
    }
    slowest->count = 0;
}

void oche_world_slowest_free(struct oche_world *world)
{
    struct oche_world_slowest *slowest = world->slowest;

    if (slowest == NULL)
        return;
    for (uint32_t i = 0; i < slowest->count; i++)
        free(slowest->flows[i].bytes);
    for (uint32_t i = 0; i < slowest->slowest_count; i++)
        free(slowest->slowest[i].bytes);
    free(slowest->flows);
    for (uint32_t i = 0; i < slowest->source_count; i++)
        free(slowest->seen[i].places);
    free(slowest->seen);
    free(slowest);
}

uint32_t oche_world_slowest_count(const struct oche_world *world)
{
    return world->slowest == NULL ? 0 : world->slowest->slowest_count;
}

struct oche_world_slowest_series oche_world_slowest_series(const struct oche_world *world,
                                                           uint32_t number)
{
    OCHE_MUST(number < oche_world_slowest_count(world));
    const struct flow *flow = &world->slowest->slowest[number];

    return (struct oche_world_slowest_series){.flow = flow->number,
                                              .lost = flow->lost,
                                              .slowdown = flow->slowdown,
                                              .first = flow->first,
                                              .count = flow->count,
                                              .bytes = flow->bytes,
                                              .span = world->longest.span};
}
