/* SPDX-License-Identifier: Apache-2.0 */
/* An egress port in virtual time; see link_port.h. */
#include "fabric/link_port.h"

#define MOST_PACKETS (UINT64_C(1) << 24)

static uint64_t capacity_for(uint64_t packets)
{
    uint64_t capacity = 1;

    OCHE_MUST(packets <= MOST_PACKETS);
    while (capacity < packets)
        capacity *= 2;
    return capacity;
}

size_t oche_link_port_bytes(uint64_t packets)
{
    return sizeof(struct oche_link_port) + capacity_for(packets) * sizeof(struct oche_link_waiting);
}

struct oche_link_port *oche_link_port_create(void *memory, uint64_t packets)
{
    struct oche_link_port *port = memory;

    *port = (struct oche_link_port){.capacity = capacity_for(packets)};
    return port;
}

static const struct oche_link_waiting *waiting(const struct oche_link_port *port, uint64_t number)
{
    return &port->waiting[number & (port->capacity - 1)];
}

/* Removes the packets whose transmission has started by `now`. */
static void start_until(struct oche_link_port *port, oche_time now)
{
    while (port->count > 0 && waiting(port, port->first)->starts <= now) {
        port->bytes_started = waiting(port, port->first)->bytes_until;
        port->first++;
        port->count--;
    }
}

uint64_t oche_link_port_queue(struct oche_link_port *port, oche_time now)
{
    start_until(port, now);
    return port->bytes_arrived - port->bytes_started;
}

bool oche_link_port_take(struct oche_link_port *port, oche_time now, uint32_t frame_bytes,
                         uint32_t gap_bytes, uint64_t rate_bps, uint64_t queue_bytes,
                         struct oche_link_departure *departure)
{
    if (oche_link_port_queue(port, now) + frame_bytes > queue_bytes ||
        port->count == port->capacity)
        return false;
    departure->number = port->first + port->count;
    departure->starts = oche_time_max(now, port->free_at);
    departure->leaves =
        departure->starts + oche_time_of_bytes((uint64_t)frame_bytes + gap_bytes, rate_bps);
    port->free_at = departure->leaves;
    departure->bytes_until = port->bytes_arrived += frame_bytes;
    port->waiting[departure->number & (port->capacity - 1)] = (struct oche_link_waiting){
        .arrived = now, .starts = departure->starts, .bytes_until = port->bytes_arrived};
    port->count++;
    return true;
}

uint64_t oche_link_port_behind(const struct oche_link_port *port,
                               const struct oche_link_departure *departure)
{
    uint64_t low = departure->number + 1 > port->first ? departure->number + 1 : port->first;
    uint64_t high = port->first + port->count;
    const uint64_t least = low;

    /* the first packet that arrived when the transmission had started, or later */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (waiting(port, middle)->arrived < departure->starts)
            low = middle + 1;
        else
            high = middle;
    }
    return low > least ? waiting(port, low - 1)->bytes_until - departure->bytes_until : 0;
}
