/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that are under way on a link: a fixed number of slots, and a heap of the times at which
 * they are due. Packets that are due at the same time come in the order in which they were put.
 * Memory is taken once; pages that are never used cost nothing.
 */
#ifndef OCHE_DEVICE_LINK_HOLD_H
#define OCHE_DEVICE_LINK_HOLD_H

#include "core/base.h"

struct oche_hold_entry {
    oche_time due;
    uint64_t order;
    uint32_t slot;
};

struct oche_hold {
    struct oche_hold_entry *heap;
    uint32_t *free; /* stack of unused slots */
    uint8_t *slots;
    size_t slot_bytes;
    uint32_t capacity, count, free_count;
    uint32_t fresh; /* slots from this one on were never used */
    uint64_t puts;
    oche_time latest; /* latest time at which a slot was or is due */
};

/* Returns false if the system refuses the memory. `slot_bytes`: a multiple of a cache line. */
bool oche_hold_open(struct oche_hold *hold, size_t slot_bytes, uint32_t slots);
/* `hold` may be zeroed. */
void oche_hold_close(struct oche_hold *hold);

/* Returns an unused slot, or NULL. The caller puts it, or gives it back. */
void *oche_hold_take(struct oche_hold *hold);
void oche_hold_give_back(struct oche_hold *hold, void *slot);

/* Puts a slot, which the caller has, into the order of times. */
void oche_hold_put(struct oche_hold *hold, void *slot, oche_time due);
/* Returns the first slot that is due by `now`, which the caller then has, or NULL. */
void *oche_hold_due(struct oche_hold *hold, oche_time now);

/* Returns the time of the first slot, or OCHE_NEVER. */
static inline oche_time oche_hold_next(const struct oche_hold *hold)
{
    return hold->count > 0 ? hold->heap[0].due : OCHE_NEVER;
}

#endif
