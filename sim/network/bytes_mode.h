/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes mode: a packet crosses a link as the bytes of its frame. What comes out of the codec must
 * be what went in; so a run with it has the trace of a run without.
 */
#ifndef OCHE_SIM_NETWORK_BYTES_MODE_H
#define OCHE_SIM_NETWORK_BYTES_MODE_H

#include "core/wire/packet.h"

struct oche_endpoint;

#define OCHE_BYTES_MODE_FRAME 16384 /* of scratch memory, twice */

/* Encodes and decodes `packet` in place. `scratch`: two times OCHE_BYTES_MODE_FRAME bytes. */
void oche_bytes_mode(uint8_t *scratch, const struct oche_endpoint *endpoint, bool ipv6,
                     struct oche_packet *packet);

#endif
