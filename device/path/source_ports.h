/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The UDP source ports. With several of them ECMP and receive queues can distinguish the queue
 * pairs between two devices (rocev2.md#source-port). A socket sends from the port that it is bound
 * to; any other port requires a privilege. So there are N sockets for sending only, on the device's
 * address. Each queue pair has a wanted port, the standard's function of its numbers or flow label.
 * It uses the socket whose port has the same remainder modulo N.
 *
 * The ports are in the standard's range, 0xC000 to 0xFFFF, above Linux' default range for programs
 * that ask for any port (32768 to 60999). A filter rejects packets that arrive at these ports,
 * because packets to us go to the device's port. If no port is free, or only one is wanted, packets
 * leave from the device's own socket.
 */
#ifndef OCHE_DEVICE_PATH_SOURCE_PORTS_H
#define OCHE_DEVICE_PATH_SOURCE_PORTS_H

#include "device/host/entropy.h"
#include "device/path/socket.h"

#define OCHE_MAX_SOURCE_PORTS  64
#define OCHE_FIRST_SOURCE_PORT 61000
#define OCHE_LAST_SOURCE_PORT  65535

struct oche_source_ports {
    int fds[OCHE_MAX_SOURCE_PORTS];
    uint16_t ports[OCHE_MAX_SOURCE_PORTS];
    uint8_t of[OCHE_MAX_SOURCE_PORTS]; /* by remainder: index in fds and ports */
    unsigned wanted;                   /* the divisor */
    unsigned count;                    /* number of fds and ports; 1 or more */
    bool own; /* true: fds are sockets only for sending; false: fds[0] is the device's own socket */
};

/*
 * Opens up to `wanted` sockets (1: only the device's own) on random ports. Never
 * fails: there are fewer if no more ports are free.
 */
void oche_source_ports_open(struct oche_source_ports *to_open, const struct oche_socket *device,
                            const struct oche_address *address, uint16_t device_port,
                            unsigned wanted, struct oche_entropy *entropy);
void oche_source_ports_close(struct oche_source_ports *to_close);

/* Returns the index of the socket for packets that should leave from `port`. */
static inline unsigned oche_source_ports_choose(const struct oche_source_ports *ports,
                                                uint16_t port)
{
    return ports->count == 1 ? 0 : ports->of[port % ports->wanted];
}

#endif
