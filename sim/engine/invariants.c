/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about the open batch, the ring and the far events of a queue; see the header. */
#include "sim/engine/invariants.h"

/* ---- what an event's place says of it ---- */

static oche_time offset_of(const struct oche_pending *event)
{
    return event->order >> 32;
}

static uint64_t node_of(const struct oche_event_queue *queue, const struct oche_pending *event)
{
    return (uint64_t)oche_pending_key(event) >> queue->node_shift;
}

/* Returns how long the open window is, from the start of its slice; 0: no batch is open. */
static oche_time open_length(const struct oche_event_queue *queue)
{
    return queue->open_limit == 0 ? 0 : queue->open_limit - queue->open_start;
}

static const struct oche_event_chunk *chunk_of(const struct oche_pending *event)
{
    return (const void *)((uintptr_t)event & ~(uintptr_t)(OCHE_CHUNK_BYTES - 1));
}

/* Returns the event of the bucket that was added before `event`; NULL: there is none. */
static const struct oche_pending *before_it(const struct oche_pending *event)
{
    const struct oche_event_chunk *chunk = chunk_of(event);

    if (event + 1 < chunk->event + OCHE_CHUNK_EVENTS)
        return event + 1;
    return chunk->next == NULL ? NULL : chunk->next->event;
}

/* ---- the open batch ---- */

/* True if the events from `event` to the first OCHE_NO_EVENT are in order. */
static bool in_order(const struct oche_pending *event)
{
    for (; event->order != OCHE_NO_EVENT; event++)
        if (event[1].order < event->order)
            return false;
    return true;
}

static bool batch_is_in_order(const struct oche_event_queue *queue)
{
    return in_order(queue->batch);
}

static bool own_events_end_where_they_are_said_to(const struct oche_event_queue *queue)
{
    const struct oche_pending *end = queue->own_memory + queue->own_end;

    if (queue->own < queue->own_memory || queue->own > end ||
        queue->own_end >= queue->own_capacity || end->order != OCHE_NO_EVENT)
        return false;
    for (const struct oche_pending *event = queue->own; event < end; event++)
        if (event->order == OCHE_NO_EVENT)
            return false;
    return true;
}

static bool own_events_are_in_order(const struct oche_event_queue *queue)
{
    return in_order(queue->own);
}

/*
 * True if all events from `event` to the first OCHE_NO_EVENT belong to the node of the open batch.
 */
static bool of_open_node(const struct oche_event_queue *queue, const struct oche_pending *event)
{
    for (; event->order != OCHE_NO_EVENT; event++)
        if (node_of(queue, event) != queue->open_node)
            return false;
    return true;
}

static bool batch_is_of_one_node(const struct oche_event_queue *queue)
{
    return of_open_node(queue, queue->batch) && of_open_node(queue, queue->own);
}

static bool batch_is_of_the_window(const struct oche_event_queue *queue)
{
    const oche_time length = open_length(queue);

    for (const struct oche_pending *event = queue->batch; event->order != OCHE_NO_EVENT; event++)
        if (offset_of(event) >= length)
            return false;
    for (const struct oche_pending *event = queue->own; event->order != OCHE_NO_EVENT; event++)
        if (offset_of(event) >= length)
            return false;
    return true;
}

/* ---- the open slice ---- */

static bool slice_begins_at_the_cursor(const struct oche_event_queue *queue)
{
    return queue->open_start == queue->cursor * queue->slice;
}

static bool window_ends_in_its_slice(const struct oche_event_queue *queue)
{
    return queue->open_limit == 0 ||
           (queue->open_limit > queue->open_start && open_length(queue) <= queue->slice);
}

static bool waiting_batches_are_of_the_window(const struct oche_event_queue *queue)
{
    if (queue->open_limit == 0)
        return true;
    for (const struct oche_pending *event = queue->batch_starts[0]; event < queue->slice_end;
         event++)
        if (offset_of(event) >= open_length(queue))
            return false;
    return true;
}

static bool waiting_batches_are_by_node(const struct oche_event_queue *queue)
{
    if (queue->open_limit == 0)
        return true;
    for (const struct oche_pending *event = queue->batch_starts[0]; event + 1 < queue->slice_end;
         event++)
        if (node_of(queue, event + 1) < node_of(queue, event))
            return false;
    return true;
}

static bool batches_begin_in_order(const struct oche_event_queue *queue)
{
    const unsigned known = queue->fetches ? OCHE_FETCH_STEPS : 1;

    if (queue->open_limit == 0)
        return true;
    for (unsigned i = 0; i < known; i++)
        if (queue->batch_starts[i] > queue->batch_starts[i + 1])
            return false;
    return queue->batch_starts[0] >= queue->slice_events &&
           queue->batch_starts[known] <= queue->slice_end;
}

static bool no_node_is_counted(const struct oche_event_queue *queue)
{
    for (uint32_t node = 0; node < queue->node_count; node++)
        if (queue->counts[node] != 0)
            return false;
    return true;
}

/* ---- the ring ---- */

/* Calls `holds` for each bucket with events, with the number of its slice. */
static bool all_buckets(const struct oche_event_queue *queue,
                        bool (*holds)(const struct oche_event_queue *queue,
                                      const struct oche_event_bucket *bucket, uint64_t number))
{
    for (uint64_t slot = 0; slot <= queue->mask; slot++) {
        const uint64_t ahead = (slot - queue->cursor) & queue->mask;

        if (queue->buckets[slot].last != NULL &&
            !holds(queue, &queue->buckets[slot], queue->cursor + ahead))
            return false;
    }
    return true;
}

/* Returns the earliest time of a bucket's events, within its slice, and how many chunks they take.
 */
static oche_time earliest(const struct oche_event_bucket *bucket, uint32_t *chunks)
{
    const struct oche_event_chunk *chunk = NULL;
    oche_time first = OCHE_NEVER;

    *chunks = 0;
    for (const struct oche_pending *event = bucket->last; event != NULL; event = before_it(event)) {
        first = oche_time_min(first, offset_of(event));
        *chunks += chunk_of(event) != chunk;
        chunk = chunk_of(event);
    }
    return first;
}

static bool is_in_its_slice(const struct oche_event_queue *queue,
                            const struct oche_event_bucket *bucket, uint64_t number)
{
    (void)number;
    for (const struct oche_pending *event = bucket->last; event != NULL; event = before_it(event))
        if (offset_of(event) >= queue->slice)
            return false;
    return true;
}

static bool knows_its_soonest(const struct oche_event_queue *queue,
                              const struct oche_event_bucket *bucket, uint64_t number)
{
    uint32_t chunks;

    return bucket->soonest == number * queue->slice + earliest(bucket, &chunks);
}

static bool knows_its_chunks(const struct oche_event_queue *queue,
                             const struct oche_event_bucket *bucket, uint64_t number)
{
    uint32_t chunks;

    (void)queue;
    (void)number;
    earliest(bucket, &chunks);
    return bucket->chunks == chunks;
}

static bool ring_events_are_in_their_slice(const struct oche_event_queue *queue)
{
    return all_buckets(queue, is_in_its_slice);
}

static bool buckets_know_their_soonest(const struct oche_event_queue *queue)
{
    return all_buckets(queue, knows_its_soonest);
}

static bool buckets_know_their_chunks(const struct oche_event_queue *queue)
{
    return all_buckets(queue, knows_its_chunks);
}

static bool empty_buckets_are_empty(const struct oche_event_queue *queue)
{
    for (uint64_t slot = 0; slot <= queue->mask; slot++) {
        const struct oche_event_bucket *bucket = &queue->buckets[slot];

        if (bucket->last == NULL && (bucket->soonest != OCHE_NEVER || bucket->chunks != 0))
            return false;
    }
    return true;
}

static bool filled_buckets_are_marked(const struct oche_event_queue *queue)
{
    for (uint64_t slot = 0; slot <= queue->mask; slot++)
        if ((queue->filled[slot / 64] >> slot % 64 & 1) != (queue->buckets[slot].last != NULL))
            return false;
    return true;
}

static bool filled_words_are_marked(const struct oche_event_queue *queue)
{
    for (uint64_t word = 0; word < (queue->mask + 1) / 64; word++)
        if ((queue->filled_words[word / 64] >> word % 64 & 1) != (queue->filled[word] != 0))
            return false;
    return true;
}

static bool nothing_waits_in_the_past(const struct oche_event_queue *queue)
{
    const oche_time soonest = queue->buckets[queue->cursor & queue->mask].soonest;

    return queue->open_limit == 0 || soonest >= queue->open_limit;
}

/* ---- far events ---- */

static bool far_events_are_a_heap(const struct oche_event_queue *queue)
{
    for (uint32_t i = 1; i < queue->heap_count; i++) {
        const struct oche_event *above = &queue->heap[(i - 1) / 2], *event = &queue->heap[i];

        if (event->time < above->time || (event->time == above->time && event->key < above->key))
            return false;
    }
    return queue->heap_count <= queue->heap_capacity;
}

static bool far_events_are_beyond_the_ring(const struct oche_event_queue *queue)
{
    for (uint32_t i = 0; i < queue->heap_count; i++)
        if (queue->heap[i].time / queue->slice <= queue->cursor + queue->mask)
            return false;
    return true;
}

static bool far_events_are_before_the_end_of_time(const struct oche_event_queue *queue)
{
    for (uint32_t i = 0; i < queue->heap_count; i++)
        if (queue->heap[i].time >= OCHE_TIME_LIMIT)
            return false;
    return true;
}

/* ---- each event ---- */

struct visitor {
    void (*visit)(void *context, const struct oche_event *event);
    void *context;
};

/* Visits an event of the slice that begins at `start`. */
static void visit(const struct visitor *visitor, oche_time start, const struct oche_pending *event)
{
    visitor->visit(visitor->context, &(struct oche_event){.time = start + offset_of(event),
                                                          .key = oche_pending_key(event),
                                                          .target = event->target});
}

static void visit_open(const struct oche_event_queue *queue, const struct visitor *visitor)
{
    const oche_time start = queue->open_start;

    if (queue->open_limit == 0)
        return;
    for (const struct oche_pending *event = queue->batch; event->order != OCHE_NO_EVENT; event++)
        visit(visitor, start, event);
    for (const struct oche_pending *event = queue->own; event->order != OCHE_NO_EVENT; event++)
        visit(visitor, start, event);
    for (const struct oche_pending *event = queue->batch_starts[0]; event < queue->slice_end;
         event++)
        visit(visitor, start, event);
}

void oche_events_each(const struct oche_event_queue *queue,
                      void (*call)(void *context, const struct oche_event *event), void *context)
{
    const struct visitor visitor = {call, context};

    visit_open(queue, &visitor);
    for (uint64_t slot = 0; slot <= queue->mask; slot++) {
        const uint64_t number = queue->cursor + ((slot - queue->cursor) & queue->mask);

        for (const struct oche_pending *event = queue->buckets[slot].last; event != NULL;
             event = before_it(event))
            visit(&visitor, number * queue->slice, event);
    }
    for (uint32_t i = 0; i < queue->heap_count; i++)
        call(context, &queue->heap[i]);
}

/* ---- all ---- */

/* The order matters: earlier statements check the members that later statements read. */
static const struct {
    const char *words;
    bool (*holds)(const struct oche_event_queue *queue);
} statements[] = {
    {"the slice begins at the cursor", slice_begins_at_the_cursor},
    {"the open window ends within its slice", window_ends_in_its_slice},
    {"added events of the open batch end where they are said to",
     own_events_end_where_they_are_said_to},
    {"the open batch is in order", batch_is_in_order},
    {"added events of the open batch are in order", own_events_are_in_order},
    {"the open batch is of one node", batch_is_of_one_node},
    {"the open batch is of the open window", batch_is_of_the_window},
    {"batches begin one after the other", batches_begin_in_order},
    {"the batches that wait are of the open window", waiting_batches_are_of_the_window},
    {"the batches that wait are in order of nodes", waiting_batches_are_by_node},
    {"no node is counted between two slices", no_node_is_counted},
    {"a bucket without events has no time and no chunks", empty_buckets_are_empty},
    {"a bucket's events are in its slice", ring_events_are_in_their_slice},
    {"a bucket knows its chunks", buckets_know_their_chunks},
    {"a bucket knows its soonest event", buckets_know_their_soonest},
    {"buckets with events are marked", filled_buckets_are_marked},
    {"words with marks are marked", filled_words_are_marked},
    {"nothing waits in the past", nothing_waits_in_the_past},
    {"far events are a heap", far_events_are_a_heap},
    {"far events lie beyond the ring", far_events_are_beyond_the_ring},
    {"far events lie before the end of time", far_events_are_before_the_end_of_time},
};

const char *oche_events_broken(const struct oche_event_queue *queue)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(statements); i++)
        if (!statements[i].holds(queue))
            return statements[i].words;
    return NULL;
}
