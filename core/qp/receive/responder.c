/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The responder: an arriving request goes through a chain of checks, in the order below. Each check
 * returns GO, or the verdict on the packet. A packet that passes all checks is executed and
 * counted. The rules are those of rocev2.md#duplicates: a duplicate is answered as its opcode
 * demands; recovery handles a gap; an error in the request is answered with the NAK code that names
 * the error, and ends the queue pair. An unreliable queue pair answers nothing; after an error of
 * any kind it drops the rest of the message.
 */
#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/objects/objects.h"
#include "core/qp/receive/placement.h"
#include "core/qp/spread.h"
#include "core/qp/timers.h"

enum verdict {
    GO,
    DROP,          /* without an answer */
    DUPLICATE,     /* the packet repeats a request that was executed */
    NOT_READY,     /* no receive is posted; answered by an RNR NAK */
    BAD_REQUEST,   /* NAK invalid request */
    BAD_ACCESS,    /* NAK remote access error */
    BAD_OPERATION, /* our own fault; answered by a NAK "remote operation error" */
    NO_START,      /* UC: the middle of a message without its start */
    VERDICTS
};

struct arrival {
    struct oche_qp *qp;
    struct oche_nic *nic;
    const struct oche_packet *packet;
    const struct oche_opcode_row *row;
    oche_time now;
    enum oche_status recv_status; /* the status of the receive if the verdict is bad */
    bool kept;                    /* the packet has come earlier, and was kept */
};

/* The checks in their order; each is a function check_NAME. */
#define RESPONDER_CHECKS(X) X(sequence) X(order) X(length) X(resources) X(access) X(room)

/* ---- the checks ---- */

static void abandon_message(struct oche_qp *qp)
{
    rcv(qp)->operation = OCHE_OPERATION_NONE;
    rcv(qp)->message_bytes = 0;
}

static enum verdict check_uc_sequence(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    bool first = a->row->flags & OCHE_OP_FIRST;

    if (a->packet->psn != rcv(qp)->rx.epsn || first) {
        if (rcv(qp)->operation != OCHE_OPERATION_NONE)
            abandon_message(qp);
        congestion_message_ends(qp, a->now);
        if (!first)
            return NO_START;
    }
    rcv(qp)->rx.epsn = a->packet->psn;
    return GO;
}

static enum verdict drop_out_of_order(struct arrival *a)
{
    a->nic->stats.out_of_order_packets++;
    qp_note(&rcv(a->qp)->missing, rcv(a->qp)->rx.epsn, a->now);
    qp_trace(a->qp, a->now, OCHE_TRACE_OUT_OF_ORDER, a->packet->psn, rcv(a->qp)->rx.epsn);
    return DROP;
}

/*
 * True for a packet that was on its way when an earlier packet was refused with an RNR NAK. Such a
 * packet is no sign of a loss, so recovery does not see it. The peer sends the refused packet again
 * when the time that the NAK names has passed, counted from when the NAK leaves. Packets that
 * arrive after that time are checked as usual, because the repeated packet may get lost.
 */
static bool held_back(const struct arrival *a)
{
    bool silent = a->now < rcv(a->qp)->rnr_silence || (a->qp->control & CONTROL_NAK);

    return silent && oche_psn_diff(a->packet->psn, rcv(a->qp)->rx.epsn) > 0;
}

/* If possible, keeps a packet that has come behind a gap until its turn comes. */
static void keep(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    switch (placement_keep(qp, a->packet, a->row)) {
    case PLACEMENT_KEPT:
        a->nic->recovery->placed(&rcv(qp)->rx, a->packet->psn);
        a->nic->stats.placed_packets++;
        qp_trace(qp, a->now, OCHE_TRACE_PLACED, a->packet->psn, a->packet->payload_bytes);
        if (a->packet->ext & OCHE_EXT_LIST)
            congestion_group(qp, a->packet, false, a->now);
        break;
    case PLACEMENT_NOT_NOW:
        break;
    case PLACEMENT_WRONG:
        nic_reject(a->nic, qp, OCHE_REJECT_PLACEMENT, a->packet, a->now);
        break;
    }
}

static void count_duplicate(struct arrival *a)
{
    a->nic->stats.duplicate_packets++;
    qp_trace(a->qp, a->now, OCHE_TRACE_DUPLICATE, a->packet->psn, a->packet->opcode);
}

/*
 * Begins the message again, because recovery demands it. The receive that it has taken stays taken.
 */
static void restart_message(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    if (rcv(qp)->operation == OCHE_OPERATION_NONE)
        return;
    qp_trace(qp, a->now, OCHE_TRACE_RESTARTED, rcv(qp)->rx.message_start, rcv(qp)->message_bytes);
    qp_note(&rcv(qp)->restarted, rcv(qp)->rx.epsn, a->now);
    abandon_message(qp);
    rcv(qp)->rx.epsn = rcv(qp)->rx.message_start;
}

/* Returns the verdict on a packet that is not the expected one. */
static OCHE_NOINLINE enum verdict judge_other(struct arrival *a, enum oche_verdict verdict,
                                              const struct oche_recovery_reply *reply)
{
    if (reply->send_ack)
        response_ask_ack(a->qp);
    if (OCHE_UNLIKELY(reply->report) && rcv(a->qp)->duplicates < MOST_DUPLICATES)
        rcv(a->qp)->duplicates++;
    if (verdict == OCHE_VERDICT_DUPLICATE)
        return DUPLICATE;
    if (verdict == OCHE_VERDICT_PLACED) {
        count_duplicate(a);
        return DROP;
    }
    a->nic->stats.gaps += qp_note_is_new(&rcv(a->qp)->missing, rcv(a->qp)->rx.epsn);
    drop_out_of_order(a);
    if (verdict == OCHE_VERDICT_PLACE)
        keep(a);
    if (reply->restart)
        restart_message(a);
    return DROP;
}

/* True for a packet so far ahead that the peer cannot have sent it: it does not know the PSNs. */
static bool is_too_far_ahead(const struct arrival *a)
{
    const uint32_t most = a->nic->config.most_ahead;

    return most > 0 && oche_psn_diff(a->packet->psn, rcv(a->qp)->rx.epsn) > (int32_t)most;
}

/* Checks that the packet is the expected one. Recovery decides what to do with any other packet. */
static inline enum verdict check_sequence(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    struct oche_recovery_reply reply = {0};

    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UC))
        return check_uc_sequence(a);
    if (OCHE_UNLIKELY(a->packet->psn != rcv(qp)->rx.epsn) && is_too_far_ahead(a)) {
        nic_reject(a->nic, qp, OCHE_REJECT_AHEAD, a->packet, a->now);
        return DROP;
    }
    if (OCHE_UNLIKELY(qp->flags & QP_WAS_RNR) && held_back(a))
        return drop_out_of_order(a);
    enum oche_verdict verdict = a->nic->recovery->arrived(&rcv(qp)->rx, a->packet, a->now, &reply);
    if (OCHE_UNLIKELY(reply.send_nak))
        late_nak(qp, reply.nak_psn, a->now);
    if (rcv(qp)->rx.timer != OCHE_NEVER)
        timers_want(qp, rcv(qp)->rx.timer);
    if (OCHE_LIKELY(verdict == OCHE_VERDICT_DELIVER))
        return GO;
    return judge_other(a, verdict, &reply);
}

/* If a message is arriving, checks that the packet continues it; else, that it begins one. */
static inline enum verdict check_order(struct arrival *a)
{
    uint8_t operation = rcv(a->qp)->operation;

    if (a->row->flags & OCHE_OP_FIRST)
        return operation == OCHE_OPERATION_NONE ? GO : BAD_REQUEST;
    return operation == a->row->operation ? GO : BAD_REQUEST;
}

/*
 * True if the place that the packet names for its payload is the one that follows from the packets
 * before it, or if it names no place.
 */
static bool place_ok(const struct arrival *a)
{
    const struct oche_packet *packet = a->packet;
    const struct oche_qp *qp = a->qp;
    uint32_t there = a->row->flags & OCHE_OP_FIRST ? 0 : rcv(qp)->message_bytes;

    if (a->row->flags & OCHE_OP_HAS(PLACE)) {
        struct oche_place place = oche_place_get(packet);
        return (packet->ext & OCHE_EXT_SCHEME) && place.receive == rcv(qp)->recv_head &&
               place.offset == there;
    }
    if (a->row->operation != OCHE_OPERATION_WRITE || (a->row->flags & OCHE_OP_FIRST))
        return true;
    return packet->reth.va == rcv(qp)->write_va + there &&
           packet->reth.rkey == rcv(qp)->write_rkey &&
           packet->reth.dma_length == rcv(qp)->write_length - there;
}

static enum verdict check_length_extended(struct arrival *a)
{
    const struct oche_packet *packet = a->packet;
    bool operands = a->row->flags & OCHE_OP_HAS(ATOMIC);
    bool reth = operands || (a->row->flags & OCHE_OP_HAS(RETH));

    if ((a->row->flags & OCHE_OP_HAS(IETH)) && !(packet->ext & OCHE_EXT_IMM))
        return BAD_REQUEST;
    if (reth && !(packet->ext & OCHE_EXT_RETH))
        return BAD_REQUEST;
    if (operands && (!(packet->ext & OCHE_EXT_ATOMIC) || packet->reth.va % 8 != 0))
        return BAD_REQUEST;
    if (reth && !operands &&
        (packet->reth.dma_length > OCHE_MAX_MESSAGE_BYTES ||
         packet->reth.dma_length > (uint64_t)a->qp->mtu * MAX_PSN_WINDOW))
        return BAD_REQUEST;
    return place_ok(a) ? GO : BAD_REQUEST;
}

/* Checks the payload against the MTU, the place in the message, and the RETH's length. */
static inline enum verdict check_length(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    uint32_t bytes = a->packet->payload_bytes;
    uint32_t flags = a->row->flags;

    if (OCHE_UNLIKELY(flags & (OCHE_OP_HAS(RETH) | OCHE_OP_HAS(ATOMIC) | OCHE_OP_HAS(IETH) |
                               OCHE_OP_HAS(PLACE)))) {
        enum verdict verdict = check_length_extended(a);
        if (verdict != GO)
            return verdict;
    }
    if (!(flags & OCHE_OP_PAYLOAD))
        return bytes == 0 ? GO : BAD_REQUEST;
    if (flags & OCHE_OP_LAST ? bytes > qp->mtu : bytes != qp->mtu)
        return BAD_REQUEST;
    if (a->row->operation != OCHE_OPERATION_WRITE)
        return GO;
    bool first = flags & OCHE_OP_FIRST;
    uint64_t announced = first ? a->packet->reth.dma_length : rcv(qp)->write_length;
    uint64_t there = bytes + (first ? 0 : (uint64_t)rcv(qp)->message_bytes);
    bool right = flags & OCHE_OP_LAST ? there == announced : there < announced;
    return right ? GO : BAD_REQUEST;
}

/* Checks that the receive that the packet needs is posted and may be written. */
static enum verdict check_receive(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    if (rcv(qp)->recv_taken)
        return GO; /* the receive is left from a message that was abandoned or begins again */
    rcv(qp)->recv_tail = atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    if (rcv(qp)->recv_head == rcv(qp)->recv_tail && !receiver_take_shared(qp))
        return NOT_READY;
    const struct recv_entry *entry = recv_at(qp, rcv(qp)->recv_head);
    if (!region_check_sges(qp->nic, rcv(qp)->recv_pd, entry->sge, entry->sge_count,
                           OCHE_ACCESS_LOCAL_WRITE)) {
        rcv(qp)->recv_taken = true;
        a->recv_status = OCHE_STATUS_LOCAL_PROTECTION;
        return BAD_OPERATION;
    }
    return GO;
}

static inline enum verdict check_resources(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    if (a->row->flags & OCHE_OP_TAKES_RECV)
        return check_receive(a);
    if (OCHE_LIKELY(a->row->flags & OCHE_OP_PAYLOAD))
        return GO;
    if (rcv(qp)->response_count == 0)
        return BAD_REQUEST;
    const struct response *oldest =
        &rcv(qp)->responses[rcv(qp)->response_next & (rcv(qp)->response_count - 1)];
    if (oldest->active && !oldest->repeated)
        return BAD_REQUEST; /* more READs and atomics are outstanding than was agreed */
    return GO;
}

/* The access right that each operation needs. */
static const uint8_t needs_access[] = {
    [OCHE_OPERATION_WRITE] = OCHE_ACCESS_REMOTE_WRITE,
    [OCHE_OPERATION_READ] = OCHE_ACCESS_REMOTE_READ,
    [OCHE_OPERATION_COMPARE_SWAP] = OCHE_ACCESS_REMOTE_ATOMIC,
    [OCHE_OPERATION_FETCH_ADD] = OCHE_ACCESS_REMOTE_ATOMIC,
};

/* Checks key, bounds and permission if the packet carries an address or a key. */
static inline enum verdict check_access(struct arrival *a)
{
    const struct oche_packet *packet = a->packet;

    if (OCHE_LIKELY(
            !(a->row->flags & (OCHE_OP_HAS(RETH) | OCHE_OP_HAS(ATOMIC) | OCHE_OP_HAS(IETH)))))
        return GO;
    if (OCHE_UNLIKELY(a->row->flags & OCHE_OP_HAS(IETH)))
        return window_may_invalidate(a->qp, packet->imm) ? GO : BAD_ACCESS;
    uint32_t access = needs_access[a->row->operation];
    bool atomic = a->row->flags & OCHE_OP_HAS(ATOMIC);
    uint64_t bytes = atomic ? 8 : region_bytes_to_check(a->qp, packet, a->row);
    if ((rcv(a->qp)->access & access) != access)
        return BAD_REQUEST;
    if (bytes == 0)
        return GO;
    const struct oche_region *region =
        region_check_remote(a->qp, packet->reth.rkey, packet->reth.va, bytes, access);
    if (region == NULL)
        return BAD_ACCESS;
    return atomic && !region_is_aligned(region, packet->reth.va) ? BAD_REQUEST : GO;
}

/* Checks that a SEND fits into the receive that it takes. */
static inline enum verdict check_room(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    if (OCHE_LIKELY(a->row->operation != OCHE_OPERATION_SEND))
        return GO;
    uint64_t there = a->packet->payload_bytes +
                     (a->row->flags & OCHE_OP_FIRST ? 0 : (uint64_t)rcv(qp)->message_bytes);
    if (there <= recv_at(qp, rcv(qp)->recv_head)->length)
        return GO;
    rcv(qp)->recv_taken = true;
    a->recv_status = OCHE_STATUS_LOCAL_LENGTH;
    return BAD_REQUEST;
}

/* ---- execution ---- */

/* As move_payload, but for use while packets with later PSNs are kept. */
static enum verdict move_payload_around(struct arrival *a)
{
    const struct oche_qp *qp = a->qp;
    bool send = rcv(qp)->operation == OCHE_OPERATION_SEND;
    const struct payload_target target = {
        .send = send,
        .bytes = a->packet->payload_bytes,
        .receive = rcv(qp)->recv_head,
        .offset = rcv(qp)->message_bytes,
        .rkey = rcv(qp)->write_rkey,
        .va = rcv(qp)->write_va + rcv(qp)->message_bytes,
    };

    if (placement_write(qp, a->packet->psn, &target, a->packet->payload))
        return GO;
    if (!send)
        return BAD_ACCESS;
    a->recv_status = OCHE_STATUS_LOCAL_PROTECTION;
    return BAD_OPERATION;
}

static inline bool has_bytes(const struct arrival *a)
{
    return a->nic->port->write != NULL && a->packet->payload_bytes > 0 &&
           (a->packet->ext & OCHE_EXT_PAYLOAD);
}

static enum verdict move_payload(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    const struct oche_packet *packet = a->packet;
    uint32_t bytes = packet->payload_bytes;

    if (OCHE_UNLIKELY(qp->flags & QP_HOLDS) && rcv(qp)->places_at_once)
        return move_payload_around(a);
    if (rcv(qp)->operation == OCHE_OPERATION_SEND) {
        const struct recv_entry *entry = recv_at(qp, rcv(qp)->recv_head);
        if (region_scatter(qp->nic, rcv(qp)->recv_pd, entry->sge, entry->sge_count,
                           rcv(qp)->message_bytes, packet->payload, bytes))
            return GO;
        a->recv_status = OCHE_STATUS_LOCAL_PROTECTION;
        return BAD_OPERATION;
    }
    uint64_t va = rcv(qp)->write_va + rcv(qp)->message_bytes;
    const struct oche_region *region =
        region_check_remote(qp, rcv(qp)->write_rkey, va, bytes, OCHE_ACCESS_REMOTE_WRITE);
    if (region == NULL)
        return BAD_ACCESS; /* the region was removed while the message was arriving */
    a->nic->port->write(a->nic->port_context, region, va - region->va, packet->payload, bytes);
    return GO;
}

static void begin_message(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    rcv(qp)->operation = a->row->operation & 15u;
    rcv(qp)->message_bytes = 0;
    if (a->row->operation == OCHE_OPERATION_WRITE) {
        rcv(qp)->write_va = a->packet->reth.va;
        rcv(qp)->write_rkey = a->packet->reth.rkey;
        rcv(qp)->write_length = a->packet->reth.dma_length;
    }
}

/* Completes the receive of a message that has arrived completely. */
static void complete_receive(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    bool send = a->row->operation == OCHE_OPERATION_SEND;
    bool imm = a->row->flags & OCHE_OP_HAS(IMM);
    bool invalidates = a->row->flags & OCHE_OP_HAS(IETH);
    struct oche_completion completion = {
        .wr_id = recv_at(qp, rcv(qp)->recv_head)->wr_id,
        .time = a->now,
        .qpn = qp->qpn,
        .bytes = rcv(qp)->message_bytes,
        .imm = imm || invalidates ? a->packet->imm : 0,
        .status = OCHE_STATUS_SUCCESS,
        .opcode = send ? OCHE_DONE_RECV : OCHE_DONE_RECV_WRITE_IMM,
        .has_imm = imm,
        .solicited = a->packet->bth & OCHE_BTH_SOLICITED,
    };

    a->nic->stats.delivered_sends += send;
    if (OCHE_UNLIKELY(invalidates)) {
        completion.opcode = OCHE_DONE_RECV_INV;
        window_invalidate(qp, completion.imm);
    }
    qp_trace(qp, a->now, OCHE_TRACE_COMPLETED, completion.wr_id, OCHE_STATUS_SUCCESS);
    receiver_retire_recv(qp, &completion);
}

static enum verdict execute_data(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    uint32_t bytes = a->packet->payload_bytes;
    bool last = a->row->flags & OCHE_OP_LAST;

    if (a->row->flags & OCHE_OP_TAKES_RECV)
        rcv(qp)->recv_taken = true;
    if (a->row->flags & OCHE_OP_FIRST)
        begin_message(a);
    enum verdict verdict = has_bytes(a) ? move_payload(a) : GO;
    if (verdict != GO)
        return verdict;
    if (a->row->flags & OCHE_OP_FIRST)
        congestion_message_begins(qp, a->packet, a->now);
    rcv(qp)->message_bytes += bytes;
    rcv(qp)->rx.epsn = oche_psn_add(rcv(qp)->rx.epsn, 1);
    qp_trace(qp, a->now, OCHE_TRACE_DELIVERED, a->packet->psn, bytes);
    if (OCHE_UNLIKELY(last)) {
        rcv(qp)->operation = OCHE_OPERATION_NONE;
        rcv(qp)->rx.message_start = rcv(qp)->rx.epsn;
        rcv(qp)->msn = oche_psn_add(rcv(qp)->msn, 1);
        a->nic->stats.delivered_messages++;
        qp_trace(qp, a->now, OCHE_TRACE_MESSAGE_DELIVERED, rcv(qp)->msn, rcv(qp)->message_bytes);
        congestion_message_ends(qp, a->now);
        if (a->row->flags & OCHE_OP_ENDS_RECV)
            complete_receive(a);
    }
    return GO;
}

static void execute_read_or_atomic(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    const struct oche_packet *packet = a->packet;
    uint32_t index = rcv(qp)->response_next++;
    struct response *response = &rcv(qp)->responses[index & (rcv(qp)->response_count - 1)];
    bool read = a->row->operation == OCHE_OPERATION_READ;
    uint32_t length = read ? packet->reth.dma_length : 0;
    uint32_t packets = length <= qp->mtu ? 1 : (length - 1) / qp->mtu + 1;

    count_request(&a->nic->stats, a->row->operation);
    /* A response that is being sent again has arrived: the peer sends a new request. */
    if (response->active)
        response_finish(qp, response);
    rcv(qp)->msn = oche_psn_add(rcv(qp)->msn, 1);
    *response = (struct response){
        .va = packet->reth.va,
        .rkey = packet->reth.rkey,
        .length = length,
        .first_psn = packet->psn,
        .last_psn = oche_psn_add(packet->psn, packets - 1),
        .next_psn = packet->psn,
        .end_psn = oche_psn_add(packet->psn, packets),
        .high_psn = packet->psn,
        .repeat_psn = packet->psn,
        .msn = rcv(qp)->msn,
        .operation = a->row->operation,
    };
    rcv(qp)->rx.epsn = rcv(qp)->rx.message_start = response->end_psn;
    if (!read && a->nic->port->atomic != NULL) {
        const struct oche_region *region = region_check_remote(
            qp, packet->reth.rkey, packet->reth.va, 8, OCHE_ACCESS_REMOTE_ATOMIC);
        response->original =
            a->nic->port->atomic(a->nic->port_context, region, packet->reth.va - region->va,
                                 a->row->operation == OCHE_OPERATION_COMPARE_SWAP,
                                 packet->atomic.compare, packet->atomic.swap_add);
    }
    response_activate(qp, index, a->now);
}

/* ---- duplicates ---- */

static struct response *find_response(struct oche_qp *qp, uint32_t psn, uint32_t *index)
{
    for (uint32_t back = 1; back <= rcv(qp)->response_count && back <= rcv(qp)->response_next;
         back++) {
        *index = rcv(qp)->response_next - back;
        struct response *response = &rcv(qp)->responses[*index & (rcv(qp)->response_count - 1)];
        if (response->operation != OCHE_OPERATION_NONE &&
            oche_psn_diff(psn, response->first_psn) >= 0 &&
            oche_psn_diff(psn, response->last_psn) <= 0)
            return response;
    }
    return NULL;
}

/* True if the peer has asked for the same too often: the READ makes no progress. */
static bool is_repeated_too_often(struct arrival *a, struct response *response)
{
    if (oche_psn_diff(a->packet->psn, response->repeat_psn) > 0) {
        response->repeat_psn = a->packet->psn;
        response->repeats = 0;
    }
    return a->nic->config.most_repeats > 0 && ++response->repeats > a->nic->config.most_repeats;
}

/*
 * Executes a repeated READ request, which may ask for all of the original READ or for the rest of
 * it. Of one that asks for more the part within the original is answered, if it ends with a full
 * packet (soft-RoCE drops it). Returns OCHE_REJECT_CAUSES, or why nothing is answered.
 */
static enum oche_reject repeat_read(struct arrival *a, struct response *response)
{
    const struct oche_packet *packet = a->packet;
    uint32_t offset = ((packet->psn - response->first_psn) & OCHE_PSN_MASK) * a->qp->mtu;
    uint32_t asked = packet->reth.dma_length, most = response->length - offset;
    uint32_t length = asked < most ? asked : most;

    if (!(packet->ext & OCHE_EXT_RETH) || packet->reth.rkey != response->rkey ||
        packet->reth.va != response->va + offset ||
        (length < asked && (length == 0 || length % a->qp->mtu != 0)))
        return OCHE_REJECT_DUPLICATE_GONE;
    if (is_repeated_too_often(a, response))
        return OCHE_REJECT_REPEATS;
    uint32_t packets = length <= a->qp->mtu ? 1 : (length - 1) / a->qp->mtu + 1;
    response->next_psn = packet->psn;
    response->end_psn = oche_psn_add(packet->psn, packets);
    response->begun = false;
    return OCHE_REJECT_CAUSES;
}

/* Executes a repeated READ, or repeats an atomic's result. Returns as repeat_read does. */
static enum oche_reject repeat(struct arrival *a, struct response *response)
{
    if (response == NULL || response->operation != a->row->operation)
        return OCHE_REJECT_DUPLICATE_GONE;
    if (response->operation == OCHE_OPERATION_READ)
        return repeat_read(a, response);
    return a->packet->psn == response->first_psn && a->packet->reth.va == response->va
               ? OCHE_REJECT_CAUSES
               : OCHE_REJECT_DUPLICATE_GONE;
}

static void answer_duplicate(struct arrival *a)
{
    struct oche_qp *qp = a->qp;
    uint32_t index;

    count_duplicate(a);
    if (a->row->flags & OCHE_OP_PAYLOAD) {
        if (a->packet->bth & OCHE_BTH_ACKREQ)
            response_ask_ack_again(qp);
        return;
    }
    struct response *response = find_response(qp, a->packet->psn, &index);
    enum oche_reject wrong = repeat(a, response);
    if (wrong != OCHE_REJECT_CAUSES) {
        nic_reject(a->nic, qp, wrong, a->packet, a->now);
        return;
    }
    response->repeated = true;
    response_activate(qp, index, a->now);
}

/* ---- verdicts ---- */

/* Counts and reports payload whose delivery is final. */
static inline void deliver(struct arrival *a)
{
    const struct oche_nic_port *port = a->nic->port;
    struct oche_qp *qp = a->qp;
    bool last = a->row->flags & OCHE_OP_LAST;
    uint32_t bytes = a->packet->payload_bytes;

    if (OCHE_UNLIKELY(qp->flags & QP_WHOLE_MESSAGES)) {
        if (!last)
            return; /* recovery may take back an incomplete message */
        bytes = rcv(qp)->message_bytes;
    }
    a->nic->stats.delivered_bytes += bytes;
    if (port->delivered != NULL)
        port->delivered(a->nic->port_context, qp, bytes, last, a->now);
}

static void recovery_accepted(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    a->nic->recovery->accepted(&rcv(qp)->rx, a->packet, a->now);
    if (rcv(qp)->rx.timer != OCHE_NEVER)
        timers_want(qp, rcv(qp)->rx.timer);
}

/* True for a packet that was answered when it came. The end of a message is answered once more. */
static bool was_answered(const struct arrival *a)
{
    return a->kept && rcv(a->qp)->only_asked && !(a->row->flags & OCHE_OP_LAST);
}

static void accept_packet(struct arrival *a)
{
    struct oche_qp *qp = a->qp;

    qp->flags &= (uint16_t)~QP_WAS_RNR;
    if (qp->transport == OCHE_TRANSPORT_RC) {
        /* the packet for which the NAK would ask has arrived */
        qp->control &= (uint8_t)~CONTROL_NAK;
        if (a->nic->recovery->accepted != NULL)
            recovery_accepted(a);
        if ((a->packet->bth & OCHE_BTH_ACKREQ) && (a->row->flags & OCHE_OP_PAYLOAD) &&
            OCHE_LIKELY(!was_answered(a)))
            response_ask_ack(qp);
    }
    if (a->row->flags & OCHE_OP_PAYLOAD)
        deliver(a);
}

/* For each bad verdict: the counter, the syndrome sent to the peer, and the status on our side. */
static const struct {
    uint8_t cause, syndrome, status;
} bad_verdicts[VERDICTS] = {
    [NOT_READY] = {OCHE_REJECT_NOT_READY, OCHE_SYNDROME_RNR, 0},
    [BAD_REQUEST] = {OCHE_REJECT_INVALID_REQUEST, OCHE_SYNDROME_NAK_INVALID_REQUEST,
                     OCHE_STATUS_REMOTE_INVALID_REQUEST},
    [BAD_ACCESS] = {OCHE_REJECT_ACCESS, OCHE_SYNDROME_NAK_REMOTE_ACCESS, OCHE_STATUS_REMOTE_ACCESS},
    [BAD_OPERATION] = {OCHE_REJECT_OPERATION, OCHE_SYNDROME_NAK_REMOTE_OPERATION,
                       OCHE_STATUS_LOCAL_QP_OPERATION},
    [NO_START] = {OCHE_REJECT_SEQUENCE, 0, 0},
};

/*
 * UC: drops the rest of the message. The message's receive stays posted, for the next message, with
 * two exceptions: a receive from a shared queue that is too short fails (IBTA 9.9.3, class E), and
 * a receive that is itself invalid puts the queue pair into the error state (class A).
 */
static void refuse_unreliable(struct arrival *a, enum verdict verdict)
{
    struct oche_qp *qp = a->qp;

    if (verdict == BAD_OPERATION) {
        qp_responder_error(qp, a->recv_status, a->now);
        return;
    }
    abandon_message(qp);
    congestion_message_ends(qp, a->now);
    if (verdict != NO_START)
        rcv(qp)->rx.epsn = oche_psn_add(a->packet->psn, 1);
    if (rcv(qp)->srq != NULL && a->recv_status != OCHE_STATUS_SUCCESS)
        receiver_fail_recv(qp, a->recv_status, a->now);
}

static void refuse(struct arrival *a, enum verdict verdict)
{
    struct oche_qp *qp = a->qp;

    nic_reject(a->nic, qp, bad_verdicts[verdict].cause, a->packet, a->now);
    if (verdict == BAD_ACCESS)
        count_request(&a->nic->stats, a->row->operation);
    if (qp->transport == OCHE_TRANSPORT_UC) {
        refuse_unreliable(a, verdict);
    } else if (verdict == NOT_READY) {
        qp->flags |= QP_WAS_RNR;
        rcv(qp)->rnr_silence = oche_time_add(a->now, oche_rnr_wait(rcv(qp)->min_rnr_timer));
        response_ask_nak(qp, OCHE_SYNDROME_RNR | rcv(qp)->min_rnr_timer, rcv(qp)->rx.epsn);
    } else {
        const bool own = a->recv_status != OCHE_STATUS_SUCCESS;
        enum oche_status status = own ? a->recv_status : bad_verdicts[verdict].status;
        response_ask_nak(qp, bad_verdicts[verdict].syndrome, rcv(qp)->rx.epsn);
        qp_responder_error(qp, status, a->now);
    }
}

static inline enum verdict run_checks(struct arrival *a)
{
    enum verdict verdict;

#define X(name)                                                                                    \
    verdict = check_##name(a);                                                                     \
    if (OCHE_UNLIKELY(verdict != GO))                                                              \
        return verdict;
    RESPONDER_CHECKS(X)
#undef X
    if (OCHE_LIKELY(a->row->flags & OCHE_OP_PAYLOAD))
        return execute_data(a);
    execute_read_or_atomic(a);
    return GO;
}

/*
 * Called when a packet was accepted and later packets are kept, either directly behind it or behind
 * a later gap. If the next packet is kept, fills `packet` with it and returns true, so that it is
 * executed as if it arrived now. Otherwise asks for an ACK or, if a gap is known, for a NAK, which
 * acknowledges the same packets; if recovery says so, only if an ACK is due.
 */
static OCHE_NOINLINE bool next_kept(struct arrival *a, struct oche_packet *packet)
{
    struct oche_qp *qp = a->qp;

    if (a->nic->recovery->holds(&rcv(qp)->rx, rcv(qp)->rx.epsn)) {
        placement_recall(qp, rcv(qp)->rx.epsn, packet);
        a->packet = packet;
        a->row = oche_opcode(packet->opcode);
        a->kept = true;
        return true;
    }
    placement_passed(qp);
    if (rcv(qp)->only_asked && !(qp->control & CONTROL_ACK))
        return false;
    if (qp->flags & QP_HOLDS)
        late_nak(qp, rcv(qp)->rx.epsn, a->now);
    else
        response_ask_ack(qp);
    return false;
}

void responder_receive(struct oche_qp *qp, const struct oche_packet *packet,
                       const struct oche_opcode_row *row, oche_time now)
{
    struct oche_nic *nic = qp->nic;
    struct arrival a = {.qp = qp, .nic = nic, .packet = packet, .row = row, .now = now};
    struct oche_packet kept;
    enum verdict verdict;

    qp_heard(qp, packet, packet->psn == rcv(qp)->rx.epsn);
    nic->stats.data_packets_received++;
    nic->stats.data_bytes_received += packet->payload_bytes;
    bool marked = packet->ecn == OCHE_ECN_CE;
    if (OCHE_UNLIKELY(marked))
        nic->stats.ce_received++;
    qp_trace(qp, now, OCHE_TRACE_DATA_ARRIVED, packet->psn,
             packet->payload_bytes | (uint64_t)packet->opcode << 32 | (uint64_t)packet->ecn << 40);
    if (OCHE_LIKELY(!marked) ||
        congestion_mark_counts(qp, oche_psn_diff(packet->psn, rcv(qp)->rx.epsn)))
        congestion_arrived(qp, packet, now);
    if (OCHE_UNLIKELY(qp->spreads) && (row->flags & OCHE_OP_PAYLOAD) &&
        congestion_mark_counts(qp, oche_psn_diff(packet->psn, rcv(qp)->rx.epsn)))
        spread_arrived(qp, packet);
    do {
        verdict = run_checks(&a);
        if (OCHE_LIKELY(verdict == GO))
            accept_packet(&a);
    } while (OCHE_UNLIKELY(qp->flags & QP_HOLDS) && verdict == GO && next_kept(&a, &kept));
    if (OCHE_LIKELY(verdict == GO))
        return;
    if (verdict == DUPLICATE)
        answer_duplicate(&a);
    else if (verdict != DROP)
        refuse(&a, verdict);
}

void responder_timer(struct oche_qp *qp, oche_time now)
{
    struct oche_recovery_reply reply = {0};

    if (rcv(qp)->rx.timer > now)
        return;
    rcv(qp)->rx.timer = OCHE_NEVER;
    if (qp->nic->recovery->rx_timer == NULL)
        return;
    if ((qp->flags & QP_WAS_RNR) && now < rcv(qp)->rnr_silence) {
        rcv(qp)->rx.timer = rcv(qp)->rnr_silence; /* the peer waits, and ignores NAKs until then */
        return;
    }
    qp->nic->recovery->rx_timer(&rcv(qp)->rx, now, &reply);
    if (reply.send_nak)
        late_nak(qp, reply.nak_psn, now);
}
