/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes mode: a packet crosses each link as the bytes of its frame. Decoding must give exactly the
 * packet that was encoded, so a run in bytes mode has the same trace as a run without.
 */
#ifndef OCHE_SIM_NETWORK_BYTES_MODE_H
#define OCHE_SIM_NETWORK_BYTES_MODE_H

#include "core/wire/packet.h"

struct oche_endpoint;

#define OCHE_BYTES_MODE_FRAME 16384 /* bytes of each of the two scratch buffers */

/* Encodes and decodes `packet` in place. `scratch` has 2 * OCHE_BYTES_MODE_FRAME bytes. */
void oche_bytes_mode(uint8_t *scratch, const struct oche_endpoint *endpoint, bool ipv6,
                     struct oche_packet *packet);

#endif
