/* SPDX-License-Identifier: Apache-2.0 */
/* Draws senders without replacement, in a time that does not depend on the number of hosts. */
#include "sim/app/sender_pool.h"

#include <stdlib.h>

bool oche_sender_pool_make(struct oche_sender_pool *pool, uint32_t hosts)
{
    uint32_t *memory = malloc(2 * (size_t)hosts * sizeof(*memory));

    *pool = (struct oche_sender_pool){.hosts = hosts};
    if (memory == NULL)
        return false;
    pool->distance = memory;
    pool->swapped = memory + hosts;
    for (uint32_t i = 0; i < hosts; i++)
        pool->distance[i] = i + 1;
    return true;
}

void oche_sender_pool_free(struct oche_sender_pool *pool)
{
    free(pool->distance);
}

void oche_sender_pool_draw(const struct oche_sender_pool *pool, uint32_t degree,
                           struct oche_random *random)
{
    uint32_t others = pool->hosts - 1;

    for (uint32_t i = 0; i < degree; i++) {
        uint32_t j = i + (uint32_t)oche_random_below(random, others - i);
        uint32_t drawn = pool->distance[j];

        pool->distance[j] = pool->distance[i];
        pool->distance[i] = drawn;
        pool->swapped[i] = j;
    }
}

void oche_sender_pool_put_back(const struct oche_sender_pool *pool, uint32_t degree)
{
    for (uint32_t i = degree; i-- > 0;) {
        uint32_t j = pool->swapped[i], drawn = pool->distance[i];

        pool->distance[i] = pool->distance[j];
        pool->distance[j] = drawn;
    }
}
