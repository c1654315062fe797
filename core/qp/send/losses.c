/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that count as lost, and losses that prove to be none; see losses.h. */
#include "core/qp/send/losses.h"

#include "core/qp/congestion.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/pieces.h"
#include "core/qp/spread.h"
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

/* True if the packet of this PSN is data that has left. */
static bool is_sent_data(const struct oche_qp *qp, uint32_t psn)
{
    if (oche_psn_diff(psn, snd(qp)->tx.high) >= 0)
        return false;
    const uint32_t index = requester_find(qp, psn);

    return index != snd(qp)->send_started && !is_read_or_atomic(send_at(qp, index)->opcode);
}

static OCHE_NOINLINE void send_trimmed_again(struct oche_qp *qp, const struct oche_packet *nack,
                                             oche_time now)
{
    const enum oche_trimmed where = oche_trim_get(nack);
    const uint32_t before = snd(qp)->tx.next;
    bool is_new;

    if (!qp->nic->recovery->trim_told(&snd(qp)->tx, nack->psn, &is_new))
        return;
    snd(qp)->resent_for = OCHE_RESENT_TRIMMED;
    if (qp->flags & QP_TAKES_RTT)
        rtt_set(qp, nack->psn, OCHE_NEVER);
    requester_seek(qp, before, now);
    if (qp->spreads)
        spread_trimmed(qp, nack->psn, where, now);
    congestion_trimmed(qp, where, is_new, now);
    if (snd(qp)->queued == QUEUED_NOT)
        scheduler_kick(qp, now);
}

void losses_trimmed(struct oche_qp *qp, const struct oche_packet *nack, oche_time now)
{
    const enum oche_qp_state state = qp_state(qp);
    const int32_t behind = -oche_psn_diff(nack->psn, snd(qp)->tx.una);

    if (state != OCHE_QP_RTS && state != OCHE_QP_SQD) {
        nic_reject(qp->nic, qp, OCHE_REJECT_QP_STATE, nack, now);
        return;
    }
    if (qp->nic->recovery->trim_told == NULL || !(nack->ext & OCHE_EXT_SCHEME)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_OPCODE, nack, now);
        return;
    }
    if (behind > PSN_REACH || (behind <= 0 && !is_sent_data(qp, nack->psn))) {
        nic_reject(qp->nic, qp, OCHE_REJECT_PSN, nack, now);
        return;
    }
    qp->nic->stats.trim_nacks_received++;
    if (behind <= 0)
        send_trimmed_again(qp, nack, now);
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

uint32_t losses_arrived(const struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;

    return recovery->arrived_packets != NULL ? recovery->arrived_packets(&snd(qp)->tx) : 0;
}

uint64_t losses_with_arrived(const struct oche_qp *qp, uint64_t acked_bytes, uint32_t before)
{
    const uint32_t after = losses_arrived(qp);

    if (after >= before)
        return acked_bytes + (uint64_t)(after - before) * qp->mtu;
    const uint64_t counted = (uint64_t)(before - after) * qp->mtu;

    return counted < acked_bytes ? acked_bytes - counted : 0;
}

uint64_t losses_outstanding(const struct oche_qp *qp)
{
    const struct oche_recovery_tx *tx = &snd(qp)->tx;
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    const uint32_t gone = losses_arrived(qp) + recovery->trimmed_packets(tx);
    const uint32_t sent = (tx->high - tx->una) & OCHE_PSN_MASK;

    return gone < sent ? (uint64_t)(sent - gone) * qp->mtu : 0;
}

uint64_t losses_in_flight(const struct oche_qp *qp)
{
    return qp->nic->recovery->trimmed_packets != NULL ? losses_outstanding(qp) : pieces_flight(qp);
}

uint64_t losses_flight(const struct oche_qp *qp)
{
    const uint64_t flight = pieces_flight(qp);
    uint64_t arrived = 0;

    if (snd(qp)->tx.next == snd(qp)->tx.high)
        arrived = (uint64_t)losses_arrived(qp) * qp->mtu;
    return arrived < flight ? flight - arrived : 0;
}
