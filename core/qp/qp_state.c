/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue pair's states (IBTA: RESET, INIT, RTR, RTS, SQD, SQE, ERR) and the transitions between
 * them. In ERR all posted work completes as flushed, in order. In SQE, the state of UC and UD after
 * a send has failed, only the send queue is flushed.
 */
#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/receive/receive.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/send.h"

#define NO_STATUS OCHE_STATUS_SUCCESS

void qp_set_state(struct oche_qp *qp, enum oche_qp_state state, oche_time now)
{
    qp_trace(qp, now, OCHE_TRACE_STATE, qp_state(qp), state);
    atomic_store_explicit(&qp->state, (uint8_t)state, memory_order_release);
}

/*
 * Moves from state `from` to state `to`. Returns false if that is not allowed now. Moves to ERR and
 * RESET are always allowed and are not made here.
 */
static bool move(struct oche_qp *qp, enum oche_qp_state from, enum oche_qp_state to, oche_time now)
{
    if (qp_state(qp) != from)
        return false;
    qp_set_state(qp, to, now);
    return true;
}

bool oche_qp_init(struct oche_qp *qp, oche_time now)
{
    return move(qp, OCHE_QP_RESET, OCHE_QP_INIT, now);
}

void oche_qp_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    receiver_set_retries(qp, connection);
    sender_set_retries(qp, connection);
}

/* Sets up the sending side for a connection. Both halves need the retries. */
static void connect_sender(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    receiver_set_retries(qp, connection);
    sender_connect(qp, connection);
}

/* ---- what the peer can do ---- */

/* The peer understands the extended opcodes. */
static void extend(struct oche_qp *qp)
{
    struct oche_recovery_rx *rx = receiver_extension(qp);

    qp->flow.extended = true;
    if (rx != NULL)
        sender_extend(qp, rx);
}

/*
 * True if no message is under way: none has arrived in part, and none of ours is acknowledged in
 * part.
 */
static bool is_between_messages(const struct oche_qp *qp)
{
    return receiver_is_between_messages(qp) && sender_is_between_messages(qp);
}

/* Starts to use the extensions that both ends have. `theirs`: the bits that the peer has shown. */
static void agree(struct oche_qp *qp, uint8_t theirs)
{
    const uint8_t both = theirs & qp->nic->shows;

    qp->learns = false; /* a peer that shows one extension shows all that it has */
    if (qp->shows && (both & OCHE_BTH_EXTENSIONS))
        extend(qp);
    if (qp->transport != OCHE_TRANSPORT_RC)
        return;
    qp->cnp_psns = theirs & (OCHE_BTH_EXTENSIONS | OCHE_BTH_CNP_PSN);
    /* A peer that restarts messages shows it from its first packet on. */
    if ((both & OCHE_BTH_RESTARTS) && is_between_messages(qp)) {
        qp->flags |= QP_WHOLE_MESSAGES;
        receiver_peer_restarts(qp);
    }
}

void qp_learn(struct oche_qp *qp, const struct oche_packet *packet)
{
    agree(qp, packet->bth_reserved);
}

/* ---- states ---- */

bool oche_qp_ready_to_receive(struct oche_qp *qp, const struct oche_qp_connection *connection,
                              oche_time now)
{
    uint32_t mtu = connection->mtu_bytes;

    if (mtu > qp->max_mtu || (mtu != 0 && mtu < MIN_MTU) ||
        !move(qp, OCHE_QP_INIT, OCHE_QP_RTR, now))
        return false;
    qp->mtu = mtu != 0 ? (uint16_t)mtu : qp->max_mtu;
    qp->flow.mtu_bytes = qp->mtu;
    qp->remote_address = connection->remote_address;
    qp->remote_qpn = connection->remote_qpn & OCHE_PSN_MASK;
    qp->udp_source_port = connection->udp_source_port;
    qp->flow_hash = connection->flow_hash;
    qp->tag = connection->tag;
    receiver_connect(qp, connection);
    sender_begin(qp);
    connect_sender(qp, connection);
    pacer_set_full_packet(qp);
    qp->learns = qp->shows && qp->nic->shows != 0;
    if (connection->extensions)
        agree(qp, qp->nic->shows);
    if (qp->transport != OCHE_TRANSPORT_UD)
        congestion_peer_take(qp);
    congestion_start(qp, now);
    return true;
}

bool oche_qp_ready_to_send(struct oche_qp *qp, oche_time now)
{
    return move(qp, OCHE_QP_RTR, OCHE_QP_RTS, now);
}

bool oche_qp_ready_to_send_as(struct oche_qp *qp, const struct oche_qp_connection *connection,
                              oche_time now)
{
    if (qp_state(qp) != OCHE_QP_RTR)
        return false;
    connect_sender(qp, connection);
    return oche_qp_ready_to_send(qp, now);
}

bool oche_qp_drain(struct oche_qp *qp, oche_time now)
{
    if (!move(qp, OCHE_QP_RTS, OCHE_QP_SQD, now))
        return false;
    if (oche_qp_drained(qp))
        qp_tell(qp, OCHE_QP_EVENT_DRAINED);
    return true;
}

bool oche_qp_resume(struct oche_qp *qp, oche_time now)
{
    if (!move(qp, OCHE_QP_SQD, OCHE_QP_RTS, now) && !move(qp, OCHE_QP_SQE, OCHE_QP_RTS, now))
        return false;
    qp->cause = OCHE_CAUSE_NONE;
    qp->demanded = NO_STATUS;
    scheduler_kick(qp, now);
    return true;
}

/* ---- causes ---- */

/* Notes why the queue pair fails. Only the first cause counts; later failures follow from it. */
static void note_cause(struct oche_qp *qp, enum oche_cause cause)
{
    OCHE_MUST(cause > OCHE_CAUSE_NONE && cause < OCHE_CAUSES);
    if (qp->cause == OCHE_CAUSE_NONE)
        qp->cause = cause & 31;
}

enum oche_cause qp_receive_cause(const struct oche_qp *qp, enum oche_status status)
{
    if (qp->cause != OCHE_CAUSE_NONE)
        return (enum oche_cause)qp->cause;
    switch (status) {
    case OCHE_STATUS_FLUSHED:
        return OCHE_CAUSE_NONE;
    case OCHE_STATUS_REMOTE_INVALID_REQUEST:
        return OCHE_CAUSE_PEER_REQUEST;
    case OCHE_STATUS_REMOTE_ACCESS:
        return OCHE_CAUSE_PEER_ACCESS;
    case OCHE_STATUS_LOCAL_LENGTH:
        return OCHE_CAUSE_RECEIVE_SHORT;
    default:
        return OCHE_CAUSE_RECEIVE_MEMORY;
    }
}

/* ---- errors ---- */

void qp_tell(struct oche_qp *qp, enum oche_qp_event event)
{
    if (qp->nic->port->qp_event != NULL)
        qp->nic->port->qp_event(qp->nic->port_context, qp, event);
}

/* Stops sending. Only a pending NAK that reports a fatal error still leaves. */
static void stop(struct oche_qp *qp)
{
    scheduler_forget(qp);
    congestion_stop(qp);
    late_clear(qp);
    bool fatal = receiver_stop(qp);
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        qp->flow.timer[i] = OCHE_NEVER;
    qp->control = fatal ? CONTROL_NAK : 0;
    scheduler_control(qp);
}

static void enter_error(struct oche_qp *qp, uint32_t index, enum oche_status send_status,
                        enum oche_status recv_status, oche_time now)
{
    qp_set_state(qp, OCHE_QP_ERR, now);
    stop(qp);
    sender_flush(qp, index, send_status, now);
    receiver_flush(qp, recv_status, now);
    OCHE_MUST(sender_is_done(qp) && !qp->responding);
    if (OCHE_UNLIKELY(receiver_shares(qp)))
        qp_tell(qp, OCHE_QP_EVENT_LAST_RECEIVE);
}

static void tell_driver(struct oche_qp *qp, enum oche_status status)
{
    if (qp->nic->port->qp_error != NULL)
        qp->nic->port->qp_error(qp->nic->port_context, qp, status);
}

void qp_requester_error(struct oche_qp *qp, uint32_t index, enum oche_status status, oche_time now)
{
    note_cause(qp, sender_cause(qp, index, status));
    if (qp->transport != OCHE_TRANSPORT_RC) {
        qp_set_state(qp, OCHE_QP_SQE, now);
        sender_flush(qp, index, status, now);
    } else {
        enter_error(qp, index, status, NO_STATUS, now);
    }
    tell_driver(qp, status);
}

void qp_responder_error(struct oche_qp *qp, enum oche_status status, oche_time now)
{
    note_cause(qp, qp_receive_cause(qp, status));
    enter_error(qp, 0, NO_STATUS, status, now);
    if (status == OCHE_STATUS_REMOTE_INVALID_REQUEST)
        qp_tell(qp, OCHE_QP_EVENT_BAD_REQUEST);
    else if (status == OCHE_STATUS_REMOTE_ACCESS)
        qp_tell(qp, OCHE_QP_EVENT_BAD_ACCESS);
    tell_driver(qp, status);
}

void qp_overrun(struct oche_qp *qp, oche_time now)
{
    qp->overrun = false;
    if (qp_state(qp) == OCHE_QP_ERR || qp_state(qp) == OCHE_QP_RESET)
        return;
    note_cause(qp, OCHE_CAUSE_OVERRUN);
    enter_error(qp, 0, NO_STATUS, NO_STATUS, now);
    qp_tell(qp, OCHE_QP_EVENT_FATAL);
    tell_driver(qp, OCHE_STATUS_LOCAL_QP_OPERATION);
}

void oche_qp_fail(struct oche_qp *qp, oche_time now)
{
    if (qp_state(qp) == OCHE_QP_ERR)
        return;
    scheduler_answer_doorbell(qp->nic, now);
    enter_error(qp, 0, NO_STATUS, NO_STATUS, now);
}

bool oche_qp_fail_as(struct oche_qp *qp, enum oche_status status, oche_time now)
{
    if (qp_state(qp) == OCHE_QP_RESET || qp_state(qp) == OCHE_QP_ERR)
        return false;
    scheduler_answer_doorbell(qp->nic, now);
    note_cause(qp, OCHE_CAUSE_ON_DEMAND);
    if (sender_is_done(qp)) {
        if (!receiver_blame_oldest(qp))
            qp->demanded = status & 31;
        enter_error(qp, 0, NO_STATUS, status, now);
    } else {
        enter_error(qp, sender_oldest(qp), status, NO_STATUS, now);
    }
    tell_driver(qp, status);
    return true;
}

/* ---- posts ---- */

void qp_notice_posts(struct oche_qp *qp, oche_time now)
{
    enum oche_qp_state state = qp_state(qp);

    sender_notice_posts(qp, now);
    if (OCHE_UNLIKELY(state == OCHE_QP_ERR || state == OCHE_QP_SQE)) {
        const enum oche_status demanded = (enum oche_status)qp->demanded;

        if (!sender_is_done(qp))
            qp->demanded = NO_STATUS;
        sender_flush(qp, sender_oldest(qp), demanded, now);
        if (state == OCHE_QP_ERR)
            receiver_flush(qp, NO_STATUS, now);
        return;
    }
    if (sender_is_done(qp))
        return;
    congestion_note_busy(qp, now);
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD) && !scheduler_has(qp))
        datagram_take_class(qp);
    scheduler_kick(qp, now);
}
