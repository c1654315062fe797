/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that a host has put off: a heap of entries, each with the time at which it is due. Entries
 * of the same time come out in the order in which they were added.
 */
#ifndef OCHE_SIM_NETWORK_DEFERRED_H
#define OCHE_SIM_NETWORK_DEFERRED_H

#include "core/base.h"
#include "sim/engine/arena.h"

/* An entry of the heap. The user chooses the meaning of `object`, `number`, `kind`, `status`. */
struct oche_deferred {
    oche_time until;
    uint64_t order; /* number of the entry, in order of addition; breaks ties */
    void *object;
    uint32_t number;
    uint8_t kind, status;
};

struct oche_deferred_heap {
    struct oche_deferred *heap;
    uint64_t added;
    uint32_t count, capacity;
};

/*
 * Adds a copy of `entry`, whose `order` is ignored. Memory comes from `arena` and is kept for
 * further entries.
 */
void oche_deferred_add(struct oche_deferred_heap *heap, struct oche_arena *arena,
                       const struct oche_deferred *entry);
/* Moves the next entry that is due at `now` to `out`. Returns false if no entry is due. */
bool oche_deferred_take(struct oche_deferred_heap *heap, oche_time now, struct oche_deferred *out);
/* True if no entry is due before the one above it in the heap, as must always be so. */
bool oche_deferred_is_heap(const struct oche_deferred_heap *heap);

/* Returns when the next entry is due; OCHE_NEVER: there is none. */
static inline oche_time oche_deferred_next(const struct oche_deferred_heap *heap)
{
    return heap->count == 0 ? OCHE_NEVER : heap->heap[0].until;
}

#endif
