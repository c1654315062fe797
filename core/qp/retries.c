/* SPDX-License-Identifier: Apache-2.0 */
/* How often a request is repeated before the peer is given up; see retries.h. */
#include "core/qp/retries.h"

void retries_restore(struct oche_qp *qp, uint32_t before)
{
    qp->flags &= (uint16_t)~QP_GAP_TOLD;
    if ((qp->flags & QP_WHOLE_MESSAGES) && oche_psn_diff(qp->tx.message_start, before) <= 0)
        return;
    qp->retries_left = qp->retry_count;
    qp->rnr_retries_left = qp->rnr_retry;
    qp->silent_since = OCHE_NEVER;
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
    qp->retries_left = qp->retry_count;
    qp->silent_since = OCHE_NEVER;
}

bool retries_give_up(struct oche_qp *qp, oche_time now)
{
    const bool own = qp->nic->recovery->rto != NULL && !qp->own_timeouts;
    const oche_time waited = oche_time_min(own ? qp->ack_waited : qp->ack_timeout, now);
    oche_time least = qp->patience_us * OCHE_US;

    if (qp->silent_since == OCHE_NEVER)
        qp->silent_since = now - waited;
    if (retries_spend(qp, &qp->retries_left))
        return false;
    if (own && least == 0)
        least = (qp->retry_count + 1) * qp->ack_timeout;
    return now - qp->silent_since >= least;
}
