/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs: creation in the caller's memory, getters and setters that concern both halves. */
#include <string.h>

#include "core/cc/cc_headers.h"
#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/objects/objects.h"
#include "core/qp/receive/receive.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/send.h"

#define MAX_MTU   9000
#define MAX_DEPTH (UINT32_C(1) << 20)

/* ---- memory ---- */

/* Offsets from a queue pair's beginning: congestion control's state, then the halves' memory. */
struct layout {
    size_t cc_state, sender, receiver, end;
};

static struct layout layout_of(const struct oche_nic *nic, const struct oche_qp_config *config)
{
    struct layout l = {.end = sizeof(struct oche_qp)};

    if (nic->late)
        l.end = oche_lines(l.end + sizeof(struct late));
    l.cc_state = oche_place(&l.end, nic->config.cc->flow_state_bytes, OCHE_CACHE_LINE);
    l.sender = l.end;
    l.receiver = sender_place(nic, config, l.sender);
    l.end = oche_lines(receiver_place(nic, config, l.receiver));
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
    return config->max_inline_bytes <= OCHE_MAX_INLINE_BYTES && receiver_config_ok(config);
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
    qp->responding = qp->learns = false;
    qp->established = qp->overrun = qp->cnp_psns = false;
    qp->cause = OCHE_CAUSE_NONE;
    qp->demanded = OCHE_STATUS_SUCCESS;
    qp->peer_slot = NO_SLOT;
    atomic_store_explicit(&qp->rung, 0, memory_order_relaxed);
    sender_clear(qp);
    receiver_clear(qp);
    late_clear(qp);
    qp->flow.rate_bps = config->line_rate_bps;
    qp->flow.extended = qp->flow.arriving = qp->flow.more = false;
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        qp->flow.timer[i] = OCHE_NEVER;
}

static void set_flow(struct oche_qp *qp)
{
    const struct oche_nic_config *nic = &qp->nic->config;

    qp->flow.line_rate_bps = qp->flow.initial_rate_bps = nic->line_rate_bps;
    qp->flow.qpn = qp->qpn;
    qp->flow.mtu_bytes = qp->mtu;
    qp->flow.params = nic->cc_params;
    qp->flow.random = &qp->random;
    qp->flow.trace = nic->trace;
    qp->flow.nic_state = qp->nic->cc_nic.state;
}

static void set_config(struct oche_qp *qp, const struct oche_qp_config *config)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    const bool rc = config->transport == OCHE_TRANSPORT_RC;

    qp->qpn = config->qpn;
    qp->transport = config->transport & 3U;
    qp->traffic_class = config->traffic_class & (OCHE_CLASSES - 1U);
    qp->pkey = config->pkey != 0 ? config->pkey : OCHE_PKEY_DEFAULT;
    qp->pd = config->pd;
    qp->mtu = qp->max_mtu = (uint16_t)config->mtu_bytes;
    qp->user = config->user;
    qp->windows = config->windows;
    qp->shows = rc || (nic->cc->headers != NULL && nic->cc->headers->own_opcode != 0 &&
                       config->transport == OCHE_TRANSPORT_UC);
    qp->random =
        oche_random_stream(nic->seed, "congestion control", (uint64_t)nic->address << 24 | qp->qpn);
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
    OCHE_MUST(fresh || nic->qps[qp->slot] == NULL);
    nic->qps[qp->slot] = qp;
    map_add(&nic->qp_map, config->qpn, qp->slot);
    set_config(qp, config);
    qp->flow.state = (uint8_t *)qp + l.cc_state;
    set_flow(qp);
    sender_create(qp, config, l.sender);
    receiver_create(qp, config, l.receiver);
    if (qp->datagrams != NULL)
        qp->datagrams->qkey = config->qkey;
    pacer_set_full_packet(qp);
    atomic_init(&qp->state, OCHE_QP_RESET);
    clear(qp);
    return qp;
}

void oche_qp_destroy(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;

    OCHE_MUST(nic->qps[qp->slot] == qp);
    scheduler_unring(qp);
    scheduler_forget(qp);
    congestion_stop(qp);
    congestion_peer_release(qp);
    windows_forget(qp);
    sender_forget_binds(qp);
    receiver_destroy(qp);
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
    sender_forget_binds(qp);
    qp->worked = oche_qp_has_worked(qp);
    clear(qp);
    sender_reset_rate(qp);
    atomic_store_explicit(&qp->state, OCHE_QP_RESET, memory_order_release);
}

/* ---- questions and settings ---- */

void oche_qp_set_qkey(struct oche_qp *qp, uint32_t qkey)
{
    if (qp->datagrams != NULL)
        qp->datagrams->qkey = qkey;
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
    return qp->worked || sender_has_worked(qp) || receiver_has_worked(qp);
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
    return kind == OCHE_HELD_REQUESTS ? receiver_room_wanted(qp) : sender_room_wanted(qp);
}

void oche_qp_hold_at(struct oche_qp *qp, enum oche_held_kind kind, uint8_t *memory, uint32_t bytes)
{
    if (kind == OCHE_HELD_REQUESTS)
        receiver_hold_at(qp, memory, bytes);
    else if (kind == OCHE_HELD_READS)
        sender_hold_at(qp, memory, bytes);
}

void *oche_qp_user(const struct oche_qp *qp)
{
    return qp->user;
}

bool oche_qp_idle(const struct oche_qp *qp)
{
    uint32_t posted = atomic_load_explicit(&qp->posted_sends, memory_order_acquire);

    return sender_oldest(qp) == posted && qp->control == 0 && !qp->responding;
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
        .rate_bps = oche_qp_rate_bps(qp),
        .window_bytes = connected ? qp->flow.window_bytes : UINT64_MAX,
        .flight_bytes = sender_flight_bytes(qp),
        .retransmitted_packets = qp->retransmitted_packets,
        .timeouts = oche_qp_timeouts(qp),
    };
}

void oche_qp_losses(const struct oche_qp *qp, struct oche_qp_losses *losses)
{
    *losses = (struct oche_qp_losses){
        .selective = qp->nic->recovery->sacked != NULL && (qp->flags & QP_EXTENDED),
    };
    sender_losses(qp, losses);
    receiver_losses(qp, losses);
}
