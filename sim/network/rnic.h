/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RNIC as an endpoint: the packet path, inline because nearly every host has an RNIC and the
 * host's loop calls it directly. The rest is in rnic.c.
 */
#ifndef OCHE_SIM_NETWORK_RNIC_H
#define OCHE_SIM_NETWORK_RNIC_H

#include "core/wire/opcode.h"
#include "sim/network/endpoint.h"
#include "sim/network/host_memory.h"
#include "sim/network/host.h"

struct oche_rnic_parked;

struct oche_rnic {
    struct oche_host_memory memory; /* first: see host_memory.h */
    struct oche_nic *nic;
    struct oche_host *host;
    struct oche_cq *cq;
    struct oche_rnic_parked *unused; /* queue pair memory for reuse */
    /* Queue pairs of receivers that have finished, oldest first. */
    struct oche_rnic_parked *linger_head, *linger_tail;
    uint32_t qp_bytes;
    uint32_t outstanding : 26; /* requests that were posted and whose completions were not polled */
    uint32_t cq_log2 : 5;      /* of the completion queue's entries */
    bool has_failed : 1; /* a queue pair has failed; work that is posted to it completes at once */
};

_Static_assert(sizeof(struct oche_rnic) <= OCHE_CACHE_LINE, "fetched as one line");

/*
 * Polls completions. Returns true if there were any; one event completes the work of one queue
 * pair.
 */
bool oche_rnic_poll(struct oche_rnic *rnic, oche_time now);

static inline void oche_rnic_receive(void *state, const struct oche_packet *packet, oche_time now)
{
    struct oche_rnic *rnic = state;

    oche_nic_receive(rnic->nic, packet, now);
    if (oche_opcode(packet->opcode)->flags & OCHE_OP_RESPONSE)
        oche_rnic_poll(rnic, now); /* nothing else completes work */
}

static inline bool oche_rnic_transmit(void *state, oche_time now, uint8_t classes,
                                      struct oche_packet *packet)
{
    struct oche_rnic *rnic = state;

    return oche_nic_transmit(rnic->nic, now, now, classes, &packet, 1) != 0;
}

static inline oche_time oche_rnic_next(void *state, uint8_t classes)
{
    struct oche_rnic *rnic = state;

    return oche_nic_next(rnic->nic, classes);
}

static inline oche_time oche_rnic_next_timer(const void *state)
{
    const struct oche_rnic *rnic = state;

    return oche_nic_next_timer(rnic->nic);
}

static inline void oche_rnic_expire(void *state, oche_time now)
{
    struct oche_rnic *rnic = state;

    if (oche_nic_next_timer(rnic->nic) > now)
        return;
    oche_nic_expire(rnic->nic, now);
    oche_rnic_poll(rnic, now);
}

/* Completes the work that was posted to failed queue pairs. Returns true if there was any. */
static inline bool oche_rnic_flush(void *state, oche_time now)
{
    struct oche_rnic *rnic = state;

    return OCHE_UNLIKELY(rnic->has_failed) && oche_rnic_poll(rnic, now);
}

static inline bool oche_rnic_is_feedback(const struct oche_packet *packet)
{
    return !(oche_opcode(packet->opcode)->flags & (OCHE_OP_REQUEST | OCHE_OP_PAYLOAD));
}

#endif
