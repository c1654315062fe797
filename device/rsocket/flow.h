/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control of a stream's two directions. A receiver has a ring of two halves. It gives each
 * half to the peer, which fills one after the other; a half is given again when the program has
 * read it. A message of data also needs a credit: messages are numbered modulo 65536, and the
 * receiver sets the limit.
 *
 * A peer's messages are checked here: they must stay within their places. These functions do no
 * I/O.
 */
#ifndef OCHE_DEVICE_RSOCKET_FLOW_H
#define OCHE_DEVICE_RSOCKET_FLOW_H

#include "device/rsocket/wire.h"

#define RS_PLACES 2 /* in our list */

/* The direction from the peer to us. */
struct rs_inflow {
    uint32_t half;       /* bytes */
    uint32_t granted;    /* bytes that the peer may still write */
    uint32_t head, tail; /* offsets into the ring: of the next arrival, of the next byte to read */
    uint32_t filled;     /* bytes that have arrived and are unread */
    uint32_t free, free_at;  /* bytes that have been read and were not given again; where */
    uint16_t credits;        /* messages that may be on their way */
    uint16_t arrived, limit; /* messages so far; the number at which the peer has to stop */
    uint32_t entry;          /* index in the peer's list of the next place */
    uint32_t entries;
};

/* The direction from us to the peer. */
struct rs_outflow {
    struct rs_place places[RS_PLACES];
    uint32_t current, count; /* index of the place that is being filled; number of places */
    uint16_t sent, limit;
};

/*
 * Starts with a ring of 2 * half bytes, and the peer's list of places. The peer already has the
 * first half of the ring.
 */
void rs_inflow_start(struct rs_inflow *flow, uint32_t half, uint16_t credits, uint32_t entries);
/* A message of `bytes` has arrived. Returns false if the peer was not allowed to send it. */
bool rs_inflow_arrived(struct rs_inflow *flow, uint32_t bytes);
/* A message that needs a credit, but has no data, has arrived. As above. */
bool rs_inflow_counted(struct rs_inflow *flow);
/* Returns how many bytes can be read at flow->tail, without going round the ring's end. */
uint32_t rs_inflow_readable(const struct rs_inflow *flow);
void rs_inflow_read(struct rs_inflow *flow, uint32_t bytes);
/* True if the peer should learn of a free half, or of credits. */
bool rs_inflow_should_give(const struct rs_inflow *flow);
/*
 * Gives the peer the free half and credits (flow->limit). Returns true if there is a half: *offset
 * is its place in the ring, and *entry the entry of the peer's list to write.
 */
bool rs_inflow_give(struct rs_inflow *flow, uint32_t *offset, uint32_t *entry);

void rs_outflow_start(struct rs_outflow *flow, const struct rs_hello *peer);
/* The peer has written a place into our list. Returns false if it must not have. */
bool rs_outflow_granted(struct rs_outflow *flow, const struct rs_place *place);
void rs_outflow_credits(struct rs_outflow *flow, uint32_t limit);
/* Returns the largest size of the next message; 0: none may be sent. */
uint32_t rs_outflow_room(const struct rs_outflow *flow);
/* True if a message that needs a credit, but no place, may be sent. */
bool rs_outflow_credit(const struct rs_outflow *flow);
/* Takes at most that many. Returns where they go; its length is that of the rest. */
struct rs_place rs_outflow_take(struct rs_outflow *flow, uint32_t bytes);

#endif
