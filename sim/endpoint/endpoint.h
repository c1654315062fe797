/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's transport: the RNIC (core/qp), or another one such as TCP. An endpoint is one table of
 * functions. A host has one and drives it from three events: a packet arrived, the port is free,
 * the timer is due. Workloads see the same whatever the endpoint is: a flow is started, delivered,
 * completed (sim/network/host_state.h, "for endpoints").
 *
 * A scenario chooses by `congestion_control`: the schemes of core/cc run on the RNIC; the names of
 * the other endpoints are in the same list, so that one axis of a sweep can span them all.
 */
#ifndef OCHE_SIM_ENDPOINT_ENDPOINT_H
#define OCHE_SIM_ENDPOINT_ENDPOINT_H

#include "core/param.h"
#include "core/qp/nic.h"
#include "core/wire/frame.h"
#include "core/wire/packet.h"
#include "sim/topology/routes.h"

struct oche_host;
struct oche_host_params;
struct oche_switch_params;

/* What the network must know about an endpoint's packets. */
struct oche_endpoint_packets {
    uint32_t payload_bytes;   /* of a full packet */
    uint32_t frame_bytes;     /* of the largest packet, from Ethernet header to FCS */
    uint32_t middle_bytes;    /* of a full packet in the middle of a flow */
    uint32_t ack_bytes;       /* of an ACK */
    uint8_t lossless_classes; /* mask: classes that PFC, if there is any, applies to */
};

/*
 * Every hook is required unless stated otherwise. `state` is the endpoint's state for one host:
 * state_bytes of zeroed memory, aligned to OCHE_CACHE_LINE.
 */
struct oche_endpoint {
    const char *name;     /* in a scenario; NULL for the RNIC */
    const char *paper;    /* what it implements, with the section */
    const char *recovery; /* its own recovery, instead of a scheme of core/recovery */
    const struct oche_param_table *table; /* NULL for the RNIC, whose schemes have tables */
    uint32_t needs;                       /* enum oche_cc_needs: what it needs of switches */
    /* A mechanism that every switch then has, and whose parameters the host gets too; or NULL. */
    const char *switch_mechanism;
    bool symmetric;          /* both directions of a flow must take the same path */
    bool receiver_sets_rate; /* the receiver sets the rate, not the sender: see rate_bps */
    size_t state_bytes;

    /*
     * Optional: checks parameters against each other. Returns NULL, or what is wrong and what would
     * be right.
     */
    const char *(*check)(const void *params);
    /* Optional: sets those parameters of switches that the scheme itself determines. */
    void (*switches)(const void *params, struct oche_switch_params *switches);
    /*
     * Optional: returns NULL, or a remark for the user if the parameters are not made for such
     * switches.
     */
    const char *(*remark)(const void *params, const struct oche_switch_params *switches);
    void (*packets)(const struct oche_host_params *hosts, const void *params,
                    struct oche_endpoint_packets *out);
    /*
     * Describes the packets of an undisturbed flow of `bytes` bytes. Frame sizes include the gap.
     */
    void (*frames)(const struct oche_host_params *hosts, const void *params, uint64_t bytes,
                   struct oche_frames *out);

    /* Initialises `state`. Further memory comes from the host's arena. */
    void (*create)(void *state, struct oche_host *host);
    /* A flow begins here. The endpoint reports it to the host (oche_host_flow_started). */
    void (*start)(void *state, uint32_t flow, oche_time now);
    /* The packet (not a PFC frame) remains the caller's. */
    void (*receive)(void *state, const struct oche_packet *packet, oche_time now);
    /*
     * Fills `packet` with what leaves next, in a class of the mask. Returns false if there is
     * nothing now.
     */
    bool (*transmit)(void *state, oche_time now, uint8_t classes, struct oche_packet *packet);
    /* Returns when to call transmit or expire again; OCHE_NEVER: only after another event. */
    oche_time (*next)(void *state, uint8_t classes);
    oche_time (*next_timer)(const void *state); /* the same, for expire only */
    /* The host's timer is due: does what is due at `now`, if anything. */
    void (*expire)(void *state, oche_time now);
    /*
     * Optional: completes work that failed without a packet. Returns true if there may be more to
     * send.
     */
    bool (*flush)(void *state, oche_time now);
    /*
     * Optional: true if the packet is feedback, which host.feedback_jitter delays. NULL: none is.
     */
    bool (*is_feedback)(const struct oche_packet *packet);

    /* Returns counters. Those that the endpoint does not have stay 0. */
    const struct oche_nic_stats *(*stats)(const void *state);
    /* Optional: its own counters, which are in `state`. */
    const struct oche_counters *counters;
    /*
     * Optional, instead of these: the counters of the scheme that it runs, and the state they are
     * in.
     */
    const struct oche_counters *(*scheme_counters)(const void *state, const void **scheme_state);
    uint64_t (*late_packets)(
        const void *state); /* how many of rejected_packets came after the end */
    uint64_t (*corrupt_bytes)(const void *state);
    uint64_t (*rate_bps)(void *state, uint32_t connection); /* at the end that sets the rate */
    /*
     * Returns the bytes that have arrived, in order, of the message that is being received on the
     * connection.
     */
    uint32_t (*arrived_bytes)(void *state, uint32_t connection);
    /* Optional: what the endpoint knows about losses, to find the cause of a timeout. */
    bool (*losses)(void *state, uint32_t connection, struct oche_qp_losses *losses);

    /*
     * Optional, both or neither: convert a packet of this endpoint's own kind to and from the bytes
     * of a frame without FCS, for captures and bytes mode. encode returns the number of bytes, at
     * most `size`. decode leaves fields that are not on the wire unchanged, and returns false if
     * the bytes are no frame of this endpoint.
     */
    size_t (*encode)(const struct oche_packet *packet, const struct oche_frame *frame,
                     uint8_t *bytes, size_t size);
    bool (*decode)(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                   struct oche_frame *frame);
};

/* All endpoints but the RNIC; ends with NULL. */
extern const struct oche_endpoint *const oche_endpoints[];
/* Returns the endpoint that a scenario calls `name`, or NULL. */
const struct oche_endpoint *oche_endpoint_find(const char *name);

/* The RNIC: see sim/endpoint/rnic.h. */
extern const struct oche_endpoint oche_endpoint_rnic;

#endif
