/* SPDX-License-Identifier: Apache-2.0 */
/* Times at which late packets arrive, as a heap; see arrivals.h. */
#include "fabric/arrivals.h"

size_t oche_arrivals_bytes(uint32_t capacity)
{
    return sizeof(struct oche_arrivals) + capacity * sizeof(oche_time);
}

struct oche_arrivals *oche_arrivals_create(void *memory, uint32_t capacity)
{
    struct oche_arrivals *arrivals = memory;

    arrivals->capacity = capacity;
    arrivals->pending = 0;
    return arrivals;
}

static void push(struct oche_arrivals *arrivals, oche_time when)
{
    uint32_t at = arrivals->pending++;

    while (at > 0 && arrivals->times[(at - 1) / 2] > when) {
        arrivals->times[at] = arrivals->times[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    arrivals->times[at] = when;
}

static void pop(struct oche_arrivals *arrivals)
{
    const oche_time last = arrivals->times[--arrivals->pending];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= arrivals->pending)
            break;
        if (child + 1 < arrivals->pending && arrivals->times[child + 1] < arrivals->times[child])
            child++;
        if (arrivals->times[child] >= last)
            break;
        arrivals->times[at] = arrivals->times[child];
        at = child;
    }
    arrivals->times[at] = last;
}

static bool is_taken(const struct oche_arrivals *arrivals, oche_time when)
{
    for (uint32_t i = 0; i < arrivals->pending; i++)
        if (arrivals->times[i] == when)
            return true;
    return false;
}

oche_time oche_arrivals_on_time(struct oche_arrivals *arrivals, oche_time when)
{
    while (arrivals->pending > 0 && arrivals->times[0] <= when) {
        if (arrivals->times[0] == when)
            when++;
        pop(arrivals);
    }
    return when;
}

oche_time oche_arrivals_take(struct oche_arrivals *arrivals, oche_time when)
{
    OCHE_MUST(arrivals->pending < arrivals->capacity);
    while (is_taken(arrivals, when))
        when++;
    push(arrivals, when);
    return when;
}
