/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the senders of an incast: different hosts, none of them the receiver. */
#ifndef OCHE_SIM_APP_SENDER_POOL_H
#define OCHE_SIM_APP_SENDER_POOL_H

#include "core/random.h"

/*
 * Between draws the pool is in its initial order, so that a draw does not depend on earlier draws.
 */
struct oche_sender_pool {
    uint32_t *distance; /* the other hosts, as distances from the receiver: initially 1, 2, … */
    uint32_t *swapped;
    uint32_t hosts;
};

/* Makes a pool for `hosts` hosts, 2 or more. Returns false without memory. */
bool oche_sender_pool_make(struct oche_sender_pool *pool, uint32_t hosts);
void oche_sender_pool_free(struct oche_sender_pool *pool);

/* Moves `degree` (below the number of hosts) different random hosts to the front of the pool. */
void oche_sender_pool_draw(const struct oche_sender_pool *pool, uint32_t degree,
                           struct oche_random *random);
/*
 * Restores the initial order. To be called before the next draw, with the degree of the last one.
 */
void oche_sender_pool_put_back(const struct oche_sender_pool *pool, uint32_t degree);

/*
 * Returns the host drawn as number i (from 0) for this receiver; both are places in the order in
 * which hosts are drawn.
 */
static inline uint32_t oche_sender_pool_host(const struct oche_sender_pool *pool, uint32_t receiver,
                                             uint32_t i)
{
    return (uint32_t)(((uint64_t)receiver + pool->distance[i]) % pool->hosts);
}

#endif
