/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses on a simulated wire: host number to IP and MAC address and back, traffic class to DSCP
 * and back. Host h has the IPv4 address 10.a.b.c, where a.b.c is h + 1 in 24 bits, the IPv6 address
 * fd00::10.a.b.c, and the MAC address 02:00:0a:aa:bb:cc.
 */
#ifndef OCHE_SIM_NETWORK_ADDRESS_H
#define OCHE_SIM_NETWORK_ADDRESS_H

#include "core/wire/frame.h"

/*
 * Fills `frame` (addresses, DSCP, ECN, TTL …) for a packet between hosts (kind OCHE_PACKET_ROCE).
 */
void oche_address_frame(const struct oche_packet *packet, bool ipv6, struct oche_frame *frame);
/* Sets src, dst and traffic_class of `packet` from the frame's fields. */
void oche_address_packet(const struct oche_frame *frame, struct oche_packet *packet);
/* Writes the MAC address of a node. */
void oche_address_mac(uint32_t node, uint8_t mac[6]);

#endif
