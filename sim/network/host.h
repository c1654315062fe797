/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host: one port, one endpoint (sim/endpoint: the RNIC of core/qp, or another transport), and
 * the flows that begin and end here.
 */
#ifndef OCHE_SIM_NETWORK_HOST_H
#define OCHE_SIM_NETWORK_HOST_H

#include "core/qp/nic.h"
#include "fabric/pause.h"
#include "sim/network/flow.h"
#include "sim/network/network.h"

/* The number of a connection's queue pairs, at both ends. */
#define OCHE_FIRST_QPN 16

/* Bound to the `host` section of a scenario by oche_host_params. */
struct oche_host_params {
    uint64_t mtu_bytes;         /* payload of a packet */
    uint64_t ack_every_packets; /* AckReq in every n-th packet */
    uint64_t window_packets;    /* in flight at most; 0: half the PSN space */
    oche_time ack_timeout;
    uint64_t retry_count;         /* 0 … 7 as in verbs; more: for ever */
    uint64_t ecn_threshold_bytes; /* own backlog above which the NIC marks CE */
    oche_time pfc_response;
    oche_time feedback_jitter; /* ACK, NAK and CNP arrive up to this much later */
    uint32_t connections;      /* enum oche_connections */
    uint64_t priority_bytes;   /* flows up to this have a class of their own; 0: there is none */
    bool ipv6;
};
extern const struct oche_param_table oche_host_params;

#define OCHE_DATA_CLASS    0
#define OCHE_CONTROL_CLASS 1 /* without lanes; else struct oche_host_shared says */
#define OCHE_CLASS_COUNT   2 /* without lanes */

struct oche_endpoint;
struct oche_ib_credits_params;

/* What all hosts of a network share; must outlive them. */
struct oche_host_shared {
    const struct oche_host_params *params;
    const struct oche_endpoint *endpoint; /* NULL: the RNIC, with the four below */
    const void *endpoint_params;
    const void *mechanism_params; /* of endpoint->switch_mechanism */
    const struct oche_cc_scheme *cc;
    const void *cc_params;
    const struct oche_recovery_scheme *recovery;
    const void *recovery_params;
    struct oche_flows *flows;
    uint64_t seed;
    uint8_t control_class;  /* the highest: ACK, NAK, CNP */
    uint8_t priority_class; /* of flows with priority; without any, that of data */
    struct oche_deflection deflection;
    const struct oche_ib_credits_params *credits; /* of links that have credits; else NULL */
    uint32_t frame_bytes;                         /* of the largest packet */
    bool payload;                                 /* generate, move and check every byte */
};

struct oche_host;

/* Makes host `address` (also its node) in its shard's arena and attaches it to its port 0. */
struct oche_host *oche_host_create(struct oche_network *network, uint32_t address,
                                   const struct oche_host_shared *shared);
/* Plans the first event. After oche_network_ready. */
void oche_host_begin(struct oche_host *host);

/* For speed alone: what the host's next event will touch, in steps 0 … OCHE_NIC_FETCH_STEPS. */
void oche_host_fetch(const struct oche_host *host, const struct oche_packet *packet, unsigned step);
void oche_host_arrival(struct oche_shard *shard, struct oche_port *port, struct oche_packet *packet,
                       oche_time now);
void oche_host_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now);
void oche_host_timer(struct oche_shard *shard, struct oche_port *port, oche_time now);
/* The host's link goes down, or comes back (sim/network/link_failure.h). */
void oche_host_link_changed(struct oche_shard *shard, struct oche_port *port, oche_time now);

/* The five-tuple's hash of a connection's packets, in both directions: it decides their way. */
uint32_t oche_host_flow_hash(uint64_t seed, uint32_t connection);

/* Counters since the beginning; those of what the endpoint does not have are 0. */
const struct oche_nic_stats *oche_host_stats(const struct oche_host *host);
/*
 * Adds to `sums` what the endpoint, or the scheme that it runs, has counted itself since the
 * beginning, by row of the table. NULL: it counts nothing.
 */
const struct oche_counters *oche_host_counters(const struct oche_host *host, uint64_t *sums);
/* Of its rejected packets those that came when nothing was left for them here. */
uint64_t oche_host_late_packets(const struct oche_host *host);
/* What the switch made the host's port wait for. */
struct oche_pause *oche_host_pause(struct oche_host *host);
/* Bytes of payload that arrived and were not what was sent (with payload: true only). */
uint64_t oche_host_corrupt_bytes(const struct oche_host *host);
/* The pacing rate of the connection's sender here, or 0. */
uint64_t oche_host_rate_bps(const struct oche_host *host, uint32_t connection);
/* Bytes that have arrived here, in order, of the connection's message that is arriving. */
uint32_t oche_host_arrived_bytes(const struct oche_host *host, uint32_t connection);
/* What the connection's queue pair here knows of losses; false: there is no queue pair now. */
bool oche_host_losses(const struct oche_host *host, uint32_t connection,
                      struct oche_qp_losses *losses);

#endif
