/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of one shard: a last-in first-out free list over slabs. So the next packet used is
 * the one that was freed last, which is still in the cache. A slab is added when the list is empty;
 * slabs are freed only at the end. If the network's congestion control needs telemetry, there is
 * memory for it behind each packet (core/wire/telemetry.h).
 */
#ifndef OCHE_SIM_NETWORK_PACKET_POOL_H
#define OCHE_SIM_NETWORK_PACKET_POOL_H

#include "core/wire/packet.h"

struct oche_packet_slab;

struct oche_packet_pool {
    struct oche_packet *free;
    struct oche_packet_slab *slabs;
    size_t packet_bytes; /* of a packet, with what lies behind it */
    /*
     * Packets made here, plus those received from other pools, minus those given to other
     * pools.
     */
    int64_t made;
    /*
     * Packets taken minus packets returned. Packets move between shards, so only the sum over all
     * shards is meaningful.
     */
    int64_t taken;
};

void oche_packet_pool_init(struct oche_packet_pool *pool);
/* From now on there is memory for telemetry behind each packet. No packet has been taken yet. */
void oche_packet_pool_add_telemetry(struct oche_packet_pool *pool);
void oche_packet_pool_free(struct oche_packet_pool *pool);
void oche_packet_pool_refill(struct oche_packet_pool *pool);
/*
 * Moves `count` free packets; `from` must have more than `count`. The pool that made a packet still
 * owns the memory.
 */
void oche_packet_pool_give(struct oche_packet_pool *from, struct oche_packet_pool *to,
                           int64_t count);

#define OCHE_PACKET_POOL_SHARE 16384 /* packets moved between pools at a time */

/* Returns the number of packets that are ready to be taken. */
static inline int64_t oche_packet_pool_idle(const struct oche_packet_pool *pool)
{
    return pool->made - pool->taken;
}

/*
 * Takes a packet. Its contents are undefined, except that `payload` is as it
 * was when the packet was put back.
 */
static inline struct oche_packet *oche_packet_take(struct oche_packet_pool *pool)
{
    if (OCHE_UNLIKELY(pool->free == NULL))
        oche_packet_pool_refill(pool);
    struct oche_packet *packet = pool->free;
    pool->free = packet->next;
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
