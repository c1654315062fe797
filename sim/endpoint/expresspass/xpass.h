/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ExpressPass endpoint of a host, for the files of this folder. A connection carries data one
 * way and credits the other way: the host where its flows begin has a sender, the other host a
 * receiver. Flows are messages one after the other in the connection's stream of bytes, counted
 * from 0.
 *
 *     sender                      receiver
 *     REQUEST                 →   begins to send credits
 *     DATA, one per credit    ←   CREDIT (its number; what has arrived in order)
 *     STOP, when all is sent  →   sends no more
 *                             ←   DONE (what has arrived in order)
 *                             ←   NACK: there is a gap; go back to it
 *
 * At the port credits go first, when the bucket allows one, then everything else from one FIFO. So
 * a sender queues only data that credits have asked for.
 *
 * On the wire (wire.c): IP protocol 253 and 20 bytes; in struct oche_packet, the members `xpass`
 * and `xpass_offset`.
 */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_XPASS_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_XPASS_H

#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "core/qp/slots.h"
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
    OCHE_XPASS_ASKING,  /* a REQUEST is on its way */
    OCHE_XPASS_SENDING, /* credits arrive */
    OCHE_XPASS_STOPPING /* a STOP is on its way */
};

struct oche_xpass_sender {
    uint64_t next, high;         /* next byte to send; end of the bytes sent at least once */
    uint64_t acked;              /* the receiver has all bytes up to here */
    uint64_t available;          /* end of the bytes that are ready to send */
    uint64_t first_end;          /* end of the first flow that is not completed */
    oche_time heard;             /* when the last credit came or credits were last asked for */
    uint64_t retransmitted;      /* packets */
    uint32_t started, completed; /* how many flows have started, and completed, so far */
    uint32_t timeouts;
    uint32_t stop; /* number of the last STOP */
    uint8_t state; /* enum oche_xpass_state */
    oche_time due; /* when to repeat a REQUEST or STOP; OCHE_NEVER: there is none to repeat */
    /* The flow whose data the application is still producing (supply.c); NULL: none. */
    const struct oche_flow_plan *supplied;
    oche_time supplied_from, sent_at; /* when the flow started; when its last frame was queued */
};

struct oche_xpass_receiver {
    uint64_t next;      /* the byte expected next */
    uint64_t delivered; /* end of the last flow that was completely delivered */
    struct oche_xpass_feedback feedback;
    struct oche_random random;
    oche_time heard; /* when the last data or REQUEST arrived */
    oche_time nacked_at;
    /* Number of the next credit to send; number of the credit that the next data should answer. */
    uint32_t credit, credit_expected;
    bool gap; /* there is a gap and a NACK for `next` was sent */
    bool sending;
};

/* One end of a connection. */
struct oche_xpass_end {
    struct oche_xpass_end *next_unused;
    uint32_t number, slot; /* number of the connection; index in the host's tables */
    uint32_t peer;
    uint32_t flow_hash;
    bool sends; /* true: sender; false: receiver */
    union {
        struct oche_xpass_sender sender;
        struct oche_xpass_receiver receiver;
    };
};

/* A packet that waits for the port, with all its fields. */
struct oche_xpass_item {
    uint64_t place;
    oche_time since;
    uint32_t connection, peer, flow_hash;
    uint32_t credit, time;
    uint16_t payload;
    uint8_t kind;
    uint8_t extra; /* bytes by which a credit is longer */
    bool again;
};

/* A FIFO of items. */
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
    double most_credit_rate; /* bytes of credits on the line per second */
    double credit_bytes;     /* mean size of a credit */
    uint64_t line_rate_bps;
    struct heap timers;
    struct map connections;
    struct oche_xpass_end **ends; /* by slot */
    struct slots slots;
    struct oche_xpass_end *unused;
    uint64_t late, corrupt;
    uint64_t credits_dropped; /* credits dropped because the host's own port was full */
    uint64_t credits_wasted;  /* credits that arrived when there was no data to send */
    struct oche_nic_stats stats;
};

/* Returns the size of a frame, from Ethernet header to FCS. */
static inline uint32_t oche_xpass_frame_bytes(uint32_t payload, bool ipv6)
{
    uint32_t bytes = OCHE_ETH_BYTES + (ipv6 ? 0U + OCHE_IPV6_BYTES : OCHE_IPV4_BYTES) +
                     OCHE_XPASS_HEADER_BYTES + payload + OCHE_FCS_BYTES;

    return bytes < OCHE_MIN_FRAME_BYTES ? OCHE_MIN_FRAME_BYTES : bytes;
}

/* ends.c: the ends of connections, their memory and timers, and packets that wait. */
void oche_xpass_ends_init(struct oche_xpass *xpass, uint32_t most);
/* Returns NULL if the connection has no end open here. */
struct oche_xpass_end *oche_xpass_find(const struct oche_xpass *xpass, uint32_t connection);
/* Returns a new end, zeroed except for its identity. */
struct oche_xpass_end *oche_xpass_open(struct oche_xpass *xpass, uint32_t connection, uint32_t peer,
                                       bool sends);
void oche_xpass_close(struct oche_xpass *xpass, struct oche_xpass_end *end);
void oche_xpass_set_timer(struct oche_xpass *xpass, const struct oche_xpass_end *end,
                          oche_time when);
/* Queues `item`, after filling in its fields that identify `end`. */
void oche_xpass_put(struct oche_xpass *xpass, struct oche_xpass_items *items,
                    const struct oche_xpass_end *end, struct oche_xpass_item item);
struct oche_xpass_item oche_xpass_take(struct oche_xpass_items *items);

/* supply.c: flows whose bytes are produced at a given rate (dart.md#d28) */
void oche_xpass_supply_begin(struct oche_xpass_sender *sender, const struct oche_flow_plan *plan,
                             oche_time now);
/* Makes the bytes produced by `now` available to send, in whole frames. */
void oche_xpass_supply(const struct oche_xpass *xpass, struct oche_xpass_sender *sender,
                       oche_time now);
/* Returns when the sender must check its supply next; OCHE_NEVER if never. */
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
/*
 * Opens an end for the first packet of a connection, or for a late packet of a closed connection.
 * Returns NULL if the packet is not for this host.
 */
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
