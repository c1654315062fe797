/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the queue pair that sends next, and notes which queue pairs have rung the doorbell; see
 * scheduler.c.
 */
#ifndef OCHE_CORE_QP_SCHEDULER_H
#define OCHE_CORE_QP_SCHEDULER_H

#include "core/qp/qp_internal.h"

/* Queues the queue pair if it has a data packet to send and is not queued yet. */
void scheduler_kick(struct oche_qp *qp, oche_time now);
/* Moves a queue pair whose pacing has changed to its new place. */
void scheduler_repace(struct oche_qp *qp, oche_time now);
/* Removes the queue pair from all lists and heaps. */
void scheduler_forget(struct oche_qp *qp);
/* Puts the queue pair into the control list if it has an ACK, a NAK, a CNP or an atomic's result to
 * send. */
void scheduler_control(struct oche_qp *qp);
void scheduler_ring(struct oche_qp *qp);
void scheduler_unring(struct oche_qp *qp);
/* Looks at all work that was posted since the last call. */
void scheduler_answer_doorbell(struct oche_nic *nic, oche_time now);

/* True if the queue pair is in a ready list or in the heap of pacing times. */
bool scheduler_has(const struct oche_qp *qp);
/* Checks what must hold of the lists and of the pacing heap, in every build; cheap. */
void scheduler_must(const struct oche_nic *nic);

#endif
