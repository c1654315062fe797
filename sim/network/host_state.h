/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host from inside, for host.c and for endpoints: what it is made of, and what an endpoint tells
 * it. Of a flow an endpoint says three things, in this order: it has started, its last byte has
 * been delivered (said at the receiver's host), it is completed.
 */
#ifndef OCHE_SIM_NETWORK_HOST_STATE_H
#define OCHE_SIM_NETWORK_HOST_STATE_H

#include "sim/endpoint/endpoint.h"
#include "sim/network/feedback.h"
#include "sim/network/host.h"

/* What oche_host.notes says of each packet that comes or goes. */
#define OCHE_HOST_NOTES_WAYS    UINT8_C(1) /* flows->ways are there */
#define OCHE_HOST_NOTES_CREDITS UINT8_C(2) /* the link has credits: host_credits.h */

/* The endpoint's state follows behind, on a cache line of its own. */
struct oche_host {
    /* One line: all that an event touches, with the time of the next PAUSE. */
    const struct oche_endpoint *endpoint;
    const struct oche_nic *nic; /* of the endpoint, to be fetched ahead; or NULL */
    struct oche_port *port;
    struct oche_shard *shard;
    const struct oche_host_shared *shared;
    uint32_t next_start, end_starts; /* positions in flows->by_start */
    uint32_t address;
    uint8_t classes; /* that may send now */
    bool holds_feedback;
    uint8_t notes; /* OCHE_HOST_NOTES_… */
    struct oche_pause pause;

    struct oche_flows *flows;
    struct oche_feedback feedback;
    struct oche_host_credits *credits; /* NULL: the link has none */
} __attribute__((aligned(OCHE_CACHE_LINE)));

_Static_assert(offsetof(struct oche_host, pause.next) < OCHE_CACHE_LINE, "in the first line");

static inline void *oche_host_endpoint_state(const struct oche_host *host)
{
    return (char *)host + sizeof(*host);
}

static inline struct oche_trace *oche_host_trace(const struct oche_host *host)
{
    return &host->shard->network->nodes[host->address].trace;
}

/* ---- for endpoints ---- */

/* The flow is in line on its connection. */
void oche_host_flow_started(struct oche_host *host, uint32_t number, oche_time now);
/* All of the connection's next flow has arrived, in order. Returns the flow's number. */
uint32_t oche_host_flow_delivered(struct oche_host *host, uint32_t connection, oche_time now);
/* All of it is acknowledged, or it has failed. The sums are the connection's. */
void oche_host_flow_completed(struct oche_host *host, uint32_t number, enum oche_status status,
                              uint64_t retransmitted, uint64_t timeouts, oche_time now);
/* What follows a flow here: starts that flow; OCHE_NO_FLOW: nothing. */
void oche_host_start(struct oche_host *host, uint32_t number, oche_time now);

#endif
