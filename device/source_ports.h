/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The UDP ports that packets leave from, so that ECMP and receive queues tell the queue pairs
 * between two devices apart (REFERENCE I.1). A socket sends from the port that it is bound to, and
 * any other takes a privilege: so there are a few sockets for sending only, on the device's
 * address, and each queue pair's port, the standard's function of its numbers or flow label,
 * chooses one of them. Of N, that is the one whose port has the same remainder divided by N.
 *
 * They are in the standard's range, 0xC000 to 0xFFFF, above the ports that Linux gives to programs
 * which ask for none (32768 to 60999 unless configured otherwise). What arrives there is refused by
 * a filter: packets to us go to the device's port. Where none can be had, or just one is wanted,
 * packets leave from the device's own socket.
 */
#ifndef OCHE_DEVICE_SOURCE_PORTS_H
#define OCHE_DEVICE_SOURCE_PORTS_H

#include "core/random.h"
#include "device/device.h"
#include "device/socket.h"

#define OCHE_FIRST_SOURCE_PORT 61000
#define OCHE_LAST_SOURCE_PORT  65535

struct oche_source_ports {
    int fds[OCHE_MAX_SOURCE_PORTS];
    uint16_t ports[OCHE_MAX_SOURCE_PORTS];
    uint8_t of[OCHE_MAX_SOURCE_PORTS]; /* remainder → index of fds and ports */
    unsigned wanted;                   /* divisor */
    unsigned count;                    /* of fds and ports; 1 or more */
    bool own;                          /* fds are ours, not the device's one */
};

/*
 * Up to `wanted` of them (1: the device's own, and no other), at random by `random`. Never fails:
 * fewer if there are no more.
 */
void oche_source_ports_open(struct oche_source_ports *to_open, const struct oche_socket *device,
                            const struct oche_address *address, uint16_t device_port,
                            unsigned wanted, struct oche_random *random);
void oche_source_ports_close(struct oche_source_ports *to_close);

/* The index of the one for packets that should leave from `port`. */
static inline unsigned oche_source_ports_choose(const struct oche_source_ports *ports,
                                                uint16_t port)
{
    return ports->count == 1 ? 0 : ports->of[port % ports->wanted];
}

#endif
