/* SPDX-License-Identifier: Apache-2.0 */
/* Delays and CNPs of adapters; see late.h. */
#include "core/qp/late.h"

#include "core/qp/receive/receive.h"
#include "core/qp/receive/receiver.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/send.h"
#include "core/qp/send/sender.h"
#include "core/qp/timers.h"

/*
 * Destinations whose CNPs are paced. Two that fall into one place take turns there, so that each
 * may get its CNP early.
 */
#define DESTINATIONS 64

struct late_destination {
    uint32_t address;
    oche_time next;
};

bool late_wanted(const struct oche_nic_habits *habits)
{
    return habits != NULL &&
           (habits->timeouts.kind != OCHE_TIMEOUTS_AS_ASKED || habits->nak_delay > 0 ||
            habits->nak_reaction > 0 || habits->read_nak_delay > 0 || habits->cnp_delay > 0 ||
            habits->nak_brings_cnp || habits->cnp_scope != OCHE_CNP_SCOPE_QUEUE_PAIR);
}

size_t late_table_bytes(const struct oche_nic_habits *habits)
{
    return habits != NULL && habits->cnp_scope == OCHE_CNP_SCOPE_DESTINATION
               ? DESTINATIONS * sizeof(struct late_destination)
               : 0;
}

void late_clear(struct oche_qp *qp)
{
    struct late *late = late_of(qp);

    if (OCHE_LIKELY(!qp->nic->late))
        return;
    late->nak_due = late->repeat_due = late->cnp_due = OCHE_NEVER;
    late->cnp_next = 0;
}

/* ---- CNPs ---- */

/* Returns the place of the time of the next CNP that the adapter lets out for this queue pair. */
static oche_time *next_cnp(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;

    switch (nic->config.habits->cnp_scope) {
    case OCHE_CNP_SCOPE_PORT:
        return &nic->next_cnp;
    case OCHE_CNP_SCOPE_DESTINATION: {
        const uint32_t address = qp->remote_address;
        struct late_destination *at = &nic->destinations[address % DESTINATIONS];

        if (at->address != address)
            *at = (struct late_destination){.address = address};
        return &at->next;
    }
    default:
        return &late_of(qp)->cnp_next;
    }
}

static void send_cnp(struct oche_qp *qp)
{
    qp->control |= CONTROL_CNP;
    scheduler_control(qp);
}

void late_cnp(struct oche_qp *qp, oche_time now)
{
    const struct oche_nic_habits *habits = qp->nic->config.habits;
    oche_time *next = next_cnp(qp);

    if (now < *next || late_of(qp)->cnp_due != OCHE_NEVER)
        return;
    if (habits->cnp_interval != OCHE_NEVER)
        *next = now + habits->cnp_interval;
    if (habits->cnp_delay == 0) {
        send_cnp(qp);
        return;
    }
    late_of(qp)->cnp_due = now + habits->cnp_delay;
    timers_want(qp, late_of(qp)->cnp_due);
}

/* ---- NAKs ---- */

static void send_nak(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    response_ask_nak(qp, OCHE_SYNDROME_NAK_SEQUENCE, psn);
    if (qp->nic->late && qp->nic->config.habits->nak_brings_cnp)
        late_cnp(qp, now);
}

void late_nak(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    if (OCHE_LIKELY(!qp->nic->late) || qp->nic->config.habits->nak_delay == 0) {
        send_nak(qp, psn, now);
        return;
    }
    late_of(qp)->nak_psn = psn;
    if (late_of(qp)->nak_due != OCHE_NEVER)
        return;
    late_of(qp)->nak_due = now + qp->nic->config.habits->nak_delay;
    timers_want(qp, late_of(qp)->nak_due);
}

bool late_repeat(struct oche_qp *qp, enum oche_resent cause, bool spends, oche_time now)
{
    const struct oche_nic_habits *habits = qp->nic->config.habits;
    oche_time delay;

    if (OCHE_LIKELY(!qp->nic->late))
        return false;
    delay = cause == OCHE_RESENT_RESPONSES ? habits->read_nak_delay : habits->nak_reaction;
    if (delay == 0)
        return false;
    if (late_of(qp)->repeat_due != OCHE_NEVER && late_of(qp)->repeat_psn == snd(qp)->tx.una)
        return true;
    late_of(qp)->repeat_psn = snd(qp)->tx.una;
    late_of(qp)->repeat_cause = (uint8_t)cause;
    late_of(qp)->repeat_spends = spends;
    late_of(qp)->repeat_due = now + delay;
    timers_want(qp, late_of(qp)->repeat_due);
    return true;
}

/* ---- timers ---- */

oche_time late_due(const struct oche_qp *qp)
{
    const struct late *late = late_of_const(qp);

    return oche_time_min(late->nak_due, oche_time_min(late->repeat_due, late->cnp_due));
}

void late_run(struct oche_qp *qp, oche_time now)
{
    struct late *late = late_of(qp);

    if (late->cnp_due <= now) {
        late->cnp_due = OCHE_NEVER;
        send_cnp(qp);
    }
    if (late->nak_due <= now) {
        late->nak_due = OCHE_NEVER;
        /*
         * The packet may have arrived meanwhile: then the NAK would ask for what is here. Or it was
         * refused, and another NAK, which says why, waits to leave.
         */
        if (late->nak_psn == rcv(qp)->rx.epsn && !(qp->control & CONTROL_NAK))
            send_nak(qp, late->nak_psn, now);
    }
    if (late->repeat_due <= now) {
        late->repeat_due = OCHE_NEVER;
        if (late->repeat_psn == snd(qp)->tx.una && snd(qp)->tx.una != snd(qp)->tx.high)
            completer_repeat(qp, (enum oche_resent)late->repeat_cause, late->repeat_spends, now);
    }
}
