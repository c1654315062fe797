/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/batch_sort.h"

#include <string.h>

#define FEW       24 /* so many events are sorted by insertion */
#define MOST_BITS 8  /* a batch's time is cut into so many parts, as a power of two */
#define CROWDED   64 /* a part with more events would be slow to sort by insertion */

/* Sorts by the masked bits, byte by byte from the last one on; bytes that do not vary are passed.
 * Returns which of both arrays has the result. */
static struct oche_pending *sort_by_bytes(struct oche_pending *events, uint32_t count,
                                          struct oche_pending *spare, uint64_t mask)
{
    uint64_t varying = 0;

    for (uint32_t i = 1; i < count; i++)
        varying |= events[i].order ^ events[0].order;
    varying &= mask;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint32_t at[256] = {0}, sum = 0;

        if ((varying >> shift & 255) == 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            at[(events[i].order & mask) >> shift & 255]++;
        for (unsigned i = 0; i < 256; i++) {
            uint32_t here = at[i];

            at[i] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < count; i++)
            spare[at[(events[i].order & mask) >> shift & 255]++] = events[i];

        struct oche_pending *sorted = spare;

        spare = events;
        events = sorted;
    }
    return events;
}

/* Sorts `from[0 … count - 1]` by insertion into `to`, which may be the same. */
static void insertion_sort(const struct oche_pending *from, uint32_t count, struct oche_pending *to)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_pending moving = from[i];
        uint32_t j = i;

        for (; j > 0 && moving.order < to[j - 1].order; j--)
            to[j] = to[j - 1];
        to[j] = moving;
    }
}

/*
 * Distributes events over equal parts of the batch's time. Returns false, and has written nothing,
 * if one of them is crowded.
 */
static bool distribute(const struct oche_pending *from, uint32_t count, struct oche_pending *to)
{
    unsigned bits = 31 - (unsigned)__builtin_clz(count), shift; /* about one event a part */
    uint32_t at[1 << MOST_BITS], sum = 0;
    uint64_t all = UINT64_C(1) << MOST_BITS;

    if (bits > MOST_BITS)
        bits = MOST_BITS;
    memset(at, 0, sizeof(*at) << bits);
    for (uint32_t i = 0; i < count; i++)
        all |= from[i].order;
    shift = 64 - bits - (unsigned)__builtin_clzll(all);
    for (uint32_t i = 0; i < count; i++)
        at[from[i].order >> shift]++;
    for (unsigned part = 0; part < 1U << bits; part++) {
        uint32_t here = at[part];

        if (here > CROWDED)
            return false;
        at[part] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[at[from[i].order >> shift]++] = from[i];
    return true;
}

struct oche_pending *oche_batch_sort(const struct oche_pending *from, uint32_t count,
                                     struct oche_pending *to, struct oche_pending *spare)
{
    if (count <= FEW) {
        insertion_sort(from, count, to);
        return to;
    }
    if (distribute(from, count, to)) {
        insertion_sort(to, count, to);
        return to;
    }
    memcpy(to, from, count * sizeof(*to));
    return sort_by_bytes(to, count, spare, UINT64_MAX);
}

void oche_batch_sort_nodes(struct oche_pending *events, uint32_t count, struct oche_pending *spare,
                           unsigned node_shift)
{
    const uint64_t mask = (UINT64_C(1) << 32) - (UINT64_C(1) << node_shift);

    if (count <= FEW) {
        for (uint32_t i = 1; i < count; i++) {
            const struct oche_pending moving = events[i];
            uint32_t j = i;

            for (; j > 0 && (moving.order & mask) < (events[j - 1].order & mask); j--)
                events[j] = events[j - 1];
            events[j] = moving;
        }
    } else if (sort_by_bytes(events, count, spare, mask) != events) {
        memcpy(events, spare, count * sizeof(*events));
    }
}
