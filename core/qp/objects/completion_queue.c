/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues: a ring that the NIC fills and one thread empties, without a lock. A ring that
 * overflows stays in error (IBTA 10.10): it loses the present completion and all later ones. A
 * queue pair that loses a completion fails, because the outcome of its work is unknown. Arming sets
 * one word, which the next push clears.
 */
#include "core/qp/objects/objects.h"
#include "core/qp/timers.h"

struct oche_cq {
    _Atomic uint32_t head CACHE_ALIGNED; /* written by the polling thread */
    /* 0: no; 1: for the next solicited or failed completion; 2: for the next */
    _Atomic uint32_t armed;
    _Atomic uint32_t tail CACHE_ALIGNED; /* written by the NIC */
    uint32_t mask;
    _Atomic bool overflowed;
    struct oche_completion *entries;
};

enum { NOT_ARMED, ARMED_SOLICITED, ARMED };

size_t oche_cq_entries_bytes(uint32_t entries)
{
    return entries * sizeof(struct oche_completion);
}

size_t oche_cq_bytes(uint32_t entries)
{
    return sizeof(struct oche_cq) + oche_cq_entries_bytes(entries);
}

struct oche_cq *oche_cq_create(void *memory, uint32_t entries)
{
    struct oche_cq *cq = memory;

    OCHE_MUST(entries > 0 && (entries & (entries - 1)) == 0);
    atomic_init(&cq->head, 0);
    atomic_init(&cq->tail, 0);
    atomic_init(&cq->armed, NOT_ARMED);
    atomic_init(&cq->overflowed, false);
    cq->entries = (struct oche_completion *)(void *)(cq + 1);
    cq->mask = entries - 1;
    return cq;
}

bool oche_cq_resize(struct oche_cq *cq, void *memory, uint32_t entries)
{
    const uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
    const uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
    struct oche_completion *ring = memory;

    OCHE_MUST(entries > 0 && (entries & (entries - 1)) == 0);
    if (tail - head > entries)
        return false;
    for (uint32_t i = head; i != tail; i++)
        ring[i & (entries - 1)] = cq->entries[i & cq->mask];
    cq->entries = ring;
    cq->mask = entries - 1;
    return true;
}

unsigned oche_cq_poll(struct oche_cq *cq, struct oche_completion *out, unsigned max)
{
    uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
    uint32_t count = atomic_load_explicit(&cq->tail, memory_order_acquire) - head;

    if (count > max)
        count = max;
    for (uint32_t i = 0; i < count; i++)
        out[i] = cq->entries[(head + i) & cq->mask];
    if (count > 0)
        atomic_store_explicit(&cq->head, head + count, memory_order_release);
    return count;
}

const struct oche_completion *oche_cq_peek(const struct oche_cq *cq, uint32_t *count)
{
    uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);

    *count = atomic_load_explicit(&cq->tail, memory_order_acquire) - head;
    return *count > 0 ? &cq->entries[head & cq->mask] : NULL;
}

void oche_cq_forget(struct oche_cq *cq, uint32_t qpn)
{
    const uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
    const uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_acquire);
    uint32_t kept = tail; /* the completions that are kept move up to the tail, in order */

    for (uint32_t at = tail; at != head; at--) {
        const struct oche_completion *one = &cq->entries[(at - 1) & cq->mask];

        if (one->qpn != qpn)
            cq->entries[--kept & cq->mask] = *one;
    }
    atomic_store_explicit(&cq->head, kept, memory_order_release);
}

void oche_cq_arm(struct oche_cq *cq, bool solicited_only)
{
    uint32_t none = NOT_ARMED;

    /* If the queue is already armed for any completion, it stays so. */
    if (solicited_only)
        atomic_compare_exchange_strong(&cq->armed, &none, ARMED_SOLICITED);
    else
        atomic_store_explicit(&cq->armed, ARMED, memory_order_seq_cst);
    /*
     * The caller polls next. The poll must not read the queue before the NIC can see that it is
     * armed.
     */
    atomic_thread_fence(memory_order_seq_cst);
}

bool oche_cq_overflowed(const struct oche_cq *cq)
{
    return atomic_load_explicit(&cq->overflowed, memory_order_acquire);
}

/*
 * Notes that a completion is lost. The queue pair fails later, in timers_run, outside the current
 * call.
 */
static OCHE_NOINLINE void lose(struct oche_qp *qp, struct oche_cq *cq)
{
    const struct oche_nic_port *port = qp->nic->port;
    const enum oche_qp_state state = qp_state(qp);

    if (!atomic_load_explicit(&cq->overflowed, memory_order_relaxed)) {
        atomic_store_explicit(&cq->overflowed, true, memory_order_release);
        if (port->cq_error != NULL)
            port->cq_error(qp->nic->port_context, cq);
    }
    if (state == OCHE_QP_ERR || state == OCHE_QP_RESET)
        return;
    qp->overrun = true;
    timers_want(qp, 0);
}

void cq_push(struct oche_qp *qp, struct oche_cq *cq, const struct oche_completion *completion)
{
    if (cq == NULL)
        return;
    uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
    if (OCHE_UNLIKELY(tail - atomic_load_explicit(&cq->head, memory_order_acquire) > cq->mask ||
                      atomic_load_explicit(&cq->overflowed, memory_order_relaxed))) {
        lose(qp, cq);
        return;
    }
    cq->entries[tail & cq->mask] = *completion;
    atomic_store_explicit(&cq->tail, tail + 1, memory_order_seq_cst);

    uint32_t armed = atomic_load_explicit(&cq->armed, memory_order_seq_cst);
    if (OCHE_LIKELY(armed == NOT_ARMED))
        return;
    const struct oche_nic_port *port = qp->nic->port;
    bool wakes =
        armed == ARMED || completion->solicited || completion->status != OCHE_STATUS_SUCCESS;
    if (!wakes || port->completion_event == NULL)
        return;
    if (atomic_compare_exchange_strong(&cq->armed, &armed, NOT_ARMED))
        port->completion_event(qp->nic->port_context, cq);
}
