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
#define LARGEST_SHIFT   22
#define LOOK_PART       4  /* the width is reviewed whenever 1/LOOK_PART of the ring was opened */
#define FEWEST_EVENTS   4  /* buckets get wider when their mean number of events is below this */
#define MOST_EVENTS     12 /* buckets get narrower when the mean is above this */
#define MOST_BUCKETS    (UINT64_C(1) << 17) /* 32 MiB of buckets */
#define INSERTION_LIMIT 24
#define SHOW_STEP       8 /* in a crowded bucket a stage comes so many events after the one before */

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
    queue->buckets = oche_big_memory(count * sizeof(*queue->buckets));
    queue->counts = oche_big_memory(count * sizeof(*queue->counts));
    queue->spills = oche_big_memory(count * sizeof(*queue->spills));
    queue->bucket_mask = count - 1;
}

static void free_ring(struct oche_bucket *buckets, uint32_t *counts,
                      struct oche_bucket_spill *spills, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        free(spills[i].event);
    free(buckets);
    free(counts);
    free(spills);
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
    while (count << queue->shift < horizon + horizon / 4 && count < MOST_BUCKETS)
        count <<= 1;
    make_ring(queue, count);
    queue->open_end = UINT64_C(1) << queue->shift;
    queue->open_capacity = 256;
    queue->open = grow(NULL, queue->open_capacity * sizeof(*queue->open));
}

void oche_events_free(struct oche_event_queue *queue)
{
    free_ring(queue->buckets, queue->counts, queue->spills, queue->bucket_mask + 1);
    free(queue->open);
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
}

/* Inserts an event into the open bucket, in order among the bucket's pending events. */
void oche_events_push_open(struct oche_event_queue *queue, struct oche_event event)
{
    OCHE_MUST(queue->open_next == 0 || event.time >= queue->open[queue->open_next - 1].time);
    reserve_open(queue, queue->open_count + 1);
    uint32_t i = queue->open_count++;
    while (i > queue->open_next && before_than(&event, &queue->open[i - 1])) {
        queue->open[i] = queue->open[i - 1];
        i--;
    }
    queue->open[i] = event;
}

void oche_events_spill(struct oche_event_queue *queue, uint64_t slot, struct oche_event event)
{
    struct oche_bucket_spill *spill = &queue->spills[slot];
    uint32_t spilled = queue->counts[slot] - (uint32_t)OCHE_BUCKET_EVENTS;

    if (spilled == spill->capacity) {
        spill->capacity = spilled == 0 ? 16 : spilled * 2;
        spill->event = grow(spill->event, spill->capacity * sizeof(*spill->event));
    }
    spill->event[spilled] = event;
    queue->counts[slot]++;
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

static int compare_events(const void *a, const void *b)
{
    return before_than(a, b) ? -1 : before_than(b, a) ? 1 : 0;
}

static void sort_open(struct oche_event_queue *queue)
{
    struct oche_event *event = queue->open;
    uint32_t count = queue->open_count;

    if (count > INSERTION_LIMIT) {
        qsort(event, count, sizeof(*event), compare_events);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        struct oche_event moving = event[i];
        uint32_t j = i;
        while (j > 0 && before_than(&moving, &event[j - 1])) {
            event[j] = event[j - 1];
            j--;
        }
        event[j] = moving;
    }
}

/* Returns event k (from 0) of the bucket in `slot`. */
static inline const struct oche_event *event_at(const struct oche_bucket *buckets,
                                                const struct oche_bucket_spill *spills,
                                                uint64_t slot, uint32_t k)
{
    return k < OCHE_BUCKET_EVENTS ? &buckets[slot].event[k]
                                  : &spills[slot].event[k - OCHE_BUCKET_EVENTS];
}

/* Replaces the ring with one whose buckets have a new width, and moves all its events there. */
static void change_width(struct oche_event_queue *queue, unsigned shift)
{
    struct oche_bucket *buckets = queue->buckets;
    struct oche_bucket_spill *spills = queue->spills;
    uint32_t *counts = queue->counts;
    uint64_t old_count = queue->bucket_mask + 1, count = old_count;
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
    queue->open_end = (queue->cursor + 1) << shift;
    queue->ring_events = 0;
    for (uint64_t slot = 0; slot < old_count; slot++)
        for (uint32_t k = 0; k < counts[slot]; k++) {
            const struct oche_event *event = event_at(buckets, spills, slot, k);
            oche_event_push(queue, event->time, event->key, event->target);
        }
    free_ring(buckets, counts, spills, old_count);
}

static void look_at_width(struct oche_event_queue *queue)
{
    uint64_t events = queue->opened_events, buckets = queue->opened_buckets;
    bool narrower =
        queue->shift > SMALLEST_SHIFT && MOST_BUCKETS << (queue->shift - 1) >= queue->horizon;

    queue->opened_events = 0;
    queue->opened_buckets = 0;
    if (events > MOST_EVENTS * buckets && narrower)
        change_width(queue, queue->shift - 1);
    else if (events < FEWEST_EVENTS * buckets && queue->shift < LARGEST_SHIFT)
        change_width(queue, queue->shift + 1);
}

/* Passes the events of the next buckets to the prefetch callback, each bucket once per stage. */
static void prefetch_ahead(const struct oche_event_queue *queue)
{
    for (unsigned stage = 0; stage < OCHE_PREFETCH_STAGES; stage++) {
        uint64_t slot = (queue->cursor + (OCHE_PREFETCH_STAGES - stage)) & queue->bucket_mask;
        uint32_t count = queue->counts[slot];
        if (count > OCHE_BUCKET_EVENTS)
            count = OCHE_BUCKET_EVENTS;
        for (uint32_t k = 0; k < count; k++)
            queue->prefetch(queue->prefetch_context, &queue->buckets[slot].event[k], stage);
    }
    const char *next =
        (const char *)&queue
            ->buckets[(queue->cursor + 2 * OCHE_PREFETCH_STAGES + 4) & queue->bucket_mask];
    __builtin_prefetch(next);
    __builtin_prefetch(next + OCHE_CACHE_LINE);
}

/*
 * Of a bucket that holds more events than prefetch_ahead shows: passes each event to the prefetch
 * callback some events before it is popped. Events that start together all share a bucket.
 */
void oche_events_show(const struct oche_event_queue *queue)
{
    for (unsigned stage = 0; stage < OCHE_PREFETCH_STAGES; stage++) {
        uint32_t k = queue->open_next + (OCHE_PREFETCH_STAGES - stage) * SHOW_STEP - 1;
        if (k < queue->open_count)
            queue->prefetch(queue->prefetch_context, &queue->open[k], stage);
    }
}

/* Does the same for the first events of a bucket that has been opened, all stages at once. */
static void show_first(const struct oche_event_queue *queue)
{
    for (unsigned stage = 0; stage < OCHE_PREFETCH_STAGES; stage++) {
        uint32_t count = (OCHE_PREFETCH_STAGES - stage) * SHOW_STEP;
        for (uint32_t k = 0; k < count && k < queue->open_count; k++)
            queue->prefetch(queue->prefetch_context, &queue->open[k], stage);
    }
}

static void open_bucket(struct oche_event_queue *queue, uint64_t slot)
{
    uint32_t count = queue->counts[slot];
    uint32_t inlined = count < OCHE_BUCKET_EVENTS ? count : OCHE_BUCKET_EVENTS;

    reserve_open(queue, count);
    for (uint32_t k = 0; k < inlined; k++)
        queue->open[k] = queue->buckets[slot].event[k];
    for (uint32_t k = inlined; k < count; k++)
        queue->open[k] = queue->spills[slot].event[k - OCHE_BUCKET_EVENTS];
    queue->counts[slot] = 0;
    queue->ring_events -= count;
    queue->open_next = 0;
    queue->open_count = count;
    queue->opened_events += count;
    sort_open(queue);
    if (count > OCHE_BUCKET_EVENTS && queue->prefetch != NULL)
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
            queue->open_end = (queue->cursor + 1) << queue->shift;
            fetch_far(queue);
            if (next >= before)
                return false;
            continue;
        }
        queue->cursor++;
        queue->open_end += UINT64_C(1) << queue->shift;
        queue->opened_buckets++;
        uint64_t slot = queue->cursor & queue->bucket_mask;
        queue->open_next = queue->open_count = 0;
        if (queue->prefetch != NULL)
            prefetch_ahead(queue);
        if (queue->counts[slot] > 0)
            open_bucket(queue, slot);
        if (OCHE_UNLIKELY(queue->heap_count > 0))
            fetch_far(queue);
    }
    return true;
}

oche_time oche_events_next_time(const struct oche_event_queue *queue)
{
    if (queue->open_next < queue->open_count)
        return queue->open[queue->open_next].time;
    oche_time best = queue->heap_count > 0 ? queue->heap[0].time : OCHE_NEVER;
    if (queue->ring_events == 0)
        return best;
    for (uint64_t number = queue->cursor + 1;; number++) {
        uint64_t slot = number & queue->bucket_mask;
        for (uint32_t k = 0; k < queue->counts[slot]; k++)
            best = oche_time_min(best, event_at(queue->buckets, queue->spills, slot, k)->time);
        if (queue->counts[slot] > 0)
            return best;
    }
}
