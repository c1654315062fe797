/* SPDX-License-Identifier: Apache-2.0 */
/* The sender's timers: the ACK timer has run out, or the wait after an RNR NAK is over. */
#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/send/pieces.h"
#include "core/qp/send/retries.h"
#include "core/qp/timers.h"

/*
 * If recovery now allows a longer wait than it did when the timer was armed, arms the timer for the
 * remaining time and returns true.
 */
static bool waits_longer(struct oche_qp *qp, oche_time now)
{
    if (OCHE_LIKELY(qp->nic->recovery->rto == NULL) || snd(qp)->own_timeouts)
        return false;
    oche_time had = snd(qp)->ack_waited, now_wants = ack_wait(qp);
    if (now_wants <= had)
        return false;
    snd(qp)->ack_deadline = oche_time_add(now, now_wants - had);
    return true;
}

/*
 * True if no packet that asks for an ACK is on its way: all of them have to leave again, and only a
 * PAUSE or pacing delays the first. The timer is armed again when it leaves. Where lost packets
 * alone leave again, those that asked may have arrived, so the next one is to ask.
 */
static bool nothing_on_its_way(struct oche_qp *qp)
{
    if (snd(qp)->tx.next == snd(qp)->tx.high ||
        oche_psn_diff(snd(qp)->asked, snd(qp)->tx.una) > 0 || requester_wait(qp) != REQUESTER_GO)
        return false;
    if (qp->flags & QP_EXTENDED)
        snd(qp)->since_ack_request = snd(qp)->ack_every;
    return true;
}

void completer_ack_timeout(struct oche_qp *qp, oche_time now)
{
    uint32_t before = snd(qp)->tx.next;

    if (snd(qp)->send_head == snd(qp)->send_started || nothing_on_its_way(qp) ||
        waits_longer(qp, now))
        return;
    snd(qp)->timeouts++;
    qp->nic->stats.timeouts++;
    qp_trace(qp, now, OCHE_TRACE_TIMEOUT, snd(qp)->tx.una, snd(qp)->retries_left);
    if (qp->nic->port->timed_out != NULL)
        qp->nic->port->timed_out(qp->nic->port_context, qp, now);
    const enum oche_timeout means = retries_timeout(qp, now);

    if (means == OCHE_TIMEOUT_GIVES_UP || means == OCHE_TIMEOUT_ADAPTIVE_GIVES_UP) {
        qp_requester_error(qp, snd(qp)->send_head, OCHE_STATUS_RETRY_EXCEEDED, now);
        return;
    }
    if (OCHE_UNLIKELY(means == OCHE_TIMEOUT_SILENT)) {
        snd(qp)->ack_deadline = oche_time_add(now, ack_wait(qp));
        timers_want(qp, snd(qp)->ack_deadline);
        return;
    }
    if (OCHE_UNLIKELY(qp->nic->late))
        late_of(qp)->repeat_due = OCHE_NEVER; /* this repeats all of it */
    qp->flags &= (uint16_t)~QP_GAP_TOLD;
    completer_forget_partial(qp, now);
    snd(qp)->resent_for = OCHE_RESENT_TIMEOUT;
    if (qp->nic->recovery->judge != NULL && snd(qp)->doubts != DOUBTS_TIMEOUT) {
        snd(qp)->doubts = DOUBTS_TIMEOUT;
        snd(qp)->doubt_psn = rtt_first_asked(qp);
    }
    qp->nic->recovery->timeout(&snd(qp)->tx, now);
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL))
        pieces_go_back(qp);
    requester_seek(qp, before, now);
    /*
     * If packets must be sent again, the timer is armed when the first of them leaves, because a
     * PAUSE or pacing may delay that packet.
     */
    snd(qp)->ack_deadline =
        snd(qp)->tx.next != snd(qp)->tx.high ? OCHE_NEVER : oche_time_add(now, ack_wait(qp));
    /*
     * Makes the next packet ask for an ACK. If only the last packet of the burst asked, and a full
     * buffer dropped that packet every time, the same burst would be repeated for ever.
     */
    snd(qp)->since_ack_request = snd(qp)->ack_every;
    congestion_loss(qp, OCHE_CC_LOSS_TIMEOUT, now);
    completer_settle(qp, now);
}

void completer_rnr_over(struct oche_qp *qp, oche_time now)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    uint32_t before = snd(qp)->tx.next;

    snd(qp)->resent_for = OCHE_RESENT_NOT_READY;
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL))
        pieces_go_back(qp);
    if (recovery->rnr_over != NULL)
        recovery->rnr_over(&snd(qp)->tx, now);
    else
        recovery->timeout(&snd(qp)->tx, now);
    requester_seek(qp, before, now);
    completer_settle(qp, now);
}
