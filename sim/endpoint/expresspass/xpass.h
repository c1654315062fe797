/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ExpressPass endpoint of a host, for the files of this folder. A connection carries data one
 * way, credits the other: the host where its flows begin has a sender, the other a receiver. Flows
 * are messages one after the other in the connection's stream of bytes, counted from 0.
 *
 *     sender                      receiver
 *     REQUEST                 →   begins to send credits
 *     DATA, one a credit      ←   CREDIT (its number; what has arrived in order)
 *     STOP, when all is sent  →   sends none any more
 *                             ←   DONE (what has arrived in order)
 *                             ←   NACK: there is a gap; go back to it
 *
 * At the port: credits first, when the bucket lets one go, then everything else in one FIFO. So a
 * sender keeps no queue but for data that credits have called for.
 *
 * On the wire (wire.c): IP protocol 253 and 20 bytes; in struct oche_packet the members `xpass` and
 * `xpass_offset`.
 */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_XPASS_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_XPASS_H

#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "fabric/credit_bucket.h"
#include "fabric/credit_shaper.h"
#include "sim/endpoint/expresspass/feedback.h"
#include "sim/network/host_state.h"

#define OCHE_XPASS_HEADER_BYTES 20

enum oche_xpass_kind {
    OCHE_XPASS_REQUEST = 1,
    OCHE_XPASS_CREDIT,
    OCHE_XPASS_DATA,
    OCHE_XPASS_STOP,
    OCHE_XPASS_DONE,
    OCHE_XPASS_NACK,
    OCHE_XPASS_KINDS
};

enum oche_xpass_state {
    OCHE_XPASS_CLOSED,
    OCHE_XPASS_ASKING,  /* a REQUEST is under way */
    OCHE_XPASS_SENDING, /* credits come */
    OCHE_XPASS_STOPPING /* a STOP is under way */
};

struct oche_xpass_sender {
    uint64_t next, high;         /* to be sent next; end of what was ever sent */
    uint64_t acked;              /* in order at the receiver */
    uint64_t available;          /* end of what there is to send */
    uint64_t first_end;          /* of the first flow that is not completed */
    oche_time heard;             /* the last credit came then, or it was asked for them */
    uint64_t retransmitted;      /* packets */
    uint32_t started, completed; /* flows of the connection */
    uint32_t timeouts;
    uint32_t stop; /* number of the last STOP */
    uint8_t state; /* enum oche_xpass_state */
    oche_time due; /* when something is to be said again; OCHE_NEVER: nothing is */
    /* A flow that is not made whole yet, or NULL: see supply.c. */
    const struct oche_flow_plan *supplied;
    oche_time supplied_from, sent_at; /* its start; its last frame was put in line */
};

struct oche_xpass_receiver {
    uint64_t next;      /* byte expected */
    uint64_t delivered; /* end of the flows that were delivered whole */
    struct oche_xpass_feedback feedback;
    struct oche_random random;
    oche_time heard; /* the last data, or the REQUEST */
    oche_time nacked_at;
    uint32_t credit, credit_expected; /* number of the next: sent, and that data carries */
    bool gap;                         /* and a NACK for `next` was sent */
    bool sending;
};

/* One end of a connection. */
struct oche_xpass_end {
    struct oche_xpass_end *next_unused;
    uint32_t number, slot; /* connection; in the host's tables */
    uint32_t peer;
    uint32_t flow_hash;
    bool sends; /* which of the two it is */
    union {
        struct oche_xpass_sender sender;
        struct oche_xpass_receiver receiver;
    };
};

/* A packet that waits for the port, with all that it will say. */
struct oche_xpass_item {
    uint64_t place;
    oche_time since;
    uint32_t connection, peer, flow_hash;
    uint32_t credit, time;
    uint16_t payload;
    uint8_t kind;
    uint8_t extra; /* bytes that a credit is longer by */
    bool again;
};

/* A FIFO of them. */
struct oche_xpass_items {
    struct oche_xpass_item *ring;
    uint32_t head, count, capacity;
};

struct oche_xpass {
    struct oche_host *host;
    const struct oche_xpass_params *params;
    const struct oche_credit_shaper_params *shaper;
    bool payload;
    struct oche_credit_bucket bucket;
    struct oche_xpass_items credits, others;
    double most_credit_rate; /* bytes of credits on the line a second */
    double credit_bytes;     /* in the mean */
    uint64_t line_rate_bps;
    struct heap timers;
    struct map connections;
    struct oche_xpass_end **ends; /* by slot */
    uint32_t *free_slots, free_count;
    struct oche_xpass_end *unused;
    uint64_t late, corrupt;
    uint64_t credits_dropped; /* found the host's own port full */
    uint64_t credits_wasted;  /* came when there was nothing to send for them */
    struct oche_nic_stats stats;
};

/* Ethernet header to FCS. */
static inline uint32_t oche_xpass_frame_bytes(uint32_t payload, bool ipv6)
{
    uint32_t bytes = OCHE_ETH_BYTES + (ipv6 ? 0U + OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) +
                     OCHE_XPASS_HEADER_BYTES + payload + OCHE_FCS_BYTES;

    return bytes < OCHE_MIN_FRAME_BYTES ? OCHE_MIN_FRAME_BYTES : bytes;
}

/* ends.c: the ends of connections, their memory, their timers, and packets that wait. */
void oche_xpass_ends_init(struct oche_xpass *xpass, uint32_t most);
/* NULL: none is open here. */
struct oche_xpass_end *oche_xpass_find(const struct oche_xpass *xpass, uint32_t connection);
/* A new one, zeroed but for what it is called. */
struct oche_xpass_end *oche_xpass_open(struct oche_xpass *xpass, uint32_t connection, uint32_t peer,
                                       bool sends);
void oche_xpass_close(struct oche_xpass *xpass, struct oche_xpass_end *end);
void oche_xpass_set_timer(struct oche_xpass *xpass, const struct oche_xpass_end *end,
                          oche_time when);
/* Puts an item of this end in line, its other fields as in `item`. */
void oche_xpass_put(struct oche_xpass *xpass, struct oche_xpass_items *items,
                    const struct oche_xpass_end *end, struct oche_xpass_item item);
struct oche_xpass_item oche_xpass_take(struct oche_xpass_items *items);

/* supply.c: flows whose bytes are made at a rate of their own (REFERENCE D28) */
void oche_xpass_supply_begin(struct oche_xpass_sender *sender, const struct oche_flow_plan *plan,
                             oche_time now);
/* Makes what there is by now available, in whole frames. */
void oche_xpass_supply(const struct oche_xpass *xpass, struct oche_xpass_sender *sender,
                       oche_time now);
/* When the sender has to look at its supply next; OCHE_NEVER: it need not. */
oche_time oche_xpass_supply_next(const struct oche_xpass *xpass,
                                 const struct oche_xpass_sender *sender);

/* sender.c */
void oche_xpass_start(struct oche_xpass *xpass, uint32_t flow, oche_time now);
void oche_xpass_credit(struct oche_xpass *xpass, struct oche_xpass_end *end,
                       const struct oche_packet *packet, oche_time now);
void oche_xpass_done(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet, oche_time now);
void oche_xpass_nack(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet, oche_time now);
void oche_xpass_sender_timer(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now);

/* receiver.c */
/* The end for the first packet of a connection, or of one that was closed; NULL: not ours. */
struct oche_xpass_end *oche_xpass_accept(struct oche_xpass *xpass,
                                         const struct oche_packet *packet);
void oche_xpass_request(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now);
void oche_xpass_data(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet, oche_time now);
void oche_xpass_stop(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet);
void oche_xpass_receiver_timer(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now);

/* wire.c: see struct oche_endpoint. */
size_t oche_xpass_encode(const struct oche_packet *packet, const struct oche_frame *frame,
                         uint8_t *bytes, size_t size);
bool oche_xpass_decode(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                       struct oche_frame *frame);

#endif
