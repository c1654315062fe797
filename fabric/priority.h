/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress queues of a port: one FIFO per traffic class, strict priority, highest class first.
 * ACKs, NAKs and CNPs travel above data in every paper that oche reproduces (DCQCN sec 3.3).
 *
 * Lanes: the lowest classes of a switch may be lanes of one class (virtual lanes against deadlock,
 * dart.md#d21). They are paused separately, but served as one FIFO: of the lanes that may send, the
 * one whose first packet has waited longest is next. So no lane has priority over another. A packet
 * never overtakes another packet of its own lane, and overtakes an earlier packet of another lane
 * only while that lane is paused. Therefore packets that must stay in order, such as those of a
 * message, must all use the same lane at a port.
 *
 * Layout: one cache line holds two classes and everything that a departing packet touches; a port
 * with more classes has further lines directly after it. Lists are intrusive (packet->next).
 */
#ifndef OCHE_FABRIC_PRIORITY_H
#define OCHE_FABRIC_PRIORITY_H

#include "core/base.h"
#include "core/wire/packet.h"

#define OCHE_EGRESS_LINE_CLASSES 2

/* Bits of oche_egress.flags. */
#define OCHE_EGRESS_PFC_WAITS UINT8_C(1) /* a PFC frame must be sent before any packet */
#define OCHE_EGRESS_WATCHED   UINT8_C(2) /* a queue watch is attached */

struct oche_egress_queue {
    struct oche_packet *head, *tail; /* valid if the class is in `waiting` */
};

/* A port has one or more of these. The members before `queue` are used only in its first one. */
struct oche_egress {
    uint64_t packets; /* sent since the last reset */
    /* sum of the times that the sent packets waited here, since the last reset */
    oche_time queueing;
    /* largest total of all queues, since the last reset or oche_switch_take_peak */
    uint32_t max_bytes;
    uint8_t waiting; /* mask of the classes that hold a packet */
    uint8_t paused;  /* mask of the classes that the peer has paused */
    uint8_t flags;
    uint8_t lines; /* number of lines of this port */
    struct oche_egress_queue queue[OCHE_EGRESS_LINE_CLASSES];
    uint32_t bytes[OCHE_EGRESS_LINE_CLASSES];
} __attribute__((aligned(OCHE_CACHE_LINE)));

_Static_assert(sizeof(struct oche_egress) == OCHE_CACHE_LINE, "two classes a line");

static inline unsigned oche_egress_lines(unsigned class_count)
{
    return (class_count + OCHE_EGRESS_LINE_CLASSES - 1) / OCHE_EGRESS_LINE_CLASSES;
}

/* Returns the bytes in all queues of the port. */
static inline uint32_t oche_egress_bytes(const struct oche_egress *port)
{
    uint32_t bytes = port->bytes[0] + port->bytes[1];

    for (unsigned i = 1; i < port->lines; i++)
        bytes += port[i].bytes[0] + port[i].bytes[1];
    return bytes;
}

static inline uint32_t oche_egress_class_bytes(const struct oche_egress *port, unsigned cls)
{
    return port[cls / OCHE_EGRESS_LINE_CLASSES].bytes[cls % OCHE_EGRESS_LINE_CLASSES];
}

/* Returns the classes that may send a packet now, as a mask. */
static inline uint8_t oche_egress_eligible(const struct oche_egress *port)
{
    return (uint8_t)(port->waiting & ~port->paused);
}

/* Returns the first packet in the queue of `cls`, which must not be empty. */
static inline const struct oche_packet *oche_egress_first(const struct oche_egress *port,
                                                          unsigned cls)
{
    return port[cls / OCHE_EGRESS_LINE_CLASSES].queue[cls % OCHE_EGRESS_LINE_CLASSES].head;
}

/* Returns the last packet in the queue of `cls`, which must not be empty. */
static inline const struct oche_packet *oche_egress_last(const struct oche_egress *port,
                                                         unsigned cls)
{
    return port[cls / OCHE_EGRESS_LINE_CLASSES].queue[cls % OCHE_EGRESS_LINE_CLASSES].tail;
}

/* Appends `packet` to the queue of `cls`. */
static inline void oche_egress_put(struct oche_egress *port, unsigned cls,
                                   struct oche_packet *packet)
{
    struct oche_egress *line = port + cls / OCHE_EGRESS_LINE_CLASSES;
    struct oche_egress_queue *queue = &line->queue[cls % OCHE_EGRESS_LINE_CLASSES];
    uint8_t bit = (uint8_t)(1U << cls);
    uint32_t bytes;

    packet->next = NULL;
    if (port->waiting & bit)
        queue->tail->next = packet;
    else
        queue->head = packet;
    queue->tail = packet;
    port->waiting |= bit;
    line->bytes[cls % OCHE_EGRESS_LINE_CLASSES] += packet->frame_bytes;
    bytes = oche_egress_bytes(port);
    if (bytes > port->max_bytes)
        port->max_bytes = bytes;
}

/* Removes the first packet of `cls`, whose queue must not be empty, and counts it as sent. */
static inline struct oche_packet *oche_egress_take(struct oche_egress *port, unsigned cls,
                                                   oche_time now)
{
    struct oche_egress *line = port + cls / OCHE_EGRESS_LINE_CLASSES;
    struct oche_egress_queue *queue = &line->queue[cls % OCHE_EGRESS_LINE_CLASSES];
    struct oche_packet *packet = queue->head;

    queue->head = packet->next;
    __builtin_prefetch(packet->next, 1); /* it has waited, and the cache may have lost it */
    if (packet->next == NULL)
        port->waiting &= (uint8_t) ~(1U << cls);
    line->bytes[cls % OCHE_EGRESS_LINE_CLASSES] -= packet->frame_bytes;
    port->packets++;
    port->queueing += now - packet->when;
    return packet;
}

/*
 * Removes the last packet of `cls`, whose queue must not be empty, and does not count it as sent.
 * Walks the whole queue.
 */
struct oche_packet *oche_egress_take_last(struct oche_egress *port, unsigned cls);

/* Returns the highest class of a mask, which must not be empty. */
static inline unsigned oche_egress_highest(uint8_t classes)
{
    return 31U - (unsigned)__builtin_clz(classes);
}

/*
 * Returns that class of `classes` whose first packet has waited longest. If several packets arrived
 * at the same time, returns the highest class, because packets in higher lanes have travelled
 * further. `classes` is not empty, and all of them hold a packet.
 */
static inline unsigned oche_egress_oldest(const struct oche_egress *port, uint8_t classes)
{
    unsigned oldest = oche_egress_highest(classes);

    for (uint8_t left = classes & (uint8_t) ~(1U << oldest); left != 0;) {
        unsigned cls = oche_egress_highest(left);

        if (oche_egress_first(port, cls)->when < oche_egress_first(port, oldest)->when)
            oldest = cls;
        left &= (uint8_t) ~(1U << cls);
    }
    return oldest;
}

/* Empties the lines of one port. */
void oche_egress_init(struct oche_egress *port, unsigned class_count);

#endif
