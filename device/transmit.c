/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns packets into datagrams. The NIC gives everything that is due within one burst. Consecutive
 * packets to the same peer, with the same ToS byte and of equal size (the last one may be shorter),
 * share a datagram, which the kernel or the link's hardware splits again. FIRST packets are longer
 * by their RETH or AETH, so they go alone. Segment k of a datagram has the IP identification k, and
 * a packet that goes alone has 0. The ICRC covers the identification, so it is computed last.
 *
 * A datagram, and also a system call, has one source port (source_ports.h). So the pulled packets
 * are first sorted by port, into one lane per port. Packets of one queue pair to one peer are in
 * the same lane, in the order of the pull. Lanes are in the order of their first packets, so that
 * ACKs, which are pulled first, are not delayed much.
 *
 * When a socket's buffer is full, its lane waits and the other lanes continue. The next pull waits
 * until everything has been sent. So the backlog stays in the NIC, where pacing and retransmission
 * take account of it.
 *
 * But a socket may stay full for seconds: for hosts of the link that do not answer, the kernel
 * keeps packets while it resolves their addresses. Other peers must not wait as long. So if a
 * socket has sent nothing for STUCK, its packets are dropped, as in a network, until it can send
 * again.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/extension.h"
#include "core/wire/frame.h"
#include "device/host/pages.h"
#include "device/internal.h"

/* Room before each payload, in whole cache lines. */
#define HEADROOM ((OCHE_MAX_HEADER_BYTES + OCHE_CACHE_LINE - 1) / OCHE_CACHE_LINE * OCHE_CACHE_LINE)
#define TAILROOM 8 /* pad and ICRC need 7 */

#define PULLS      2              /* most pulls in a row before looking for arrivals again */
#define LOOK_AGAIN (50 * OCHE_US) /* sleepers wake up this long after held ACKs are due */

/*
 * A line of 10 Mbit/s sends a datagram of each of four sockets in this time. A peer with the usual
 * ACK timeout of 67 ms and seven retries waits more than twice as long.
 */
#define STUCK (250 * OCHE_MS)

/*
 * The number of packets in one request to the NIC. The NIC is asked again while the pulled packets
 * have no more than STEP_BYTES bytes. With more bytes, large packets would leave the cache before
 * they are sent; small packets can fill datagrams even with several ports.
 */
#define STEP       64
#define STEP_BYTES (UINT32_C(128) << 10)

static size_t stride_of(const struct oche_device *device)
{
    return oche_lines(HEADROOM + device->config.mtu_bytes + TAILROOM);
}

bool transmit_create(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    const size_t stride = stride_of(device);

    t->packets = aligned_alloc(OCHE_CACHE_LINE, OCHE_DEVICE_PULL * sizeof(t->packets[0]));
    t->memory = oche_pages_take(OCHE_DEVICE_PULL * stride);
    if (t->packets == NULL || t->memory == NULL)
        return false;
    memset(t->packets, 0, OCHE_DEVICE_PULL * sizeof(t->packets[0]));
    for (unsigned i = 0; i < OCHE_DEVICE_PULL; i++) {
        t->pulled[i] = &t->packets[i];
        t->outgoing[i].payload = t->packets[i].payload = t->memory + i * stride + HEADROOM;
    }
    return true;
}

void transmit_destroy(struct oche_device *device)
{
    free(device->transmitter.packets);
    oche_pages_free(device->transmitter.memory, OCHE_DEVICE_PULL * stride_of(device));
}

uint64_t transmit_full(const struct oche_device *device)
{
    return device->transmitter.full;
}

oche_time transmit_give_up_at(const struct oche_device *device)
{
    const struct transmitter *t = &device->transmitter;
    oche_time end = OCHE_NEVER;

    for (unsigned port = 0; port < device->source_ports.count; port++)
        if (t->full >> port & 1)
            end = oche_time_min(end, t->full_since[port] + STUCK);
    return end;
}

bool transmit_has_packets_for(const void *device, uint32_t index)
{
    const struct transmitter *t = &((const struct oche_device *)device)->transmitter;

    for (unsigned i = 0; t->lane_count > 0 && i < t->packet_count; i++)
        if (t->packets[i].dst == index)
            return true;
    return false;
}

static bool is_ack(const struct oche_packet *packet)
{
    return packet->traffic_class == CONTROL_CLASS && packet->opcode != OCHE_CNP &&
           !oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD);
}

static uint8_t tos_of(const struct oche_device *device, const struct oche_packet *packet)
{
    const bool ack = is_ack(packet);
    const uint32_t asked = packet->opcode == OCHE_CNP || (ack && device->config.ack_priority)
                               ? 0
                               : packet->tag & DSCP_MASK;

    /* by default ACKs have the DSCP of data, to share datagrams with it */
    if (asked == 0 && ack && !device->config.ack_priority)
        return packet->ecn;
    return (uint8_t)((asked != 0 ? asked : (uint32_t)packet->traffic_class << CLASS_SHIFT) |
                     packet->ecn);
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

/* Returns how many packets of the lane, from place `first` on, can share a datagram. */
static unsigned sharing(const struct oche_device *device, const struct lane *lane, unsigned first)
    OCHE_NEEDS(device_lock)
{
    const struct transmitter *t = &device->transmitter;
    const struct oche_packet *one = &t->packets[t->order[first]];
    const uint32_t count = t->outgoing[t->order[first]].count;
    uint32_t bytes = count;
    unsigned end = first + 1;

    if (!device->socket.gso || device->peers.peers[one->dst].no_gso ||
        t->outgoing[t->order[first]].lost)
        return 1;
    while (end < lane->end && end - first < OCHE_SOCKET_SEGMENTS) {
        const struct outgoing *next = &t->outgoing[t->order[end]];
        const struct oche_packet *packet = &t->packets[t->order[end]];

        bytes += next->count;
        /* If processes share an address, a datagram goes to the process of its first packet. */
        if ((packet->dest_qpn ^ one->dest_qpn) >> OCHE_SLOT_SHIFT != 0)
            break;
        if (packet->dst != one->dst || tos_of(device, packet) != tos_of(device, one) ||
            next->lost || next->count > count || bytes > OCHE_SOCKET_BYTES)
            break;
        end++;
        if (next->count < count)
            break;
    }
    return end - first;
}

/* Sets the identification of a packet, and the ICRC, which covers it. */
static void finish_packet(struct oche_device *device, struct outgoing *out,
                          struct oche_pseudo *pseudo, uint16_t id)
{
    const struct oche_span body = {.bytes = out->bytes, .count = out->count - OCHE_ICRC_BYTES};

    out->id = id;
    oche_pseudo_set_bytes(pseudo, out->count);
    oche_pseudo_set_id(pseudo, id);
    oche_icrc_put(out->bytes + body.count, oche_icrc(device->crc32, pseudo, &body, 1));
}

static void make_header(const struct oche_device *device, unsigned index,
                        struct oche_ip_header *header) OCHE_NEEDS(device_lock)
{
    const struct oche_packet *packet = &device->transmitter.packets[index];

    oche_ip_header_make(header, &device->address, &device->peers.peers[packet->dst].address,
                        device->source_ports.ports[device->transmitter.outgoing[index].port],
                        device->port, tos_of(device, packet));
}

/* Puts a complete packet on its link, once: datagrams may be made again. */
static void put_on_link(struct oche_device *device, unsigned index) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    struct outgoing *out = &t->outgoing[index];

    if (!out->on_link)
        return;
    out->on_link = false;
    device_link_send(device, &device->peers.peers[t->packets[index].dst].address, out->port,
                     out->bytes, out->count, tos_of(device, &t->packets[index]), t->pulled_at);
}

/* Makes one datagram of `count` packets of the lane from place `first` on. */
static void make_datagram(struct oche_device *device, struct lane *lane, unsigned first,
                          unsigned count) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    const unsigned index = t->order[first];
    const struct oche_packet *packet = &t->packets[index];
    const struct oche_peer *peer = &device->peers.peers[packet->dst];
    struct oche_ip_header header;
    struct oche_pseudo pseudo;

    make_header(device, index, &header);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    for (unsigned i = 0; i < count; i++) {
        struct outgoing *out = &t->outgoing[t->order[first + i]];

        finish_packet(device, out, &pseudo, (uint16_t)i);
        t->pieces[first + i] = (struct iovec){.iov_base = out->bytes, .iov_len = out->count};
    }
    if (t->outgoing[index].lost) {
        put_on_link(device, index);
        return;
    }
    t->first_of[lane->datagrams_end] = (uint8_t)first;
    t->datagrams[lane->datagrams_end++] = (struct oche_datagram_out){
        .to = &peer->socket_address,
        .to_bytes = peer->socket_address_bytes,
        .pieces = &t->pieces[first],
        .piece_count = count,
        .segment_bytes = (uint16_t)(count > 1 ? t->outgoing[index].count : 0),
        .tos = tos_of(device, packet),
    };
}

/* Makes the datagrams of all packets of the lane from place `first` on. */
static void make_datagrams(struct oche_device *device, struct lane *lane, unsigned first)
    OCHE_NEEDS(device_lock)
{
    lane->datagrams_end = lane->unsent = lane->first;
    while (first < lane->end) {
        const unsigned count = sharing(device, lane, first);

        make_datagram(device, lane, first, count);
        first += count;
    }
}

/* ---- lanes ---- */

/* Sorts the pulled packets by source port. */
static void make_lanes(struct oche_device *device)
{
    struct transmitter *t = &device->transmitter;
    uint8_t lane_of[OCHE_MAX_SOURCE_PORTS];
    unsigned place = 0;

    memset(lane_of, UINT8_MAX, device->source_ports.count);
    t->lane_count = 0;
    for (unsigned i = 0; i < t->packet_count; i++) {
        const uint8_t port = t->outgoing[i].port;

        if (lane_of[port] == UINT8_MAX) {
            lane_of[port] = (uint8_t)t->lane_count;
            t->lanes[t->lane_count++] = (struct lane){.port = port};
        }
        t->lanes[lane_of[port]].end++; /* at first, `end` is the number of the lane's packets */
    }
    for (unsigned i = 0; i < t->lane_count; i++) {
        struct lane *lane = &t->lanes[i];
        const unsigned count = lane->end;

        lane->first = lane->captured = lane->end = place;
        place += count;
    }
    for (unsigned i = 0; i < t->packet_count; i++)
        t->order[t->lanes[lane_of[t->outgoing[i].port]].end++] = (uint8_t)i;
}

/* Captures all packets of the lane before place `end` that were not captured yet. */
static void capture_until(struct oche_device *device, struct lane *lane, unsigned end)
    OCHE_NEEDS(device_lock)
{
    const struct transmitter *t = &device->transmitter;
    oche_time now;

    if (OCHE_LIKELY(device->capture == NULL) || lane->captured >= end)
        return;
    now = oche_clock_now(&device->clock);
    for (; lane->captured < end; lane->captured++) {
        const struct outgoing *out = &t->outgoing[t->order[lane->captured]];
        struct oche_ip_header header;

        make_header(device, t->order[lane->captured], &header);
        oche_ip_header_set_bytes(&header, out->count);
        oche_ip_header_set_id(&header, out->id);
        oche_capture_write(device->capture, &header, out->bytes, out->count, now);
    }
}

/* Returns the bytes of a datagram's packets. All have the same length but the last. */
static uint64_t bytes_of(const struct oche_datagram_out *datagram)
{
    const uint32_t before = datagram->piece_count - 1;

    return (uint64_t)before * datagram->segment_bytes + datagram->pieces[before].iov_len;
}

/*
 * Notes that `count` more datagrams of the lane were sent. Returns how many packets were in them.
 */
static unsigned note_sent(struct oche_device *device, struct lane *lane, unsigned count)
    OCHE_NEEDS(device_lock)
{
    const struct transmitter *t = &device->transmitter;
    unsigned packets = 0;

    for (unsigned i = 0; i < count; i++, lane->unsent++) {
        packets += t->datagrams[lane->unsent].piece_count;
        device->stats.sent_bytes += bytes_of(&t->datagrams[lane->unsent]);
        capture_until(device, lane,
                      t->first_of[lane->unsent] + t->datagrams[lane->unsent].piece_count);
    }
    device->stats.sent_datagrams += count;
    device->stats.sent_packets += packets;
    return packets;
}

/* Skips the lane's next datagram, which cannot be sent, as if the network had lost it. */
static void give_up(struct oche_device *device, struct lane *lane) OCHE_NEEDS(device_lock)
{
    const struct transmitter *t = &device->transmitter;
    const unsigned count = t->datagrams[lane->unsent].piece_count;

    device->stats.send_errors += count;
    lane->captured = t->first_of[lane->unsent] + count;
    lane->unsent++;
}

/*
 * The lane's next datagram is larger than the route's MTU. Skips it, and reports it once for each
 * peer. Some kernels give the error for missing segmentation instead if there are several such
 * packets, so the peer may keep segmentation.
 */
static void too_large(struct oche_device *device, struct lane *lane) OCHE_NEEDS(device_lock)
{
    const struct transmitter *t = &device->transmitter;
    const unsigned index = t->order[t->first_of[lane->unsent]];
    struct oche_peer *peer = &device->peers.peers[t->packets[index].dst];
    struct oche_ip_header header;

    give_up(device, lane);
    peer->no_gso = false;
    if (peer->too_large)
        return;
    peer->too_large = true;
    make_header(device, index, &header);
    if (device->config.too_large != NULL)
        device->config.too_large(device->config.context, &peer->address,
                                 header.count + t->outgoing[index].count);
}

/*
 * Rebuilds the lane's unsent datagrams after the first of them was refused because it needs
 * segmentation offload. From now on each datagram to that peer holds one packet.
 */
static void break_up(struct oche_device *device, struct lane *lane) OCHE_NEEDS(device_lock)
{
    const struct transmitter *t = &device->transmitter;
    const unsigned first = t->first_of[lane->unsent];
    struct oche_peer *peer = &device->peers.peers[t->packets[t->order[first]].dst];

    /* counted only once per peer; another lane may have done so */
    device->stats.gso_refused += !peer->no_gso;
    peer->no_gso = true;
    make_datagrams(device, lane, first);
}

/* Counts the lane's waiting packets, each once, also after several attempts. */
static void count_waiting(struct oche_device *device, struct lane *lane) OCHE_NEEDS(device_lock)
{
    const unsigned first = device->transmitter.first_of[lane->unsent];

    device->stats.send_full += lane->end - (first > lane->waited ? first : lane->waited);
    lane->waited = lane->end;
}

/*
 * Notes that the lane's socket is full. Returns true if it has been full for STUCK; the lane's
 * packets are then dropped.
 */
static bool is_stuck(struct oche_device *device, struct lane *lane) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    const oche_time now = oche_clock_now(&device->clock);

    count_waiting(device, lane);
    if (t->full_since[lane->port] == 0)
        t->full_since[lane->port] = now;
    if (now - t->full_since[lane->port] < STUCK)
        return false;
    while (lane->unsent < lane->datagrams_end)
        give_up(device, lane);
    return true;
}

/* Sends the rest of the lane. Returns how many packets were sent. */
static unsigned send_lane(struct oche_device *device, struct lane *lane) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    unsigned packets = 0, sent;

    while (lane->unsent < lane->datagrams_end) {
        const unsigned left = lane->datagrams_end - lane->unsent;
        const enum oche_send_result result = oche_socket_send(
            &device->socket, device->source_ports.fds[lane->port], &t->datagrams[lane->unsent],
            left < OCHE_SOCKET_OUT ? left : OCHE_SOCKET_OUT, &sent);

        packets += note_sent(device, lane, sent);
        if (sent > 0)
            t->full_since[lane->port] = 0;
        if (result == OCHE_SEND_FULL && !is_stuck(device, lane)) {
            t->full |= UINT64_C(1) << lane->port;
            return packets;
        }
        if (result == OCHE_SEND_NO_GSO)
            break_up(device, lane);
        if (result == OCHE_SEND_TOO_LARGE)
            too_large(device, lane);
        if (result == OCHE_SEND_ERROR)
            give_up(device, lane);
    }
    capture_until(device, lane, lane->end);
    return packets;
}

/* Sends the pulled packets that have not been sent yet. Returns how many were sent. */
static unsigned send_lanes(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    unsigned packets = 0;

    t->full = 0;
    for (unsigned i = 0; i < t->lane_count; i++)
        packets += send_lane(device, &t->lanes[i]);
    if (t->full == 0)
        t->lane_count = 0;
    return packets;
}

/* ---- ACKs that wait for data (ack_delay.h) ---- */

static bool only_control_waits(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    return oche_nic_next(device->nic, CONTROL_MASK) == 0 &&
           oche_nic_next(device->nic, ALL_CLASSES & ~CONTROL_MASK) != 0;
}

/* Returns the NIC's next time to send, or when the line is free again. */
static oche_time line_due(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    const oche_time all = oche_nic_next(device->nic, ALL_CLASSES);

    if (!device->paces || all >= device->line_free)
        return all;
    return oche_time_min(oche_nic_next(device->nic, CONTROL_MASK),
                         oche_time_max(all, device->line_free > device->burst
                                                ? device->line_free - device->burst
                                                : 0));
}

oche_time transmit_due(struct oche_device *device)
{
    if (device->ack_delay.until != 0 && only_control_waits(device))
        return oche_time_min(device->ack_delay.until + LOOK_AGAIN,
                             oche_nic_next(device->nic, ALL_CLASSES & ~CONTROL_MASK));
    return line_due(device);
}

/*
 * True if an ACK behind data can share its datagram, and the peer still handles the ACK first
 * (receive.c). A peer whose kernel splits the datagram would handle it later; we assume that its
 * kernel is like ours.
 */
static bool may_follow(const struct oche_device *device, const struct oche_peer *peer)
{
    return device->socket.gso && device->socket.gro && !peer->no_gso && oche_peer_is_ours(peer);
}

/*
 * The NIC gives ACKs first. If the last of these ACKs and the next data packet are for the same
 * queue pair, swaps them if they can then share a datagram, whose last packet may be shorter. They
 * then arrive together. Otherwise the ACK stays first: a program must learn that its request was
 * delivered before it gets the answer.
 */
static void put_data_first(struct oche_device *device, const struct lane *lane)
    OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    unsigned data = lane->first;
    uint8_t ack;

    while (data < lane->end && is_ack(&t->packets[t->order[data]]))
        data++;
    if (data == lane->first || data == lane->end)
        return;
    ack = t->order[data - 1];
    if (t->packets[ack].dest_qpn != t->packets[t->order[data]].dest_qpn ||
        t->packets[ack].dst != t->packets[t->order[data]].dst ||
        t->outgoing[ack].count >= t->outgoing[t->order[data]].count)
        return;
    if (!may_follow(device, &device->peers.peers[t->packets[ack].dst]))
        return;
    t->order[data - 1] = t->order[data];
    t->order[data] = ack;
}

/* ---- the line ---- */

/* Bytes that may leave at once when the line is free, and that may be made up for after a delay. */
#define LINE_QUANTUM UINT64_C(16384)
#define LINE_CREDIT  UINT64_C(16384)

/*
 * Returns the number of packets that the line has room for; 0 if earlier packets will occupy it
 * until after the burst. The port paces queue pairs that have no limit of their own: the kernel and
 * the wire may accept far more at once than the path carries.
 */
static unsigned line_room(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock)
{
    const uint64_t bps = device->config.line_rate_bps;
    const oche_time credit = oche_time_of_bytes(LINE_CREDIT, bps);
    const oche_time end = now + device->burst;

    if (device->line_free > end)
        return 0;
    if (now > credit && device->line_free < now - credit)
        device->line_free = now - credit;
    return 1 + (unsigned)((oche_bytes_in_time(end - device->line_free, bps) + LINE_QUANTUM) /
                          device->config.mtu_bytes);
}

/* Returns how many packets may be pulled at once. `classes` becomes the mask of those that may. */
static unsigned may_pull(struct oche_device *device, oche_time now, uint8_t *classes)
    OCHE_NEEDS(device_lock)
{
    const unsigned room = device->paces ? line_room(device, now) : STEP;

    *classes = room > 0 ? ALL_CLASSES : CONTROL_MASK;
    return room > 0 && room < STEP ? room : STEP;
}

static void line_takes(struct oche_device *device, const struct oche_packet *packet)
    OCHE_NEEDS(device_lock)
{
    device->line_free += oche_time_of_bytes((uint64_t)packet->frame_bytes + OCHE_GAP_BYTES,
                                            device->config.line_rate_bps);
}

/* ---- sending ---- */

/* Fills `packets` with the packets that are due. Returns how many there are. */
static unsigned pull_packets(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    const oche_time due_by = oche_time_add(now, device->burst);
    unsigned count = 0, more, step;
    uint32_t bytes = 0;
    uint8_t classes;

    /* restore the buffers that the last pull used */
    for (unsigned i = 0; i < t->packet_count; i++)
        t->packets[i].payload = t->outgoing[i].payload;
    do {
        step = may_pull(device, now, &classes);
        more = oche_nic_transmit(device->nic, now, due_by, classes, t->pulled + count, step);
        for (unsigned i = count; i < count + more; i++) {
            bytes += t->packets[i].payload_bytes;
            if (device->paces)
                line_takes(device, &t->packets[i]);
        }
        count += more;
    } while (more == step && count + STEP <= OCHE_DEVICE_PULL && bytes <= STEP_BYTES);
    return count;
}

/* True if the packet goes over a link with faults: then it is not sent from here. */
static bool has_link(const struct oche_device *device, unsigned index) OCHE_NEEDS(device_lock)
{
    const struct oche_peer *peer = &device->peers.peers[device->transmitter.packets[index].dst];

    return oche_links_find(device->links, OCHE_LINK_OUT, &peer->address) != OCHE_NO_LINK;
}

/*
 * Pulls the packets that are due from the NIC. Returns false if there are none, or only ACKs that
 * should wait.
 */
static bool pull(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock)
{
    struct transmitter *t = &device->transmitter;
    bool data = false, unreliable = false;

    device->unreadable = false;
    if (oche_ack_delay_may_wait(&device->ack_delay) && only_control_waits(device) &&
        oche_ack_delay_waits(&device->ack_delay, now))
        return false;
    t->pulled_at = now;
    t->packet_count = pull_packets(device, now);
    for (unsigned i = 0; i < t->packet_count; i++) {
        /* an index that was in use once has an address, if only of a former peer */
        OCHE_MUST(t->packets[i].dst < device->peers.count);
        write_packet(&t->packets[i], &t->outgoing[i]);
        t->outgoing[i].port =
            (uint8_t)oche_source_ports_choose(&device->source_ports, t->packets[i].udp_source_port);
        unreliable |= oche_opcode(t->packets[i].opcode)->service == OCHE_SERVICE_UC;
        data |= !is_ack(&t->packets[i]) && t->packets[i].opcode != OCHE_CNP;
        t->outgoing[i].lost = OCHE_UNLIKELY(device->unreadable) && t->packets[i].payload_bytes > 0;
        t->outgoing[i].on_link = false;
        if (OCHE_UNLIKELY(device->links != NULL) && !t->outgoing[i].lost)
            t->outgoing[i].lost = t->outgoing[i].on_link = has_link(device, i);
    }
    if (data)
        oche_ack_delay_data_sent(&device->ack_delay, now);
    if (OCHE_UNLIKELY(unreliable))
        atomic_store_explicit(
            &device->unreliable_at_send,
            atomic_load_explicit(&device->unreliable_arrivals, memory_order_relaxed),
            memory_order_release);
    make_lanes(device);
    for (unsigned i = 0; i < t->lane_count; i++) {
        if (OCHE_LIKELY(device->links == NULL)) /* over a link nothing shares a datagram */
            put_data_first(device, &t->lanes[i]);
        make_datagrams(device, &t->lanes[i], t->lanes[i].first);
    }
    return t->packet_count > 0;
}

unsigned device_transmit(struct oche_device *device, oche_time now)
{
    unsigned packets = send_lanes(device);

    if (OCHE_UNLIKELY(device->links != NULL))
        packets += device_links_transmit(device);
    for (unsigned pulls = 0; pulls < PULLS; pulls++) {
        if (transmit_full(device) != 0 || !pull(device, now))
            return packets;
        packets += send_lanes(device);
        if (OCHE_UNLIKELY(device->links != NULL))
            packets += device_links_transmit(device);
        now = oche_clock_now(&device->clock);
    }
    return packets;
}

void oche_device_send_acks(struct oche_device *device)
{
    if (device->ack_delay.until == 0)
        return;
    oche_ack_delay_end(&device->ack_delay, device->ack_delay.off);
    device_transmit(device, oche_clock_now(&device->clock));
}
