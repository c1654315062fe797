/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about a queue pair; what the check_ files share. */
#ifndef OCHE_CORE_QP_CHECK_INTERNAL_H
#define OCHE_CORE_QP_CHECK_INTERNAL_H

#include "core/qp/check.h"
#include "core/qp/qp_internal.h"

struct qp_statement {
    const char *words; /* the statement in words, for the failure's message */
    bool (*holds)(const struct oche_qp *qp);
};

/* Each ends with an entry without words. */
extern const struct qp_statement qp_send_statements[], qp_receive_statements[];

static inline bool is_psn(uint32_t psn)
{
    return psn <= OCHE_PSN_MASK;
}

/* True if low <= psn <= high on the circle of PSNs. */
static inline bool is_psn_within(uint32_t low, uint32_t psn, uint32_t high)
{
    return oche_psn_diff(psn, low) >= 0 && oche_psn_diff(high, psn) >= 0;
}

/* True if the NIC's timer of the queue pair expires at `deadline` or earlier. */
static inline bool is_timed(const struct oche_qp *qp, oche_time deadline)
{
    return deadline == OCHE_NEVER || heap_time(&qp->nic->timers, qp->slot) <= deadline;
}

static inline bool is_connected(const struct oche_qp *qp)
{
    const enum oche_qp_state state = qp_state(qp);

    return state != OCHE_QP_RESET && state != OCHE_QP_INIT;
}

#endif
