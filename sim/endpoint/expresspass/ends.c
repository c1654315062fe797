/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of connections: lookup by the connection's number, creation and closing, their timers,
 * and the packets that wait for the port. Memory comes from the host's arena and is reused.
 */
#include <string.h>

#include "sim/endpoint/expresspass/xpass.h"

#define ENDS_A_SLAB 8
#define FIRST_ITEMS 32

static void *take(struct oche_xpass *xpass, size_t bytes)
{
    return oche_arena_take(&xpass->host->shard->arena, bytes);
}

void oche_xpass_ends_init(struct oche_xpass *xpass, uint32_t most)
{
    xpass->free_slots = take(xpass, most * sizeof(*xpass->free_slots));
    xpass->free_count = most;
    for (uint32_t i = 0; i < most; i++)
        xpass->free_slots[i] = most - 1 - i;
    xpass->ends = take(xpass, most * sizeof(struct oche_xpass_end *));
    map_init(&xpass->connections, take(xpass, map_capacity(most) * sizeof(struct map_entry)), most);
    heap_init(&xpass->timers, take(xpass, most * sizeof(struct heap_entry)),
              take(xpass, most * sizeof(uint32_t)), most);
}

struct oche_xpass_end *oche_xpass_find(const struct oche_xpass *xpass, uint32_t connection)
{
    uint32_t slot = map_find(&xpass->connections, connection);

    return slot == NO_SLOT ? NULL : xpass->ends[slot];
}

static void add_slab(struct oche_xpass *xpass)
{
    struct oche_xpass_end *slab = take(xpass, ENDS_A_SLAB * sizeof(*slab));

    for (unsigned i = 0; i < ENDS_A_SLAB; i++) {
        slab[i].next_unused = xpass->unused;
        xpass->unused = &slab[i];
    }
}

struct oche_xpass_end *oche_xpass_open(struct oche_xpass *xpass, uint32_t connection, uint32_t peer,
                                       bool sends)
{
    if (xpass->unused == NULL)
        add_slab(xpass);
    struct oche_xpass_end *end = xpass->unused;

    OCHE_MUST(xpass->free_count > 0);
    xpass->unused = end->next_unused;
    memset(end, 0, sizeof(*end));
    end->number = connection;
    end->peer = peer;
    end->sends = sends;
    end->flow_hash = oche_host_flow_hash(xpass->host->shared->seed, connection);
    end->slot = xpass->free_slots[--xpass->free_count];
    xpass->ends[end->slot] = end;
    map_add(&xpass->connections, connection, end->slot);
    return end;
}

void oche_xpass_close(struct oche_xpass *xpass, struct oche_xpass_end *end)
{
    oche_xpass_set_timer(xpass, end, OCHE_NEVER);
    map_remove(&xpass->connections, end->number);
    xpass->ends[end->slot] = NULL;
    xpass->free_slots[xpass->free_count++] = end->slot;
    end->next_unused = xpass->unused;
    xpass->unused = end;
}

/* Timers due at the same time expire in order of connections. */
void oche_xpass_set_timer(struct oche_xpass *xpass, const struct oche_xpass_end *end,
                          oche_time when)
{
    heap_set(&xpass->timers, end->slot, when, end->number);
}

static void grow(struct oche_xpass *xpass, struct oche_xpass_items *items)
{
    uint32_t capacity = items->capacity == 0 ? FIRST_ITEMS : 2 * items->capacity;
    struct oche_xpass_item *ring = take(xpass, capacity * sizeof(*ring));

    for (uint32_t i = 0; i < items->count; i++)
        ring[i] = items->ring[(items->head + i) & (items->capacity - 1)];
    items->ring = ring;
    items->head = 0;
    items->capacity = capacity;
}

void oche_xpass_put(struct oche_xpass *xpass, struct oche_xpass_items *items,
                    const struct oche_xpass_end *end, struct oche_xpass_item item)
{
    if (items->count == items->capacity)
        grow(xpass, items);
    item.connection = end->number;
    item.peer = end->peer;
    item.flow_hash = end->flow_hash;
    items->ring[(items->head + items->count++) & (items->capacity - 1)] = item;
}

struct oche_xpass_item oche_xpass_take(struct oche_xpass_items *items)
{
    struct oche_xpass_item item = items->ring[items->head];

    items->head = (items->head + 1) & (items->capacity - 1);
    items->count--;
    return item;
}
