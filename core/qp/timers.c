/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: a queue pair has a few deadlines and one entry in the NIC's heap, whose time is at or
 * before the earliest deadline. When a deadline moves to a later time, the entry stays unchanged;
 * when the entry expires, the timers that are due run and the entry gets its next time. So an ACK
 * costs no heap operation.
 */
#include "core/qp/timers.h"

#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/receive/receive.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/losses.h"
#include "core/qp/send/pieces.h"

void timers_want(struct oche_qp *qp, oche_time when)
{
    struct heap *timers = &qp->nic->timers;

    if (when < heap_time(timers, qp->slot))
        heap_set(timers, qp->slot, when, 0);
}

static oche_time earliest(const struct oche_qp *qp)
{
    oche_time when = oche_time_min(snd(qp)->ack_deadline, snd(qp)->rnr_deadline);

    when = oche_time_min(when, receiver_timer_due(qp));
    if (qp->nic->recovery->loss_due != NULL)
        when = oche_time_min(when, losses_due(qp));
    when = oche_time_min(when, snd(qp)->order.deadline);
    if (OCHE_UNLIKELY(snd(qp)->read_waits))
        when = oche_time_min(when, snd(qp)->pieces->due);
    if (OCHE_UNLIKELY(qp->nic->late))
        when = oche_time_min(when, late_due(qp));
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        when = oche_time_min(when, qp->flow.timer[i]);
    return OCHE_UNLIKELY(qp->overrun) ? 0 : when;
}

/* Runs those timers of a queue pair that are due, in the order of the lines below. */
void timers_run(struct oche_qp *qp, oche_time now)
{
    if (OCHE_UNLIKELY(qp->overrun))
        qp_overrun(qp, now);
    if (snd(qp)->ack_deadline <= now) {
        snd(qp)->ack_deadline = OCHE_NEVER;
        completer_ack_timeout(qp, now);
    }
    if (qp->nic->recovery->loss_due != NULL && losses_due(qp) <= now)
        losses_timer(qp, now);
    if (snd(qp)->rnr_deadline <= now) {
        snd(qp)->rnr_deadline = OCHE_NEVER;
        completer_rnr_over(qp, now);
    }
    responder_timer(qp, now);
    if (snd(qp)->order.deadline <= now) {
        snd(qp)->order.deadline = OCHE_NEVER;
        scheduler_kick(qp, now);
    }
    if (OCHE_UNLIKELY(snd(qp)->read_waits))
        pieces_due(qp, now);
    if (OCHE_UNLIKELY(qp->nic->late))
        late_run(qp, now);
    congestion_timers(qp, now);
}

void oche_nic_expire(struct oche_nic *nic, oche_time now)
{
    while (nic->timers.count > 0 && heap_next(&nic->timers) <= now) {
        uint32_t slot = nic->timers.entries[0].slot;
        if (OCHE_UNLIKELY(slot == nic->config.max_qps)) {
            congestion_nic_timer(nic, now);
            continue;
        }
        struct oche_qp *qp = nic->qps[slot];
        OCHE_MUST(qp != NULL && qp->slot == slot);
        heap_remove(&nic->timers, slot);
        timers_run(qp, now);
        scheduler_must(nic);
        oche_time when = earliest(qp);
        if (when == OCHE_NEVER) /* timers_run may have called timers_want */
            heap_remove(&nic->timers, qp->slot);
        else /* a timer that is set to now is moved 1 ps on, so that this loop ends */
            heap_set(&nic->timers, qp->slot, when > now ? when : now + 1, 0);
    }
}
