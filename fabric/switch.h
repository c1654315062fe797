/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One output-queued, shared-buffer switch, without clock or I/O: packet in, port decisions out.
 * The driver moves packets over links and knows the time; the switch routes, admits, queues,
 * marks, pauses and picks. The same code can carry simulated structs or real packets.
 *
 * The driver's part, per event:
 *     arrival of a data packet:  port = oche_switch_receive(...); if the port is free, transmit
 *     arrival of a PFC frame:    oche_switch_receive_pause(...); transmit if that freed the port
 *     port free:                 oche_switch_take_pause(...), else oche_switch_transmit(...)
 *     after each of these:       while ((p = oche_switch_pause_port(sw)) >= 0) kick port p
 *     now >= oche_switch_next(): while ((p = oche_switch_expire(...)) >= 0) kick port p
 *
 * "Kick" is: if the port is idle, and oche_switch_ready says so, send what "port free" gives.
 */
#ifndef OCHE_FABRIC_SWITCH_H
#define OCHE_FABRIC_SWITCH_H

#include "core/base.h"
#include "core/error.h"
#include "core/param.h"
#include "core/random.h"
#include "core/wire/packet.h"

enum oche_buffer_threshold { OCHE_THRESHOLD_DYNAMIC, OCHE_THRESHOLD_STATIC };
enum oche_ecn_point { OCHE_ECN_AT_DEQUEUE, OCHE_ECN_AT_ENQUEUE };

#define OCHE_HOP_LIMIT 64 /* links a packet may have crossed when it reaches a switch */

/* Bound to the `switch` section of a scenario by oche_switch_params. */
struct oche_switch_params {
    uint64_t buffer_bytes;   /* shared by all ports */
    uint32_t threshold;      /* enum oche_buffer_threshold */
    double beta;             /* dynamic: share of the free buffer (DCQCN sec 4) */
    uint64_t xoff_bytes;     /* static: per ingress port and class; 0: the formula's bound */
    bool pfc;                /* false: drop-tail */
    uint64_t pfc_priorities; /* that the buffer is divided for; 0: the lossless classes in use */
    uint64_t chip_ports;     /* that headroom is kept for; 0: the ports there are */
    uint64_t headroom_bytes; /* per ingress port and priority; OCHE_NEVER: from each link */
    double headroom_scale;   /* times that; 1 unless a what-if says otherwise */
    oche_time pfc_response;  /* from the arrival of a PAUSE frame until it takes effect */
    double egress_alpha;     /* lossy classes: queue limit as a share of the free buffer; 0: none */
    uint64_t
        port_buffer_bytes; /* lossy classes: limit of a port's egress queues together; 0: none */
    bool ecn;
    uint64_t kmin_bytes, kmax_bytes;
    double pmax;
    uint32_t ecn_at;        /* enum oche_ecn_point */
    const char *mechanisms; /* names, with commas between them (fabric/registry.h); NULL: none. For
                               the driver: a switch has those of its configuration */
};
extern const struct oche_param_table oche_switch_params;

/* Where a port leads: for routing restrictions and for counting marks by place. */
enum oche_port_place {
    OCHE_PLACE_TO_HOST, /* ToR → host */
    OCHE_PLACE_TOR_UP,  /* ToR → up */
    OCHE_PLACE_AGGREGATION,
    OCHE_PLACE_CORE,
    OCHE_PLACE_HOST_NIC, /* a host's own port; never a switch's */
    OCHE_PLACES
};

struct oche_switch_port_config {
    uint64_t rate_bps;
    oche_time delay; /* of the link, one way */
    uint8_t place;   /* enum oche_port_place */
    /* Of what is at the other end, to a PAUSE frame; headroom is for the switch's own at least. */
    oche_time peer_response;
    bool up; /* the far end is above: for mechanisms; see fabric/iofd.h */
};

/*
 * Routes by destination group (a ToR). `ports` lists ECMP candidates; a packet takes
 * ports[set.first + hash(five-tuple, switch) * set.count]. Memory belongs to the driver.
 */
struct oche_port_set {
    uint32_t first;
    uint32_t count; /* 0: unreachable, packets are dropped and counted */
};

struct oche_routes {
    const uint32_t *group_of;     /* by address: its group; shared by all switches */
    const uint16_t *set_of_group; /* by group: index into sets */
    const struct oche_port_set *sets;
    const uint16_t *ports;
    const uint16_t *port_of_address; /* by address: the port at its own ToR; shared */
    uint32_t own_group;              /* the group attached here, or UINT32_MAX */
    uint32_t addresses;              /* how many there are; beyond: dropped */
};

struct oche_switch_mechanism;

/* What `routes`, `onward`, `mechanisms` and `mechanism_params` point at must outlive the switch. */
struct oche_switch_config {
    const struct oche_switch_params *params;
    uint32_t node; /* identity: random streams, ECMP seed */
    uint64_t seed;
    uint32_t port_count;
    const struct oche_switch_port_config *ports;
    uint8_t class_count;      /* traffic classes in use: 0 … class_count-1, highest first */
    uint8_t lossless_classes; /* mask: PFC applies to these */
    /*
     * Of the classes, the lowest that are lanes of one data class (fabric/priority.h): 0 … lanes-1.
     * 0 or 1: there are no lanes. A mechanism moves packets from one to another.
     */
    uint8_t lanes;
    uint32_t mtu_frame_bytes;    /* largest frame, for headroom and RESUME */
    uint32_t answer_frame_bytes; /* of what answers or calls for it: an ACK, a credit */
    /*
     * 0: the switch makes its choices among equal ways alone, by its number. Else all switches with
     * the same number here make the same choice for a flow; with the right numbers two hosts'
     * packets to each other then take the same way (sim/topology/walk.h).
     */
    uint32_t tier;
    struct oche_routes routes;
    /*
     * Links may go down (fabric/link_failure.c). up_down: routes go up and then down whatever
     * fails, so a packet that came down and would go up again, because routes have changed
     * meanwhile, is dropped as one without a route: with PFC such turns can close a circle.
     */
    bool links_fail, up_down;
    /*
     * For mechanisms that send packets by other ports than the routes say, else NULL: a bit for
     * each port and group (bit port * groups + group), whether behind that port there is a way to
     * the group that does not come back by it.
     */
    const uint64_t *onward;
    uint32_t groups;
    /* Beside the built-in ones (fabric/mechanism.h), each with its parameters; usually none. */
    const struct oche_switch_mechanism *const *mechanisms;
    const void *const *mechanism_params;
    uint32_t mechanism_count;
};

enum oche_drop {
    OCHE_DROP_BUFFER,    /* shared buffer or threshold (lossy class), or headroom full */
    OCHE_DROP_NO_ROUTE,  /* destination unknown or unreachable */
    OCHE_DROP_TTL,       /* OCHE_HOP_LIMIT exceeded: a routing loop */
    OCHE_DROP_MECHANISM, /* a mechanism did not admit it: a credit beyond its port's few */
    OCHE_DROP_LINK_DOWN, /* waited at the port, or was to leave by it, and its link is down */
    OCHE_DROP_CAUSES
};

struct oche_switch_port_stats {
    uint64_t packets;                        /* transmitted, PFC frames not counted */
    oche_time queueing_time;                 /* from arrival until they began to leave, summed */
    uint64_t marks;                          /* CE set on packets that left here */
    uint64_t drops[OCHE_DROP_CAUSES];        /* by egress port; NO_ROUTE and TTL by ingress */
    uint64_t pauses_sent[OCHE_CLASSES];      /* XOFF frames, refreshes not counted */
    oche_time pause_sent_time[OCHE_CLASSES]; /* that the upstream was held paused by us */
    uint64_t refreshes_sent[OCHE_CLASSES];
    uint64_t pauses_received[OCHE_CLASSES]; /* XOFF frames, refreshes counted */
    oche_time paused_time[OCHE_CLASSES];    /* that this port was paused by its peer */
    uint64_t max_queue_bytes;               /* of the egress queues together */
};

struct oche_switch;

/*
 * Whether such a switch can be. If not, `text` (of `size` bytes) says in one line which parameter
 * stands against it, with the numbers: "headroom exceeds the buffer", and the like.
 */
bool oche_switch_check(const struct oche_switch_config *config, struct oche_error *error);

/* Bytes of memory that such a switch needs; `config` must have passed oche_switch_check. */
size_t oche_switch_bytes(const struct oche_switch_config *config);
/* Makes the switch in `memory` (aligned to OCHE_CACHE_LINE), which stays the caller's. */
struct oche_switch *oche_switch_create(void *memory, const struct oche_switch_config *config);

/*
 * A packet arrived whole at `in_port`. Returns the egress port, whose queue has it now, or -1:
 * dropped and counted, the packet is the caller's again. Counts the link just crossed in
 * packet->hops (the driver does not). A class that is not in use is taken for class 0.
 */
int oche_switch_receive(struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                        oche_time now);
/*
 * Looks ahead, for speed alone: what these touch is fetched into the cache, nothing else changes.
 * The first is for the packet that arrives next at `in_port` of this switch: finds its egress
 * port (remembered in the packet) and returns it, or -1. The others are for a port that is about
 * to send: first its queues, a moment later the packet at their head.
 */
int oche_switch_look_ahead(const struct oche_switch *sw, unsigned in_port,
                           struct oche_packet *packet);
void oche_switch_fetch_port(const struct oche_switch *sw, unsigned port);
void oche_switch_fetch_head(const struct oche_switch *sw, unsigned port);
/* Whether `port` has something that may leave at `now` (a PFC frame, or a class not paused). */
bool oche_switch_ready(const struct oche_switch *sw, unsigned port);
/* The next packet to leave by `port`, or NULL. The packet is the caller's again. */
struct oche_packet *oche_switch_transmit(struct oche_switch *sw, unsigned port, oche_time now);

/* PFC. A frame arrived; it takes effect after pfc_response (see oche_switch_next). */
void oche_switch_receive_pause(struct oche_switch *sw, unsigned port,
                               const struct oche_packet *frame, oche_time now);
/* A frame of a mechanism's for this end of the link arrived (fabric/mechanism.h). */
void oche_switch_receive_frame(struct oche_switch *sw, unsigned port,
                               const struct oche_packet *frame, oche_time now);
/*
 * A port that got a PFC frame (or a mechanism's in place of it, here and below) to send, or -1.
 * Each is named once; the frame waits at the port (oche_switch_ready) until oche_switch_take_pause,
 * or until it has become pointless.
 */
int oche_switch_pause_port(struct oche_switch *sw);
/* Whether a PFC frame waits at `port`. */
bool oche_switch_pause_waits(const struct oche_switch *sw, unsigned port);
/*
 * Fills `frame` with the PFC frame that waits at `port`; false if there is none. The frame's tag
 * and payload pointer stay as they are.
 */
bool oche_switch_take_pause(struct oche_switch *sw, unsigned port, struct oche_packet *frame,
                            oche_time now);
/* When `expire` is next needed: a received PAUSE begins or ends, a sent one wants a refresh. */
oche_time oche_switch_next(const struct oche_switch *sw);
/* Does it. Returns the first port that may have become ready, or -1; call until -1. */
int oche_switch_expire(struct oche_switch *sw, oche_time now);

/*
 * A link goes down, or comes back; only with links_fail. What waits at the port is lost: after
 * oche_switch_link_down, oche_switch_flush gives it back packet by packet, NULL at the end, and
 * these packets are the caller's again, counted as OCHE_DROP_LINK_DOWN. PFC of both directions is
 * forgotten, as it is at the other end; ingress classes that are still to be paused when the link
 * comes back are told so anew (oche_switch_pause_port). Each is called once, in turn.
 */
void oche_switch_link_down(struct oche_switch *sw, unsigned port, oche_time now);
struct oche_packet *oche_switch_flush(struct oche_switch *sw, unsigned port, oche_time now);
void oche_switch_link_up(struct oche_switch *sw, unsigned port);
bool oche_switch_link_is_down(const struct oche_switch *sw, unsigned port);
/* Other routes from now on, and what mechanisms must know of them (see oche_switch_config). */
void oche_switch_reroute(struct oche_switch *sw, const struct oche_routes *routes,
                         const uint64_t *onward);
/* Why oche_switch_receive or _flush dropped the last packet that it did. */
enum oche_drop oche_switch_last_drop(const struct oche_switch *sw);

/* Counters. Open intervals (a pause that lasts) are closed at `now` in the copy. */
void oche_switch_port_stats(const struct oche_switch *sw, unsigned port, oche_time now,
                            struct oche_switch_port_stats *out);
void oche_switch_reset_stats(struct oche_switch *sw, oche_time now); /* end of warm-up */
/* What the switch's mechanism number 0 … counts, since then: as many values as its table has. */
void oche_switch_mechanism_counters(const struct oche_switch *sw, unsigned number,
                                    uint64_t *values);
uint64_t oche_switch_queue_bytes(const struct oche_switch *sw, unsigned port);
uint64_t oche_switch_occupied_bytes(const struct oche_switch *sw);
/* Per class, as computed for the port's link. */
uint64_t oche_switch_headroom_bytes(const struct oche_switch *sw, unsigned port);
/* t_PFC now: an ingress class that holds more than this is paused. */
uint64_t oche_switch_xoff_bytes(const struct oche_switch *sw);
/* What one ingress class holds now; 0 for a lossy class, which is not accounted. */
uint64_t oche_switch_ingress_bytes(const struct oche_switch *sw, unsigned port, unsigned cls);
/* Whether `port` is paused by its peer, and whether we hold its upstream paused. */
bool oche_switch_is_paused(const struct oche_switch *sw, unsigned port, unsigned cls);
bool oche_switch_is_pausing(const struct oche_switch *sw, unsigned port, unsigned cls);

/*
 * Who holds what (fabric/holds.h): why an ingress class is paused, and whether it can resume. Kept
 * from oche_switch_keep_holds on, in `memory` of so many zeroed bytes that must outlive the switch.
 */
size_t oche_switch_holds_bytes(const struct oche_switch *sw);
void oche_switch_keep_holds(struct oche_switch *sw, void *memory, oche_time now);
bool oche_switch_keeps_holds(const struct oche_switch *sw);
/*
 * Bytes that came in at `in` in class `in_cls` and wait at `out` in class `cls` (another one only
 * where there are lanes); 0 when not kept.
 */
uint32_t oche_switch_held_bytes(const struct oche_switch *sw, unsigned in, unsigned in_cls,
                                unsigned out, unsigned cls);

/* Of what an ingress class holds, the egress queue that has most. */
struct oche_pause_cause {
    uint32_t port, cls;            /* egress */
    uint32_t bytes, ingress_bytes; /* of the ingress class: in that queue, in all of them */
    bool held;                     /* that queue is long because its peer held it */
};
/* False if the class holds nothing, or holds are not kept. */
bool oche_switch_pause_cause(const struct oche_switch *sw, unsigned in, unsigned cls, oche_time now,
                             struct oche_pause_cause *cause);
/* Classes whose upstream at `port` was last told to stop. */
uint8_t oche_switch_pausing(const struct oche_switch *sw, unsigned port);
/* Since when (or since the last reset of counters) it is told so without a break, and is still to
 * be; OCHE_NEVER: it is not. */
oche_time oche_switch_pausing_since(const struct oche_switch *sw, unsigned port, unsigned cls);
/*
 * Whether the ingress class, which is paused, stays so when everything leaves the switch but
 * left[ingress * classes + class] bytes of each. `classes` are those of the configuration. With
 * holds kept; no entry exceeds what that ingress class holds now.
 */
bool oche_switch_stays_pausing(const struct oche_switch *sw, unsigned port, unsigned cls,
                               const uint32_t *left);

/* Watches a port's egress queue: time at each occupancy, in steps of `step_bytes`. */
struct oche_queue_watch {
    uint64_t step_bytes;
    uint32_t steps;  /* entries of `time`; the last takes all that is beyond */
    oche_time *time; /* picoseconds at occupancy floor(bytes / step_bytes) */
    oche_time since;
    uint64_t bytes, max_bytes;
};
/* `watch` belongs to the caller and must outlive the switch; NULL ends it. */
void oche_switch_watch(struct oche_switch *sw, unsigned port, struct oche_queue_watch *watch,
                       oche_time now);

#endif
