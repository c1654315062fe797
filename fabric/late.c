/* SPDX-License-Identifier: Apache-2.0 */
/* Late packets of a link; see late.h. */
#include "fabric/late.h"

#define SMALL_FRAME_BYTES 256
#define LEAST_PENDING     64
#define MOST_PENDING      65536

/* Returns how many late packets may be on their way at one time. */
static uint32_t capacity_of(double probability, oche_time most, uint64_t rate_bps)
{
    double packets = 2 * probability * (double)rate_bps / 8 / SMALL_FRAME_BYTES * (double)most /
                     (double)OCHE_SEC;

    if (packets >= MOST_PENDING - LEAST_PENDING)
        return MOST_PENDING;
    return (uint32_t)packets + LEAST_PENDING;
}

size_t oche_late_bytes(double probability, oche_time most, uint64_t rate_bps)
{
    return sizeof(struct oche_late) + capacity_of(probability, most, rate_bps) * sizeof(oche_time);
}

struct oche_late *oche_late_create(void *memory, double probability, oche_time least,
                                   oche_time most, uint64_t rate_bps, uint64_t seed,
                                   uint64_t entity)
{
    struct oche_late *late = memory;

    OCHE_MUST(probability >= 0 && probability <= 1 && least <= most);
    *late = (struct oche_late){.threshold = (uint64_t)(probability * 0x1p63),
                               .least = least,
                               .most = most,
                               .random = oche_random_stream(seed, "late", entity),
                               .capacity = capacity_of(probability, most, rate_bps)};
    return late;
}

/* ---- the heap ---- */

static void push(struct oche_late *late, oche_time when)
{
    uint32_t at = late->pending++;

    while (at > 0 && late->arrivals[(at - 1) / 2] > when) {
        late->arrivals[at] = late->arrivals[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    late->arrivals[at] = when;
}

static void pop(struct oche_late *late)
{
    const oche_time last = late->arrivals[--late->pending];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= late->pending)
            break;
        if (child + 1 < late->pending && late->arrivals[child + 1] < late->arrivals[child])
            child++;
        if (late->arrivals[child] >= last)
            break;
        late->arrivals[at] = late->arrivals[child];
        at = child;
    }
    late->arrivals[at] = last;
}

static bool is_taken(const struct oche_late *late, oche_time when)
{
    for (uint32_t i = 0; i < late->pending; i++)
        if (late->arrivals[i] == when)
            return true;
    return false;
}

/* Returns the first time from `when` on, of a packet on time, at which no late packet arrives. */
static oche_time beside_late(struct oche_late *late, oche_time when)
{
    while (late->pending > 0 && late->arrivals[0] <= when) {
        if (late->arrivals[0] == when)
            when++;
        pop(late);
    }
    return when;
}

oche_time oche_late_arrival(struct oche_late *late, const struct oche_packet *packet,
                            oche_time when)
{
    oche_time at;

    when = beside_late(late, when);
    if (oche_packet_is_of_link(packet->kind) ||
        oche_random_u64(&late->random) >> 1 >= late->threshold || late->pending == late->capacity)
        return when;
    at = when + late->least + oche_random_below(&late->random, late->most - late->least + 1);
    while (is_taken(late, at))
        at++;
    push(late, at);
    late->count++;
    return at;
}
