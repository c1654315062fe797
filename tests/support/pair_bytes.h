/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair's packets as bytes: encoded when they are sent, damaged if the test says so, decoded when
 * they arrive, with the ICRC looked at, as on a real link behind whose last switch nothing else
 * protects them.
 */
#ifndef OCHE_TESTS_SUPPORT_PAIR_BYTES_H
#define OCHE_TESTS_SUPPORT_PAIR_BYTES_H

#include "core/random.h"
#include "core/wire/packet.h"

#define PAIR_WIRE_BYTES (9216 + 128) /* the largest IP packet */

/* Encodes `packet`, from the IP header on. Returns the bytes; never 0. */
size_t pair_bytes_encode(const struct oche_packet *packet, bool ipv6, uint8_t *wire);

/*
 * Damages the bytes in one of the ways that a CRC of 32 bits always finds: one bit, two bits, or
 * some of 32 bits in a row. `spare`: never BTH byte 4, which the ICRC does not cover.
 */
void pair_bytes_damage(struct oche_random *random, bool ipv6, bool spare, uint8_t *wire,
                       size_t bytes);

/*
 * Makes of `packet`, as it was sent, what arrives: everything that is on the wire comes from there,
 * and the payload points into it. False: the bytes are wrong, and the packet is dropped.
 */
bool pair_bytes_decode(struct oche_packet *packet, uint8_t *wire, size_t bytes);

/* Whether nothing differs but what the ICRC leaves out (REFERENCE I.6). */
bool pair_bytes_same(const struct oche_packet *sent, const struct oche_packet *arrived);

#endif
