/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as bytes. Of a packet everything is sent that a node may read: the hot line, in whose
 * first word the key of the arrival's event is in place of the list's pointer; the extension line,
 * if anything but payload is in it; the telemetry behind the packet; and the payload, if its bytes
 * are simulated. A list of senders (extension.h) is in memory that all ranks have alike, so its
 * place there is sent.
 */
#include "sim/network/rank_packets.h"

#include <string.h>

#include "core/wire/telemetry.h"
#include "sim/network/payload.h"

#define LINE  OCHE_CACHE_LINE
#define AHEAD 8 /* packets that are fetched into the cache */

/* Takes the place of oche_packet.next. */
struct head {
    uint32_t key;
    uint32_t more; /* enum more */
};

enum more { EXTENSION = 1 << 0, PAYLOAD = 1 << 1, TELEMETRY = 1 << 2 };

_Static_assert(offsetof(struct oche_packet, next) == 0 &&
                   sizeof(struct head) == sizeof(struct oche_packet *),
               "the head is where the pointer is");

static uint32_t more_of(const struct oche_packet *packet)
{
    uint32_t more = (packet->ext & ~OCHE_EXT_PAYLOAD) != 0 ? EXTENSION : 0;

    if ((packet->ext & OCHE_EXT_PAYLOAD) && packet->payload != NULL)
        more |= PAYLOAD;
    if (oche_has_telemetry(packet))
        more |= TELEMETRY;
    return more;
}

static bool has_list(const struct oche_packet *packet)
{
    return packet->kind == OCHE_PACKET_ROCE && (packet->ext & OCHE_EXT_LIST) != 0;
}

static void put(const struct oche_packet *packet, uint32_t key, const struct oche_flows *flows,
                struct oche_rank_bytes *bytes)
{
    const struct head head = {.key = key, .more = more_of(packet)};
    char *to = oche_rank_room(bytes, head.more & EXTENSION ? 2 * LINE : LINE);

    memcpy(to, packet, head.more & EXTENSION ? 2 * LINE : LINE);
    memcpy(to, &head, sizeof(head));
    if (has_list(packet)) {
        uint64_t place = (uint64_t)(packet->members - flows->incast_members);

        memcpy(to + offsetof(struct oche_packet, members), &place, sizeof(place));
    }
    if (head.more & TELEMETRY)
        oche_rank_put(bytes, oche_telemetry_at(packet), sizeof(struct oche_telemetry));
    if (head.more & PAYLOAD)
        oche_rank_put(bytes, packet->payload, packet->payload_bytes);
}

void oche_rank_packets_put(struct oche_shard *shard, struct oche_mailbox *box,
                           const struct oche_flows *flows, struct oche_rank_bytes *bytes)
{
    for (uint32_t i = 0; i < box->count; i++) {
        if (i + AHEAD < box->count)
            __builtin_prefetch(box->list[i + AHEAD].packet);
        put(box->list[i].packet, box->list[i].key, flows, bytes);
        oche_packet_return(&shard->pool, box->list[i].packet);
        shard->pool.taken++; /* the packet is still in the network: the receiver returns it */
    }
    box->count = 0;
}

/* Fills a packet that has just been taken; its buffer stays its own. Returns the event's key. */
static uint32_t get(struct oche_packet *packet, const struct oche_flows *flows,
                    struct oche_rank_bytes *bytes)
{
    uint8_t *buffer = packet->payload;
    struct head head;

    oche_rank_get(bytes, packet, LINE);
    memcpy(&head, packet, sizeof(head));
    packet->next = NULL;
    if (head.more & EXTENSION)
        oche_rank_get(bytes, (char *)packet + LINE, LINE);
    packet->payload = buffer;
    if (has_list(packet)) {
        uint64_t place;

        memcpy(&place, &packet->members, sizeof(place));
        packet->members = flows->incast_members + place;
    }
    if (head.more & TELEMETRY)
        oche_rank_get(bytes, oche_telemetry_of(packet), sizeof(struct oche_telemetry));
    if (head.more & PAYLOAD) {
        oche_payload_buffer(packet);
        oche_rank_get(bytes, packet->payload, packet->payload_bytes);
    }
    return head.key;
}

void oche_rank_packets_get(struct oche_shard *shard, const struct oche_flows *flows,
                           struct oche_rank_bytes *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct oche_packet *packet = oche_packet_take(&shard->pool);

        if (shard->pool.free != NULL)
            __builtin_prefetch(shard->pool.free, 1);
        uint32_t key = get(packet, flows, bytes);

        shard->pool.taken--; /* the sending rank has counted the packet */
        oche_event_push(&shard->events, packet->when, key, packet);
    }
}
