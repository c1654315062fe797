/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the stream after a gap. */
#include "sim/endpoint/tcp_dctcp/reassembly.h"

#include <string.h>

static void drop(struct oche_tcp_ranges *ranges, uint32_t first, uint32_t count)
{
    struct oche_tcp_range *at = &ranges->range[first];

    memmove(at, at + count, (ranges->count - first - count) * sizeof(*at));
    ranges->count -= count;
}

bool oche_tcp_ranges_add(struct oche_tcp_ranges *ranges, uint64_t from, uint64_t to)
{
    uint32_t first = 0, end;

    while (first < ranges->count && ranges->range[first].to < from)
        first++;
    /* The new range touches or overlaps ranges first … end - 1. */
    for (end = first; end < ranges->count && ranges->range[end].from <= to; end++) {
        if (ranges->range[end].from < from)
            from = ranges->range[end].from;
        if (ranges->range[end].to > to)
            to = ranges->range[end].to;
    }
    if (end > first) {
        drop(ranges, first, end - first - 1);
    } else {
        if (ranges->count == OCHE_TCP_RANGES)
            return false;
        memmove(&ranges->range[first + 1], &ranges->range[first],
                (ranges->count - first) * sizeof(ranges->range[0]));
        ranges->count++;
    }
    ranges->range[first] = (struct oche_tcp_range){.from = from, .to = to};
    return true;
}

uint64_t oche_tcp_ranges_take(struct oche_tcp_ranges *ranges, uint64_t next)
{
    uint32_t passed = 0;

    while (passed < ranges->count && ranges->range[passed].from <= next) {
        if (ranges->range[passed].to > next)
            next = ranges->range[passed].to;
        passed++;
    }
    if (passed > 0)
        drop(ranges, 0, passed);
    return next;
}
