/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies between a host's program, its NIC and its memory, for endpoints with queue pairs
 * (RoGUE sec 5.4 has about 1 us for each transaction over PCI; docs/papers/rogue.md#host-latency):
 *
 *   doorbell     from a post until the NIC has the work request
 *   dma          a transaction between NIC and memory. The first data of a WRITE or SEND leaves so
 *                much later, and so does a READ's answer at the host that has the data; a message
 *                is delivered so long after its last byte has arrived
 *   completion   from a completion at the NIC until the program has it
 *
 * Transactions are pipelined: a latency delays each message by the same time, and costs no
 * throughput. What is due later waits in a heap of the host. ACKs, NAKs and CNPs come from the NIC
 * and wait for nothing.
 */
#ifndef OCHE_SIM_NETWORK_HOST_LATENCY_H
#define OCHE_SIM_NETWORK_HOST_LATENCY_H

#include "core/wire/packet.h"
#include "sim/network/deferred.h"
#include "sim/network/host.h"

enum oche_deferred_kind {
    OCHE_DEFERRED_DELIVERY,  /* flow `number` is in memory */
    OCHE_DEFERRED_REQUEST,   /* the request `object`, a packet: the data that it asks for is here */
    OCHE_DEFERRED_POST,      /* the NIC has what was posted; object and number: the endpoint's */
    OCHE_DEFERRED_COMPLETION /* the program has a completion; the rest is the endpoint's */
};

struct oche_host_latency {
    oche_time doorbell, dma, completion;
    struct oche_deferred_heap heap;
};

/* Gives the host its latencies, if it has any and its endpoint takes them. */
void oche_host_latency_start(struct oche_host *host);
/* Defers `entry`, whose `until` is set. The host has latencies. */
void oche_host_defer(struct oche_host *host, const struct oche_deferred *entry);
/* Carries out all that is due at `now`. The host has latencies. */
void oche_host_latency_release(struct oche_host *host, oche_time now);
/*
 * To be called when a packet has arrived at a host with latencies. Returns true if it waits for
 * data from memory; then the packet is the host's.
 */
bool oche_host_latency_holds(struct oche_host *host, struct oche_packet *packet, oche_time now);

/* Returns how late the NIC has work that is posted; `sends`: it sends data from memory. */
static inline oche_time oche_latency_of_post(const struct oche_host_latency *latency, bool sends)
{
    return latency->doorbell + (sends ? latency->dma : 0);
}

/* Returns what an undisturbed flow of a host with these parameters takes besides its way. */
static inline oche_time oche_latency_of_flow(const struct oche_host_params *params)
{
    return params->doorbell_latency + 2 * params->dma_latency;
}

#endif
