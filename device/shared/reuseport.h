/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's part in sharing a UDP port: one classic BPF program for all sockets of one address
 * and port (SO_REUSEPORT). The program reads a packet's destination queue pair number and returns
 * the receiving socket's place in the kernel's list of these sockets. The upper 6 bits of a queue
 * pair number are a slot, and each process has a slot (sharing.h). A slot's place may differ from
 * its number: when a socket closes, the last socket in the list moves to its place.
 *
 * The first packet of a datagram (GSO, GRO) decides for all. If the place does not exist, the
 * kernel chooses a socket by a hash. A probe has the opcode 0xff, unused by packets, and goes to
 * the place in the last byte of its queue pair number. With probes a socket finds its own place.
 */
#ifndef OCHE_DEVICE_SHARED_REUSEPORT_H
#define OCHE_DEVICE_SHARED_REUSEPORT_H

#include <stdbool.h>
#include <stdint.h>

#define OCHE_SLOT_BITS     6
#define OCHE_SLOTS         (1 << OCHE_SLOT_BITS)
#define OCHE_SLOT_SHIFT    (24 - OCHE_SLOT_BITS) /* in a queue pair number */
#define OCHE_PLACE_NONE    UINT8_C(0xff) /* the place is unknown: the slot's number is used */
#define OCHE_PROBE_OPCODE  UINT8_C(0xff) /* the opcode of a probe */
#define OCHE_OPCODE_OFFSET 0             /* offsets in a packet, from BTH on */
#define OCHE_SLOT_OFFSET   5
#define OCHE_PLACE_OFFSET  7
#define OCHE_STEERED_BYTES 8 /* a shorter packet goes to the first socket */

/*
 * Replaces the program of all sockets that share with `fd`, which must be bound. Returns false on
 * failure; see errno.
 */
bool oche_reuseport_install(int fd, const uint8_t place[OCHE_SLOTS]);

#endif
