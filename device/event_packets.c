/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events at the receive side (fabric/packet_events.h). Each packet of a datagram is looked
 * at by itself, after the link from its sender. A packet with an event is handled as a datagram of
 * its own: at once, or when it is due, or when others have overtaken it.
 *
 * Only packets for a queue pair that knows their sender are looked at, so that strangers cannot
 * count as connections.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/extension.h"
#include "device/internal.h"
#include "device/link/event_text.h"
#include "device/link/hold.h"

#define TAILROOM 8 /* pad and ICRC need 7 */

/* A packet that is kept, in a slot of the hold, before its bytes. */
struct kept {
    struct oche_address from;
    uint32_t count;
    uint16_t port;
    uint8_t tos;
    bool first, passed_on;
};

struct device_events {
    struct oche_packet_events *events;
    struct oche_hold hold; /* delayed packets; reordered ones only have a slot there */
    uint32_t packet_bytes;
    uint8_t *damaged; /* room for a packet with a bit error */
    uint64_t dropped;
    bool has_hold; /* some event keeps packets */
};

/* ---- opening and closing ---- */

/* Returns how many packets may be kept at one time: each event happens once. */
static uint32_t most_kept(const struct oche_packet_event *list, uint32_t count)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        most +=
            list[i].type == OCHE_PACKET_EVENT_DELAY || list[i].type == OCHE_PACKET_EVENT_REORDER;
    return most;
}

static bool make(struct device_events *events, const struct oche_packet_event *list, uint32_t count)
{
    void *memory = malloc(oche_packet_events_bytes(list, count));

    events->damaged = malloc(events->packet_bytes);
    if (memory == NULL || events->damaged == NULL) {
        free(memory);
        return false;
    }
    events->events = oche_packet_events_create(memory, list, count);
    events->has_hold = most_kept(list, count) > 0;
    return !events->has_hold ||
           oche_hold_open(&events->hold,
                          oche_lines(sizeof(struct kept)) + oche_lines(events->packet_bytes),
                          most_kept(list, count));
}

bool device_events_open(struct oche_device *device, struct oche_error *error)
{
    const struct oche_packet_event *list = device->config.events;

    device->config.events = NULL; /* the caller's */
    if (device->config.event_count == 0)
        return true;
    device->scripted = calloc(1, sizeof(*device->scripted));
    if (device->scripted != NULL) {
        device->scripted->packet_bytes =
            OCHE_MAX_HEADER_BYTES + device->config.mtu_bytes + TAILROOM;
        if (make(device->scripted, list, device->config.event_count))
            return true;
    }
    return oche_fail(error, "%s: out of memory for the packets of scripted events",
                     device->config.address);
}

void device_events_close(struct device_events *events)
{
    if (events == NULL)
        return;
    if (events->has_hold)
        oche_hold_close(&events->hold);
    free(events->events);
    free(events->damaged);
    free(events);
}

/* ---- packets ---- */

/* A packet, with what the device needs to go on with it. */
struct single {
    const struct oche_datagram_in *in; /* its datagram */
    const uint8_t *bytes;
    uint32_t count;
    bool first; /* of its datagram */
};

/* The device looks at the packet now, with these bytes and this ToS. */
static void give(struct oche_device *device, const struct single *single, const uint8_t *bytes,
                 uint8_t tos, oche_time now) OCHE_NEEDS(device_lock)
{
    const struct oche_datagram_in in = {.bytes = bytes,
                                        .count = single->count,
                                        .segment_bytes = single->count,
                                        .from = single->in->from,
                                        .from_port = single->in->from_port,
                                        .tos = tos,
                                        .passed_on = single->in->passed_on,
                                        .from_link = true,
                                        .from_events = true,
                                        .continues = !single->first};

    device_take(device, &in, now);
}

/* The device looks at a packet that was kept, and its slot becomes free. */
static void give_kept(struct oche_device *device, struct kept *kept, oche_time now)
    OCHE_NEEDS(device_lock)
{
    const uint8_t *bytes = (const uint8_t *)kept + oche_lines(sizeof(*kept));
    const struct oche_datagram_in in = {
        .from = kept->from, .from_port = kept->port, .passed_on = kept->passed_on};
    const struct single single = {
        .in = &in, .bytes = bytes, .count = kept->count, .first = kept->first};

    give(device, &single, bytes, kept->tos, now);
    oche_hold_give_back(&device->scripted->hold, kept);
}

static struct kept *keep(struct device_events *events, const struct single *single)
{
    struct kept *kept = oche_hold_take(&events->hold);

    OCHE_MUST(kept != NULL); /* each event happens once, and has a slot */
    *kept = (struct kept){.from = single->in->from,
                          .count = single->count,
                          .port = single->in->from_port,
                          .tos = single->in->tos,
                          .first = single->first,
                          .passed_on = single->in->passed_on};
    memcpy((uint8_t *)kept + oche_lines(sizeof(*kept)), single->bytes, single->count);
    return kept;
}

/* Inverts the lowest bit of the last byte before the ICRC, which the ICRC covers. */
static const uint8_t *damage(struct device_events *events, const struct single *single,
                             const struct oche_packet *packet)
{
    const uint32_t behind = OCHE_ICRC_BYTES + oche_packet_trailer_bytes(packet);

    memcpy(events->damaged, single->bytes, single->count);
    events->damaged[single->count - behind - 1] ^= 1;
    return events->damaged;
}

static void apply(struct oche_device *device, const struct oche_packet_event *event,
                  const struct single *single, const struct oche_packet *packet, oche_time now)
    OCHE_NEEDS(device_lock)
{
    struct device_events *events = device->scripted;
    const uint8_t tos = single->in->tos;

    switch ((enum oche_packet_event_type)event->type) {
    case OCHE_PACKET_EVENT_DROP:
        events->dropped++;
        break;
    case OCHE_PACKET_EVENT_ECN:
        give(device, single, single->bytes, tos | OCHE_ECN_CE, now);
        break;
    case OCHE_PACKET_EVENT_BIT_ERROR:
        give(device, single, damage(events, single, packet), tos, now);
        break;
    case OCHE_PACKET_EVENT_DELAY:
        oche_hold_put(&events->hold, keep(events, single), now + event->delay);
        break;
    case OCHE_PACKET_EVENT_REORDER:
        oche_packet_events_keep(events->events, keep(events, single));
        break;
    case OCHE_PACKET_EVENT_DUPLICATE:
        give(device, single, single->bytes, tos, now);
        give(device, single, single->bytes, tos, now);
        break;
    case OCHE_PACKET_EVENT_TYPES:
        break;
    }
}

bool device_event_receive(struct oche_device *device, const struct oche_datagram_in *in,
                          const uint8_t *bytes, uint32_t count, bool first, oche_time now)
{
    const struct single single = {.in = in, .bytes = bytes, .count = count, .first = first};
    struct device_events *events = device->scripted;
    const struct oche_packet_event *event;
    struct oche_packet packet;
    struct kept *kept;

    if (count > events->packet_bytes ||
        oche_decode_transport(bytes, count, &packet, NULL) != OCHE_WIRE_OK)
        return false;
    packet.src = oche_peers_find(&device->peers, &in->from);
    packet.dst = 0;
    if (device_receiver_of(device, &packet) == NULL)
        return false;
    event = oche_packet_events_see(events->events, &packet);
    kept = oche_packet_events_release(events->events);
    if (event == NULL && kept == NULL)
        return false;
    if (event != NULL)
        apply(device, event, &single, &packet, now);
    else
        give(device, &single, bytes, in->tos, now);
    for (; kept != NULL; kept = oche_packet_events_release(events->events))
        give_kept(device, kept, now);
    return true;
}

unsigned device_events_receive(struct oche_device *device, oche_time now)
{
    struct device_events *events = device->scripted;
    struct kept *kept;
    unsigned packets = 0;

    while (events->has_hold && (kept = oche_hold_due(&events->hold, now)) != NULL) {
        give_kept(device, kept, now);
        packets++;
    }
    return packets;
}

oche_time device_events_next(const struct device_events *events)
{
    return events->has_hold ? oche_hold_next(&events->hold) : OCHE_NEVER;
}

/* ---- results ---- */

uint64_t device_events_dropped(const struct device_events *events)
{
    return events->dropped;
}

OCHE_UNCHECKED bool oche_device_event_counts_now(const struct oche_device *device,
                                                 struct oche_packet_event_counts *counts,
                                                 struct oche_packet_event *first_left)
{
    if (device->scripted == NULL)
        return false;
    oche_packet_events_counts(device->scripted->events, counts);
    if (counts->never > 0)
        *first_left = *oche_packet_events_at(device->scripted->events, counts->first_left);
    return true;
}
