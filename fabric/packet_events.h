/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events: what happens to single packets at one place, in Lumina's words (SIGCOMM 2023;
 * github.com/lumina-test/lumina): {qpn, psn, type, iter}. The place is a device's receive side or a
 * port of the simulator. The state machine has no clock and no I/O. It answers which event applies
 * to a packet; the driver carries the event out.
 *
 * Events apply to data packets of RC and UC: SENDs, WRITEs and READ responses. Counting is per
 * stream: the requests to one queue pair from one sender, or its READ responses.
 *
 *     qpn   the stream's number, from 0, in the order of the streams' first data packets here
 *     psn   the PSN minus that of the stream's first data packet here
 *     iter  Lumina's counter. The state machine keeps the expected PSN, which is that of the packet
 *           before plus one. A packet with another PSN adds one; a message's first packet with the
 *           expected PSN sets the counter to 1. So 1 is the first transmission, 2 the one after the
 *           first resend.
 *
 * Where Lumina is silent:
 *     - Each event happens once, also if the counter comes to the same number again.
 *     - PSNs of a connection's other requests are no jump: a message's first packet may lie ahead
 *       of the expected PSN if a READ was the request before, and always among responses.
 *     - An event touches its packet alone. Packets behind a delayed one do not wait.
 *     - Of `reorder`: three packets overtake if `by` is 3. Counted are data packets of the stream
 *       that pass on; a dropped, delayed or reordered one is not counted.
 */
#ifndef OCHE_FABRIC_PACKET_EVENTS_H
#define OCHE_FABRIC_PACKET_EVENTS_H

#include "core/base.h"
#include "core/param.h"
#include "core/wire/packet.h"

#define OCHE_MOST_PACKET_EVENTS 2048

enum oche_packet_event_type {
    OCHE_PACKET_EVENT_DROP,
    OCHE_PACKET_EVENT_ECN,       /* the packet gets CE, whether it had ECT or not */
    OCHE_PACKET_EVENT_BIT_ERROR, /* the receiver sees a wrong ICRC */
    OCHE_PACKET_EVENT_DELAY,
    OCHE_PACKET_EVENT_REORDER,
    OCHE_PACKET_EVENT_DUPLICATE, /* the packet comes twice, at the same time */
    OCHE_PACKET_EVENT_TYPES
};
struct oche_packet_event {
    uint64_t qpn, psn, iter;
    uint32_t type;     /* enum oche_packet_event_type */
    uint64_t overtake; /* REORDER: how many packets overtake it; else 0 */
    oche_time delay;   /* DELAY: by how much; else 0 */
};
/* The members that each event has: qpn, psn, type, iter. */
extern const struct oche_param_table oche_packet_event_params;
/* Returns the member `by` of events of this type, or NULL. */
const struct oche_param *oche_packet_event_by(uint32_t type);

/* True if all members are in their ranges. */
bool oche_packet_event_valid(const struct oche_packet_event *event);
/* True if both are for the same packet, which a list must not have. */
bool oche_packet_event_same(const struct oche_packet_event *a, const struct oche_packet_event *b);

struct oche_packet_events;

/* Returns the bytes of memory for oche_packet_events_create. `count`: 1 to the most. */
size_t oche_packet_events_bytes(const struct oche_packet_event *list, uint32_t count);
/*
 * Makes the object in `memory` (aligned to 8), which stays the caller's. Copies the list, whose
 * events are valid, each for another packet.
 */
struct oche_packet_events *
oche_packet_events_create(void *memory, const struct oche_packet_event *list, uint32_t count);

/*
 * To be called for each packet that comes to the place, in order. Returns the event that applies,
 * or NULL. A packet with DROP or REORDER goes no further now.
 */
const struct oche_packet_event *oche_packet_events_see(struct oche_packet_events *events,
                                                       const struct oche_packet *packet);
/*
 * After an answer of REORDER, before the next packet is seen: the driver keeps the packet, whose
 * name is `handle`.
 */
void oche_packet_events_keep(struct oche_packet_events *events, void *handle);
/*
 * Returns the next of the kept packets that goes on, right behind the packet that was seen last, or
 * NULL. To be called until NULL, after each packet that was seen.
 */
void *oche_packet_events_release(struct oche_packet_events *events);

/* ---- results ---- */

/* What has happened so far. */
struct oche_packet_event_counts {
    uint64_t listed;   /* events in the list: those that have happened, and the others */
    uint64_t happened; /* the sum of `by_type` */
    uint64_t never;
    uint64_t by_type[OCHE_PACKET_EVENT_TYPES];
    uint64_t kept;       /* reordered packets that have not gone on */
    uint64_t first_left; /* number of the first event that has not happened, if any */
};
void oche_packet_events_counts(const struct oche_packet_events *events,
                               struct oche_packet_event_counts *counts);
/* Returns an event by its number in the list that the object was made from. */
const struct oche_packet_event *oche_packet_events_at(const struct oche_packet_events *events,
                                                      uint64_t number);
/* Returns the handle of a packet that is kept, `number` below counts.kept. */
void *oche_packet_events_kept(const struct oche_packet_events *events, uint32_t number);

#endif
