/* SPDX-License-Identifier: Apache-2.0 */
/* The slower half of the event queue: opening slices and batches, and the far heap. */
#include "sim/engine/event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/batch_sort.h"
#include "sim/engine/big_memory.h"

/* About 17 us. A time within a slice has to fit into 32 bits. */
#define LONGEST_SLICE (UINT64_C(1) << 24)

#define SHORT_PART     64 /* slices of `by_time` are so many times shorter */
#define FEWEST_BUCKETS 64
#define MOST_BUCKETS   (UINT64_C(1) << 20)
#define FIRST_CHUNKS   256  /* the first slab is small, because most worlds need few chunks */
#define SLAB_CHUNKS    8192 /* one huge page */
#define COUNTED_PART   4    /* by counting, if there is an event for every so many nodes */
#define FEW_EVENTS     16   /* of a slice: to fetch ahead for so few does not pay */
#define FEW_TARGETS    32   /* a batch of at most so many events has all targets fetched at once */
/* In a larger batch, the target of an event is fetched so many events before it is popped. */
#define TARGETS_AHEAD 16

_Static_assert(sizeof(struct oche_event_chunk) == OCHE_CHUNK_BYTES &&
                   offsetof(struct oche_event_chunk, event) == 0,
               "the address of an event tells its place in the chunk");

static const struct oche_pending no_event = {.order = OCHE_NO_EVENT};

static bool before_than(const struct oche_event *a, const struct oche_event *b)
{
    return a->time != b->time ? a->time < b->time : a->key < b->key;
}

static void *grow(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes);

    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for events");
    return memory;
}

/* ---- chunks ---- */

static void add_slab(struct oche_event_queue *queue)
{
    size_t count = queue->slab_count == 0 ? FIRST_CHUNKS : SLAB_CHUNKS;
    struct oche_event_chunk *slab =
        oche_big_memory_aligned(count * sizeof(*slab), OCHE_CHUNK_BYTES);

    queue->slabs = grow(queue->slabs, (queue->slab_count + 1) * sizeof(struct oche_event_chunk *));
    queue->slabs[queue->slab_count++] = slab;
    for (size_t i = count; i-- > 0;) {
        slab[i].next = queue->free_chunks;
        queue->free_chunks = &slab[i];
    }
}

static struct oche_event_chunk *chunk_of(const struct oche_pending *event)
{
    return (void *)((uintptr_t)event & ~(uintptr_t)(OCHE_CHUNK_BYTES - 1));
}

/* Adds an event to a bucket whose chunk is full. */
void oche_events_extend(struct oche_event_queue *queue, uint64_t slot, struct oche_pending event)
{
    struct oche_event_bucket *bucket = &queue->buckets[slot];

    OCHE_MUST(slot <= queue->mask);
    if (queue->free_chunks == NULL)
        add_slab(queue);
    struct oche_event_chunk *chunk = queue->free_chunks;

    queue->free_chunks = chunk->next;
    chunk->next = bucket->last == NULL ? NULL : chunk_of(bucket->last);
    chunk->event[OCHE_CHUNK_EVENTS - 1] = event;
    bucket->last = &chunk->event[OCHE_CHUNK_EVENTS - 1];
    bucket->chunks++;
    queue->filled[slot / 64] |= UINT64_C(1) << slot % 64;
    queue->filled_words[slot / 4096] |= UINT64_C(1) << slot / 64 % 64;
}

/* ---- the heap ---- */

void oche_events_push_far(struct oche_event_queue *queue, struct oche_event event)
{
    if (queue->heap_count == queue->heap_capacity) {
        queue->heap_capacity = queue->heap_capacity == 0 ? 256 : queue->heap_capacity * 2;
        queue->heap = grow(queue->heap, queue->heap_capacity * sizeof(*queue->heap));
    }
    uint32_t i = queue->heap_count++;
    while (i > 0 && before_than(&event, &queue->heap[(i - 1) / 2])) {
        queue->heap[i] = queue->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    queue->heap[i] = event;
}

static struct oche_event pop_far(struct oche_event_queue *queue)
{
    struct oche_event top = queue->heap[0];
    struct oche_event last = queue->heap[--queue->heap_count];
    uint32_t i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= queue->heap_count)
            break;
        if (child + 1 < queue->heap_count &&
            before_than(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!before_than(&queue->heap[child], &last))
            break;
        queue->heap[i] = queue->heap[child];
        i = child;
    }
    queue->heap[i] = last;
    return top;
}

/* ---- beginning and end ---- */

/* Returns the longest slice that divides `independent`, or nearly. */
static oche_time slice_of(const struct oche_event_queue_config *config)
{
    oche_time whole = oche_time_min(config->independent, OCHE_SEC);
    oche_time slice;

    if (config->by_time)
        whole = whole / SHORT_PART + 1;
    slice = whole / ((whole + LONGEST_SLICE - 1) / LONGEST_SLICE);
    return slice;
}

void oche_events_init(struct oche_event_queue *queue, const struct oche_event_queue_config *config)
{
    uint64_t count = FEWEST_BUCKETS;

    OCHE_MUST(config->independent > 0);
    memset(queue, 0, sizeof(*queue));
    queue->slice = slice_of(config);
    while (count < MOST_BUCKETS &&
           (count - 2) * queue->slice < config->horizon + config->horizon / 4)
        count *= 2;
    queue->mask = count - 1;
    queue->buckets = oche_big_memory(count * sizeof(*queue->buckets));
    queue->filled = oche_big_memory(count / 64 * sizeof(*queue->filled));
    queue->filled_words = oche_big_memory((count / 4096 + 1) * sizeof(*queue->filled_words));
    for (uint64_t i = 0; i < count; i++)
        queue->buckets[i].soonest = OCHE_NEVER;
    queue->node_shift = config->by_time ? 32 : OCHE_EVENT_NODE_SHIFT;
    queue->node_count = config->by_time ? 1 : config->node_count;
    queue->counts = oche_big_memory((queue->node_count + 1) * sizeof(*queue->counts));
    queue->fetch = config->fetch;
    queue->fetch_context = config->fetch_context;
    queue->own_capacity = 64;
    queue->own_memory = grow(NULL, queue->own_capacity * sizeof(*queue->own_memory));
    queue->own_memory[0] = no_event;
    queue->own = queue->own_memory;
    queue->batch = &no_event;
}

void oche_events_free(struct oche_event_queue *queue)
{
    for (uint32_t i = 0; i < queue->slab_count; i++)
        free(queue->slabs[i]);
    free(queue->slabs);
    free(queue->buckets);
    free(queue->filled);
    free(queue->filled_words);
    free(queue->counts);
    free(queue->slice_events);
    free(queue->batch_memory);
    free(queue->spare);
    free(queue->own_memory);
    free(queue->heap);
    memset(queue, 0, sizeof(*queue));
}

/*
 * Inserts an event for the open batch's node into the list of events that were added since the
 * batch was opened.
 */

/* Inserts an event among those of the open batch's node that were added since it was opened. */
void oche_events_push_own(struct oche_event_queue *queue, struct oche_event event)
{
    const struct oche_pending pending = {
        .order = (event.time - queue->open_start) << 32 | event.key, .target = event.target};
    uint32_t first = (uint32_t)(queue->own - queue->own_memory), i;

    OCHE_MUST(event.time >= queue->open_start &&
              (uint64_t)event.key >> queue->node_shift == queue->open_node);
    if (queue->own_end + 1 == queue->own_capacity) {
        if (first < queue->own_capacity / 2) {
            queue->own_capacity *= 2;
            queue->own_memory =
                grow(queue->own_memory, queue->own_capacity * sizeof(*queue->own_memory));
        }
        memmove(queue->own_memory, queue->own_memory + first,
                (queue->own_end + 1 - first) * sizeof(*queue->own_memory));
        queue->own_end -= first;
        queue->own = queue->own_memory;
        first = 0;
    }
    struct oche_pending *own = queue->own_memory;

    i = ++queue->own_end;
    own[i] = no_event;
    for (i--; i > first && pending.order < own[i - 1].order; i--)
        own[i] = own[i - 1];
    own[i] = pending;
}

static void reserve_batch(struct oche_event_queue *queue, uint32_t count)
{
    if (count + TARGETS_AHEAD <= queue->batch_capacity)
        return;
    queue->batch_capacity = count + count / 2 + 2 * TARGETS_AHEAD;
    queue->batch_memory =
        grow(queue->batch_memory, queue->batch_capacity * sizeof(*queue->batch_memory));
    queue->spare = grow(queue->spare, queue->batch_capacity * sizeof(*queue->spare));
}

static uint64_t node_of(const struct oche_event_queue *queue, const struct oche_pending *event)
{
    return (uint64_t)oche_pending_key(event) >> queue->node_shift;
}

/* Returns the end of the batch that begins at `first`. */
static const struct oche_pending *batch_end(const struct oche_event_queue *queue,
                                            const struct oche_pending *first)
{
    if (first == queue->slice_end)
        return first;
    const uint64_t node = node_of(queue, first);

    do
        first++;
    while (first < queue->slice_end && node_of(queue, first) == node);
    return first;
}

static void fetch_targets(const struct oche_pending *event, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(event[i].target, 1);
}

/*
 * Fetches the memory that the next batches will touch, and finds the end of one more batch. The
 * targets of a small batch are all fetched here, before it is sorted. The targets of a larger batch
 * are fetched while it is popped.
 */
static void look_ahead(struct oche_event_queue *queue)
{
    const struct oche_pending **start = queue->batch_starts;

    if (!queue->fetches) {
        start[0] = start[1];
        start[1] = batch_end(queue, start[0]);
        return;
    }
    for (unsigned i = 0; i < OCHE_FETCH_STEPS; i++)
        start[i] = start[i + 1];
    start[OCHE_FETCH_STEPS] = batch_end(queue, start[OCHE_FETCH_STEPS - 1]);
    for (unsigned step = 0; step < OCHE_FETCH_STEPS; step++) {
        const struct oche_pending *const *batch = &start[OCHE_FETCH_STEPS - 1 - step];

        if (batch[0] < batch[1])
            queue->fetch(queue->fetch_context, batch[0], (uint32_t)(batch[1] - batch[0]), step);
    }
    if (start[1] - start[0] <= FEW_TARGETS)
        fetch_targets(start[0], (uint32_t)(start[1] - start[0]));
}

/* Sorts the events of the next node, and makes them the open batch. */
static void open_batch(struct oche_event_queue *queue)
{
    const struct oche_pending *first = queue->batch_starts[0];
    const uint32_t count = (uint32_t)(queue->batch_starts[1] - first);

    OCHE_MUST(count > 0);
    reserve_batch(queue, count);
    struct oche_pending *sorted = oche_batch_sort(first, count, queue->batch_memory, queue->spare);

    if (sorted != queue->batch_memory) {
        queue->spare = queue->batch_memory;
        queue->batch_memory = sorted;
    }
    sorted[count] = no_event;
    queue->targets_ahead = 0;
    if (count > FEW_TARGETS) {
        queue->targets_ahead = TARGETS_AHEAD;
        for (uint32_t i = 1; i < TARGETS_AHEAD; i++)
            sorted[count + i] = no_event;
        fetch_targets(sorted, TARGETS_AHEAD);
    }
    queue->batch = sorted;
    queue->open_node = (uint32_t)node_of(queue, first);
    queue->own_end = 0;
    queue->own_memory[0] = no_event;
    queue->own = queue->own_memory;
    look_ahead(queue);
}

/* ---- the open slice ---- */

static void reserve_slice(struct oche_event_queue *queue, uint32_t count)
{
    if (count <= queue->slice_capacity)
        return;
    queue->slice_capacity = count + count / 4 + 256;
    free(queue->slice_events);
    queue->slice_events = oche_big_memory(queue->slice_capacity * sizeof(*queue->slice_events));
}

static void fetch_chunk(const struct oche_event_chunk *chunk)
{
    for (size_t i = 0; chunk != NULL && i < OCHE_CHUNK_BYTES; i += OCHE_CACHE_LINE)
        __builtin_prefetch((const char *)chunk + i);
}

static void free_chunk(struct oche_event_queue *queue, struct oche_event_chunk *chunk)
{
    chunk->next = queue->free_chunks;
    queue->free_chunks = chunk;
}

/*
 * Moves events to `slice_events`, sorted by node, by counting the events of each node. `last` is
 * the event that was added last. The function reads from `last` backwards and fills from the end.
 * So the events of one node stay in the order in which they were added, and are nearly sorted.
 */
static uint32_t gather_by_node(struct oche_event_queue *queue, const struct oche_pending *last)
{
    const struct oche_pending *event = last;
    struct oche_event_chunk *chunk, *next;
    uint32_t *counts = queue->counts, sum = 0;

    for (chunk = chunk_of(last); chunk != NULL; chunk = chunk->next) {
        fetch_chunk(chunk->next);
        for (; event < chunk->event + OCHE_CHUNK_EVENTS; event++)
            counts[node_of(queue, event)]++;
        event = chunk->next == NULL ? NULL : chunk->next->event;
    }
    for (uint32_t node = 0; node < queue->node_count; node++)
        counts[node] = sum += counts[node];
    event = last;
    for (chunk = chunk_of(last); chunk != NULL; chunk = next) {
        fetch_chunk(chunk->next);
        for (; event < chunk->event + OCHE_CHUNK_EVENTS; event++)
            queue->slice_events[--counts[node_of(queue, event)]] = *event;
        next = chunk->next;
        event = next == NULL ? NULL : next->event;
        free_chunk(queue, chunk);
    }
    memset(counts, 0, queue->node_count * sizeof(*counts));
    return sum;
}

/*
 * Does the same for few events, or if those from `limit` on, a time within the slice, have to go
 * back into the bucket.
 */
static uint32_t gather_some(struct oche_event_queue *queue, const struct oche_pending *last,
                            oche_time limit)
{
    const struct oche_pending *event = last;
    struct oche_event_chunk *chunk, *next;
    uint32_t count = 0;

    for (chunk = chunk_of(last); chunk != NULL; chunk = next) {
        for (; event < chunk->event + OCHE_CHUNK_EVENTS; event++) {
            if (event->order >> 32 < limit)
                queue->slice_events[count++] = *event;
            else
                oche_event_push_later(queue, queue->open_start + (event->order >> 32),
                                      oche_pending_key(event), event->target);
        }
        next = chunk->next;
        event = next == NULL ? NULL : next->event;
        free_chunk(queue, chunk);
    }
    if (queue->node_count > 1 && count > 1) {
        reserve_batch(queue, count);
        oche_batch_sort_nodes(queue->slice_events, count, queue->spare, queue->node_shift);
    }
    return count;
}

/* Opens the slice of the cursor, which has events, up to `before`. */
static void open_slice(struct oche_event_queue *queue, oche_time before)
{
    const uint64_t slot = queue->cursor & queue->mask;
    struct oche_event_bucket *bucket = &queue->buckets[slot];
    const struct oche_pending *last = bucket->last;
    const oche_time limit = oche_time_min(before - queue->open_start, queue->slice);
    uint32_t count = bucket->chunks * OCHE_CHUNK_EVENTS;
    const bool many =
        limit == queue->slice && bucket->chunks > 1 && count > queue->node_count / COUNTED_PART;

    OCHE_MUST(last != NULL && before > queue->open_start);
    *bucket = (struct oche_event_bucket){.soonest = OCHE_NEVER};
    queue->filled[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    if (queue->filled[slot / 64] == 0)
        queue->filled_words[slot / 4096] &= ~(UINT64_C(1) << slot / 64 % 64);
    reserve_slice(queue, count);
    count = many ? gather_by_node(queue, last) : gather_some(queue, last, limit);
    OCHE_MUST(count > 0 && count <= queue->slice_capacity);
    queue->open_limit = queue->open_start + limit;
    queue->slice_end = queue->slice_events + count;
    queue->fetches = queue->fetch != NULL && count > FEW_EVENTS;
    for (unsigned i = 0; i <= OCHE_FETCH_STEPS; i++)
        queue->batch_starts[i] = queue->slice_events;
    for (unsigned i = 0; i < (queue->fetches ? OCHE_FETCH_STEPS : 1); i++)
        look_ahead(queue);
}

/* ---- from slice to slice ---- */

static void go_to(struct oche_event_queue *queue, uint64_t number)
{
    OCHE_MUST(number >= queue->cursor); /* time does not go back */
    queue->cursor = number;
    queue->open_start = number * queue->slice;
    /* The ring can hold some of the far events now. */
    while (queue->heap_count > 0 && queue->heap[0].time / queue->slice - number <= queue->mask) {
        struct oche_event event = pop_far(queue);

        oche_event_push_later(queue, event.time, event.key, event.target);
    }
}

/* Returns the next word of `filled` after `word`, around the ring, that is not 0; UINT64_MAX: none.
 */
static uint64_t next_filled_word(const struct oche_event_queue *queue, uint64_t word)
{
    const uint64_t words = (queue->mask + 1) / 64, groups = (words + 63) / 64;
    const uint64_t start = word + 1 == words ? 0 : word + 1;
    uint64_t group = start / 64, bits = queue->filled_words[group] & UINT64_MAX << start % 64;

    for (uint64_t i = 0; bits == 0; i++) {
        if (i == groups)
            return UINT64_MAX;
        group = group + 1 == groups ? 0 : group + 1;
        bits = queue->filled_words[group];
    }
    return group * 64 + (uint64_t)__builtin_ctzll(bits);
}

/* Returns the number of the first slice from the cursor's on that has events in the ring. */
static uint64_t first_filled(const struct oche_event_queue *queue)
{
    const uint64_t slot = queue->cursor & queue->mask;
    uint64_t word = slot / 64, bits = queue->filled[word] & UINT64_MAX << slot % 64;

    if (bits == 0) {
        word = next_filled_word(queue, word);
        if (word == UINT64_MAX)
            return UINT64_MAX;
        bits = queue->filled[word];
    }
    const uint64_t found = word * 64 + (uint64_t)__builtin_ctzll(bits);

    return queue->cursor + ((found - slot) & queue->mask);
}

oche_time oche_events_next_time(const struct oche_event_queue *queue)
{
    const uint64_t number = first_filled(queue);
    const oche_time far = queue->heap_count > 0 ? queue->heap[0].time : OCHE_NEVER;

    return number == UINT64_MAX ? far : queue->buckets[number & queue->mask].soonest;
}

/* The slice of `before` becomes the cursor's slice if there is no event before it. */
bool oche_events_next_batch(struct oche_event_queue *queue, oche_time before, uint32_t *node)
{
    if (queue->open_limit == 0 || queue->batch_starts[0] == queue->slice_end) {
        oche_time next;

        OCHE_MUST(before <= OCHE_TIME_LIMIT);
        OCHE_MUST(queue->batch->order == OCHE_NO_EVENT && queue->own->order == OCHE_NO_EVENT);
        queue->open_limit = 0;
        queue->batch = &no_event;
        next = oche_events_next_time(queue);
        if (next >= before) {
            if (before / queue->slice > queue->cursor)
                go_to(queue, before / queue->slice);
            return false;
        }
        if (next / queue->slice != queue->cursor)
            go_to(queue, next / queue->slice);
        open_slice(queue, before);
    }
    open_batch(queue);
    *node = queue->node_shift == OCHE_EVENT_NODE_SHIFT ? queue->open_node : OCHE_MIXED_BATCH;
    return true;
}
