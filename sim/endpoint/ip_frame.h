/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPv4 or IPv6, without options, around what an endpoint that is no RNIC puts on the wire (RFC 791,
 * 1071, 8200): for captures and bytes mode.
 */
#ifndef OCHE_SIM_ENDPOINT_IP_FRAME_H
#define OCHE_SIM_ENDPOINT_IP_FRAME_H

#include "core/wire/frame.h"
#include "core/wire/packet.h"

/* The sum of 16-bit words, not folded, beginning at `sum`; and the checksum that it makes. */
uint32_t oche_ip_sum16(uint32_t sum, const uint8_t *bytes, size_t count);
uint16_t oche_ip_fold(uint32_t sum);

/* Writes the header of a packet with `bytes` behind it. Which IP: frame->ipv6. */
void oche_ip_put(const struct oche_packet *packet, const struct oche_frame *frame, uint8_t protocol,
                 size_t bytes, uint8_t *ip);
/*
 * Reads it from the `count` bytes at `ip`: what it says goes to `frame`, the mark to `packet`, how
 * many bytes are behind it to `bytes`. False: no such packet, or more bytes than there are.
 */
bool oche_ip_take(const uint8_t *ip, size_t count, uint8_t protocol, struct oche_packet *packet,
                  struct oche_frame *frame, size_t *bytes);

#endif
