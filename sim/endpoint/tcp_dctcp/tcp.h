/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TCP endpoint of a host, for the files of this folder. A connection carries data one way: the
 * host where its flows begin has a sender, the other a receiver. Flows are messages one after the
 * other in the connection's stream of bytes, which is counted from 0 in 64 bits; on the wire byte
 * n has sequence number OCHE_TCP_FIRST + n, modulo 2^32.
 *
 * Segments are pulled: the port asks for the next packet when it is free. So a host has no queue
 * of its own for data; senders whose window lets them take turns. ACKs wait in one FIFO.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_TCP_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_TCP_H

#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "sim/endpoint/tcp_dctcp/congestion.h"
#include "sim/endpoint/tcp_dctcp/echo.h"
#include "sim/endpoint/tcp_dctcp/reassembly.h"
#include "sim/endpoint/tcp_dctcp/rtt.h"
#include "sim/network/host_state.h"

#define OCHE_TCP_FIRST 1 /* sequence number of the stream's first byte; the SYN is before it */

/* Flags of a segment, in oche_packet.tcp: byte 13 of the header. */
#define OCHE_TCP_FIN UINT8_C(0x01)
#define OCHE_TCP_SYN UINT8_C(0x02)
#define OCHE_TCP_RST UINT8_C(0x04)
#define OCHE_TCP_PSH UINT8_C(0x08)
#define OCHE_TCP_ACK UINT8_C(0x10)
#define OCHE_TCP_ECE UINT8_C(0x40)
#define OCHE_TCP_CWR UINT8_C(0x80)

enum oche_tcp_state {
    OCHE_TCP_CLOSED, /* waits for its first bytes */
    OCHE_TCP_SYN_SENT,
    OCHE_TCP_OPEN,
    OCHE_TCP_FAILED /* too many timeouts: whatever is started fails */
};

struct oche_tcp_sender {
    struct oche_tcp_sender *next_ready, *previous_ready; /* a ring, when `ready` */
    uint64_t una, next, high; /* first byte not acknowledged, next to send, highest sent (end) */
    uint64_t available;       /* end of what the operating system has passed on */
    uint64_t first_end;       /* of the first flow that is not completed */
    /* The connection's one flow, if it is made at a rate of its own and some is still to come. */
    const struct oche_flow_plan *supplied;
    oche_time supplied_from;
    struct oche_tcp_congestion congestion;
    struct oche_tcp_rtt rtt;
    uint64_t timed_end; /* this much acknowledged gives a round trip; 0: none is measured */
    oche_time timed_at;
    oche_time deadline; /* of the retransmission timer; OCHE_NEVER: off */
    oche_time last_sent;
    uint64_t recover; /* highest byte sent when recovery, or the last timeout, began */
    uint64_t waiting; /* bytes that may leave now: part of the host's backlog */
    oche_time due;    /* its next segment has waited for the port from then on */
    uint64_t retransmitted, timeouts;
    uint64_t peer_window;
    uint32_t released, completed; /* flows of the connection: passed on; done */
    uint32_t duplicate_acks, retries;
    uint8_t state; /* enum oche_tcp_state */
    bool ready;
    bool in_recovery, partial_seen;
    bool resend;  /* the segment at `una`, whatever the window */
    bool say_cwr; /* in the next new segment */
};

struct oche_tcp_receiver {
    uint64_t next;                  /* byte expected */
    uint64_t delivered;             /* end of the flows that were delivered whole */
    struct oche_tcp_ranges *ranges; /* behind a gap; NULL: none so far */
    struct oche_tcp_echo echo;
    oche_time ack_at; /* the delayed ACK; OCHE_NEVER: none waits */
    uint32_t waiting; /* segments that have no ACK yet */
};

/* One end of a connection. */
struct oche_tcp_end {
    struct oche_tcp_end *next_unused;
    uint32_t number, slot; /* connection; in the host's tables */
    uint32_t peer;
    uint32_t flow_hash;
    bool sends; /* which of the two it is */
    union {
        struct oche_tcp_sender sender;
        struct oche_tcp_receiver receiver;
    };
};

/* A packet without data that waits for the port. */
struct oche_tcp_control {
    uint64_t ack; /* of the stream */
    uint32_t connection, peer, flow_hash;
    uint8_t flags;
};

struct oche_tcp {
    struct oche_host *host;
    const struct oche_tcp_params *params;
    bool dctcp, payload;
    struct oche_tcp_control *control; /* a ring */
    uint32_t control_head, control_count, control_capacity;
    struct oche_tcp_sender *ready; /* the one whose turn it is, or NULL */
    uint64_t backlog;              /* bytes that windows allow and the port has not sent */
    uint64_t ecn_threshold;        /* host.ecn_threshold */
    uint64_t line_bps;
    struct heap timers;
    struct map connections;
    struct oche_tcp_end **ends; /* by slot */
    uint32_t *free_slots, free_count, slots;
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

/* The byte nearest to `near` that has this sequence number; a number from before the first: 0. */
static inline uint64_t oche_tcp_byte(uint32_t sequence, uint64_t near)
{
    int32_t distance = (int32_t)(sequence - oche_tcp_wire(near));

    if (distance < 0 && near < (uint64_t) - (int64_t)distance)
        return 0;
    return near + (uint64_t)(int64_t)distance;
}

/* Ethernet header to FCS. */
static inline uint32_t oche_tcp_frame_bytes(uint32_t payload, bool syn, bool ipv6)
{
    uint32_t bytes = OCHE_ETH_BYTES + (ipv6 ? 0U + OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) + 20 +
                     (syn ? 8U : 0U) + payload + OCHE_FCS_BYTES;

    return bytes < OCHE_MIN_FRAME_BYTES ? OCHE_MIN_FRAME_BYTES : bytes;
}

/* How many bits the window on the wire is shifted by (RFC 7323 sec 2.2). */
static inline unsigned oche_tcp_window_shift(uint64_t window)
{
    unsigned shift = 0;

    while (window >> shift > 65535)
        shift++;
    return shift;
}

/* ends.c: the ends of connections, their memory and their timers. */
void oche_tcp_ends_init(struct oche_tcp *tcp, uint32_t most);
/* NULL: none is open here. */
struct oche_tcp_end *oche_tcp_find(const struct oche_tcp *tcp, uint32_t connection);
/* A new one, zeroed but for what it is called. */
struct oche_tcp_end *oche_tcp_open(struct oche_tcp *tcp, uint32_t connection, uint32_t peer,
                                   bool sends);
void oche_tcp_close(struct oche_tcp *tcp, struct oche_tcp_end *end);
void oche_tcp_set_timer(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time when);
struct oche_tcp_ranges *oche_tcp_take_ranges(struct oche_tcp *tcp);
/* Puts a packet without data in line. */
void oche_tcp_put_control(struct oche_tcp *tcp, const struct oche_tcp_end *end, uint64_t ack,
                          uint8_t flags);

/* sender.c */
void oche_tcp_start(struct oche_tcp *tcp, uint32_t flow, oche_time now);
void oche_tcp_ack(struct oche_tcp *tcp, struct oche_tcp_end *end, const struct oche_packet *packet,
                  oche_time now);
void oche_tcp_sender_timer(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now);
/* Fills the next segment of a sender that is ready. */
void oche_tcp_segment(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now,
                      struct oche_packet *packet);

/* receiver.c */
void oche_tcp_data(struct oche_tcp *tcp, struct oche_tcp_end *end, const struct oche_packet *packet,
                   oche_time now);
void oche_tcp_syn(struct oche_tcp *tcp, struct oche_tcp_end *end);
void oche_tcp_receiver_timer(struct oche_tcp *tcp, struct oche_tcp_end *end);
/* The end for the first packet of a connection, or of one that was closed; NULL: not ours. */
struct oche_tcp_end *oche_tcp_accept(struct oche_tcp *tcp, const struct oche_packet *packet);
/* Closes it when nothing more can come but what came before. */
void oche_tcp_receiver_rest(struct oche_tcp *tcp, struct oche_tcp_end *end);

/* wire.c: see struct oche_endpoint. */
size_t oche_tcp_encode(const struct oche_packet *packet, const struct oche_frame *frame,
                       uint8_t *bytes, size_t size);
bool oche_tcp_decode(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                     struct oche_frame *frame);

#endif
