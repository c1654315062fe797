/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue pair's states (IBTA: RESET, INIT, RTR, RTS, SQD, SQE, ERR) and the transitions between
 * them. In ERR all posted work completes as flushed, in order. In SQE, the state of UC and UD after
 * a send has failed, only the send queue is flushed.
 */
#include "core/qp/pieces.h"
#include "core/qp/placement.h"

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

/*
 * The ACK timeout is no longer `before`. If what is outstanding had no timer it expires at once,
 * since nobody knows when that left.
 */
static void timeout_changed(struct oche_qp *qp, oche_time before)
{
    if (before == OCHE_NEVER && qp->tx.una != qp->tx.high && qp->rnr_deadline == OCHE_NEVER)
        qp->ack_deadline = 0;
    else if (before != OCHE_NEVER && qp->ack_deadline != OCHE_NEVER)
        qp->ack_deadline -= oche_time_min(qp->ack_deadline, before - qp->ack_timeout);
    else
        return;
    timers_want(qp, qp->ack_deadline);
}

void oche_qp_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    const oche_time before = qp->ack_timeout;

    qp->min_rnr_timer = connection->min_rnr_timer & (unsigned)OCHE_AETH_CODE_MASK;
    qp->ack_timeout = connection->ack_timeout;
    if (qp->ack_timeout < before)
        timeout_changed(qp, before);
    qp->retry_count = qp->retries_left = connection->retry_count;
    qp->silent_since = OCHE_NEVER;
    qp->patience_us = connection->patience_us;
    qp->rnr_retry = qp->rnr_retries_left = connection->rnr_retry;
}

static void connect_sender(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    uint32_t psn = connection->send_psn & OCHE_PSN_MASK;
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    uint32_t window = connection->window_packets;
    uint32_t cap = recovery->window_packets != NULL ? recovery->window_packets(qp->tx.params) : 0;

    if (cap > 0 && (window == 0 || window > cap))
        window = cap;
    qp->tx.una = qp->tx.next = qp->tx.high = qp->tx.message_start = psn;
    qp->last_ack_request = oche_psn_add(psn, OCHE_PSN_MASK);
    qp->asked = psn & OCHE_PSN_MASK;
    qp->doubts = DOUBTS_NOTHING;
    qp->next_ssn = 1;
    qp->next_receive = 0;
    qp->ack_every = connection->ack_every_packets == 0 ? 1 : connection->ack_every_packets;
    qp->window_packets = window == 0 || window > MAX_PSN_WINDOW ? MAX_PSN_WINDOW : window;
    if (qp->rtt != NULL) {
        qp->rtt->since = 0;
        qp->rtt->since_una = psn;
        qp->rtt->least_window = qp->window_packets;
        qp->rtt->most_window = !connection->window_grows         ? 0
                               : cap > 0 && cap < MAX_PSN_WINDOW ? cap
                                                                 : MAX_PSN_WINDOW;
    }
    oche_qp_set_retries(qp, connection);
    qp->flow.initial_rate_bps = qp->flow.line_rate_bps;
    if (connection->initial_rate_bps > 0 && connection->initial_rate_bps < qp->flow.line_rate_bps)
        qp->flow.initial_rate_bps = connection->initial_rate_bps;
    qp->flow.peer_address = congestion_peer_of(qp);
    qp->flow.tenant = connection->tenant;
    qp->flow.peer_line_rate_bps = qp->flow.line_rate_bps;
    if (connection->peer_line_rate_bps > 0)
        qp->flow.peer_line_rate_bps = connection->peer_line_rate_bps;
}

/*
 * Sets the size of a full packet, for pacing. With extensions a full packet is one header longer.
 */
static void set_full_packet(struct oche_qp *qp)
{
    const struct oche_nic *nic = qp->nic;
    uint8_t middle = qp->flags & QP_EXTENDED ? OCHE_RC_WRITE_MIDDLE_AT : OCHE_RC_WRITE_MIDDLE;
    if (qp->transport == OCHE_TRANSPORT_UD)
        middle = OCHE_UD_SEND_ONLY;
    bool port_limited = qp->pace_rate_bps == nic->config.line_rate_bps;

    qp->full_line_bytes =
        oche_frame_bytes_with(middle, qp->mtu, nic->trailer_bytes, nic->ipv6) + nic->gap_bytes;
    qp->pace_full = port_limited ? 0 : oche_time_of_bytes(qp->full_line_bytes, qp->pace_rate_bps);
}

/* ---- what the peer can do ---- */

/* The peer understands the extended opcodes. */
static void extend(struct oche_qp *qp)
{
    qp->flow.extended = true;
    if (qp->placed == NULL)
        return;
    qp->flags |= QP_EXTENDED;
    set_full_packet(qp);
    qp->nic->recovery->extend(&qp->tx, &qp->rx);
}

/*
 * True if no message is under way: none has arrived in part, and none of ours is acknowledged in
 * part.
 */
static bool is_between_messages(const struct oche_qp *qp)
{
    return qp->operation == OCHE_OPERATION_NONE && qp->tx.una == qp->tx.message_start;
}

/* Uses what both we and a peer that shows the bits `theirs` can do. */
static void agree(struct oche_qp *qp, uint8_t theirs)
{
    const uint8_t both = theirs & qp->nic->shows;

    qp->learns = false; /* who shows something shows all that it can do */
    if (qp->shows && (both & OCHE_BTH_EXTENSIONS))
        extend(qp);
    if (qp->transport != OCHE_TRANSPORT_RC)
        return;
    qp->cnp_psns = theirs & (OCHE_BTH_EXTENSIONS | OCHE_BTH_CNP_PSN);
    /* A peer that restarts messages shows it from its first packet on. */
    if ((both & OCHE_BTH_RESTARTS) && is_between_messages(qp)) {
        qp->flags |= QP_WHOLE_MESSAGES;
        qp->nic->recovery->peer_restarts(&qp->rx);
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
    uint32_t psn = connection->recv_psn & OCHE_PSN_MASK;
    uint32_t mtu = connection->mtu_bytes;

    if (mtu > qp->max_mtu || (mtu != 0 && mtu < MIN_MTU) ||
        !move(qp, OCHE_QP_INIT, OCHE_QP_RTR, now))
        return false;
    qp->mtu = mtu != 0 ? (uint16_t)mtu : qp->max_mtu;
    placement_connect(qp);
    if (qp->pieces != NULL)
        pieces_connect(qp);
    qp->flow.mtu_bytes = qp->mtu;
    qp->remote_address = connection->remote_address;
    qp->remote_qpn = connection->remote_qpn & OCHE_PSN_MASK;
    qp->udp_source_port = connection->udp_source_port;
    qp->flow_hash = connection->flow_hash;
    qp->tag = connection->tag;
    qp->rx.epsn = qp->rx.message_start = psn;
    qp->last_ack_psn = oche_psn_add(psn, OCHE_PSN_MASK);
    connect_sender(qp, connection);
    set_full_packet(qp);
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
    scheduler_kick(qp, now);
    return true;
}

/* ---- causes ---- */

/* Notes why the queue pair fails; what fails after it follows from that. */
static void note_cause(struct oche_qp *qp, enum oche_cause cause)
{
    if (qp->cause == OCHE_CAUSE_NONE)
        qp->cause = cause & 0x1f;
}

/* True if the peer has ever sent data, an ACK or a NAK on this connection. */
static bool has_heard(const struct oche_qp *qp)
{
    return qp->send_head != 0 || qp->tx.una != qp->head_first_psn || qp->msn != 0 ||
           qp->message_bytes != 0 || qp->nak_taken.last != 0 ||
           qp->rnr_retries_left < qp->rnr_retry;
}

static enum oche_cause requester_cause(const struct oche_qp *qp, uint32_t index,
                                       enum oche_status status)
{
    switch (status) {
    case OCHE_STATUS_RETRY_EXCEEDED:
        return has_heard(qp) ? OCHE_CAUSE_SILENT : OCHE_CAUSE_NEVER_ANSWERED;
    case OCHE_STATUS_RNR_RETRY_EXCEEDED:
        return OCHE_CAUSE_NOT_READY;
    case OCHE_STATUS_REMOTE_INVALID_REQUEST:
        return OCHE_CAUSE_REFUSED_REQUEST;
    case OCHE_STATUS_REMOTE_ACCESS:
        return OCHE_CAUSE_REFUSED_ACCESS;
    case OCHE_STATUS_REMOTE_OPERATION:
        return OCHE_CAUSE_REFUSED_OPERATION;
    case OCHE_STATUS_WINDOW:
        return OCHE_CAUSE_WINDOW;
    default:
        return is_read_or_atomic(send_at(qp, index)->opcode) ? OCHE_CAUSE_RESULT_MEMORY
                                                             : OCHE_CAUSE_SEND_MEMORY;
    }
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

/*
 * Completes all work requests as flushed. If `status` is not NO_STATUS, work request `index`
 * completes with `status` instead.
 */
static void flush_sends(struct oche_qp *qp, uint32_t index, enum oche_status status, oche_time now)
{
    while (qp->send_head != qp->send_tail) {
        bool guilty = status != NO_STATUS && qp->send_head == index;
        completer_retire(qp, guilty ? status : OCHE_STATUS_FLUSHED, now, now);
    }
    qp->send_started = qp->send_next = qp->send_head;
    qp->tx.una = qp->tx.next = qp->tx.message_start = qp->tx.high;
    qp->cursor_offset = qp->cursor_length = 0;
    qp->flight_bytes = 0;
    qp->reads_started = 0;
    if (qp->pieces != NULL)
        pieces_reset(qp);
    qp->rtt_head = qp->rtt_tail;
    qp->ack_deadline = qp->rnr_deadline = qp->order_deadline = OCHE_NEVER;
    qp->flags &= (uint16_t) ~(QP_LOCAL_ERROR | QP_GAP_TOLD);
}

/*
 * Completes all receives as flushed. If `status` is not NO_STATUS, a receive in progress completes
 * with `status` instead.
 */
static void flush_recvs(struct oche_qp *qp, enum oche_status status, oche_time now)
{
    qp->recv_tail = atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    while (qp->recv_head != qp->recv_tail) {
        bool guilty = status != NO_STATUS && qp->recv_taken;
        responder_fail_recv(qp, guilty ? status : OCHE_STATUS_FLUSHED, now);
    }
    qp->operation = OCHE_OPERATION_NONE;
}

/* Stops sending. Only a pending NAK that reports a fatal error still leaves. */
static void stop(struct oche_qp *qp)
{
    bool fatal = (qp->control & CONTROL_NAK) && qp->nak_syndrome > OCHE_SYNDROME_NAK_SEQUENCE;

    scheduler_forget(qp);
    congestion_stop(qp);
    for (uint32_t i = 0; i < qp->response_count; i++)
        qp->responses[i].active = false;
    qp->active_responses = 0;
    qp->responding = false;
    qp->rx.timer = OCHE_NEVER;
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
    flush_sends(qp, index, send_status, now);
    flush_recvs(qp, recv_status, now);
    if (OCHE_UNLIKELY(qp->srq != NULL))
        qp_tell(qp, OCHE_QP_EVENT_LAST_RECEIVE);
}

static void tell_driver(struct oche_qp *qp, enum oche_status status)
{
    if (qp->nic->port->qp_error != NULL)
        qp->nic->port->qp_error(qp->nic->port_context, qp, status);
}

void qp_requester_error(struct oche_qp *qp, uint32_t index, enum oche_status status, oche_time now)
{
    note_cause(qp, requester_cause(qp, index, status));
    if (qp->transport != OCHE_TRANSPORT_RC) {
        qp_set_state(qp, OCHE_QP_SQE, now);
        flush_sends(qp, index, status, now);
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

/* ---- posts ---- */

/* The numbers of work opcodes in the trace. They are part of its format and never change. */
static const uint8_t traced_opcodes[OCHE_WORK_OPCODES] = {
    [OCHE_WORK_SEND] = 0,      [OCHE_WORK_SEND_IMM] = 1, [OCHE_WORK_WRITE] = 2,
    [OCHE_WORK_WRITE_IMM] = 3, [OCHE_WORK_READ] = 4,     [OCHE_WORK_COMPARE_SWAP] = 5,
    [OCHE_WORK_FETCH_ADD] = 6, [OCHE_WORK_SEND_INV] = 7, [OCHE_WORK_LOCAL_INV] = 8,
    [OCHE_WORK_BIND_MW] = 9,
};

void qp_notice_posts(struct oche_qp *qp, oche_time now)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);
    enum oche_qp_state state = qp_state(qp);

    for (; qp->send_tail != tail; qp->send_tail++) {
        const struct send_entry *entry = send_at(qp, qp->send_tail);
        qp_trace(qp, now, OCHE_TRACE_POSTED, entry->wr_id,
                 entry->length | (uint64_t)traced_opcodes[entry->opcode] << 32);
    }
    if (OCHE_UNLIKELY(state == OCHE_QP_ERR || state == OCHE_QP_SQE)) {
        flush_sends(qp, 0, NO_STATUS, now);
        if (state == OCHE_QP_ERR)
            flush_recvs(qp, NO_STATUS, now);
        return;
    }
    if (qp->send_head == qp->send_tail)
        return;
    congestion_note_busy(qp, now);
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD) && qp->queued == QUEUED_NOT)
        datagram_take_class(qp);
    scheduler_kick(qp, now);
}
