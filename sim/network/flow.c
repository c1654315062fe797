/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares flows, and makes those of sources. */
#include "sim/network/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/qp/work.h"
#include "params/error.h"
#include "sim/engine/sparse_memory.h"
#include "sim/network/flow_internal.h"

const char *const oche_verb_names[] = {"write", "send", "read", NULL};

#define MOST_FLOWS       (UINT32_C(1) << 28)
#define MOST_CONNECTIONS ((UINT32_C(1) << 24) - 64) /* each needs queue pair numbers */

void *oche_flows_memory(size_t count, size_t bytes)
{
    void *memory = oche_sparse_take((count == 0 ? 1 : count) * bytes);

    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for flows");
    return memory;
}

static bool check(const struct oche_flows *flows, uint32_t host_count, struct oche_error *error)
{
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_plan *flow = &flows->plan[i];
        if (flow->src >= host_count || flow->dst >= host_count || flow->src == flow->dst)
            return oche_fail(
                error,
                "flow %u goes from host %u to host %u; there are hosts 0 to %u, and source "
                "and destination differ",
                i, flow->src, flow->dst, host_count - 1);
        if (flow->bytes > OCHE_MAX_FLOW_BYTES)
            return oche_fail(error, "flow %u has %llu bytes; 1 to %llu can be sent", i,
                             (unsigned long long)flow->bytes,
                             (unsigned long long)OCHE_MAX_FLOW_BYTES);
    }
    return true;
}

/*
 * Checks the rules for workloads: a flow that follows another flow is posted by the same host, has
 * no start time of its own, and follows only one flow.
 */
static void check_chains(const struct oche_flows *flows)
{
    bool *follows = oche_flows_memory(flows->count, sizeof(*follows));

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_plan *flow = &flows->plan[i];
        const uint32_t next = flow->then_same_source;

        if (next == OCHE_NO_FLOW)
            continue;
        OCHE_MUST(next < flows->count && !follows[next]);
        follows[next] = true;
        if (!oche_flow_is_made(flows, next))
            continue;
        OCHE_MUST(oche_flow_poster(&flows->plan[next]) == oche_flow_poster(flow));
        OCHE_MUST(flows->plan[next].start == OCHE_NEVER);
    }
    oche_sparse_free(follows);
}

/* Sets up the results of a flow that has just been made. */
static void clear_results(struct oche_flows *flows, uint32_t number)
{
    flows->sent[number].started = flows->sent[number].completed = OCHE_NEVER;
    flows->received[number].delivered = OCHE_NEVER;
}

/* Draws the next flow of a source, without a connection. */
static uint32_t draw(struct oche_flows *flows, struct oche_flow_source *source)
{
    uint32_t number = source->first + source->made;
    bool drawn = oche_flow_source_draw(source);

    OCHE_MUST(drawn && source->flow.bytes != 0);
    flows->owned_plan[number] = source->flow;
    return number;
}

void oche_flows_make_at(struct oche_flows *flows, uint32_t number)
{
    struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, number);

    OCHE_MUST(source != NULL && source->at != NULL);
    const uint32_t place = number - source->first;

    if (oche_flow_source_has_made(source, place))
        return;
    flows->owned_plan[number] = source->flow;
    source->at(source, place, &flows->owned_plan[number]);
    clear_results(flows, number);
    oche_flows_connect_drawn(flows, source, number);
    /* Hosts in other threads may make flows that have bits in the same word. */
    __atomic_fetch_or(&source->made_places[place / 64], UINT64_C(1) << place % 64,
                      __ATOMIC_RELAXED);
    __atomic_fetch_add(&source->made, 1, __ATOMIC_RELAXED);
}

void oche_flows_make_next(struct oche_flows *flows, struct oche_flow_source *source)
{
    uint32_t number = draw(flows, source);

    clear_results(flows, number);
    oche_flows_connect_drawn(flows, source, number);
}

void oche_flows_make_follower(struct oche_flows *flows, uint32_t number)
{
    struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, number);

    if (source == NULL || oche_flow_source_has_made(source, number - source->first))
        return; /* listed, or made already */
    OCHE_MUST(source->first + source->made == number);
    oche_flows_make_next(flows, source);
}

/* Draws a source's first flow, or makes room for the notes of which of its flows are made. */
static void begin(struct oche_flows *flows, struct oche_flow_source *source)
{
    if (source->at == NULL) {
        draw(flows, source);
        return;
    }
    source->made_places = oche_flows_memory(source->count / 64 + 1, sizeof(*source->made_places));
}

static bool too_many_connections(uint32_t count, struct oche_error *error)
{
    return oche_fail(error,
                     "%u connections; at most %u can be run, as queue pair numbers have 24 bits: "
                     "fewer or larger flows, a shorter run, or host.connections: per_pair",
                     count, MOST_CONNECTIONS);
}

/* Flows that no source draws are all in memory from the start. */
static bool check_count(const struct oche_flows *flows, enum oche_connections per,
                        struct oche_error *error)
{
    uint32_t listed = flows->count;

    for (uint32_t i = 0; i < flows->sources.count; i++)
        listed -= flows->sources.list[i].count;
    if (per == OCHE_CONNECTION_PER_FLOW && flows->count > MOST_CONNECTIONS)
        return too_many_connections(flows->count, error);
    if (flows->count > MOST_FLOWS || listed > MOST_CONNECTIONS)
        return oche_fail(
            error,
            "%u flows; at most %u can be run, of which a list, incast or incast_groups "
            "may have %u: fewer or larger flows, or a shorter run",
            flows->count, MOST_FLOWS, MOST_CONNECTIONS);
    return true;
}

bool oche_flows_prepare(struct oche_flows *flows, struct oche_flow_plan *plan, uint32_t count,
                        const struct oche_flow_sources *sources, uint32_t host_count,
                        enum oche_connections per, struct oche_error *error)
{
    *flows =
        (struct oche_flows){.plan = plan, .owned_plan = plan, .count = count, .sources = *sources};
    if (host_count > OCHE_FLOW_MOST_HOSTS) {
        oche_flows_free(flows);
        return oche_fail(error, "%u hosts; at most %u can have flows", host_count,
                         OCHE_FLOW_MOST_HOSTS);
    }
    if (!check_count(flows, per, error)) {
        oche_flows_free(flows);
        return false;
    }
    for (uint32_t i = 0; i < sources->count; i++)
        begin(flows, &flows->sources.list[i]);
    if (!check(flows, host_count, error)) {
        oche_flows_free(flows);
        return false;
    }
    check_chains(flows);
    flows->sent = oche_flows_memory(count, sizeof(*flows->sent));
    flows->received = oche_flows_memory(count, sizeof(*flows->received));
    for (OCHE_EACH_MADE_FLOW(i, flows))
        clear_results(flows, i);
    oche_flows_connect(flows, host_count, per);
    if (flows->connection_count > MOST_CONNECTIONS) {
        too_many_connections(flows->connection_count, error);
        oche_flows_free(flows);
        return false;
    }
    oche_flows_order_starts(flows, host_count);
    return true;
}

/* ---- all flows ---- */

uint32_t oche_flows_made(const struct oche_flows *flows)
{
    uint32_t made = flows->count;

    for (uint32_t i = 0; i < flows->sources.count; i++)
        made -= flows->sources.list[i].count - flows->sources.list[i].made;
    return made;
}

uint32_t oche_flows_next_made(const struct oche_flows *flows, uint32_t from)
{
    if (from < flows->count)
        oche_flows_read_flow(flows, from);
    while (from < flows->count) {
        const struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, from);

        if (source == NULL)
            return from;
        const uint32_t place = oche_flow_source_next_made(source, from - source->first);

        from = source->first + place;
        if (place < source->count)
            return from;
    }
    return flows->count;
}

struct oche_flow_walk oche_flow_walk(const struct oche_flows *flows)
{
    return (struct oche_flow_walk){.flows = flows};
}

/* Returns the source of flow walk->number, or NULL. */
static const struct oche_flow_source *source_at(struct oche_flow_walk *walk)
{
    const struct oche_flow_sources *sources = &walk->flows->sources;
    const struct oche_flow_source *source;

    for (; walk->source < sources->count; walk->source++) {
        source = &sources->list[walk->source];
        if (walk->number < source->first)
            return NULL;
        if (walk->number - source->first < source->count)
            return source;
    }
    return NULL;
}

/* Returns the plan of a flow of a source with `at` that is not made. */
static struct oche_flow_plan plan_at(const struct oche_flows *flows,
                                     const struct oche_flow_source *source, uint32_t number)
{
    struct oche_flow_plan plan = source->flow;

    source->at(source, number - source->first, &plan);
    plan.connection = oche_flows_connection_of(flows, source, number, &plan);
    return plan;
}

const struct oche_flow_plan *oche_flow_walk_next(struct oche_flow_walk *walk)
{
    const struct oche_flows *flows = walk->flows;
    const struct oche_flow_source *drawing = &walk->drawing, *source;

    if (walk->next == flows->count)
        return NULL;
    walk->number = walk->next++;
    oche_flows_read_flow(flows, walk->number);
    source = source_at(walk);
    if (source == NULL || oche_flow_source_has_made(source, walk->number - source->first))
        return &flows->plan[walk->number];
    if (source->at != NULL) {
        walk->plan = plan_at(flows, source, walk->number);
        return &walk->plan;
    }
    if (walk->number - source->first == source->made)
        walk->drawing = *source;
    bool drawn = oche_flow_source_draw(&walk->drawing);
    OCHE_MUST(drawn);
    walk->plan = drawing->flow;
    walk->plan.connection = oche_flows_connection_of(flows, drawing, walk->number, &walk->plan);
    return &walk->plan;
}

struct oche_flow_plan oche_flows_plan(const struct oche_flows *flows, uint32_t number)
{
    const struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, number);
    struct oche_flow_source drawing;
    struct oche_flow_plan plan;

    OCHE_MUST(number < flows->count);
    if (source == NULL || oche_flow_source_has_made(source, number - source->first))
        return flows->plan[number];
    if (source->at != NULL)
        return plan_at(flows, source, number);
    drawing = *source;
    while (drawing.made <= number - source->first) {
        bool drawn = oche_flow_source_draw(&drawing);
        OCHE_MUST(drawn);
    }
    plan = drawing.flow;
    plan.connection = oche_flows_connection_of(flows, source, number, &plan);
    return plan;
}

uint64_t oche_flow_supplied(const struct oche_flow_plan *plan, oche_time age)
{
    uint64_t bytes;

    if (plan->supply_bps == 0)
        return plan->bytes;
    bytes = (uint64_t)((unsigned __int128)age * plan->supply_bps / (8 * OCHE_SEC));
    return bytes < plan->bytes ? bytes : plan->bytes;
}

void oche_flow_groups_free(struct oche_flow_groups *groups)
{
    free(groups->members);
    free(groups->first);
    *groups = (struct oche_flow_groups){.count = 0};
}

static int compare_hosts(const void *left, const void *right)
{
    const uint8_t *a = left, *b = right;

    return (int)oche_get16(a) - (int)oche_get16(b);
}

/*
 * Writes a group's senders in the form that packets carry. Leaves `incast` empty if packets cannot
 * name the group.
 */
static void name_incast(struct oche_group *incast, uint8_t *list, const uint32_t *members,
                        uint32_t count)
{
    if (count > OCHE_GROUP_MOST)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (members[i] > UINT16_MAX)
            return;
        oche_put16(list + 2 * (size_t)i, (uint16_t)members[i]);
    }
    qsort(list, count, 2, compare_hosts);
    incast->count = (uint16_t)count;
    incast->members = list;
}

void oche_flows_set_groups(struct oche_flows *flows, const struct oche_flow_groups *groups)
{
    flows->groups = *groups;
    if (groups->count == 0)
        return;
    flows->incasts = oche_flows_memory(groups->count, sizeof(*flows->incasts));
    flows->incast_members = oche_flows_memory(groups->member_count, 2);
    for (uint32_t group = 1; group <= groups->count; group++) {
        struct oche_group *incast = &flows->incasts[group - 1];
        uint32_t count;
        const uint32_t *members = oche_flow_group(groups, group, &count);

        *incast = (struct oche_group){.id = group & OCHE_PSN_MASK};
        name_incast(incast, flows->incast_members + 2 * (size_t)groups->first[group - 1], members,
                    count);
    }
}

const struct oche_connection *oche_flows_connection(const struct oche_flows *flows, uint32_t number,
                                                    uint32_t src, uint32_t dst)
{
    const struct oche_connection *connection;

    if (number >= flows->connection_count)
        return NULL;
    connection = &flows->connections[number];
    return connection->src == src && connection->dst == dst ? connection : NULL;
}

uint64_t oche_flows_delivered(const struct oche_flows *flows,
                              const struct oche_connection *connection)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < connection->delivered; i++)
        sum += flows->plan[flows->order[connection->first + i]].bytes;
    return sum;
}

void oche_flows_free(struct oche_flows *flows)
{
    oche_flows_free_rest(flows);
    oche_flow_groups_free(&flows->groups);
    for (uint32_t i = 0; i < flows->sources.count; i++)
        oche_sparse_free(flows->sources.list[i].made_places);
    oche_sparse_free(flows->incasts);
    oche_sparse_free(flows->incast_members);
    oche_flow_sources_free(&flows->sources);
    oche_sparse_free(flows->owned_plan);
    oche_sparse_free(flows->sent);
    oche_sparse_free(flows->received);
    oche_sparse_free(flows->paths);
    oche_sparse_free(flows->connections);
    oche_sparse_free(flows->pairs);
    oche_sparse_free(flows->each);
    oche_sparse_free(flows->order);
    oche_sparse_free(flows->by_start);
    oche_sparse_free(flows->starts);
    oche_sparse_free(flows->start_sources);
    oche_sparse_free(flows->host_connections);
    memset(flows, 0, sizeof(*flows));
}
