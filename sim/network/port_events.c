/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted events of one port; see port_events.h. */
#include "sim/network/port_events.h"

#include <string.h>

#include "core/wire/telemetry.h"
#include "sim/network/payload.h"

/* Sends a second packet like this one, a picosecond later. */
static void send_twice(struct oche_shard *shard, uint32_t port, const struct oche_packet *packet)
{
    struct oche_port_events *events = shard->network->extras[port].events;
    struct oche_packet *copy = oche_packet_take(&shard->pool);
    uint8_t *buffer = copy->payload;

    *copy = *packet;
    copy->payload = buffer; /* each packet keeps its own */
    if (oche_has_telemetry(packet))
        *oche_telemetry_of(copy) = *oche_telemetry_at(packet);
    if (packet->payload != NULL && (packet->ext & OCHE_EXT_PAYLOAD)) {
        oche_payload_buffer(copy);
        memcpy(copy->payload, packet->payload, packet->payload_bytes);
    }
    copy->when = oche_arrivals_take(events->arrivals, packet->when + 1);
    oche_network_launch(shard, port, copy);
}

/* Applies the event. Returns false if the packet does not go on now. */
static bool apply(struct oche_shard *shard, uint32_t port, const struct oche_packet_event *event,
                  struct oche_packet *packet, oche_time now)
{
    struct oche_port_events *events = shard->network->extras[port].events;

    switch ((enum oche_packet_event_type)event->type) {
    case OCHE_PACKET_EVENT_DROP:
    case OCHE_PACKET_EVENT_BIT_ERROR:
        oche_network_lose(shard, port, packet, now);
        return false;
    case OCHE_PACKET_EVENT_ECN:
        packet->ecn = OCHE_ECN_CE;
        return true;
    case OCHE_PACKET_EVENT_DELAY:
        packet->when = oche_arrivals_take(events->arrivals, packet->when + event->delay);
        return true;
    case OCHE_PACKET_EVENT_REORDER:
        oche_packet_events_keep(events->events, packet);
        shard->kept_packets++;
        return false;
    case OCHE_PACKET_EVENT_DUPLICATE:
        send_twice(shard, port, packet);
        return true;
    case OCHE_PACKET_EVENT_TYPES:
        break;
    }
    return true;
}

bool oche_port_events_send(struct oche_shard *shard, uint32_t port, struct oche_packet *packet,
                           oche_time now)
{
    struct oche_port_events *events = shard->network->extras[port].events;
    const struct oche_packet_event *event = oche_packet_events_see(events->events, packet);
    struct oche_packet *kept;
    oche_time behind;
    bool goes_on = true;

    packet->when = oche_arrivals_on_time(events->arrivals, packet->when);
    behind = packet->when + 1;
    if (event != NULL)
        goes_on = apply(shard, port, event, packet, now);
    while ((kept = oche_packet_events_release(events->events)) != NULL) {
        shard->kept_packets--;
        kept->when = oche_arrivals_take(events->arrivals, behind);
        oche_network_launch(shard, port, kept);
    }
    return goes_on;
}
