/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated payload: each byte is a function of its address, so the receiver can check what arrived
 * without access to the sender's memory. Tests use it; ordinary runs move no bytes.
 */
#ifndef OCHE_SIM_NETWORK_PAYLOAD_H
#define OCHE_SIM_NETWORK_PAYLOAD_H

#include "core/wire/packet.h"

#define OCHE_PAYLOAD_MOST 9216

/*
 * Gives `packet` a buffer of OCHE_PAYLOAD_MOST bytes unless it has one. The buffer stays with the
 * packet.
 */
void oche_payload_buffer(struct oche_packet *packet);
/* Writes the bytes that belong at `address`. */
void oche_payload_fill(uint64_t address, void *to, uint32_t bytes);
/* Returns the number of bytes at `from` that differ from the bytes that belong at `address`. */
uint32_t oche_payload_differs(uint64_t address, const void *from, uint32_t bytes);

#endif
