/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs: creation in the caller's memory, posting of work, getters and setters. Posting
 * writes a ring entry, publishes it, and rings the NIC's doorbell; it takes no lock.
 */
#include <errno.h>
#include <string.h>

#include "core/cc/cc_headers.h"
#include "core/qp/pieces.h"
#include "core/qp/placement.h"

#define MAX_MTU       9000
#define MAX_RESPONSES 255
#define MAX_DEPTH     (UINT32_C(1) << 20)

/* ---- memory ---- */

/* Offsets of the parts of a queue pair from its beginning. */
struct layout {
    size_t cc_state, tx_state, rx_state, send_ring, send_extra, recv_ring, responses, rtt, placed,
        pieces;
    size_t send_groups;
    size_t datagrams, destinations;
    size_t end;
    uint32_t max_send_sge, max_recv_sge, recv_depth;
    uint32_t send_extra_bytes, recv_entry_bytes, response_count, placed_count;
};

static uint32_t power_of_two_from(uint32_t count)
{
    uint32_t power = count > 0 ? 1 : 0;

    while (power < count)
        power *= 2;
    return power;
}

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

static struct layout layout_of(const struct oche_nic *nic, const struct oche_qp_config *config)
{
    const struct oche_nic_config *c = &nic->config;
    struct layout l = {.end = sizeof(struct oche_qp)};
    uint32_t sge_bytes = sizeof(struct oche_sge);
    bool rtt = takes_rtt(c);

    l.max_send_sge = larger(config->max_send_sge, 1);
    l.max_recv_sge = larger(config->max_recv_sge, 1);
    l.recv_depth = config->recv_depth;
    if (config->srq != NULL) {
        l.max_recv_sge = srq_max_sge(config->srq);
        l.recv_depth = 1;
    }
    if (l.max_send_sge > 1)
        l.send_extra_bytes = l.max_send_sge * sge_bytes;
    if (config->windows)
        l.send_extra_bytes = larger(l.send_extra_bytes, sizeof(struct oche_bind));
    if (config->initiator_depth > 0)
        l.send_extra_bytes = larger(l.send_extra_bytes, sizeof(struct atomic_operands));
    l.send_extra_bytes = larger(l.send_extra_bytes, (config->max_inline_bytes + 15) & ~15u);
    l.recv_entry_bytes = (uint32_t)sizeof(struct recv_entry) + l.max_recv_sge * sge_bytes;
    l.response_count = power_of_two_from(config->responder_resources);
    l.placed_count = placement_count(c, config->transport);

    l.cc_state = oche_place(&l.end, c->cc->flow_state_bytes, OCHE_CACHE_LINE);
    l.tx_state = oche_place(&l.end, c->recovery->tx_state_bytes, 16);
    l.rx_state = oche_place(&l.end, c->recovery->rx_state_bytes, 16);
    l.send_ring =
        oche_place(&l.end, config->send_depth * sizeof(struct send_entry), OCHE_CACHE_LINE);
    l.send_extra = oche_place(&l.end, (size_t)config->send_depth * l.send_extra_bytes, 16);
    l.recv_ring = oche_place(&l.end, (size_t)l.recv_depth * l.recv_entry_bytes, 16);
    l.responses = oche_place(&l.end, l.response_count * sizeof(struct response), 16);
    l.rtt = oche_place(&l.end, rtt ? sizeof(struct rtt_log) : 0, 16);
    l.placed = oche_place(&l.end, l.placed_count * sizeof(struct placed_packet), 16);
    l.pieces = oche_place(&l.end, pieces_bytes(c, config), 16);
    l.send_groups = oche_place(&l.end, config->groups ? config->send_depth * sizeof(void *) : 0, 8);
    if (config->transport == OCHE_TRANSPORT_UD) {
        l.datagrams = oche_place(&l.end, sizeof(struct datagrams), 16);
        l.destinations =
            oche_place(&l.end, config->send_depth * sizeof(struct oche_destination), 16);
    }
    l.end = oche_lines(l.end);
    return l;
}

size_t oche_qp_bytes(const struct oche_nic *nic, const struct oche_qp_config *config)
{
    return layout_of(nic, config).end;
}

/* ---- making and unmaking ---- */

static bool is_depth(uint32_t depth)
{
    return depth <= MAX_DEPTH && (depth & (depth - 1)) == 0;
}

static bool config_ok(const struct oche_nic *nic, const struct oche_qp_config *config)
{
    const uint32_t first_qpn = config->transport == OCHE_TRANSPORT_UD ? 1 : 2;

    if (config->qpn < first_qpn || config->qpn > OCHE_PSN_MASK)
        return false;
    if (slots_taken(&nic->slots) == nic->slots.most ||
        map_find(&nic->qp_map, config->qpn) != NO_SLOT)
        return false;
    if (config->transport > OCHE_TRANSPORT_UD || config->pd == NOBODYS_PD)
        return false;
    if (config->traffic_class >= OCHE_CLASSES)
        return false;
    if (config->mtu_bytes < MIN_MTU || config->mtu_bytes > MAX_MTU)
        return false;
    if (!is_depth(config->send_depth) || !is_depth(config->recv_depth))
        return false;
    if (config->max_send_sge > OCHE_MAX_SGE || config->max_recv_sge > OCHE_MAX_SGE)
        return false;
    return config->max_inline_bytes <= OCHE_MAX_INLINE_BYTES &&
           config->responder_resources <= MAX_RESPONSES;
}

/*
 * Sets a queue pair to the state that it has in RESET. Does not touch members that follow from the
 * configuration.
 */
static void clear(struct oche_qp *qp)
{
    const struct oche_nic_config *config = &qp->nic->config;

    qp->control = 0;
    qp->flags &= QP_FIXED_FLAGS;
    if (config->acks_with_data)
        qp->flags |= QP_BEHIND_DATA;
    qp->queued = QUEUED_NOT;
    qp->send_next = qp->send_started = qp->send_tail = qp->send_head = 0;
    qp->cursor_offset = qp->cursor_length = qp->since_ack_request = 0;
    qp->flight_bytes = 0;
    qp->pace_base = qp->pace_due = 0;
    qp->pace_bytes = 0;
    qp->ack_deadline = qp->rnr_deadline = qp->order_deadline = qp->rx.timer = OCHE_NEVER;
    qp->order_tokens = 0;
    qp->order_leads = qp->order_followed = qp->order_released = qp->order_strays = false;
    qp->operation = OCHE_OPERATION_NONE;
    qp->msn = 0;
    qp->message_bytes = 0;
    qp->active_responses = 0;
    qp->responding = qp->learns = false;
    qp->response_next = qp->response_first = 0;
    memset(qp->responses, 0, qp->response_count * sizeof(struct response));
    qp->recv_head = qp->recv_tail = 0;
    qp->recv_taken = qp->established = qp->overrun = qp->cnp_psns = false;
    qp->reads_started = 0;
    qp->asks = qp->read_waits = false;
    qp->held_wanted = 0;
    qp->cause = OCHE_CAUSE_NONE;
    if (qp->pieces != NULL)
        pieces_reset(qp);
    qp->rtt_head = qp->rtt_tail = 0;
    qp->least_rtt = OCHE_NEVER;
    qp->peer_slot = NO_SLOT;
    qp->nak_taken = qp->missing = qp->restarted = qp->nak_sent = (struct oche_psn_note){0};
    atomic_store_explicit(&qp->posted_sends, 0, memory_order_relaxed);
    atomic_store_explicit(&qp->posted_recvs, 0, memory_order_relaxed);
    atomic_store_explicit(&qp->retired_sends, 0, memory_order_relaxed);
    atomic_store_explicit(&qp->retired_recvs, 0, memory_order_relaxed);
    atomic_store_explicit(&qp->rung, 0, memory_order_relaxed);
    if (config->recovery->tx_state_bytes > 0)
        memset(qp->tx.state, 0, config->recovery->tx_state_bytes);
    if (config->recovery->rx_state_bytes > 0)
        memset(qp->rx.state, 0, config->recovery->rx_state_bytes);
    qp->flow.rate_bps = config->line_rate_bps;
    qp->flow.extended = qp->flow.arriving = qp->flow.more = false;
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        qp->flow.timer[i] = OCHE_NEVER;
}

static void set_memory(struct oche_qp *qp, const struct layout *l)
{
    uint8_t *base = (uint8_t *)qp;
    bool rtt = takes_rtt(&qp->nic->config);

    qp->flow.state = base + l->cc_state;
    qp->tx.state = base + l->tx_state;
    qp->rx.state = base + l->rx_state;
    qp->send_ring = (void *)(base + l->send_ring);
    qp->send_extra = base + l->send_extra;
    qp->recv_ring = base + l->recv_ring;
    qp->responses = (void *)(base + l->responses);
    qp->rtt = rtt ? (void *)(base + l->rtt) : NULL;
    qp->send_extra_bytes = l->send_extra_bytes;
    qp->recv_entry_bytes = l->recv_entry_bytes;
    qp->response_count = l->response_count;
    qp->max_responses = (uint16_t)l->response_count;
    qp->placed = l->placed_count > 0 ? (void *)(base + l->placed) : NULL;
    qp->placed_mask = l->placed_count - 1;
    qp->max_send_sge = (uint16_t)l->max_send_sge;
    qp->max_recv_sge = (uint16_t)l->max_recv_sge;
    qp->recv_mask = l->recv_depth - 1;
    if (qp->transport == OCHE_TRANSPORT_UD) {
        qp->datagrams = (void *)(base + l->datagrams);
        qp->datagrams->destinations = (void *)(base + l->destinations);
    }
}

static uint16_t qp_fixed_flags(const struct oche_qp_config *config,
                               const struct oche_nic_config *nic)
{
    return (uint16_t)((takes_rtt(nic) ? QP_TAKES_RTT : 0) |
                      (config->end_to_end_credits && config->srq == NULL ? QP_TELLS_CREDITS : 0));
}

static void set_config(struct oche_qp *qp, const struct oche_qp_config *config)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    uint8_t middle =
        config->transport == OCHE_TRANSPORT_RC ? OCHE_RC_WRITE_MIDDLE : OCHE_UC_WRITE_MIDDLE;

    qp->qpn = config->qpn;
    qp->held = qp->placed != NULL ? config->held : NULL;
    qp->held_bytes = config->held_bytes;
    qp->traffic_class = config->traffic_class & (OCHE_CLASSES - 1U);
    qp->pkey = config->pkey != 0 ? config->pkey : OCHE_PKEY_DEFAULT;
    qp->pd = qp->recv_pd = config->pd;
    if (config->srq != NULL)
        srq_attach(qp, config->srq);
    qp->mtu = qp->max_mtu = (uint16_t)config->mtu_bytes;
    /*
     * A sender that does not react to marks must not ask for them (RFC 3168). With most schemes
     * datagrams are such a sender.
     */
    qp->data_ecn = nic->cc->needs & OCHE_CC_NEEDS_ECN && nic->cc->transports >> qp->transport & 1
                       ? OCHE_ECN_ECT0
                       : OCHE_ECN_NOT_ECT;
    qp->send_mask = config->send_depth - 1;
    qp->initiator_depth = config->initiator_depth;
    qp->access = config->access;
    if (qp->datagrams != NULL)
        qp->datagrams->qkey = config->qkey;
    qp->send_cq = config->send_cq;
    qp->recv_cq = config->recv_cq;
    qp->user = config->user;
    qp->windows = config->windows;
    qp->max_inline_bytes = (uint16_t)config->max_inline_bytes;
    qp->flags = qp_fixed_flags(config, nic);
    bool rc = config->transport == OCHE_TRANSPORT_RC;
    qp->shows = rc || (nic->cc->headers != NULL && nic->cc->headers->own_opcode != 0 &&
                       config->transport == OCHE_TRANSPORT_UC);
    qp->full_line_bytes =
        oche_frame_bytes_with(middle, qp->mtu, qp->nic->trailer_bytes, nic->ipv6) + nic->gap_bytes;
    qp->resends_singly = nic->habits.resend_one_verb_at_a_time;
    qp->own_timeouts = nic->habits.own_timeouts;
    qp->rate_limit_bps = UINT64_MAX;
    qp->pace_rate_bps = nic->line_rate_bps;
    qp->tx.params = qp->rx.params = nic->recovery_params;
    qp->random =
        oche_random_stream(nic->seed, "congestion control", (uint64_t)nic->address << 24 | qp->qpn);
    qp->flow.line_rate_bps = qp->flow.initial_rate_bps = nic->line_rate_bps;
    qp->flow.qpn = qp->qpn;
    qp->flow.mtu_bytes = qp->mtu;
    qp->flow.params = nic->cc_params;
    qp->flow.random = &qp->random;
    qp->flow.trace = nic->trace;
    qp->flow.nic_state = qp->nic->cc_nic.state;
}

struct oche_qp *oche_qp_create(struct oche_nic *nic, void *memory,
                               const struct oche_qp_config *config)
{
    struct oche_qp *qp = memory;
    bool fresh;

    if (!config_ok(nic, config))
        return NULL;
    struct layout l = layout_of(nic, config);
    memset(qp, 0, sizeof(*qp));
    qp->nic = nic;
    map_make_room(&nic->qp_map, slots_taken(&nic->slots));
    qp->slot = slots_take(&nic->slots, &fresh);
    if (fresh) {
        heap_init_slot(&nic->timers, qp->slot);
        heap_init_slot(&nic->pacing, qp->slot);
    }
    nic->qps[qp->slot] = qp;
    map_add(&nic->qp_map, config->qpn, qp->slot);
    qp->transport = config->transport & 3U;
    set_memory(qp, &l);
    if (config->groups)
        qp->send_groups = (void *)((uint8_t *)qp + l.send_groups);
    set_config(qp, config);
    if (pieces_bytes(&nic->config, config) > 0) {
        qp->pieces = (void *)((uint8_t *)qp + l.pieces);
        pieces_init(qp, config);
    }
    atomic_init(&qp->state, OCHE_QP_RESET);
    clear(qp);
    return qp;
}

void oche_qp_destroy(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;

    scheduler_unring(qp);
    scheduler_forget(qp);
    congestion_stop(qp);
    congestion_peer_release(qp);
    windows_forget(qp);
    srq_detach(qp);
    map_remove(&nic->qp_map, qp->qpn);
    nic->qps[qp->slot] = NULL;
    slots_give(&nic->slots, qp->slot);
}

void oche_qp_reset(struct oche_qp *qp)
{
    scheduler_unring(qp);
    scheduler_forget(qp);
    congestion_stop(qp);
    congestion_peer_release(qp);
    windows_forget(qp);
    qp->worked = oche_qp_has_worked(qp);
    clear(qp);
    qp->pace_rate_bps = qp->nic->config.line_rate_bps;
    qp->pace_full = 0;
    atomic_store_explicit(&qp->state, OCHE_QP_RESET, memory_order_release);
}

/* ---- posting ---- */

/* Returns the total length, or UINT64_MAX if the list is not acceptable. */
static uint64_t sge_length(const struct oche_sge *sge, uint32_t count, uint32_t max)
{
    uint64_t length = 0;

    if (count > max)
        return UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        length += sge[i].length;
    return length;
}

static bool group_ok(const struct oche_qp *qp, const struct oche_send_work *work)
{
    return qp->send_groups != NULL && qp->transport == OCHE_TRANSPORT_RC &&
           !is_read_or_atomic(work->opcode) && work->group->members != NULL &&
           work->group->count > 0 && work->group->count <= OCHE_GROUP_MOST &&
           work->group->id <= OCHE_PSN_MASK;
}

/* True if this work request, which binds or invalidates a window, is acceptable. */
static bool window_work_ok(const struct oche_qp *qp, const struct oche_send_work *work)
{
    if (work->opcode == OCHE_WORK_SEND_INV)
        return qp->transport == OCHE_TRANSPORT_RC;
    if (qp->transport == OCHE_TRANSPORT_UD || (work->flags & OCHE_WORK_INLINE))
        return false;
    return work->opcode == OCHE_WORK_LOCAL_INV ||
           (qp->windows && work->bind != NULL && work->bind->window != NULL);
}

/* Returns the length of a work request, or UINT64_MAX if it is not acceptable. */
static uint64_t send_length(const struct oche_qp *qp, const struct oche_send_work *work)
{
    bool atomic = work->opcode >= OCHE_WORK_COMPARE_SWAP;
    bool inlined = work->flags & OCHE_WORK_INLINE;
    uint64_t length;

    if (work->opcode >= OCHE_WORK_OPCODES)
        return UINT64_MAX;
    if (is_read_or_atomic(work->opcode) &&
        (qp->transport != OCHE_TRANSPORT_RC || qp->initiator_depth == 0 || inlined))
        return UINT64_MAX;
    if (OCHE_UNLIKELY(work->opcode >= OCHE_WORK_SEND_INV && work->opcode < OCHE_WORK_READ)) {
        if (!window_work_ok(qp, work))
            return UINT64_MAX;
        if (is_local(work->opcode))
            return 0;
    }
    length =
        inlined ? work->sge[0].length : sge_length(work->sge, work->sge_count, qp->max_send_sge);
    if (inlined && length > qp->max_inline_bytes)
        return UINT64_MAX;
    if (atomic && (work->sge_count != 1 || length != 8))
        return UINT64_MAX;
    if (work->group != NULL && !group_ok(qp, work))
        return UINT64_MAX;
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD) && !datagram_work_ok(work))
        return UINT64_MAX;
    if (length > OCHE_MAX_MESSAGE_BYTES || length > (uint64_t)qp->mtu * MAX_PSN_WINDOW)
        return UINT64_MAX;
    return length;
}

static void write_send_entry(struct oche_qp *qp, uint32_t index, const struct oche_send_work *work,
                             uint32_t length)
{
    struct send_entry *entry = send_at(qp, index);

    entry->wr_id = work->wr_id;
    entry->remote_va = work->remote_va;
    entry->rkey = work->rkey;
    entry->imm = work->imm;
    entry->length = length;
    entry->opcode = work->opcode;
    entry->flags = work->flags;
    entry->sge_count = work->flags & OCHE_WORK_INLINE ? 0 : work->sge_count;
    entry->sge = work->sge[0];
    if (OCHE_UNLIKELY(qp->send_groups != NULL))
        qp->send_groups[index & qp->send_mask] = work->group;
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD))
        datagram_note(qp, index, work->to);
    if (OCHE_UNLIKELY(is_local(work->opcode))) {
        entry->sge_count = 0;
        if (work->opcode == OCHE_WORK_BIND_MW) {
            *(struct oche_bind *)send_extra_at(qp, index) = *work->bind;
            window_bind_posted(work->bind->window);
        }
        return;
    }
    if (work->flags & OCHE_WORK_INLINE) {
        if (length > 0)
            memcpy(send_extra_at(qp, index), work->inline_data, length);
    } else if (work->opcode >= OCHE_WORK_COMPARE_SWAP) {
        *(struct atomic_operands *)send_extra_at(qp, index) =
            (struct atomic_operands){.swap_add = work->swap_add, .compare = work->compare};
    } else if (work->sge_count > 1) {
        memcpy(send_extra_at(qp, index), work->sge, work->sge_count * sizeof(work->sge[0]));
    }
}

int oche_qp_post_send(struct oche_qp *qp, const struct oche_send_work *work)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_sends, memory_order_relaxed);
    uint8_t state = atomic_load_explicit(&qp->state, memory_order_acquire);

    if (state < OCHE_QP_RTS)
        return EINVAL;
    uint64_t length = send_length(qp, work);
    if (length == UINT64_MAX)
        return EINVAL;
    if (tail - atomic_load_explicit(&qp->retired_sends, memory_order_acquire) > qp->send_mask ||
        qp->send_mask == UINT32_MAX)
        return ENOMEM;
    write_send_entry(qp, tail, work, (uint32_t)length);
    atomic_store_explicit(&qp->posted_sends, tail + 1, memory_order_release);
    scheduler_ring(qp);
    return 0;
}

int oche_qp_post_sends(struct oche_qp *qp, const struct oche_send_work *work, uint32_t count)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_sends, memory_order_relaxed);
    uint32_t used = tail - atomic_load_explicit(&qp->retired_sends, memory_order_acquire);

    if (atomic_load_explicit(&qp->state, memory_order_acquire) < OCHE_QP_RTS)
        return EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (send_length(qp, &work[i]) == UINT64_MAX)
            return EINVAL;
    if (qp->send_mask == UINT32_MAX || count > qp->send_mask + 1 - used)
        return ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        write_send_entry(qp, tail + i, &work[i], (uint32_t)send_length(qp, &work[i]));
    atomic_store_explicit(&qp->posted_sends, tail + count, memory_order_release);
    if (count > 0)
        scheduler_ring(qp);
    return 0;
}

int oche_qp_post_recv(struct oche_qp *qp, const struct oche_recv_work *work)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_recvs, memory_order_relaxed);

    if (atomic_load_explicit(&qp->state, memory_order_acquire) == OCHE_QP_RESET)
        return EINVAL;
    if (work->sge_count > qp->max_recv_sge || qp->srq != NULL)
        return EINVAL;
    if (tail - atomic_load_explicit(&qp->retired_recvs, memory_order_acquire) > qp->recv_mask ||
        qp->recv_mask == UINT32_MAX)
        return ENOMEM;
    recv_entry_fill(recv_at(qp, tail), work);
    atomic_store_explicit(&qp->posted_recvs, tail + 1, memory_order_release);
    scheduler_ring(qp);
    return 0;
}

/* ---- questions and settings ---- */

void oche_qp_set_rate_limit(struct oche_qp *qp, uint64_t bps, oche_time now)
{
    pacer_limit(qp, bps == 0 ? UINT64_MAX : bps, now);
}

void oche_qp_set_supply(struct oche_qp *qp, uint64_t bps, oche_time now)
{
    qp->supplied = bps != 0;
    qp->supply_bps = bps;
    qp->supply_due = now;
    if (qp->queued != QUEUED_NOT)
        scheduler_repace(qp, now);
}

void oche_qp_set_access(struct oche_qp *qp, uint32_t access)
{
    qp->access = access;
}

void oche_qp_set_qkey(struct oche_qp *qp, uint32_t qkey)
{
    if (qp->datagrams != NULL)
        qp->datagrams->qkey = qkey;
}

bool oche_qp_set_responder_resources(struct oche_qp *qp, uint32_t resources)
{
    uint32_t count = power_of_two_from(resources);

    if (count == qp->response_count)
        return true;
    if (count > qp->max_responses || qp->response_next != 0)
        return false;
    qp->response_count = count;
    return true;
}

void oche_qp_set_initiator_depth(struct oche_qp *qp, uint32_t depth)
{
    qp->initiator_depth = depth;
}

uint32_t oche_qp_number(const struct oche_qp *qp)
{
    return qp->qpn;
}

enum oche_qp_state oche_qp_state(const struct oche_qp *qp)
{
    return (enum oche_qp_state)atomic_load_explicit(&qp->state, memory_order_acquire);
}

bool oche_qp_has_worked(const struct oche_qp *qp)
{
    return qp->worked || qp->send_started != 0 || qp->recv_head != 0;
}

void qp_want_room(struct oche_qp *qp, uint16_t *wanted, uint32_t ahead)
{
    const uint32_t packets = power_of_two_from(ahead + 1);

    if (packets <= *wanted || packets > UINT16_MAX || qp->nic->port->wants_room == NULL)
        return;
    *wanted = (uint16_t)packets;
    qp->nic->port->wants_room(qp->nic->port_context, qp);
}

uint32_t oche_qp_room_wanted(const struct oche_qp *qp, enum oche_held_kind kind)
{
    if (kind == OCHE_HELD_REQUESTS)
        return qp->held_wanted * (uint32_t)qp->mtu;
    return qp->pieces != NULL ? qp->pieces->wanted * (uint32_t)qp->mtu : 0;
}

void oche_qp_hold_at(struct oche_qp *qp, enum oche_held_kind kind, uint8_t *memory, uint32_t bytes)
{
    if (kind == OCHE_HELD_REQUESTS && qp->held != NULL && bytes >= qp->held_bytes)
        placement_move(qp, memory, bytes);
    else if (kind == OCHE_HELD_READS && qp->pieces != NULL)
        pieces_move(qp, memory, bytes);
}

void *oche_qp_user(const struct oche_qp *qp)
{
    return qp->user;
}

uint64_t oche_qp_rate_bps(const struct oche_qp *qp)
{
    return qp->pace_rate_bps;
}

uint32_t oche_qp_send_psn(const struct oche_qp *qp)
{
    return qp->tx.high;
}

uint32_t oche_qp_recv_psn(const struct oche_qp *qp)
{
    return qp->rx.epsn;
}

bool oche_qp_drained(const struct oche_qp *qp)
{
    return qp->send_head == qp->send_started;
}

bool oche_qp_idle(const struct oche_qp *qp)
{
    uint32_t posted = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);

    return qp->send_head == posted && qp->control == 0 && qp->active_responses == 0;
}

uint64_t oche_qp_retransmitted_packets(const struct oche_qp *qp)
{
    return qp->retransmitted_packets;
}

void oche_qp_look(const struct oche_qp *qp, struct oche_qp_view *view)
{
    const bool connected = qp->transport != OCHE_TRANSPORT_UD && qp_state(qp) >= OCHE_QP_RTR;

    *view = (struct oche_qp_view){
        .qpn = qp->qpn,
        .remote_qpn = connected ? qp->remote_qpn : 0,
        .remote_address = connected ? qp->remote_address : 0,
        .transport = qp->transport,
        .state = (uint8_t)qp_state(qp),
        .rate_bps = qp->pace_rate_bps,
        .window_bytes = connected ? qp->flow.window_bytes : UINT64_MAX,
        .flight_bytes = qp->flight_bytes,
        .retransmitted_packets = qp->retransmitted_packets,
        .timeouts = qp->timeouts,
    };
}

uint32_t oche_qp_arrived_bytes(const struct oche_qp *qp)
{
    bool none = qp->operation == OCHE_OPERATION_NONE || (qp->flags & QP_WHOLE_MESSAGES);

    return none ? 0 : qp->message_bytes;
}

uint32_t oche_qp_read_bytes(const struct oche_qp *qp)
{
    const struct send_entry *head = send_at(qp, qp->send_head);

    if (qp->send_head == qp->send_started || head->opcode != OCHE_WORK_READ ||
        (qp->flags & QP_WHOLE_MESSAGES))
        return 0;
    return ((qp->tx.una - head->first_psn) & OCHE_PSN_MASK) * qp->mtu;
}

uint64_t oche_qp_timeouts(const struct oche_qp *qp)
{
    return qp->timeouts;
}

uint64_t oche_qp_delivered_write(const struct oche_qp *qp, uint32_t *bytes)
{
    *bytes = qp->message_bytes;
    return qp->write_va;
}

oche_time oche_qp_least_rtt(const struct oche_qp *qp)
{
    return qp->least_rtt;
}

void oche_qp_losses(const struct oche_qp *qp, struct oche_qp_losses *losses)
{
    *losses = (struct oche_qp_losses){
        .selective = qp->nic->recovery->sacked != NULL && (qp->flags & QP_EXTENDED),
        .una = qp->tx.una,
        .next = qp->tx.next,
        .high = qp->tx.high,
        .epsn = qp->rx.epsn,
        .nak_taken = qp->nak_taken,
        .missing = qp->missing,
        .restarted = qp->restarted,
        .nak_sent = qp->nak_sent,
    };
}
