/* SPDX-License-Identifier: Apache-2.0 */
/* Slabs of packets. */
#include "sim/network/packet_pool.h"

#include <stdlib.h>

#include "core/wire/telemetry.h"
#include "sim/engine/big_memory.h"

/* Slabs fill huge pages; only the first one is small, because most worlds need few packets. */
#define FIRST_PACKETS 1023
#define SLAB_PACKETS  16383

/* The header of a slab. It takes the place of one packet. */
struct oche_packet_slab {
    struct oche_packet_slab *next;
    size_t count;
};

static struct oche_packet *packet_of(const struct oche_packet_pool *pool,
                                     struct oche_packet_slab *slab, size_t i)
{
    return (struct oche_packet *)((char *)slab + (i + 1) * pool->packet_bytes);
}

void oche_packet_pool_init(struct oche_packet_pool *pool)
{
    *pool = (struct oche_packet_pool){.packet_bytes = sizeof(struct oche_packet)};
}

void oche_packet_pool_add_telemetry(struct oche_packet_pool *pool)
{
    OCHE_MUST(pool->slabs == NULL);
    pool->packet_bytes = sizeof(struct oche_packet) + OCHE_TELEMETRY_ROOM;
}

void oche_packet_pool_refill(struct oche_packet_pool *pool)
{
    size_t count = pool->slabs == NULL ? FIRST_PACKETS : SLAB_PACKETS;
    struct oche_packet_slab *slab = oche_big_memory((count + 1) * pool->packet_bytes);

    slab->next = pool->slabs;
    slab->count = count;
    pool->slabs = slab;
    pool->made += (int64_t)count;
    for (size_t i = count; i-- > 0;) {
        struct oche_packet *packet = packet_of(pool, slab, i);

        packet->next = pool->free;
        pool->free = packet;
    }
}

void oche_packet_pool_give(struct oche_packet_pool *from, struct oche_packet_pool *to,
                           int64_t count)
{
    struct oche_packet *first = from->free, *last = first;

    OCHE_MUST(oche_packet_pool_idle(from) > count && count > 0);
    for (int64_t i = 1; i < count; i++)
        last = last->next;
    from->free = last->next;
    last->next = to->free;
    to->free = first;
    from->made -= count;
    to->made += count;
}

void oche_packet_pool_free(struct oche_packet_pool *pool)
{
    while (pool->slabs != NULL) {
        struct oche_packet_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        for (size_t i = 0; i < slab->count; i++)
            free(packet_of(pool, slab, i)->payload);
        free(slab);
    }
    oche_packet_pool_init(pool);
}
