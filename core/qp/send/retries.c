/* SPDX-License-Identifier: Apache-2.0 */
/* How often a request is repeated before the peer is given up; see retries.h. */
#include "core/qp/send/retries.h"

#include "core/qp/late.h"

/* The parameters of timeouts that are not as asked; only if own_timeouts is set. */
static const struct oche_timeouts *own(const struct oche_qp *qp)
{
    return &qp->nic->config.habits->timeouts;
}

void retries_restore(struct oche_qp *qp, uint32_t before)
{
    qp->flags &= (uint16_t)~QP_GAP_TOLD;
    if ((qp->flags & QP_WHOLE_MESSAGES) && oche_psn_diff(snd(qp)->tx.message_start, before) <= 0)
        return;
    snd(qp)->retries_left = snd(qp)->retry_count;
    snd(qp)->rnr_retries_left = snd(qp)->rnr_retry;
    snd(qp)->silent_since = OCHE_NEVER;
    if (OCHE_UNLIKELY(snd(qp)->own_timeouts))
        oche_timeouts_progress(own(qp), &late_of(qp)->timeouts);
    qp->flags &= (uint16_t)~QP_RETRIED;
}

bool retries_spend(struct oche_qp *qp, uint32_t *left)
{
    qp->flags |= QP_RETRIED;
    if (*left == 0)
        return false;
    *left -= *left != FOR_EVER;
    return true;
}

void retries_answered(struct oche_qp *qp)
{
    snd(qp)->retries_left = snd(qp)->retry_count;
    snd(qp)->silent_since = OCHE_NEVER;
    if (OCHE_UNLIKELY(snd(qp)->own_timeouts))
        oche_timeouts_progress(own(qp), &late_of(qp)->timeouts);
}

/*
 * Spends a retry. Returns true if the peer must be given up: all retries are used up, and as much
 * time without progress has passed as the connection wants. A scheme's own timer may be a small
 * part of the ACK timeout, and expires as often while the peer only paces its responses: with it
 * the time is at least that of all ACK timeouts.
 */
static bool give_up(struct oche_qp *qp, oche_time now)
{
    const bool by_recovery = qp->nic->recovery->rto != NULL;
    const oche_time waited =
        oche_time_min(by_recovery ? snd(qp)->ack_waited : snd(qp)->ack_timeout, now);
    oche_time least = snd(qp)->patience_us * OCHE_US;

    OCHE_MUST(snd(qp)->retries_left <= snd(qp)->retry_count);
    if (snd(qp)->silent_since == OCHE_NEVER)
        snd(qp)->silent_since = now - waited;
    if (retries_spend(qp, &snd(qp)->retries_left))
        return false;
    if (by_recovery && least == 0)
        least = (snd(qp)->retry_count + 1) * snd(qp)->ack_timeout;
    return now - snd(qp)->silent_since >= least;
}

oche_time own_ack_wait(const struct oche_qp *qp)
{
    return oche_timeouts_wait(own(qp), &late_of_const(qp)->timeouts, snd(qp)->ack_timeout);
}

void retries_start(struct oche_qp *qp)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    struct oche_random random =
        oche_random_stream(nic->seed, "first timeout", (uint64_t)nic->address << 24 | qp->qpn);

    if (snd(qp)->own_timeouts)
        oche_timeouts_start(own(qp), &late_of(qp)->timeouts, &random);
}

/* An adapter with timeouts of its own also has its own view of when to give up. */
static enum oche_timeout own_timeout(struct oche_qp *qp)
{
    const enum oche_timeout means = oche_timeouts_expired(
        own(qp), &late_of(qp)->timeouts, snd(qp)->ack_timeout, snd(qp)->retry_count);

    qp->flags |= QP_RETRIED;
    if (means == OCHE_TIMEOUT_REPEATS && snd(qp)->retries_left > 0)
        (void)retries_spend(qp, &snd(qp)->retries_left);
    if (means == OCHE_TIMEOUT_ADAPTIVE || means == OCHE_TIMEOUT_ADAPTIVE_GIVES_UP)
        qp->nic->stats.adaptive_timeouts++;
    qp->nic->stats.adaptive_give_ups += means == OCHE_TIMEOUT_ADAPTIVE_GIVES_UP;
    return means;
}

enum oche_timeout retries_timeout(struct oche_qp *qp, oche_time now)
{
    if (OCHE_UNLIKELY(snd(qp)->own_timeouts))
        return own_timeout(qp);
    return give_up(qp, now) ? OCHE_TIMEOUT_GIVES_UP : OCHE_TIMEOUT_REPEATS;
}
