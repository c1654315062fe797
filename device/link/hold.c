/* SPDX-License-Identifier: Apache-2.0 */
/* Slots for packets under way, in the order of time; see hold.h. */
#include "device/link/hold.h"

#include "device/host/pages.h"

bool oche_hold_open(struct oche_hold *hold, size_t slot_bytes, uint32_t slots)
{
    *hold = (struct oche_hold){.slot_bytes = slot_bytes, .capacity = slots};
    hold->heap = oche_pages_take(slots * sizeof(hold->heap[0]));
    hold->free = oche_pages_take(slots * sizeof(hold->free[0]));
    hold->slots = oche_pages_take(slots * slot_bytes);
    if (hold->heap != NULL && hold->free != NULL && hold->slots != NULL)
        return true;
    oche_hold_close(hold);
    return false;
}

void oche_hold_close(struct oche_hold *hold)
{
    oche_pages_free(hold->heap, hold->capacity * sizeof(hold->heap[0]));
    oche_pages_free(hold->free, hold->capacity * sizeof(hold->free[0]));
    oche_pages_free(hold->slots, hold->capacity * hold->slot_bytes);
    *hold = (struct oche_hold){.heap = NULL};
}

void *oche_hold_take(struct oche_hold *hold)
{
    uint32_t slot;

    if (hold->free_count > 0)
        slot = hold->free[--hold->free_count];
    else if (hold->fresh < hold->capacity)
        slot = hold->fresh++;
    else
        return NULL;
    return hold->slots + slot * hold->slot_bytes;
}

static uint32_t number_of(const struct oche_hold *hold, const void *slot)
{
    return (uint32_t)((size_t)((const uint8_t *)slot - hold->slots) / hold->slot_bytes);
}

void oche_hold_give_back(struct oche_hold *hold, void *slot)
{
    hold->free[hold->free_count++] = number_of(hold, slot);
}

static bool is_before(const struct oche_hold_entry *a, const struct oche_hold_entry *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

void oche_hold_put(struct oche_hold *hold, void *slot, oche_time due)
{
    const struct oche_hold_entry entry = {
        .due = due, .order = hold->puts++, .slot = number_of(hold, slot)};
    uint32_t at = hold->count++;

    OCHE_MUST(at < hold->capacity);
    hold->latest = oche_time_max(hold->latest, due);
    for (; at > 0 && is_before(&entry, &hold->heap[(at - 1) / 2]); at = (at - 1) / 2)
        hold->heap[at] = hold->heap[(at - 1) / 2];
    hold->heap[at] = entry;
}

void *oche_hold_due(struct oche_hold *hold, oche_time now)
{
    struct oche_hold_entry first, last;
    uint32_t at = 0, child;

    if (hold->count == 0 || hold->heap[0].due > now)
        return NULL;
    first = hold->heap[0];
    last = hold->heap[--hold->count];
    while ((child = 2 * at + 1) < hold->count) {
        if (child + 1 < hold->count && is_before(&hold->heap[child + 1], &hold->heap[child]))
            child++;
        if (!is_before(&hold->heap[child], &last))
            break;
        hold->heap[at] = hold->heap[child];
        at = child;
    }
    hold->heap[at] = last;
    return hold->slots + first.slot * hold->slot_bytes;
}
