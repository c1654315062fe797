/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a host, for host.c and for endpoints: the host's state, and the functions by which
 * an endpoint reports to its host. An endpoint reports three things about a flow, in this order: it
 * has started; its last byte has been delivered (reported at the receiver's host); it is completed.
 */
#ifndef OCHE_SIM_NETWORK_HOST_STATE_H
#define OCHE_SIM_NETWORK_HOST_STATE_H

#include "sim/network/endpoint.h"
#include "sim/network/feedback.h"
#include "sim/network/host.h"
#include "sim/network/host_latency.h"

/* Flags of oche_host.notes: what is recorded about each packet that arrives or leaves. */
#define OCHE_HOST_NOTES_PATHS   UINT8_C(1) /* each packet's path is recorded in flows->paths */
#define OCHE_HOST_NOTES_CREDITS UINT8_C(2) /* the link has credits (host_credits.h) */
#define OCHE_HOST_NOTES_SLOW    UINT8_C(4) /* a slow receiver, or PAUSE storms (slow_host.h) */
#define OCHE_HOST_NOTES_MEMORY  UINT8_C(8) /* requests for data wait for it (host_latency.h) */
/* Notes of hosts that also send frames of the link layer, with timers for them. */
#define OCHE_HOST_NOTES_LINK (OCHE_HOST_NOTES_CREDITS | OCHE_HOST_NOTES_SLOW)

/* Flags of oche_host.defers: what the host does later. */
#define OCHE_HOST_DEFERS_FEEDBACK UINT8_C(1) /* it takes feedback late (feedback.h) */
#define OCHE_HOST_DEFERS_WORK     UINT8_C(2) /* it has latencies (host_latency.h) */

/* The endpoint's state follows this struct, on a cache line of its own. */
struct oche_host {
    /*
     * One cache line with everything that an event touches, including the time of the next PAUSE.
     */
    const struct oche_endpoint *endpoint;
    const struct oche_nic *nic; /* the endpoint's NIC, for prefetching; NULL: it has none */
    struct oche_port *port;
    struct oche_shard *shard;
    const struct oche_host_shared *shared;
    oche_time next_start; /* when the host starts a flow, or a program acts; OCHE_NEVER: neither */
    uint32_t address;
    uint8_t classes; /* classes that may send now, as a mask */
    uint8_t defers;  /* OCHE_HOST_DEFERS_… */
    uint8_t notes;   /* OCHE_HOST_NOTES_… */
    struct oche_pause pause;

    struct oche_flows *flows;
    struct oche_feedback feedback;
    struct oche_host_latency *latency; /* NULL: program, NIC and memory are one */
    struct oche_host_credits *credits; /* NULL: the link has no credits */
    struct oche_host_jobs *jobs;       /* host_jobs.h; NULL: no program runs here */
    struct oche_slow_host *slow;       /* NULL: it is not slow, and sends no PAUSEs */
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

/* To be called when flow `number` has been queued on its connection. */
void oche_host_flow_started(struct oche_host *host, uint32_t number, oche_time now);
/*
 * To be called when the connection's next flow has arrived completely and in order. Returns the
 * number of that flow.
 */
uint32_t oche_host_flow_delivered(struct oche_host *host, uint32_t connection, oche_time now);
/* The same, where the NIC has the flow's last byte, and memory has it after host.dma_latency. */
uint32_t oche_host_flow_arrived(struct oche_host *host, uint32_t connection, oche_time now);
/* Notes that all of flow `number` is delivered. For the two functions above, and host_latency.c. */
void oche_host_flow_in_memory(struct oche_host *host, uint32_t number, oche_time now);
/*
 * To be called, in place of that, when bytes of a later flow have arrived and the next flow's end
 * was lost for good. Returns the number of the flow that was passed over.
 */
uint32_t oche_host_flow_passed_over(struct oche_host *host, uint32_t connection);
/*
 * To be called when flow `number` is completely acknowledged or has failed. `retransmitted`
 * (packets) and `timeouts` are the connection's totals so far.
 */
void oche_host_flow_completed(struct oche_host *host, uint32_t number, enum oche_status status,
                              uint64_t retransmitted, uint64_t timeouts, oche_time now);
/*
 * Starts flow `number`, which follows a flow that ended at this host. OCHE_NO_FLOW: does nothing.
 */
void oche_host_start(struct oche_host *host, uint32_t number, oche_time now);

#endif
