/* SPDX-License-Identifier: Apache-2.0 */
/* How often a request is repeated before the peer is given up; see retries.h. */
#include "core/qp/send/retries.h"

void retries_restore(struct oche_qp *qp, uint32_t before)
{
    qp->flags &= (uint16_t)~QP_GAP_TOLD;
    if ((qp->flags & QP_WHOLE_MESSAGES) && oche_psn_diff(snd(qp)->tx.message_start, before) <= 0)
        return;
    snd(qp)->retries_left = snd(qp)->retry_count;
    snd(qp)->rnr_retries_left = snd(qp)->rnr_retry;
    snd(qp)->silent_since = OCHE_NEVER;
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
}

bool retries_give_up(struct oche_qp *qp, oche_time now)
{
    const bool own = qp->nic->recovery->rto != NULL && !snd(qp)->own_timeouts;
    const oche_time waited = oche_time_min(own ? snd(qp)->ack_waited : snd(qp)->ack_timeout, now);
    oche_time least = snd(qp)->patience_us * OCHE_US;

    OCHE_MUST(snd(qp)->retries_left <= snd(qp)->retry_count);
    if (snd(qp)->silent_since == OCHE_NEVER)
        snd(qp)->silent_since = now - waited;
    if (retries_spend(qp, &snd(qp)->retries_left))
        return false;
    if (own && least == 0)
        least = (snd(qp)->retry_count + 1) * snd(qp)->ack_timeout;
    return now - snd(qp)->silent_since >= least;
}

oche_time own_ack_wait(const struct oche_qp *qp)
{
    uint32_t in_a_row = snd(qp)->retry_count - snd(qp)->retries_left;

    return 2 * OCHE_MS << (in_a_row < 3 ? in_a_row : 3);
}
