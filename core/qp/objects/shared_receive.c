/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared receive queues: a ring of receives that several queue pairs take from. A queue pair has
 * room for one receive of its own. When a message needs a receive, the oldest shared receive moves
 * to that place and belongs to the queue pair from then on. So a message finds its receive in the
 * same place as without sharing. The receives in the shared ring belong to no queue pair, so no
 * error of a queue pair flushes them.
 */
#include <errno.h>
#include <string.h>

#include "core/qp/objects/objects.h"

#define MAX_DEPTH (UINT32_C(1) << 20)

struct oche_srq {
    /* Written by posting threads. */
    _Atomic uint32_t posted CACHE_ALIGNED;
    /* Written by the NIC. */
    _Atomic uint32_t taken CACHE_ALIGNED;
    uint32_t limit; /* report when fewer receives than this are posted; 0: no report */
    uint32_t users; /* number of queue pairs that use this queue */
    /* Constant after creation. */
    struct oche_nic *nic CACHE_ALIGNED;
    uint32_t mask, max_sge, entry_bytes, pd;
    void *user;
    uint8_t *entries;
};

static uint32_t entry_bytes(uint32_t max_sge)
{
    return (uint32_t)(sizeof(struct recv_entry) + max_sge * sizeof(struct oche_sge));
}

static struct recv_entry *entry_at(struct oche_srq *srq, uint32_t index)
{
    return (void *)(srq->entries + (size_t)(index & srq->mask) * srq->entry_bytes);
}

/* ---- making ---- */

size_t oche_srq_entries_bytes(uint32_t depth, uint32_t max_sge)
{
    return (size_t)depth * entry_bytes(max_sge);
}

size_t oche_srq_bytes(const struct oche_srq_config *config)
{
    return sizeof(struct oche_srq) + oche_srq_entries_bytes(config->depth, config->max_sge);
}

static bool depth_ok(uint32_t depth)
{
    return depth > 0 && depth <= MAX_DEPTH && (depth & (depth - 1)) == 0;
}

struct oche_srq *oche_srq_create(struct oche_nic *nic, void *memory,
                                 const struct oche_srq_config *config)
{
    struct oche_srq *srq = memory;

    if (!depth_ok(config->depth))
        return NULL;
    if (config->max_sge == 0 || config->max_sge > OCHE_MAX_SGE || config->pd == NOBODYS_PD)
        return NULL;
    *srq = (struct oche_srq){
        .nic = nic,
        .mask = config->depth - 1,
        .max_sge = config->max_sge,
        .entry_bytes = entry_bytes(config->max_sge),
        .pd = config->pd,
        .user = config->user,
        .entries = (uint8_t *)(srq + 1),
    };
    return srq;
}

bool oche_srq_resize(struct oche_srq *srq, void *memory, uint32_t depth)
{
    const uint32_t posted = atomic_load_explicit(&srq->posted, memory_order_relaxed);
    const uint32_t taken = atomic_load_explicit(&srq->taken, memory_order_relaxed);
    uint8_t *entries = memory;

    if (!depth_ok(depth) || posted - taken > depth)
        return false;
    for (uint32_t i = taken; i != posted; i++)
        memcpy(entries + (size_t)(i & (depth - 1)) * srq->entry_bytes, entry_at(srq, i),
               srq->entry_bytes);
    srq->entries = entries;
    srq->mask = depth - 1;
    return true;
}

bool oche_srq_destroy(struct oche_srq *srq)
{
    return srq->users == 0;
}

void srq_attach(struct oche_srq *srq)
{
    srq->users++;
}

void srq_detach(struct oche_srq *srq)
{
    OCHE_MUST(srq->users > 0);
    srq->users--;
}

uint32_t srq_pd(const struct oche_srq *srq)
{
    return srq->pd;
}

uint32_t srq_max_sge(const struct oche_srq *srq)
{
    return srq->max_sge;
}

/* ---- posting and taking ---- */

int oche_srq_post_recv(struct oche_srq *srq, const struct oche_recv_work *work)
{
    uint32_t tail = atomic_load_explicit(&srq->posted, memory_order_relaxed);

    if (work->sge_count > srq->max_sge)
        return EINVAL;
    if (tail - atomic_load_explicit(&srq->taken, memory_order_acquire) > srq->mask)
        return ENOMEM;
    recv_entry_fill(entry_at(srq, tail), work);
    atomic_store_explicit(&srq->posted, tail + 1, memory_order_release);
    return 0;
}

/* If fewer receives than the limit are posted, reports this once and unsets the limit. */
static void check_limit(struct oche_srq *srq)
{
    const struct oche_nic_port *port = srq->nic->port;

    if (OCHE_LIKELY(srq->limit == 0) || oche_srq_posted(srq) >= srq->limit)
        return;
    srq->limit = 0;
    if (port->srq_limit != NULL)
        port->srq_limit(srq->nic->port_context, srq);
}

bool srq_take(struct oche_srq *srq, struct recv_entry *to)
{
    uint32_t head = atomic_load_explicit(&srq->taken, memory_order_relaxed);

    if (head == atomic_load_explicit(&srq->posted, memory_order_acquire))
        return false;
    memcpy(to, entry_at(srq, head), srq->entry_bytes);
    atomic_store_explicit(&srq->taken, head + 1, memory_order_release);
    return true;
}

void srq_taken(struct oche_srq *srq)
{
    check_limit(srq);
}

/* ---- questions and settings ---- */

void oche_srq_set_limit(struct oche_srq *srq, uint32_t limit)
{
    srq->limit = limit;
    check_limit(srq);
}

uint32_t oche_srq_limit(const struct oche_srq *srq)
{
    return srq->limit;
}

uint32_t oche_srq_posted(const struct oche_srq *srq)
{
    uint32_t taken = atomic_load_explicit(&srq->taken, memory_order_acquire);

    return atomic_load_explicit(&srq->posted, memory_order_acquire) - taken;
}

void *oche_srq_user(const struct oche_srq *srq)
{
    return srq->user;
}
