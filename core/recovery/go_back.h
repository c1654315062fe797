/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common parts of the schemes that go back. The sender resumes at the PSN that a NAK names, or
 * after a timeout at the oldest PSN without an ACK; the receiver takes only the expected PSN and
 * sends at most one NAK in a NAK interval (error-recovery.md#nak-interval, #l3).
 */
#ifndef OCHE_CORE_RECOVERY_GO_BACK_H
#define OCHE_CORE_RECOVERY_GO_BACK_H

#include "core/recovery/recovery.h"

/* ---- sender ---- */

static inline void go_back_acked(struct oche_recovery_tx *tx, oche_time now)
{
    (void)tx;
    (void)now;
}

static inline void go_back_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now)
{
    (void)now;
    tx->next = psn;
}

static inline void go_back_timeout(struct oche_recovery_tx *tx, oche_time now)
{
    (void)now;
    tx->next = tx->una;
}

/* ---- receiver ---- */

#define NAK_OF_NOTHING UINT32_MAX /* no PSN: differs from the PSN of every NAK */

/* The last NAK that the receiver sent; zeroed at start. */
struct nak_interval {
    oche_time last;
    uint32_t psn; /* the PSN that the NAK named, or NAK_OF_NOTHING */
    bool any;     /* a NAK has been sent */
};

/* Returns true if a NAK for `psn` may leave now, and then notes it as the last NAK. */
static inline bool nak_interval_allows(struct nak_interval *nak, oche_time interval, bool exception,
                                       uint32_t psn, oche_time now)
{
    bool exempt = !nak->any || (exception && nak->psn != psn);

    if (!exempt && now < oche_time_add(nak->last, interval))
        return false;
    *nak = (struct nak_interval){.last = now, .psn = psn, .any = true};
    return true;
}

/*
 * The two parameters of a NAK interval, for a scheme whose parameter struct has members of these
 * names.
 */
#define NAK_INTERVAL_PARAMS(type, least, means)                                                    \
    {OCHE_PARAM(type, nak_interval), OCHE_IS_TIME(500 * OCHE_US, least, OCHE_NEVER),               \
     .where = "error-recovery.md#nak-interval; value: error-recovery.md#parameters",               \
     .help = (means)},                                                                             \
    {                                                                                              \
        OCHE_PARAM(type, nak_exception), OCHE_IS_BOOL(true),                                       \
            .where = "error-recovery.md#l3",                                                       \
            .help = "a NAK for another PSN than the last one need not wait"                        \
    }

#endif
