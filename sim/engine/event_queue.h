/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue. Time is cut into slices, so short that no node can affect another one within a
 * slice (a packet needs at least a link's delay). So the events of a slice are handled node by
 * node: a batch is one node's events of a slice, in order of (time, key), and what a node needs is
 * brought into the cache once for a batch. Which node comes first does not matter to the results.
 *
 * Each slice has a bucket to which events are appended; buckets lie in a ring, and a heap holds
 * events beyond it. When a slice is opened, its events are sorted by node, and then batch by batch
 * by time. Events are never ordered by when they were inserted: the key is the event's identity
 * (node, kind, port), so the order of a node's events is total.
 */
#ifndef OCHE_SIM_ENGINE_EVENT_QUEUE_H
#define OCHE_SIM_ENGINE_EVENT_QUEUE_H

#include "core/base.h"

struct oche_event {
    oche_time time;
    uint32_t key; /* the event's identity: breaks ties between equal times */
    void *target; /* what the event is about; the caller's */
};

/* An event's node is its key without so many low bits. */
#define OCHE_EVENT_NODE_SHIFT 12

/*
 * Simulated time ends here (53 days). No event may lie beyond this time, so that the end time of a
 * slice cannot overflow.
 */
#define OCHE_TIME_LIMIT (UINT64_C(1) << 62)

/* An event in a bucket or in a batch. */
struct oche_pending {
    uint64_t order; /* its time since the start of the slice, in the upper half, and its key */
    void *target;
};

#define OCHE_NO_EVENT UINT64_MAX /* an order that no event has: it ends a batch */

#define OCHE_CHUNK_BYTES  256
#define OCHE_CHUNK_EVENTS 15

/* Events of one bucket; it is filled from its end, which is the line of `next`. */
struct oche_event_chunk {
    struct oche_pending event[OCHE_CHUNK_EVENTS];
    struct oche_event_chunk
        *next; /* in a bucket: an earlier chunk, which is full; in the free list: the next chunk */
    uint64_t unused;
} __attribute__((aligned(OCHE_CHUNK_BYTES)));

/* The events of a slice. */
struct oche_event_bucket {
    struct oche_pending *last; /* added last, in the newest chunk; NULL: there is none */
    oche_time soonest;         /* OCHE_NEVER: there is none */
    uint32_t chunks;
};

/*
 * A callback that gets the events of a batch, not yet sorted, before the batch begins, and fetches
 * into the cache what it will touch: in step 0, a batch later in step 1, and so on.
 */
#define OCHE_FETCH_STEPS 4
typedef void oche_event_fetch(void *context, const struct oche_pending *event, uint32_t count,
                              unsigned step);

static inline uint32_t oche_pending_key(const struct oche_pending *event)
{
    return (uint32_t)event->order;
}

struct oche_event_queue {
    /* The open batch, and events of its node that were added since. Both end with OCHE_NO_EVENT. */
    const struct oche_pending *batch;
    struct oche_pending *own;
    /* With an event that is popped, the target of one so many events later is fetched. */
    uint32_t targets_ahead;
    oche_time open_start; /* start of the slice */
    oche_time open_limit; /* earlier events go to `own`; 0: no batch is open */

    oche_time slice; /* length */
    uint64_t cursor; /* number of the slice: its start / its length */
    uint64_t mask;   /* mask of the ring */
    struct oche_event_bucket *buckets;
    uint64_t *filled;       /* a bit for each bucket: it has events */
    uint64_t *filled_words; /* a bit for each word of `filled`: it is not 0 */
    struct oche_event_chunk *free_chunks;

    /* The slice's events in order of nodes; where the next batches start. */
    struct oche_pending *slice_events;
    const struct oche_pending *batch_starts[OCHE_FETCH_STEPS + 1], *slice_end;
    uint32_t slice_capacity;
    struct oche_pending *batch_memory, *spare; /* both as large as the largest batch */
    uint32_t batch_capacity;
    struct oche_pending *own_memory;
    uint32_t own_capacity, own_end; /* own_end: index of OCHE_NO_EVENT */
    uint32_t open_node;

    unsigned node_shift; /* 32: all events are one batch */
    uint32_t node_count;
    uint32_t *counts; /* by node; 0 but while a slice is opened */

    struct oche_event_chunk **slabs; /* of chunks */
    uint32_t slab_count;
    struct oche_event *heap; /* events beyond the ring, as a binary heap */
    uint32_t heap_count, heap_capacity;

    oche_event_fetch *fetch; /* NULL: none */
    void *fetch_context;
    bool fetches; /* in the open slice */
};

struct oche_event_queue_config {
    /* In so short a time no node's event leads to an event of another node. */
    oche_time independent;
    oche_time horizon; /* most events are added less than this (a packet's way over a link) ahead */
    uint32_t node_count;     /* keys have smaller nodes */
    bool by_time;            /* all events in order of time, across nodes: slower */
    oche_event_fetch *fetch; /* NULL: none */
    void *fetch_context;
};

/* Makes an empty queue at time 0. */
void oche_events_init(struct oche_event_queue *queue, const struct oche_event_queue_config *config);
void oche_events_free(struct oche_event_queue *queue);

/* Rare cases of oche_event_push, which alone may call these functions. */
void oche_events_push_own(struct oche_event_queue *queue, struct oche_event event);
void oche_events_push_far(struct oche_event_queue *queue, struct oche_event event);
void oche_events_extend(struct oche_event_queue *queue, uint64_t slot, struct oche_pending event);

/*
 * Adds an event that is not for the open batch and at most a ring ahead, which is the usual case.
 */
static inline void oche_event_push_later(struct oche_event_queue *queue, oche_time time,
                                         uint32_t key, void *target)
{
    const oche_time slice = queue->slice;
    oche_time ahead = time - queue->open_start;
    uint64_t slices = (uint64_t)(ahead >= slice) + (ahead >= 2 * slice) + (ahead >= 3 * slice);

    if (OCHE_UNLIKELY(ahead >= 4 * slice)) {
        slices = ahead / slice;
        if (OCHE_UNLIKELY(slices > queue->mask)) {
            oche_events_push_far(queue,
                                 (struct oche_event){.time = time, .key = key, .target = target});
            return;
        }
    }
    const uint64_t slot = (queue->cursor + slices) & queue->mask;
    struct oche_event_bucket *bucket = &queue->buckets[slot];
    struct oche_pending *last = bucket->last;
    const struct oche_pending pending = {.order = (ahead - slices * slice) << 32 | key,
                                         .target = target};

    if (time < bucket->soonest)
        bucket->soonest = time;
    /* True if there is no chunk, or the newest one is full. */
    if (OCHE_UNLIKELY((uintptr_t)last % OCHE_CHUNK_BYTES == 0)) {
        oche_events_extend(queue, slot, pending);
        return;
    }
    last[-1] = pending;
    bucket->last = last - 1;
}

/*
 * Adds an event. Its time must not be before that of the last popped event, nor before the `before`
 * of an oche_event_pop that found none. While events are popped, an event of another node than the
 * last one's must be `independent` later than that.
 */
static inline void oche_event_push(struct oche_event_queue *queue, oche_time time, uint32_t key,
                                   void *target)
{
    if (time < queue->open_limit)
        oche_events_push_own(queue,
                             (struct oche_event){.time = time, .key = key, .target = target});
    else if (OCHE_LIKELY(time < OCHE_TIME_LIMIT)) /* else simulated time ends before the event */
        oche_event_push_later(queue, time, key, target);
}

#define OCHE_MIXED_BATCH UINT32_MAX /* the batch has events of several nodes */

/*
 * Opens the next batch of events before `before` (which is below OCHE_TIME_LIMIT), and sets *node
 * to its node. All events of the last batch must have been popped. `before` must stay the same
 * until the function returns false. Returns false if there is no such event.
 */
bool oche_events_next_batch(struct oche_event_queue *queue, oche_time before, uint32_t *node);

/* Moves the next event of the open batch to `out`. Returns false if there is none. */
static inline bool oche_event_pop_of_batch(struct oche_event_queue *queue, struct oche_event *out)
{
    const struct oche_pending *first = queue->batch;

    if (queue->own->order < first->order) {
        first = queue->own++;
    } else {
        if (OCHE_UNLIKELY(first->order == OCHE_NO_EVENT))
            return false;
        queue->batch++;
        __builtin_prefetch(first[queue->targets_ahead].target, 1);
    }
    out->time = queue->open_start + (first->order >> 32);
    out->key = (uint32_t)first->order;
    out->target = first->target;
    return true;
}

/*
 * Moves the next event before `before` to `out`. It comes from the open batch or, if that is empty,
 * from the next one.
 */
static inline bool oche_event_pop(struct oche_event_queue *queue, oche_time before,
                                  struct oche_event *out)
{
    uint32_t node;

    return oche_event_pop_of_batch(queue, out) ||
           (oche_events_next_batch(queue, before, &node) && oche_event_pop_of_batch(queue, out));
}

/*
 * Returns the time of the earliest pending event; OCHE_NEVER if none is pending. Not while a batch
 * is open.
 */
oche_time oche_events_next_time(const struct oche_event_queue *queue);

#endif
