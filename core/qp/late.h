/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that adapters do later than the ideal RNIC (core/nic/habits.h): NAKs, repeats after a NAK
 * or a gap, CNPs; how they pace CNPs; and timeouts of their own. A queue pair has this state only
 * if its NIC has one of these habits (nic->late).
 */
#ifndef OCHE_CORE_QP_LATE_H
#define OCHE_CORE_QP_LATE_H

#include "core/qp/qp_internal.h"

struct late {
    struct oche_timeouts_run timeouts; /* valid with own_timeouts in the sender */
    /* OCHE_NEVER: none */
    oche_time nak_due;    /* a NAK for nak_psn is to leave */
    oche_time repeat_due; /* what is outstanding is to leave again, if repeat_psn still is */
    oche_time cnp_due;
    oche_time cnp_next; /* no CNP of the queue pair leaves earlier */
    uint32_t nak_psn, repeat_psn;
    uint8_t repeat_cause; /* enum oche_resent */
    bool repeat_spends;
};

/* True if a NIC with these habits has such state. NULL: no habits. */
bool late_wanted(const struct oche_nic_habits *habits);
/* Bytes of the NIC's table of destinations whose CNPs are paced; 0: there is none. */
size_t late_table_bytes(const struct oche_nic_habits *habits);

/* The state of a queue pair, behind the queue pair itself. Only if nic->late is set. */
static inline struct late *late_of(struct oche_qp *qp)
{
    return (void *)(qp + 1);
}

static inline const struct late *late_of_const(const struct oche_qp *qp)
{
    return (const void *)(qp + 1);
}

/* Forgets what was delayed. For every queue pair. */
void late_clear(struct oche_qp *qp);

/* Congestion control wants a CNP, or a NAK brings one. Only if nic->late is set. */
void late_cnp(struct oche_qp *qp, oche_time now);
/* A packet is missing at the responder: NAKs psn, at once or later. For every queue pair. */
void late_nak(struct oche_qp *qp, uint32_t psn, oche_time now);
/*
 * A NAK, or a gap in responses, asks for what is outstanding. Returns true if that is to wait; the
 * sender repeats it then (completer_repeat).
 */
bool late_repeat(struct oche_qp *qp, enum oche_resent cause, bool spends, oche_time now);

/* Returns when late_run has work. Only if nic->late is set, as the next. */
oche_time late_due(const struct oche_qp *qp);
void late_run(struct oche_qp *qp, oche_time now);

#endif
