/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority-based flow control frame (IEEE 802.1Qbb; rocev2.md#pfc) as bytes. As a struct it is
 * an oche_packet of kind OCHE_PACKET_PFC with the member `pfc` (packet.h).
 */
#ifndef OCHE_CORE_WIRE_PFC_FRAME_H
#define OCHE_CORE_WIRE_PFC_FRAME_H

#include "core/wire/packet.h"

OCHE_C_BEGIN

#define OCHE_PFC_BYTES (OCHE_MIN_FRAME_BYTES - OCHE_FCS_BYTES) /* as captured, without FCS */

/* True if an Ethernet frame of `count` bytes is a MAC control frame (ethertype 0x8808). */
bool oche_pfc_is_control(const uint8_t *bytes, size_t count);

/* Writes a PFC frame: OCHE_PFC_BYTES bytes, padding included. */
void oche_pfc_encode(const struct oche_packet *pfc, const uint8_t src_mac[6], uint8_t *out);

/*
 * Reads a PFC frame; `src_mac` may be NULL. Returns false if the frame is too short, is not
 * addressed to 01:80:C2:00:00:01, or has another opcode than 0x0101, such as the older PAUSE
 * (0x0001).
 */
bool oche_pfc_decode(const uint8_t *bytes, size_t count, struct oche_packet *pfc, uint8_t *src_mac);

OCHE_C_END

#endif
