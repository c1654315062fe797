/* SPDX-License-Identifier: Apache-2.0 */
/* A switch as a node of the network: moves packets between its ports and struct oche_switch. */
#ifndef OCHE_SIM_NETWORK_SWITCH_NODE_H
#define OCHE_SIM_NETWORK_SWITCH_NODE_H

#include "sim/network/network.h"

/*
 * To be called before the first event: asks for the switch's first timer event. A mechanism's timer
 * may be due before anything has arrived.
 */
void oche_switch_node_begin(struct oche_network *network, uint32_t node);
/* A packet has arrived at the switch's port `local`. */
void oche_switch_node_arrival(struct oche_shard *shard, const struct oche_site *site,
                              uint32_t local, struct oche_packet *packet, oche_time now);
void oche_switch_node_transmit_done(struct oche_shard *shard, struct oche_port *port,
                                    oche_time now);
void oche_switch_node_timer(struct oche_shard *shard, struct oche_port *first, oche_time now);

/* To be called when the link of `port` goes down, or comes back (sim/network/link_failure.h). */
void oche_switch_node_link_down(struct oche_shard *shard, struct oche_port *port, oche_time now);
void oche_switch_node_link_up(struct oche_shard *shard, struct oche_port *port, oche_time now);

#endif
