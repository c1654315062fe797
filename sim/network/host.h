/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host: one port, one endpoint (rnic.h, or another transport of sim/endpoint), and the flows that
 * begin and end here.
 */
#ifndef OCHE_SIM_NETWORK_HOST_H
#define OCHE_SIM_NETWORK_HOST_H

#include "core/qp/nic.h"
#include "fabric/pause.h"
#include "sim/graph/job.h"
#include "sim/network/flow.h"
#include "sim/network/network.h"

/*
 * Connection n has queue pair number OCHE_FIRST_QPN + n at both ends. With shadow queue pairs
 * (RoGUE) it has a second queue pair, with this number plus the bit OCHE_SHADOW_QPN.
 */
#define OCHE_FIRST_QPN  16
#define OCHE_SHADOW_QPN UINT32_C(0x800000)

/* Returns the connection of a queue pair; a large number if the queue pair belongs to no flow. */
static inline uint32_t oche_connection_of(uint32_t qpn)
{
    return (qpn & ~OCHE_SHADOW_QPN) - OCHE_FIRST_QPN;
}

/* Says what happens if packets may overtake each other and the recovery cannot live with that. */
enum oche_reordering { OCHE_REORDERING_REFUSE, OCHE_REORDERING_ACCEPT };

/* Bound to the `host` section of a scenario by oche_host_params. */
struct oche_host_params {
    uint32_t preset;            /* enum oche_preset */
    uint64_t mtu_bytes;         /* payload of a packet */
    uint64_t ack_every_packets; /* AckReq is set in every n-th packet */
    bool ack_priority; /* ACKs and NAKs have the control class; false: the class of their data */
    uint64_t window_packets;      /* most packets in flight; 0: half the PSN space */
    oche_time ack_timeout;        /* 0, auto: the network's, oche_world_ack_timeout */
    uint64_t retry_count;         /* 0 … 7 as in verbs; more: no limit */
    uint64_t ecn_threshold_bytes; /* the NIC marks packets while its backlog is above this */
    uint64_t limiter_lag_bytes;   /* these four: struct oche_nic_habits */
    bool resend_one_verb_at_a_time;
    uint32_t timeouts;          /* enum oche_timeouts_kind; the first two */
    uint32_t timer_restart;     /* enum oche_timer_restart */
    const char *nic;            /* see sim/scenario/nic_file.h; NULL: an ideal RNIC */
    uint64_t outstanding_reads; /* READs that a queue pair may have outstanding, at either end */
    oche_time pfc_response;
    oche_time feedback_jitter; /* ACK, NAK and CNP are delayed by at most this much */
    oche_time doorbell_latency, dma_latency, completion_latency; /* host_latency.h */
    uint32_t connections;                                        /* enum oche_connections */
    /* Flows of at most this size have a traffic class of their own; 0: there is no such class. */
    uint64_t priority_bytes;
    bool ipv6;
    uint32_t reordering; /* enum oche_reordering */
    uint32_t entropy;    /* index into oche_path_choices */
    uint64_t paths;      /* of a queue pair; a power of two */
};
extern const struct oche_param_table oche_host_params;

/* A retry_count that is as good as none: no run lasts as many timeouts. */
#define OCHE_HOST_RETRIES_NO_LIMIT 1000000

#define OCHE_DATA_CLASS    0
#define OCHE_CONTROL_CLASS 1 /* only without lanes; with lanes see struct oche_host_shared */
#define OCHE_CLASS_COUNT   2 /* without lanes */

struct oche_endpoint;
struct oche_ib_credits_params;
struct oche_slow_host_config;

/* An adapter that hosts have. */
struct oche_host_nic {
    struct oche_nic_habits habits;
    const void *cc_params; /* where the habits replace some of them; NULL: the network's */
};

/* Configuration shared by all hosts of a network. It must outlive the hosts. */
struct oche_host_shared {
    const struct oche_host_params *params;
    /* NULL: the RNIC, with the schemes `cc` and `recovery`. */
    const struct oche_endpoint *endpoint;
    const void *endpoint_params;
    const void *mechanism_params; /* parameters of endpoint->switch_mechanism */
    const struct oche_cc_scheme *cc;
    const void *cc_params;
    const struct oche_recovery_scheme *recovery;
    const void *recovery_params;
    struct oche_flows *flows;
    uint64_t seed;
    uint8_t control_class; /* class of CNPs and, with params->ack_priority, ACKs: the highest */
    /* class of flows with priority; if no flow has priority, the data class */
    uint8_t priority_class;
    struct oche_deflection deflection;
    const struct oche_ib_credits_params *credits; /* NULL: links have no credits */
    /* By host; NULL: none is slow. A host is not if it neither drains slowly nor has storms. */
    const struct oche_slow_host_config *slow;
    /* By host: its place in the order of names, for random streams; NULL: as numbered. */
    const uint32_t *places;
    struct oche_jobs jobs;                     /* programs on hosts; the list is not owned */
    const struct oche_host_nic *nic;           /* the adapter of all hosts but those in nic_of */
    const struct oche_host_nic *const *nic_of; /* by host, NULL where it is nic; or NULL */
    uint32_t frame_bytes;                      /* size of the largest packet */
    bool payload;                              /* generate, move and check every byte */
    bool lossy; /* packets may be lost: by links or for want of memory */
};

/* Sets the habits that the section `host` names by keys of its own, which replace a profile's. */
void oche_host_add_habits(const struct oche_host_params *params, struct oche_nic_habits *habits);

/* Returns a host's adapter. */
static inline const struct oche_host_nic *oche_host_nic(const struct oche_host_shared *shared,
                                                        uint32_t host)
{
    const struct oche_host_nic *own = shared->nic_of != NULL ? shared->nic_of[host] : NULL;

    return own != NULL ? own : shared->nic;
}

struct oche_host;

/*
 * Creates the host of node `address` in the arena of the node's shard, and attaches it to the
 * node's port 0.
 */
struct oche_host *oche_host_create(struct oche_network *network, uint32_t address,
                                   const struct oche_host_shared *shared);
/* Schedules the first event. To be called after oche_network_ready. */
void oche_host_begin(struct oche_host *host);

/*
 * Fetches into the cache what the host's next event will touch, in steps 0 … OCHE_NIC_FETCH_STEPS.
 * Affects only speed.
 */
void oche_host_fetch(const struct oche_host *host, const struct oche_packet *packet, unsigned step);
void oche_host_arrival(struct oche_shard *shard, struct oche_port *port, struct oche_packet *packet,
                       oche_time now);
void oche_host_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now);
void oche_host_timer(struct oche_shard *shard, struct oche_port *port, oche_time now);
/* To be called when the host's link goes down, or comes back (sim/network/link_failure.h). */
void oche_host_link_changed(struct oche_shard *shard, struct oche_port *port, oche_time now);

/*
 * Returns the hash of the five-tuple of a connection's packets, the same in both directions; ECMP
 * chooses the path by this hash.
 */
uint32_t oche_host_flow_hash(uint64_t seed, uint32_t connection);

/*
 * Returns counters since the beginning of the run; counters that the endpoint does not have are 0.
 */
const struct oche_nic_stats *oche_host_stats(const struct oche_host *host);
/*
 * Adds the counters of the endpoint, or of the scheme that it runs, to `sums`, one sum per row of
 * the returned table. Returns NULL if there are no counters.
 */
const struct oche_counters *oche_host_counters(const struct oche_host *host, uint64_t *sums);
/*
 * Returns the number of rejected packets that arrived after their receiver had nothing left to
 * receive.
 */
uint64_t oche_host_late_packets(const struct oche_host *host);
/* True if the host has a flow to start by a clock, or a program that calculates. */
bool oche_host_has_to_start(const struct oche_host *host);
/* Returns the pause state of the host's port, as the switch has set it. */
struct oche_pause *oche_host_pause(struct oche_host *host);
/*
 * Returns the bytes of payload that arrived and differ from what was sent (only with payload:
 * true).
 */
uint64_t oche_host_corrupt_bytes(const struct oche_host *host);
/* Returns the connection's rate, in bits per second, if this host sets the rate; 0: unknown. */
uint64_t oche_host_rate_bps(const struct oche_host *host, uint32_t connection);
/*
 * Returns the value of gauge `number` for a connection whose flows start at this host; NAN:
 * unknown.
 */
double oche_host_gauge(const struct oche_host *host, unsigned number, uint32_t connection);
/* Returns the last chunk of the round trips that the endpoint has measured; NULL: none. */
const struct oche_rtt_chunk *oche_host_rtts(const struct oche_host *host);
/*
 * Returns the bytes that have arrived here, in order, of the message that is being received on the
 * connection.
 */
uint64_t oche_host_arrived_bytes(const struct oche_host *host, uint32_t connection);
/*
 * To be called at the source when the run is over: if flow `number` is the one that its connection
 * would complete next, writes in flows->sent what has been sent again for it so far.
 */
void oche_host_count_sent_again(struct oche_host *host, uint32_t number);
/*
 * Copies to `losses` what this host knows about losses on the connection. Returns false if the
 * connection has no queue pair here now.
 */
bool oche_host_losses(const struct oche_host *host, uint32_t connection,
                      struct oche_qp_losses *losses);

#endif
