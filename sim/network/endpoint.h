/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's transport: the RNIC (core/qp), or another one such as TCP. An endpoint is one table of
 * functions. A host has one endpoint and calls it on three events: a packet arrived, the port is
 * free, the timer is due. Every endpoint reports the same to the host: a flow is started,
 * delivered, completed (sim/network/host_state.h, "for endpoints").
 *
 * The scenario's `congestion_control` chooses the endpoint: the name of a scheme of core/cc means
 * the RNIC; every other endpoint has a name of its own. So one axis of a sweep can contain schemes
 * and endpoints.
 */
#ifndef OCHE_SIM_NETWORK_ENDPOINT_H
#define OCHE_SIM_NETWORK_ENDPOINT_H

#include "core/param.h"
#include "core/qp/nic.h"
#include "core/wire/frame.h"
#include "core/wire/packet.h"
#include "sim/network/gauge.h"
#include "sim/network/flow_plan.h"
#include "sim/topology/routes.h"

struct oche_deferred;
struct oche_host;
struct oche_host_params;
struct oche_switch_params;

/* Sizes (in bytes) and classes of an endpoint's packets. */
struct oche_endpoint_packets {
    uint32_t payload_bytes;   /* payload of a full packet */
    uint32_t frame_bytes;     /* frame of the largest packet, from Ethernet header to FCS */
    uint32_t middle_bytes;    /* frame of a full packet in the middle of a flow */
    uint32_t ack_bytes;       /* frame of an ACK */
    uint8_t lossless_classes; /* mask of the classes to which PFC, if used, applies */
};

/*
 * Every hook is required unless stated otherwise. `state` is the endpoint's state for one host:
 * state_bytes of zeroed memory, aligned to OCHE_CACHE_LINE.
 */
struct oche_endpoint {
    const char *name;     /* name in a scenario; NULL for the RNIC */
    const char *paper;    /* the paper that the endpoint implements, with the section */
    const char *recovery; /* name of the endpoint's own loss recovery */
    const struct oche_param_table *table; /* NULL for the RNIC: its schemes have tables */
    uint32_t needs;                       /* what the endpoint needs: bits of enum oche_cc_needs */
    /*
     * The mechanism that every switch gets with this endpoint; the host gets the mechanism's
     * parameters too. NULL: none.
     */
    const char *switch_mechanism;
    bool symmetric;          /* both directions of a flow must take the same path */
    bool roce;               /* the endpoint sends RoCEv2 from queue pairs, as the RNIC does */
    bool receiver_sets_rate; /* the receiver, not the sender, sets the rate: see rate_bps */
    size_t state_bytes;

    /*
     * Optional: checks parameters against each other. Returns an error message, or NULL if all is
     * well.
     */
    const char *(*check)(const void *params);
    /* Optional: sets those parameters of switches that the scheme itself determines. */
    void (*switches)(const void *params, struct oche_switch_params *switches);
    /*
     * Optional: returns a remark for the user if the parameters do not suit the switches, else
     * NULL.
     */
    const char *(*remark)(const void *params, const struct oche_switch_params *switches);
    /* Optional: sets those parameters that are left to the network, which are 0. */
    void (*fit)(void *params, oche_time longest_round_trip);
    /*
     * Optional: if a parameter does not suit the network's longest round trip, returns what that is
     * ("more than rto_initial, so that …"), else NULL.
     */
    const char *(*unfit)(const void *params, oche_time longest_round_trip);
    /*
     * Optional, if `roce`: if a setting ("shadow: false") disables `recovery` or this key of
     * `host`, returns the setting; NULL: the key has an effect.
     */
    const char *(*idles)(const void *params, const char *key);
    /* connections that can be told apart; 0: as many as there are queue pairs */
    uint32_t most_connections;
    /*
     * Optional: true if a flow may be completed before its data arrives. A run then goes on until
     * the data of completed flows has arrived or is nowhere any more.
     */
    bool (*completes_early)(const void *params);
    void (*packets)(const struct oche_host_params *hosts, const void *params,
                    struct oche_endpoint_packets *out);
    /*
     * Describes the packets of an undisturbed flow of `bytes` bytes. Frame sizes include the gap.
     * `recovery`: the scheme of RNICs, which may put a header into every packet; NULL: one that
     * does not. An endpoint without verbs ignores `verb`.
     */
    void (*frames)(const struct oche_host_params *hosts, const void *params,
                   const struct oche_recovery_scheme *recovery, enum oche_verb verb, uint64_t bytes,
                   struct oche_frames *out);

    /* Initialises `state`. Further memory comes from the host's arena. */
    void (*create)(void *state, struct oche_host *host);
    /* A flow begins here. The endpoint reports it to the host (oche_host_flow_started). */
    void (*start)(void *state, uint32_t flow, oche_time now);
    /* A packet has arrived. It is not a PFC frame, and remains the caller's. */
    void (*receive)(void *state, const struct oche_packet *packet, oche_time now);
    /*
     * Fills `packet` with the packet that leaves next, in one of `classes` (a mask). Returns false
     * if no packet can leave now.
     */
    bool (*transmit)(void *state, oche_time now, uint8_t classes, struct oche_packet *packet);
    /* Returns when to call transmit or expire again; OCHE_NEVER: only after another event. */
    oche_time (*next)(void *state, uint8_t classes);
    /* Returns when to call expire again; OCHE_NEVER: only after another event. */
    oche_time (*next_timer)(const void *state);
    /*
     * To be called when the host's timer is due: carries out all actions that are due at `now`, if
     * any.
     */
    void (*expire)(void *state, oche_time now);
    /*
     * Optional: completes work that failed without a packet. Returns true if there may be more to
     * send.
     */
    bool (*flush)(void *state, oche_time now);
    /*
     * Optional: true if the packet is feedback, which host.feedback_jitter delays. NULL: no packet
     * is.
     */
    bool (*is_feedback)(const struct oche_packet *packet);
    /*
     * Optional, both or neither, for host latencies (host_latency.h): carries out what the endpoint
     * has deferred, which is due now; and returns true if the packet asks for data that the NIC has
     * to read from memory first. It keeps the order of what comes behind such a packet on its queue
     * pair.
     */
    void (*deferred)(void *state, const struct oche_deferred *due, oche_time now);
    bool (*reads_memory)(const void *state, const struct oche_packet *packet);

    /* Returns counters. Counters that the endpoint does not have stay 0. */
    const struct oche_nic_stats *(*stats)(const void *state);
    /* Optional: the endpoint's own counters, which are in `state`. */
    const struct oche_counters *counters;
    /*
     * Optional, instead of `counters`: returns the counters of the scheme that the endpoint runs,
     * and in `scheme_state` the state that holds them.
     */
    const struct oche_counters *(*scheme_counters)(const void *state, const void **scheme_state);
    /*
     * Optional: what the receiver does about the CE mark of a packet that has just been received.
     * NULL: it answers all marks.
     */
    enum oche_cc_marks (*marks)(const void *state);
    /* Returns the number of rejected packets that came after their receiver had finished. */
    uint64_t (*late_packets)(const void *state);
    uint64_t (*corrupt_bytes)(const void *state);
    /*
     * To be called at the end that sets the connection's rate. Returns the rate in bits per second;
     * 0: unknown.
     */
    uint64_t (*rate_bps)(void *state, uint32_t connection);
    /*
     * Returns the bytes that have arrived, in order, of the flow that is being received on the
     * connection.
     */
    uint64_t (*arrived_bytes)(void *state, uint32_t connection);
    /*
     * Adds what the sender of the connection, which is here, has sent again so far: data packets,
     * and the timeouts. Both as oche_host_flow_completed takes them; nothing if it has no state.
     */
    void (*sent_again)(void *state, uint32_t connection, uint64_t *retransmitted,
                       uint64_t *timeouts);
    /* Optional: further values of a connection, asked for at the end that its flows start at. */
    const struct oche_gauges *gauges;
    /* Optional: returns the last chunk of the round trips that were measured here, or NULL. */
    const struct oche_rtt_chunk *(*rtts)(const void *state);
    /*
     * Optional: copies what the endpoint knows about losses, to find the cause of a timeout.
     * Returns false if the connection has no state here.
     */
    bool (*losses)(void *state, uint32_t connection, struct oche_qp_losses *losses);

    /*
     * Optional, both or neither, for captures and bytes mode: convert a packet of this endpoint's
     * own kind to the bytes of a frame without FCS, and back. encode returns the number of bytes,
     * at most `size`. decode does not change fields that are not on the wire, and returns false if
     * the bytes are no frame of this endpoint.
     */
    size_t (*encode)(const struct oche_packet *packet, const struct oche_frame *frame,
                     uint8_t *bytes, size_t size);
    bool (*decode)(const uint8_t *bytes, size_t count, struct oche_packet *packet,
                   struct oche_frame *frame);
};

/* The RNIC: see rnic.h. All others are in sim/endpoint. */
extern const struct oche_endpoint oche_endpoint_rnic;

#endif
