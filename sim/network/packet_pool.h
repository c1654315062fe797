/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of one shard: a last-in first-out free list over slabs, so that a packet just freed,
 * still in the cache, is the next one used. Slabs come when the list is empty and stay.
 */
#ifndef OCHE_SIM_NETWORK_PACKET_POOL_H
#define OCHE_SIM_NETWORK_PACKET_POOL_H

#include "core/wire/packet.h"

struct oche_packet_slab;

struct oche_packet_pool {
    struct oche_packet *free;
    struct oche_packet_slab *slabs;
    int64_t made;  /* here, and given by others minus given away */
    int64_t taken; /* taken minus returned; packets move between shards, so only sums mean much */
};

void oche_packet_pool_init(struct oche_packet_pool *pool);
void oche_packet_pool_free(struct oche_packet_pool *pool);
void oche_packet_pool_refill(struct oche_packet_pool *pool);
/* Moves `count` packets; `from` has more than that. The memory stays with whoever made it. */
void oche_packet_pool_give(struct oche_packet_pool *from, struct oche_packet_pool *to,
                           int64_t count);

#define OCHE_PACKET_POOL_SHARE 16384 /* what is moved at a time */

/* Packets that wait to be taken. */
static inline int64_t oche_packet_pool_idle(const struct oche_packet_pool *pool)
{
    return pool->made - pool->taken;
}

/* A packet with undefined contents (but payload and port_ahead). */
static inline struct oche_packet *oche_packet_take(struct oche_packet_pool *pool)
{
    if (OCHE_UNLIKELY(pool->free == NULL))
        oche_packet_pool_refill(pool);
    struct oche_packet *packet = pool->free;
    pool->free = packet->next;
    packet->port_ahead = 0;
    pool->taken++;
    return packet;
}

static inline void oche_packet_return(struct oche_packet_pool *pool, struct oche_packet *packet)
{
    packet->next = pool->free;
    pool->free = packet;
    pool->taken--;
}

#endif
