/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair's packets as bytes: encoded when they are sent, damaged if the test says so, decoded when
 * they arrive, and their ICRC is verified, as on a real link, where nothing else protects them
 * after the last switch.
 */
#ifndef OCHE_TESTS_SUPPORT_PAIR_BYTES_H
#define OCHE_TESTS_SUPPORT_PAIR_BYTES_H

#include "core/random.h"
#include "core/wire/packet.h"

#define PAIR_WIRE_BYTES (9216 + 128) /* of the largest IP packet */

/* Encodes `packet` from the IP header on. Returns the number of bytes; never 0. */
size_t pair_bytes_encode(const struct oche_packet *packet, bool ipv6, uint8_t *wire);

/*
 * Damages the bytes in one of the ways that a 32-bit CRC always detects: one bit, two bits, or some
 * of 32 consecutive bits. `spare`: never damages BTH byte 4, which the ICRC does not cover.
 */
void pair_bytes_damage(struct oche_random *random, bool ipv6, bool spare, uint8_t *wire,
                       size_t bytes);

/*
 * Turns `packet`, as it was sent, into what arrives: every field on the wire is taken from there,
 * and the payload points into it. Returns false if the bytes are damaged, and the packet is
 * dropped.
 */
bool pair_bytes_decode(struct oche_packet *packet, uint8_t *wire, size_t bytes);

/* True if they differ only in what the ICRC does not cover (rocev2.md#icrc). */
bool pair_bytes_same(const struct oche_packet *sent, const struct oche_packet *arrived);

#endif
