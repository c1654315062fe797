/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between a queue pair and its congestion-control scheme: calls the hooks and, after each, acts on
 * what the scheme has decided (rate, window, timers, CNP). Also the scheme's state by peer, and
 * the round-trip times of packets that asked for an ACK. After going back no time is taken until
 * new packets leave, as an ACK could be of either transmission; when there are more packets in
 * flight than places, the times of the earlier ones are kept.
 */
#include <string.h>

#include "core/qp/qp_internal.h"

/* ---- state by peer ---- */

bool congestion_peer_take(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;
    size_t bytes = nic->cc->peer_state_bytes;
    uint32_t slot;

    if (bytes == 0)
        return true;
    slot = map_find(&nic->peer_map, qp->remote_address);
    if (slot == NO_SLOT) {
        OCHE_MUST(nic->free_peer_count > 0);
        slot = nic->free_peers[--nic->free_peer_count];
        map_add(&nic->peer_map, qp->remote_address, slot);
        nic->peers[slot] = (struct peer){.address = qp->remote_address};
        memset(nic->peer_states + slot * nic->peer_state_stride, 0, bytes);
    }
    nic->peers[slot].users++;
    qp->peer_slot = slot;
    qp->flow.peer_state = nic->peer_states + slot * nic->peer_state_stride;
    return true;
}

void congestion_peer_release(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;
    uint32_t slot = qp->peer_slot;

    qp->peer_slot = NO_SLOT;
    qp->flow.peer_state = NULL;
    if (slot == NO_SLOT || --nic->peers[slot].users > 0)
        return;
    map_remove(&nic->peer_map, nic->peers[slot].address);
    nic->free_peers[nic->free_peer_count++] = slot;
}

/* ---- decisions ---- */

void congestion_apply(struct oche_qp *qp, oche_time now)
{
    const struct oche_cc_flow *flow = &qp->flow;
    oche_time timer = oche_time_min(flow->timer[0], oche_time_min(flow->timer[1], flow->timer[2]));

    if (OCHE_UNLIKELY(flow->rate_bps < qp->pace_rate_bps || flow->rate_bps > qp->pace_rate_bps))
        pacer_update_rate(qp, now);
    if (OCHE_UNLIKELY(timer != OCHE_NEVER))
        timers_want(qp, timer);
}

static void act_on_reply(struct oche_qp *qp, const struct oche_cc_reply *reply)
{
    if (OCHE_LIKELY(!reply->send_cnp && !reply->ack_now))
        return;
    if (reply->send_cnp)
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
    qp->flow.burst = false;
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        qp->flow.timer[i] = OCHE_NEVER;
    cc->start(&qp->flow, now);
    qp->flags |= QP_CC_STARTED;
    pacer_update_rate(qp, now); /* also when only the limit differs from before */
    congestion_apply(qp, now);
}

void congestion_stop(struct oche_qp *qp)
{
    if (qp->nic->cc->stop != NULL && (qp->flags & QP_CC_STARTED))
        qp->nic->cc->stop(&qp->flow);
    qp->flags &= (uint16_t)~QP_CC_STARTED;
}

void congestion_arrived(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    struct oche_cc_reply reply = {0};

    if (qp->nic->cc->arrived == NULL)
        return;
    qp->nic->cc->arrived(&qp->flow, now, packet, &reply);
    act_on_reply(qp, &reply);
    congestion_apply(qp, now);
}

void congestion_acked(struct oche_qp *qp, const struct oche_packet *packet, uint64_t acked_bytes,
                      oche_time rtt, oche_time now)
{
    struct oche_cc_ack ack = {
        .packet = packet,
        .acked_bytes = acked_bytes,
        .flight_bytes = qp->flight_bytes,
        .rtt = rtt,
        .ecn_echo = packet->bth & OCHE_BTH_BECN,
    };

    qp->nic->cc->acked(&qp->flow, now, &ack);
    congestion_apply(qp, now);
}

void congestion_loss(struct oche_qp *qp, enum oche_cc_loss kind, oche_time now)
{
    if (qp->nic->cc->loss == NULL)
        return;
    qp->nic->cc->loss(&qp->flow, now, kind);
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
        act_on_reply(qp, &reply);
        congestion_apply(qp, now);
    }
    scheduler_kick(qp, now); /* the window may have opened */
}

void congestion_note_idle(struct oche_qp *qp, oche_time now)
{
    if ((qp->flags & QP_IDLE_TOLD) || qp->active_responses > 0)
        return;
    qp->flags |= QP_IDLE_TOLD;
    if (qp->nic->cc->idle == NULL)
        return;
    qp->nic->cc->idle(&qp->flow, now);
    congestion_apply(qp, now);
}

void congestion_note_busy(struct oche_qp *qp, oche_time now)
{
    if (!(qp->flags & QP_IDLE_TOLD))
        return;
    qp->flags &= (uint16_t)~QP_IDLE_TOLD;
    if (qp->nic->cc->busy == NULL)
        return;
    qp->nic->cc->busy(&qp->flow, now);
    congestion_apply(qp, now);
}

/* ---- round-trip times ---- */

void congestion_rtt_sent(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    if (qp->rtt_tail - qp->rtt_head == RTT_SAMPLES)
        return;
    qp->rtt_samples[qp->rtt_tail++ & (RTT_SAMPLES - 1)] =
        (struct rtt_sample){.sent = now, .psn = psn};
}

/* Of the newest packet below tx.una, or OCHE_NEVER. */
oche_time congestion_rtt_acked(struct oche_qp *qp, oche_time now)
{
    oche_time rtt = OCHE_NEVER;

    while (qp->rtt_head != qp->rtt_tail) {
        const struct rtt_sample *sample = &qp->rtt_samples[qp->rtt_head & (RTT_SAMPLES - 1)];
        if (oche_psn_diff(sample->psn, qp->tx.una) >= 0)
            break;
        rtt = now - sample->sent;
        qp->rtt_head++;
    }
    return rtt;
}
