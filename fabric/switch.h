/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output-queued, shared-buffer switch without clock or I/O: packet in, port decisions out. The
 * driver moves packets over links and knows the time; the switch routes, admits, queues, marks,
 * pauses and schedules. The same code can carry simulated structs or real packets.
 *
 * The driver's part, per event:
 *     arrival of a data packet:  port = oche_switch_receive(...); if the port is free, transmit
 *     arrival of a PFC frame:    oche_switch_receive_pause(...); transmit if that freed the port
 *     port free:                 oche_switch_take_pause(...), else oche_switch_transmit(...)
 *     after each of these:       while ((p = oche_switch_pause_port(sw)) >= 0) kick port p
 *     now >= oche_switch_next(): while ((p = oche_switch_expire(...)) >= 0) kick port p;
 *                                oche_switch_take_discarded(...) until it returns NULL
 *
 * "Kick" means: if the port is idle and oche_switch_ready is true, do what is listed under "port
 * free".
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

#define OCHE_HOP_LIMIT 64 /* most links that a packet may have crossed when it reaches a switch */

/* The parameters in the `switch` section of a scenario; oche_switch_params is their table. */
struct oche_switch_params {
    uint32_t preset;       /* enum oche_preset */
    uint32_t chip;         /* index into oche_chip_names (fabric/chips.h) */
    uint64_t buffer_bytes; /* shared by all ports; OCHE_NEVER: the chip's memory */
    uint32_t threshold;    /* enum oche_buffer_threshold */
    /* dynamic: the factor by which the free buffer is multiplied (DCQCN sec 4); 0: alpha is 1 */
    double beta;
    uint64_t xoff_bytes;       /* static t_PFC; 0: computed as S / (p * ports) */
    uint64_t xon_offset_bytes; /* how far below t_PFC a class resumes; OCHE_NEVER: two frames */
    bool pfc;                  /* false: drop-tail */
    /*
     * priorities that the buffer is divided for; 0: number of lossless classes in use; OCHE_NEVER:
     * this number, but at least 2
     */
    uint64_t pfc_priorities;
    uint64_t chip_ports; /* number of ports for which headroom is kept; 0: of the existing ports */
    /* per ingress port and priority; OCHE_NEVER: computed from each link */
    uint64_t headroom_bytes;
    /* the computed headroom is multiplied by this; 1 except in what-if studies */
    double headroom_scale;
    oche_time pfc_response; /* from the arrival of a PAUSE frame until it takes effect */
    double egress_alpha;    /* lossy classes: queue limit as a share of the free buffer; 0: none */
    /* lossy classes: limit for all egress queues of a port together; 0: none */
    uint64_t port_buffer_bytes;
    bool ecn;
    uint64_t kmin_bytes, kmax_bytes; /* OCHE_NEVER: by each port's rate */
    oche_time kmin_time, kmax_time;  /* at a port's rate, where the above are OCHE_NEVER */
    double pmax;
    uint32_t ecn_at;        /* enum oche_ecn_point */
    const char *mechanisms; /* names separated by commas (fabric/registry.h), which the driver looks
                               up; NULL: none */
};
extern const struct oche_param_table oche_switch_params;

/* Where a port leads, for routing restrictions and for marks by place. */
enum oche_port_place {
    OCHE_PLACE_TO_HOST, /* ToR → host */
    OCHE_PLACE_TOR_UP,  /* ToR → next tier up */
    OCHE_PLACE_AGGREGATION,
    OCHE_PLACE_CORE,
    OCHE_PLACE_HOST_NIC, /* a host's own port; no port of a switch has this place */
    OCHE_PLACES
};

struct oche_switch_port_config {
    uint64_t rate_bps;
    oche_time delay; /* propagation delay of the link, one way */
    uint8_t place;   /* enum oche_port_place */
    /*
     * How long the node at the other end takes to respond to a PAUSE frame; headroom assumes at
     * least the switch's own response time.
     */
    oche_time peer_response;
    bool up; /* the far end is above this switch; for mechanisms, see fabric/iofd.h */
};

/*
 * The ECMP candidates for one destination group: `count` elements of oche_routes.ports, from
 * `first`. Which of them a packet takes follows from its flow hash and the switch (fabric/ecmp.h).
 */
struct oche_port_set {
    uint32_t first;
    uint32_t count; /* 0: the group is unreachable, and its packets are dropped and counted */
};

struct oche_pins;

/*
 * A switch's routes. Destinations are grouped by ToR, and each group has a port set. The driver
 * owns the memory.
 */
struct oche_routes {
    const uint32_t *group_of;     /* group of each address; all switches share this array */
    const uint16_t *set_of_group; /* index in `sets` for each group */
    const struct oche_port_set *sets;
    const uint16_t *ports;
    /* port of each address at its ToR; all switches share this array */
    const uint16_t *port_of_address;
    uint32_t own_group; /* the group attached to this switch, or UINT32_MAX */
    uint32_t addresses; /* number of addresses; packets to higher ones are dropped */
    /* ports of single flows, whatever their group's set is (fabric/pins.h); NULL: none */
    const struct oche_pins *pins;
};

struct oche_switch_mechanism;

/*
 * The configuration of a switch. What `routes`, `onward`, `mechanisms` and `mechanism_params` point
 * to must outlive the switch.
 */
struct oche_switch_config {
    const struct oche_switch_params *params;
    uint32_t node; /* names the switch's random streams and ECMP's salt */
    uint64_t seed;
    uint32_t port_count;
    const struct oche_switch_port_config *ports;
    uint8_t class_count; /* number of traffic classes in use: 0 … class_count-1; the highest has
                            priority */
    uint8_t lossless_classes; /* mask of the classes to which PFC applies */
    /*
     * The lowest classes, 0 … lanes-1, are lanes of one data class (fabric/priority.h). 0 or 1:
     * there are no lanes. A mechanism moves packets between them.
     */
    uint8_t lanes;
    uint32_t mtu_frame_bytes;    /* largest frame, for headroom and for RESUME */
    uint32_t answer_frame_bytes; /* frame size of packets that answer or request a largest frame:
                                    ACKs, credits */
    /*
     * 0: the switch chooses among equal paths by its own number, independently of other switches.
     * Otherwise all switches with the same `tier` make the same choice for a flow. With suitable
     * tiers, packets between two hosts take the same path in both directions (sim/topology/walk.h).
     */
    uint32_t tier;
    struct oche_routes routes;
    /*
     * links_fail: links may go down (fabric/link_failure.c). up_down: routes go up and then down,
     * whatever fails. If routes change while a packet is on its way, the packet may have come down
     * and have to go up again. With PFC such turns could form a cycle, so the packet is dropped as
     * OCHE_DROP_NO_ROUTE.
     */
    bool links_fail, up_down;
    /*
     * For mechanisms that send packets by ports other than those of the routes; otherwise NULL. Bit
     * (port * groups + group) is set if a path leads from the port to the group without coming back
     * by this port.
     */
    const uint64_t *onward;
    uint32_t groups;
    /*
     * Mechanisms besides the built-in ones (fabric/mechanism.h), each with its parameters; usually
     * none.
     */
    const struct oche_switch_mechanism *const *mechanisms;
    const void *const *mechanism_params;
    uint32_t mechanism_count;
};

enum oche_drop {
    OCHE_DROP_BUFFER,    /* shared buffer or threshold (lossy class) or headroom was full */
    OCHE_DROP_NO_ROUTE,  /* destination unknown or unreachable */
    OCHE_DROP_TTL,       /* OCHE_HOP_LIMIT was exceeded, because of a routing loop */
    OCHE_DROP_MECHANISM, /* a mechanism did not admit the packet, or discarded it from its queue:
                            for example a credit that found its queue full */
    OCHE_DROP_LINK_DOWN, /* the packet waited at, or was routed to, a port whose link is down */
    OCHE_DROP_CAUSES
};

struct oche_switch_port_stats {
    uint64_t packets;        /* transmitted, PFC frames not counted */
    oche_time queueing_time; /* time from arrival until departure begins, summed over packets */
    uint64_t marks;          /* packets that left here and got the CE mark here */
    /* counted at the egress port; NO_ROUTE and TTL at the ingress port */
    uint64_t drops[OCHE_DROP_CAUSES];
    uint64_t pauses_sent[OCHE_CLASSES];      /* number of XOFF frames, without refreshes */
    oche_time pause_sent_time[OCHE_CLASSES]; /* for how long the upstream was paused */
    uint64_t refreshes_sent[OCHE_CLASSES];
    uint64_t pauses_received[OCHE_CLASSES]; /* number of XOFF frames, with refreshes */
    oche_time paused_time[OCHE_CLASSES];    /* for how long the peer paused this port */
    uint64_t max_queue_bytes;               /* largest total of the port's egress queues */
};

struct oche_switch;

/*
 * True if a switch of this configuration is possible. If not, `error` gets one line that names the
 * parameter at fault, with numbers: "headroom exceeds the buffer", and the like.
 */
bool oche_switch_check(const struct oche_switch_config *config, struct oche_error *error);

/*
 * Returns the bytes of memory that a switch of this configuration needs; `config` must have passed
 * oche_switch_check.
 */
size_t oche_switch_bytes(const struct oche_switch_config *config);
/* Makes the switch in `memory` (aligned to OCHE_CACHE_LINE), which stays the caller's. */
struct oche_switch *oche_switch_create(void *memory, const struct oche_switch_config *config);

/*
 * A packet has completely arrived at `in_port`. Returns the egress port whose queue has it now, or
 * -1 if the packet was dropped and counted; then it is the caller's again. Counts the link just
 * crossed in packet->hops (the driver does not). A class that is not in use is treated as class 0.
 */
int oche_switch_receive(struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                        oche_time now);
/*
 * True if `port` has something that may leave now: a PFC frame, or a packet of a class that is not
 * paused.
 */
bool oche_switch_ready(const struct oche_switch *sw, unsigned port);
/* Returns the next packet to leave by `port`, or NULL. The packet is the caller's again. */
struct oche_packet *oche_switch_transmit(struct oche_switch *sw, unsigned port, oche_time now);

/*
 * Handles a PFC frame that has arrived; it takes effect after pfc_response (see oche_switch_next).
 */
void oche_switch_receive_pause(struct oche_switch *sw, unsigned port,
                               const struct oche_packet *frame, oche_time now);
/* Handles a frame that has arrived for a mechanism at this end of the link (fabric/mechanism.h). */
void oche_switch_receive_frame(struct oche_switch *sw, unsigned port,
                               const struct oche_packet *frame, oche_time now);
/*
 * Returns a port that now has a PFC frame to send, or -1. Each port is named once; the frame waits
 * at the port (oche_switch_ready) until oche_switch_take_pause, or until it is no longer needed.
 * Here and in the next two functions a mechanism's frame may take the place of a PFC frame.
 */
int oche_switch_pause_port(struct oche_switch *sw);
/* True if a PFC frame waits at `port`. */
bool oche_switch_pause_waits(const struct oche_switch *sw, unsigned port);
/*
 * Fills `frame` with the PFC frame that waits at `port`; false if there is none. The frame's tag
 * and payload pointer are left unchanged.
 */
bool oche_switch_take_pause(struct oche_switch *sw, unsigned port, struct oche_packet *frame,
                            oche_time now);
/*
 * Returns when oche_switch_expire must be called next: a received PAUSE begins or ends, or a sent
 * one needs a refresh.
 */
oche_time oche_switch_next(const struct oche_switch *sw);
/*
 * Runs the timers that are due at `now`. Returns a port that may have become ready, or -1 if there
 * is no more; call it until it returns -1.
 */
int oche_switch_expire(struct oche_switch *sw, oche_time now);
/*
 * Returns a packet that a mechanism has discarded from a queue in oche_switch_expire, and that is
 * the caller's again; NULL if there is no more. Call it after each oche_switch_expire until it
 * returns NULL.
 */
struct oche_packet *oche_switch_take_discarded(struct oche_switch *sw);

/*
 * Tell the switch that the link goes down, or comes back; only with links_fail. The packets that
 * wait at the port are lost: after oche_switch_link_down, oche_switch_flush returns them one by
 * one, and NULL at the end. They are the caller's again and are counted as OCHE_DROP_LINK_DOWN. PFC
 * state is cleared in both directions, at both ends of the link; ingress classes that should still
 * be paused when the link comes back are announced again (oche_switch_pause_port). Down and up must
 * alternate.
 */
void oche_switch_link_down(struct oche_switch *sw, unsigned port, oche_time now);
struct oche_packet *oche_switch_flush(struct oche_switch *sw, unsigned port, oche_time now);
void oche_switch_link_up(struct oche_switch *sw, unsigned port);
bool oche_switch_link_is_down(const struct oche_switch *sw, unsigned port);
/* Replaces the routes, and `onward`, which mechanisms need (see oche_switch_config). */
void oche_switch_reroute(struct oche_switch *sw, const struct oche_routes *routes,
                         const uint64_t *onward);
/* Returns why oche_switch_receive or _flush dropped the last packet that it dropped. */
enum oche_drop oche_switch_last_drop(const struct oche_switch *sw);

/* Copies the port's counters. In the copy, a pause that has not ended counts up to `now`. */
void oche_switch_port_stats(const struct oche_switch *sw, unsigned port, oche_time now,
                            struct oche_switch_port_stats *out);
void oche_switch_reset_stats(struct oche_switch *sw, oche_time now); /* end of warm-up */
/*
 * Returns the bytes of the longest queue that the port had since the last call, or since the last
 * reset of counters. The counter max_queue_bytes goes on as before.
 */
uint32_t oche_switch_take_peak(struct oche_switch *sw, unsigned port);
/*
 * Copies the counters of the switch's mechanism `number` (from 0) since the last reset: one value
 * for each row of its table.
 */
void oche_switch_mechanism_counters(const struct oche_switch *sw, unsigned number,
                                    uint64_t *values);
uint64_t oche_switch_queue_bytes(const struct oche_switch *sw, unsigned port);
uint64_t oche_switch_occupied_bytes(const struct oche_switch *sw);
/* Returns the headroom per class that the port has. */
uint64_t oche_switch_headroom_bytes(const struct oche_switch *sw, unsigned port);
/* Returns the current t_PFC: an ingress class that holds more than this is paused. */
uint64_t oche_switch_xoff_bytes(const struct oche_switch *sw);
/*
 * Returns how many bytes one ingress class holds now; 0 for a lossy class, whose bytes are not
 * counted.
 */
uint64_t oche_switch_ingress_bytes(const struct oche_switch *sw, unsigned port, unsigned cls);
/*
 * The first is true if the peer has paused the class at `port`, and the port obeys; the second if
 * we have paused the class at the port's upstream.
 */
bool oche_switch_is_paused(const struct oche_switch *sw, unsigned port, unsigned cls);
bool oche_switch_is_pausing(const struct oche_switch *sw, unsigned port, unsigned cls);

/*
 * Holds (fabric/holds.h): a record of which egress queues hold the bytes of which ingress class. It
 * tells why an ingress class is paused and whether the class can resume. oche_switch_keep_holds
 * starts recording, in zeroed `memory` of oche_switch_holds_bytes bytes, which must outlive the
 * switch.
 */
size_t oche_switch_holds_bytes(const struct oche_switch *sw);
void oche_switch_keep_holds(struct oche_switch *sw, void *memory, oche_time now);
bool oche_switch_keeps_holds(const struct oche_switch *sw);
/*
 * Returns the bytes that came in at `in` in class `in_cls` and wait at `out` in class `cls`; 0 if
 * holds are not recorded. The two classes differ only in a switch with lanes.
 */
uint32_t oche_switch_held_bytes(const struct oche_switch *sw, unsigned in, unsigned in_cls,
                                unsigned out, unsigned cls);

/* The egress queue that holds the most bytes of an ingress class. */
struct oche_pause_cause {
    uint32_t port, cls;            /* egress */
    uint32_t bytes, ingress_bytes; /* bytes of the ingress class in this queue, and in all queues */
    bool held;                     /* this queue is long because its peer paused it */
};
/* Returns false if the class is empty, or holds are not recorded. */
bool oche_switch_pause_cause(const struct oche_switch *sw, unsigned in, unsigned cls, oche_time now,
                             struct oche_pause_cause *cause);
/* Returns the classes that the upstream at `port` was last told to pause, as a mask. */
uint8_t oche_switch_pausing(const struct oche_switch *sw, unsigned port);
/*
 * Returns the time at which the current pause of the class began at the upstream, or the time of
 * the last reset of counters if that is later; OCHE_NEVER if the class should not be paused now.
 */
oche_time oche_switch_pausing_since(const struct oche_switch *sw, unsigned port, unsigned cls);
/*
 * True if the paused ingress class would stay paused even if everything left the switch except
 * left[ingress * class_count + class] bytes of each ingress class. Holds must be recorded; no entry
 * of `left` may exceed the bytes that its ingress class holds now.
 */
bool oche_switch_stays_pausing(const struct oche_switch *sw, unsigned port, unsigned cls,
                               const uint32_t *left);

/*
 * The occupancy of a port's egress queues over time: how long it was in each step of `step_bytes`,
 * and its exact integrals. Occupancies are below 2^32 bytes and all time is below 2^64 ps, so both
 * integrals fit into 128 bits.
 */
struct oche_queue_watch {
    uint64_t step_bytes;
    /* number of entries of `time`; the last entry includes all higher occupancies */
    uint32_t steps;
    oche_time *time; /* time in picoseconds at each floor(occupancy / step_bytes) */
    oche_time since; /* time of the last change; all else includes the time until then */
    uint64_t bytes, max_bytes;
    unsigned __int128 byte_time;   /* integral of the occupancy, in bytes * ps */
    unsigned __int128 square_time; /* integral of its square, in bytes^2 * ps */
};
/*
 * Fills in `watch` from now on; NULL ends this. `watch` is the caller's and must outlive the
 * switch.
 */
void oche_switch_watch(struct oche_switch *sw, unsigned port, struct oche_queue_watch *watch,
                       oche_time now);

#endif
