/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets in memory. A program that links memory_wire.c has it instead of device/path/socket.c. Its
 * devices reach each other at any address, and no one outside the program. A datagram is lost only
 * if an inbox is full. Each datagram has a block of memory of exactly its size, so that a sanitizer
 * finds reads beyond it. The kernel's tasks are simulated: used ports, segmentation, and merging.
 */
#ifndef OCHE_TESTS_SUPPORT_MEMORY_WIRE_H
#define OCHE_TESTS_SUPPORT_MEMORY_WIRE_H

#include "device/path/socket.h"

#define MEMORY_WIRE_INBOX 256 /* datagrams */

/* Discards all datagrams that have been sent and not received. */
void memory_wire_clear(struct oche_socket *to_clear);
/*
 * Returns how many datagrams were lost, of all sockets: an inbox was full, or no socket was bound.
 */
uint64_t memory_wire_lost(void);

#endif
