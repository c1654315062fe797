/* SPDX-License-Identifier: Apache-2.0 */
/* The internal state of a switch, for the files of fabric/ and the packet path only. */
#ifndef OCHE_FABRIC_SWITCH_STATE_H
#define OCHE_FABRIC_SWITCH_STATE_H

#include "fabric/ecn.h"
#include "fabric/holds.h"
#include "fabric/mechanism.h"
#include "fabric/pause.h"
#include "fabric/pfc.h"
#include "fabric/priority.h"
#include "fabric/shared_buffer.h"
#include "fabric/switch.h"

/* Counters, link state and marking thresholds: packets seldom touch these. */
struct oche_switch_cold {
    uint64_t marks;
    struct oche_red_ramp ramp; /* with kmin above every queue if the port does not mark */
    uint64_t drops[OCHE_DROP_CAUSES];
    uint32_t max_bytes;             /* longest queue until the last oche_switch_take_peak */
    uint8_t held;                   /* classes that a mechanism holds back */
    uint8_t ignored;                /* classes whose PAUSE a mechanism ignores */
    bool down;                      /* the port's link is down */
    bool above;                     /* the node at the other end is above this switch */
    struct oche_queue_watch *watch; /* or NULL */
};

/* Bits for the hooks that at least one mechanism of the switch has. */
#define OCHE_HOOK_ROUTE   UINT8_C(1)
#define OCHE_HOOK_ENQUEUE UINT8_C(2)
#define OCHE_HOOK_DEQUEUE UINT8_C(4)
#define OCHE_HOOK_HOLDS   UINT8_C(8) /* set by holds (fabric/holds.h), not by a mechanism */
#define OCHE_HOOK_ADMIT   UINT8_C(16)
#define OCHE_HOOK_DROPPED UINT8_C(32)
#define OCHE_HOOK_FRAMES  UINT8_C(64)  /* a mechanism has frames of the link, which replace PFC's */
#define OCHE_HOOK_LINKS   UINT8_C(128) /* set if links may go down, not by a mechanism */

struct oche_switch_hooked {
    const struct oche_switch_mechanism *ops;
    void *state;
};

/* Four cache lines: arrival touches the first three, departure the second and third. */
struct oche_switch {
    struct oche_routes routes;
    uint64_t salt; /* salt of ECMP */

    uint16_t port_count;
    uint8_t class_count;
    uint8_t lossless; /* mask of the classes under PFC; 0 if PFC is off */
    uint8_t lines;    /* cache lines of `egress` per port */
    uint8_t hooks;    /* OCHE_HOOK_… */
    bool mark_at_enqueue;
    uint8_t lanes;                /* mask of the classes that are lanes; 0: there are no lanes */
    struct oche_egress *egress;   /* array with `lines` elements per port */
    struct oche_ingress *ingress; /* array with `class_count` elements per port */
    uint64_t least_kmin;          /* least kmin of all ports: up to this queue no port marks */
    struct oche_random random;    /* for marks */
    struct oche_switch_cold *cold;
    struct oche_pause *pauses; /* one per port */
    uint64_t port_limit;       /* lossy classes: limit on the bytes in a port's egress queues */

    struct oche_buffer buffer;

    struct oche_pfc pfc;
    oche_time *due; /* for each port: when the next pause, end of pause, or refresh is due */
    oche_time next; /* the earliest of `due` and of the mechanisms' timers */
    struct oche_switch_hooked *mechanisms;
    uint32_t mechanism_count;
    struct oche_holds holds;
    /* the configuration's up_down; false if a mechanism turns packets; used with OCHE_HOOK_LINKS */
    bool up_down;
    uint8_t last_drop;
    /* packets that a mechanism has taken out of queues, linked by `next`; NULL: none */
    struct oche_packet *discarded;
    const struct oche_switch_hooked *trims; /* the mechanism with `trim`; NULL: there is none */
} __attribute__((aligned(OCHE_CACHE_LINE)));

_Static_assert(offsetof(struct oche_switch, port_count) == 64, "line of departure");
_Static_assert(offsetof(struct oche_switch, buffer) == 128, "line of the buffer");

static inline struct oche_egress *oche_switch_egress(const struct oche_switch *sw, unsigned port)
{
    return sw->egress + (size_t)port * sw->lines;
}

static inline struct oche_ingress *oche_switch_ingress(const struct oche_switch *sw, unsigned port,
                                                       unsigned cls)
{
    return sw->ingress + (size_t)port * sw->class_count + cls;
}

/* True if the class is a lane. */
static inline bool oche_switch_is_lane(const struct oche_switch *sw, unsigned cls)
{
    return OCHE_UNLIKELY(sw->lanes != 0) && (sw->lanes >> cls & 1);
}

/*
 * Returns the bytes that wait at a port in the queue of `cls`; for a lane, those of all lanes
 * together.
 */
static inline uint32_t oche_switch_class_bytes(const struct oche_switch *sw,
                                               const struct oche_egress *egress, unsigned cls)
{
    uint32_t bytes = 0;

    if (OCHE_LIKELY(!oche_switch_is_lane(sw, cls)))
        return oche_egress_class_bytes(egress, cls);
    for (uint8_t left = sw->lanes; left != 0; left &= (uint8_t)(left - 1))
        bytes += oche_egress_class_bytes(egress, (unsigned)__builtin_ctz(left));
    return bytes;
}

/*
 * Returns the class in which a packet in the queue of `cls` came in. Only a switch with lanes
 * changes a packet's class, and there the packet remembers it.
 */
static inline unsigned oche_switch_in_class(const struct oche_switch *sw,
                                            const struct oche_packet *packet, unsigned cls)
{
    return OCHE_UNLIKELY(sw->lanes != 0) ? packet->in_class : cls;
}

/* Frees the memory of a packet that came in in class `in_cls` and has left its queue. */
static inline void oche_switch_release(struct oche_switch *sw, const struct oche_packet *packet,
                                       unsigned in_cls)
{
    if (OCHE_LIKELY(sw->lossless >> in_cls & 1)) {
        struct oche_ingress *in = oche_switch_ingress(sw, packet->ingress_port, in_cls);
        oche_buffer_release(&sw->buffer, in, packet->frame_bytes);
        if (OCHE_UNLIKELY(in->xoff || (int64_t)sw->buffer.used <= sw->buffer.resume_level))
            oche_pfc_test_resume(sw, packet->ingress_port, in_cls);
    } else {
        sw->buffer.used -= packet->frame_bytes;
        if (OCHE_UNLIKELY((int64_t)sw->buffer.used <= sw->buffer.resume_level))
            oche_pfc_test_resume(sw, packet->ingress_port, in_cls);
    }
}

/*
 * For mechanisms, and RED: marks a packet that leaves by `port`, or waits for it, with CE, and
 * counts it among the port's marks (struct oche_switch_port_stats). Returns false, and does
 * nothing, if the packet is not ECN-capable or has been marked before.
 */
static inline bool oche_switch_mark(struct oche_switch *sw, unsigned port,
                                    struct oche_packet *packet)
{
    if (!oche_ecn_capable(packet))
        return false;
    packet->ecn = OCHE_ECN_CE;
    sw->cold[port].marks++;
    return true;
}

/* Updates the port's watch. Call this when the bytes that wait at a watched port have changed. */
void oche_switch_watch_change(struct oche_switch *sw, unsigned port, oche_time now);

/*
 * For mechanisms: from now on holds back exactly the classes of the mask `classes` at `port`. This
 * does not change which classes PFC has paused.
 */
void oche_switch_hold(struct oche_switch *sw, unsigned port, uint8_t classes);
/*
 * For mechanisms: from now on `port` ignores PFC frames for exactly the classes of the mask
 * `classes`: it sends their packets although the peer has paused them. What the peer has asked for
 * is still recorded and counted. To be called in `expire`, with oche_switch_call.
 */
void oche_switch_ignore_pause(struct oche_switch *sw, unsigned port, uint8_t classes);
/*
 * For a mechanism's `expire`: takes all packets of class `cls` out of the queue of `port`, and
 * counts them as OCHE_DROP_MECHANISM. The driver gets them from oche_switch_take_discarded. Returns
 * their number.
 */
uint64_t oche_switch_discard(struct oche_switch *sw, unsigned port, unsigned cls, oche_time now);
/*
 * Takes the first packet of class `cls`, whose queue must not be empty, out of the queue of `port`
 * without sending it, and counts it as a drop for this cause. Returns the packet; it is the
 * caller's.
 */
struct oche_packet *oche_switch_lose(struct oche_switch *sw, unsigned port, unsigned cls,
                                     enum oche_drop cause, oche_time now);
/*
 * For a mechanism's `trim`: takes the last packet of class `cls`, whose queue must not be empty,
 * out of the queue of `port`. Returns the packet, which `trim` returns in turn.
 */
struct oche_packet *oche_switch_take_last(struct oche_switch *sw, unsigned port, unsigned cls,
                                          oche_time now);
/*
 * For mechanisms with frames of the link: tells that `port` has a frame to send, before any packet.
 */
void oche_switch_frame_waits(struct oche_switch *sw, unsigned port);
/* Fills `frame` with the mechanism's frame that waits at `port`. */
void oche_switch_frame_take(struct oche_switch *sw, unsigned port, struct oche_packet *frame,
                            oche_time now);
/*
 * For a mechanism's `expire`: makes oche_switch_expire report `port`, which may be able to send
 * now.
 */
void oche_switch_call(struct oche_switch *sw, unsigned port, oche_time now);

/* Recomputes when `port` needs oche_switch_expire. */
void oche_switch_set_due(struct oche_switch *sw, unsigned port);

#endif
