/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The completer: ACKs, NAKs and responses to our requests move tx.una on and complete work, in
 * order. An ACK or a NAK acknowledges everything before it. If a READ or an atomic before it still
 * lacks its response, responses were lost; then recovery is called as for a NAK that names the
 * first missing PSN, once until there is progress. Where READs leave in pieces, their data is kept
 * and asked for again there instead (pieces.h). READ responses count as data for congestion
 * control.
 */
#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/objects/objects.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/losses.h"
#include "core/qp/send/pieces.h"
#include "core/qp/send/retries.h"
#include "core/qp/spread.h"
#include "core/qp/timers.h"

static const uint8_t done_opcodes[OCHE_WORK_OPCODES] = {
    [OCHE_WORK_SEND] = OCHE_DONE_SEND,
    [OCHE_WORK_SEND_IMM] = OCHE_DONE_SEND,
    [OCHE_WORK_WRITE] = OCHE_DONE_WRITE,
    [OCHE_WORK_WRITE_IMM] = OCHE_DONE_WRITE,
    [OCHE_WORK_SEND_INV] = OCHE_DONE_SEND,
    [OCHE_WORK_LOCAL_INV] = OCHE_DONE_LOCAL_INV,
    [OCHE_WORK_BIND_MW] = OCHE_DONE_BIND_MW,
    [OCHE_WORK_READ] = OCHE_DONE_READ,
    [OCHE_WORK_COMPARE_SWAP] = OCHE_DONE_COMPARE_SWAP,
    [OCHE_WORK_FETCH_ADD] = OCHE_DONE_FETCH_ADD,
};

/* By NAK code: the status of the work request that the NAK names. */
static const uint8_t nak_statuses[] = {
    [OCHE_SYNDROME_NAK_INVALID_REQUEST - OCHE_SYNDROME_NAK_SEQUENCE] =
        OCHE_STATUS_REMOTE_INVALID_REQUEST,
    [OCHE_SYNDROME_NAK_REMOTE_ACCESS - OCHE_SYNDROME_NAK_SEQUENCE] = OCHE_STATUS_REMOTE_ACCESS,
    [OCHE_SYNDROME_NAK_REMOTE_OPERATION - OCHE_SYNDROME_NAK_SEQUENCE] =
        OCHE_STATUS_REMOTE_OPERATION,
};

static void retire(struct oche_qp *qp, enum oche_status status, oche_time now, oche_time done)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_head);
    const uint8_t opcode = entry->opcode;
    bool started = snd(qp)->send_head != snd(qp)->send_started;
    bool told = (entry->flags & OCHE_WORK_SIGNALED) || status != OCHE_STATUS_SUCCESS;
    struct oche_completion completion;

    OCHE_MUST(snd(qp)->send_head != snd(qp)->send_tail);
    qp_trace(qp, now, OCHE_TRACE_COMPLETED, entry->wr_id, status);
    if (told)
        completion = (struct oche_completion){
            .wr_id = entry->wr_id,
            .time = done,
            .qpn = qp->qpn,
            .bytes = is_read_or_atomic(opcode) ? entry->length : 0,
            .imm = snd(qp)->send_head + 1,
            .status = (uint8_t)status,
            .opcode = done_opcodes[opcode],
            .cause = OCHE_LIKELY(status == OCHE_STATUS_SUCCESS) ? OCHE_CAUSE_NONE : qp->cause,
        };
    if (OCHE_UNLIKELY(opcode == OCHE_WORK_BIND_MW))
        window_bind_over(requester_bind(qp, snd(qp)->send_head)->window);
    /*
     * Frees the entry before the completion is visible, since whoever reads the completion may post
     * into the entry at once.
     */
    atomic_store_explicit(&snd(qp)->retired_sends, snd(qp)->send_head + 1, memory_order_release);
    if (told)
        cq_push(qp, snd(qp)->send_cq, &completion);
    if (started && is_read_or_atomic(opcode)) {
        OCHE_MUST(snd(qp)->reads_started > 0 || status != OCHE_STATUS_SUCCESS);
        snd(qp)->reads_started--;
        if (opcode == OCHE_WORK_READ)
            congestion_read_ends(qp, now);
    }
    snd(qp)->send_head++;
    if (!started)
        snd(qp)->send_started = snd(qp)->send_next = snd(qp)->send_head;
    if (started)
        requester_load_head(qp);
}

void completer_retire(struct oche_qp *qp, enum oche_status status, oche_time now, oche_time done)
{
    retire(qp, status, now, done);
    if (status != OCHE_STATUS_SUCCESS)
        return;
    /* Work requests without packets get no answer, so they complete now. */
    while (snd(qp)->send_head != snd(qp)->send_started &&
           OCHE_UNLIKELY(is_local(snd(qp)->head_opcode)))
        retire(qp, OCHE_STATUS_SUCCESS, now, done);
}

/* ---- progress ---- */

/* Returns the payload of the head's PSNs before `psn`, which lies within or just after the head. */
static inline uint64_t head_bytes_before(const struct oche_qp *qp, uint32_t psn)
{
    uint64_t bytes = (uint64_t)((psn - snd(qp)->head_first_psn) & OCHE_PSN_MASK) * qp->mtu;

    return bytes < snd(qp)->head_length ? bytes : snd(qp)->head_length;
}

/*
 * With whole_messages: returns the PSN up to which an ACK within a message counts. This is
 * `target`, limited to what the current pass has sent. If tx.next lies before una, in a message
 * that this ACK has completed, it is una.
 */
static OCHE_NOINLINE uint32_t within_pass(const struct oche_qp *qp, uint32_t target)
{
    if (oche_psn_diff(target, snd(qp)->tx.next) <= 0)
        return target;
    return oche_psn_diff(snd(qp)->tx.next, snd(qp)->tx.una) > 0 ? snd(qp)->tx.next
                                                                : snd(qp)->tx.una;
}

/*
 * Moves una up to `target` (at most tx.high) and completes the work requests before it. Stops at a
 * READ or an atomic that waits for its response. Returns the payload bytes newly acknowledged. With
 * whole_messages, an ACK within a message that goes past tx.next belongs to an earlier pass, and
 * counts only as far as within_pass says.
 */
static OCHE_ALWAYS_INLINE uint64_t advance(struct oche_qp *qp, uint32_t target, oche_time now)
{
    uint64_t acked = 0;

    while (snd(qp)->tx.una != target) {
        uint32_t end = oche_psn_add(snd(qp)->head_last_psn, 1);
        if (OCHE_UNLIKELY(is_read_or_atomic(snd(qp)->head_opcode)))
            break;
        bool whole = oche_psn_diff(target, end) >= 0;
        if (OCHE_UNLIKELY(qp->flags & QP_WHOLE_MESSAGES) && !whole)
            target = within_pass(qp, target);
        uint32_t to = whole ? end : target;
        acked += head_bytes_before(qp, to) - head_bytes_before(qp, snd(qp)->tx.una);
        snd(qp)->tx.una = to;
        if (whole)
            completer_retire(qp, OCHE_STATUS_SUCCESS, now, now);
    }
    return acked;
}

/* Updates retries, recovery and the ACK timer after una has moved on from `before`. */
static void progressed(struct oche_qp *qp, uint32_t before, uint64_t acked_bytes, oche_time now)
{
    uint32_t next = snd(qp)->tx.next;

    if (OCHE_UNLIKELY(qp->flags & (QP_RETRIED | QP_GAP_TOLD)))
        retries_restore(qp, before);
    if (OCHE_UNLIKELY(oche_psn_diff(snd(qp)->tx.una, next) > 0)) {
        /* the packets that were to be sent again have turned out to have arrived */
        snd(qp)->tx.next = snd(qp)->tx.una;
        requester_seek(qp, next, now);
    } else {
        OCHE_MUST(snd(qp)->flight_bytes >= acked_bytes);
        snd(qp)->flight_bytes -= acked_bytes;
    }
    next = snd(qp)->tx.next;
    if (OCHE_UNLIKELY(snd(qp)->doubts != DOUBTS_NOTHING))
        losses_look_back(qp, now);
    qp->nic->recovery->acked(&snd(qp)->tx, now);
    if (OCHE_UNLIKELY(snd(qp)->tx.next != next))
        requester_seek(qp, next, now);
    if (snd(qp)->ack_deadline == OCHE_NEVER)
        return;
    bool due = oche_psn_diff(snd(qp)->last_ack_request, snd(qp)->tx.una) >= 0;
    snd(qp)->ack_deadline = due ? oche_time_add(now, ack_wait(qp)) : OCHE_NEVER;
    if (OCHE_UNLIKELY(qp->nic->recovery->rto != NULL || snd(qp)->own_timeouts))
        /* the wait may be shorter than before */
        timers_want(qp, snd(qp)->ack_deadline);
}

bool completer_forget_partial(struct oche_qp *qp, oche_time now)
{
    if (OCHE_LIKELY(!(qp->flags & QP_WHOLE_MESSAGES)) ||
        snd(qp)->tx.una == snd(qp)->tx.message_start)
        return false;
    if (snd(qp)->head_opcode == OCHE_WORK_READ) /* part of the READ's data had arrived here */
        qp_trace(qp, now, OCHE_TRACE_RESTARTED, snd(qp)->tx.message_start,
                 (uint64_t)((snd(qp)->tx.una - snd(qp)->tx.message_start) & OCHE_PSN_MASK) *
                         qp->mtu |
                     UINT64_C(1) << 40);
    snd(qp)->flight_bytes += head_bytes_before(qp, snd(qp)->tx.una);
    snd(qp)->tx.una = snd(qp)->tx.message_start;
    return true;
}

/*
 * Tells recovery to go back to una. This spends a retry if `spends` is set, or if a message that
 * was acknowledged in part must begin again. With whole_messages the next packet asks for an ACK,
 * which later tells whether a NAK is new or a repetition of this one.
 */
static void go_back(struct oche_qp *qp, bool spends, enum oche_resent cause, oche_time now)
{
    uint32_t before = snd(qp)->tx.next;

    spends |= completer_forget_partial(qp, now);
    if (spends && !retries_spend(qp, &snd(qp)->retries_left)) {
        qp->cause = OCHE_CAUSE_NAKS;
        qp_requester_error(qp, snd(qp)->send_head, OCHE_STATUS_RETRY_EXCEEDED, now);
        return;
    }
    snd(qp)->resent_for = (uint8_t)cause;
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL))
        pieces_go_back(qp);
    qp->nic->recovery->nak(&snd(qp)->tx, snd(qp)->tx.una, now);
    requester_seek(qp, before, now);
    if (OCHE_UNLIKELY(qp->flags & QP_WHOLE_MESSAGES))
        snd(qp)->since_ack_request = snd(qp)->ack_every;
    losses_tell(qp, now);
}

/* Handles a gap in the responses: the response for una is missing, but a later one has arrived. */
static void response_gap(struct oche_qp *qp, oche_time now)
{
    if ((qp->flags & QP_GAP_TOLD) && snd(qp)->gap_psn == snd(qp)->tx.una)
        return;
    qp->flags |= QP_GAP_TOLD;
    snd(qp)->gap_psn = qp->flags & QP_WHOLE_MESSAGES ? snd(qp)->tx.message_start : snd(qp)->tx.una;
    qp->nic->stats.out_of_order_packets++;
    qp->nic->stats.response_gaps++;
    if (!late_repeat(qp, OCHE_RESENT_RESPONSES, false, now))
        go_back(qp, false, OCHE_RESENT_RESPONSES, now);
}

/* True if una belongs to a READ whose data behind a gap can be kept. */
static bool keeps_reads(const struct oche_qp *qp)
{
    return pieces_counts(qp, snd(qp)->head_opcode) && snd(qp)->pieces->reach > 0;
}

/*
 * After a timeout the ACK timer is armed when the first packet leaves again. Arms it here if no
 * packet has to leave again, since those in flight have turned out to be only late.
 */
static OCHE_NOINLINE void time_rest(struct oche_qp *qp, oche_time now)
{
    if (snd(qp)->tx.next != snd(qp)->tx.high || snd(qp)->rnr_deadline != OCHE_NEVER ||
        snd(qp)->ack_timeout == OCHE_NEVER ||
        oche_psn_diff(snd(qp)->last_ack_request, snd(qp)->tx.una) < 0)
        return;
    snd(qp)->ack_deadline = oche_time_add(now, ack_wait(qp));
    timers_want(qp, snd(qp)->ack_deadline);
}

void completer_settle(struct oche_qp *qp, oche_time now)
{
    if (OCHE_UNLIKELY(snd(qp)->ack_deadline == OCHE_NEVER) && snd(qp)->tx.una != snd(qp)->tx.high)
        time_rest(qp, now);
    if (snd(qp)->queued == QUEUED_NOT)
        scheduler_kick(qp, now);
    if (snd(qp)->send_head == snd(qp)->send_tail && qp_state(qp) != OCHE_QP_ERR)
        congestion_note_idle(qp, now);
}

/* ---- ACK and NAK ---- */

static void take_credits(struct oche_qp *qp, const struct oche_packet *packet)
{
    uint8_t syndrome = oche_aeth_syndrome(packet);
    uint32_t credits;

    if (oche_aeth_kind(syndrome) != OCHE_AETH_ACK)
        return;
    credits = oche_credits(oche_aeth_code(syndrome));
    if (OCHE_LIKELY(credits == CREDITS_UNLIMITED)) {
        qp->flags &= (uint16_t)~QP_CREDIT_LIMITED;
        return;
    }
    qp->flags |= QP_CREDIT_LIMITED;
    snd(qp)->credit_limit = oche_psn_add(oche_aeth_msn(packet), credits);
}

/*
 * True if the packet is a NAK by which the receiver says that it has restarted the message that
 * holds una.
 */
static bool names_restart(const struct oche_qp *qp, const struct oche_packet *packet)
{
    return (qp->flags & QP_WHOLE_MESSAGES) && packet->psn == snd(qp)->tx.message_start &&
           !is_read_or_atomic(snd(qp)->head_opcode) &&
           oche_aeth_syndrome(packet) == OCHE_SYNDROME_NAK_SEQUENCE;
}

/*
 * True if names_restart holds and part of the message was acknowledged, so that we must restart it
 * too.
 */
static bool has_restarted(const struct oche_qp *qp, const struct oche_packet *packet)
{
    return names_restart(qp, packet) && snd(qp)->tx.una != snd(qp)->tx.message_start;
}

bool completer_sack_ok(const struct oche_qp *qp, const struct oche_packet *packet)
{
    struct oche_sack sack = oche_sack_get(packet);

    if (!(packet->ext & OCHE_EXT_SCHEME) || sack.count > 64 ||
        oche_aeth_syndrome(packet) != OCHE_SYNDROME_NAK_SEQUENCE)
        return false;
    if (sack.count < 64 && sack.bits >> sack.count != 0)
        return false;
    if (sack.first == packet->psn && (sack.bits & 1))
        return false; /* the NAK's own PSN is missing, so its bit must be 0 */
    return oche_psn_diff(sack.first, packet->psn) >= 0 &&
           oche_psn_diff(oche_psn_add(sack.first, sack.count), snd(qp)->tx.high) <= 0;
}

/* Handles a NAK with a SACK. Recovery decides from the SACK what is lost. */
static void nak_selective(struct oche_qp *qp, const struct oche_packet *packet, bool moved,
                          oche_time now)
{
    struct oche_sack sack = oche_sack_get(packet);
    uint32_t before = snd(qp)->tx.next;

    if (snd(qp)->rnr_deadline != OCHE_NEVER && !moved)
        return; /* the NAK asks for packets that must wait until the RNR wait ends */
    qp_note(&snd(qp)->nak_taken, packet->psn, now);
    /* READs before the NAK's PSN are being asked for again, with all behind them: no SACK tells. */
    if (snd(qp)->resent_for == OCHE_RESENT_RESPONSES &&
        oche_psn_diff(snd(qp)->tx.next, packet->psn) < 0)
        return;
    snd(qp)->resent_for = OCHE_RESENT_SELECTIVE;
    bool is_new = qp->nic->recovery->sacked(&snd(qp)->tx, packet->psn, &sack, now);
    requester_seek(qp, before, now);
    qp->nic->stats.gap_naks_acted_on += is_new;
    if (is_new)
        losses_tell(qp, now);
    losses_await(qp);
}

static void nak_sequence(struct oche_qp *qp, const struct oche_packet *packet, bool moved,
                         oche_time now)
{
    if (OCHE_UNLIKELY(packet->opcode == OCHE_RC_SACK) && qp->nic->recovery->sacked != NULL) {
        nak_selective(qp, packet, moved, now);
        return;
    }
    if (packet->psn != snd(qp)->tx.una && !names_restart(qp, packet))
        return; /* responses before the named PSN are missing, and have been requested again */
    if (snd(qp)->rnr_deadline != OCHE_NEVER && !moved && !has_restarted(qp, packet))
        return; /* the NAK asks for packets that must wait until the RNR wait ends */
    qp_note(&snd(qp)->nak_taken, packet->psn, now);
    qp->nic->stats.gap_naks_acted_on++;
    /*
     * A repeated NAK uses up no retry, since it may have left before the packets sent again
     * arrived. The ACK timer, which a repeated NAK does not restart, limits the repetitions. If
     * there is no ACK timer, a repeated NAK uses up a retry.
     */
    const bool spends = !moved && snd(qp)->ack_timeout == OCHE_NEVER;

    if (!late_repeat(qp, OCHE_RESENT_NAK, spends, now))
        go_back(qp, spends, OCHE_RESENT_NAK, now);
}

void completer_repeat(struct oche_qp *qp, enum oche_resent cause, bool spends, oche_time now)
{
    go_back(qp, spends, cause, now);
    completer_settle(qp, now);
}

static void nak_rnr(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    if (packet->psn != snd(qp)->tx.una)
        return;
    retries_answered(qp);
    if (snd(qp)->rnr_deadline != OCHE_NEVER)
        return; /* a repeated RNR NAK, which answers the second copy of a packet */
    if (!retries_spend(qp, &snd(qp)->rnr_retries_left)) {
        qp_requester_error(qp, snd(qp)->send_head, OCHE_STATUS_RNR_RETRY_EXCEEDED, now);
        return;
    }
    snd(qp)->rnr_deadline =
        oche_time_add(now, oche_rnr_wait(oche_aeth_code(oche_aeth_syndrome(packet))));
    snd(qp)->ack_deadline = OCHE_NEVER;
    timers_want(qp, snd(qp)->rnr_deadline);
}

static void nak_fatal(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    unsigned code = oche_aeth_code(oche_aeth_syndrome(packet));
    uint32_t index = requester_find(qp, packet->psn);

    if (index != snd(qp)->send_started)
        qp_requester_error(qp, index, nak_statuses[code], now);
}

static void nak(struct oche_qp *qp, const struct oche_packet *packet, bool moved, oche_time now)
{
    uint8_t syndrome = oche_aeth_syndrome(packet);

    if (oche_aeth_kind(syndrome) == OCHE_AETH_RNR)
        nak_rnr(qp, packet, now);
    else if (syndrome == OCHE_SYNDROME_NAK_SEQUENCE)
        nak_sequence(qp, packet, moved, now);
    else
        nak_fatal(qp, packet, now);
}

static bool known_syndrome(uint8_t syndrome)
{
    enum oche_aeth_kind kind = oche_aeth_kind(syndrome);

    return kind == OCHE_AETH_ACK || kind == OCHE_AETH_RNR ||
           (kind == OCHE_AETH_NAK && oche_aeth_code(syndrome) < sizeof(nak_statuses));
}

bool completer_psn_ok(const struct oche_qp *qp, const struct oche_packet *packet)
{
    bool ack = oche_aeth_kind(oche_aeth_syndrome(packet)) == OCHE_AETH_ACK;
    uint32_t target = ack ? oche_psn_add(packet->psn, 1) : packet->psn;

    return oche_psn_diff(packet->psn, snd(qp)->tx.high) < 0 &&
           oche_psn_diff(target, snd(qp)->tx.una) >= 0;
}

/*
 * A NAK with a SACK, for a scheme that counts_sacks: takes it before the scheme hears of the ACK,
 * and measures a round trip with what it names, if none was measured.
 */
static OCHE_NOINLINE void take_sack(struct oche_qp *qp, const struct oche_packet *packet,
                                    bool moved, oche_time *rtt, oche_time now)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    uint32_t psn;

    nak(qp, packet, moved, now);
    if (*rtt == OCHE_NEVER && (qp->flags & QP_TAKES_RTT) && recovery->newly_arrived != NULL &&
        recovery->newly_arrived(&snd(qp)->tx, &psn))
        *rtt = rtt_sacked(qp, psn, now);
}

static void acknowledged(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    uint8_t syndrome = oche_aeth_syndrome(packet);
    bool ack = oche_aeth_kind(syndrome) == OCHE_AETH_ACK;
    uint32_t target = ack ? oche_psn_add(packet->psn, 1) : packet->psn;
    uint32_t before = snd(qp)->tx.una;
    uint64_t acked_bytes = 0;
    oche_time rtt = OCHE_NEVER;
    bool sacked = false;

    qp_trace(qp, now, OCHE_TRACE_ACK_ARRIVED, packet->psn, packet->aeth);
    if (OCHE_UNLIKELY(!known_syndrome(syndrome))) {
        nic_reject(qp->nic, qp, OCHE_REJECT_OPCODE, packet, now);
        return;
    }
    if (OCHE_UNLIKELY(oche_psn_diff(packet->psn, snd(qp)->tx.high) >= 0)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_PSN, packet, now);
        return;
    }
    int32_t behind = -oche_psn_diff(target, before); /* half the circle away is behind */
    bool stale = behind > 0;
    const uint32_t arrived = OCHE_UNLIKELY(qp->nic->cc->counts_sacks) ? losses_arrived(qp) : 0;
    if (OCHE_LIKELY(!stale)) {
        qp_heard(qp, packet, true);
        acked_bytes = advance(qp, target, now);
        if (qp->flags & QP_TAKES_RTT)
            rtt = rtt_acked(qp, now);
        take_credits(qp, packet);
        if (OCHE_LIKELY(snd(qp)->tx.una != before))
            progressed(qp, before, acked_bytes, now);
        if (OCHE_UNLIKELY(snd(qp)->tx.una != target) && is_read_or_atomic(snd(qp)->head_opcode)) {
            if (ack && keeps_reads(qp))
                pieces_answered(qp, target, now);
            else
                response_gap(qp, now);
        }
    }
    if (OCHE_UNLIKELY(behind > PSN_REACH)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_PSN, packet, now);
        return;
    }
    if (OCHE_LIKELY(ack))
        qp->nic->stats.acks_received++;
    else
        count_nak(&qp->nic->stats, syndrome);
    if (OCHE_UNLIKELY(qp->nic->cc->counts_sacks) && !stale) {
        sacked = packet->opcode == OCHE_RC_SACK;
        if (sacked)
            take_sack(qp, packet, snd(qp)->tx.una != before, &rtt, now);
        acked_bytes = losses_with_arrived(qp, acked_bytes, arrived);
    }
    if (qp->nic->cc->acked != NULL && OCHE_LIKELY(behind <= FEEDBACK_SLACK))
        congestion_acked(qp, packet, acked_bytes, rtt, now);
    if (OCHE_UNLIKELY(qp->spreads) && behind <= FEEDBACK_SLACK)
        spread_heard(qp, packet, now);
    if (OCHE_UNLIKELY(packet->bth_reserved & OCHE_BTH_DUPLICATE) && (qp->flags & QP_EXTENDED) &&
        behind <= FEEDBACK_SLACK)
        losses_duplicated(qp, now);
    if (OCHE_UNLIKELY(!ack) && !sacked && (!stale || names_restart(qp, packet)))
        nak(qp, packet, snd(qp)->tx.una != before, now);
    completer_settle(qp, now);
}

/* ---- responses ---- */

/*
 * The part that all responses have in common: moves una up to the response's PSN. Returns false if
 * an earlier response is missing, or if the response is a duplicate or answers no request of ours.
 */
static bool response_in_order(struct oche_qp *qp, const struct oche_packet *packet, bool read,
                              oche_time now)
{
    uint32_t before = snd(qp)->tx.una;

    if (oche_psn_diff(packet->psn, snd(qp)->tx.high) >= 0) {
        nic_reject(qp->nic, qp, OCHE_REJECT_PSN, packet, now);
        return false;
    }
    if (oche_psn_diff(packet->psn, before) < 0) {
        qp->nic->stats.duplicate_packets++;
        qp->nic->stats.duplicate_responses++;
        qp_trace(qp, now, OCHE_TRACE_DUPLICATE, packet->psn, packet->opcode);
        if (read && snd(qp)->pieces != NULL)
            pieces_came_twice(qp, now);
        return false;
    }
    uint64_t acked_bytes = advance(qp, packet->psn, now);
    oche_time rtt = qp->flags & QP_TAKES_RTT ? rtt_acked(qp, now) : OCHE_NEVER;
    if (snd(qp)->tx.una != before)
        progressed(qp, before, acked_bytes, now);
    if (acked_bytes > 0 && qp->nic->cc->acked != NULL)
        congestion_acked(qp, packet, acked_bytes, rtt, now);
    if (snd(qp)->tx.una != packet->psn) {
        qp_trace(qp, now, OCHE_TRACE_OUT_OF_ORDER, packet->psn, snd(qp)->tx.una);
        if (keeps_reads(qp)) {
            pieces_behind_gap(qp, packet, read, now);
            requester_pass_over(qp);
        } else {
            response_gap(qp, now);
        }
        return false;
    }
    return true;
}

/*
 * Moves una past the response at una, which has arrived. `bytes`: the bytes that are no longer in
 * flight.
 */
static void response_taken(struct oche_qp *qp, uint32_t bytes, oche_time now)
{
    bool last = snd(qp)->tx.una == snd(qp)->head_last_psn;
    uint32_t before = snd(qp)->tx.una;

    snd(qp)->tx.una = oche_psn_add(snd(qp)->tx.una, 1);
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL) && pieces_moved(qp) && !last)
        snd(qp)->reads_started--;
    if (last)
        completer_retire(qp, OCHE_STATUS_SUCCESS, now, now);
    progressed(qp, before, bytes, now);
}

static const struct oche_sge *head_sges(const struct oche_qp *qp)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_head);

    return entry->sge_count > 1 ? send_extra_at(qp, snd(qp)->send_head) : &entry->sge;
}

/* Takes the data for una. Returns false if it is refused. */
static bool take_read_data(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    const struct send_entry *head = send_at(qp, snd(qp)->send_head);
    struct oche_nic *nic = qp->nic;

    if (snd(qp)->send_head == snd(qp)->send_started || head->opcode != OCHE_WORK_READ) {
        nic_reject(nic, qp, OCHE_REJECT_PSN, packet, now);
        return false;
    }
    uint32_t offset = ((packet->psn - head->first_psn) & OCHE_PSN_MASK) * qp->mtu;
    uint32_t left = head->length - offset;
    uint32_t bytes = left < qp->mtu ? left : qp->mtu;
    bool last = packet->psn == head->last_psn;
    if (packet->payload_bytes != bytes) {
        nic_reject(nic, qp, OCHE_REJECT_LENGTH, packet, now);
        return false;
    }
    if (nic->port->write != NULL && bytes > 0 && (packet->ext & OCHE_EXT_PAYLOAD) &&
        !region_scatter(nic, qp->pd, head_sges(qp), head->sge_count, offset, packet->payload,
                        bytes)) {
        qp_requester_error(qp, snd(qp)->send_head, OCHE_STATUS_LOCAL_PROTECTION, now);
        return false;
    }
    nic->stats.delivered_messages += last;
    qp_trace(qp, now, OCHE_TRACE_DELIVERED, packet->psn, bytes);
    if (last)
        qp_trace(qp, now, OCHE_TRACE_MESSAGE_DELIVERED, head->ssn, head->length);
    if (OCHE_UNLIKELY(qp->flags & QP_WHOLE_MESSAGES))
        /* a message counts when complete; before, recovery may begin it again */
        bytes = last ? head->length : 0;
    nic->stats.delivered_bytes += bytes;
    response_taken(qp, snd(qp)->pieces != NULL ? bytes : 0, now);
    if (nic->port->delivered != NULL && (last || bytes > 0))
        nic->port->delivered(nic->port_context, qp, bytes, last, now);
    return true;
}

/*
 * una has moved on: takes what is kept for it, and passes over requests without a response which
 * have been answered. Returns the payload that this acknowledges.
 */
static uint64_t take_kept(struct oche_qp *qp, oche_time now)
{
    const struct read_pieces *pieces = snd(qp)->pieces;
    struct oche_packet kept;
    uint64_t bytes = 0;

    while (pieces->gap && oche_psn_diff(snd(qp)->tx.una, pieces->heard) < 0) {
        const uint32_t before = snd(qp)->tx.una;

        if (pieces_recall(qp, &kept)) {
            if (!take_read_data(qp, &kept, now))
                return bytes;
            bytes += kept.payload_bytes;
        } else if (!is_read_or_atomic(snd(qp)->head_opcode)) {
            const uint64_t acked = advance(qp, pieces->heard, now);
            progressed(qp, before, acked, now);
            bytes += acked;
        } else if (!keeps_reads(qp)) {
            response_gap(qp, now); /* an atomic's result is missing */
            break;
        } else {
            break;
        }
    }
    pieces_settle(qp);
    return bytes;
}

static void read_response(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    uint64_t bytes = packet->payload_bytes;
    oche_time rtt = OCHE_NEVER;

    if (snd(qp)->pieces != NULL)
        pieces_fills_gap(qp);
    if (!take_read_data(qp, packet, now) || snd(qp)->pieces == NULL)
        return;
    if (OCHE_UNLIKELY(snd(qp)->pieces->gap))
        bytes += take_kept(qp, now);
    if (qp->flags & QP_TAKES_RTT)
        rtt = rtt_acked(qp, now);
    if (qp->nic->cc->acked != NULL)
        congestion_read_acked(qp, packet, bytes, rtt, now);
}

static void atomic_response(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    const struct send_entry *head = send_at(qp, snd(qp)->send_head);
    uint64_t original = packet->original;

    if (snd(qp)->send_head == snd(qp)->send_started || head->opcode < OCHE_WORK_COMPARE_SWAP) {
        nic_reject(qp->nic, qp, OCHE_REJECT_PSN, packet, now);
        return;
    }
    if (qp->nic->port->write != NULL &&
        !region_scatter(qp->nic, qp->pd, head_sges(qp), head->sge_count, 0, &original,
                        sizeof(original))) {
        qp_requester_error(qp, snd(qp)->send_head, OCHE_STATUS_LOCAL_PROTECTION, now);
        return;
    }
    response_taken(qp, 0, now);
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL) && OCHE_UNLIKELY(snd(qp)->pieces->gap))
        take_kept(qp, now);
}

static void response(struct oche_qp *qp, const struct oche_packet *packet,
                     const struct oche_opcode_row *row, oche_time now)
{
    bool read = row->operation == OCHE_OPERATION_READ;

    qp_heard(qp, packet, qp_is_outstanding(qp, packet->psn));
    if (read) {
        struct oche_nic_stats *stats = &qp->nic->stats;
        stats->data_packets_received++;
        stats->data_bytes_received += packet->payload_bytes;
        bool marked = packet->ecn == OCHE_ECN_CE;
        if (OCHE_UNLIKELY(marked))
            stats->ce_received++;
        qp_trace(qp, now, OCHE_TRACE_DATA_ARRIVED, packet->psn,
                 packet->payload_bytes | (uint64_t)packet->opcode << 32 |
                     (uint64_t)packet->ecn << 40);
        if (OCHE_LIKELY(!marked) ||
            congestion_mark_counts(qp, oche_psn_diff(packet->psn, snd(qp)->tx.una)))
            congestion_arrived(qp, packet, now);
    } else {
        qp->nic->stats.acks_received++;
        qp_trace(qp, now, OCHE_TRACE_ACK_ARRIVED, packet->psn, packet->aeth);
    }
    if (response_in_order(qp, packet, read, now)) {
        if (row->flags & OCHE_OP_HAS(AETH))
            take_credits(qp, packet);
        if (read)
            read_response(qp, packet, now);
        else
            atomic_response(qp, packet, now);
    }
    completer_settle(qp, now);
}

void completer_receive(struct oche_qp *qp, const struct oche_packet *packet,
                       const struct oche_opcode_row *row, oche_time now)
{
    enum oche_qp_state state = qp_state(qp);

    if (OCHE_UNLIKELY(state != OCHE_QP_RTS && state != OCHE_QP_SQD)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_QP_STATE, packet, now);
        return;
    }
    if (OCHE_LIKELY(row->operation == OCHE_OPERATION_ACK))
        acknowledged(qp, packet, now);
    else
        response(qp, packet, row, now);
}
