/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free slot numbers. The number that was given back last is taken first; else numbers come in
 * rising order, so that of large tables only the beginning is used.
 */
#ifndef OCHE_CORE_QP_SLOTS_H
#define OCHE_CORE_QP_SLOTS_H

#include "core/base.h"

struct slots {
    uint32_t *free; /* numbers given back; room for `most` */
    uint32_t free_count;
    uint32_t fresh; /* numbers from here on were never taken */
    uint32_t most;
};

static inline void slots_init(struct slots *slots, uint32_t *memory, uint32_t most)
{
    *slots = (struct slots){.free = memory, .most = most};
}

/* Returns how many numbers are taken. */
static inline uint32_t slots_taken(const struct slots *slots)
{
    return slots->fresh - slots->free_count;
}

/* Takes a number; there must be one. Sets *fresh if it was never taken before. */
static inline uint32_t slots_take(struct slots *slots, bool *fresh)
{
    OCHE_MUST(slots_taken(slots) < slots->most);
    *fresh = slots->free_count == 0;
    return *fresh ? slots->fresh++ : slots->free[--slots->free_count];
}

static inline void slots_give(struct slots *slots, uint32_t slot)
{
    OCHE_MUST(slot < slots->fresh && slots->free_count < slots->fresh);
    slots->free[slots->free_count++] = slot;
}

#endif
