/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the senders of an incast: different hosts, none of them the receiver. */
#ifndef OCHE_SIM_APP_SENDER_POOL_H
#define OCHE_SIM_APP_SENDER_POOL_H

#include "core/random.h"

/* Its contents are in order between draws, so that no draw depends on the ones before. */
struct oche_sender_pool {
    uint32_t *distance; /* distances of the other hosts from the receiver: 1, 2, … */
    uint32_t *swapped;
    uint32_t hosts;
};

/* Makes a pool for `hosts` hosts, 2 or more. Returns false without memory. */
bool oche_sender_pool_make(struct oche_sender_pool *pool, uint32_t hosts);
void oche_sender_pool_free(struct oche_sender_pool *pool);

/* Draws `degree` (below the number of hosts) different hosts into the front of the pool. */
void oche_sender_pool_draw(const struct oche_sender_pool *pool, uint32_t degree,
                           struct oche_random *random);
/* Restores the order. To be called before the next draw, with the same degree. */
void oche_sender_pool_put_back(const struct oche_sender_pool *pool, uint32_t degree);

/* Returns the i-th host drawn; in a pool in order, the i-th host after the receiver. */
static inline uint32_t oche_sender_pool_host(const struct oche_sender_pool *pool, uint32_t receiver,
                                             uint32_t i)
{
    return (uint32_t)(((uint64_t)receiver + pool->distance[i]) % pool->hosts);
}

#endif
