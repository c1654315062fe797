/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An indexed 4-ary heap of times with at most one entry per slot. The NIC has one for its timers
 * and one for its pacing times. Equal times come out by `order`, then by slot, so the order is
 * total. Reading the minimum is O(1).
 */
#ifndef OCHE_CORE_QP_HEAP_H
#define OCHE_CORE_QP_HEAP_H

#include "core/base.h"

#define HEAP_ABSENT UINT32_MAX

struct heap_entry {
    oche_time time;
    uint32_t order, slot;
};

struct heap {
    struct heap_entry *entries;
    uint32_t *position; /* for each slot: index in entries, or HEAP_ABSENT */
    uint32_t count;
};

static inline void heap_init(struct heap *heap, struct heap_entry *entries, uint32_t *position,
                             uint32_t slots)
{
    *heap = (struct heap){.entries = entries, .position = position};
    for (uint32_t i = 0; i < slots; i++)
        position[i] = HEAP_ABSENT;
}

/* For a slot that heap_init has not covered: to be called before the slot's first use. */
static inline void heap_init_slot(struct heap *heap, uint32_t slot)
{
    heap->position[slot] = HEAP_ABSENT;
}

static inline oche_time heap_next(const struct heap *heap)
{
    return heap->count == 0 ? OCHE_NEVER : heap->entries[0].time;
}

/* Returns the slot's time; OCHE_NEVER if the slot has no entry. */
static inline oche_time heap_time(const struct heap *heap, uint32_t slot)
{
    uint32_t at = heap->position[slot];

    return at == HEAP_ABSENT ? OCHE_NEVER : heap->entries[at].time;
}

static inline bool heap_before(const struct heap_entry *a, const struct heap_entry *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->order != b->order)
        return (int32_t)(a->order - b->order) < 0;
    return a->slot < b->slot;
}

static inline void heap_put(struct heap *heap, uint32_t at, struct heap_entry entry)
{
    heap->entries[at] = entry;
    heap->position[entry.slot] = at;
}

static inline void heap_up(struct heap *heap, uint32_t at, struct heap_entry entry)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;
        if (!heap_before(&entry, &heap->entries[parent]))
            break;
        heap_put(heap, at, heap->entries[parent]);
        at = parent;
    }
    heap_put(heap, at, entry);
}

static inline void heap_down(struct heap *heap, uint32_t at, struct heap_entry entry)
{
    for (;;) {
        uint32_t child = 4 * at + 1;
        uint32_t end = child + 4 < heap->count ? child + 4 : heap->count;
        if (child >= end)
            break;
        uint32_t best = child;
        for (uint32_t i = child + 1; i < end; i++)
            if (heap_before(&heap->entries[i], &heap->entries[best]))
                best = i;
        if (!heap_before(&heap->entries[best], &entry))
            break;
        heap_put(heap, at, heap->entries[best]);
        at = best;
    }
    heap_put(heap, at, entry);
}

static inline void heap_remove(struct heap *heap, uint32_t slot)
{
    uint32_t at = heap->position[slot];

    if (at == HEAP_ABSENT)
        return;
    OCHE_MUST(at < heap->count && heap->entries[at].slot == slot);
    heap->position[slot] = HEAP_ABSENT;
    struct heap_entry last = heap->entries[--heap->count];
    if (at == heap->count)
        return;
    if (at > 0 && heap_before(&last, &heap->entries[(at - 1) / 4]))
        heap_up(heap, at, last);
    else
        heap_down(heap, at, last);
}

/* Sets the slot's time, adding an entry if it had none; OCHE_NEVER removes the entry. */
static inline void heap_set(struct heap *heap, uint32_t slot, oche_time time, uint32_t order)
{
    struct heap_entry entry = {.time = time, .order = order, .slot = slot};
    uint32_t at = heap->position[slot];

    if (time == OCHE_NEVER) {
        heap_remove(heap, slot);
    } else if (at == HEAP_ABSENT) {
        heap_up(heap, heap->count++, entry);
    } else if (heap_before(&entry, &heap->entries[at])) {
        heap_up(heap, at, entry);
    } else {
        heap_down(heap, at, entry);
    }
}

#endif
