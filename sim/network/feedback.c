/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of held packets, by time and then by order of arrival; see the header. */
#include "sim/network/feedback.h"

#include <string.h>

#define FIRST_CAPACITY 64

struct oche_feedback oche_feedback_make(oche_time jitter, uint64_t seed, uint64_t entity)
{
    return (struct oche_feedback){.jitter = jitter,
                                  .random = oche_random_stream(seed, "feedback jitter", entity)};
}

static bool before(const struct oche_held *a, const struct oche_held *b)
{
    return a->until != b->until ? a->until < b->until : a->order < b->order;
}

/*
 * Moves the packets to a larger array. The old array stays in the arena, unused; all old arrays
 * together are smaller than the new one.
 */
static void grow(struct oche_feedback *feedback, struct oche_arena *arena)
{
    uint32_t capacity = feedback->capacity == 0 ? FIRST_CAPACITY : 2 * feedback->capacity;
    struct oche_held *heap = oche_arena_take(arena, capacity * sizeof(*heap));

    if (feedback->count > 0)
        memcpy(heap, feedback->heap, feedback->count * sizeof(*heap));
    feedback->heap = heap;
    feedback->capacity = capacity;
}

void oche_feedback_hold(struct oche_feedback *feedback, struct oche_arena *arena,
                        struct oche_packet *packet, oche_time now)
{
    struct oche_held held = {
        .until = now + oche_random_below(&feedback->random, feedback->jitter + 1),
        .order = feedback->order++,
        .packet = packet,
    };

    if (feedback->count == feedback->capacity)
        grow(feedback, arena);
    uint32_t at = feedback->count++;
    for (; at > 0 && before(&held, &feedback->heap[(at - 1) / 2]); at = (at - 1) / 2)
        feedback->heap[at] = feedback->heap[(at - 1) / 2];
    feedback->heap[at] = held;
}

struct oche_packet *oche_feedback_take(struct oche_feedback *feedback, oche_time now)
{
    struct oche_held *heap = feedback->heap;

    if (feedback->count == 0 || heap[0].until > now)
        return NULL;
    struct oche_packet *packet = heap[0].packet;
    struct oche_held last = heap[--feedback->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < feedback->count; child = 2 * at + 1) {
        if (child + 1 < feedback->count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    if (feedback->count > 0)
        heap[at] = last;
    return packet;
}
