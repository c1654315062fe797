/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requester turns posted work into packets, one per pull. A work request gets its PSNs when its
 * first packet leaves. From then on recovery decides, by moving tx.next, which PSN leaves next. The
 * cursor follows tx.next: it holds the work request and the byte offset that belong to that PSN. A
 * READ is one packet but takes a PSN for each packet of its response, so going back to a PSN within
 * a READ sends a READ request for the rest of the data (rocev2.md#psns). Where congestion control's
 * window counts READ data, a READ leaves as several requests (pieces.h).
 */
#include <string.h>

#include "core/qp/congestion.h"
#include "core/qp/objects/objects.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/deflection.h"
#include "core/qp/send/group.h"
#include "core/qp/send/losses.h"
#include "core/qp/send/pieces.h"
#include "core/qp/send/request_opcode.h"
#include "core/qp/spread.h"
#include "core/qp/timers.h"

#define ACKS_A_WINDOW 8

static bool takes_receive(uint8_t work_opcode)
{
    return work_opcode != OCHE_WORK_WRITE && work_opcode < OCHE_WORK_LOCAL_INV;
}

/* ---- may it send? ---- */

/* Returns what the next work request must wait for before it starts. */
static enum requester_wait wait_to_start(const struct oche_qp *qp)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_next);

    if (qp_state(qp) == OCHE_QP_SQD)
        return REQUESTER_DRAINING;
    if ((qp->flags & QP_LOCAL_ERROR) && snd(qp)->send_head != snd(qp)->send_started)
        return REQUESTER_LOCAL_ERROR;
    if (is_read_or_atomic(entry->opcode)) {
        bool whole = qp->flags & QP_WHOLE_MESSAGES;
        uint32_t oldest = whole ? snd(qp)->tx.message_start : snd(qp)->tx.una;
        uint32_t outstanding = (snd(qp)->tx.high - oldest) & OCHE_PSN_MASK;
        if (snd(qp)->reads_started >= snd(qp)->initiator_depth)
            return REQUESTER_DEPTH;
        if (outstanding > 0 && outstanding + entry->length / qp->mtu >= MAX_PSN_WINDOW)
            return REQUESTER_WINDOW; /* the READ's response would take too many PSNs */
    }
    if ((entry->flags & OCHE_WORK_FENCE) && snd(qp)->reads_started > 0)
        return REQUESTER_FENCE;
    if (OCHE_UNLIKELY(entry->opcode == OCHE_WORK_LOCAL_INV) &&
        snd(qp)->send_head != snd(qp)->send_started)
        return REQUESTER_FENCE;
    if (deflection_holds(qp, entry))
        return REQUESTER_ORDER;
    /* With nothing outstanding no ACK will bring credits, whatever the last one has said. */
    if ((qp->flags & QP_CREDIT_LIMITED) && takes_receive(entry->opcode) &&
        snd(qp)->send_head != snd(qp)->send_started &&
        oche_psn_diff(snd(qp)->next_ssn, oche_psn_add(snd(qp)->credit_limit, 1)) > 0)
        return REQUESTER_CREDITS;
    return REQUESTER_GO;
}

/*
 * True if the queue pair must wait because congestion control's window is full. While no packet in
 * flight asks for an ACK, one more packet may leave, and asks for an ACK. Otherwise the queue pair
 * could wait for ever: the window may shrink below the bytes in flight after the last packet has
 * left without asking for an ACK. Packets that have arrived behind a gap are not in flight.
 */
static OCHE_NOINLINE bool window_holds(const struct oche_qp *qp)
{
    return snd(qp)->flight_bytes > 0 && oche_psn_diff(snd(qp)->asked, snd(qp)->tx.una) > 0 &&
           losses_flight(qp) + qp->mtu > qp->flow.window_bytes;
}

/*
 * The same, for trimmed packets that are to leave again. Their headers would fill a link, if all of
 * them left at once.
 */
static OCHE_NOINLINE bool window_holds_trimmed(const struct oche_qp *qp)
{
    const uint64_t flight = losses_outstanding(qp);

    return flight > 0 && flight + qp->mtu > qp->flow.window_bytes;
}

/* True if the next packet of the request stream is of a READ. There is work. */
static inline bool reads_next(const struct oche_qp *qp)
{
    const uint8_t opcode = snd(qp)->send_next == snd(qp)->send_started
                               ? send_at(qp, snd(qp)->send_next)->opcode
                               : snd(qp)->cursor_opcode;

    return opcode == OCHE_WORK_READ;
}

/*
 * For an RNIC that resends one message at a time: true if the next packet begins a message that was
 * sent before, and the one before it has not been acknowledged.
 */
static OCHE_NOINLINE bool resend_holds(const struct oche_qp *qp)
{
    return snd(qp)->tx.next != snd(qp)->tx.high && snd(qp)->cursor_offset == 0 &&
           snd(qp)->tx.una != snd(qp)->tx.next;
}

/* Runs the checks in order and returns the first result that is not GO. */
enum requester_wait requester_wait(const struct oche_qp *qp)
{
    enum oche_qp_state state = qp_state(qp);

    if (OCHE_UNLIKELY(state != OCHE_QP_RTS && state != OCHE_QP_SQD))
        return REQUESTER_STATE;
    if (OCHE_UNLIKELY(snd(qp)->asks) && pieces_ask_now(qp))
        return REQUESTER_GO;
    if (snd(qp)->send_next == snd(qp)->send_started) {
        if (snd(qp)->send_started == snd(qp)->send_tail)
            return REQUESTER_NO_WORK;
        enum requester_wait wait = wait_to_start(qp);
        if (wait != REQUESTER_GO)
            return wait;
    }
    if (OCHE_UNLIKELY(snd(qp)->rnr_deadline != OCHE_NEVER))
        return REQUESTER_RNR;
    if (OCHE_UNLIKELY(snd(qp)->resends_singly) && resend_holds(qp))
        return REQUESTER_RESEND;
    if (((snd(qp)->tx.next - snd(qp)->tx.una) & OCHE_PSN_MASK) >= snd(qp)->window_packets)
        return REQUESTER_WINDOW;
    if (OCHE_UNLIKELY(qp->flags & QP_WHOLE_MESSAGES) &&
        ((snd(qp)->tx.next - snd(qp)->tx.message_start) & OCHE_PSN_MASK) >= MAX_PSN_WINDOW)
        return REQUESTER_WINDOW; /* una may move back to message_start, so count from there */
    if (OCHE_UNLIKELY(reads_next(qp)) && snd(qp)->pieces != NULL)
        return pieces_wait(qp);
    if (OCHE_UNLIKELY(snd(qp)->flight_bytes + qp->mtu > qp->flow.window_bytes) && window_holds(qp))
        return REQUESTER_CC_WINDOW;
    if (OCHE_UNLIKELY(snd(qp)->tx.next != snd(qp)->tx.high) &&
        snd(qp)->resent_for == OCHE_RESENT_TRIMMED && window_holds_trimmed(qp))
        return REQUESTER_CC_WINDOW;
    return REQUESTER_GO;
}

/*
 * True if, after the packet that is being built, the window has no room for a further full packet
 * until an ACK comes.
 */
static bool closes_window(const struct oche_qp *qp, uint32_t payload_bytes)
{
    uint32_t outstanding = ((snd(qp)->tx.next - snd(qp)->tx.una) & OCHE_PSN_MASK) + 1;

    return outstanding >= snd(qp)->window_packets ||
           snd(qp)->flight_bytes + payload_bytes + qp->mtu > qp->flow.window_bytes;
}

/*
 * True if a scheme hears enough of what arrives, although the window is full: it counts SACKs, and
 * a packet in flight has asked for an ACK.
 */
static bool hears_anyway(const struct oche_qp *qp)
{
    return qp->nic->cc->counts_sacks && oche_psn_diff(snd(qp)->asked, snd(qp)->tx.una) > 0;
}

/*
 * True if the packet that is being built asks for an ACK: the last of a message does, every
 * ack_every-th, and what the window needs. A scheme's window is given at least ACKS_A_WINDOW of
 * them, so that it learns of round trips and losses while there is time.
 */
static bool asks_for_ack(const struct oche_qp *qp, uint32_t payload_bytes, bool last)
{
    const uint32_t since = snd(qp)->since_ack_request;

    return last || since >= snd(qp)->ack_every ||
           (uint64_t)since * qp->mtu * ACKS_A_WINDOW >= qp->flow.window_bytes ||
           (closes_window(qp, payload_bytes) && !hears_anyway(qp));
}

/* ---- the cursor ---- */

static void load_cursor(struct oche_qp *qp)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_next);

    snd(qp)->cursor_offset = 0;
    snd(qp)->cursor_length = entry->length;
    snd(qp)->cursor_opcode = entry->opcode & 15u;
    if (OCHE_UNLIKELY(snd(qp)->order.released))
        deflection_again(qp); /* all of it had left */
    snd(qp)->cursor_tokens = deflection_tokens(qp, entry) & OCHE_BTH_TOKENS;
}

/* True if the payload of such work counts as flight while it is not acknowledged. */
static bool counts_bytes(const struct oche_qp *qp, uint8_t opcode)
{
    return !is_read_or_atomic(opcode) || pieces_counts(qp, opcode);
}

void requester_load_head(struct oche_qp *qp)
{
    if (snd(qp)->send_head == snd(qp)->send_started) {
        snd(qp)->tx.message_start = snd(qp)->tx.high;
        deflection_done(qp);
        if (OCHE_UNLIKELY(qp_state(qp) == OCHE_QP_SQD))
            qp_tell(qp, OCHE_QP_EVENT_DRAINED);
        return;
    }
    const struct send_entry *head = send_at(qp, snd(qp)->send_head);
    snd(qp)->head_first_psn = snd(qp)->tx.message_start = head->first_psn;
    snd(qp)->head_last_psn = head->last_psn;
    snd(qp)->head_opcode = head->opcode;
    snd(qp)->head_length = counts_bytes(qp, head->opcode) ? head->length : 0;
}

uint32_t requester_find(const struct oche_qp *qp, uint32_t psn)
{
    uint32_t index = snd(qp)->send_head;

    while (index != snd(qp)->send_started && oche_psn_diff(psn, send_at(qp, index)->last_psn) > 0)
        index++;
    return index;
}

/* Returns the payload bytes of the PSNs [una, next). */
static uint64_t bytes_in_flight(const struct oche_qp *qp)
{
    uint64_t bytes = 0;

    for (uint32_t i = snd(qp)->send_head; i != snd(qp)->send_started && i != snd(qp)->send_next;
         i++) {
        const struct send_entry *entry = send_at(qp, i);
        bytes += counts_bytes(qp, entry->opcode) ? entry->length : 0;
    }
    if (snd(qp)->send_next != snd(qp)->send_started && counts_bytes(qp, snd(qp)->cursor_opcode))
        bytes += snd(qp)->cursor_offset;
    if (snd(qp)->send_head != snd(qp)->send_started) {
        uint64_t before =
            (uint64_t)((snd(qp)->tx.una - snd(qp)->head_first_psn) & OCHE_PSN_MASK) * qp->mtu;
        before = before < snd(qp)->head_length ? before : snd(qp)->head_length;
        OCHE_MUST(bytes >= before);
        bytes -= before;
    }
    return bytes;
}

/* Points the cursor at tx.next. */
static void move_cursor(struct oche_qp *qp)
{
    uint32_t next = snd(qp)->tx.next;

    OCHE_MUST(oche_psn_diff(next, snd(qp)->tx.una) >= 0 &&
              oche_psn_diff(next, snd(qp)->tx.high) <= 0);
    snd(qp)->send_next = requester_find(qp, next);
    if (snd(qp)->send_next != snd(qp)->send_started) {
        load_cursor(qp);
        uint32_t first = send_at(qp, snd(qp)->send_next)->first_psn;
        snd(qp)->cursor_offset = ((next - first) & OCHE_PSN_MASK) * qp->mtu;
    } else {
        snd(qp)->cursor_offset = 0;
    }
    snd(qp)->flight_bytes = bytes_in_flight(qp);
    if (oche_psn_diff(snd(qp)->asked, next) > 0)
        /* what asked for an ACK beyond `next` has to leave again */
        snd(qp)->asked = next & OCHE_PSN_MASK;
    if ((qp->flags & QP_EXTENDED) && next != snd(qp)->tx.high)
        /* the next packet asks for an ACK, because it may fill the only gap */
        snd(qp)->since_ack_request = snd(qp)->ack_every;
}

/*
 * READ data that has come behind a gap is not asked for again. Recovery hears of what is passed
 * over: otherwise it would plan to send that again after each packet. Returns true if tx.next has
 * moved.
 */
static bool pass_over_kept(struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    const uint32_t before = snd(qp)->tx.next;

    for (;;) {
        const uint32_t psn = snd(qp)->tx.next;
        snd(qp)->tx.next = pieces_pass_over(qp, psn);
        if (snd(qp)->tx.next == psn)
            break;
        if (recovery->passed != NULL)
            recovery->passed(&snd(qp)->tx, psn);
        if (oche_psn_diff(snd(qp)->tx.next, psn) <= 0) { /* una first, which is never kept */
            snd(qp)->tx.next = pieces_pass_over(qp, snd(qp)->tx.next);
            break;
        }
    }
    return snd(qp)->tx.next != before;
}

void requester_pass_over(struct oche_qp *qp)
{
    if (snd(qp)->tx.next != snd(qp)->tx.high && pass_over_kept(qp))
        move_cursor(qp);
}

void requester_seek(struct oche_qp *qp, uint32_t before, oche_time now)
{
    if (snd(qp)->tx.next == before)
        return;
    if (OCHE_UNLIKELY(snd(qp)->pieces != NULL))
        pass_over_kept(qp);
    const uint32_t next = snd(qp)->tx.next;
    move_cursor(qp);
    if (oche_psn_diff(next, before) > 0)
        return;
    if (!(qp->flags & QP_EXTENDED))
        snd(qp)->since_ack_request = 0;
    if (snd(qp)->resent_for != OCHE_RESENT_TRIMMED) /* then only the trimmed ones leave again */
        rtt_forget(qp);
    qp_trace(qp, now, OCHE_TRACE_GO_BACK, next, snd(qp)->tx.high);
    if (OCHE_UNLIKELY(snd(qp)->supplied) && snd(qp)->queued != QUEUED_NOT)
        scheduler_repace(qp, now); /* resent packets do not wait for new data */
}

/* ---- starting a work request ---- */

static const struct oche_sge *entry_sges(const struct oche_qp *qp, uint32_t index)
{
    const struct send_entry *entry = send_at(qp, index);

    return entry->sge_count > 1 ? send_extra_at(qp, index) : &entry->sge;
}

static bool local_memory_ok(const struct oche_qp *qp, uint32_t index)
{
    const struct send_entry *entry = send_at(qp, index);
    uint32_t access = is_read_or_atomic(entry->opcode) ? OCHE_ACCESS_LOCAL_WRITE : 0;

    if (entry->flags & OCHE_WORK_INLINE)
        return true;
    return region_check_sges(qp->nic, qp->pd, entry_sges(qp, index), entry->sge_count, access);
}

/* Gives the work request its PSNs. Returns false if it cannot start. */
static bool start(struct oche_qp *qp, oche_time now)
{
    struct send_entry *entry = send_at(qp, snd(qp)->send_next);

    if (OCHE_UNLIKELY(!local_memory_ok(qp, snd(qp)->send_next))) {
        /* The work request fails when its turn comes: once everything before it has completed. */
        qp->flags |= QP_LOCAL_ERROR;
        if (snd(qp)->send_head == snd(qp)->send_started)
            qp_requester_error(qp, snd(qp)->send_next, OCHE_STATUS_LOCAL_PROTECTION, now);
        return false;
    }
    uint32_t length = entry->opcode >= OCHE_WORK_COMPARE_SWAP ? 0 : entry->length;
    uint32_t packets = length <= qp->mtu ? 1 : (length - 1) / qp->mtu + 1;
    entry->first_psn = snd(qp)->tx.high;
    entry->last_psn = oche_psn_add(snd(qp)->tx.high, packets - 1);
    entry->ssn = snd(qp)->next_ssn;
    snd(qp)->next_ssn = oche_psn_add(snd(qp)->next_ssn, 1);
    entry->receive = snd(qp)->next_receive;
    snd(qp)->next_receive += takes_receive(entry->opcode);
    if (!takes_receive(entry->opcode)) /* the message has an SSN but needs no credit */
        snd(qp)->credit_limit = oche_psn_add(snd(qp)->credit_limit, 1);
    snd(qp)->reads_started += is_read_or_atomic(entry->opcode);
    deflection_starts(qp, entry);
    snd(qp)->send_started++;
    load_cursor(qp);
    if (snd(qp)->send_head == snd(qp)->send_next)
        requester_load_head(qp);
    if (OCHE_UNLIKELY(entry->opcode == OCHE_WORK_READ))
        congestion_read_begins(qp, now);
    return true;
}

/* ---- packets ---- */

/* Notes that packet `psn` asks for an ACK, and starts the ACK timer. */
static inline void expect_ack(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    snd(qp)->asked = oche_psn_add(psn, 1) & OCHE_PSN_MASK;
    if (oche_psn_diff(psn, snd(qp)->last_ack_request) > 0)
        snd(qp)->last_ack_request = psn;
    if (snd(qp)->ack_deadline != OCHE_NEVER || snd(qp)->ack_timeout == OCHE_NEVER)
        return;
    snd(qp)->ack_deadline = oche_time_add(now, ack_wait(qp));
    timers_want(qp, snd(qp)->ack_deadline);
}

/* Makes the ACK timer begin anew, if it runs. */
static OCHE_NOINLINE void restart_timer(struct oche_qp *qp, oche_time now)
{
    if (snd(qp)->ack_deadline == OCHE_NEVER)
        return;
    snd(qp)->ack_deadline = oche_time_add(now, ack_wait(qp));
    timers_want(qp, snd(qp)->ack_deadline); /* the wait may be shorter than before */
}

void requester_asked(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    expect_ack(qp, psn, now);
}

/*
 * Counts a packet that leaves again, by its cause: the reason why tx.next was last moved
 * (resent_for, enum oche_resent), or that recovery sends a last packet once more (resent_twice, for
 * this packet only).
 */
static OCHE_NOINLINE void count_again(struct oche_qp *qp, uint32_t payload_bytes)
{
    struct oche_nic *nic = qp->nic;

    qp->retransmitted_packets++;
    nic->stats.retransmitted_packets++;
    nic->stats.retransmitted_bytes += payload_bytes;
    nic->resent[snd(qp)->resent_twice ? OCHE_RESENT_TWICE : snd(qp)->resent_for]++;
    snd(qp)->resent_twice = 0;
}

static inline void trace_sent(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    bool again = packet->psn != snd(qp)->tx.high;

    if (OCHE_UNLIKELY(again))
        count_again(qp, packet->payload_bytes);
    qp_trace(qp, now, OCHE_TRACE_DATA_SENT, packet->psn,
             packet->payload_bytes | (uint64_t)packet->opcode << 32 | (uint64_t)again << 40);
}

/* Puts the payload into the packet if bytes are wanted. Returns false if a region is gone. */
static bool fill_payload(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_next);
    uint32_t bytes = packet->payload_bytes;

    if (bytes == 0 || packet->payload == NULL)
        return true;
    if (entry->flags & OCHE_WORK_INLINE) {
        memcpy(packet->payload,
               (const uint8_t *)send_extra_at(qp, snd(qp)->send_next) + snd(qp)->cursor_offset,
               bytes);
    } else if (!region_gather(qp, entry_sges(qp, snd(qp)->send_next), entry->sge_count,
                              snd(qp)->cursor_offset, packet->payload, bytes)) {
        qp_requester_error(qp, snd(qp)->send_next, OCHE_STATUS_LOCAL_PROTECTION, now);
        return false;
    }
    packet->ext |= OCHE_EXT_PAYLOAD;
    return true;
}

/*
 * Fills the headers that only a message's first or last packet has; with extensions, every packet.
 */
static void fill_headers(const struct oche_qp *qp, struct oche_packet *packet, bool last)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_next);
    uint32_t flags = oche_opcode(packet->opcode)->flags;

    if (flags & OCHE_OP_HAS(RETH)) {
        packet->reth.va = entry->remote_va + snd(qp)->cursor_offset;
        packet->reth.rkey = entry->rkey;
        packet->reth.dma_length = entry->length - snd(qp)->cursor_offset;
        packet->ext |= OCHE_EXT_RETH;
    }
    if (flags & OCHE_OP_HAS(PLACE)) {
        struct oche_place place = {.receive = entry->receive, .offset = snd(qp)->cursor_offset};
        oche_place_put(packet, &place);
    }
    if (flags & OCHE_OP_HAS(DETH))
        datagram_address(qp, packet);
    if (!last)
        return;
    if (flags & (OCHE_OP_HAS(IMM) | OCHE_OP_HAS(IETH))) {
        packet->imm = entry->imm;
        packet->ext |= OCHE_EXT_IMM;
    }
    if ((entry->flags & OCHE_WORK_SOLICITED) && (flags & OCHE_OP_ENDS_RECV))
        packet->bth |= OCHE_BTH_SOLICITED;
}

static bool transmit_data(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    uint32_t left = snd(qp)->cursor_length - snd(qp)->cursor_offset;
    uint32_t bytes = left < qp->mtu ? left : qp->mtu;
    bool first = snd(qp)->cursor_offset == 0, last = bytes == left;
    bool rc = qp->transport == OCHE_TRANSPORT_RC;
    uint8_t opcode = opcode_of(qp, snd(qp)->cursor_opcode, first, last);

    packet_begin(qp, packet, OCHE_LIKELY(rc) ? opcode : unreliable_opcode(qp, opcode),
                 snd(qp)->tx.next, bytes);
    packet->traffic_class = qp->traffic_class;
    packet_trailer(qp, packet);
    deflection_mark(qp, packet, last, now);
    if (OCHE_UNLIKELY(qp->spreads))
        spread_send(qp, packet, now);
    if (OCHE_UNLIKELY(first || last || opcode >= OCHE_SCHEME_OPCODES)) {
        fill_headers(qp, packet, last);
        if (first && rc)
            group_name(qp, packet);
    }
    if (qp->nic->port->read != NULL && !fill_payload(qp, packet, now))
        return false;
    if (rc) {
        snd(qp)->since_ack_request++;
        if (asks_for_ack(qp, bytes, last)) {
            packet->bth |= OCHE_BTH_ACKREQ;
            snd(qp)->since_ack_request = 0;
            expect_ack(qp, packet->psn, now);
            if ((qp->flags & QP_TAKES_RTT) && packet->psn == snd(qp)->tx.high)
                rtt_sent(qp, packet->psn, now);
            else if (OCHE_UNLIKELY(snd(qp)->resent_for == OCHE_RESENT_TRIMMED) &&
                     (qp->flags & QP_TAKES_RTT))
                rtt_set(qp, packet->psn, now);
        }
    }
    if (OCHE_UNLIKELY(snd(qp)->supplied) && packet->psn == snd(qp)->tx.high)
        pacer_supply(qp, bytes);
    trace_sent(qp, packet, now);
    snd(qp)->flight_bytes += bytes;
    snd(qp)->cursor_offset += bytes;
    snd(qp)->tx.next = oche_psn_add(snd(qp)->tx.next, 1);
    return true;
}

/* Returns the bytes of the PSNs [first, end) of a READ with `left` bytes left from `first` on. */
static uint32_t bytes_asked(const struct oche_qp *qp, uint32_t first, uint32_t end, uint32_t left)
{
    const uint64_t bytes = (uint64_t)((end - first) & OCHE_PSN_MASK) * qp->mtu;

    return bytes < left ? (uint32_t)bytes : left;
}

/* Asks for the next piece of the READ at the cursor. */
static void ask_piece(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    const uint32_t first = snd(qp)->tx.next, end = pieces_take(qp);
    const uint32_t bytes =
        bytes_asked(qp, first, end, snd(qp)->cursor_length - snd(qp)->cursor_offset);

    packet->reth.dma_length = bytes;
    expect_ack(qp, oche_psn_add(end, OCHE_PSN_MASK), now);
    if ((qp->flags & QP_TAKES_RTT) && first == snd(qp)->tx.high)
        rtt_sent(qp, first, now);
    trace_sent(qp, packet, now);
    snd(qp)->flight_bytes += bytes;
    snd(qp)->cursor_offset += bytes;
    snd(qp)->tx.next = end;
    pieces_left(qp, first, end, now);
}

static void transmit_read_or_atomic(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    const struct send_entry *entry = send_at(qp, snd(qp)->send_next);

    packet_begin(qp, packet, request_opcodes[entry->opcode][0][0], snd(qp)->tx.next, 0);
    packet->traffic_class = qp->traffic_class;
    deflection_mark(qp, packet, false, now);
    packet->bth |= OCHE_BTH_ACKREQ;
    packet->reth.rkey = entry->rkey;
    packet->ext = OCHE_EXT_RETH;
    if (entry->opcode == OCHE_WORK_READ) {
        packet->reth.va = entry->remote_va + snd(qp)->cursor_offset;
        packet->reth.dma_length = entry->length - snd(qp)->cursor_offset;
    } else {
        const struct atomic_operands *operands = send_extra_at(qp, snd(qp)->send_next);
        packet->reth.va = entry->remote_va;
        packet->atomic.swap_add = operands->swap_add;
        packet->atomic.compare = operands->compare;
        packet->ext |= OCHE_EXT_ATOMIC;
    }
    snd(qp)->since_ack_request = 0;
    if (OCHE_UNLIKELY(pieces_counts(qp, entry->opcode))) {
        ask_piece(qp, packet, now);
        return;
    }
    expect_ack(qp, entry->last_psn, now);
    trace_sent(qp, packet, now);
    snd(qp)->cursor_offset = snd(qp)->cursor_length;
    snd(qp)->tx.next = oche_psn_add(entry->last_psn, 1);
}

/* Asks again for READ data that is missing, without going back (pieces.h). */
static OCHE_NOINLINE void transmit_hole(struct oche_qp *qp, struct oche_packet *packet,
                                        oche_time now)
{
    const uint32_t first = snd(qp)->pieces->hole_first, end = snd(qp)->pieces->hole_end;
    const struct send_entry *entry = send_at(qp, requester_find(qp, first));
    const uint32_t offset = ((first - entry->first_psn) & OCHE_PSN_MASK) * qp->mtu;

    packet_begin(qp, packet, OCHE_RC_READ_REQUEST, first, 0);
    packet->traffic_class = qp->traffic_class;
    packet->bth |= OCHE_BTH_ACKREQ;
    packet->ext = OCHE_EXT_RETH;
    packet->reth.rkey = entry->rkey;
    packet->reth.va = entry->remote_va + offset;
    packet->reth.dma_length = bytes_asked(qp, first, end, entry->length - offset);
    snd(qp)->resent_for = OCHE_RESENT_RESPONSES;
    trace_sent(qp, packet, now);
    restart_timer(qp, now); /* the answer that was waited for comes later */
    pieces_asked(qp, now);
}

/*
 * Handles an unreliable packet that has left. Without ACKs, a message is done when its last bit has
 * left.
 */
static void sent_unreliably(struct oche_qp *qp, const struct oche_packet *packet, bool whole,
                            oche_time now)
{
    oche_time on_line = oche_time_of_bytes(packet->frame_bytes, qp->nic->config.line_rate_bps);

    snd(qp)->tx.una = snd(qp)->tx.next;
    snd(qp)->flight_bytes = 0;
    if (!whole)
        return;
    if (qp->transport == OCHE_TRANSPORT_UD)
        datagram_take_class(qp);
    completer_retire(qp, OCHE_STATUS_SUCCESS, now, now + on_line);
    if (snd(qp)->send_head == snd(qp)->send_tail)
        congestion_note_idle(qp, now);
}

const struct oche_bind *requester_bind(const struct oche_qp *qp, uint32_t index)
{
    return send_extra_at(qp, index);
}

/*
 * Executes a work request that sends no packet. One of these is a datagram that is too long, for
 * which nothing is done.
 */
static bool do_locally(struct oche_qp *qp, const struct send_entry *entry)
{
    if (entry->opcode == OCHE_WORK_LOCAL_INV)
        return window_invalidate(qp, entry->imm);
    if (entry->opcode == OCHE_WORK_BIND_MW)
        return window_bind(qp, requester_bind(qp, snd(qp)->send_next));
    return true;
}

/*
 * Executes a work request without packets. Such a work request takes no PSN, is executed when it
 * starts, and completes when everything before it has completed.
 */
static OCHE_NOINLINE void pass_over(struct oche_qp *qp, oche_time now)
{
    struct send_entry *entry = send_at(qp, snd(qp)->send_next);

    if (!do_locally(qp, entry)) {
        qp->flags |= QP_LOCAL_ERROR; /* the work request fails when its turn comes */
        if (snd(qp)->send_head == snd(qp)->send_started)
            qp_requester_error(qp, snd(qp)->send_next, OCHE_STATUS_WINDOW, now);
        return;
    }
    qp->flags &= (uint16_t)~QP_LOCAL_ERROR;
    entry->first_psn = snd(qp)->tx.high;
    entry->last_psn = oche_psn_add(snd(qp)->tx.high, OCHE_PSN_MASK);
    snd(qp)->send_next = ++snd(qp)->send_started;
    if (snd(qp)->send_head + 1 == snd(qp)->send_started)
        completer_retire(qp, OCHE_STATUS_SUCCESS, now, now);
    if (snd(qp)->send_head == snd(qp)->send_tail)
        congestion_note_idle(qp, now);
    if (qp->transport == OCHE_TRANSPORT_UD)
        datagram_take_class(qp);
    scheduler_kick(qp, now);
}

static inline bool has_packets(const struct oche_qp *qp, const struct send_entry *entry)
{
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD) && entry->length > qp->mtu)
        return false;
    return OCHE_LIKELY(!is_local(entry->opcode));
}

/*
 * Starts the next work request. Returns false if the work request cannot start, or if it has no
 * packets and has been executed.
 */
static bool start_next(struct oche_qp *qp, oche_time now)
{
    if (OCHE_LIKELY(has_packets(qp, send_at(qp, snd(qp)->send_next))))
        return start(qp, now);
    pass_over(qp, now);
    return false;
}

/* Moves the cursor to the next work request, since all packets of this one have left. */
static void next_work(struct oche_qp *qp)
{
    do
        snd(qp)->send_next++;
    while (snd(qp)->send_next != snd(qp)->send_started &&
           OCHE_UNLIKELY(is_local(send_at(qp, snd(qp)->send_next)->opcode)));
    if (snd(qp)->send_next != snd(qp)->send_started)
        load_cursor(qp);
}

/*
 * Tells recovery that a packet has left. Recovery may then move tx.next as it has planned. That is
 * no reaction to a loss, so it is not traced as going back and does not change when ACKs are asked
 * for.
 */
static OCHE_NOINLINE void note_sent(struct oche_qp *qp, const struct oche_packet *packet,
                                    oche_time now)
{
    bool last = oche_opcode_has(packet->opcode, OCHE_OP_LAST | OCHE_OP_PAYLOAD) &&
                !deflection_ends_once(qp, packet);
    uint32_t before = snd(qp)->tx.next;

    qp->nic->recovery->sent(&snd(qp)->tx, packet->psn, last, now);
    if (snd(qp)->tx.next == before)
        return;
    if (last && snd(qp)->tx.next == packet->psn) {
        /*
         * Recovery sends the last packet once more: steps the cursor back by one packet, without a
         * search through all outstanding work.
         */
        do
            snd(qp)->send_next--;
        while (is_local(send_at(qp, snd(qp)->send_next)->opcode));
        load_cursor(qp);
        snd(qp)->cursor_offset = snd(qp)->cursor_length - packet->payload_bytes;
        OCHE_MUST(snd(qp)->flight_bytes >= packet->payload_bytes);
        snd(qp)->flight_bytes -= packet->payload_bytes;
        snd(qp)->resent_twice = 1;
    } else {
        move_cursor(qp);
    }
    rtt_forget(qp);
}

bool requester_transmit(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    if (requester_wait(qp) != REQUESTER_GO)
        return false;
    if (OCHE_UNLIKELY(snd(qp)->asks) && pieces_ask_now(qp)) {
        transmit_hole(qp, packet, now);
        return true;
    }
    if (snd(qp)->send_next == snd(qp)->send_started && !start_next(qp, now))
        return false;
    if (OCHE_UNLIKELY(is_read_or_atomic(snd(qp)->cursor_opcode)))
        transmit_read_or_atomic(qp, packet, now);
    else if (!transmit_data(qp, packet, now))
        return false;
    if (OCHE_UNLIKELY(snd(qp)->timed_from_last_packet))
        restart_timer(qp, now);
    if (oche_psn_diff(snd(qp)->tx.next, snd(qp)->tx.high) > 0)
        snd(qp)->tx.high = snd(qp)->tx.next;
    bool whole = snd(qp)->cursor_offset >= snd(qp)->cursor_length;
    if (OCHE_UNLIKELY(whole)) {
        deflection_message_left(qp, send_at(qp, snd(qp)->send_next), now);
        next_work(qp);
    }
    if (OCHE_UNLIKELY(qp->transport != OCHE_TRANSPORT_RC))
        sent_unreliably(qp, packet, whole, now);
    else if (OCHE_UNLIKELY(qp->nic->recovery->sent != NULL))
        note_sent(qp, packet, now);
    if (OCHE_UNLIKELY(snd(qp)->tx.next != snd(qp)->tx.high) && snd(qp)->pieces != NULL)
        requester_pass_over(qp);
    return true;
}

uint32_t requester_next_frame_bytes(const struct oche_qp *qp)
{
    uint8_t work_opcode = snd(qp)->cursor_opcode;
    uint32_t left = snd(qp)->cursor_length - snd(qp)->cursor_offset;
    bool first = snd(qp)->cursor_offset == 0;

    if (snd(qp)->send_next == snd(qp)->send_started) {
        if (snd(qp)->send_started == snd(qp)->send_tail)
            return 0;
        work_opcode = send_at(qp, snd(qp)->send_next)->opcode;
        if (OCHE_UNLIKELY(is_local(work_opcode)))
            return 0;
        left = send_at(qp, snd(qp)->send_next)->length;
        first = true;
    }
    uint32_t bytes = left < qp->mtu ? left : qp->mtu;
    uint32_t trailer = qp->nic->trailer_bytes;
    if (is_read_or_atomic(work_opcode))
        left = bytes = trailer = 0;
    uint8_t opcode = opcode_of(qp, work_opcode, first, bytes == left);
    if (first && qp->transport != OCHE_TRANSPORT_RC)
        opcode = unreliable_opcode(qp, opcode);
    const struct oche_group *group = first ? group_of(qp, opcode) : NULL;
    uint32_t list = group == NULL ? 0 : OCHE_GROUP_BYTES + oche_list_bytes_of(group->count);
    return oche_frame_bytes_with(opcode, bytes, trailer + list, qp->nic->ipv6);
}
