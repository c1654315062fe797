/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a queue pair's receiving half: its memory, receives, flushing, questions. */
#include "core/qp/receive/receiver.h"

#include <errno.h>
#include <string.h>

#include "core/qp/objects/objects.h"
#include "core/qp/receive/placement.h"
#include "core/qp/scheduler.h"

#define MAX_RESPONSES 255

/* ---- memory ---- */

/* Offsets of the parts of the half from the queue pair's beginning. */
struct parts {
    size_t rx_state, recv_ring, responses, placed, end;
    uint32_t max_recv_sge, recv_depth, recv_entry_bytes, response_count, placed_count;
};

static struct parts parts_of(const struct oche_nic_config *nic, const struct oche_qp_config *config,
                             size_t from)
{
    struct parts parts = {.end = from, .max_recv_sge = config->max_recv_sge};

    if (parts.max_recv_sge == 0)
        parts.max_recv_sge = 1;
    parts.recv_depth = config->recv_depth;
    if (config->srq != NULL) {
        parts.max_recv_sge = srq_max_sge(config->srq);
        parts.recv_depth = 1;
    }
    parts.recv_entry_bytes =
        (uint32_t)(sizeof(struct recv_entry) + parts.max_recv_sge * sizeof(struct oche_sge));
    parts.response_count = power_of_two_from(config->responder_resources);
    parts.placed_count = placement_count(nic, config->transport);

    parts.rx_state = oche_place(&parts.end, nic->recovery->rx_state_bytes, 16);
    parts.recv_ring = oche_place(&parts.end, (size_t)parts.recv_depth * parts.recv_entry_bytes, 16);
    parts.responses = oche_place(&parts.end, parts.response_count * sizeof(struct response), 16);
    parts.placed = oche_place(&parts.end, parts.placed_count * sizeof(struct placed_packet), 16);
    return parts;
}

bool receiver_config_ok(const struct oche_qp_config *config)
{
    return config->responder_resources <= MAX_RESPONSES;
}

size_t receiver_place(const struct oche_nic *nic, const struct oche_qp_config *config, size_t from)
{
    return parts_of(&nic->config, config, from).end;
}

static void set_memory(struct oche_qp *qp, const struct oche_qp_config *config, size_t from)
{
    const struct parts parts = parts_of(&qp->nic->config, config, from);
    struct receiver *half = rcv(qp);
    uint8_t *base = (uint8_t *)qp;

    OCHE_MUST(parts.recv_entry_bytes <= UINT16_MAX && parts.response_count <= UINT16_MAX);
    half->rx.state = base + parts.rx_state;
    half->recv_ring = base + parts.recv_ring;
    half->recv_entry_bytes = (uint16_t)parts.recv_entry_bytes;
    half->recv_mask = parts.recv_depth - 1;
    half->max_recv_sge = (uint16_t)parts.max_recv_sge;
    half->responses = (void *)(base + parts.responses);
    half->response_count = half->max_responses = (uint16_t)parts.response_count;
    half->placed = parts.placed_count > 0 ? (void *)(base + parts.placed) : NULL;
    half->placed_mask = parts.placed_count - 1;
}

/* ---- making and unmaking ---- */

void receiver_create(struct oche_qp *qp, const struct oche_qp_config *config, size_t from)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    struct receiver *half = rcv(qp);

    set_memory(qp, config, from);
    if (config->end_to_end_credits && config->srq == NULL)
        qp->flags |= QP_TELLS_CREDITS;
    half->held = half->placed != NULL ? config->held : NULL;
    half->held_bytes = config->held_bytes;
    half->only_asked =
        recovery->only_asked != NULL && recovery->only_asked(qp->nic->config.recovery_params);
    half->places_at_once =
        half->held == NULL || (recovery->places_at_once != NULL &&
                               recovery->places_at_once(qp->nic->config.recovery_params));
    half->recv_pd = config->pd;
    half->srq = config->srq;
    if (half->srq != NULL) {
        srq_attach(half->srq);
        half->recv_pd = srq_pd(half->srq);
    }
    half->access = (uint16_t)config->access;
    half->recv_cq = config->recv_cq;
    half->rx.params = qp->nic->config.recovery_params;
}

void receiver_clear(struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    struct receiver *half = rcv(qp);

    half->rx.timer = OCHE_NEVER;
    half->operation = OCHE_OPERATION_NONE;
    half->msn = 0;
    half->message_bytes = 0;
    half->active_responses = 0;
    half->response_next = half->response_first = 0;
    memset(half->responses, 0, half->response_count * sizeof(struct response));
    half->recv_head = half->recv_tail = 0;
    half->recv_taken = false;
    half->held_wanted = 0;
    half->missing = half->restarted = half->nak_sent = (struct oche_psn_note){0};
    atomic_store_explicit(&qp->posted_recvs, 0, memory_order_relaxed);
    atomic_store_explicit(&half->retired_recvs, 0, memory_order_relaxed);
    if (recovery->rx_state_bytes > 0)
        memset(half->rx.state, 0, recovery->rx_state_bytes);
}

void receiver_destroy(struct oche_qp *qp)
{
    if (rcv(qp)->srq != NULL)
        srq_detach(rcv(qp)->srq);
    rcv(qp)->srq = NULL;
}

/* ---- connecting ---- */

void receiver_connect(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    const uint32_t psn = connection->recv_psn & OCHE_PSN_MASK;

    OCHE_MUST(rcv(qp)->operation == OCHE_OPERATION_NONE);
    placement_connect(qp);
    rcv(qp)->rx.epsn = rcv(qp)->rx.message_start = psn;
    rcv(qp)->last_ack_psn = oche_psn_add(psn, OCHE_PSN_MASK);
}

void receiver_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection)
{
    rcv(qp)->min_rnr_timer = connection->min_rnr_timer & (unsigned)OCHE_AETH_CODE_MASK;
}

struct oche_recovery_rx *receiver_extension(struct oche_qp *qp)
{
    return rcv(qp)->placed == NULL ? NULL : &rcv(qp)->rx;
}

void receiver_peer_restarts(struct oche_qp *qp)
{
    qp->nic->recovery->peer_restarts(&rcv(qp)->rx);
}

/* ---- receives ---- */

int oche_qp_post_recv(struct oche_qp *qp, const struct oche_recv_work *work)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_recvs, memory_order_relaxed);

    if (atomic_load_explicit(&qp->state, memory_order_acquire) == OCHE_QP_RESET)
        return EINVAL;
    if (work->sge_count > rcv(qp)->max_recv_sge || rcv(qp)->srq != NULL)
        return EINVAL;
    if (tail - atomic_load_explicit(&rcv(qp)->retired_recvs, memory_order_acquire) >
            rcv(qp)->recv_mask ||
        rcv(qp)->recv_mask == UINT32_MAX)
        return ENOMEM;
    recv_entry_fill(recv_at(qp, tail), work);
    atomic_store_explicit(&qp->posted_recvs, tail + 1, memory_order_release);
    scheduler_ring(qp);
    return 0;
}

bool receiver_take_shared(struct oche_qp *qp)
{
    struct receiver *half = rcv(qp);

    OCHE_MUST(half->recv_head == half->recv_tail);
    if (half->srq == NULL || !srq_take(half->srq, recv_at(qp, half->recv_head)))
        return false;
    half->recv_tail = half->recv_head + 1;
    atomic_store_explicit(&qp->posted_recvs, half->recv_tail, memory_order_release);
    srq_taken(half->srq);
    return true;
}

void receiver_retire_recv(struct oche_qp *qp, const struct oche_completion *completion)
{
    OCHE_MUST(rcv(qp)->recv_head != rcv(qp)->recv_tail);
    rcv(qp)->recv_taken = false;
    rcv(qp)->recv_head++;
    atomic_store_explicit(&rcv(qp)->retired_recvs, rcv(qp)->recv_head, memory_order_release);
    cq_push(qp, rcv(qp)->recv_cq, completion);
}

void receiver_fail_recv(struct oche_qp *qp, enum oche_status status, oche_time now)
{
    struct oche_completion completion = {
        .wr_id = recv_at(qp, rcv(qp)->recv_head)->wr_id,
        .time = now,
        .qpn = qp->qpn,
        .status = (uint8_t)status,
        .opcode = OCHE_DONE_RECV,
        .cause = (uint8_t)qp_receive_cause(qp, status),
    };

    qp->nic->stats.failed_receives++;
    qp->nic->stats.flushed_receives += status == OCHE_STATUS_FLUSHED;
    qp->nic->stats.short_receives += status == OCHE_STATUS_LOCAL_LENGTH;
    qp_trace(qp, now, OCHE_TRACE_COMPLETED, completion.wr_id, completion.status);
    receiver_retire_recv(qp, &completion);
}

/* ---- stopping ---- */

bool receiver_stop(struct oche_qp *qp)
{
    struct receiver *half = rcv(qp);

    for (uint32_t i = 0; i < half->response_count; i++)
        half->responses[i].active = false;
    half->active_responses = 0;
    qp->responding = false;
    half->rx.timer = OCHE_NEVER;
    return (qp->control & CONTROL_NAK) && half->nak_syndrome > OCHE_SYNDROME_NAK_SEQUENCE;
}

bool receiver_blame_oldest(struct oche_qp *qp)
{
    struct receiver *half = rcv(qp);

    if (receiver_shares(qp))
        return false;
    half->recv_taken =
        half->recv_head != atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    return half->recv_taken;
}

void receiver_flush(struct oche_qp *qp, enum oche_status status, oche_time now)
{
    struct receiver *half = rcv(qp);

    half->recv_tail = atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    while (half->recv_head != half->recv_tail) {
        bool guilty = status != OCHE_STATUS_SUCCESS && half->recv_taken;
        receiver_fail_recv(qp, guilty ? status : OCHE_STATUS_FLUSHED, now);
    }
    half->operation = OCHE_OPERATION_NONE;
}

/* ---- questions and settings ---- */

void oche_qp_set_access(struct oche_qp *qp, uint32_t access)
{
    rcv(qp)->access = (uint16_t)access;
}

bool oche_qp_set_responder_resources(struct oche_qp *qp, uint32_t resources)
{
    struct receiver *half = rcv(qp);
    uint32_t count = power_of_two_from(resources);

    if (count == half->response_count)
        return true;
    if (count > half->max_responses || half->response_next != 0)
        return false;
    half->response_count = (uint16_t)count;
    return true;
}

uint32_t oche_qp_recv_psn(const struct oche_qp *qp)
{
    return rcv(qp)->rx.epsn;
}

uint32_t oche_qp_arrived_bytes(const struct oche_qp *qp)
{
    bool none = rcv(qp)->operation == OCHE_OPERATION_NONE || (qp->flags & QP_WHOLE_MESSAGES);

    return none ? 0 : rcv(qp)->message_bytes;
}

uint64_t oche_qp_delivered_write(const struct oche_qp *qp, uint32_t *bytes)
{
    *bytes = rcv(qp)->message_bytes;
    return rcv(qp)->write_va;
}

bool receiver_is_between_messages(const struct oche_qp *qp)
{
    return rcv(qp)->operation == OCHE_OPERATION_NONE;
}

bool receiver_has_heard(const struct oche_qp *qp)
{
    return rcv(qp)->msn != 0 || rcv(qp)->message_bytes != 0;
}

bool receiver_has_worked(const struct oche_qp *qp)
{
    return rcv(qp)->recv_head != 0;
}

bool receiver_shares(const struct oche_qp *qp)
{
    return rcv(qp)->srq != NULL;
}

void receiver_losses(const struct oche_qp *qp, struct oche_qp_losses *losses)
{
    const struct receiver *half = rcv(qp);

    losses->epsn = half->rx.epsn;
    losses->missing = half->missing;
    losses->restarted = half->restarted;
    losses->nak_sent = half->nak_sent;
}

uint32_t receiver_room_wanted(const struct oche_qp *qp)
{
    return rcv(qp)->held_wanted * (uint32_t)qp->mtu;
}

void receiver_hold_at(struct oche_qp *qp, uint8_t *memory, uint32_t bytes)
{
    if (rcv(qp)->held != NULL && bytes >= rcv(qp)->held_bytes)
        placement_move(qp, memory, bytes);
}

oche_time receiver_timer_due(const struct oche_qp *qp)
{
    return rcv(qp)->rx.timer;
}

enum oche_fit receiver_fit(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const enum oche_qp_state state = qp_state(qp);

    if (state < OCHE_QP_RTR || state > OCHE_QP_SQE)
        return OCHE_FIT_OTHER;
    if (packet->psn == rcv(qp)->rx.epsn)
        return OCHE_FIT_EXPECTED;
    if ((qp->flags & QP_WHOLE_MESSAGES) && packet->psn == rcv(qp)->rx.message_start)
        return OCHE_FIT_EXPECTED; /* the peer begins the message again */
    return oche_psn_diff(packet->psn, rcv(qp)->rx.epsn) < 0 ? OCHE_FIT_REPEATED : OCHE_FIT_OTHER;
}
