/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about the half of a queue pair that sends requests. */
#include "core/qp/check_internal.h"
#include "core/qp/pieces.h"

static bool psns_are_24_bits(const struct oche_qp *qp)
{
    return is_psn(qp->tx.una) && is_psn(qp->tx.next) && is_psn(qp->tx.high) &&
           is_psn(qp->tx.message_start) && is_psn(qp->last_ack_request);
}

static bool psns_are_in_order(const struct oche_qp *qp)
{
    return is_psn_within(qp->tx.una, qp->tx.next, qp->tx.high);
}

static bool message_start_is_not_later(const struct oche_qp *qp)
{
    return oche_psn_diff(qp->tx.una, qp->tx.message_start) >= 0;
}

static bool window_is_kept(const struct oche_qp *qp)
{
    /* a READ that begins within the window may end behind it */
    const uint32_t outstanding = (qp->tx.high - qp->tx.una) & OCHE_PSN_MASK;

    return outstanding <= qp->window_packets || qp->reads_started > 0 ||
           (qp->flags & QP_WHOLE_MESSAGES);
}

static bool ring_indices_are_in_order(const struct oche_qp *qp)
{
    const uint32_t posted = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);
    const uint32_t all = posted - qp->send_head;

    return all <= qp->send_mask + 1 && qp->send_tail - qp->send_head <= all &&
           qp->send_started - qp->send_head <= qp->send_tail - qp->send_head &&
           qp->send_next - qp->send_head <= qp->send_started - qp->send_head;
}

static bool retired_is_head(const struct oche_qp *qp)
{
    return atomic_load_explicit(&qp->retired_sends, memory_order_acquire) == qp->send_head;
}

static bool nothing_started_nothing_outstanding(const struct oche_qp *qp)
{
    return qp->send_head != qp->send_started ||
           (qp->tx.una == qp->tx.high && qp->flight_bytes == 0 && qp->reads_started == 0);
}

/* The members that are copied from the oldest work request. */
static bool head_is_that_of_the_ring(const struct oche_qp *qp)
{
    if (qp->send_head == qp->send_started)
        return true;
    const struct send_entry *head = send_at(qp, qp->send_head);
    return qp->head_first_psn == head->first_psn && qp->head_last_psn == head->last_psn &&
           qp->head_opcode == head->opcode;
}

static bool una_is_in_the_head(const struct oche_qp *qp)
{
    return qp->send_head == qp->send_started ||
           is_psn_within(qp->head_first_psn, qp->tx.una, qp->head_last_psn);
}

/* Each message begins with the PSN after the one before; work without packets has none. */
static bool messages_follow_each_other(const struct oche_qp *qp)
{
    for (uint32_t i = qp->send_head; i != qp->send_started; i++) {
        const struct send_entry *entry = send_at(qp, i);
        const uint32_t packets = ((entry->last_psn - entry->first_psn) & OCHE_PSN_MASK) + 1;

        if (is_local(entry->opcode) ? packets != OCHE_PSN_MASK + 1 : packets > MAX_PSN_WINDOW)
            return false;
        if (i != qp->send_head && entry->first_psn != oche_psn_add(send_at(qp, i - 1)->last_psn, 1))
            return false;
    }
    return true;
}

static bool high_is_in_the_newest(const struct oche_qp *qp)
{
    if (qp->send_head == qp->send_started)
        return true;
    const struct send_entry *newest = send_at(qp, qp->send_started - 1);
    return is_psn_within(newest->first_psn, qp->tx.high, oche_psn_add(newest->last_psn, 1));
}

static bool cursor_points_to_next(const struct oche_qp *qp)
{
    if (qp->send_next == qp->send_started)
        return qp->tx.next == qp->tx.high;
    const struct send_entry *entry = send_at(qp, qp->send_next);
    const uint64_t before = (uint64_t)((qp->tx.next - entry->first_psn) & OCHE_PSN_MASK) * qp->mtu;
    return is_psn_within(entry->first_psn, qp->tx.next, entry->last_psn) &&
           qp->cursor_length == entry->length && qp->cursor_opcode == entry->opcode &&
           qp->cursor_offset == before;
}

/* Returns the payload of the message's PSNs before `psn`. */
static uint64_t payload_before(const struct oche_qp *qp, const struct send_entry *entry,
                               uint32_t psn)
{
    const int32_t packets = oche_psn_diff(psn, entry->first_psn);
    const uint64_t bytes = packets < 0 ? 0 : (uint64_t)packets * qp->mtu;

    return bytes < entry->length ? bytes : entry->length;
}

/* Returns the payload of the PSNs [una, next) that counts as flight. */
static uint64_t payload_outstanding(const struct oche_qp *qp)
{
    uint64_t bytes = 0;

    for (uint32_t i = qp->send_head; i != qp->send_started; i++) {
        const struct send_entry *entry = send_at(qp, i);
        if (!is_local(entry->opcode) &&
            (!is_read_or_atomic(entry->opcode) || pieces_counts(qp, entry->opcode)))
            bytes += payload_before(qp, entry, qp->tx.next) - payload_before(qp, entry, qp->tx.una);
    }
    return bytes;
}

static bool flight_is_what_is_outstanding(const struct oche_qp *qp)
{
    return qp->flight_bytes == payload_outstanding(qp);
}

static bool reads_are_counted(const struct oche_qp *qp)
{
    uint32_t requests = qp->pieces == NULL ? 0 : qp->pieces->tail - qp->pieces->head;

    for (uint32_t i = qp->send_head; i != qp->send_started; i++) {
        const uint8_t opcode = send_at(qp, i)->opcode;
        requests += is_read_or_atomic(opcode) && !pieces_counts(qp, opcode);
    }
    return qp->reads_started == requests;
}

static bool retries_are_within(const struct oche_qp *qp)
{
    return qp->retries_left <= qp->retry_count && qp->rnr_retries_left <= qp->rnr_retry;
}

static bool awaits_acks_only_of_work(const struct oche_qp *qp)
{
    /* an RNR wait goes on also if a second copy of what was refused has found a receive */
    return qp->send_head != qp->send_started || qp_state(qp) == OCHE_QP_ERR ||
           qp->ack_deadline == OCHE_NEVER;
}

static bool one_wait_at_a_time(const struct oche_qp *qp)
{
    return qp->rnr_deadline == OCHE_NEVER || qp->ack_deadline == OCHE_NEVER;
}

static bool ack_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, qp->ack_deadline);
}

static bool rnr_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, qp->rnr_deadline);
}

static bool order_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, qp->order_deadline);
}

static bool cc_timers_are_set(const struct oche_qp *qp)
{
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        if (!is_timed(qp, qp->flow.timer[i]))
            return false;
    return true;
}

static bool read_timer_is_set(const struct oche_qp *qp)
{
    return !qp->read_waits || is_timed(qp, qp->pieces->due);
}

static bool ack_request_has_left(const struct oche_qp *qp)
{
    return oche_psn_diff(qp->last_ack_request, qp->tx.high) < 0;
}

static bool rate_is_possible(const struct oche_qp *qp)
{
    const uint64_t line_rate = qp->nic->config.line_rate_bps;

    return qp->pace_rate_bps > 0 && qp->pace_rate_bps <= line_rate &&
           (qp->pace_full == 0) == (qp->pace_rate_bps == line_rate);
}

static bool doubts_have_a_judge(const struct oche_qp *qp)
{
    return qp->doubts == DOUBTS_NOTHING || qp->nic->recovery->judge != NULL;
}

static bool is_ordered_piece(const struct oche_qp *qp, uint32_t index)
{
    const struct read_piece *piece = &qp->pieces->piece[index & qp->pieces->mask];

    if (oche_psn_diff(piece->end, piece->first) <= 0 || oche_psn_diff(piece->end, qp->tx.high) > 0)
        return false;
    return index == qp->pieces->head ||
           oche_psn_diff(piece->first, qp->pieces->piece[(index - 1) & qp->pieces->mask].end) >= 0;
}

static bool pieces_are_in_order(const struct oche_qp *qp)
{
    const struct read_pieces *pieces = qp->pieces;

    if (pieces == NULL)
        return true;
    if (pieces->tail - pieces->head > pieces->mask + 1)
        return false;
    for (uint32_t i = pieces->head; i != pieces->tail; i++)
        if (!is_ordered_piece(qp, i))
            return false;
    return true;
}

static bool kept_reads_are_counted(const struct oche_qp *qp)
{
    const struct read_pieces *pieces = qp->pieces;

    if (pieces == NULL)
        return true;
    return pieces->kept <= pieces->reach &&
           pieces->kept_bytes <= (uint64_t)pieces->kept * qp->mtu &&
           pieces->kept == oche_psn_count(&pieces->arrived, qp->tx.una, OCHE_PSN_BITMAP_BITS);
}

static bool ready_has_data(const struct oche_qp *qp)
{
    /* what waits may have been answered meanwhile: then it leaves the list unsent */
    return qp->queued != QUEUED_PACED || heap_time(&qp->nic->pacing, qp->slot) == qp->pace_due;
}

const struct qp_statement qp_send_statements[] = {
    {"the sender's PSNs have 24 bits", psns_are_24_bits},
    {"una <= next <= high", psns_are_in_order},
    {"una's message begins at una or before", message_start_is_not_later},
    {"no more is outstanding than the window", window_is_kept},
    {"send ring: head <= next <= started <= tail <= posted", ring_indices_are_in_order},
    {"the program sees the oldest work request that is not over", retired_is_head},
    {"nothing is outstanding of no work", nothing_started_nothing_outstanding},
    {"what is copied of the oldest work request is right", head_is_that_of_the_ring},
    {"una is in the oldest work request", una_is_in_the_head},
    {"each message begins with the PSN after the one before", messages_follow_each_other},
    {"high is in the newest message that has begun", high_is_in_the_newest},
    {"the cursor is where next is", cursor_points_to_next},
    {"the bytes in flight are those of [una, next)", flight_is_what_is_outstanding},
    {"READs and atomics without answer are counted", reads_are_counted},
    {"retries left are at most those there were", retries_are_within},
    {"without work no ACK is awaited", awaits_acks_only_of_work},
    {"the ACK timer and the RNR timer exclude each other", one_wait_at_a_time},
    {"the NIC's timer covers the ACK timer", ack_timer_is_set},
    {"the NIC's timer covers the RNR timer", rnr_timer_is_set},
    {"the NIC's timer covers the timer of short messages", order_timer_is_set},
    {"the NIC's timer covers congestion control's timers", cc_timers_are_set},
    {"the NIC's timer covers the pacing of READs", read_timer_is_set},
    {"the last packet that asked for an ACK has left", ack_request_has_left},
    {"the pacing rate is above 0 and at most the line's", rate_is_possible},
    {"losses are doubted only by a recovery that judges", doubts_have_a_judge},
    {"READ requests are in order and have left", pieces_are_in_order},
    {"READ data that is kept is counted", kept_reads_are_counted},
    {"a paced queue pair is in the pacing heap for its time", ready_has_data},
    {NULL, NULL},
};
