/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue: a ring of narrow time buckets, each sorted when it is opened, and a heap for
 * events beyond the ring. Events are ordered by (time, key) and never by when they were inserted;
 * the key is the event's identity (node, kind, port), so the order is total.
 *
 * The width of a bucket follows the load: about eight events share a bucket. The width affects the
 * cost, never the order. A bucket's events lie in chunks, so that memory is as large as what is
 * pending; where many events are pushed for about the same time, as packets on links of one delay
 * are, they are written side by side.
 */
#ifndef OCHE_SIM_ENGINE_EVENT_QUEUE_H
#define OCHE_SIM_ENGINE_EVENT_QUEUE_H

#include "core/base.h"

struct oche_event {
    oche_time time;
    uint32_t key; /* the event's identity: breaks ties between equal times */
    void *target; /* what the event is about; the caller's */
};

/*
 * Simulated time ends here (53 days). No event may lie beyond this time, so that the end time of a
 * bucket cannot overflow.
 */
#define OCHE_TIME_LIMIT (UINT64_C(1) << 62)

/* An event in a bucket. */
struct oche_pending {
    uint64_t order; /* its time since the start of the bucket, in the upper half, and its key */
    void *target;
};

#define OCHE_CHUNK_BYTES  256
#define OCHE_CHUNK_EVENTS 15

/* Events of one bucket; it is filled from its end, which is the line of `next`. */
struct oche_event_chunk {
    struct oche_pending event[OCHE_CHUNK_EVENTS];
    struct oche_event_chunk
        *next; /* of the same bucket, and full; in the free list: the next one */
    uint64_t unused;
} __attribute__((aligned(OCHE_CHUNK_BYTES)));

/*
 * A callback that gets events some time before they are handled, and fetches into the cache what
 * the handler will touch. It is called with stage 0, with stage 1 when the queue has advanced by
 * one bucket, and so on. Calls may come late or be left out.
 */
#define OCHE_PREFETCH_STAGES 4
typedef void oche_event_prefetch(void *context, const struct oche_pending *event, uint32_t count,
                                 unsigned stage);

static inline uint32_t oche_pending_key(const struct oche_pending *event)
{
    return (uint32_t)event->order;
}

struct oche_event_queue {
    /* the open bucket, sorted; its events from open_next on are pending */
    struct oche_pending *open;
    uint32_t open_next, open_count, open_capacity;
    oche_time open_start; /* no pending event is earlier */
    oche_time open_end;   /* events before this time go to the open bucket */

    /* For each bucket the event that was added last, in the newest chunk; NULL: it is empty. */
    struct oche_pending **buckets;
    uint64_t bucket_mask;
    unsigned shift;       /* a bucket is 2^shift picoseconds wide */
    uint64_t cursor;      /* number of the open bucket: its start time >> shift */
    oche_time horizon;    /* the ring reaches at least this far into the future */
    uint64_t ring_events; /* events in the ring, the open bucket not counted */
    uint64_t empty_to;    /* buckets after the open one and before this one are empty */

    struct oche_event_chunk *free_chunks;
    struct oche_event_chunk **slabs; /* of chunks */
    uint32_t slab_count;

    struct oche_pending *spare; /* for sorting; as large as `open` */
    struct oche_event *heap;    /* events beyond the ring, as a binary heap */
    uint32_t heap_count, heap_capacity;

    uint64_t opened_events, opened_buckets; /* counted since the last review of the width */

    oche_event_prefetch *prefetch; /* NULL: none */
    void *prefetch_context;
};

/*
 * Makes an empty queue at time 0. Most events will be added less than `horizon` (a link's delay)
 * ahead of the current time.
 */
void oche_events_init(struct oche_event_queue *queue, oche_time horizon,
                      oche_event_prefetch *prefetch, void *prefetch_context);
void oche_events_free(struct oche_event_queue *queue);

/* Rare cases of oche_event_push and oche_event_pop, which alone may call these functions. */
void oche_events_push_open(struct oche_event_queue *queue, struct oche_event event);
void oche_events_push_far(struct oche_event_queue *queue, struct oche_event event);
void oche_events_extend(struct oche_event_queue *queue, uint64_t slot, struct oche_pending event);
bool oche_events_open_next(struct oche_event_queue *queue, oche_time before);
void oche_events_show(const struct oche_event_queue *queue);

/*
 * Adds an event. Its time must not be before that of the last popped event, nor before the `before`
 * of an oche_event_pop that found none.
 */
static inline void oche_event_push(struct oche_event_queue *queue, oche_time time, uint32_t key,
                                   void *target)
{
    struct oche_event event = {.time = time, .key = key, .target = target};

    if (OCHE_UNLIKELY(time >= OCHE_TIME_LIMIT))
        return; /* simulated time will end before this event */
    if (OCHE_UNLIKELY(time < queue->open_end)) {
        oche_events_push_open(queue, event);
        return;
    }
    uint64_t number = time >> queue->shift;
    if (OCHE_UNLIKELY(number - queue->cursor > queue->bucket_mask)) {
        oche_events_push_far(queue, event);
        return;
    }
    uint64_t slot = number & queue->bucket_mask;
    struct oche_pending *last = queue->buckets[slot];
    struct oche_pending pending = {.order = (time - (number << queue->shift)) << 32 | key,
                                   .target = target};
    queue->ring_events++;
    /* True if there is no chunk, or the newest one is full. */
    if (OCHE_UNLIKELY((uintptr_t)last % OCHE_CHUNK_BYTES == 0)) {
        oche_events_extend(queue, slot, pending);
        return;
    }
    last[-1] = pending;
    queue->buckets[slot] = last - 1;
}

/*
 * Moves the earliest event to `out` if its time is below `before` (which is below OCHE_TIME_LIMIT).
 * Returns false if there is no such event.
 */
static inline bool oche_event_pop(struct oche_event_queue *queue, oche_time before,
                                  struct oche_event *out)
{
    if (OCHE_UNLIKELY(queue->open_next == queue->open_count) &&
        !oche_events_open_next(queue, before))
        return false;
    const struct oche_pending *first = &queue->open[queue->open_next];
    out->time = queue->open_start + (first->order >> 32);
    if (OCHE_UNLIKELY(out->time >= before))
        return false;
    out->key = (uint32_t)first->order;
    out->target = first->target;
    queue->open_next++;
    if (OCHE_UNLIKELY(queue->open_count > OCHE_CHUNK_EVENTS) && queue->prefetch != NULL)
        oche_events_show(queue);
    return true;
}

/* Returns the number of pending events. */
static inline uint64_t oche_events_pending(const struct oche_event_queue *queue)
{
    return queue->ring_events + queue->heap_count + (queue->open_count - queue->open_next);
}

/* Returns the time of the earliest pending event; OCHE_NEVER if none is pending. */
oche_time oche_events_next_time(struct oche_event_queue *queue);

#endif
