/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a queue pair's sending half: its memory, connecting, flushing, questions. */
#include "core/qp/send/sender.h"

#include <string.h>

#include "core/qp/congestion.h"
#include "core/qp/objects/objects.h"
#include "core/qp/receive/receive.h"
#include "core/qp/send/pieces.h"
#include "core/qp/send/retries.h"
#include "core/qp/spread.h"
#include "core/qp/timers.h"

/* ---- memory ---- */

/* Offsets of the parts of the half from the queue pair's beginning. */
struct parts {
    size_t tx_state, send_ring, send_extra, rtt, pieces, spread, send_groups, datagrams,
        destinations, end;
    uint32_t max_send_sge, send_extra_bytes;
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* True if congestion control or recovery wants round-trip times. */
static bool takes_rtt(const struct oche_nic_config *config)
{
    const struct oche_recovery_scheme *recovery = config->recovery;

    return config->measures_rtt || (config->cc->needs & OCHE_CC_NEEDS_RTT) ||
           (recovery->wants_rtt != NULL && recovery->wants_rtt(config->recovery_params));
}

static struct parts parts_of(const struct oche_nic_config *nic, const struct oche_qp_config *config,
                             size_t from)
{
    struct parts parts = {.end = from, .max_send_sge = larger(config->max_send_sge, 1)};

    if (parts.max_send_sge > 1)
        parts.send_extra_bytes = parts.max_send_sge * (uint32_t)sizeof(struct oche_sge);
    if (config->windows)
        parts.send_extra_bytes = larger(parts.send_extra_bytes, sizeof(struct oche_bind));
    if (config->initiator_depth > 0)
        parts.send_extra_bytes = larger(parts.send_extra_bytes, sizeof(struct atomic_operands));
    parts.send_extra_bytes = larger(parts.send_extra_bytes, (config->max_inline_bytes + 15) & ~15u);

    parts.tx_state = oche_place(&parts.end, nic->recovery->tx_state_bytes, 16);
    parts.spread = oche_place(&parts.end, spread_bytes(nic, config), SPREAD_ALIGN);
    parts.send_ring =
        oche_place(&parts.end, config->send_depth * sizeof(struct send_entry), OCHE_CACHE_LINE);
    parts.send_extra =
        oche_place(&parts.end, (size_t)config->send_depth * parts.send_extra_bytes, 16);
    parts.rtt = oche_place(&parts.end, takes_rtt(nic) ? sizeof(struct rtt_log) : 0, 16);
    parts.pieces = oche_place(&parts.end, pieces_bytes(nic, config), 16);
    parts.send_groups =
        oche_place(&parts.end, config->groups ? config->send_depth * sizeof(void *) : 0, 8);
    if (config->transport == OCHE_TRANSPORT_UD) {
        parts.datagrams = oche_place(&parts.end, sizeof(struct datagrams), 16);
        parts.destinations =
            oche_place(&parts.end, config->send_depth * sizeof(struct oche_destination), 16);
    }
    return parts;
}

size_t sender_place(const struct oche_nic *nic, const struct oche_qp_config *config, size_t from)
{
    return parts_of(&nic->config, config, from).end;
}

static void set_memory(struct oche_qp *qp, const struct oche_qp_config *config, size_t from)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    const struct parts parts = parts_of(nic, config, from);
    struct sender *half = snd(qp);
    uint8_t *base = (uint8_t *)qp;

    OCHE_MUST(parts.send_extra_bytes <= UINT16_MAX);
    half->tx.state = base + parts.tx_state;
    half->send_ring = (void *)(base + parts.send_ring);
    half->send_extra = base + parts.send_extra;
    half->send_extra_bytes = (uint16_t)parts.send_extra_bytes;
    half->max_send_sge = (uint16_t)parts.max_send_sge;
    half->rtt = takes_rtt(nic) ? (void *)(base + parts.rtt) : NULL;
    if (config->groups)
        half->send_groups = (void *)(base + parts.send_groups);
    if (config->transport == OCHE_TRANSPORT_UD) {
        qp->datagrams = (void *)(base + parts.datagrams);
        qp->datagrams->destinations = (void *)(base + parts.destinations);
    }
    if (spread_bytes(nic, config) > 0)
        spread_init(qp, base + parts.spread);
    if (pieces_bytes(nic, config) > 0) {
        half->pieces = (void *)(base + parts.pieces);
        pieces_init(qp, config);
    }
}

/* ---- making ---- */

static void take_habits(struct oche_qp *qp, const struct oche_nic_habits *habits)
{
    struct sender *half = snd(qp);

    half->resends_singly = habits->resend_one_verb_at_a_time;
    half->own_timeouts = habits->timeouts.kind != OCHE_TIMEOUTS_AS_ASKED;
    if (habits->ect_always)
        half->data_ecn = OCHE_ECN_ECT0;
    half->timed_from_last_packet = habits->timer_restart == OCHE_TIMER_RESTARTS_AT_PACKETS;
}

void sender_create(struct oche_qp *qp, const struct oche_qp_config *config, size_t from)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    struct sender *half = snd(qp);

    set_memory(qp, config, from);
    if (takes_rtt(nic))
        qp->flags |= QP_TAKES_RTT;
    /*
     * A sender that does not react to marks must not ask for them (RFC 3168). With most schemes
     * datagrams are such a sender.
     */
    half->data_ecn = nic->cc->needs & OCHE_CC_NEEDS_ECN && nic->cc->transports >> qp->transport & 1
                         ? OCHE_ECN_ECT0
                         : OCHE_ECN_NOT_ECT;
    if (qp->spreads && nic->spread.scheme->hears)
        half->data_ecn = OCHE_ECN_ECT0; /* the scheme reacts to marks */
    half->send_mask = config->send_depth - 1;
    half->initiator_depth = config->initiator_depth;
    half->send_cq = config->send_cq;
    half->max_inline_bytes = (uint16_t)config->max_inline_bytes;
    if (nic->habits != NULL)
        take_habits(qp, nic->habits);
    half->rate_limit_bps = UINT64_MAX;
    half->pace_rate_bps = nic->line_rate_bps;
    half->tx.params = nic->recovery_params;
}

void sender_clear(struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    struct sender *half = snd(qp);

    half->queued = QUEUED_NOT;
    half->send_next = half->send_started = half->send_tail = half->send_head = 0;
    half->cursor_offset = half->cursor_length = half->since_ack_request = 0;
    half->flight_bytes = 0;
    half->pace_base = half->pace_due = 0;
    half->pace_bytes = 0;
    half->ack_deadline = half->rnr_deadline = OCHE_NEVER;
    half->order = (struct message_order){.deadline = OCHE_NEVER};
    half->reads_started = 0;
    half->asks = half->read_waits = false;
    if (half->pieces != NULL)
        pieces_reset(qp);
    half->rtt_head = half->rtt_tail = 0;
    half->least_rtt = OCHE_NEVER;
    half->nak_taken = (struct oche_psn_note){0};
    atomic_store_explicit(&qp->posted_sends, 0, memory_order_relaxed);
    atomic_store_explicit(&half->retired_sends, 0, memory_order_relaxed);
    if (recovery->tx_state_bytes > 0)
        memset(half->tx.state, 0, recovery->tx_state_bytes);
}

void sender_reset_rate(struct oche_qp *qp)
{
    snd(qp)->pace_rate_bps = qp->nic->config.line_rate_bps;
    snd(qp)->pace_full = 0;
}

void sender_forget_binds(struct oche_qp *qp)
{
    const uint32_t posted = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);

    for (uint32_t i = snd(qp)->send_head; i != posted; i++)
        if (send_at(qp, i)->opcode == OCHE_WORK_BIND_MW)
            window_bind_over(requester_bind(qp, i)->window);
}

/* ---- connecting ---- */

/*
 * The ACK timeout is no longer `before`. If the outstanding packets had no timer, it expires at
 * once, since the time when they left is unknown.
 */
static void timeout_changed(struct oche_qp *qp, oche_time before)
{
    struct sender *half = snd(qp);

    if (before == OCHE_NEVER && half->tx.una != half->tx.high && half->rnr_deadline == OCHE_NEVER)
        half->ack_deadline = 0;
    else if (before != OCHE_NEVER && half->ack_deadline != OCHE_NEVER)
        half->ack_deadline -= oche_time_min(half->ack_deadline, before - half->ack_timeout);
    else
        return;
    timers_want(qp, half->ack_deadline);
}

void sender_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    struct sender *half = snd(qp);
    const oche_time before = half->ack_timeout;

    half->ack_timeout = connection->ack_timeout;
    if (half->ack_timeout < before)
        timeout_changed(qp, before);
    half->retry_count = half->retries_left = connection->retry_count;
    half->silent_since = OCHE_NEVER;
    half->patience_us = connection->patience_us;
    half->rnr_retry = half->rnr_retries_left = connection->rnr_retry;
}

static void set_rates(struct oche_cc_flow *flow, const struct oche_qp_connection *connection)
{
    flow->initial_rate_bps = flow->line_rate_bps;
    if (connection->initial_rate_bps > 0 && connection->initial_rate_bps < flow->line_rate_bps)
        flow->initial_rate_bps = connection->initial_rate_bps;
    flow->tenant = connection->tenant;
    flow->peer_line_rate_bps = flow->line_rate_bps;
    if (connection->peer_line_rate_bps > 0)
        flow->peer_line_rate_bps = connection->peer_line_rate_bps;
}

void sender_connect(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    struct sender *half = snd(qp);
    uint32_t psn = connection->send_psn & OCHE_PSN_MASK;
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    uint32_t window = connection->window_packets;
    uint32_t cap = recovery->window_packets != NULL ? recovery->window_packets(half->tx.params) : 0;

    OCHE_MUST(half->send_head == half->send_tail);
    if (cap > 0 && (window == 0 || window > cap))
        window = cap;
    half->tx.una = half->tx.next = half->tx.high = half->tx.message_start = psn;
    half->last_ack_request = oche_psn_add(psn, OCHE_PSN_MASK);
    half->asked = psn & OCHE_PSN_MASK;
    half->doubts = DOUBTS_NOTHING;
    half->next_ssn = 1;
    half->next_receive = 0;
    half->ack_every = connection->ack_every_packets == 0 ? 1 : connection->ack_every_packets;
    half->window_packets = window == 0 || window > MAX_PSN_WINDOW ? MAX_PSN_WINDOW : window;
    if (half->rtt != NULL) {
        half->rtt->since = 0;
        half->rtt->since_una = psn;
        half->rtt->least_window = half->window_packets;
        half->rtt->most_window = !connection->window_grows         ? 0
                                 : cap > 0 && cap < MAX_PSN_WINDOW ? cap
                                                                   : MAX_PSN_WINDOW;
    }
    sender_set_retries(qp, connection);
    retries_start(qp);
    set_rates(&qp->flow, connection);
    qp->flow.peer_address = congestion_peer_of(qp);
    if (qp->spreads)
        spread_connect(qp);
}

void sender_begin(struct oche_qp *qp)
{
    if (snd(qp)->pieces != NULL)
        pieces_connect(qp);
}

void sender_extend(struct oche_qp *qp, struct oche_recovery_rx *rx)
{
    qp->flags |= QP_EXTENDED;
    pacer_set_full_packet(qp);
    qp->nic->recovery->extend(&snd(qp)->tx, rx);
}

/* ---- flushing ---- */

static void count_failed(struct oche_nic_stats *stats, enum oche_status status)
{
    stats->failed_sends++;
    stats->flushed_sends += status == OCHE_STATUS_FLUSHED;
    stats->sends_refused_access += status == OCHE_STATUS_REMOTE_ACCESS;
    stats->sends_refused_invalid += status == OCHE_STATUS_REMOTE_INVALID_REQUEST;
    stats->sends_unanswered += status == OCHE_STATUS_RETRY_EXCEEDED;
    stats->sends_not_ready += status == OCHE_STATUS_RNR_RETRY_EXCEEDED;
}

void sender_flush(struct oche_qp *qp, uint32_t index, enum oche_status status, oche_time now)
{
    struct sender *half = snd(qp);

    while (half->send_head != half->send_tail) {
        bool guilty = status != OCHE_STATUS_SUCCESS && half->send_head == index;
        const enum oche_status of = guilty ? status : OCHE_STATUS_FLUSHED;

        count_failed(&qp->nic->stats, of);
        completer_retire(qp, of, now, now);
    }
    half->send_started = half->send_next = half->send_head;
    half->tx.una = half->tx.next = half->tx.message_start = half->tx.high;
    half->cursor_offset = half->cursor_length = 0;
    half->flight_bytes = 0;
    half->reads_started = 0;
    if (half->pieces != NULL)
        pieces_reset(qp);
    half->rtt_head = half->rtt_tail;
    half->ack_deadline = half->rnr_deadline = half->order.deadline = OCHE_NEVER;
    qp->flags &= (uint16_t) ~(QP_LOCAL_ERROR | QP_GAP_TOLD);
}

/* True if the peer has ever sent data, an ACK or a NAK on this connection. */
static bool has_heard(const struct oche_qp *qp)
{
    const struct sender *half = snd(qp);

    return half->send_head != 0 || half->tx.una != half->head_first_psn || receiver_has_heard(qp) ||
           half->nak_taken.last != 0 || half->rnr_retries_left < half->rnr_retry;
}

enum oche_cause sender_cause(const struct oche_qp *qp, uint32_t index, enum oche_status status)
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

/* ---- posts ---- */

/* The numbers of work opcodes in the trace. They are part of its format and never change. */
static const uint8_t traced_opcodes[OCHE_WORK_OPCODES] = {
    [OCHE_WORK_SEND] = 0,      [OCHE_WORK_SEND_IMM] = 1, [OCHE_WORK_WRITE] = 2,
    [OCHE_WORK_WRITE_IMM] = 3, [OCHE_WORK_READ] = 4,     [OCHE_WORK_COMPARE_SWAP] = 5,
    [OCHE_WORK_FETCH_ADD] = 6, [OCHE_WORK_SEND_INV] = 7, [OCHE_WORK_LOCAL_INV] = 8,
    [OCHE_WORK_BIND_MW] = 9,
};

void sender_notice_posts(struct oche_qp *qp, oche_time now)
{
    const uint32_t tail = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);
    struct sender *half = snd(qp);

    for (; half->send_tail != tail; half->send_tail++) {
        const struct send_entry *entry = send_at(qp, half->send_tail);
        qp_trace(qp, now, OCHE_TRACE_POSTED, entry->wr_id,
                 entry->length | (uint64_t)traced_opcodes[entry->opcode] << 32);
    }
}

/* ---- questions and settings ---- */

void oche_qp_set_initiator_depth(struct oche_qp *qp, uint32_t depth)
{
    snd(qp)->initiator_depth = depth;
}

oche_time oche_qp_ack_timeout(const struct oche_qp *qp)
{
    return snd(qp)->ack_timeout;
}

uint32_t oche_qp_retry_count(const struct oche_qp *qp)
{
    return snd(qp)->retry_count;
}

uint64_t oche_qp_rate_bps(const struct oche_qp *qp)
{
    return snd(qp)->pace_rate_bps;
}

uint32_t oche_qp_send_psn(const struct oche_qp *qp)
{
    return snd(qp)->tx.high;
}

bool oche_qp_drained(const struct oche_qp *qp)
{
    return snd(qp)->send_head == snd(qp)->send_started;
}

uint32_t oche_qp_read_bytes(const struct oche_qp *qp)
{
    const struct sender *half = snd(qp);
    const struct send_entry *head = send_at(qp, half->send_head);

    if (half->send_head == half->send_started || head->opcode != OCHE_WORK_READ ||
        (qp->flags & QP_WHOLE_MESSAGES))
        return 0;
    return ((half->tx.una - head->first_psn) & OCHE_PSN_MASK) * qp->mtu;
}

uint64_t oche_qp_timeouts(const struct oche_qp *qp)
{
    return snd(qp)->timeouts;
}

oche_time oche_qp_least_rtt(const struct oche_qp *qp)
{
    return snd(qp)->least_rtt;
}

uint64_t sender_flight_bytes(const struct oche_qp *qp)
{
    return snd(qp)->flight_bytes;
}

bool sender_is_done(const struct oche_qp *qp)
{
    return snd(qp)->send_head == snd(qp)->send_tail;
}

bool sender_has_worked(const struct oche_qp *qp)
{
    return snd(qp)->send_started != 0;
}

bool sender_is_between_messages(const struct oche_qp *qp)
{
    return snd(qp)->tx.una == snd(qp)->tx.message_start;
}

uint32_t sender_oldest(const struct oche_qp *qp)
{
    return snd(qp)->send_head;
}

void sender_losses(const struct oche_qp *qp, struct oche_qp_losses *losses)
{
    const struct sender *half = snd(qp);

    losses->una = half->tx.una;
    losses->next = half->tx.next;
    losses->high = half->tx.high;
    losses->nak_taken = half->nak_taken;
}

uint32_t sender_room_wanted(const struct oche_qp *qp)
{
    const struct read_pieces *pieces = snd(qp)->pieces;

    return pieces != NULL ? pieces->wanted * (uint32_t)qp->mtu : 0;
}

void sender_hold_at(struct oche_qp *qp, uint8_t *memory, uint32_t bytes)
{
    if (snd(qp)->pieces != NULL)
        pieces_move(qp, memory, bytes);
}

enum oche_fit sender_fit(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const enum oche_qp_state state = qp_state(qp);

    if (state != OCHE_QP_RTS && state != OCHE_QP_SQD)
        return OCHE_FIT_OTHER;
    return qp_is_outstanding(qp, packet->psn) ? OCHE_FIT_EXPECTED : OCHE_FIT_OTHER;
}

bool sender_may_expect(const struct oche_qp *qp, uint32_t psn)
{
    const struct oche_recovery_tx *tx = &snd(qp)->tx;
    const uint32_t from = qp->flags & QP_WHOLE_MESSAGES ? tx->message_start : tx->una;

    return oche_psn_diff(psn, tx->high) <= 0 && oche_psn_diff(psn, from) >= -FEEDBACK_SLACK;
}
