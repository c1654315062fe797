/* SPDX-License-Identifier: Apache-2.0 */
/* A switch as a node of the network: moves packets between its ports and struct oche_switch. */
#ifndef OCHE_SIM_NETWORK_SWITCH_NODE_H
#define OCHE_SIM_NETWORK_SWITCH_NODE_H

#include "sim/network/network.h"

void oche_switch_node_arrival(struct oche_shard *shard, struct oche_port *port,
                              struct oche_packet *packet, oche_time now);
void oche_switch_node_transmit_done(struct oche_shard *shard, struct oche_port *port,
                                    oche_time now);
void oche_switch_node_timer(struct oche_shard *shard, struct oche_port *first, oche_time now);

/* To be called when the link of `port` goes down, or comes back (sim/network/link_failure.h). */
void oche_switch_node_link_down(struct oche_shard *shard, struct oche_port *port, oche_time now);
void oche_switch_node_link_up(struct oche_shard *shard, struct oche_port *port, oche_time now);

#endif
