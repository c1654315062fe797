/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets in memory. A program that links memory_wire.c has it in the place of
 * device/path/socket.c: its devices reach each other, whatever their addresses, and nobody else. No
 * datagram is lost unless an inbox is full, and each lies in memory of exactly its size, so that a
 * sanitizer sees a read beyond it. The kernel's part is kept: ports that are taken, segmentation,
 * and merging.
 */
#ifndef OCHE_TESTS_SUPPORT_MEMORY_WIRE_H
#define OCHE_TESTS_SUPPORT_MEMORY_WIRE_H

#include "device/path/socket.h"

#define MEMORY_WIRE_INBOX 256 /* datagrams */

/* Throws away what has been sent and not received. */
void memory_wire_clear(struct oche_socket *to_clear);
/* How many datagrams an inbox had no room for, or no socket was there to take; of all sockets. */
uint64_t memory_wire_lost(void);

#endif
