/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of connections: lookup by the connection's number, creation and closing, their timers,
 * and the packets without data that wait for the port. Memory comes from the host's arena and is
 * reused.
 */
#include "sim/endpoint/tcp_dctcp/tcp.h"

#include <string.h>

#define ENDS_A_SLAB   8
#define FIRST_CONTROL 32

static void *take(struct oche_tcp *tcp, size_t bytes)
{
    return oche_arena_take(&tcp->host->shard->arena, bytes);
}

/* All tables are one piece, of which only what the open connections need is touched. */
void oche_tcp_ends_init(struct oche_tcp *tcp, uint32_t most)
{
    size_t end = 0, free_slots = oche_place(&end, most * sizeof(uint32_t), sizeof(uint64_t));
    size_t ends = oche_place(&end, most * sizeof(tcp->ends[0]), sizeof(uint64_t));
    size_t positions = oche_place(&end, most * sizeof(uint32_t), sizeof(uint64_t));
    size_t entries = oche_place(&end, most * sizeof(struct heap_entry), sizeof(uint64_t));
    size_t map =
        oche_place(&end, map_growing_capacity(most) * sizeof(struct map_entry), sizeof(uint64_t));
    char *base = oche_arena_take_spacious(&tcp->host->shard->arena, end);

    slots_init(&tcp->slots, (void *)(base + free_slots), most);
    tcp->ends = (void *)(base + ends);
    heap_init(&tcp->timers, (void *)(base + entries), (void *)(base + positions), 0);
    map_init_growing(&tcp->connections, base + map, most);
}

struct oche_tcp_end *oche_tcp_find(const struct oche_tcp *tcp, uint32_t connection)
{
    uint32_t slot = map_find(&tcp->connections, connection);

    return slot == NO_SLOT ? NULL : tcp->ends[slot];
}

static void add_slab(struct oche_tcp *tcp)
{
    struct oche_tcp_end *slab = take(tcp, ENDS_A_SLAB * sizeof(*slab));

    for (unsigned i = 0; i < ENDS_A_SLAB; i++) {
        slab[i].next_unused = tcp->unused;
        tcp->unused = &slab[i];
    }
}

struct oche_tcp_end *oche_tcp_open(struct oche_tcp *tcp, uint32_t connection, uint32_t peer,
                                   bool sends)
{
    if (tcp->unused == NULL)
        add_slab(tcp);
    struct oche_tcp_end *end = tcp->unused;
    bool fresh;

    map_make_room(&tcp->connections, slots_taken(&tcp->slots));
    tcp->unused = end->next_unused;
    memset(end, 0, sizeof(*end));
    end->number = connection;
    end->peer = peer;
    end->sends = sends;
    end->flow_hash = oche_host_flow_hash(tcp->host->shared->seed, connection);
    end->slot = slots_take(&tcp->slots, &fresh);
    if (fresh)
        heap_init_slot(&tcp->timers, end->slot);
    tcp->ends[end->slot] = end;
    map_add(&tcp->connections, connection, end->slot);
    return end;
}

void oche_tcp_close(struct oche_tcp *tcp, struct oche_tcp_end *end)
{
    if (!end->sends && end->receiver.ranges != NULL) {
        /* There is room, because each end has at most one: see oche_tcp_take_ranges. */
        tcp->unused_ranges[tcp->unused_ranges_count++] = end->receiver.ranges;
    }
    oche_tcp_set_timer(tcp, end, OCHE_NEVER);
    map_remove(&tcp->connections, end->number);
    tcp->ends[end->slot] = NULL;
    slots_give(&tcp->slots, end->slot);
    end->next_unused = tcp->unused;
    tcp->unused = end;
}

/* Timers due at the same time expire in order of connections. */
void oche_tcp_set_timer(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time when)
{
    heap_set(&tcp->timers, end->slot, when, end->number);
}

struct oche_tcp_ranges *oche_tcp_take_ranges(struct oche_tcp *tcp)
{
    struct oche_tcp_ranges *ranges;

    if (tcp->unused_ranges == NULL)
        tcp->unused_ranges = take(tcp, tcp->slots.most * sizeof(struct oche_tcp_ranges *));
    if (tcp->unused_ranges_count > 0)
        ranges = tcp->unused_ranges[--tcp->unused_ranges_count];
    else
        ranges = take(tcp, sizeof(*ranges));
    ranges->count = 0;
    return ranges;
}

static void grow_control(struct oche_tcp *tcp)
{
    uint32_t capacity = tcp->control_capacity == 0 ? FIRST_CONTROL : 2 * tcp->control_capacity;
    struct oche_tcp_control *ring = take(tcp, capacity * sizeof(*ring));

    for (uint32_t i = 0; i < tcp->control_count; i++)
        ring[i] = tcp->control[(tcp->control_head + i) & (tcp->control_capacity - 1)];
    tcp->control = ring;
    tcp->control_head = 0;
    tcp->control_capacity = capacity;
}

void oche_tcp_put_control(struct oche_tcp *tcp, const struct oche_tcp_end *end, uint64_t ack,
                          uint8_t flags)
{
    if (tcp->control_count == tcp->control_capacity)
        grow_control(tcp);
    uint32_t at = (tcp->control_head + tcp->control_count++) & (tcp->control_capacity - 1);

    tcp->control[at] = (struct oche_tcp_control){.ack = ack,
                                                 .connection = end->number,
                                                 .peer = end->peer,
                                                 .flow_hash = end->flow_hash,
                                                 .flags = flags};
}
