/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets become datagrams. The NIC is asked for all that is due within one burst; neighbours to
 * the same peer, with the same ToS byte and of equal size (the last one may be shorter), share a
 * datagram, which the kernel or the link's hardware takes apart again. So FIRST packets, which are
 * longer by their RETH or AETH, go alone. Segment k of a datagram has IP identification k, and a
 * packet alone has 0: the ICRC is made when that is settled.
 *
 * When the socket's buffer is full, nothing more is pulled until the rest has gone: the backlog
 * stays in the NIC, where pacing and retransmission know of it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/extension.h"
#include "device/internal.h"

/* In front of each payload, whole lines. */
#define HEADROOM ((OCHE_MAX_HEADER_BYTES + OCHE_CACHE_LINE - 1) / OCHE_CACHE_LINE * OCHE_CACHE_LINE)
#define TAILROOM 8 /* pad and ICRC need 7 */
#define PULLS    2 /* in a row, before arrivals are looked at again */

_Static_assert(OCHE_DEVICE_PULL <= OCHE_SOCKET_OUT, "a pull is one send at most");

bool transmit_create(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    const size_t stride = (HEADROOM + device->config.mtu_bytes + TAILROOM + OCHE_CACHE_LINE - 1) /
                          OCHE_CACHE_LINE * OCHE_CACHE_LINE;

    t->packets = aligned_alloc(OCHE_CACHE_LINE, OCHE_DEVICE_PULL * sizeof(t->packets[0]));
    t->memory = aligned_alloc(OCHE_CACHE_LINE, OCHE_DEVICE_PULL * stride);
    if (t->packets == NULL || t->memory == NULL)
        return false;
    memset(t->packets, 0, OCHE_DEVICE_PULL * sizeof(t->packets[0]));
    for (unsigned i = 0; i < OCHE_DEVICE_PULL; i++) {
        t->pulled[i] = &t->packets[i];
        t->outgoing[i].payload = t->memory + i * stride + HEADROOM;
    }
    return true;
}

void transmit_destroy(struct oche_device *device)
{
    free(device->transmitter.packets);
    free(device->transmitter.memory);
}

bool transmit_is_full(const struct oche_device *device)
{
    return device->transmitter.datagrams_sent < device->transmitter.datagram_count;
}

static uint8_t tos_of(const struct oche_packet *packet)
{
    return (uint8_t)(packet->traffic_class << CLASS_SHIFT | packet->ecn);
}

/* Writes headers, pad and everything but the ICRC. */
static void write_packet(const struct oche_packet *packet, struct outgoing *out)
{
    uint8_t headers[OCHE_MAX_HEADER_BYTES];
    const size_t header_bytes = oche_encode_headers(packet, NULL, headers);

    out->bytes = out->payload - header_bytes;
    memcpy(out->bytes, headers, header_bytes);
    memset(out->payload + packet->payload_bytes, 0, oche_pad_bytes(packet->payload_bytes));
    out->count =
        oche_transport_bytes(packet->opcode, packet->payload_bytes) + oche_list_bytes(packet);
}

/* How many packets from `first` on can share a datagram. */
static unsigned sharing(const struct oche_device *device, unsigned first)
{
    const struct transmitter *t = &device->transmitter;
    const struct oche_packet *one = &t->packets[first];
    const uint32_t count = t->outgoing[first].count;
    uint32_t bytes = count;
    unsigned end = first + 1;

    if (!device->socket.gso || device->peers.peers[one->dst].no_gso || t->outgoing[first].lost)
        return 1;
    while (end < t->packet_count && end - first < OCHE_SOCKET_SEGMENTS) {
        const struct outgoing *next = &t->outgoing[end];

        bytes += next->count;
        /* Where processes share an address, a datagram goes to the one of its first packet. */
        if ((t->packets[end].dest_qpn ^ one->dest_qpn) >> OCHE_SLOT_SHIFT != 0)
            break;
        if (t->packets[end].dst != one->dst || tos_of(&t->packets[end]) != tos_of(one) ||
            next->lost || next->count > count || bytes > OCHE_SOCKET_BYTES)
            break;
        end++;
        if (next->count < count)
            break;
    }
    return end - first;
}

/* Sets the ICRC of a packet, now that its identification is known. */
static void finish_packet(struct oche_device *device, struct outgoing *out,
                          struct oche_pseudo *pseudo, uint16_t id)
{
    const struct oche_span body = {.bytes = out->bytes, .count = out->count - OCHE_ICRC_BYTES};

    out->id = id;
    oche_pseudo_set_bytes(pseudo, out->count);
    oche_pseudo_set_id(pseudo, id);
    oche_icrc_put(out->bytes + body.count, oche_icrc(device->crc32, pseudo, &body, 1));
}

static void make_header(const struct oche_device *device, const struct oche_packet *packet,
                        struct oche_ip_header *header)
{
    oche_ip_header_make(header, &device->address, &device->peers.peers[packet->dst].address,
                        device->port, device->port, tos_of(packet));
}

/* Makes one datagram of `count` packets from `first` on. */
static void make_datagram(struct oche_device *device, unsigned first, unsigned count)
{
    struct transmitter *t = &device->transmitter;
    const struct oche_packet *packet = &t->packets[first];
    const struct oche_peer *peer = &device->peers.peers[packet->dst];
    struct oche_ip_header header;
    struct oche_pseudo pseudo;

    make_header(device, packet, &header);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    for (unsigned i = 0; i < count; i++) {
        struct outgoing *out = &t->outgoing[first + i];

        finish_packet(device, out, &pseudo, (uint16_t)i);
        t->pieces[first + i] = (struct iovec){.iov_base = out->bytes, .iov_len = out->count};
    }
    if (t->outgoing[first].lost)
        return;
    t->first_of[t->datagram_count] = first;
    t->datagrams[t->datagram_count++] = (struct oche_datagram_out){
        .to = &peer->socket_address,
        .to_bytes = peer->socket_address_bytes,
        .pieces = &t->pieces[first],
        .piece_count = count,
        .segment_bytes = (uint16_t)(count > 1 ? t->outgoing[first].count : 0),
        .tos = tos_of(packet),
    };
}

/* Makes the datagrams of all packets from `first` on. */
static void make_datagrams(struct oche_device *device, unsigned first)
{
    struct transmitter *t = &device->transmitter;

    t->datagram_count = t->datagrams_sent = 0;
    while (first < t->packet_count) {
        const unsigned count = sharing(device, first);

        make_datagram(device, first, count);
        first += count;
    }
}

/* Shows the capture all packets before `end` that it has not seen. */
static void capture_until(struct oche_device *device, unsigned end)
{
    struct transmitter *t = &device->transmitter;
    oche_time now;

    if (OCHE_LIKELY(device->capture == NULL) || t->captured >= end)
        return;
    now = oche_clock_now(&device->clock);
    for (; t->captured < end; t->captured++) {
        const struct outgoing *out = &t->outgoing[t->captured];
        struct oche_ip_header header;

        make_header(device, &t->packets[t->captured], &header);
        oche_ip_header_set_bytes(&header, out->count);
        oche_ip_header_set_id(&header, out->id);
        oche_capture_write(device->capture, &header, out->bytes, out->count, now);
    }
}

/* Datagrams up to `end` have gone. Returns how many packets that were. */
static unsigned note_sent(struct oche_device *device, unsigned end)
{
    struct transmitter *t = &device->transmitter;
    unsigned packets = 0;

    for (; t->datagrams_sent < end; t->datagrams_sent++) {
        const unsigned count = t->datagrams[t->datagrams_sent].piece_count;

        packets += count;
        capture_until(device, t->first_of[t->datagrams_sent] + count);
        device->stats.sent_datagrams++;
    }
    device->stats.sent_packets += packets;
    return packets;
}

/* The datagram that is next cannot be sent: as if the network had lost it. */
static void give_up(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    const unsigned count = t->datagrams[t->datagrams_sent].piece_count;

    device->stats.send_errors += count;
    t->captured = t->first_of[t->datagrams_sent] + count;
    t->datagrams_sent++;
}

/* The datagram that is next, and all later ones to that peer, must be single packets. */
static void break_up(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    const unsigned first = t->first_of[t->datagrams_sent];

    device->peers.peers[t->packets[first].dst].no_gso = true;
    device->stats.gso_refused++;
    make_datagrams(device, first);
}

/* Sends what has been made. Returns how many packets went. */
static unsigned send_datagrams(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    unsigned packets = 0, sent;

    while (transmit_is_full(device)) {
        const enum oche_send_result result =
            oche_socket_send(&device->socket, t->datagrams + t->datagrams_sent,
                             t->datagram_count - t->datagrams_sent, &sent);

        packets += note_sent(device, t->datagrams_sent + sent);
        if (result == OCHE_SEND_FULL) {
            device->stats.send_full++;
            return packets;
        }
        if (result == OCHE_SEND_NO_GSO)
            break_up(device);
        if (result == OCHE_SEND_ERROR)
            give_up(device);
    }
    capture_until(device, t->packet_count);
    return packets;
}

/* Takes what is due from the NIC. False: nothing is. */
static bool pull(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    const oche_time now = oche_clock_now(&device->clock);

    for (unsigned i = 0; i < OCHE_DEVICE_PULL; i++)
        t->packets[i].payload = t->outgoing[i].payload;
    t->packet_count = oche_nic_transmit(device->nic, now, oche_time_add(now, device->burst),
                                        ALL_CLASSES, t->pulled, OCHE_DEVICE_PULL);
    t->captured = 0;
    for (unsigned i = 0; i < t->packet_count; i++) {
        OCHE_MUST(t->packets[i].dst < device->peers.count); /* oche_device_connect saw to it */
        write_packet(&t->packets[i], &t->outgoing[i]);
        t->outgoing[i].lost = by_chance(&device->drop_sent, device->config.drop_sent_ppm);
        device->stats.dropped_sent += t->outgoing[i].lost;
    }
    make_datagrams(device, 0);
    return t->packet_count > 0;
}

unsigned device_transmit(struct oche_device *device)
{
    unsigned packets = send_datagrams(device);

    for (unsigned pulls = 0; pulls < PULLS; pulls++) {
        if (transmit_is_full(device) || !pull(device))
            return packets;
        packets += send_datagrams(device);
    }
    return packets;
}
