/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When packets that are later than others arrive at the end of a link. Two packets never arrive at
 * one port at the same picosecond, because nothing would order them: the second one arrives a
 * picosecond later.
 */
#ifndef OCHE_FABRIC_ARRIVALS_H
#define OCHE_FABRIC_ARRIVALS_H

#include "core/base.h"

struct oche_arrivals {
    uint32_t capacity; /* late packets that may be on their way at one time */
    uint32_t pending;
    oche_time times[]; /* arrival times of late packets, as a heap: the next one first */
};

size_t oche_arrivals_bytes(uint32_t capacity);
/* Makes the object in `memory` (aligned to 8), which stays the caller's. */
struct oche_arrivals *oche_arrivals_create(void *memory, uint32_t capacity);

/*
 * Returns the first time from `when` on at which no late packet arrives. To be called once for each
 * packet that is put on the link, with the time at which it would arrive if it were not late; these
 * times rise.
 */
oche_time oche_arrivals_on_time(struct oche_arrivals *arrivals, oche_time when);
/*
 * Takes the first free time from `when` on for a late packet, and returns it. Fewer than the
 * capacity are pending.
 */
oche_time oche_arrivals_take(struct oche_arrivals *arrivals, oche_time when);

#endif
