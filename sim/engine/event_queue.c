/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slower half of the event queue: opening and sorting a bucket, spilling, the far heap, and
 * fitting the width of a bucket to the load.
 */
#include "sim/engine/event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/big_memory.h"

#define FIRST_SHIFT     10 /* a bucket is 1 ns wide until the first review of the load */
#define SMALLEST_SHIFT  2
#define LARGEST_SHIFT   22 /* a time within a bucket has to fit into 32 bits */
#define LOOK_PART       4  /* the width is reviewed whenever 1/LOOK_PART of the ring was opened */
#define FEWEST_EVENTS   4  /* buckets get wider when their mean number of events is below this */
#define MOST_EVENTS     12 /* buckets get narrower when the mean is above this */
#define MOST_BUCKETS    (UINT64_C(1) << 20) /* 8 MiB of buckets */
#define INSERTION_LIMIT 24
#define SHOW_STEP       8    /* in a crowded bucket a stage comes so many events after the last */
#define FIRST_CHUNKS    256  /* the first slab is small, because most worlds need few chunks */
#define SLAB_CHUNKS     8192 /* one huge page */

_Static_assert(sizeof(struct oche_event_chunk) == OCHE_CHUNK_BYTES &&
                   offsetof(struct oche_event_chunk, event) == 0,
               "the address of an event tells its place in the chunk");

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

static void make_ring(struct oche_event_queue *queue, uint64_t count)
{
    queue->buckets = oche_big_memory(count * sizeof(struct oche_pending *));
    queue->bucket_mask = count - 1;
}

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

static void free_chunk(struct oche_event_queue *queue, struct oche_event_chunk *chunk)
{
    chunk->next = queue->free_chunks;
    queue->free_chunks = chunk;
}

static struct oche_event_chunk *chunk_of(const struct oche_pending *event)
{
    return (void *)((uintptr_t)event & ~(uintptr_t)(OCHE_CHUNK_BYTES - 1));
}

/* Returns how far ahead the ring should hold events: a link's delay and a packet's time. */
static oche_time reach(const struct oche_event_queue *queue)
{
    return queue->horizon + queue->horizon / 4;
}

void oche_events_init(struct oche_event_queue *queue, oche_time horizon,
                      oche_event_prefetch *prefetch, void *prefetch_context)
{
    uint64_t count = 1024;

    memset(queue, 0, sizeof(*queue));
    queue->prefetch = prefetch;
    queue->prefetch_context = prefetch_context;
    queue->shift = FIRST_SHIFT;
    queue->horizon = horizon;
    while (count << queue->shift < reach(queue) && count < MOST_BUCKETS)
        count <<= 1;
    /* Packets on a long link are many: they must not all lie in the heap. */
    while (count << queue->shift < reach(queue) && queue->shift < LARGEST_SHIFT)
        queue->shift++;
    make_ring(queue, count);
    queue->open_end = UINT64_C(1) << queue->shift;
    queue->open_capacity = 256;
    queue->open = grow(NULL, queue->open_capacity * sizeof(*queue->open));
    queue->spare = grow(NULL, queue->open_capacity * sizeof(*queue->open));
}

void oche_events_free(struct oche_event_queue *queue)
{
    for (uint32_t i = 0; i < queue->slab_count; i++)
        free(queue->slabs[i]);
    free(queue->slabs);
    free(queue->buckets);
    free(queue->open);
    free(queue->spare);
    free(queue->heap);
    memset(queue, 0, sizeof(*queue));
}

static void reserve_open(struct oche_event_queue *queue, uint32_t count)
{
    if (count <= queue->open_capacity)
        return;
    while (queue->open_capacity < count)
        queue->open_capacity *= 2;
    queue->open = grow(queue->open, queue->open_capacity * sizeof(*queue->open));
    queue->spare = grow(queue->spare, queue->open_capacity * sizeof(*queue->open));
}

/* Inserts an event into the open bucket, in order among the bucket's pending events. */
void oche_events_push_open(struct oche_event_queue *queue, struct oche_event event)
{
    const struct oche_pending pending = {
        .order = (event.time - queue->open_start) << 32 | event.key, .target = event.target};

    OCHE_MUST(event.time >= queue->open_start &&
              (queue->open_next == 0 ||
               pending.order >> 32 >= queue->open[queue->open_next - 1].order >> 32));
    reserve_open(queue, queue->open_count + 1);
    uint32_t i = queue->open_count++;
    while (i > queue->open_next && pending.order < queue->open[i - 1].order) {
        queue->open[i] = queue->open[i - 1];
        i--;
    }
    queue->open[i] = pending;
}

/* Adds an event to a bucket that needs another chunk for it. */
void oche_events_extend(struct oche_event_queue *queue, uint64_t slot, struct oche_pending event)
{
    if (queue->free_chunks == NULL)
        add_slab(queue);
    struct oche_event_chunk *chunk = queue->free_chunks;
    uint64_t number = queue->cursor + ((slot - queue->cursor) & queue->bucket_mask);
    if (number < queue->empty_to)
        queue->empty_to = number;
    queue->free_chunks = chunk->next;
    chunk->next = queue->buckets[slot] == NULL ? NULL : chunk_of(queue->buckets[slot]);
    chunk->event[OCHE_CHUNK_EVENTS - 1] = event;
    queue->buckets[slot] = &chunk->event[OCHE_CHUNK_EVENTS - 1];
}

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

/* Sorts the open bucket byte by byte, from the last one on; skips bytes that are all the same. */
static void sort_by_bytes(struct oche_event_queue *queue)
{
    uint32_t count = queue->open_count;
    uint64_t varying = 0;

    for (uint32_t i = 1; i < count; i++)
        varying |= queue->open[i].order ^ queue->open[0].order;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const struct oche_pending *from = queue->open;
        struct oche_pending *to = queue->spare;
        uint32_t at[256] = {0}, sum = 0;

        if ((varying >> shift & 255) == 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            at[from[i].order >> shift & 255]++;
        for (unsigned i = 0; i < 256; i++) {
            uint32_t here = at[i];
            at[i] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < count; i++)
            to[at[from[i].order >> shift & 255]++] = from[i];
        queue->spare = queue->open;
        queue->open = to;
    }
}

static void sort_open(struct oche_event_queue *queue)
{
    struct oche_pending *event = queue->open;
    uint32_t count = queue->open_count;

    if (count > INSERTION_LIMIT) {
        sort_by_bytes(queue);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        struct oche_pending moving = event[i];
        uint32_t j = i;
        while (j > 0 && moving.order < event[j - 1].order) {
            event[j] = event[j - 1];
            j--;
        }
        event[j] = moving;
    }
}

/* Replaces the ring with one whose buckets have a new width, and moves all its events there. */
static void change_width(struct oche_event_queue *queue, unsigned shift)
{
    struct oche_pending **buckets = queue->buckets;
    uint64_t mask = queue->bucket_mask, count = mask + 1, cursor = queue->cursor;
    unsigned old_shift = queue->shift;
    oche_time start = queue->open_end;

    if (shift < queue->shift && count < MOST_BUCKETS)
        count = count << 1;
    else if (shift > queue->shift && count > 1024)
        count >>= 1;
    make_ring(queue, count);
    queue->shift = shift;
    queue->open_next = queue->open_count = 0;
    /* The open bucket is empty. Its end is rounded up to a multiple of the new width. */
    queue->cursor = ((start + (UINT64_C(1) << shift) - 1) >> shift) - 1;
    queue->open_start = queue->cursor << shift;
    queue->open_end = (queue->cursor + 1) << shift;
    queue->ring_events = 0;
    queue->empty_to = 0;
    for (uint64_t number = cursor + 1; number <= cursor + mask; number++) {
        const struct oche_pending *event = buckets[number & mask];
        struct oche_event_chunk *chunk = event == NULL ? NULL : chunk_of(event), *next;
        for (; chunk != NULL; chunk = next) {
            for (; event < chunk->event + OCHE_CHUNK_EVENTS; event++)
                oche_event_push(queue, (number << old_shift) + (event->order >> 32),
                                (uint32_t)event->order, event->target);
            next = chunk->next;
            free_chunk(queue, chunk);
            event = next == NULL ? NULL : next->event;
        }
    }
    free(buckets);
}

static void look_at_width(struct oche_event_queue *queue)
{
    uint64_t events = queue->opened_events, buckets = queue->opened_buckets;
    bool narrower =
        queue->shift > SMALLEST_SHIFT && MOST_BUCKETS << (queue->shift - 1) >= reach(queue);

    queue->opened_events = 0;
    queue->opened_buckets = 0;
    if (events > MOST_EVENTS * buckets && narrower)
        change_width(queue, queue->shift - 1);
    else if (events < FEWEST_EVENTS * buckets && queue->shift < LARGEST_SHIFT)
        change_width(queue, queue->shift + 1);
}

/*
 * Passes the events of the next buckets to the prefetch callback, each bucket once per stage. Of a
 * bucket with several chunks it takes the newest one.
 */
static void prefetch_ahead(const struct oche_event_queue *queue)
{
    const struct oche_pending *event;

    for (unsigned stage = 0; stage < OCHE_PREFETCH_STAGES; stage++) {
        uint64_t slot = (queue->cursor + (OCHE_PREFETCH_STAGES - stage)) & queue->bucket_mask;
        event = queue->buckets[slot];
        if (event == NULL)
            continue;
        queue->prefetch(queue->prefetch_context, event,
                        (uint32_t)(chunk_of(event)->event + OCHE_CHUNK_EVENTS - event), stage);
    }
    event = queue->buckets[(queue->cursor + 2 * OCHE_PREFETCH_STAGES) & queue->bucket_mask];
    if (event == NULL)
        return;
    const char *line = (const char *)event, *end = (const char *)(chunk_of(event) + 1);
    for (; line < end; line += OCHE_CACHE_LINE)
        __builtin_prefetch(line);
}

/*
 * Passes the events of the current bucket to the prefetch callback, each some events before it is
 * popped. Only for buckets that hold more events than prefetch_ahead shows: flows that start
 * together all have their events in one.
 */
void oche_events_show(const struct oche_event_queue *queue)
{
    for (unsigned stage = 0; stage < OCHE_PREFETCH_STAGES; stage++) {
        uint32_t k = queue->open_next + (OCHE_PREFETCH_STAGES - stage) * SHOW_STEP - 1;
        if (k < queue->open_count)
            queue->prefetch(queue->prefetch_context, &queue->open[k], 1, stage);
    }
}

/* Does the same for the first events of a bucket that has been opened, all stages at once. */
static void show_first(const struct oche_event_queue *queue)
{
    for (unsigned stage = 0; stage < OCHE_PREFETCH_STAGES; stage++) {
        uint32_t count = (OCHE_PREFETCH_STAGES - stage) * SHOW_STEP;
        queue->prefetch(queue->prefetch_context, queue->open,
                        count < queue->open_count ? count : queue->open_count, stage);
    }
}

static void open_bucket(struct oche_event_queue *queue, uint64_t slot)
{
    const struct oche_pending *event = queue->buckets[slot];
    struct oche_event_chunk *chunk = chunk_of(event), *next;
    uint32_t count = 0;

    for (; chunk != NULL; chunk = next) {
        reserve_open(queue, count + OCHE_CHUNK_EVENTS);
        while (event < chunk->event + OCHE_CHUNK_EVENTS)
            queue->open[count++] = *event++;
        next = chunk->next;
        free_chunk(queue, chunk);
        event = next == NULL ? NULL : next->event;
    }
    queue->buckets[slot] = NULL;
    queue->ring_events -= count;
    queue->open_next = 0;
    queue->open_count = count;
    queue->opened_events += count;
    sort_open(queue);
    if (count > OCHE_CHUNK_EVENTS && queue->prefetch != NULL)
        show_first(queue);
}

/* Moves the far events that the ring can hold now into the ring (or the open bucket). */
static void fetch_far(struct oche_event_queue *queue)
{
    while (queue->heap_count > 0 &&
           (queue->heap[0].time >> queue->shift) - queue->cursor <= queue->bucket_mask) {
        struct oche_event event = pop_far(queue);
        oche_event_push(queue, event.time, event.key, event.target);
    }
}

/*
 * Opens buckets one after the other until one holds an event. Opens no bucket that starts at or
 * after `before`. Returns false if none of those buckets holds an event.
 */
bool oche_events_open_next(struct oche_event_queue *queue, oche_time before)
{
    while (queue->open_next == queue->open_count) {
        if (queue->open_end >= before)
            return false;
        if (queue->opened_buckets > queue->bucket_mask / LOOK_PART) {
            look_at_width(queue);
            if (queue->open_next != queue->open_count || queue->open_end >= before)
                continue;
        }
        if (queue->ring_events == 0) {
            /*
             * The ring is empty: jump to the first far event, or to `before` if `before` is
             * earlier.
             */
            oche_time next = queue->heap_count > 0 ? queue->heap[0].time : OCHE_NEVER;
            oche_time to = next < before ? next : before - 1;
            queue->cursor = to >> queue->shift;
            queue->open_next = queue->open_count = 0;
            queue->open_start = queue->cursor << queue->shift;
            queue->open_end = (queue->cursor + 1) << queue->shift;
            fetch_far(queue);
            if (next >= before)
                return false;
            continue;
        }
        queue->cursor++;
        queue->open_start = queue->open_end;
        queue->open_end += UINT64_C(1) << queue->shift;
        queue->opened_buckets++;
        uint64_t slot = queue->cursor & queue->bucket_mask;
        queue->open_next = queue->open_count = 0;
        if (queue->prefetch != NULL)
            prefetch_ahead(queue);
        if (queue->buckets[slot] != NULL)
            open_bucket(queue, slot);
        if (OCHE_UNLIKELY(queue->heap_count > 0))
            fetch_far(queue);
    }
    return true;
}

oche_time oche_events_next_time(struct oche_event_queue *queue)
{
    uint64_t number = queue->cursor + 1;

    if (queue->open_next < queue->open_count)
        return queue->open_start + (queue->open[queue->open_next].order >> 32);
    oche_time best = queue->heap_count > 0 ? queue->heap[0].time : OCHE_NEVER;
    if (queue->ring_events == 0)
        return best;
    /* Between packets on a long link a run may ask many times while nothing happens. */
    if (number < queue->empty_to)
        number = queue->empty_to;
    for (;; number++) {
        const struct oche_pending *event = queue->buckets[number & queue->bucket_mask];
        if (event == NULL)
            continue;
        queue->empty_to = number;
        for (struct oche_event_chunk *chunk = chunk_of(event); chunk != NULL;) {
            for (; event < chunk->event + OCHE_CHUNK_EVENTS; event++)
                best = oche_time_min(best, (number << queue->shift) + (event->order >> 32));
            chunk = chunk->next;
            event = chunk == NULL ? NULL : chunk->event;
        }
        return best;
    }
}
