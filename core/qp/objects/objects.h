/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues, shared receive queues, memory windows and regions, for the other rooms. */
#ifndef OCHE_CORE_QP_OBJECTS_OBJECTS_H
#define OCHE_CORE_QP_OBJECTS_OBJECTS_H

#include "core/qp/qp_internal.h"

#define NOBODYS_PD  UINT32_MAX           /* protection domain of regions that represent windows */
#define WINDOW_KEYS UINT32_C(0xffffff00) /* fixed part of a window's key; the rest may change */

/* A posted receive. */
struct recv_entry {
    uint64_t wr_id;
    uint32_t length; /* bytes of all SGEs together */
    uint32_t sge_count;
    struct oche_sge sge[];
};

static inline void recv_entry_fill(struct recv_entry *entry, const struct oche_recv_work *work)
{
    uint64_t length = 0;

    for (uint32_t i = 0; i < work->sge_count; i++) {
        length += work->sge[i].length;
        entry->sge[i] = work->sge[i];
    }
    entry->wr_id = work->wr_id;
    entry->sge_count = work->sge_count;
    entry->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

/* ---- completion queues ---- */

void cq_push(struct oche_qp *qp, struct oche_cq *cq, const struct oche_completion *completion);

/* ---- shared receive queues ---- */

/* Count a queue pair that uses the queue. */
void srq_attach(struct oche_srq *srq);
void srq_detach(struct oche_srq *srq);
uint32_t srq_max_sge(const struct oche_srq *srq);
uint32_t srq_pd(const struct oche_srq *srq);
/*
 * Moves the oldest shared receive to `to`, which has room for srq_max_sge entries. Returns false if
 * none is posted. The caller then calls srq_taken, once the receive is in its place.
 */
bool srq_take(struct oche_srq *srq, struct recv_entry *to);
/* Tells the driver if fewer receives than the limit are left. */
void srq_taken(struct oche_srq *srq);

/* ---- memory windows ---- */

/* True if the slot belongs to a window that the queue pair may use. */
bool window_open(const struct oche_qp *qp, uint32_t slot);
/* Count a bind of the window: when it was posted, and when it has ended. */
void window_bind_posted(struct oche_window *window);
void window_bind_over(struct oche_window *window);
/* Bind and invalidate windows. Return false, and change nothing, if that is not allowed. */
bool window_bind(struct oche_qp *qp, const struct oche_bind *bind);
bool window_invalidate(struct oche_qp *qp, uint32_t key);
bool window_may_invalidate(const struct oche_qp *qp, uint32_t key);
/* Releases the windows of type 2 that the queue pair has bound. */
void windows_forget(struct oche_qp *qp);

/* ---- regions ---- */

/* As region_check, for an access by the peer. The key may be that of a memory window. */
const struct oche_region *region_check_remote(const struct oche_qp *qp, uint32_t key, uint64_t va,
                                              uint64_t length, uint32_t access);
/*
 * Returns the region of `key` if protection domain, bounds and access rights allow the access, else
 * NULL. `length` must be above 0.
 */
const struct oche_region *region_check(const struct oche_nic *nic, uint32_t pd, uint32_t key,
                                       uint64_t va, uint64_t length, uint32_t access);
/*
 * Copy `bytes` between a packet and a list of SGEs; `offset` says where in the list to begin.
 * Return false if a region no longer exists.
 */
bool region_gather(const struct oche_qp *qp, const struct oche_sge *sge, uint32_t count,
                   uint32_t offset, void *to, uint32_t bytes);
bool region_scatter(const struct oche_nic *nic, uint32_t pd, const struct oche_sge *sge,
                    uint32_t count, uint32_t offset, const void *from, uint32_t bytes);
/* True if `access` to the memory of all SGEs is allowed. */
bool region_check_sges(const struct oche_nic *nic, uint32_t pd, const struct oche_sge *sge,
                       uint32_t count, uint32_t access);

#endif
