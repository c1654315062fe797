/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets that the responder sends. READ data leaves one packet per pull, in the data class and
 * at the queue pair's rate. Control packets are CNPs, ACKs, NAKs and results of atomics. They are
 * not queued: one bit for each kind notes that a packet must be sent, and the packet is built when
 * it leaves, with the newest PSN and MSN.
 *
 * Order at the queue pair: an AETH acknowledges everything before its PSN. So an ACK or a NAK waits
 * until all READ and atomic responses of earlier PSNs have left. While an ACK waits behind a READ,
 * an ACK for the PSNs before the READ may leave; the READ's responses acknowledge those PSNs too.
 * Order in the network: if an AETH overtook READ data there, the requester would see a loss.
 * InfiniBand prevents that with one service level for all packets of a queue pair. Here packets
 * with an AETH leave in the control class until the queue pair sends its first READ data, and in
 * the data's class from then on; with oche_nic_config.acks_with_data always in the data's class.
 * CNPs, congestion control's own packets and NACKs for trimmed packets, which acknowledge nothing,
 * always leave in the control class.
 */
#include "core/cc/cc_headers.h"
#include "core/qp/congestion.h"
#include "core/qp/objects/objects.h"
#include "core/qp/receive/receiver.h"
#include "core/qp/scheduler.h"
#include "core/qp/spread.h"
#include "core/qp/send/send.h"
#include "core/wire/cnp.h"

#define ANY_ACK (CONTROL_ACK | CONTROL_ACK_AGAIN)
#define AT_ONCE (CONTROL_CNP | CONTROL_OWN | CONTROL_TRIM) /* whatever else waits */

static struct response *response_at(const struct oche_qp *qp, uint32_t index)
{
    return &rcv(qp)->responses[index & (rcv(qp)->response_count - 1)];
}

/* ---- asking for control packets ---- */

void response_ask_ack(struct oche_qp *qp)
{
    qp->control |= CONTROL_ACK;
    scheduler_control(qp);
}

void response_ask_ack_again(struct oche_qp *qp)
{
    if (qp->control & CONTROL_ACK)
        qp->control |= CONTROL_ACK_AGAIN;
    response_ask_ack(qp);
}

void response_ask_nak(struct oche_qp *qp, uint8_t syndrome, uint32_t psn)
{
    qp->control |= CONTROL_NAK;
    rcv(qp)->nak_syndrome = syndrome;
    rcv(qp)->nak_psn = psn;
    scheduler_control(qp);
}

void response_trimmed(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    const uint32_t wanted = OCHE_OP_REQUEST | OCHE_OP_PAYLOAD;

    if (qp->transport != OCHE_TRANSPORT_RC || !oche_opcode_has(packet->opcode, wanted)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_OPCODE, packet, now);
        return;
    }
    if (!congestion_mark_counts(qp, oche_psn_diff(packet->psn, rcv(qp)->rx.epsn))) {
        nic_reject(qp->nic, qp, OCHE_REJECT_AHEAD, packet, now);
        return;
    }
    qp->nic->stats.trimmed_packets++;
    qp_trace(qp, now, OCHE_TRACE_OUT_OF_ORDER, packet->psn, rcv(qp)->rx.epsn);
    if (qp->nic->cc->trimmed == NULL)
        congestion_trimmed_arrived(qp, packet, now);
    if (recovery->trimmed == NULL ||
        !recovery->trimmed(&rcv(qp)->rx, packet->psn, (enum oche_trimmed)packet->aeth))
        return;
    qp->control |= CONTROL_TRIM;
    scheduler_control(qp);
}

void response_activate(struct oche_qp *qp, uint32_t index, oche_time now)
{
    struct response *response = response_at(qp, index);

    OCHE_MUST(rcv(qp)->response_next - index - 1 < rcv(qp)->response_count);
    if (!qp->responding || (int32_t)(index - rcv(qp)->response_first) < 0)
        rcv(qp)->response_first = index;
    if (!response->active) {
        response->active = true;
        rcv(qp)->active_responses++;
        qp->responding = true;
    }
    congestion_note_busy(qp, now);
    scheduler_control(qp);
    scheduler_kick(qp, now);
}

struct response *response_head(const struct oche_qp *qp)
{
    return !qp->responding ? NULL : response_at(qp, rcv(qp)->response_first);
}

static bool is_read(const struct response *response)
{
    return response->operation == OCHE_OPERATION_READ;
}

void response_finish(struct oche_qp *qp, struct response *response)
{
    OCHE_MUST(response->active && rcv(qp)->active_responses > 0);
    response->active = false;
    rcv(qp)->active_responses--;
    qp->responding = rcv(qp)->active_responses > 0;
    if (!qp->responding)
        return;
    while (!response_at(qp, rcv(qp)->response_first)->active) {
        rcv(qp)->response_first++;
        OCHE_MUST(rcv(qp)->response_first != rcv(qp)->response_next);
    }
}

bool response_data_waits(const struct oche_qp *qp)
{
    return OCHE_UNLIKELY(qp->responding) && is_read(response_head(qp));
}

/* ---- AETH ---- */

uint8_t response_credit_syndrome(const struct oche_qp *qp)
{
    if (!(qp->flags & QP_TELLS_CREDITS))
        return OCHE_SYNDROME_ACK;
    uint32_t posted = atomic_load_explicit(&qp->posted_recvs, memory_order_relaxed);
    return oche_credit_code(posted - rcv(qp)->recv_head - (rcv(qp)->recv_taken ? 1 : 0));
}

static void stamp(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    if (qp->nic->cc->stamp_ack != NULL)
        qp->nic->cc->stamp_ack(&qp->flow, now, packet);
}

/* ---- READ data ---- */

static uint32_t read_bytes(const struct oche_qp *qp, const struct response *response,
                           uint64_t *offset)
{
    *offset = (uint64_t)((response->next_psn - response->first_psn) & OCHE_PSN_MASK) * qp->mtu;
    uint64_t left = response->length - *offset;

    return left < qp->mtu ? (uint32_t)left : qp->mtu;
}

uint32_t response_next_frame_bytes(const struct oche_qp *qp)
{
    uint64_t offset;

    return oche_frame_bytes_with(OCHE_RC_READ_RESPONSE_ONLY,
                                 read_bytes(qp, response_head(qp), &offset), qp->nic->trailer_bytes,
                                 qp->nic->ipv6);
}

/*
 * Reads the payload from memory. Returns false if the region is gone; then the queue pair has
 * failed.
 */
static bool fill_payload(struct oche_qp *qp, const struct response *response,
                         struct oche_packet *packet, uint64_t offset, oche_time now)
{
    struct oche_nic *nic = qp->nic;
    uint64_t va = response->va + offset;

    if (nic->port->read == NULL || packet->payload_bytes == 0 || packet->payload == NULL)
        return true;
    const struct oche_region *region =
        region_check_remote(qp, response->rkey, va, packet->payload_bytes, OCHE_ACCESS_REMOTE_READ);
    if (region == NULL) {
        response_ask_nak(qp, OCHE_SYNDROME_NAK_REMOTE_OPERATION, response->next_psn);
        qp->cause = OCHE_CAUSE_RESPONSE_MEMORY;
        qp_responder_error(qp, OCHE_STATUS_LOCAL_PROTECTION, now);
        qp_tell(qp, OCHE_QP_EVENT_FATAL);
        return false;
    }
    nic->port->read(nic->port_context, region, va - region->va, packet->payload,
                    packet->payload_bytes);
    packet->ext |= OCHE_EXT_PAYLOAD;
    return true;
}

bool response_transmit(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    static const uint8_t opcodes[4] = {OCHE_RC_READ_RESPONSE_MIDDLE, OCHE_RC_READ_RESPONSE_FIRST,
                                       OCHE_RC_READ_RESPONSE_LAST, OCHE_RC_READ_RESPONSE_ONLY};
    struct response *head = response_head(qp);
    uint64_t offset;

    if (!response_data_waits(qp))
        return false;
    OCHE_MUST(head->active && oche_psn_diff(head->end_psn, head->next_psn) > 0);
    uint32_t psn = head->next_psn;
    uint32_t bytes = read_bytes(qp, head, &offset);
    bool first = !head->begun, last = oche_psn_add(psn, 1) == head->end_psn;
    bool again = oche_psn_diff(psn, head->high_psn) < 0;
    uint32_t msn = head->msn;
    packet_begin(qp, packet, opcodes[first | last << 1], psn, bytes);
    packet->traffic_class = qp->traffic_class;
    packet_trailer(qp, packet);
    if (!fill_payload(qp, head, packet, offset, now))
        return false;
    if (first || last)
        packet->aeth = oche_aeth(response_credit_syndrome(qp), msn);
    qp->flags |= QP_BEHIND_DATA;
    head->begun = true;
    head->next_psn = oche_psn_add(psn, 1);
    if (!again)
        head->high_psn = head->next_psn;
    if (oche_psn_diff(psn, rcv(qp)->last_ack_psn) > 0)
        rcv(qp)->last_ack_psn = psn;
    if (last) {
        response_finish(qp, head);
        scheduler_control(qp); /* control packets may have waited until this response had left */
        if (sender_is_done(qp))
            congestion_note_idle(qp, now);
    }
    qp->nic->stats.retransmitted_packets += again;
    qp->nic->stats.retransmitted_bytes += again ? bytes : 0;
    qp->retransmitted_packets += again;
    qp->nic->resent[OCHE_RESENT_ASKED] += again;
    qp_trace(qp, now, OCHE_TRACE_DATA_SENT, psn,
             bytes | (uint64_t)packet->opcode << 32 | (uint64_t)again << 40);
    stamp(qp, packet, now);
    return true;
}

/* ---- control ---- */

/* True if an ACK can leave for the packets that precede the next READ. */
static bool partial_ack(const struct oche_qp *qp, const struct response *head)
{
    return (qp->control & CONTROL_ACK) && !head->begun && head->next_psn == head->first_psn &&
           oche_psn_diff(head->first_psn, oche_psn_add(rcv(qp)->last_ack_psn, 1)) > 0;
}

bool response_control_waits(const struct oche_qp *qp)
{
    if (OCHE_UNLIKELY(qp->control & AT_ONCE))
        return true;
    if (OCHE_LIKELY(!qp->responding))
        return qp->control != 0;
    const struct response *head = response_head(qp);
    return !is_read(head) || partial_ack(qp, head);
}

uint8_t response_control_class(const struct oche_qp *qp)
{
    bool first = qp->control & AT_ONCE;
    bool behind = (qp->flags & QP_BEHIND_DATA) && !first;

    return OCHE_UNLIKELY(behind) ? qp->traffic_class : qp->nic->control_class;
}

static void send_cnp(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    qp->control &= (uint8_t)~CONTROL_CNP;
    packet_begin(qp, packet, OCHE_CNP, 0, 0);
    if (qp->transport == OCHE_TRANSPORT_RC)
        oche_cnp_put_psn(packet, rcv(qp)->rx.epsn);
    packet->bth = OCHE_BTH_BECN;
    packet->ecn = OCHE_ECN_NOT_ECT;
    qp->nic->stats.cnps_sent++;
    qp_trace(qp, now, OCHE_TRACE_CNP_SENT, 0, 0);
    stamp(qp, packet, now);
}

static void send_own(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    qp->control &= (uint8_t)~CONTROL_OWN;
    qp->nic->stats.cc_packets_sent++;
    /* an unreliable connection's PSNs tell nothing: its sender hears of none */
    packet_begin(qp, packet, qp->nic->cc->headers->own_opcode,
                 qp->transport == OCHE_TRANSPORT_RC ? rcv(qp)->rx.epsn : 0, 0);
    packet->ecn = OCHE_ECN_NOT_ECT;
    stamp(qp, packet, now);
}

/* Tells the peer of the next packet that a switch has trimmed. Returns false if there is none. */
static OCHE_NOINLINE bool send_trim_nack(struct oche_qp *qp, struct oche_packet *packet,
                                         oche_time now)
{
    enum oche_trimmed where;
    uint32_t psn;

    if (!qp->nic->recovery->next_trimmed(&rcv(qp)->rx, &psn, &where)) {
        qp->control &= (uint8_t)~CONTROL_TRIM;
        return false;
    }
    packet_begin(qp, packet, OCHE_RC_TRIM_NACK, psn, 0);
    oche_trim_put(packet, where);
    packet->ecn = OCHE_ECN_NOT_ECT;
    qp->nic->stats.trim_nacks_sent++;
    qp_trace(qp, now, OCHE_TRACE_ACK_SENT, psn, 0);
    stamp(qp, packet, now);
    return true;
}

/* Tells the peer of one packet that arrived twice. Another ACK follows if there were more. */
static OCHE_NOINLINE void report_duplicate(struct oche_qp *qp, struct oche_packet *packet)
{
    packet->bth_reserved |= OCHE_BTH_DUPLICATE;
    if (--rcv(qp)->duplicates > 0)
        qp->control |= CONTROL_ACK;
}

static void send_aeth(struct oche_qp *qp, struct oche_packet *packet, uint8_t opcode,
                      uint8_t syndrome, uint32_t psn, uint32_t msn, oche_time now)
{
    packet_begin(qp, packet, opcode, psn, 0);
    packet->aeth = oche_aeth(syndrome, msn);
    packet->ecn = OCHE_ECN_NOT_ECT;
    if (OCHE_UNLIKELY(rcv(qp)->duplicates > 0))
        report_duplicate(qp, packet);
    if (OCHE_UNLIKELY(qp->spreads))
        spread_answer(qp, packet);
    qp_trace(qp, now, OCHE_TRACE_ACK_SENT, psn, packet->aeth);
    stamp(qp, packet, now);
}

/* Adds a SACK to the NAK: which packets have arrived behind the gap. */
static void add_sack(struct oche_qp *qp, struct oche_packet *packet)
{
    struct oche_sack sack;

    if (qp->nic->recovery->sack(&rcv(qp)->rx, &sack))
        qp->control |= CONTROL_NAK; /* recovery wants another NAK */
    oche_sack_put(packet, &sack);
}

/* Returns the opcode of a plain ACK or NAK. */
static inline uint8_t aeth_opcode(const struct oche_qp *qp)
{
    const struct oche_cc_headers *headers = qp->nic->cc->headers;

    return OCHE_UNLIKELY(headers != NULL) && qp->flow.extended && headers->ack_opcode != 0
               ? headers->ack_opcode
               : OCHE_RC_ACK;
}

static void send_nak(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    struct oche_nic_stats *stats = &qp->nic->stats;
    bool rnr = oche_aeth_kind(rcv(qp)->nak_syndrome) == OCHE_AETH_RNR;
    bool sack = rcv(qp)->nak_syndrome == OCHE_SYNDROME_NAK_SEQUENCE && (qp->flags & QP_EXTENDED);

    OCHE_MUST(rcv(qp)->nak_psn <= OCHE_PSN_MASK);
    /* a NAK acknowledges all PSNs before its own */
    qp->control &= (uint8_t) ~(CONTROL_NAK | ANY_ACK);
    stats->rnr_naks_sent += rnr;
    stats->naks_sent += !rnr;
    if (rcv(qp)->nak_syndrome == OCHE_SYNDROME_NAK_SEQUENCE)
        qp_note(&rcv(qp)->nak_sent, rcv(qp)->nak_psn, now);
    if (rnr) /* the peer's wait begins only now, as the NAK may have waited behind READ data */
        rcv(qp)->rnr_silence =
            oche_time_add(now, oche_rnr_wait(oche_aeth_code(rcv(qp)->nak_syndrome)));
    rcv(qp)->last_ack_psn = oche_psn_add(rcv(qp)->nak_psn, OCHE_PSN_MASK);
    send_aeth(qp, packet, sack ? OCHE_RC_SACK : aeth_opcode(qp), rcv(qp)->nak_syndrome,
              rcv(qp)->nak_psn, rcv(qp)->msn, now);
    if (sack)
        add_sack(qp, packet);
}

static void send_ack(struct oche_qp *qp, struct oche_packet *packet, uint32_t psn, uint32_t msn,
                     oche_time now)
{
    qp->nic->stats.acks_sent++;
    rcv(qp)->last_ack_psn = psn;
    send_aeth(qp, packet, aeth_opcode(qp), response_credit_syndrome(qp), psn, msn, now);
}

static void send_atomic(struct oche_qp *qp, struct oche_packet *packet, struct response *head,
                        oche_time now)
{
    packet_begin(qp, packet, OCHE_RC_ATOMIC_ACK, head->first_psn, 0);
    packet->aeth = oche_aeth(response_credit_syndrome(qp), head->msn);
    packet->original = head->original;
    packet->ext = OCHE_EXT_ATOMIC;
    packet->ecn = OCHE_ECN_NOT_ECT;
    if (oche_psn_diff(head->first_psn, rcv(qp)->last_ack_psn) > 0)
        rcv(qp)->last_ack_psn = head->first_psn;
    qp->nic->stats.acks_sent++;
    qp_trace(qp, now, OCHE_TRACE_ACK_SENT, head->first_psn, packet->aeth);
    response_finish(qp, head);
    scheduler_kick(qp, now); /* READ data may have waited until this packet had left */
    if (sender_is_done(qp))
        congestion_note_idle(qp, now);
    stamp(qp, packet, now);
}

bool response_transmit_control(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    struct response *head = response_head(qp);

    if (OCHE_UNLIKELY(qp->control & CONTROL_TRIM) && send_trim_nack(qp, packet, now))
        return true;
    if (qp->control & CONTROL_CNP) {
        send_cnp(qp, packet, now);
    } else if (OCHE_UNLIKELY(qp->control & CONTROL_OWN)) {
        send_own(qp, packet, now);
    } else if (head != NULL && !is_read(head)) {
        send_atomic(qp, packet, head, now);
    } else if (head != NULL) {
        if (!partial_ack(qp, head))
            return false;
        send_ack(qp, packet, oche_psn_add(head->first_psn, OCHE_PSN_MASK),
                 oche_psn_add(head->msn, OCHE_PSN_MASK), now);
    } else if (qp->control & CONTROL_NAK) {
        send_nak(qp, packet, now);
    } else if (qp->control & CONTROL_ACK) {
        qp->control &=
            (uint8_t) ~(qp->control & CONTROL_ACK_AGAIN ? CONTROL_ACK_AGAIN : CONTROL_ACK);
        send_ack(qp, packet, oche_psn_add(rcv(qp)->rx.epsn, OCHE_PSN_MASK), rcv(qp)->msn, now);
    } else {
        return false;
    }
    return true;
}
