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

/* All tables are one piece, of which only what the open connections need is touched. */
void oche_xpass_ends_init(struct oche_xpass *xpass, uint32_t most)
{
    size_t end = 0, free_slots = oche_place(&end, most * sizeof(uint32_t), sizeof(uint64_t));
    size_t ends = oche_place(&end, most * sizeof(xpass->ends[0]), sizeof(uint64_t));
    size_t positions = oche_place(&end, most * sizeof(uint32_t), sizeof(uint64_t));
    size_t entries = oche_place(&end, most * sizeof(struct heap_entry), sizeof(uint64_t));
    size_t map =
        oche_place(&end, map_growing_capacity(most) * sizeof(struct map_entry), sizeof(uint64_t));
    char *base = oche_arena_take_spacious(&xpass->host->shard->arena, end);

    slots_init(&xpass->slots, (void *)(base + free_slots), most);
    xpass->ends = (void *)(base + ends);
    heap_init(&xpass->timers, (void *)(base + entries), (void *)(base + positions), 0);
    map_init_growing(&xpass->connections, base + map, most);
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
    bool fresh;

    map_make_room(&xpass->connections, slots_taken(&xpass->slots));
    xpass->unused = end->next_unused;
    memset(end, 0, sizeof(*end));
    end->number = connection;
    end->peer = peer;
    end->sends = sends;
    end->flow_hash = oche_host_flow_hash(xpass->host->shared->seed, connection);
    end->slot = slots_take(&xpass->slots, &fresh);
    if (fresh)
        heap_init_slot(&xpass->timers, end->slot);
    xpass->ends[end->slot] = end;
    map_add(&xpass->connections, connection, end->slot);
    return end;
}

void oche_xpass_close(struct oche_xpass *xpass, struct oche_xpass_end *end)
{
    oche_xpass_set_timer(xpass, end, OCHE_NEVER);
    map_remove(&xpass->connections, end->number);
    xpass->ends[end->slot] = NULL;
    slots_give(&xpass->slots, end->slot);
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
