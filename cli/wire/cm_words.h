/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of a connection manager's packet by `oche wire`: a message in a datagram to QP 1.
 */
#ifndef OCHE_CLI_WIRE_CM_WORDS_H
#define OCHE_CLI_WIRE_CM_WORDS_H

#include "core/wire/packet.h"

struct json_object;

/* True if the packet is a datagram to QP 1. Its payload must be in memory. */
bool oche_wire_is_cm(const struct oche_packet *packet);

/* Prints ", CM REQ …" for a packet for which oche_wire_is_cm is true. */
void oche_wire_print_cm(const struct oche_packet *packet);

/* Adds the same to the packet's object, as "cm". */
void oche_wire_json_cm(struct json_object *json, const struct oche_packet *packet);

#endif
