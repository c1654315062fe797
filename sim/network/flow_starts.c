/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a host starts its flows: by start and number. Listed flows are sorted before
 * the run; the sources of a host are a heap, in which each is at its next flow.
 */
#include <stdlib.h>

#include "sim/network/flow_internal.h"

struct keyed {
    uint32_t host, flow;
    oche_time start;
};

static int compare_keyed(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* True if a source's flows start by the clock. */
static bool is_timed(const struct oche_flow_source *source)
{
    return source != NULL && !source->chain && source->at == NULL;
}

static uint32_t key_listed(const struct oche_flows *flows, struct keyed *keys)
{
    uint32_t count = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        if (flows->plan[i].start == OCHE_NEVER ||
            is_timed(oche_flow_sources_find(&flows->sources, i)))
            continue;
        if (keys != NULL)
            keys[count] =
                (struct keyed){oche_flow_poster(&flows->plan[i]), i, flows->plan[i].start};
        count++;
    }
    return count;
}

static void order_listed(struct oche_flows *flows, uint32_t host_count)
{
    uint32_t timed = key_listed(flows, NULL);
    struct keyed *keys = malloc(((size_t)timed + 1) * sizeof(*keys));

    if (keys == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for flows");
    key_listed(flows, keys);
    qsort(keys, timed, sizeof(*keys), compare_keyed);
    flows->by_start = oche_flows_memory(timed, sizeof(*flows->by_start));
    for (uint32_t i = 0; i < timed; i++)
        flows->by_start[i] = keys[i].flow;
    for (uint32_t host = 0, i = 0; host < host_count; host++) {
        flows->starts[host].next = i;
        while (i < timed && keys[i].host == host)
            i++;
        flows->starts[host].end = i;
    }
    free(keys);
}

/* Returns the number of the flow that the source made last, which has yet to start. */
static uint32_t waiting(const struct oche_flows *flows, uint32_t source)
{
    return flows->sources.list[source].first + flows->sources.list[source].made - 1;
}

/* True if flow `a` starts before flow `b`. */
static bool earlier(const struct oche_flows *flows, uint32_t a, uint32_t b)
{
    oche_time at = flows->plan[a].start, other = flows->plan[b].start;

    return at != other ? at < other : a < b;
}

static void sift_down(const struct oche_flows *flows, struct oche_flow_starts *starts, uint32_t at)
{
    uint32_t *heap = starts->sources, moving = heap[at];
    uint32_t flow = waiting(flows, moving);

    for (uint32_t child; (child = 2 * at + 1) < starts->source_count; at = child) {
        if (child + 1 < starts->source_count &&
            earlier(flows, waiting(flows, heap[child + 1]), waiting(flows, heap[child])))
            child++;
        if (!earlier(flows, waiting(flows, heap[child]), flow))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void order_sources(struct oche_flows *flows, uint32_t host_count)
{
    const struct oche_flow_sources *sources = &flows->sources;
    uint32_t *next = flows->start_sources =
        oche_flows_memory(sources->count, sizeof(*flows->start_sources));

    for (uint32_t i = 0; i < sources->count; i++)
        if (is_timed(&sources->list[i]))
            flows->starts[oche_flow_poster(&sources->list[i].flow)].source_count++;
    for (uint32_t host = 0; host < host_count; host++) {
        flows->starts[host].sources = next;
        next += flows->starts[host].source_count;
        flows->starts[host].source_count = 0;
    }
    for (uint32_t i = 0; i < sources->count; i++) {
        struct oche_flow_starts *starts = &flows->starts[oche_flow_poster(&sources->list[i].flow)];

        if (is_timed(&sources->list[i]))
            starts->sources[starts->source_count++] = i;
    }
    for (uint32_t host = 0; host < host_count; host++)
        for (uint32_t i = flows->starts[host].source_count / 2; i-- > 0;)
            sift_down(flows, &flows->starts[host], i);
}

void oche_flows_order_starts(struct oche_flows *flows, uint32_t host_count)
{
    flows->starts = oche_flows_memory(host_count, sizeof(*flows->starts));
    order_listed(flows, host_count);
    order_sources(flows, host_count);
}

/* Returns the host's next flow to start, or OCHE_NO_FLOW. */
static uint32_t next_flow(const struct oche_flows *flows, const struct oche_flow_starts *starts)
{
    uint32_t listed = starts->next < starts->end ? flows->by_start[starts->next] : OCHE_NO_FLOW;
    uint32_t drawn;

    if (starts->source_count == 0)
        return listed;
    drawn = waiting(flows, starts->sources[0]);
    return listed != OCHE_NO_FLOW && earlier(flows, listed, drawn) ? listed : drawn;
}

oche_time oche_flows_next_start(const struct oche_flows *flows, uint32_t host)
{
    uint32_t flow = next_flow(flows, &flows->starts[host]);

    return flow == OCHE_NO_FLOW ? OCHE_NEVER : flows->plan[flow].start;
}

uint32_t oche_flows_take_start(struct oche_flows *flows, uint32_t host)
{
    struct oche_flow_starts *starts = &flows->starts[host];
    uint32_t flow = next_flow(flows, starts);
    struct oche_flow_source *source;

    OCHE_MUST(flow != OCHE_NO_FLOW);
    if (starts->next < starts->end && flows->by_start[starts->next] == flow) {
        starts->next++;
        return flow;
    }
    source = &flows->sources.list[starts->sources[0]];
    if (source->made < source->count)
        oche_flows_make_next(flows, source);
    else
        starts->sources[0] = starts->sources[--starts->source_count];
    if (starts->source_count > 0)
        sift_down(flows, starts, 0);
    return flow;
}
