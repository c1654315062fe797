/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host ends in: the RNIC (core/qp), or a transport that is none (TCP). An endpoint is one
 * table of functions; a host has one, and drives it from three events: a packet arrived, the port
 * is free, the timer is due. Above, workloads see the same whatever the endpoint is: a flow is
 * started, delivered, completed (sim/network/host.h, "for endpoints").
 *
 * A scenario chooses by `congestion_control`: the schemes of core/cc run on the RNIC; the name of
 * any other endpoint stands in the same list, so that one axis of a sweep spans them all.
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

/* What the network must know of an endpoint's packets. */
struct oche_endpoint_packets {
    uint32_t payload_bytes;   /* of a full packet */
    uint32_t frame_bytes;     /* of the largest packet, Ethernet header to FCS */
    uint32_t middle_bytes;    /* of a full packet in the middle of a flow */
    uint32_t ack_bytes;       /* of an ACK */
    uint8_t lossless_classes; /* mask: PFC, where there is any, applies to these */
};

/*
 * Every hook is required unless said otherwise. `state` is the endpoint's own, of one host:
 * state_bytes of zeroed memory, aligned to OCHE_CACHE_LINE.
 */
struct oche_endpoint {
    const char *name;                     /* in a scenario; of the RNIC NULL */
    const char *paper;                    /* what it implements, with section */
    const char *recovery;                 /* its own, instead of a scheme of core/recovery */
    const struct oche_param_table *table; /* of the RNIC NULL: its schemes have theirs */
    uint32_t needs;                       /* enum oche_cc_needs, of switches */
    /* A mechanism that every switch has then, whose parameters the host has too; or NULL. */
    const char *switch_mechanism;
    bool symmetric;          /* both directions of a flow must take the same way */
    bool receiver_sets_rate; /* and not the sender: see rate_bps */
    size_t state_bytes;

    /* Optional: checks parameters against each other: NULL, or what is wrong and what is right. */
    const char *(*check)(const void *params);
    /* Optional: what the scheme itself sets of the switches' parameters. */
    void (*switches)(const void *params, struct oche_switch_params *switches);
    /* Optional: NULL, or what those it runs with are not made for, in words for the user. */
    const char *(*remark)(const void *params, const struct oche_switch_params *switches);
    void (*packets)(const struct oche_host_params *hosts, const void *params,
                    struct oche_endpoint_packets *out);
    /* The packets of a flow of so many bytes that nothing disturbs. Bytes with the gap. */
    void (*frames)(const struct oche_host_params *hosts, const void *params, uint64_t bytes,
                   struct oche_frames *out);

    /* Fills `state`; what else it needs comes from the host's arena. */
    void (*create)(void *state, struct oche_host *host);
    /* A flow begins here. Tells the host so (oche_host_flow_started). */
    void (*start)(void *state, uint32_t flow, oche_time now);
    /* The packet (not a PFC frame) stays the caller's. */
    void (*receive)(void *state, const struct oche_packet *packet, oche_time now);
    /* Fills `packet` with what leaves next, of a class in the mask; false: nothing now. */
    bool (*transmit)(void *state, oche_time now, uint8_t classes, struct oche_packet *packet);
    /* When to call transmit or expire again; OCHE_NEVER: when something happens. */
    oche_time (*next)(void *state, uint8_t classes);
    oche_time (*next_timer)(const void *state); /* the same, expire only */
    /* The host's timer is due: whatever is due at `now`, if anything. */
    void (*expire)(void *state, oche_time now);
    /* Optional: completes what has failed without a packet; true: there may be more to send. */
    bool (*flush)(void *state, oche_time now);
    /* Optional: whether it is feedback, which host.feedback_jitter holds; NULL: there is none. */
    bool (*is_feedback)(const struct oche_packet *packet);

    /* Counters. What does not exist at this endpoint stays 0. */
    const struct oche_nic_stats *(*stats)(const void *state);
    /* Optional: what it counts itself, in `state`. */
    const struct oche_counters *counters;
    /* Optional, in its place: counters of the scheme that it runs, and the state they are in. */
    const struct oche_counters *(*scheme_counters)(const void *state, const void **scheme_state);
    uint64_t (*late_packets)(const void *state); /* of rejected_packets: came after the end */
    uint64_t (*corrupt_bytes)(const void *state);
    uint64_t (*rate_bps)(void *state, uint32_t connection); /* where it is set */
    /* Bytes that have arrived, in order, of the connection's message that is arriving. */
    uint32_t (*arrived_bytes)(void *state, uint32_t connection);
    /* Optional: what is known of losses, for whoever looks for the cause of a timeout. */
    bool (*losses)(void *state, uint32_t connection, struct oche_qp_losses *losses);

    /*
     * Optional, both or none: a packet of this endpoint's own kind as the bytes of a frame without
     * FCS, for captures and bytes mode. encode returns how many, at most `size`. decode leaves
     * what is not on the wire as it is; false: that is no frame of this endpoint.
     */
    size_t (*encode)(const struct oche_packet *packet, const struct oche_frame *frame,
                     uint8_t *bytes, size_t size);
    bool (*decode)(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                   struct oche_frame *frame);
};

/* Every endpoint that is not the RNIC, ended by NULL. */
extern const struct oche_endpoint *const oche_endpoints[];
/* The one that a scenario calls `name`, or NULL. */
const struct oche_endpoint *oche_endpoint_find(const char *name);

/* The RNIC: see sim/endpoint/rnic.h. */
extern const struct oche_endpoint oche_endpoint_rnic;

#endif
