/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns datagrams into packets: splits those that GRO merged, decodes each packet, verifies its
 * ICRC and gives it to the NIC. Arriving bytes are not trusted; invalid packets are counted by
 * cause and dropped.
 */
#include <string.h>

#include "core/cm/mad.h"
#include "core/wire/bytes.h"
#include "core/wire/extension.h"
#include "device/internal.h"

#define FEW_PACKETS 4  /* with at most this many, the clock need not be read again */
#define ASK_EVERY   16 /* receives between two checks for packets passed on to us */

/* The common values of a datagram's packets. */
struct arrival {
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    const struct oche_address *from;
    uint32_t peer;           /* index of the sender, or OCHE_NO_PEER */
    struct oche_ip_ids *ids; /* the sender's identifications */
    uint16_t port;
    uint8_t tos;
    bool first; /* no packet of the datagram has been handled yet */
    oche_time now;
};

static void capture(struct oche_device *device, struct arrival *arrival, const uint8_t *bytes,
                    uint32_t count, uint16_t id)
{
    if (OCHE_LIKELY(device->capture == NULL))
        return;
    oche_ip_header_set_bytes(&arrival->header, count);
    oche_ip_header_set_id(&arrival->header, id);
    oche_capture_write(device->capture, &arrival->header, bytes, count, arrival->now);
}

/*
 * Returns the identifications of a sender that is no known peer. Those of a peer serve only packets
 * for queue pairs that are connected to it, from its port: others with the peer's address could
 * come from anyone.
 */
static struct oche_ip_ids *stranger_ids(struct oche_device *device, const struct oche_address *from)
{
    struct stranger *stranger;
    uint64_t words[2];

    memcpy(words, from->ip, sizeof(words));
    stranger = &device->strangers[oche_mix64(words[0] ^ oche_mix64(words[1])) % STRANGERS];
    if (memcmp(&stranger->address, from, sizeof(*from)) != 0)
        *stranger = (struct stranger){.address = *from};
    return &stranger->ids;
}

/* True if a packet should be accepted that is valid with this identification. */
static bool believe(struct oche_device *device, const struct arrival *arrival,
                    const struct oche_packet *packet, uint16_t id) OCHE_NEEDS(device_lock)
{
    enum oche_ip_id_verdict verdict = oche_ip_id_judge(arrival->ids, id, arrival->now);

    if (OCHE_LIKELY(verdict == OCHE_IP_ID_EXPECTED))
        return true;
    if (verdict == OCHE_IP_ID_DOUBTFUL &&
        oche_ip_id_again(arrival->ids, (uint64_t)packet->dest_qpn << 24 | packet->psn))
        verdict = OCHE_IP_ID_SURPRISE;
    device->stats.unexpected_ip_ids++;
    device->stats.doubtful_ip_ids += verdict == OCHE_IP_ID_DOUBTFUL;
    return verdict == OCHE_IP_ID_SURPRISE && !device->config.strict_ip_id;
}

/*
 * Verifies the ICRC of a packet. `bytes` go from BTH to ICRC and include a trailer if there is one.
 * Sets *id to the identification that the packet must have had.
 */
static bool verify(struct oche_device *device, struct arrival *arrival,
                   const struct oche_packet *packet, const uint8_t *bytes, uint32_t count,
                   uint16_t *id) OCHE_NEEDS(device_lock)
{
    const uint32_t trailer = oche_packet_trailer_bytes(packet);
    const struct oche_span body = {.bytes = bytes, .count = count - OCHE_ICRC_BYTES - trailer};
    const uint16_t guessed = oche_ip_id_guess(arrival->ids, arrival->first);
    uint32_t difference, after;
    uint16_t change;

    oche_pseudo_set_bytes(&arrival->pseudo, count);
    oche_pseudo_set_id(&arrival->pseudo, guessed);
    difference =
        oche_icrc(device->crc32, &arrival->pseudo, &body, 1) ^ oche_icrc_get(bytes + body.count);
    *id = guessed;
    if (arrival->header.count != OCHE_IPV4_BYTES + OCHE_UDP_BYTES)
        return difference == 0;
    if (OCHE_UNLIKELY(difference != 0)) {
        after = OCHE_IPV4_BYTES - 6 + OCHE_UDP_BYTES + (uint32_t)body.count;
        if (!oche_ip_id_solve(difference, after, &change))
            return false;
        *id = guessed ^ change;
    }
    if (arrival->first)
        arrival->ids->from_zero = *id == 0;
    return believe(device, arrival, packet, *id);
}

/* The origin of a packet: its queue pair, and the verdict on the sender's port. */
struct origin {
    struct oche_qp *qp; /* the packet's, if it accepts packets from the sender, or NULL */
    struct oche_peer_ports *ports; /* its peer's; NULL: it accepts packets from any port */
    enum oche_port_kind kind;
    enum oche_port_verdict verdict;
};

struct oche_qp *device_receiver_of(struct oche_device *device, const struct oche_packet *packet)
{
    struct oche_qp *qp =
        packet->src != OCHE_NO_PEER ? oche_nic_find_qp(device->nic, packet->dest_qpn) : NULL;

    return qp != NULL && oche_qp_knows(qp, packet) ? qp : NULL;
}

static struct origin origin_of(struct oche_device *device, const struct oche_packet *packet)
    OCHE_NEEDS(device_lock)
{
    struct origin origin = {.qp = device_receiver_of(device, packet), .verdict = OCHE_PORT_PINNED};

    if (origin.qp == NULL)
        return origin;
    device_owned(origin.qp)->has_received = true;
    if (device->config.any_peer_ports || oche_qp_transport(origin.qp) == OCHE_TRANSPORT_UD)
        return origin;
    origin.ports = &device_owned(origin.qp)->ports;
    origin.kind = oche_port_kind(packet);
    origin.verdict = oche_peer_ports_judge(origin.ports, origin.kind, packet->udp_source_port);
    return origin;
}

/* A valid packet, with values that the NIC may ask for. */
struct checked {
    struct oche_packet packet;
    uint32_t count; /* bytes from BTH to ICRC */
    uint16_t id;
    bool known; /* its queue pair accepts packets from its sender */
};

/* Checks a packet and fills *checked. Returns false if it must be dropped. */
static bool check_packet(struct oche_device *device, struct arrival *arrival, const uint8_t *bytes,
                         uint32_t count, struct checked *checked) OCHE_NEEDS(device_lock)
{
    struct oche_packet *const packet = &checked->packet;
    struct origin origin = {.ports = NULL};
    enum oche_wire_error error;

    checked->id = 0;
    error = oche_decode_transport(bytes, count, packet, NULL);
    packet->src = arrival->peer;
    packet->udp_source_port = arrival->port;
    if (error == OCHE_WIRE_OK) {
        origin = origin_of(device, packet);
        arrival->ids = origin.qp != NULL && origin.verdict != OCHE_PORT_STRANGE
                           ? &device->peers.peers[arrival->peer].ids
                           : stranger_ids(device, arrival->from);
        if (!verify(device, arrival, packet, bytes, count, &checked->id))
            error = OCHE_WIRE_ICRC;
    }
    capture(device, arrival, bytes, count, checked->id);
    if (error != OCHE_WIRE_OK) {
        device->stats.wrong[error]++;
        return false;
    }
    if (OCHE_LIKELY(origin.ports != NULL) &&
        !oche_peer_ports_take(origin.ports, origin.verdict, origin.kind, origin.qp, packet,
                              arrival->now)) {
        device->stats.strange_ports++;
        return false;
    }
    packet->dst = 0;
    packet->traffic_class = arrival->tos >> CLASS_SHIFT;
    packet->ecn = arrival->tos & 3;
    packet->frame_bytes = oche_packet_frame_bytes(packet, device->socket.ipv6);
    checked->count = count;
    checked->known = origin.qp != NULL;
    return true;
}

static void give_packet(struct oche_device *device, struct arrival *arrival,
                        const struct checked *checked) OCHE_NEEDS(device_lock)
{
    const struct oche_packet *const packet = &checked->packet;
    const enum oche_service service = oche_opcode(packet->opcode)->service;

    oche_ip_header_set_bytes(&arrival->header, checked->count);
    oche_ip_header_set_id(&arrival->header, checked->id);
    device->arriving = &arrival->header;
    oche_nic_receive(device->nic, packet, arrival->now);
    if (OCHE_UNLIKELY(!checked->known)) {
        if (OCHE_UNLIKELY(packet->dest_qpn == OCHE_CM_QPN))
            device_refuse(device, arrival->from, packet, arrival->now);
        return;
    }
    if (OCHE_UNLIKELY(service == OCHE_SERVICE_UC))
        atomic_fetch_add_explicit(&device->unreliable_arrivals, 1, memory_order_relaxed);
    if (OCHE_LIKELY(service == OCHE_SERVICE_RC || service == OCHE_SERVICE_RC_EXTENDED))
        device->peers.peers[arrival->peer].shows_extensions =
            (packet->bth_reserved & OCHE_BTH_SHOWN) != 0;
}

/*
 * A GRH is the packet's IPv6 header, or has its IPv4 header in the last 20 bytes (rocev2.md#grh).
 */
void device_grh(void *context, const struct oche_packet *packet, uint8_t grh[OCHE_GRH_BYTES])
{
    const struct oche_device *device = context;
    const uint32_t bytes = device->arriving->count - OCHE_UDP_BYTES;

    (void)packet;
    memset(grh, 0, OCHE_GRH_BYTES);
    memcpy(grh + OCHE_GRH_BYTES - bytes, device->arriving->bytes, bytes);
}

static uint32_t packet_bytes(const struct oche_datagram_in *in, uint32_t at)
{
    return in->count - at < in->segment_bytes ? in->count - at : in->segment_bytes;
}

/*
 * Forwards a connection manager's packet for another process. Returns its bytes, or 0 if the packet
 * is ours, or has no process: then nobody has a queue pair 1 (refuse.c).
 */
static uint32_t forward_management(struct oche_device *device, const struct oche_datagram_in *in,
                                   const uint8_t *bytes, uint32_t count, oche_time now)
    OCHE_NEEDS(device_lock)
{
    bool asks;
    const unsigned slot =
        oche_management_slot(&device->services, &device->share, bytes, count, &asks);

    if (slot == device->share.slot)
        return 0;
    switch (oche_sharing_forward_to(&device->share, slot, in, bytes, count, now)) {
    case OCHE_SHARING_DONE:
        device->stats.passed_on++;
        return count;
    case OCHE_SHARING_LOST:
        device->stats.pass_lost++;
        return count;
    default: /* a process that we do not know yet, or that has ended */
        device->stats.pass_lost += asks;
        return asks ? count : 0;
    }
}

/*
 * If the packet at `at` belongs to another process, forwards it and the packets for the same
 * process that follow. Returns the number of bytes forwarded; 0 if the packet is ours, or has no
 * process, which the NIC will notice.
 */
static uint32_t forward_foreign(struct oche_device *device, const struct oche_datagram_in *in,
                                uint32_t at, oche_time now) OCHE_NEEDS(device_lock)
{
    const uint8_t *first = in->bytes + at;
    uint32_t count = 0, packets = 0;

    if (in->passed_on)
        return 0;
    if (OCHE_UNLIKELY(oche_management_is(first, packet_bytes(in, at))))
        return forward_management(device, in, first, packet_bytes(in, at), now);
    if (!oche_sharing_is_foreign(&device->share, first, packet_bytes(in, at)))
        return 0;
    while (at + count < in->count) {
        const uint32_t next = packet_bytes(in, at + count);

        if (next < OCHE_STEERED_BYTES ||
            oche_sharing_slot(first + count) != oche_sharing_slot(first) ||
            oche_management_is(first + count, next))
            break;
        count += next;
        packets++;
    }
    switch (oche_sharing_forward(&device->share, in, first, count, now)) {
    case OCHE_SHARING_DONE:
        device->stats.passed_on += packets;
        return count;
    case OCHE_SHARING_LOST:
        device->stats.pass_lost += packets;
        return count;
    default:
        return 0;
    }
}

/*
 * True if the packet at `at` is the last one of its datagram, and an ACK for the queue pair of the
 * longer packet before it, `packet`. The sender put it there only to share the datagram
 * (transmit.c). So the NIC gets the ACK first: a program learns that its SEND was delivered before
 * it gets the answer. An ACK behind READ data stays there: ahead of it, the data would look lost.
 */
static bool ack_was_first(const struct oche_datagram_in *in, uint32_t at,
                          const struct checked *checked)
{
    const uint8_t *const bytes = in->bytes + at;
    const uint32_t count = in->count - at;

    if (at >= in->count || count >= checked->count || count < OCHE_BTH_BYTES ||
        oche_opcode_has(checked->packet.opcode, OCHE_OP_RESPONSE))
        return false;
    return oche_opcode_has(bytes[0], OCHE_OP_RESPONSE) &&
           !oche_opcode_has(bytes[0], OCHE_OP_PAYLOAD) &&
           oche_get24(bytes + 5) == checked->packet.dest_qpn;
}

unsigned device_take(struct oche_device *device, const struct oche_datagram_in *in, oche_time now)
{
    struct arrival arrival = {.from = &in->from,
                              .peer = oche_peers_find(&device->peers, &in->from),
                              .port = in->from_port,
                              .tos = in->tos,
                              .first = !in->continues,
                              .now = now};
    struct checked checked, before;
    bool waits = false; /* `before` waits until the ACK behind it has been given to the NIC */
    unsigned packets = 0;
    uint32_t at = 0, count;

    if (device->share.fd >= 0 && !in->from_link && oche_sharing_take_probe(&device->share, in))
        return 0;
    device->stats.received_datagrams += !in->from_link;
    if (arrival.peer != OCHE_NO_PEER &&
        OCHE_UNLIKELY(!device->peers.peers[arrival.peer].has_sent)) {
        device->peers.peers[arrival.peer].has_sent = true;
        oche_seen_addresses_add(&device->seen, &in->from);
    }
    device->stats.strangers += arrival.peer == OCHE_NO_PEER && !in->from_link;
    oche_ip_header_make(&arrival.header, &in->from, &device->address, in->from_port, device->port,
                        in->tos);
    oche_pseudo_from_bytes(&arrival.pseudo, arrival.header.bytes);
    if (in->truncated || in->count == 0) {
        device->stats.received_packets++;
        device->stats.received_bytes += in->count;
        device->stats.wrong[OCHE_WIRE_TRUNCATED]++;
        return 1;
    }
    for (; at < in->count; at += count, packets++) {
        if (OCHE_UNLIKELY(device->share.fd >= 0) && !in->from_link &&
            (count = forward_foreign(device, in, at, now)) > 0)
            continue;
        count = packet_bytes(in, at);
        if (OCHE_UNLIKELY(device->links != NULL) && !in->from_link &&
            device_link_receive(device, in, in->bytes + at, count, at == 0, now))
            continue;
        if (OCHE_UNLIKELY(device->scripted != NULL) && !in->from_events &&
            device_event_receive(device, in, in->bytes + at, count, arrival.first, now)) {
            arrival.first = false;
            continue;
        }
        device->stats.received_packets++;
        device->stats.received_bytes += count;
        device->stats.taken_over += in->passed_on;
        if (check_packet(device, &arrival, in->bytes + at, count, &checked)) {
            if (OCHE_UNLIKELY(ack_was_first(in, at + count, &checked))) {
                before = checked;
                waits = true;
            } else {
                give_packet(device, &arrival, &checked);
            }
        }
        arrival.first = false;
    }
    if (OCHE_UNLIKELY(waits))
        give_packet(device, &arrival, &before);
    return packets;
}

/*
 * Receives packets from other processes. Checks for them at every ASK_EVERY-th call, or if
 * share_waiting is set: they are rare, and a check is a system call.
 */
static unsigned receive_shared(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock)
{
    struct oche_datagram_in in;
    unsigned packets = 0;

    if (++device->quiet_receives < ASK_EVERY &&
        !atomic_load_explicit(&device->share_waiting, memory_order_relaxed))
        return 0;
    atomic_store_explicit(&device->share_waiting, false, memory_order_relaxed);
    device->quiet_receives = 0;
    for (unsigned i = 0; i < OCHE_SOCKET_IN && oche_sharing_receive(&device->share, &in, now);
         i++) {
        device->quiet_receives = ASK_EVERY; /* more may follow */
        packets += device_take(device, &in, now);
    }
    return packets;
}

unsigned device_receive(struct oche_device *device, oche_time *now)
{
    const unsigned datagrams = oche_socket_receive(&device->socket, device->received);
    unsigned packets = 0;

    device->full_receives = datagrams == OCHE_SOCKET_IN ? device->full_receives + 1 : 0;
    *now = oche_clock_now(&device->clock);
    for (unsigned i = 0; i < datagrams; i++)
        packets += device_take(device, &device->received[i], *now);
    if (device->share.fd >= 0) {
        packets += receive_shared(device, *now);
        if (OCHE_UNLIKELY(oche_sharing_has_queued(&device->share)))
            oche_sharing_retry_queued(&device->share);
    }
    if (OCHE_UNLIKELY(device->links != NULL || device->scripted != NULL))
        packets += device_faults_receive(device, *now);
    if (OCHE_UNLIKELY(device->first_full != NULL))
        device_reorder_grow(device);
    if (packets > FEW_PACKETS)
        *now = oche_clock_now(&device->clock);
    return packets;
}
