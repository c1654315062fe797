/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPv4 and IPv6 headers, without options, of the packets of endpoints other than the RNIC (RFC 791,
 * 1071, 8200), for captures and bytes mode.
 */
#ifndef OCHE_SIM_ENDPOINT_IP_FRAME_H
#define OCHE_SIM_ENDPOINT_IP_FRAME_H

#include "core/wire/frame.h"
#include "core/wire/packet.h"

/* Adds 16-bit words to `sum` without folding it; and folds such a sum into a checksum. */
uint32_t oche_ip_sum16(uint32_t sum, const uint8_t *bytes, size_t count);
uint16_t oche_ip_fold(uint32_t sum);

/* Writes the header of a packet that has `bytes` bytes after it. frame->ipv6 tells which IP. */
void oche_ip_put(const struct oche_packet *packet, const struct oche_frame *frame, uint8_t protocol,
                 size_t bytes, uint8_t *ip);
/*
 * Parses a frame of `count` bytes up to the end of the IP header: MAC and IP addresses and such go
 * to `frame`, the ECN mark to `packet`, the number of bytes after the header to `behind`. Returns
 * where these begin; NULL if it is not such a packet, or claims more bytes than there are.
 */
const uint8_t *oche_ip_take_frame(const uint8_t *bytes, size_t count, uint8_t protocol,
                                  struct oche_packet *packet, struct oche_frame *frame,
                                  size_t *behind);

#endif
