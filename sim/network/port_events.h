/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events (fabric/packet_events.h) of the packets that one port sends. A packet that is
 * dropped or damaged is lost on the link: the receiver would see a wrong ICRC and drop it. Delayed,
 * overtaken and second packets arrive without having been on the line once more.
 */
#ifndef OCHE_SIM_NETWORK_PORT_EVENTS_H
#define OCHE_SIM_NETWORK_PORT_EVENTS_H

#include "fabric/arrivals.h"
#include "fabric/packet_events.h"
#include "sim/network/network.h"

struct oche_port_events {
    struct oche_packet_events *events;
    struct oche_arrivals *arrivals; /* of packets that are late; has room for each event */
};

/*
 * Applies the event of a packet that the port sends, if there is one, and sends packets that were
 * kept until now. packet->when: when it arrives if it is on time. Returns false if the packet does
 * not go on now; it is then no longer the caller's.
 */
bool oche_port_events_send(struct oche_shard *shard, uint32_t port, struct oche_packet *packet,
                           oche_time now);

#endif
