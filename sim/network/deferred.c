/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap, by time and then by order of addition; see the header. */
#include "sim/network/deferred.h"

#include <string.h>

#define FIRST_CAPACITY 64

static bool before(const struct oche_deferred *a, const struct oche_deferred *b)
{
    return a->until != b->until ? a->until < b->until : a->order < b->order;
}

/*
 * Moves the entries to a larger array. The old array stays in the arena, unused; all old arrays
 * together are smaller than the new one.
 */
static void grow(struct oche_deferred_heap *heap, struct oche_arena *arena)
{
    uint32_t capacity = heap->capacity == 0 ? FIRST_CAPACITY : 2 * heap->capacity;
    struct oche_deferred *entries = oche_arena_take(arena, capacity * sizeof(*entries));

    if (heap->count > 0)
        memcpy(entries, heap->heap, heap->count * sizeof(*entries));
    heap->heap = entries;
    heap->capacity = capacity;
}

void oche_deferred_add(struct oche_deferred_heap *heap, struct oche_arena *arena,
                       const struct oche_deferred *entry)
{
    struct oche_deferred added = *entry;

    added.order = heap->added++;
    if (heap->count == heap->capacity)
        grow(heap, arena);
    uint32_t at = heap->count++;
    for (; at > 0 && before(&added, &heap->heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap->heap[at] = heap->heap[(at - 1) / 2];
    heap->heap[at] = added;
}

bool oche_deferred_take(struct oche_deferred_heap *heap, oche_time now, struct oche_deferred *out)
{
    struct oche_deferred *entries = heap->heap;

    if (heap->count == 0 || entries[0].until > now)
        return false;
    *out = entries[0];
    const struct oche_deferred last = entries[--heap->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && before(&entries[child + 1], &entries[child]))
            child++;
        if (!before(&entries[child], &last))
            break;
        entries[at] = entries[child];
        at = child;
    }
    if (heap->count > 0)
        entries[at] = last;
    return true;
}

bool oche_deferred_is_heap(const struct oche_deferred_heap *heap)
{
    for (uint32_t i = 1; i < heap->count; i++)
        if (heap->heap[i].until < heap->heap[(i - 1) / 2].until)
            return false;
    return heap->count <= heap->capacity;
}
