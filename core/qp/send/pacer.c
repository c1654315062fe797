/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pacing, a packet at a time (DCQCN sec 3.3). Each packet that leaves has a base time, usually the
 * time when it leaves. The next packet is due one spacing, line bytes * 8 / rate, after that base.
 * When the rate changes, the due time is computed again from the same base, so a slow queue pair
 * reacts at once (dcqcn.md#pacing).
 *
 * At line rate, without a lower rate limit, the spacing is 0: the port itself is the pacer, and no
 * gap opens on the link. If a packet had to wait for the port, its base is the time when it was
 * due, so that the wait does not lower the rate when several queue pairs want to send at once. At
 * most one spacing, or the time of PACE_CREDIT_BYTES on the line if that is longer, is made up for
 * in this way, or what congestion control allows (oche_cc_flow.catch_up_packets). The rest of a
 * longer wait (a pause, an overloaded port) is lost. Time without work is not made up for.
 *
 * If the application produces data at a given rate (oche_qp_set_supply), a packet is not due before
 * all data ahead of it has been produced. Data that is sent again exists already.
 *
 * Within a burst (oche_cc_flow.burst) packets are due at once. Each of them still moves the base on
 * by one spacing, so the base runs ahead of the clock, and the packet after the burst waits until
 * one spacing after the last base.
 */
#include "core/qp/scheduler.h"
#include "core/qp/send/sender.h"

/* Returns the time between a packet of `line_bytes` on the line and the next packet. */
static oche_time spacing_of(const struct oche_qp *qp, uint32_t line_bytes)
{
    if (line_bytes == snd(qp)->full_line_bytes)
        return snd(qp)->pace_full;
    if (snd(qp)->pace_full == 0)
        return 0;
    return oche_time_of_bytes(line_bytes, snd(qp)->pace_rate_bps);
}

/*
 * True if the application produces data at a given rate and the next packet is not a
 * retransmission.
 */
static inline bool awaits_supply(const struct oche_qp *qp)
{
    return OCHE_UNLIKELY(snd(qp)->supplied) && snd(qp)->tx.next == snd(qp)->tx.high;
}

oche_time pacer_due(const struct oche_qp *qp, oche_time now)
{
    oche_time due = oche_time_add(snd(qp)->pace_base, spacing_of(qp, snd(qp)->pace_bytes));

    if (due < now || (qp->flags & QP_IN_BURST))
        due = now;
    if (awaits_supply(qp) && due < snd(qp)->supply_due)
        due = snd(qp)->supply_due;
    return due;
}

void pacer_supply(struct oche_qp *qp, uint32_t bytes)
{
    OCHE_MUST(snd(qp)->supply_bps > 0);
    snd(qp)->supply_due =
        oche_time_add(snd(qp)->supply_due, oche_time_of_bytes(bytes, snd(qp)->supply_bps));
}

/* To be called when a packet has left while a new limit has not taken effect yet. */
static OCHE_NOINLINE void limit_lag(struct oche_qp *qp, uint32_t line_bytes, oche_time now)
{
    if (snd(qp)->limit_lag_bytes > line_bytes) {
        snd(qp)->limit_lag_bytes -= line_bytes;
        return;
    }
    snd(qp)->limit_lags = false;
    pacer_update_rate(qp, now);
}

void pacer_sent(struct oche_qp *qp, oche_time now, uint32_t line_bytes, bool burst)
{
    if (OCHE_UNLIKELY(snd(qp)->limit_lags))
        limit_lag(qp, line_bytes, now);
    oche_time spacing = spacing_of(qp, line_bytes);
    oche_time base = snd(qp)->pace_due;

    if (OCHE_UNLIKELY(qp->flags & QP_IN_BURST))
        base = oche_time_add(snd(qp)->pace_base, spacing_of(qp, snd(qp)->pace_bytes));
    if (OCHE_UNLIKELY(base < now)) {
        const oche_time catch_up = qp->flow.catch_up_packets * snd(qp)->pace_full;
        const oche_time credit =
            oche_time_max(oche_time_max(qp->nic->pace_credit, spacing), catch_up);
        if (now - base > credit)
            base = now - credit;
        if (spacing == 0)
            base = now; /* not paced: a late start earns no credit */
    }
    snd(qp)->pace_base = base;
    snd(qp)->pace_bytes = (uint16_t)line_bytes;
    snd(qp)->pace_due = oche_time_add(base, spacing);
    qp->flags &= (uint16_t)~QP_IN_BURST;
    if (OCHE_UNLIKELY(burst)) {
        qp->flags |= QP_IN_BURST;
        snd(qp)->pace_due = now;
    }
    if (awaits_supply(qp) && snd(qp)->pace_due < snd(qp)->supply_due)
        snd(qp)->pace_due = snd(qp)->supply_due;
}

void oche_qp_set_rate_limit(struct oche_qp *qp, uint64_t bps, oche_time now)
{
    snd(qp)->rate_limit_bps = bps == 0 ? UINT64_MAX : bps;
    /* otherwise an earlier change of the rate has not taken effect yet, and its lag continues */
    if (!snd(qp)->limit_lags) {
        if (qp->nic->config.habits != NULL)
            snd(qp)->limit_lag_bytes = (uint32_t)qp->nic->config.habits->limiter_lag_bytes;
        snd(qp)->limit_lags = snd(qp)->limit_lag_bytes > 0;
    }
    pacer_update_rate(qp, now);
}

void pacer_update_rate(struct oche_qp *qp, oche_time now)
{
    const struct oche_nic *nic = qp->nic;
    uint64_t line_rate = nic->config.line_rate_bps;
    uint64_t rate =
        qp->flow.rate_bps < snd(qp)->rate_limit_bps ? qp->flow.rate_bps : snd(qp)->rate_limit_bps;

    OCHE_MUST(rate > 0);
    if (OCHE_UNLIKELY(snd(qp)->limit_lags))
        return; /* until then nothing changes */
    if (rate > line_rate)
        rate = line_rate;
    if (rate == snd(qp)->pace_rate_bps)
        return;
    snd(qp)->pace_rate_bps = rate;
    snd(qp)->pace_full = rate == line_rate ? 0 : oche_time_of_bytes(snd(qp)->full_line_bytes, rate);
    if (snd(qp)->queued != QUEUED_NOT)
        scheduler_repace(qp, now);
}

void pacer_set_full_packet(struct oche_qp *qp)
{
    const struct oche_nic *nic = qp->nic;
    uint8_t middle = qp->flags & QP_EXTENDED ? OCHE_RC_WRITE_MIDDLE_AT : OCHE_RC_WRITE_MIDDLE;
    if (qp->transport == OCHE_TRANSPORT_UD)
        middle = OCHE_UD_SEND_ONLY;
    bool port_limited = snd(qp)->pace_rate_bps == nic->config.line_rate_bps;

    snd(qp)->full_line_bytes =
        oche_frame_bytes_with(middle, qp->mtu, nic->trailer_bytes, nic->ipv6) + nic->gap_bytes;
    snd(qp)->pace_full =
        port_limited ? 0 : oche_time_of_bytes(snd(qp)->full_line_bytes, snd(qp)->pace_rate_bps);
}

void oche_qp_set_supply(struct oche_qp *qp, uint64_t bps, oche_time now)
{
    snd(qp)->supplied = bps != 0;
    snd(qp)->supply_bps = bps;
    snd(qp)->supply_due = now;
    if (snd(qp)->queued != QUEUED_NOT)
        scheduler_repace(qp, now);
}
