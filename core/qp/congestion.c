/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The glue between a queue pair and its congestion-control scheme: calls the hooks and, after each,
 * acts on the scheme's decisions (rate, window, timers, CNP). It also holds the scheme's state for
 * each peer.
 */
#include "core/qp/congestion.h"

#include <string.h>

#include "core/cc/cc_counting.h"
#include "core/cc/cc_headers.h"
#include "core/cc/cc_messages.h"
#include "core/qp/late.h"
#include "core/qp/receive/receive.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/losses.h"
#include "core/qp/send/pieces.h"
#include "core/qp/timers.h"
#include "core/wire/cnp.h"

/* ---- state by peer ---- */

uint32_t congestion_peer_of(const struct oche_qp *qp)
{
    const uint32_t bits = qp->nic->config.peer_qpn_bits;

    return bits == 0 ? qp->remote_address
                     : qp->remote_address | qp->remote_qpn >> (24 - bits) << 24;
}

bool congestion_peer_take(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;
    size_t bytes = nic->peer_state_stride;
    uint32_t slot;
    bool fresh;

    if (bytes == 0)
        return true;
    OCHE_MUST(qp->peer_slot == NO_SLOT);
    slot = map_find(&nic->peer_map, qp->flow.peer_address);
    if (slot == NO_SLOT) {
        map_make_room(&nic->peer_map, slots_taken(&nic->peer_slots));
        slot = slots_take(&nic->peer_slots, &fresh);
        map_add(&nic->peer_map, qp->flow.peer_address, slot);
        nic->peers[slot] = (struct peer){.address = qp->flow.peer_address};
        memset(nic->peer_states + slot * nic->peer_state_stride, 0, bytes);
    }
    nic->peers[slot].users++;
    qp->peer_slot = slot;
    qp->flow.peer_state = nic->peer_states + slot * nic->peer_state_stride;
    return true;
}

void *congestion_peer_state(const struct oche_cc_nic *cc, uint32_t address)
{
    const struct oche_nic *nic = OCHE_CONTAINER(cc, const struct oche_nic, cc_nic);
    uint32_t slot = map_find(&nic->peer_map, address);

    return slot == NO_SLOT ? NULL : nic->peer_states + slot * nic->peer_state_stride;
}

void congestion_peer_release(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;
    uint32_t slot = qp->peer_slot;

    qp->peer_slot = NO_SLOT;
    qp->flow.peer_state = NULL;
    if (slot == NO_SLOT)
        return;
    OCHE_MUST(nic->peers[slot].users > 0);
    if (--nic->peers[slot].users > 0)
        return;
    map_remove(&nic->peer_map, nic->peers[slot].address);
    slots_give(&nic->peer_slots, slot);
}

/* ---- decisions ---- */

/*
 * Carries out what a hook has asked for on behalf of any queue pair, and arms the scheme's timer of
 * the NIC.
 */
static OCHE_NOINLINE void attend(struct oche_nic *nic, oche_time now)
{
    struct oche_cc_nic *cc = &nic->cc_nic;

    nic->cc_touched = false;
    OCHE_MUST(cc->wanting_count <= nic->config.max_qps);
    for (uint32_t i = 0; i < cc->wanting_count; i++) {
        struct oche_cc_flow *flow = cc->wanting[i];
        struct oche_qp *qp = OCHE_CONTAINER(flow, struct oche_qp, flow);
        uint8_t wants = flow->wants;

        OCHE_MUST(qp->nic == nic);
        flow->wants = 0;
        if ((wants & OCHE_CC_WANTS_OWN) && flow->extended) {
            qp->control |= CONTROL_OWN;
            scheduler_control(qp);
        }
        pacer_update_rate(qp, now);
        for (unsigned k = 0; k < OCHE_CC_TIMERS; k++)
            if (flow->timer[k] != OCHE_NEVER)
                timers_want(qp, flow->timer[k]);
    }
    cc->wanting_count = 0;
    if (cc->timer == OCHE_NEVER)
        heap_remove(&nic->timers, nic->config.max_qps);
    else
        heap_set(&nic->timers, nic->config.max_qps, cc->timer, 0);
}

void congestion_nic_timer(struct oche_nic *nic, oche_time now)
{
    heap_remove(&nic->timers, nic->config.max_qps);
    nic->cc_nic.timer = OCHE_NEVER;
    nic->cc->nic->timer(&nic->cc_nic, now);
    /* a timer that is set to now is moved 1 ps on, so that the caller's loop ends */
    if (nic->cc_nic.timer <= now)
        nic->cc_nic.timer = now + 1;
    attend(nic, now);
}

void oche_nic_elsewhere(struct oche_nic *nic, const struct oche_cc_elsewhere *elsewhere,
                        oche_time now)
{
    nic->cc->counting->elsewhere(&nic->cc_nic, now, elsewhere);
    if (nic->cc_touched)
        attend(nic, now);
}

/* Forgets what the scheme has asked for a queue pair that goes away. */
static void forget_wants(struct oche_qp *qp)
{
    struct oche_cc_nic *cc = &qp->nic->cc_nic;
    uint32_t i = 0;

    if (qp->flow.wants == 0)
        return;
    while (cc->wanting[i] != &qp->flow) {
        i++;
        OCHE_MUST(i < cc->wanting_count);
    }
    cc->wanting[i] = cc->wanting[--cc->wanting_count];
    qp->flow.wants = 0;
}

void congestion_apply(struct oche_qp *qp, oche_time now)
{
    const struct oche_cc_flow *flow = &qp->flow;
    oche_time timer = oche_time_min(flow->timer[0], oche_time_min(flow->timer[1], flow->timer[2]));

    if (OCHE_UNLIKELY(flow->rate_bps < snd(qp)->pace_rate_bps ||
                      flow->rate_bps > snd(qp)->pace_rate_bps))
        pacer_update_rate(qp, now);
    if (OCHE_UNLIKELY(timer != OCHE_NEVER))
        timers_want(qp, timer);
    if (OCHE_UNLIKELY(qp->nic->cc_touched))
        attend(qp->nic, now);
}

static void act_on_reply(struct oche_qp *qp, const struct oche_cc_reply *reply, oche_time now)
{
    if (OCHE_LIKELY(!reply->send_cnp && !reply->ack_now))
        return;
    if (reply->send_cnp && OCHE_UNLIKELY(qp->nic->late))
        late_cnp(qp, now);
    else if (reply->send_cnp)
        qp->control |= CONTROL_CNP;
    if (reply->ack_now && qp->transport == OCHE_TRANSPORT_RC)
        response_ask_ack(qp);
    scheduler_control(qp);
}

/* ---- hooks ---- */

void congestion_start(struct oche_qp *qp, oche_time now)
{
    const struct oche_cc_scheme *cc = qp->nic->cc;

    if (cc->flow_state_bytes > 0)
        memset(qp->flow.state, 0, cc->flow_state_bytes);
    qp->flow.rate_bps = qp->flow.initial_rate_bps;
    qp->flow.window_bytes = UINT64_MAX;
    qp->flow.catch_up_packets = 0;
    qp->flow.burst = qp->flow.names_groups = qp->flow.more = qp->flow.mark_waits = false;
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        qp->flow.timer[i] = OCHE_NEVER;
    if (cc->transports >> qp->transport & 1) {
        cc->start(&qp->flow, now);
        qp->flags |= QP_CC_STARTED;
    }
    OCHE_MUST(qp->flow.rate_bps > 0 && qp->flow.rate_bps <= qp->flow.line_rate_bps);
    pacer_update_rate(qp, now); /* needed even if only the rate limit has changed */
    congestion_apply(qp, now);
}

void congestion_stop(struct oche_qp *qp)
{
    if (qp->nic->cc->stop != NULL && (qp->flags & QP_CC_STARTED))
        qp->nic->cc->stop(&qp->flow);
    qp->flags &= (uint16_t)~QP_CC_STARTED;
    qp->flow.arriving = false;
    forget_wants(qp);
    if (OCHE_UNLIKELY(qp->nic->cc_touched) && qp->nic->cc_nic.timer != OCHE_NEVER)
        heap_set(&qp->nic->timers, qp->nic->config.max_qps, qp->nic->cc_nic.timer, 0);
}

/* ---- messages ---- */

static void tell_message(struct oche_qp *qp, oche_time now, bool begins)
{
    const struct oche_cc_messages *messages = qp->nic->cc->messages;

    if (begins)
        messages->begins(&qp->flow, now);
    else
        messages->ends(&qp->flow, now);
    congestion_apply(qp, now);
}

void congestion_group(struct oche_qp *qp, const struct oche_packet *packet, bool begins,
                      oche_time now)
{
    const struct oche_cc_messages *messages = qp->nic->cc->messages;

    if (messages == NULL || messages->group == NULL)
        return;
    messages->group(&qp->flow, now, packet, begins);
    congestion_apply(qp, now);
}

void congestion_message_begins(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    if (OCHE_LIKELY(qp->nic->cc->messages == NULL) || qp->flow.arriving)
        return; /* the scheme knows of the message, which recovery has begun again */
    if (OCHE_UNLIKELY(!(qp->flags & QP_CC_STARTED)))
        return;
    qp->flow.arriving = true;
    tell_message(qp, now, true);
    if (OCHE_UNLIKELY(packet->ext & OCHE_EXT_LIST))
        congestion_group(qp, packet, true, now);
}

void congestion_message_ends(struct oche_qp *qp, oche_time now)
{
    if (OCHE_LIKELY(!qp->flow.arriving))
        return;
    qp->flow.arriving = false;
    tell_message(qp, now, false);
}

void congestion_read_begins(struct oche_qp *qp, oche_time now)
{
    if (qp->nic->cc->messages != NULL)
        tell_message(qp, now, true);
}

void congestion_read_ends(struct oche_qp *qp, oche_time now)
{
    if (qp->nic->cc->messages != NULL && (qp->flags & QP_CC_STARTED))
        tell_message(qp, now, false);
}

void congestion_own(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    const struct oche_cc_headers *headers = qp->nic->cc->headers;

    qp->nic->stats.cc_packets_received++;
    if (headers == NULL || packet->opcode != headers->own_opcode ||
        !(packet->ext & OCHE_EXT_SCHEME))
        return;
    headers->own(&qp->flow, now, packet);
    congestion_apply(qp, now);
}

bool congestion_cnp(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    if (qp->nic->cc->cnp == NULL || !(qp->flags & QP_CC_STARTED))
        return false;
    qp->nic->cc->cnp(&qp->flow, now, packet);
    congestion_apply(qp, now);
    return true;
}

void congestion_arrived(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    struct oche_cc_reply reply = {0};

    if (qp->nic->cc->arrived == NULL || OCHE_UNLIKELY(!(qp->flags & QP_CC_STARTED)))
        return;
    qp->nic->cc->arrived(&qp->flow, now, packet, &reply);
    act_on_reply(qp, &reply, now);
    congestion_apply(qp, now);
}

void congestion_trimmed_arrived(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    struct oche_packet marked = *packet;

    marked.kind = OCHE_PACKET_ROCE;
    marked.ecn = OCHE_ECN_CE;
    congestion_arrived(qp, &marked, now);
}

static void tell_acked(struct oche_qp *qp, const struct oche_packet *packet, bool marked,
                       uint64_t acked_bytes, uint64_t slack_bytes, oche_time rtt, oche_time now)
{
    struct oche_cc_ack ack = {
        .packet = packet,
        .acked_bytes = acked_bytes,
        .flight_bytes = qp->nic->cc->counts_sacks ? losses_in_flight(qp) : pieces_flight(qp),
        .slack_bytes = slack_bytes,
        .rtt = rtt,
        .ecn_echo = marked,
    };

    qp->nic->cc->acked(&qp->flow, now, &ack);
    congestion_apply(qp, now);
}

void congestion_acked(struct oche_qp *qp, const struct oche_packet *packet, uint64_t acked_bytes,
                      oche_time rtt, oche_time now)
{
    tell_acked(qp, packet, packet->bth & OCHE_BTH_BECN, acked_bytes, 0, rtt, now);
}

void congestion_read_acked(struct oche_qp *qp, const struct oche_packet *packet,
                           uint64_t acked_bytes, oche_time rtt, oche_time now)
{
    /* the data itself carries the mark to the queue pair that has the window */
    tell_acked(qp, packet, packet->ecn == OCHE_ECN_CE, acked_bytes, pieces_slack_bytes(qp), rtt,
               now);
}

/* After an ACK timeout: the congestion control hears a CNP if the adapter has that habit. */
static void slow_restart(struct oche_qp *qp, oche_time now)
{
    const struct oche_nic_habits *habits = qp->nic->config.habits;
    struct oche_packet cnp = {.when = now};

    if (habits == NULL || !habits->slow_restart)
        return;
    oche_cnp_fill(&cnp, qp->qpn, 0, false);
    qp->nic->stats.slow_restarts += congestion_cnp(qp, &cnp, now);
}

void congestion_loss(struct oche_qp *qp, enum oche_cc_loss kind, oche_time now)
{
    if (kind == OCHE_CC_LOSS_TIMEOUT)
        slow_restart(qp, now);
    if (qp->nic->cc->loss == NULL)
        return;
    qp->nic->cc->loss(&qp->flow, now, kind);
    congestion_apply(qp, now);
}

void congestion_trimmed(struct oche_qp *qp, enum oche_trimmed where, bool is_new, oche_time now)
{
    if (qp->nic->cc->trimmed == NULL) {
        if (is_new)
            congestion_loss(qp, OCHE_CC_LOSS_NAK, now);
        return;
    }
    qp->nic->cc->trimmed(&qp->flow, now, where, losses_outstanding(qp));
    congestion_apply(qp, now);
}

void congestion_undo(struct oche_qp *qp, enum oche_cc_loss kind, oche_time now)
{
    if (qp->nic->cc->undo == NULL || !(qp->flags & QP_CC_STARTED))
        return;
    qp->nic->cc->undo(&qp->flow, now, kind);
    congestion_apply(qp, now);
}

void congestion_timers(struct oche_qp *qp, oche_time now)
{
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++) {
        struct oche_cc_reply reply = {0};
        if (qp->flow.timer[i] > now)
            continue;
        qp->flow.timer[i] = OCHE_NEVER;
        if (qp->nic->cc->timer == NULL)
            continue;
        qp->nic->cc->timer(&qp->flow, now, i, &reply);
        act_on_reply(qp, &reply, now);
        congestion_apply(qp, now);
    }
    scheduler_kick(qp, now); /* the window may have opened */
}

void congestion_note_idle(struct oche_qp *qp, oche_time now)
{
    if ((qp->flags & QP_IDLE_TOLD) || qp->responding)
        return;
    qp->flags |= QP_IDLE_TOLD;
    qp->flow.more = false;
    if (qp->nic->cc->idle == NULL || !(qp->flags & QP_CC_STARTED))
        return;
    qp->nic->cc->idle(&qp->flow, now);
    congestion_apply(qp, now);
}

void congestion_note_busy(struct oche_qp *qp, oche_time now)
{
    if (!(qp->flags & QP_IDLE_TOLD))
        return;
    qp->flags &= (uint16_t)~QP_IDLE_TOLD;
    if (qp->nic->cc->busy == NULL || !(qp->flags & QP_CC_STARTED))
        return;
    qp->nic->cc->busy(&qp->flow, now);
    congestion_apply(qp, now);
}

void congestion_note_more(struct oche_qp *qp, oche_time now)
{
    const enum requester_wait wait = requester_wait(qp);
    const bool more = wait == REQUESTER_GO || wait == REQUESTER_WINDOW ||
                      wait == REQUESTER_CC_WINDOW || response_data_waits(qp);

    if (more == qp->flow.more || !(qp->flags & QP_CC_STARTED))
        return;
    qp->flow.more = more;
    qp->nic->cc->messages->more(&qp->flow, now);
    congestion_apply(qp, now);
}
