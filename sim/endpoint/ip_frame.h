/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPv4 and IPv6 headers, without options, of the packets of endpoints other than the RNIC (RFC 791,
 * 1071, 8200), for captures and bytes mode.
 */
#ifndef OCHE_SIM_ENDPOINT_IP_FRAME_H
#define OCHE_SIM_ENDPOINT_IP_FRAME_H

#include "core/wire/frame.h"
#include "core/wire/packet.h"

/* oche_ip_sum16 adds 16-bit words to `sum`; oche_ip_fold turns the finished sum into a checksum. */
uint32_t oche_ip_sum16(uint32_t sum, const uint8_t *bytes, size_t count);
uint16_t oche_ip_fold(uint32_t sum);

/*
 * Writes the IP header of a packet with `bytes` bytes after the header; frame->ipv6 chooses IPv6 or
 * IPv4.
 */
void oche_ip_put(const struct oche_packet *packet, const struct oche_frame *frame, uint8_t protocol,
                 size_t bytes, uint8_t *ip);
/*
 * Parses a frame of `count` bytes up to the end of the IP header: fills `frame`, sets the ECN mark
 * of `packet`, and sets `behind` to the number of bytes after the header. Returns where those bytes
 * begin; NULL if the frame is no packet of `protocol`, or claims more bytes than `count`.
 */
const uint8_t *oche_ip_take_frame(const uint8_t *bytes, size_t count, uint8_t protocol,
                                  struct oche_packet *packet, struct oche_frame *frame,
                                  size_t *behind);

#endif
