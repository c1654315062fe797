/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that count as lost, and losses that prove to be none; see losses.h. */
#include "core/qp/send/losses.h"

#include "core/qp/congestion.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/pieces.h"
#include "core/qp/timers.h"

/* Tells congestion control that nothing was lost after all. */
static void undo_loss(struct oche_qp *qp, oche_time now)
{
    const bool timeout = snd(qp)->doubts == DOUBTS_TIMEOUT;

    if (timeout)
        qp->nic->stats.early_timeouts++;
    else
        qp->nic->stats.early_losses++;
    snd(qp)->doubts = DOUBTS_NOTHING;
    congestion_undo(qp, timeout ? OCHE_CC_LOSS_TIMEOUT : OCHE_CC_LOSS_NAK, now);
}

OCHE_NOINLINE void losses_look_back(struct oche_qp *qp, oche_time now)
{
    enum oche_timeout_was was;

    OCHE_MUST(qp->nic->recovery->judge != NULL);
    if (oche_psn_diff(snd(qp)->tx.una, snd(qp)->doubt_psn) <= 0)
        return;
    was = qp->nic->recovery->judge(&snd(qp)->tx, now);
    if (was == OCHE_TIMEOUT_EARLY)
        undo_loss(qp, now);
    else if (was == OCHE_TIMEOUT_RIGHT)
        snd(qp)->doubts = DOUBTS_NOTHING;
}

void losses_tell(struct oche_qp *qp, oche_time now)
{
    congestion_loss(qp, OCHE_CC_LOSS_NAK, now);
    if (qp->nic->recovery->judge == NULL || snd(qp)->doubts != DOUBTS_NOTHING)
        return;
    snd(qp)->doubts = DOUBTS_LOSS;
    snd(qp)->doubt_psn = oche_psn_add(snd(qp)->tx.una, OCHE_PSN_MASK);
}

void losses_await(struct oche_qp *qp)
{
    const oche_time due = losses_due(qp);

    if (OCHE_UNLIKELY(due != OCHE_NEVER))
        timers_want(qp, due);
}

OCHE_NOINLINE void losses_duplicated(struct oche_qp *qp, oche_time now)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    uint32_t before = snd(qp)->tx.next;

    if (recovery->duplicated == NULL)
        return;
    /* of a timeout that is doubted only `judge` tells whether it was early */
    if (recovery->duplicated(&snd(qp)->tx, 1, now) == OCHE_TIMEOUT_EARLY &&
        snd(qp)->doubts != DOUBTS_TIMEOUT)
        undo_loss(qp, now);
    requester_seek(qp, before, now);
    losses_await(qp);
}

oche_time losses_due(const struct oche_qp *qp)
{
    const enum oche_qp_state state = qp_state(qp);

    if ((state != OCHE_QP_RTS && state != OCHE_QP_SQD) ||
        snd(qp)->send_head == snd(qp)->send_started || snd(qp)->rnr_deadline != OCHE_NEVER)
        return OCHE_NEVER;
    const oche_time due = qp->nic->recovery->loss_due(&snd(qp)->tx);

    return OCHE_LIKELY(snd(qp)->pieces == NULL) ? due : oche_time_min(due, pieces_loss_due(qp));
}

void losses_timer(struct oche_qp *qp, oche_time now)
{
    uint32_t before = snd(qp)->tx.next;

    snd(qp)->resent_for = OCHE_RESENT_SELECTIVE;
    const bool is_new = qp->nic->recovery->loss_timer(&snd(qp)->tx, now);

    requester_seek(qp, before, now);
    if (is_new)
        losses_tell(qp, now);
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL))
        pieces_loss_timer(qp, now);
    scheduler_kick(qp, now);
}

uint64_t losses_flight(const struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    const uint64_t flight = pieces_flight(qp);
    uint64_t arrived = 0;

    if (recovery->arrived_packets != NULL && snd(qp)->tx.next == snd(qp)->tx.high)
        arrived = (uint64_t)recovery->arrived_packets(&snd(qp)->tx) * qp->mtu;
    return arrived < flight ? flight - arrived : 0;
}
