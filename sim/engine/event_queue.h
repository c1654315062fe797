/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue: a ring of narrow time buckets, each sorted when it is opened, and a heap for
 * events beyond the ring. Events are ordered by (time, key) and never by when they were inserted;
 * the key is the event's identity (node, kind, port), so the order is total.
 *
 * The width of a bucket follows the load: about eight events share a bucket. The width affects the
 * cost, never the order.
 */
#ifndef OCHE_SIM_ENGINE_EVENT_QUEUE_H
#define OCHE_SIM_ENGINE_EVENT_QUEUE_H

#include "core/base.h"

struct oche_event {
    oche_time time;
    uint32_t key;    /* the event's identity: breaks ties between equal times */
    uint32_t target; /* receiver of the event, numbered by the caller; determined by the key */
};

#define OCHE_BUCKET_EVENTS 16

/*
 * Simulated time ends here (53 days). No event may lie beyond this time, so that the end time of a
 * bucket cannot overflow.
 */
#define OCHE_TIME_LIMIT (UINT64_C(1) << 62)

/* A bucket takes four cache lines. */
struct oche_bucket {
    struct oche_event event[OCHE_BUCKET_EVENTS];
} __attribute__((aligned(OCHE_CACHE_LINE)));

/* The events of a bucket that do not fit into struct oche_bucket. */
struct oche_bucket_spill {
    struct oche_event *event;
    uint32_t capacity;
};

/*
 * A callback that gets an event some time before the event is handled, and fetches into the cache
 * what the handler will touch. It is called with stage 0, with stage 1 when the queue has advanced
 * by one bucket, and so on. Calls may come late or be left out.
 */
#define OCHE_PREFETCH_STAGES 5
typedef void oche_event_prefetch(void *context, const struct oche_event *event, unsigned stage);

struct oche_event_queue {
    struct oche_event *open; /* the open bucket, sorted; its events from open_next on are pending */
    uint32_t open_next, open_count, open_capacity;
    oche_time open_end; /* events before this time go to the open bucket */

    struct oche_bucket *buckets;
    /*
     * Number of events in each bucket. The array is dense, so that adding an event finds it in the
     * cache.
     */
    uint32_t *counts;
    struct oche_bucket_spill *spills;
    uint64_t bucket_mask;
    unsigned shift;       /* a bucket is 2^shift picoseconds wide */
    uint64_t cursor;      /* number of the open bucket: its start time >> shift */
    oche_time horizon;    /* the ring reaches at least this far into the future */
    uint64_t ring_events; /* events in the ring, the open bucket not counted */

    struct oche_event *heap; /* events beyond the ring, as a binary heap */
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
void oche_events_spill(struct oche_event_queue *queue, uint64_t slot, struct oche_event event);
bool oche_events_open_next(struct oche_event_queue *queue, oche_time before);
void oche_events_show(const struct oche_event_queue *queue);

/* Adds an event. Its time must not be before the time of the last popped event. */
static inline void oche_event_push(struct oche_event_queue *queue, oche_time time, uint32_t key,
                                   uint32_t target)
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
    uint32_t count = queue->counts[slot];
    queue->ring_events++;
    if (OCHE_UNLIKELY(count >= OCHE_BUCKET_EVENTS)) {
        oche_events_spill(queue, slot, event);
        return;
    }
    queue->counts[slot] = count + 1;
    queue->buckets[slot].event[count] = event;
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
    if (OCHE_UNLIKELY(queue->open[queue->open_next].time >= before))
        return false;
    *out = queue->open[queue->open_next++];
    if (OCHE_UNLIKELY(queue->open_count > OCHE_BUCKET_EVENTS) && queue->prefetch != NULL)
        oche_events_show(queue);
    return true;
}

/* Returns the number of pending events. */
static inline uint64_t oche_events_pending(const struct oche_event_queue *queue)
{
    return queue->ring_events + queue->heap_count + (queue->open_count - queue->open_next);
}

/* Returns the time of the earliest pending event; OCHE_NEVER if none is pending. Slow. */
oche_time oche_events_next_time(const struct oche_event_queue *queue);

#endif
