/* SPDX-License-Identifier: Apache-2.0 */
#include "device/rsocket/flow.h"

#include <string.h>

/* ---- what arrives ---- */

void rs_inflow_start(struct rs_inflow *flow, uint32_t half, uint16_t credits, uint32_t entries)
{
    *flow = (struct rs_inflow){.half = half,
                               .granted = half,
                               .free = half,
                               .free_at = half,
                               .credits = credits,
                               .limit = credits,
                               .entry = entries > 1 ? 1 : 0, /* the hello has filled the first */
                               .entries = entries};
}

bool rs_inflow_counted(struct rs_inflow *flow)
{
    if (flow->arrived == flow->limit)
        return false;
    flow->arrived++;
    return true;
}

bool rs_inflow_arrived(struct rs_inflow *flow, uint32_t bytes)
{
    const uint32_t of_the_half = flow->half - flow->head % flow->half;

    if (bytes == 0 || bytes > of_the_half || bytes > flow->granted || !rs_inflow_counted(flow))
        return false;
    flow->granted -= bytes;
    flow->filled += bytes;
    flow->head = (flow->head + bytes) % (2 * flow->half);
    return true;
}

uint32_t rs_inflow_readable(const struct rs_inflow *flow)
{
    const uint32_t to_the_end = 2 * flow->half - flow->tail;

    return flow->filled < to_the_end ? flow->filled : to_the_end;
}

void rs_inflow_read(struct rs_inflow *flow, uint32_t bytes)
{
    flow->filled -= bytes;
    flow->free += bytes;
    flow->tail = (flow->tail + bytes) % (2 * flow->half);
}

bool rs_inflow_should_give(const struct rs_inflow *flow)
{
    const uint16_t left = (uint16_t)(flow->limit - flow->arrived);

    return flow->free >= flow->half || left <= flow->credits / 2;
}

bool rs_inflow_give(struct rs_inflow *flow, uint32_t *offset, uint32_t *entry)
{
    flow->limit = (uint16_t)(flow->arrived + flow->credits);
    if (flow->free < flow->half)
        return false;
    *offset = flow->free_at;
    *entry = flow->entry;
    flow->free -= flow->half;
    flow->granted += flow->half;
    flow->free_at = (flow->free_at + flow->half) % (2 * flow->half);
    flow->entry = (flow->entry + 1) % flow->entries;
    return true;
}

/* ---- what is sent ---- */

void rs_outflow_start(struct rs_outflow *flow, const struct rs_hello *peer)
{
    memset(flow, 0, sizeof(*flow));
    flow->places[0] = peer->buffer;
    flow->count = 1;
    flow->limit = peer->credits;
}

bool rs_outflow_granted(struct rs_outflow *flow, const struct rs_place *place)
{
    if (flow->count == RS_PLACES || !rs_place_is_sound(place))
        return false;
    flow->places[(flow->current + flow->count) % RS_PLACES] = *place;
    flow->count++;
    return true;
}

void rs_outflow_credits(struct rs_outflow *flow, uint32_t limit)
{
    flow->limit = (uint16_t)limit;
}

bool rs_outflow_credit(const struct rs_outflow *flow)
{
    return flow->sent != flow->limit;
}

uint32_t rs_outflow_room(const struct rs_outflow *flow)
{
    return rs_outflow_credit(flow) && flow->count > 0 ? flow->places[flow->current].length : 0;
}

struct rs_place rs_outflow_take(struct rs_outflow *flow, uint32_t bytes)
{
    struct rs_place *place = &flow->places[flow->current];
    const struct rs_place taken = *place;

    flow->sent++;
    place->address += bytes;
    place->length -= bytes;
    if (place->length == 0) {
        flow->current = (flow->current + 1) % RS_PLACES;
        flow->count--;
    }
    return taken;
}
