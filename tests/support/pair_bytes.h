/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of a pair as bytes: encoded when they are sent, damaged if the test asks for it, and
 * decoded with a check of the ICRC when they arrive. On a real link nothing else protects a packet
 * after the last switch.
 */
#ifndef OCHE_TESTS_SUPPORT_PAIR_BYTES_H
#define OCHE_TESTS_SUPPORT_PAIR_BYTES_H

#include "core/random.h"
#include "core/wire/packet.h"

#define PAIR_WIRE_BYTES (9216 + 128) /* of the largest IP packet */

/* Encodes `packet` from the IP header on. Returns the number of bytes, never 0. */
size_t pair_bytes_encode(const struct oche_packet *packet, bool ipv6, uint8_t *wire);

/*
 * Damages the bytes in one of the ways that a 32-bit CRC always detects: one bit, two bits, or some
 * of 32 consecutive bits. `spare`: never BTH byte 4, which the ICRC does not cover.
 */
void pair_bytes_damage(struct oche_random *random, bool ipv6, bool spare, uint8_t *wire,
                       size_t bytes);

/*
 * Turns the sent `packet` into the received one: decodes every field on the wire; the payload
 * points into the bytes. Returns false if the bytes are damaged; then the packet is dropped.
 */
bool pair_bytes_decode(struct oche_packet *packet, uint8_t *wire, size_t bytes);

/* True if the two differ only in bytes that the ICRC does not cover (rocev2.md#icrc). */
bool pair_bytes_same(const struct oche_packet *sent, const struct oche_packet *arrived);

/*
 * Cuts a data packet to its headers, as a switch that trims does, and moves it to class `cls`.
 * Returns false if it is none.
 */
bool pair_bytes_trim(struct oche_packet *packet, uint8_t cls);

#endif
