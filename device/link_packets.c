/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that go over links with faults (link/links.h). A packet that leaves is complete, with its
 * ICRC, when it is put on its link, and leaves in a datagram of its own when it has crossed it. A
 * packet that arrives crosses its link before anything looks at it.
 */
#include <stdio.h>
#include <string.h>

#include "device/internal.h"

#define ETHERNET_BYTES 18 /* header and FCS */
/* bytes of a frame besides those from BTH to ICRC */
#define FRAME_BYTES(ipv6)                                                                          \
    ((uint32_t)(ETHERNET_BYTES + ((ipv6) ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) + OCHE_UDP_BYTES))
#define TAILROOM   8              /* pad and ICRC need 7 */
#define FULL_RETRY (50 * OCHE_US) /* after a socket was full */

/* Writes the beginning of the paths of ports that the processes of the address share. */
static const char *shared_path(const struct oche_device *device, char *path, size_t bytes)
    OCHE_NEEDS(device_lock)
{
    const char *const names = device->share.names.path, *const name = strrchr(names, '/');

    if (!device->config.share || device->share.fd < 0 || name == NULL ||
        (size_t)snprintf(path, bytes, "%.*s/" OCHE_SHARED_PORT_NAME "%s", (int)(name - names),
                         names, strchr(name, '-') != NULL ? strchr(name, '-') + 1 : "") >= bytes)
        return NULL;
    return path;
}

/* Opens the links, with the rules of the plan; NULL: with none. */
static bool open_links(struct oche_device *device, const struct oche_link_plan *plan,
                       struct oche_error *error) OCHE_NEEDS(device_lock)
{
    char path[OCHE_SHARED_PORT_PATH];

    device->links = oche_links_open(
        &(struct oche_links_config){
            .plan = plan,
            .clock = &device->clock,
            .seed =
                device->config.seed != 0 ? device->config.seed : oche_entropy_u64(&device->entropy),
            .packet_bytes = OCHE_MAX_HEADER_BYTES + device->config.mtu_bytes + TAILROOM,
            .path = shared_path(device, path, sizeof(path))},
        error);
    return device->links != NULL;
}

bool device_links_open(struct oche_device *device, struct oche_error *error)
{
    const struct oche_link_plan *plan = device->config.links;

    device->config.links = NULL; /* the caller's */
    return plan == NULL || plan->rule_count == 0 || open_links(device, plan, error);
}

bool oche_device_change_links(struct oche_device *device, uint8_t directions,
                              const struct oche_address *peer, const char *text, oche_time lasts,
                              struct oche_error *error)
{
    bool changed;
    oche_time now;

    oche_device_lock(device);
    now = oche_clock_now(&device->clock);
    changed = (device->links != NULL || open_links(device, NULL, error)) &&
              oche_links_change(device->links, directions, peer, text, now,
                                oche_time_add(now, lasts), error);
    oche_device_unlock(device);
    return changed;
}

bool oche_device_cut_links(struct oche_device *device, bool cut, struct oche_error *error)
{
    bool done = true;

    oche_device_lock(device);
    if (device->links != NULL || cut)
        done = (device->links != NULL || open_links(device, NULL, error)) &&
               (oche_links_cut(device->links, cut) ||
                oche_fail(error, "no room for another link: a device has at most %d rules",
                          OCHE_LINK_RULES));
    oche_device_unlock(device);
    return done;
}

OCHE_UNCHECKED bool oche_device_links_report_now(const struct oche_device *device,
                                                 struct oche_links_report *report)
{
    if (device->links == NULL)
        return false;
    *report = oche_links_report(device->links);
    return true;
}

void oche_device_restore_links(struct oche_device *device)
{
    oche_device_lock(device);
    if (device->links != NULL)
        oche_links_restore(device->links, oche_clock_now(&device->clock));
    oche_device_unlock(device);
}

void oche_device_list_links(struct oche_device *device, char *text, size_t bytes)
{
    text[0] = '\0';
    oche_device_lock(device);
    if (device->links != NULL)
        oche_links_list(device->links, oche_clock_now(&device->clock), text, bytes);
    oche_device_unlock(device);
}

oche_time device_links_next(const struct oche_device *device)
{
    return oche_time_min(oche_links_next(device->links, OCHE_LINK_IN),
                         oche_links_next(device->links, OCHE_LINK_OUT));
}

/* ---- packets that leave ---- */

static uint32_t frame_bytes_of(const struct oche_device *device, uint32_t count)
{
    const uint32_t bytes = FRAME_BYTES(device->socket.ipv6) + count;

    return bytes > OCHE_MIN_FRAME_BYTES ? bytes : OCHE_MIN_FRAME_BYTES;
}

bool device_link_send(struct oche_device *device, const struct oche_address *to, unsigned port,
                      const uint8_t *bytes, uint32_t count, uint8_t tos, oche_time now)
{
    const int link = oche_links_find(device->links, OCHE_LINK_OUT, to);
    struct oche_parcel *parcel;

    if (link == OCHE_NO_LINK)
        return false;
    parcel =
        oche_links_send(device->links, link, now, bytes, count, frame_bytes_of(device, count), tos);
    if (parcel != NULL) {
        parcel->peer = *to;
        parcel->port = (uint16_t)port;
    }
    return true;
}

/* Datagrams that leave together from one source port. */
struct batch {
    struct oche_parcel *parcels[OCHE_SOCKET_OUT];
    struct sockaddr_storage to[OCHE_SOCKET_OUT];
    struct iovec pieces[OCHE_SOCKET_OUT];
    struct oche_datagram_out datagrams[OCHE_SOCKET_OUT];
    unsigned count;
};

static void add(const struct oche_device *device, struct batch *batch, struct oche_parcel *parcel)
{
    const unsigned i = batch->count++;

    batch->parcels[i] = parcel;
    batch->pieces[i] = (struct iovec){.iov_base = parcel->bytes, .iov_len = parcel->count};
    batch->datagrams[i] = (struct oche_datagram_out){
        .to = &batch->to[i],
        .to_bytes = oche_address_to_socket(&parcel->peer, device->port, &batch->to[i]),
        .pieces = &batch->pieces[i],
        .piece_count = 1,
        .tos = parcel->tos};
}

/* A packet is larger than the route's MTU: reports it, once for each peer. */
static void too_large(struct oche_device *device, const struct oche_parcel *parcel)
    OCHE_NEEDS(device_lock)
{
    const uint32_t index = oche_peers_find(&device->peers, &parcel->peer);

    if (index == OCHE_NO_PEER || device->peers.peers[index].too_large)
        return;
    device->peers.peers[index].too_large = true;
    if (device->config.too_large != NULL)
        device->config.too_large(device->config.context, &parcel->peer,
                                 FRAME_BYTES(device->socket.ipv6) - ETHERNET_BYTES + parcel->count);
}

/* Sends the batch and empties it. Returns how many packets left. */
static unsigned send_batch(struct oche_device *device, struct batch *batch, oche_time now)
    OCHE_NEEDS(device_lock)
{
    enum oche_send_result result = OCHE_SEND_DONE;
    unsigned at = 0, packets = 0, sent;

    while (at < batch->count && result != OCHE_SEND_FULL) {
        result =
            oche_socket_send(&device->socket, device->source_ports.fds[batch->parcels[at]->port],
                             &batch->datagrams[at], batch->count - at, &sent);
        packets += sent;
        for (unsigned end = at + sent; at < end; at++) {
            device->stats.sent_bytes += batch->parcels[at]->count;
            oche_links_done(device->links, batch->parcels[at]);
        }
        if (result == OCHE_SEND_DONE || result == OCHE_SEND_FULL)
            continue;
        if (result == OCHE_SEND_TOO_LARGE)
            too_large(device, batch->parcels[at]);
        device->stats.send_errors++;
        oche_links_done(device->links, batch->parcels[at++]);
    }
    device->stats.send_full += batch->count - at;
    for (; at < batch->count; at++)
        oche_links_defer(device->links, batch->parcels[at], now + FULL_RETRY);
    device->stats.sent_packets += packets;
    device->stats.sent_datagrams += packets;
    batch->count = 0;
    return packets;
}

unsigned device_links_transmit(struct oche_device *device)
{
    const oche_time now = oche_clock_now(&device->clock);
    struct oche_parcel *parcel;
    unsigned packets = 0;
    struct batch batch;

    if (oche_links_next(device->links, OCHE_LINK_OUT) > now)
        return 0;
    batch.count = 0;
    while ((parcel = oche_links_arrived(device->links, OCHE_LINK_OUT, now)) != NULL) {
        if (batch.count == OCHE_SOCKET_OUT ||
            (batch.count > 0 && batch.parcels[0]->port != parcel->port))
            packets += send_batch(device, &batch, now);
        add(device, &batch, parcel);
    }
    return packets + send_batch(device, &batch, now);
}

void device_links_finish(struct oche_device *device, oche_time longest)
{
    const oche_time end = oche_clock_now(&device->clock) + longest;

    while (oche_links_last(device->links) > 0 && oche_clock_now(&device->clock) < end) {
        if (device_links_transmit(device) == 0)
            oche_clock_sleep(FULL_RETRY);
    }
}

/* ---- packets that arrive ---- */

bool device_link_receive(struct oche_device *device, const struct oche_datagram_in *in,
                         const uint8_t *bytes, uint32_t count, bool first, oche_time now)
{
    const int link = oche_links_find(device->links, OCHE_LINK_IN, &in->from);
    struct oche_parcel *parcel;

    if (link == OCHE_NO_LINK)
        return false;
    parcel = oche_links_send(device->links, link, now, bytes, count, frame_bytes_of(device, count),
                             in->tos);
    if (parcel == NULL)
        return true;
    parcel->peer = in->from;
    parcel->port = in->from_port;
    parcel->first = first;
    parcel->passed_on = in->passed_on;
    return true;
}

unsigned device_links_receive(struct oche_device *device, oche_time now)
{
    struct oche_parcel *parcel;
    unsigned packets = 0;

    while ((parcel = oche_links_arrived(device->links, OCHE_LINK_IN, now)) != NULL) {
        const struct oche_datagram_in in = {.bytes = parcel->bytes,
                                            .count = parcel->count,
                                            .segment_bytes = parcel->count,
                                            .from = parcel->peer,
                                            .from_port = parcel->port,
                                            .tos = parcel->tos,
                                            .passed_on = parcel->passed_on,
                                            .from_link = true,
                                            .continues = !parcel->first};

        packets += device_take(device, &in, now);
        oche_links_done(device->links, parcel);
    }
    return packets;
}
