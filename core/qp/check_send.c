/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about the half of a queue pair that sends requests. */
#include "core/qp/check_internal.h"
#include "core/qp/send/pieces.h"

static bool psns_are_24_bits(const struct oche_qp *qp)
{
    return is_psn(snd(qp)->tx.una) && is_psn(snd(qp)->tx.next) && is_psn(snd(qp)->tx.high) &&
           is_psn(snd(qp)->tx.message_start) && is_psn(snd(qp)->last_ack_request);
}

static bool psns_are_in_order(const struct oche_qp *qp)
{
    return is_psn_within(snd(qp)->tx.una, snd(qp)->tx.next, snd(qp)->tx.high);
}

static bool message_start_is_not_later(const struct oche_qp *qp)
{
    return oche_psn_diff(snd(qp)->tx.una, snd(qp)->tx.message_start) >= 0;
}

static bool window_is_kept(const struct oche_qp *qp)
{
    /* a READ that begins within the window may end behind it */
    const uint32_t outstanding = (snd(qp)->tx.high - snd(qp)->tx.una) & OCHE_PSN_MASK;

    return outstanding <= snd(qp)->window_packets || snd(qp)->reads_started > 0 ||
           (qp->flags & QP_WHOLE_MESSAGES);
}

static bool ring_indices_are_in_order(const struct oche_qp *qp)
{
    const uint32_t posted = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);
    const uint32_t all = posted - snd(qp)->send_head;

    return all <= snd(qp)->send_mask + 1 && snd(qp)->send_tail - snd(qp)->send_head <= all &&
           snd(qp)->send_started - snd(qp)->send_head <= snd(qp)->send_tail - snd(qp)->send_head &&
           snd(qp)->send_next - snd(qp)->send_head <= snd(qp)->send_started - snd(qp)->send_head;
}

static bool retired_is_head(const struct oche_qp *qp)
{
    return atomic_load_explicit(&snd(qp)->retired_sends, memory_order_acquire) ==
           snd(qp)->send_head;
}

static bool nothing_started_nothing_outstanding(const struct oche_qp *qp)
{
    return snd(qp)->send_head != snd(qp)->send_started ||
           (snd(qp)->tx.una == snd(qp)->tx.high && snd(qp)->flight_bytes == 0 &&
            snd(qp)->reads_started == 0);
}

/* The members that are copied from the oldest work request. */
static bool head_is_that_of_the_ring(const struct oche_qp *qp)
{
    if (snd(qp)->send_head == snd(qp)->send_started)
        return true;
    const struct send_entry *head = send_at(qp, snd(qp)->send_head);
    return snd(qp)->head_first_psn == head->first_psn && snd(qp)->head_last_psn == head->last_psn &&
           snd(qp)->head_opcode == head->opcode;
}

static bool una_is_in_the_head(const struct oche_qp *qp)
{
    return snd(qp)->send_head == snd(qp)->send_started ||
           is_psn_within(snd(qp)->head_first_psn, snd(qp)->tx.una, snd(qp)->head_last_psn);
}

/* Each message begins with the PSN after the one before; work without packets has none. */
static bool messages_follow_each_other(const struct oche_qp *qp)
{
    for (uint32_t i = snd(qp)->send_head; i != snd(qp)->send_started; i++) {
        const struct send_entry *entry = send_at(qp, i);
        const uint32_t packets = ((entry->last_psn - entry->first_psn) & OCHE_PSN_MASK) + 1;

        if (is_local(entry->opcode) ? packets != OCHE_PSN_MASK + 1 : packets > MAX_PSN_WINDOW)
            return false;
        if (i != snd(qp)->send_head &&
            entry->first_psn != oche_psn_add(send_at(qp, i - 1)->last_psn, 1))
            return false;
    }
    return true;
}

static bool high_is_in_the_newest(const struct oche_qp *qp)
{
    if (snd(qp)->send_head == snd(qp)->send_started)
        return true;
    const struct send_entry *newest = send_at(qp, snd(qp)->send_started - 1);
    return is_psn_within(newest->first_psn, snd(qp)->tx.high, oche_psn_add(newest->last_psn, 1));
}

static bool cursor_points_to_next(const struct oche_qp *qp)
{
    if (snd(qp)->send_next == snd(qp)->send_started)
        return snd(qp)->tx.next == snd(qp)->tx.high;
    const struct send_entry *entry = send_at(qp, snd(qp)->send_next);
    const uint64_t before =
        (uint64_t)((snd(qp)->tx.next - entry->first_psn) & OCHE_PSN_MASK) * qp->mtu;
    return is_psn_within(entry->first_psn, snd(qp)->tx.next, entry->last_psn) &&
           snd(qp)->cursor_length == entry->length && snd(qp)->cursor_opcode == entry->opcode &&
           snd(qp)->cursor_offset == before;
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

    for (uint32_t i = snd(qp)->send_head; i != snd(qp)->send_started; i++) {
        const struct send_entry *entry = send_at(qp, i);
        if (!is_local(entry->opcode) &&
            (!is_read_or_atomic(entry->opcode) || pieces_counts(qp, entry->opcode)))
            bytes += payload_before(qp, entry, snd(qp)->tx.next) -
                     payload_before(qp, entry, snd(qp)->tx.una);
    }
    return bytes;
}

static bool flight_is_what_is_outstanding(const struct oche_qp *qp)
{
    return snd(qp)->flight_bytes == payload_outstanding(qp);
}

static bool reads_are_counted(const struct oche_qp *qp)
{
    uint32_t requests = snd(qp)->pieces == NULL ? 0 : snd(qp)->pieces->tail - snd(qp)->pieces->head;

    for (uint32_t i = snd(qp)->send_head; i != snd(qp)->send_started; i++) {
        const uint8_t opcode = send_at(qp, i)->opcode;
        requests += is_read_or_atomic(opcode) && !pieces_counts(qp, opcode);
    }
    return snd(qp)->reads_started == requests;
}

static bool retries_are_within(const struct oche_qp *qp)
{
    return snd(qp)->retries_left <= snd(qp)->retry_count &&
           snd(qp)->rnr_retries_left <= snd(qp)->rnr_retry;
}

static bool awaits_acks_only_of_work(const struct oche_qp *qp)
{
    /* an RNR wait goes on also if a second copy of what was refused has found a receive */
    return snd(qp)->send_head != snd(qp)->send_started || qp_state(qp) == OCHE_QP_ERR ||
           snd(qp)->ack_deadline == OCHE_NEVER;
}

static bool one_wait_at_a_time(const struct oche_qp *qp)
{
    return snd(qp)->rnr_deadline == OCHE_NEVER || snd(qp)->ack_deadline == OCHE_NEVER;
}

static bool ack_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, snd(qp)->ack_deadline);
}

static bool rnr_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, snd(qp)->rnr_deadline);
}

static bool order_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, snd(qp)->order.deadline);
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
    return !snd(qp)->read_waits || is_timed(qp, snd(qp)->pieces->due);
}

static bool ack_request_has_left(const struct oche_qp *qp)
{
    return oche_psn_diff(snd(qp)->last_ack_request, snd(qp)->tx.high) < 0;
}

static bool rate_is_possible(const struct oche_qp *qp)
{
    const uint64_t line_rate = qp->nic->config.line_rate_bps;

    return snd(qp)->pace_rate_bps > 0 && snd(qp)->pace_rate_bps <= line_rate &&
           (snd(qp)->pace_full == 0) == (snd(qp)->pace_rate_bps == line_rate);
}

static bool doubts_have_a_judge(const struct oche_qp *qp)
{
    return snd(qp)->doubts == DOUBTS_NOTHING || qp->nic->recovery->judge != NULL;
}

static bool is_ordered_piece(const struct oche_qp *qp, uint32_t index)
{
    const struct read_piece *piece = &snd(qp)->pieces->piece[index & snd(qp)->pieces->mask];

    if (oche_psn_diff(piece->end, piece->first) <= 0 ||
        oche_psn_diff(piece->end, snd(qp)->tx.high) > 0)
        return false;
    return index == snd(qp)->pieces->head ||
           oche_psn_diff(piece->first,
                         snd(qp)->pieces->piece[(index - 1) & snd(qp)->pieces->mask].end) >= 0;
}

static bool pieces_are_in_order(const struct oche_qp *qp)
{
    const struct read_pieces *pieces = snd(qp)->pieces;

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
    const struct read_pieces *pieces = snd(qp)->pieces;

    if (pieces == NULL)
        return true;
    return pieces->kept <= pieces->reach &&
           pieces->kept_bytes <= (uint64_t)pieces->kept * qp->mtu &&
           pieces->kept == oche_psn_count(&pieces->arrived, snd(qp)->tx.una, OCHE_PSN_BITMAP_BITS);
}

static bool ready_has_data(const struct oche_qp *qp)
{
    /* what waits may have been answered meanwhile: then it leaves the list unsent */
    return snd(qp)->queued != QUEUED_PACED ||
           heap_time(&qp->nic->pacing, qp->slot) == snd(qp)->pace_due;
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
