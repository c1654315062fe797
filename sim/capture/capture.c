/* SPDX-License-Identifier: Apache-2.0 */
/* Converts tapped packets to frames: addresses, TTL, order. */
#include "sim/capture/capture.h"

#include <stdio.h>
#include <stdlib.h>

#include "params/error.h"
#include "sim/capture/pcap_writer.h"
#include "sim/network/endpoint.h"
#include "sim/network/address.h"

#define LARGEST_FRAME_BYTES 10000 /* MTU 9000 and all headers */

struct oche_capture {
    struct oche_pcap_writer *writer;
    const struct oche_network *network;
    uint64_t frames, skipped;
};

struct oche_capture *oche_capture_create(const char *path, struct oche_error *error)
{
    struct oche_capture *capture = calloc(1, sizeof(*capture));

    if (capture == NULL) {
        oche_fail(error, "%s: out of memory", path);
        return NULL;
    }
    capture->writer = oche_pcap_create(path, OCHE_NEVER, error);
    if (capture->writer == NULL) {
        free(capture);
        return NULL;
    }
    return capture;
}

/*
 * The tap reports a frame's arrival in advance, when the frame begins to leave the far end. It is
 * early by the frame's transmission time and the link's delay. So a report can be older than an
 * earlier one by at most the longest such time, which becomes the writer's slack.
 */
void oche_capture_attach(struct oche_capture *capture, const struct oche_network *network)
{
    oche_time slack = 0;

    capture->network = network;
    if (network->endpoint != NULL)
        oche_pcap_set_encoder(capture->writer, network->endpoint->encode);
    for (uint32_t i = 0; i < network->port_count; i++) {
        const struct oche_port *port = &network->ports[i];
        oche_time transit;

        if (port->peer == UINT32_MAX || !network->extras[port->peer].tap)
            continue;
        transit = oche_time_add(
            port->delay, oche_time_of_bytes(LARGEST_FRAME_BYTES, network->extras[i].rate_bps));
        if (transit > slack)
            slack = transit;
    }
    oche_pcap_set_slack(capture->writer, slack);
}

void oche_capture_tap(void *context, uint32_t port, const struct oche_packet *packet,
                      oche_time start, bool sent)
{
    struct oche_capture *capture = context;
    const struct oche_network *network = capture->network;
    const uint32_t near = network->ports[port].node;
    const uint32_t far = network->ports[network->ports[port].peer].node;
    struct oche_frame frame = {0};

    if (!oche_packet_is_of_link(packet->kind))
        oche_address_frame(packet, network->ipv6, &frame);
    oche_address_mac(sent ? near : far, frame.src_mac);
    oche_address_mac(sent ? far : near, frame.dst_mac);
    frame.ttl = (uint8_t)(frame.ttl > packet->hops ? frame.ttl - packet->hops : 1);
    if (oche_pcap_write(capture->writer, packet, &frame, start))
        capture->frames++;
    else
        capture->skipped++;
}

uint64_t oche_capture_frames(const struct oche_capture *capture)
{
    return capture->frames;
}

uint64_t oche_capture_skipped(const struct oche_capture *capture)
{
    return capture->skipped;
}

bool oche_capture_finish(struct oche_capture *capture, struct oche_error *error)
{
    const bool fine = oche_pcap_close(capture->writer, error);

    free(capture);
    return fine;
}
