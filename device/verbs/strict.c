/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict mode (OCHE_STRICT): mistakes that adapters do not forgive are rejected or reported.
 *
 * A slot of the send queue is free once the program has polled a signaled completion of that work
 * request, or of a later one. Without strict mode it is free as soon as the work is done. A program
 * that never signals would then work here, and fail with ENOMEM on an adapter after one queue's
 * length. A slot of the receive queue is free once its completion was polled.
 *
 * Queues have exactly the requested length; without strict mode, the next power of two. A
 * completion queue that may overrun is reported: the posted work that will complete there exceeds
 * its entries.
 *
 * Posting counts under the queue pair's own locks, and polling under the completion queue's.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/verbs/internal.h"

struct ov_strict {
    struct ov_qp *qp;
    /* next queue pair of the same completion queue */
    struct ov_strict *next_sender, *next_receiver;
    uint32_t sends;              /* posted since the reset */
    _Atomic uint32_t sends_over; /* number of sends whose slots are free again */
    uint32_t recvs;
    _Atomic uint32_t recvs_over;
    /* Completions that are still to be polled; counted in the CQs as well. */
    _Atomic uint32_t send_completions, recv_completions;
};

/* ---- completion queues ---- */

static void expect(struct ov_cq *cq, _Atomic uint32_t *own, uint32_t count)
{
    const uint32_t all = atomic_fetch_add(&cq->expected, count) + count;

    atomic_fetch_add(own, count);
    if (all <= (uint32_t)cq->cq.cqe || atomic_exchange(&cq->may_overrun, true))
        return;
    ov_say_once(
        OV_ONCE_OVERRUN,
        "strict: a completion queue of %d entries may overrun: %u completions may wait there "
        "at once",
        cq->cq.cqe, all);
}

static void forget(struct ov_cq *cq, _Atomic uint32_t *own)
{
    atomic_fetch_sub(&cq->expected, atomic_exchange(own, 0));
}

/* One was polled. Work that was not signaled has one, too, if it fails. */
static void polled_one(struct ov_cq *cq, _Atomic uint32_t *own)
{
    if (atomic_load(own) == 0)
        return;
    atomic_fetch_sub(own, 1);
    atomic_fetch_sub(&cq->expected, 1);
}

static void polled(struct ov_cq *cq, const struct oche_completion *done)
{
    struct ov_strict *one;

    if (done->opcode >= OCHE_DONE_RECV) {
        for (one = cq->receivers; one != NULL; one = one->next_receiver)
            if (one->qp->qp.qp_num == done->qpn) {
                atomic_fetch_add(&one->recvs_over, 1);
                polled_one(cq, &one->recv_completions);
                return;
            }
        return; /* it uses a shared receive queue */
    }
    for (one = cq->senders; one != NULL; one = one->next_sender)
        if (one->qp->qp.qp_num == done->qpn) {
            atomic_store(&one->sends_over, done->imm);
            polled_one(cq, &one->send_completions);
            return;
        }
}

void ov_strict_polled(struct ov_cq *cq, const struct oche_completion *done, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        polled(cq, &done[i]);
}

/* ---- queue pairs ---- */

static void lock_cq(struct ov_cq *cq)
{
    if (!cq->single_threaded)
        pthread_mutex_lock(&cq->poll_lock);
}

static void unlock_cq(struct ov_cq *cq)
{
    if (!cq->single_threaded)
        pthread_mutex_unlock(&cq->poll_lock);
}

bool ov_strict_add(struct ov_qp *qp)
{
    struct ov_cq *send = ov_cq_of(qp->qp.send_cq), *recv = ov_cq_of(qp->qp.recv_cq);

    qp->strict = calloc(1, sizeof(*qp->strict));
    if (qp->strict == NULL)
        return false;
    qp->strict->qp = qp;
    lock_cq(send);
    qp->strict->next_sender = send->senders;
    send->senders = qp->strict;
    unlock_cq(send);
    if (qp->qp.srq != NULL)
        return true;
    lock_cq(recv);
    qp->strict->next_receiver = recv->receivers;
    recv->receivers = qp->strict;
    unlock_cq(recv);
    return true;
}

void ov_strict_reset(struct ov_qp *qp)
{
    struct ov_strict *strict = qp->strict;

    if (strict == NULL)
        return;
    forget(ov_cq_of(qp->qp.send_cq), &strict->send_completions);
    forget(ov_cq_of(qp->qp.recv_cq), &strict->recv_completions);
    strict->sends = strict->recvs = 0;
    atomic_store(&strict->sends_over, 0);
    atomic_store(&strict->recvs_over, 0);
}

void ov_strict_remove(struct ov_qp *qp)
{
    struct ov_cq *send = ov_cq_of(qp->qp.send_cq), *recv = ov_cq_of(qp->qp.recv_cq);
    struct ov_strict **link;

    if (qp->strict == NULL)
        return;
    ov_strict_reset(qp);
    lock_cq(send);
    for (link = &send->senders; *link != NULL; link = &(*link)->next_sender)
        if (*link == qp->strict) {
            *link = qp->strict->next_sender;
            break;
        }
    unlock_cq(send);
    lock_cq(recv);
    for (link = &recv->receivers; *link != NULL; link = &(*link)->next_receiver)
        if (*link == qp->strict) {
            *link = qp->strict->next_receiver;
            break;
        }
    unlock_cq(recv);
    free(qp->strict);
    qp->strict = NULL;
}

/* ---- posting ---- */

static uint32_t signaled(const struct oche_send_work *work, uint32_t count)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += (work[i].flags & OCHE_WORK_SIGNALED) != 0;
    return sum;
}

int ov_strict_send(struct ov_qp *qp, const struct oche_send_work *work, uint32_t count)
{
    struct ov_strict *strict = qp->strict;
    const uint32_t completions = signaled(work, count);

    if (strict->sends + count - atomic_load(&strict->sends_over) > qp->cap.max_send_wr) {
        ov_say_once(OV_ONCE_SEND_SLOTS,
                    "strict: the %u slots of queue pair 0x%x's send queue are taken; one is free "
                    "once a signaled completion of its work request, or of a later one, was polled",
                    qp->cap.max_send_wr, qp->qp.qp_num);
        return ENOMEM;
    }
    strict->sends += count;
    if (completions > 0)
        expect(ov_cq_of(qp->qp.send_cq), &strict->send_completions, completions);
    return 0;
}

void ov_strict_unsend(struct ov_qp *qp, const struct oche_send_work *work, uint32_t count)
{
    struct ov_strict *strict = qp->strict;
    const uint32_t completions = signaled(work, count);

    strict->sends -= count;
    atomic_fetch_sub(&strict->send_completions, completions);
    atomic_fetch_sub(&ov_cq_of(qp->qp.send_cq)->expected, completions);
}

int ov_strict_receive(struct ov_qp *qp)
{
    struct ov_strict *strict = qp->strict;

    if (strict->recvs + 1 - atomic_load(&strict->recvs_over) > qp->cap.max_recv_wr) {
        ov_say_once(
            OV_ONCE_RECV_SLOTS,
            "strict: the %u slots of queue pair 0x%x's receive queue are taken; one is free "
            "once its completion was polled",
            qp->cap.max_recv_wr, qp->qp.qp_num);
        return ENOMEM;
    }
    strict->recvs++;
    expect(ov_cq_of(qp->qp.recv_cq), &strict->recv_completions, 1);
    return 0;
}

void ov_strict_unreceive(struct ov_qp *qp)
{
    qp->strict->recvs--;
    atomic_fetch_sub(&qp->strict->recv_completions, 1);
    atomic_fetch_sub(&ov_cq_of(qp->qp.recv_cq)->expected, 1);
}
