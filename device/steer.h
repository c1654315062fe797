/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's part in sharing a UDP port: a classic BPF program, one for all sockets of one
 * address and port (SO_REUSEPORT), which reads a packet's destination queue pair number and names
 * the socket, by its place in the kernel's list. The upper 6 bits of a number are a slot, and each
 * process has one (share.h). Which place a slot's socket has is not always its number: when a
 * socket closes, the last one takes its place.
 *
 * A packet of several (GSO, GRO) is steered by its first. A place that there is not makes the
 * kernel fall back to a hash. One opcode that no packet has, 0xff, goes to the place in the last
 * byte of its queue pair number: so a socket finds out its own place.
 */
#ifndef OCHE_DEVICE_STEER_H
#define OCHE_DEVICE_STEER_H

#include <stdbool.h>
#include <stdint.h>

#define OCHE_SLOT_BITS    6
#define OCHE_SLOTS        (1 << OCHE_SLOT_BITS)
#define OCHE_SLOT_SHIFT   (24 - OCHE_SLOT_BITS) /* of a queue pair number */
#define OCHE_PLACE_NONE   UINT8_C(0xff)         /* not known: then it is the slot's number */
#define OCHE_STEER_PROBE  UINT8_C(0xff)         /* the opcode */
#define OCHE_STEER_OPCODE 0                     /* where these are in a packet */
#define OCHE_STEER_SLOT   5
#define OCHE_STEER_PLACE  7
#define OCHE_STEER_BYTES  8 /* a shorter packet goes to the first socket */

/* Replaces the program of all sockets that share with `fd`, which is bound. False: see errno. */
bool oche_steer(int fd, const uint8_t place[OCHE_SLOTS]);

#endif
