/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells why a queue pair sends no request, and what will make it go on. The rule: a queue pair with
 * work or answers to send is in a list of the scheduler, has a timer in the NIC's heap, or waits
 * for the program or the peer in a way that is documented. Anything else is a fault: nothing would
 * ever happen.
 */
#include "core/qp/receive/receive.h"
#include "core/qp/send/pieces.h"

const char *oche_qp_waits_for(const struct oche_qp *qp)
{
    static const char *const names[REQUESTER_WAITS] = {
        [REQUESTER_GO] = "nothing",
        [REQUESTER_STATE] = "state",
        [REQUESTER_NO_WORK] = "work",
        [REQUESTER_DRAINING] = "resume",
        [REQUESTER_RNR] = "receiver not ready",
        [REQUESTER_WINDOW] = "window",
        [REQUESTER_CC_WINDOW] = "congestion window",
        [REQUESTER_DEPTH] = "initiator depth",
        [REQUESTER_PACED] = "pacing of READs",
        [REQUESTER_FENCE] = "fence",
        [REQUESTER_ORDER] = "order of short messages",
        [REQUESTER_CREDITS] = "credits",
        [REQUESTER_LOCAL_ERROR] = "earlier work, then fails",
        [REQUESTER_RESEND] = "ACK of the message before",
    };

    return names[requester_wait(qp)];
}

const char *oche_wake_name(enum oche_wake wake)
{
    static const char *const names[OCHE_WAKES] = {
        [OCHE_WAKE_NO_WORK] = "new work",
        [OCHE_WAKE_DOORBELL] = "the doorbell",
        [OCHE_WAKE_PORT] = "the port",
        [OCHE_WAKE_PACING] = "pacing",
        [OCHE_WAKE_READ_PACING] = "pacing of READs",
        [OCHE_WAKE_ACK_TIMER] = "the ACK timer",
        [OCHE_WAKE_RNR_TIMER] = "the RNR timer",
        [OCHE_WAKE_ORDER_TIMER] = "the timer of short messages",
        [OCHE_WAKE_FAILURE] = "its failure",
        [OCHE_WAKE_PROGRAM] = "the program",
        [OCHE_WAKE_PEER] = "the peer, without an ACK timer",
        [OCHE_WAKE_NEVER] = "nothing",
    };

    return (unsigned)wake < OCHE_WAKES ? names[wake] : "?";
}

/* True if timers_run will be called at `deadline` or before. */
static bool is_armed(const struct oche_qp *qp, oche_time deadline)
{
    return deadline != OCHE_NEVER && heap_time(&qp->nic->timers, qp->slot) <= deadline;
}

static enum oche_wake by_timer(const struct oche_qp *qp, oche_time deadline, enum oche_wake wake,
                               oche_time *when)
{
    if (!is_armed(qp, deadline))
        return OCHE_WAKE_NEVER;
    *when = deadline;
    return wake;
}

static enum oche_wake by_scheduler(const struct oche_qp *qp, oche_time *when)
{
    if (snd(qp)->queued == QUEUED_READY)
        return OCHE_WAKE_PORT;
    if (snd(qp)->queued == QUEUED_NOT || heap_time(&qp->nic->pacing, qp->slot) != snd(qp)->pace_due)
        return OCHE_WAKE_NEVER;
    *when = snd(qp)->pace_due;
    return OCHE_WAKE_PACING;
}

/* Answers that are not listed to leave would never leave. */
static bool answers_are_stuck(const struct oche_qp *qp)
{
    return (response_control_waits(qp) && !(qp->flags & QP_LISTED)) ||
           (response_data_waits(qp) && snd(qp)->queued == QUEUED_NOT);
}

/*
 * True if the program has set no ACK timeout, or recovery's parameters say never, or said so when
 * the timer was to be set: IRN's for few packets may be never, and more have left since.
 */
static bool has_no_timeout(const struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;

    return snd(qp)->ack_timeout == OCHE_NEVER ||
           (recovery->rto != NULL && !snd(qp)->own_timeouts &&
            (snd(qp)->ack_waited == OCHE_NEVER ||
             recovery->rto(&snd(qp)->tx, snd(qp)->ack_timeout) == OCHE_NEVER));
}

/* For a queue pair that waits for an answer to what it has sent. */
static enum oche_wake by_answer(const struct oche_qp *qp, oche_time *when)
{
    if (snd(qp)->send_head == snd(qp)->send_started)
        return OCHE_WAKE_NEVER; /* it has sent nothing */
    if (snd(qp)->rnr_deadline != OCHE_NEVER)
        return by_timer(qp, snd(qp)->rnr_deadline, OCHE_WAKE_RNR_TIMER, when);
    if (snd(qp)->ack_deadline == OCHE_NEVER && has_no_timeout(qp))
        return OCHE_WAKE_PEER;
    return by_timer(qp, snd(qp)->ack_deadline, OCHE_WAKE_ACK_TIMER, when);
}

static enum oche_wake of_requester(const struct oche_qp *qp, oche_time *when)
{
    const bool sent = snd(qp)->send_head != snd(qp)->send_started;

    switch (requester_wait(qp)) {
    case REQUESTER_GO:
        if (snd(qp)->queued != QUEUED_NOT || !sent)
            return by_scheduler(qp, when);
        return by_answer(qp, when); /* congestion control has opened its window meanwhile */
    case REQUESTER_RNR:
        return by_timer(qp, snd(qp)->rnr_deadline, OCHE_WAKE_RNR_TIMER, when);
    case REQUESTER_PACED:
        return by_timer(qp, snd(qp)->pieces->due, OCHE_WAKE_READ_PACING, when);
    case REQUESTER_ORDER:
        if (snd(qp)->order.deadline != OCHE_NEVER)
            return by_timer(qp, snd(qp)->order.deadline, OCHE_WAKE_ORDER_TIMER, when);
        return by_answer(qp, when);
    case REQUESTER_DRAINING:
        return sent ? by_answer(qp, when) : OCHE_WAKE_PROGRAM;
    case REQUESTER_DEPTH: /* at 0 no READ can leave until the program raises it */
        return sent || snd(qp)->initiator_depth > 0 ? by_answer(qp, when) : OCHE_WAKE_PROGRAM;
    default:
        return by_answer(qp, when);
    }
}

enum oche_wake oche_qp_wake(const struct oche_qp *qp, oche_time *when)
{
    const enum oche_qp_state state = qp_state(qp);
    const uint32_t posted = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);

    *when = OCHE_NEVER;
    if (atomic_load_explicit(&qp->rung, memory_order_acquire) != 0)
        return OCHE_WAKE_DOORBELL;
    if (answers_are_stuck(qp))
        return OCHE_WAKE_NEVER;
    if (qp->overrun)
        return by_timer(qp, 0, OCHE_WAKE_FAILURE, when);
    if ((state == OCHE_QP_RTS || state == OCHE_QP_SQD) && snd(qp)->send_head != posted)
        /* new work that the NIC has not seen must have rung */
        return snd(qp)->send_tail == posted ? of_requester(qp, when) : OCHE_WAKE_NEVER;
    return qp->control != 0 || qp->responding ? OCHE_WAKE_PORT : OCHE_WAKE_NO_WORK;
}

const struct oche_qp *oche_nic_hung(const struct oche_nic *nic)
{
    oche_time when;

    for (uint32_t slot = 0; slot < nic->slots.fresh; slot++)
        if (nic->qps[slot] != NULL && oche_qp_wake(nic->qps[slot], &when) == OCHE_WAKE_NEVER)
            return nic->qps[slot];
    return NULL;
}
