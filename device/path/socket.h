/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The UDP socket of a device: many packets per system call (sendmmsg, recvmmsg), many per datagram
 * (segmentation offload GSO when sending, GRO when receiving), and the IP header fields that the
 * transport needs (ECN in both directions; the identification is 0, or k in segment k of a
 * datagram).
 *
 * One socket, bound to the device's own address and port, receives; others may send
 * (source_ports.h).
 *
 * Only sockets of the same user that ask for sharing share the address (SO_REUSEPORT, see
 * sharing.h). SO_REUSEADDR stays off: with it, the next process that binds the address would get
 * our packets. Without sharing, a second device on one address is an error.
 */
#ifndef OCHE_DEVICE_PATH_SOCKET_H
#define OCHE_DEVICE_PATH_SOCKET_H

#include <sys/uio.h>

#include "device/path/address.h"
#include "params/error.h"

#define OCHE_SOCKET_IN       16    /* most datagrams in a receive */
#define OCHE_SOCKET_OUT      64    /* most datagrams in a send */
#define OCHE_SOCKET_SEGMENTS 64    /* most packets in a datagram, which every kernel accepts */
#define OCHE_SOCKET_BYTES    65000 /* most bytes in a datagram: below IP's limit in both versions */

struct oche_socket_options {
    bool shared;           /* share the address with sockets of this user that also set this */
    bool no_gso, no_gro;   /* one packet per datagram */
    uint32_t buffer_bytes; /* requested receive buffer; see receive_bytes */
};

struct oche_socket {
    int fd;
    bool ipv6;
    bool gso;
    bool gro;
    /* the receive buffer's size as the kernel counts it: about twice the payload */
    uint32_t receive_bytes;
    struct oche_socket_scratch *scratch;
};

/*
 * A received datagram: one packet, or several of segment_bytes each and a last one with the rest.
 */
struct oche_datagram_in {
    const uint8_t *bytes; /* valid until the next receive */
    uint32_t count;
    uint32_t segment_bytes;
    struct oche_address from;
    uint16_t from_port;
    uint8_t tos;      /* DSCP and ECN */
    bool passed_on;   /* the datagram came through another process (sharing.h) */
    bool truncated;   /* the datagram was longer than the buffer: not usable */
    bool from_link;   /* a packet that a link has delayed (link_packets.c) */
    bool from_events; /* with from_link: scripted events have looked at it (event_packets.c) */
    bool continues;   /* with from_link: the packet was not the first one of its datagram */
};

/* A datagram to send: `pieces` together are one packet, or several of segment_bytes each. */
struct oche_datagram_out {
    const struct sockaddr_storage *to;
    socklen_t to_bytes;
    struct iovec *pieces;
    uint32_t piece_count;
    uint16_t segment_bytes; /* 0: one packet */
    uint8_t tos;
};

/* Opens the device's socket. Returns false, with a line in `error`, on failure. */
bool oche_socket_open(struct oche_socket *to_open, const struct oche_address *address,
                      uint16_t port, const struct oche_socket_options *options,
                      struct oche_error *error);
void oche_socket_close(struct oche_socket *to_close);

/*
 * Makes the receive buffer as large as the system allows, or 64 MiB where we may have any size.
 * receive_bytes stays as it was.
 */
void oche_socket_take_room(const struct oche_socket *of);

/* Datagrams that the kernel has dropped, nearly always as the receive buffer was full. */
struct oche_socket_losses {
    uint32_t datagrams;    /* since the socket was opened */
    uint32_t buffer_bytes; /* in the kernel's count, which includes overhead */
};
struct oche_socket_losses oche_socket_losses(const struct oche_socket *of);

/*
 * Opens a socket for sending only, which accepts no packets and must still be bound. Returns -1,
 * with errno, on failure.
 */
int oche_socket_open_sender(const struct oche_address *address);
/* Binds a socket. Returns false, with errno set, on failure. */
bool oche_socket_bind(int fd, const struct oche_address *address, uint16_t port);

/* Receives without waiting. Returns how many datagrams arrived: 0 … OCHE_SOCKET_IN. */
unsigned oche_socket_receive(struct oche_socket *from, struct oche_datagram_in *in);

enum oche_send_result {
    OCHE_SEND_DONE,      /* all datagrams were sent */
    OCHE_SEND_FULL,      /* the socket's buffer is full: send the rest later */
    OCHE_SEND_NO_GSO,    /* the first unsent datagram must not contain several packets */
    OCHE_SEND_TOO_LARGE, /* the first unsent datagram is larger than the route's MTU */
    OCHE_SEND_ERROR,     /* it cannot be sent for another reason: no route, … */
};

/*
 * Sends up to OCHE_SOCKET_OUT datagrams without waiting; *sent becomes the number sent. They leave
 * through the socket `fd`, of the same IP version as `by`, which provides the buffers.
 */
enum oche_send_result oche_socket_send(struct oche_socket *by, int fd,
                                       struct oche_datagram_out *out, unsigned count,
                                       unsigned *sent);

#endif
