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
    return sizeof(struct oche_late) + oche_arrivals_bytes(capacity_of(probability, most, rate_bps));
}

struct oche_late *oche_late_create(void *memory, double probability, oche_time least,
                                   oche_time most, uint64_t rate_bps, uint64_t seed,
                                   uint64_t entity)
{
    struct oche_late *late = memory;

    OCHE_MUST(probability >= 0 && probability <= 1 && least <= most);
    *late = (struct oche_late){
        .threshold = (uint64_t)(probability * 0x1p63),
        .least = least,
        .most = most,
        .random = oche_random_stream(seed, "late", entity),
        .arrivals = oche_arrivals_create(late + 1, capacity_of(probability, most, rate_bps))};
    return late;
}

oche_time oche_late_arrival(struct oche_late *late, const struct oche_packet *packet,
                            oche_time when)
{
    oche_time at;

    when = oche_arrivals_on_time(late->arrivals, when);
    if (oche_packet_is_of_link(packet->kind) ||
        oche_random_u64(&late->random) >> 1 >= late->threshold ||
        late->arrivals->pending == late->arrivals->capacity)
        return when;
    at = when + late->least + oche_random_below(&late->random, late->most - late->least + 1);
    late->count++;
    return oche_arrivals_take(late->arrivals, at);
}
