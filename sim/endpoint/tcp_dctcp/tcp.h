/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TCP endpoint of a host, for the files of this folder. A connection carries data one way: the
 * host where its flows begin has a sender, the other one a receiver. Flows are messages one after
 * the other in the connection's stream of bytes, which is counted from 0 in 64 bits; on the wire
 * byte n has sequence number OCHE_TCP_FIRST + n, modulo 2^32.
 *
 * Segments are pulled: the port asks for the next packet when it is free. So a host has no queue
 * for data; the senders whose window allows it take turns. ACKs wait in one FIFO.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_TCP_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_TCP_H

#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "core/qp/slots.h"
#include "sim/endpoint/tcp_dctcp/congestion.h"
#include "sim/endpoint/tcp_dctcp/echo.h"
#include "sim/endpoint/tcp_dctcp/reassembly.h"
#include "sim/endpoint/tcp_dctcp/rtt.h"
#include "sim/network/host_state.h"

#define OCHE_TCP_FIRST 1 /* sequence number of the stream's first byte; the SYN comes before it */

/* Flags of a segment, in oche_packet.tcp: byte 13 of the header. */
#define OCHE_TCP_FIN UINT8_C(0x01)
#define OCHE_TCP_SYN UINT8_C(0x02)
#define OCHE_TCP_RST UINT8_C(0x04)
#define OCHE_TCP_PSH UINT8_C(0x08)
#define OCHE_TCP_ACK UINT8_C(0x10)
#define OCHE_TCP_ECE UINT8_C(0x40)
#define OCHE_TCP_CWR UINT8_C(0x80)

enum oche_tcp_state {
    OCHE_TCP_CLOSED, /* there were no bytes to send so far */
    OCHE_TCP_SYN_SENT,
    OCHE_TCP_OPEN,
    OCHE_TCP_FAILED /* too many timeouts: every flow that is started fails */
};

struct oche_tcp_sender {
    struct oche_tcp_sender *next_ready,
        *previous_ready;      /* a ring of the senders that are `ready` */
    uint64_t una, next, high; /* first unacknowledged byte, next byte to send, end of all sent */
    uint64_t available;       /* end of the bytes that the operating system has released */
    uint64_t first_end;       /* end of the first flow that is not completed */
    /*
     * The connection's only flow, if the application still produces it at a given rate; else NULL.
     */
    const struct oche_flow_plan *supplied;
    oche_time supplied_from;
    struct oche_tcp_congestion congestion;
    struct oche_tcp_rtt rtt;
    uint64_t timed_end; /* an ACK up to here or beyond ends the measurement; 0: none is running */
    oche_time timed_at;
    oche_time deadline; /* when the retransmission timer is due; OCHE_NEVER: off */
    oche_time last_sent;
    uint64_t recover; /* end of the bytes sent when recovery began or the last timeout came */
    uint64_t waiting; /* bytes that may leave now; part of the host's backlog */
    oche_time due;    /* when the next segment began to wait for the port */
    uint64_t retransmitted, timeouts;
    uint64_t peer_window;
    uint32_t released, completed; /* how many flows were released, and completed, so far */
    uint32_t duplicate_acks, retries;
    uint8_t state; /* enum oche_tcp_state */
    bool ready;
    bool in_recovery, partial_seen;
    bool resend;  /* retransmit the segment at `una` regardless of the window */
    bool say_cwr; /* set CWR in the next new segment */
};

struct oche_tcp_receiver {
    uint64_t next;                  /* the byte expected next */
    uint64_t delivered;             /* end of the last flow that has been delivered completely */
    struct oche_tcp_ranges *ranges; /* ranges received after a gap; NULL: none so far */
    struct oche_tcp_echo echo;
    oche_time ack_at; /* when the delayed ACK is due; OCHE_NEVER: none waits */
    uint32_t waiting; /* segments that have no ACK yet */
};

/* One end of a connection. */
struct oche_tcp_end {
    struct oche_tcp_end *next_unused;
    uint32_t number, slot; /* number of the connection; index in the host's tables */
    uint32_t peer;
    uint32_t flow_hash;
    bool sends; /* true: sender; false: receiver */
    union {
        struct oche_tcp_sender sender;
        struct oche_tcp_receiver receiver;
    };
};

/* A packet without data that waits for the port. */
struct oche_tcp_control {
    uint64_t ack; /* acknowledged up to this byte of the stream */
    uint32_t connection, peer, flow_hash;
    uint8_t flags;
};

struct oche_tcp {
    struct oche_host *host;
    const struct oche_tcp_params *params;
    bool dctcp, payload;
    struct oche_tcp_control *control; /* a ring */
    uint32_t control_head, control_count, control_capacity;
    struct oche_tcp_sender *ready; /* the sender whose turn it is; NULL: no sender is ready */
    uint64_t backlog;              /* bytes that windows allow but the port has not sent yet */
    uint64_t ecn_threshold;        /* host.ecn_threshold */
    uint64_t line_bps;
    struct heap timers;
    struct map connections;
    struct oche_tcp_end **ends; /* by slot */
    struct slots slots;
    struct oche_tcp_end *unused;
    struct oche_tcp_ranges **unused_ranges;
    uint32_t unused_ranges_count;
    uint64_t late, corrupt;
    struct oche_nic_stats stats;
};

static inline struct oche_tcp_end *oche_tcp_end_of(struct oche_tcp_sender *sender)
{
    return OCHE_CONTAINER(sender, struct oche_tcp_end, sender);
}

static inline uint32_t oche_tcp_wire(uint64_t byte)
{
    return (uint32_t)(OCHE_TCP_FIRST + byte);
}

/*
 * Returns the byte with sequence number `sequence` that is nearest to `near`; 0 if the result would
 * lie before the first byte.
 */
static inline uint64_t oche_tcp_byte(uint32_t sequence, uint64_t near)
{
    int32_t distance = (int32_t)(sequence - oche_tcp_wire(near));

    if (distance < 0 && near < (uint64_t) - (int64_t)distance)
        return 0;
    return near + (uint64_t)(int64_t)distance;
}

/* Returns the size of a frame, from Ethernet header to FCS. */
static inline uint32_t oche_tcp_frame_bytes(uint32_t payload, bool syn, bool ipv6)
{
    uint32_t bytes = OCHE_ETH_BYTES + (ipv6 ? 0U + OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) + 20 +
                     (syn ? 8U : 0U) + payload + OCHE_FCS_BYTES;

    return bytes < OCHE_MIN_FRAME_BYTES ? OCHE_MIN_FRAME_BYTES : bytes;
}

/*
 * Returns the window scale: by how many bits the window on the wire is shifted (RFC 7323 sec 2.2).
 */
static inline unsigned oche_tcp_window_shift(uint64_t window)
{
    unsigned shift = 0;

    while (window >> shift > 65535)
        shift++;
    return shift;
}

/* ends.c: the ends of connections, their memory and their timers. */
void oche_tcp_ends_init(struct oche_tcp *tcp, uint32_t most);
/* Returns NULL if the connection has no end open here. */
struct oche_tcp_end *oche_tcp_find(const struct oche_tcp *tcp, uint32_t connection);
/* Returns a new end, zeroed except for its identity. */
struct oche_tcp_end *oche_tcp_open(struct oche_tcp *tcp, uint32_t connection, uint32_t peer,
                                   bool sends);
void oche_tcp_close(struct oche_tcp *tcp, struct oche_tcp_end *end);
void oche_tcp_set_timer(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time when);
struct oche_tcp_ranges *oche_tcp_take_ranges(struct oche_tcp *tcp);
/* Queues a packet without data. */
void oche_tcp_put_control(struct oche_tcp *tcp, const struct oche_tcp_end *end, uint64_t ack,
                          uint8_t flags);

/* sender.c */
void oche_tcp_start(struct oche_tcp *tcp, uint32_t flow, oche_time now);
void oche_tcp_ack(struct oche_tcp *tcp, struct oche_tcp_end *end, const struct oche_packet *packet,
                  oche_time now);
void oche_tcp_sender_timer(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now);
/* Fills `packet` with the next segment of a sender that is ready. */
void oche_tcp_segment(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now,
                      struct oche_packet *packet);

/* receiver.c */
void oche_tcp_data(struct oche_tcp *tcp, struct oche_tcp_end *end, const struct oche_packet *packet,
                   oche_time now);
void oche_tcp_syn(struct oche_tcp *tcp, struct oche_tcp_end *end);
void oche_tcp_receiver_timer(struct oche_tcp *tcp, struct oche_tcp_end *end);
/*
 * Opens an end for the first packet of a connection, or for a late packet of a closed connection.
 * Returns NULL if the packet is not for this host.
 */
struct oche_tcp_end *oche_tcp_accept(struct oche_tcp *tcp, const struct oche_packet *packet);
/* Closes the end if only duplicates can still arrive. */
void oche_tcp_receiver_rest(struct oche_tcp *tcp, struct oche_tcp_end *end);

/* wire.c: see struct oche_endpoint. */
size_t oche_tcp_encode(const struct oche_packet *packet, const struct oche_frame *frame,
                       uint8_t *bytes, size_t size);
bool oche_tcp_decode(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                     struct oche_frame *frame);

#endif
